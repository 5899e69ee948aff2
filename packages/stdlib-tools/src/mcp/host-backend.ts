// Tools, resources and prompts of a host as an MCP server: a backend for the transports of this entry (stdio, streamable HTTP). A tool
// that is called through it knows its client (`context.client`): it can write to the client's log, ask its model, show it a form.

import { ToolError } from '../tools/host-tools/errors.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { ToolRegistry, createRegistry } from '../tools/host-tools/registry.js'
import { isRepeatable } from '../tools/host-tools/define.js'
import type { Tool, ToolClient, ToolQuestionOptions } from '../tools/host-tools/define.js'
import { unmarkIntegers } from '../tools/executors/exact-json.js'
import { makeCompletion, matchTemplate } from './server-offers.js'
import { INPUT_KEY, INVALID_PARAMS, NOT_FOUND, RpcError, isObject, toJson } from './server-protocol.js'
import type { Json, JsonObject, ListName, McpBackend, RequestScope, TaskSupport } from './server-protocol.js'

/** Context of reading a resource or making a prompt. */
export interface ServedContext {
  readonly signal: AbortSignal
  readonly client: ToolClient
}

type Completer = readonly string[] | ((value: string, context: { readonly [argument: string]: string }) => readonly string[])

/** Bytes are sent as they are, texts as text. */
type Contents = string | Uint8Array

export interface ServedResource {
  readonly uri: string
  /** The URI by default. */
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly read: (context: ServedContext) => Contents | Promise<Contents>
}

export interface ServedTemplate {
  /** `user://{id}`: names in braces (RFC 6570, level 1). */
  readonly uriTemplate: string
  readonly name?: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** Suggestions for variables, by name. */
  readonly complete?: { readonly [variable: string]: Completer }
  readonly read: (variables: { readonly [name: string]: string }, context: ServedContext) => Contents | Promise<Contents>
}

export interface ServedPrompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
    readonly complete?: Completer
  }[]
  /** A text of the user's, or messages of the protocol. */
  readonly get: (
    args: { readonly [name: string]: string },
    context: ServedContext,
  ) => string | readonly object[] | Promise<string | readonly object[]>
}

export interface ServedParts {
  readonly resources?: readonly ServedResource[]
  readonly templates?: readonly ServedTemplate[]
  readonly prompts?: readonly ServedPrompt[]
  /** Tools whose calls are tasks. */
  readonly tasks?: { readonly [tool: string]: TaskSupport }
}

export interface HostBackend extends McpBackend {
  /** Replaces the given lists, and notifies clients. Tools change with their registry. */
  readonly offer: (parts: ServedParts) => void
  /** Tells clients that watch the resource to read it again. */
  readonly resourceUpdated: (uri: string) => void
}

/**
 * A backend; serve it with McpServerConnection over any transport, or with serveHttp. A registry is served as it is at any time, any
 * other collection as it is now.
 */
export function toMcpServer(tools: Iterable<Tool>, parts: ServedParts = {}): HostBackend {
  return new ServedTools(tools instanceof ToolRegistry ? tools : createRegistry(tools), parts)
}

class ServedTools implements HostBackend {
  readonly kind = 'host'
  private readonly registry: ToolRegistry
  private parts: Required<ServedParts>
  private readonly listeners = new Set<(name: ListName) => void>()
  private readonly watchers = new Set<(uri: string) => void>()

  constructor(registry: ToolRegistry, parts: ServedParts) {
    this.registry = registry
    this.parts = { resources: [], templates: [], prompts: [], tasks: {}, ...parts }
    registry.onChange(() => this.tell('tools'))
  }

  readonly offer = (parts: ServedParts): void => {
    this.parts = { ...this.parts, ...parts }
    if (parts.resources !== undefined) this.tell('resources')
    if (parts.templates !== undefined) this.tell('resourceTemplates')
    if (parts.prompts !== undefined) this.tell('prompts')
  }

  readonly resourceUpdated = (uri: string): void => {
    for (const watcher of this.watchers) watcher(uri)
  }

  onListChanged(listener: (name: ListName) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  onResourceUpdated(listener: (uri: string) => void): () => void {
    this.watchers.add(listener)
    return () => this.watchers.delete(listener)
  }

  getTaskSupport(tool: string): TaskSupport | null {
    const { tasks } = this.parts
    return Object.hasOwn(tasks, tool) ? tasks[tool]! : null
  }

  features(): { readonly completions: boolean; readonly subscriptions: boolean; readonly tasks: boolean } {
    const { resources, templates, prompts, tasks } = this.parts
    return {
      completions:
        templates.some((each) => each.complete !== undefined) ||
        prompts.some((each) => each.arguments?.some((argument) => argument.complete !== undefined) === true),
      subscriptions: resources.length > 0,
      tasks: Object.keys(tasks).length > 0,
    }
  }

  list(name: ListName): readonly JsonObject[] {
    const { resources, templates, prompts } = this.parts
    switch (name) {
      case 'tools':
        return [...this.registry].map(makeToolOffer)
      case 'resources':
        return resources.map(({ uri, name: own = uri, ...rest }) => ({ uri, name: own, ...pickTold(rest) }))
      case 'resourceTemplates':
        return templates.map(({ uriTemplate, name: own = uriTemplate, ...rest }) => ({
          uriTemplate,
          name: own,
          ...pickTold(rest),
        }))
      case 'prompts':
        return prompts.map(({ name: own, arguments: given = [], ...rest }) => ({
          name: own,
          ...pickTold(rest),
          arguments: given.map(({ name: argument, description, required = false }) => ({
            name: argument,
            ...(description === undefined ? {} : { description }),
            required,
          })),
        }))
    }
  }

  async callTool(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    if (!this.registry.has(name)) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`)
    const args = (params['arguments'] ?? {}) as { readonly [key: string]: unknown }
    let steps = 0
    const outcome = await this.registry.tryCall(name, args, {
      signal: scope.signal,
      client: makeClient(scope),
      progress: (data) => {
        const { progress, total, message } = readProgress(data)
        steps = progress ?? steps + 1
        scope.progress(steps, message, total)
      },
    })
    if (!outcome.ok) return { content: [{ type: 'text', text: outcome.error.message }], isError: true }
    return makeToolResult(toJson(plainFromHost(outcome.value)))
  }

  async readResource(uri: string, scope: RequestScope): Promise<JsonObject> {
    const context = makeContext(scope)
    const resource = this.parts.resources.find((each) => each.uri === uri)
    if (resource !== undefined) return makeContents(uri, resource.mimeType, await resource.read(context))
    for (const template of this.parts.templates) {
      const variables = matchTemplate(template.uriTemplate, uri)
      if (variables !== null) return makeContents(uri, template.mimeType, await template.read(variables, context))
    }
    throw new RpcError(NOT_FOUND, `Resource not found: ${uri}`)
  }

  async getPrompt(name: string, params: JsonObject, scope: RequestScope): Promise<JsonObject> {
    const prompt = this.parts.prompts.find((each) => each.name === name)
    if (prompt === undefined) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}`)
    const args = readTexts(params['arguments'])
    const missing = prompt.arguments?.find((argument) => argument.required === true && !Object.hasOwn(args, argument.name))
    if (missing !== undefined) throw new RpcError(INVALID_PARAMS, `Missing required argument: ${missing.name}`)
    const made = await prompt.get(args, makeContext(scope))
    const messages = typeof made === 'string' ? [{ role: 'user', content: { type: 'text', text: made } }] : made
    return {
      ...(prompt.description === undefined ? {} : { description: prompt.description }),
      messages: toJson(plainFromHost(messages)),
    }
  }

  complete(params: JsonObject): Promise<JsonObject> {
    const { ref, argument } = params
    if (!isObject(ref) || !isObject(argument)) throw new RpcError(INVALID_PARAMS, 'completion/complete needs ref and argument')
    const { name = '', value = '' } = argument
    if (typeof name !== 'string' || typeof value !== 'string')
      throw new RpcError(INVALID_PARAMS, 'completion/complete: the name and the value of the argument are strings')
    const completions = this.parts.templates.find((each) => each.uriTemplate === ref['uri'])?.complete ?? {}
    const completer =
      ref['type'] === 'ref/prompt'
        ? this.parts.prompts.find((each) => each.name === ref['name'])?.arguments?.find((each) => each.name === name)?.complete
        : Object.hasOwn(completions, name)
          ? completions[name]
          : undefined
    if (completer === undefined) return Promise.resolve(makeCompletion([]))
    const { context } = params
    const found =
      typeof completer === 'function'
        ? completer(value, readTexts(isObject(context) ? context['arguments'] : undefined))
        : completer.filter((each) => each.startsWith(value))
    return Promise.resolve(makeCompletion(found))
  }

  private tell(name: ListName): void {
    for (const listener of this.listeners) listener(name)
  }
}

function makeToolOffer(tool: Tool): JsonObject {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: (tool.input?.json ?? { type: 'object' }) as JsonObject,
    // The protocol knows structured results that are objects only.
    ...(tool.output !== null && tool.output.json['type'] === 'object' ? { outputSchema: tool.output.json as JsonObject } : {}),
    annotations: {
      readOnlyHint: tool.sideEffect === 'none' || tool.sideEffect === 'read_only',
      idempotentHint: isRepeatable(tool.recovery),
    },
  }
}

const CONTENT_TYPES: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

/** Contents of the protocol go as such; anything else as text, and as structured content where it is an object. */
function makeToolResult(value: Json): JsonObject {
  if (Array.isArray(value) && value.length > 0 && value.every((each) => isObject(each) && CONTENT_TYPES.has(each['type'])))
    return { content: value as readonly Json[], isError: false }
  const text = typeof value === 'string' ? value : unmarkIntegers(JSON.stringify(value))
  return {
    content: [{ type: 'text', text }],
    isError: false,
    ...(isObject(value) ? { structuredContent: value } : {}),
  }
}

/** A text, `{progress, total?, message?}`, or anything else, which is a message as JSON. */
function readProgress(data: unknown): { readonly progress?: number; readonly total?: number; readonly message?: string } {
  if (typeof data === 'string') return { message: data }
  const { progress, total, message } = (data ?? {}) as { readonly [key: string]: unknown }
  if (typeof progress !== 'number') return { message: JSON.stringify(data) }
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  }
}

function pickTold(rest: { readonly [key: string]: unknown }): JsonObject {
  return Object.fromEntries(
    ['title', 'description', 'mimeType'].flatMap((key) => (typeof rest[key] === 'string' ? [[key, rest[key]]] : [])),
  )
}

function makeContents(uri: string, mimeType: string | undefined, contents: Contents): JsonObject {
  const body: JsonObject = typeof contents === 'string' ? { text: contents } : { blob: Buffer.from(contents).toString('base64') }
  return { contents: [{ uri, ...body, ...(mimeType === undefined ? {} : { mimeType }) }] }
}

function readTexts(given: Json | undefined): { readonly [name: string]: string } {
  const entries = isObject(given) ? Object.entries(given) : []
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (isObject(value) || value === null ? [] : [[name, String(value)]])),
  )
}

const makeContext = (scope: RequestScope): ServedContext => ({ signal: scope.signal, client: makeClient(scope) })

function makeClient({ client, log }: RequestScope): ToolClient {
  const ask = async (method: string, params: object, { key }: ToolQuestionOptions = {}): Promise<JsonObject> => {
    try {
      const asked = toJson(plainFromHost(params)) as JsonObject
      return await client.request(method, key === undefined ? asked : { ...asked, [INPUT_KEY]: key })
    } catch (cause) {
      if (!(cause instanceof RpcError)) throw cause
      throw new ToolError('execution_failed', `MCP client error (${cause.code}): ${cause.message}`, { cause })
    }
  }
  return {
    get info() {
      return client.info
    },
    get capabilities() {
      return client.capabilities
    },
    log: (level, data, logger) => log(level, toJson(plainFromHost(data)), logger),
    sample: (request, options) => ask('sampling/createMessage', request, options),
    elicit: async (message, schema, options) => {
      const answer = await ask('elicitation/create', { message, requestedSchema: schema }, options)
      const { action, content } = answer
      if (action === 'accept') return { action, content: isObject(content) ? content : {} }
      return { action: action === 'decline' ? 'decline' : 'cancel', content: null }
    },
    roots: async (options) => {
      const { roots } = await ask('roots/list', {}, options)
      return Array.isArray(roots) ? (roots as readonly { readonly uri: string; readonly name?: string }[]) : []
    },
  }
}
