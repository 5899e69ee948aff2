// The servers behind a gateway, as one client has them: connected at the first use, listed once, and again after they said that their lists changed.
// Each client has its own connections, so that the state of a server (an open page, a subscription) belongs to one client.

import type { Plain } from '@bridle/vm'
import { matchStars } from '@bridle/compiler/grants'
import { partialTool } from '../tools/host-tools/combine.js'
import type { Tool } from '../tools/host-tools/define.js'
import { describeCause } from '../tools/executors/provider.js'
import { McpConnections } from '../mcp/provider.js'
import { matchTemplate } from '../mcp/server-offers.js'
import { NOT_FOUND, RpcError, isObject, toJson } from '../mcp/server-protocol.js'
import type { JsonObject } from '../mcp/server-protocol.js'
import { makeServerTool, readListedTools } from '../mcp/tools.js'
import type { GatewayApi, GatewayServer } from './config.js'
import { loadApiTools } from './openapi.js'
import type { ToolLock } from './lock.js'
import type { ClientQuestions } from './questions.js'
import type { GatewayOptions, ToolChange } from './options.js'

/** Lists of the protocol that are forwarded, with their keys. */
const HANDED_ON = {
  prompts: ['prompts/list', 'prompts'],
  resources: ['resources/list', 'resources'],
  resourceTemplates: ['resources/templates/list', 'resourceTemplates'],
} as const
export type HandedOn = keyof typeof HANDED_ON

export interface Offer {
  readonly server: string
  readonly item: JsonObject
}

export class ServersBehind {
  private readonly servers: { readonly [name: string]: GatewayServer }
  private readonly apis: { readonly [name: string]: GatewayApi }
  private readonly lock: ToolLock | null
  private readonly connections: McpConnections
  private readonly options: GatewayOptions
  private readonly onChange: (name: 'tools' | HandedOn) => void
  private readonly listed = new Map<string, Promise<readonly Plain[]>>()
  private readonly offers = new Map<string, Promise<readonly JsonObject[]>>()
  private readonly apiTools = new Map<string, Promise<readonly Tool[]>>()
  /** Counts what may have changed the tools. */
  private changes = 0
  private made: { readonly changes: number; readonly tools: readonly Tool[]; readonly open: readonly ToolChange[] } | null = null

  constructor(
    config: {
      readonly servers: { readonly [name: string]: GatewayServer }
      readonly apis: { readonly [name: string]: GatewayApi }
    },
    lock: ToolLock | null,
    options: GatewayOptions,
    onChange: (name: 'tools' | HandedOn) => void,
    questions: ClientQuestions,
  ) {
    this.servers = config.servers
    this.apis = config.apis
    this.lock = lock
    this.options = options
    this.onChange = onChange
    const { fetch, cwd, onWarning } = options
    this.connections = new McpConnections({
      // Patterns here select the tools that scripts see; a connection does not know them.
      servers: Object.fromEntries(Object.entries(config.servers).map(([name, { tools: _tools, ...server }]) => [name, server])),
      handlers: (server) => questions.makeHandlers(server),
      ...(fetch === undefined ? {} : { fetch }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(onWarning === undefined ? {} : { onWarning }),
      onNotification: (server, method) => this.hear(server, method),
    })
    lock?.onAccept(() => this.forgetTools(null))
  }

  get names(): readonly string[] {
    return [...Object.keys(this.servers), ...Object.keys(this.apis)]
  }

  close(): Promise<void> {
    return this.connections.close()
  }

  /**
   * The tools of all servers that can be reached, in the order of the configuration, and those that wait for a person. The same list until
   * something changed. `failures` has why a server is not there; it is tried again by the next call.
   */
  async listTools(signal: AbortSignal): Promise<{
    readonly tools: readonly Tool[]
    readonly open: readonly ToolChange[]
    readonly failures: readonly string[]
  }> {
    const { changes } = this
    if (this.made?.changes === changes) return { ...this.made, failures: [] }
    const failures: string[] = []
    const open: ToolChange[] = []
    const lists = await Promise.all(
      this.names.map(async (name): Promise<readonly Tool[]> => {
        try {
          return Object.hasOwn(this.servers, name)
            ? await this.listServerTools(name, open, signal)
            : await this.listApiTools(name)
        } catch (cause) {
          failures.push(`server ${name}: ${describeCause(cause)}`)
          return []
        }
      }),
    )
    const tools = uniqueTools(lists.flat(), (message) => this.options.onWarning?.(message))
    if (failures.length === 0) this.made = { changes, tools, open }
    return { tools, open, failures }
  }

  /** What the servers offer of a kind. One that cannot be reached, or has none, adds nothing. */
  async list(kind: HandedOn, signal: AbortSignal): Promise<readonly Offer[]> {
    const names = Object.keys(this.servers).filter((name) => this.isHandedOn(name, kind))
    const lists = await Promise.all(
      names.map(async (server) => {
        try {
          return (await this.listOffers(server, kind, signal)).map((item) => ({ server, item }))
        } catch (cause) {
          this.options.onWarning?.(`${kind} of server ${server}: ${describeCause(cause)}`)
          return []
        }
      }),
    )
    return lists.flat()
  }

  async getPrompt(server: string, name: string, args: Plain, signal: AbortSignal): Promise<JsonObject> {
    if (!this.isHandedOn(server, 'prompts'))
      throw new RpcError(NOT_FOUND, `there is no server ${JSON.stringify(server)} with prompts`)
    return this.ask(server, 'prompts/get', { name, arguments: args }, signal)
  }

  /** From the first server that lists it, or has a template for it. */
  async readResource(uri: string, signal: AbortSignal): Promise<JsonObject> {
    const listed = (await this.list('resources', signal)).find(({ item }) => item['uri'] === uri)
    const found =
      listed ??
      (await this.list('resourceTemplates', signal)).find(({ item }) => matchTemplate(String(item['uriTemplate']), uri) !== null)
    if (found === undefined) throw new RpcError(NOT_FOUND, `Resource not found: ${uri}`)
    return this.ask(found.server, 'resources/read', { uri }, signal)
  }

  private isHandedOn(name: string, kind: HandedOn): boolean {
    const server = Object.hasOwn(this.servers, name) ? this.servers[name] : undefined
    return server !== undefined && server[kind === 'prompts' ? 'prompts' : 'resources'] !== false
  }

  private async ask(
    server: string,
    method: string,
    params: { readonly [key: string]: Plain },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const outcome = await this.connections.ask(server, method, params, signal)
    if (!outcome.ok) throw new RpcError(-32603, outcome.error.message)
    const value = toJson(outcome.value)
    return isObject(value) ? value : {}
  }

  private listOffers(server: string, kind: HandedOn, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const id = `${kind} ${server}`
    let known = this.offers.get(id)
    if (known === undefined) {
      known = this.loadOffers(server, kind, signal)
      this.offers.set(id, known)
      known.catch(() => this.offers.delete(id))
    }
    return known
  }

  private async loadOffers(server: string, kind: HandedOn, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const described = await this.connections.describe(server, signal)
    if (!described.ok) throw new Error(described.error.message)
    const facts = toJson(described.value)
    const capability = kind === 'prompts' ? 'prompts' : 'resources'
    if (!isObject(facts) || !isObject(facts['capabilities']) || facts['capabilities'][capability] === undefined) return []
    const [method, key] = HANDED_ON[kind]
    const items: JsonObject[] = []
    let cursor: Plain = null
    do {
      const page: JsonObject = await this.ask(server, method, cursor === null ? {} : { cursor }, signal)
      const listed = page[key]
      if (Array.isArray(listed)) items.push(...(listed as readonly unknown[]).filter(isObject))
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : null
    } while (cursor !== null)
    return items
  }

  private async listServerTools(name: string, open: ToolChange[], signal: AbortSignal): Promise<readonly Tool[]> {
    const server = this.servers[name]!
    let known = this.listed.get(name)
    if (known === undefined) {
      known = this.loadTools(name, signal)
      this.listed.set(name, known)
      known.catch(() => this.listed.delete(name))
    }
    const granted = readListedTools(await known).filter((tool) => isAllowed(tool.name, server))
    const judged = this.lock?.judge(name, granted as unknown as readonly JsonObject[]) ?? null
    open.push(...(judged?.changes ?? []))
    const hidden = new Set((judged?.changes ?? []).map(({ listed }) => listed['name']))
    return granted
      .filter((tool) => !hidden.has(tool.name))
      .flatMap((tool) => {
        try {
          const made = makeServerTool(this.connections, name, tool, `${name}.${tool.name}`)
          return [finish(made, tool.name, server.fill)]
        } catch (cause) {
          this.options.onWarning?.(`tool ${JSON.stringify(tool.name)} of server ${name} is left out: ${describeCause(cause)}`)
          return []
        }
      })
  }

  private async loadTools(name: string, signal: AbortSignal): Promise<readonly Plain[]> {
    const outcome = await this.connections.listTools(name, signal)
    if (!outcome.ok) throw new Error(outcome.error.message)
    return outcome.value as readonly Plain[]
  }

  private async listApiTools(name: string): Promise<readonly Tool[]> {
    const api = this.apis[name]!
    let known = this.apiTools.get(name)
    if (known === undefined) {
      known = loadApiTools(name, api, this.options)
      this.apiTools.set(name, known)
      known.catch(() => this.apiTools.delete(name))
    }
    const tools = await known
    return tools
      .filter((tool) => isAllowed(tool.name.slice(name.length + 1), api))
      .map((tool) => finish(tool, tool.name.slice(name.length + 1), api.fill))
  }

  private hear(server: string, method: string): void {
    if (method === 'notifications/tools/list_changed') {
      this.forgetTools(server)
      this.onChange('tools')
    }
    for (const kind of ['prompts', 'resources'] as const) {
      if (method !== `notifications/${kind}/list_changed`) continue
      this.offers.delete(`${kind} ${server}`)
      if (kind === 'resources') this.offers.delete(`resourceTemplates ${server}`)
      this.onChange(kind)
    }
  }

  private forgetTools(server: string | null): void {
    this.changes++
    this.made = null
    if (server !== null) this.listed.delete(server)
  }
}

function isAllowed(
  name: string,
  { tools, deny }: { readonly tools?: readonly string[]; readonly deny?: readonly string[] },
): boolean {
  const fits = (pattern: string): boolean => matchStars(pattern, name)
  return (tools === undefined || tools.some(fits)) && deny?.some(fits) !== true
}

/** With what the gateway fills in, and a name that a script can write: `get-sum` is `get_sum`. */
function finish(tool: Tool, own: string, fill: GatewayServer['fill'] = {}): Tool {
  const properties = (tool.input?.json['properties'] ?? {}) as { readonly [name: string]: unknown }
  const ofAll = Object.entries(fill['*'] ?? {}).filter(([name]) => Object.hasOwn(properties, name))
  const given = { ...Object.fromEntries(ofAll), ...(Object.hasOwn(fill, own) && own !== '*' ? fill[own] : {}) }
  const name = tool.name.replaceAll(/[^A-Za-z0-9_.]/g, '_')
  return name === tool.name && Object.keys(given).length === 0 ? tool : partialTool(tool, given, { name })
}

/** Two tools may come to one name; the first one keeps it. */
function uniqueTools(tools: readonly Tool[], warn: (message: string) => void): readonly Tool[] {
  const kept = new Map<string, Tool>()
  for (const tool of tools) {
    if (kept.has(tool.name)) warn(`tool ${tool.name} is left out: another one has the same name, as scripts write it`)
    else kept.set(tool.name, tool)
  }
  return [...kept.values()]
}
