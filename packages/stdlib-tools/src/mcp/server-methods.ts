// Methods of a server for all revisions: lists by page, calls, resources, prompts, suggestions. What a revision has of its
// own (handshake, sessions, subscriptions) is with the connection.

import { withIntegers } from '../tools/executors/exact-json.js'
import { CARD_URI, INVALID_PARAMS, RpcError } from './server-protocol.js'
import { SKILLS, getSkill, isManifest, listFolder, listSkills } from './server-skills.js'
import type { SkillSource } from './server-skills.js'
import type { Json, JsonObject, ListName, McpBackend, RequestScope, ServerIdentity } from './server-protocol.js'

const PAGE_SIZE = 50

/** Only what scripts and tools get to see; ids and tokens go back as they came. */
function withExactArguments(params: JsonObject): JsonObject {
  return params['arguments'] === undefined ? params : { ...params, arguments: withIntegers(params['arguments']) }
}

export const readText = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export class ServedMethods {
  readonly backend: McpBackend
  readonly identity: ServerIdentity

  constructor(backend: McpBackend, identity: ServerIdentity) {
    this.backend = backend
    this.identity = identity
  }

  /** Null for a method that is none of these. */
  async answer(method: string, params: JsonObject, scope: RequestScope): Promise<JsonObject | null> {
    const { backend } = this
    const { completions = false } = backend.features?.() ?? {}
    switch (method) {
      case 'tools/list':
        return this.makePage('tools', await backend.list('tools', scope), params)
      case 'resources/list':
        return this.makePage('resources', await this.listResources(scope), params)
      case 'resources/templates/list':
        return this.makePage('resourceTemplates', await backend.list('resourceTemplates', scope), params)
      case 'prompts/list':
        return this.makePage('prompts', await backend.list('prompts', scope), params)
      case 'tools/call':
        return backend.callTool(readText(params['name']), withExactArguments(params), scope)
      case 'resources/read':
        return this.readResource(readText(params['uri']), scope)
      case 'skills/list':
      case 'skills/get':
      case 'resources/directory/read':
        return this.answerAboutSkills(method, params, scope)
      case 'prompts/get':
        return backend.getPrompt(readText(params['name']), withExactArguments(params), scope)
      case 'completion/complete':
        return !completions || backend.complete === undefined ? null : { completion: await backend.complete(params, scope) }
      case 'harn.hitl.respond':
        if (backend.desk === undefined) return null
        if (typeof params['request_id'] !== 'string')
          throw new RpcError(INVALID_PARAMS, 'invalid harn.hitl.respond params: missing field `request_id`')
        backend.desk.respond(params['request_id'], params)
        return { ok: true }
      default:
        return null
    }
  }

  /** Null for a server without skills. */
  private async answerAboutSkills(method: string, params: JsonObject, scope: RequestScope): Promise<JsonObject | null> {
    const resources = await this.backend.list('resources', scope)
    if (!resources.some(isManifest)) return null
    const source: SkillSource = { resources, read: (uri) => this.backend.readResource(uri, scope) }
    if (method === 'skills/get') return { skill: await getSkill(source, params['uri']) }
    if (method === 'skills/list') return this.makePage('skills', await listSkills(source), params)
    return this.makePage('resources', listFolder(source, params['uri']), params)
  }

  async listCapabilities(): Promise<JsonObject> {
    const { backend } = this
    const { completions = false, subscriptions = false, lists = [], skills } = backend.features?.() ?? {}
    const has = async (name: ListName): Promise<boolean> => lists.includes(name) || (await backend.list(name)).length > 0
    // What cannot change does not announce that it does.
    const changing = backend.onListChanged === undefined ? {} : { listChanged: true }
    const resources = this.identity.card !== undefined || (await has('resources')) || (await has('resourceTemplates'))
    const hasSkills = skills ?? (await backend.list('resources')).some(isManifest)
    return {
      ...((await has('tools')) ? { tools: changing } : {}),
      ...(resources ? { resources: subscriptions ? { ...changing, subscribe: true } : changing } : {}),
      ...((await has('prompts')) ? { prompts: changing } : {}),
      ...(completions ? { completions: {} } : {}),
      ...(hasSkills ? { extensions: { [SKILLS]: { directoryRead: true } } } : {}),
      logging: {},
    }
  }

  async listResources(scope?: RequestScope): Promise<readonly JsonObject[]> {
    const own = await this.backend.list('resources', scope)
    if (this.identity.card === undefined) return own
    return [
      {
        uri: CARD_URI,
        name: 'Server Card',
        description: 'Identity and capabilities of this server',
        mimeType: 'application/json',
      },
      ...own,
    ]
  }

  private makePage(key: string, items: readonly JsonObject[], params: JsonObject): JsonObject {
    const cursor = params['cursor']
    const from = typeof cursor === 'string' ? Number.parseInt(Buffer.from(cursor, 'base64').toString('utf8'), 10) : 0
    const start = Number.isSafeInteger(from) && from > 0 ? from : 0
    const end = start + PAGE_SIZE
    return {
      [key]: items.slice(start, end),
      ...(end < items.length ? { nextCursor: Buffer.from(String(end)).toString('base64') } : {}),
    }
  }

  private async readResource(uri: string, scope: RequestScope): Promise<JsonObject> {
    const { card } = this.identity
    if (uri === CARD_URI && card !== undefined) {
      return { contents: [{ uri, text: JSON.stringify(card), mimeType: 'application/json' }] }
    }
    return this.backend.readResource(uri, scope)
  }
}
