// Answers the MCP effects of one run (builtins/mcp.ts lists them) and keeps its connections. A connection is found by the
// number the machine gave it; one that is not known here belongs to a restored run and is opened again from its spec, under
// the options of now. `close` ends all of them, and the processes behind them.

import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../library/time/host-clock.js'
import { chooseNumber } from '../tools/servers/mcp.js'
import { answered, categorizedError, describeCause, runtimeError } from '../tools/executors/provider.js'
import { identifyServer } from '../tools/dispatch/identity.js'
import type { PinnedTools } from '../tools/definitions/pins.js'
import type { EffectCall, Provider, ProviderSource } from '../tools/executors/provider.js'

import { readDeclaredConfig, readServerConfig } from './config.js'
import type { McpServerDeclaration } from './config.js'
import { McpConnection, McpFailure } from './connection.js'
import { DEFAULT_LIMITS, Listings } from './limits.js'
import { findProgramFile } from './program-file.js'
import type { McpLimits } from './limits.js'
import type { McpProgress, McpServerConfig, McpServerRequestHandler } from './connection.js'
import { isServerAddress } from '../library/effects/index.js'

export interface McpOptions {
  /** Limit of one request, milliseconds; 60 s by default. */
  readonly timeoutMs?: number
  /** Limit of starting a server and its handshake; `timeoutMs` by default. */
  readonly connectTimeoutMs?: number
  /** Servers known by name: `mcp_ensure_active("name")`, and tools with `mcp_server: "name"`. */
  readonly servers?: { readonly [name: string]: McpServerDeclaration }
  /** Working folder of server processes; that of this process by default. */
  readonly cwd?: string
  /**
   * Environment of server processes: `safe` (default) passes the variables that a program needs to start (PATH, HOME …), `inherit`
   * everything, a record exactly itself. Variables of a server's own spec are added.
   */
  readonly env?: 'safe' | 'inherit' | { readonly [name: string]: string }
  /** What becomes of a server's standard error; `ignore` by default. */
  readonly stderr?: 'inherit' | 'ignore'
  /**
   * Answers to requests that servers make: `sampling/createMessage`, `elicitation/create`, `roots/list`. A function gives those for one
   * server, when it is connected.
   */
  readonly handlers?:
    | { readonly [method: string]: McpServerRequestHandler }
    | ((server: string) => { readonly [method: string]: McpServerRequestHandler })
  /** Receives progress of calls; servers are asked for it only if there is a listener. */
  readonly onProgress?: (event: McpProgress & { readonly server: string; readonly method: string }) => void
  /** Hears what servers say unasked: list changes, log messages, updated resources. */
  readonly onNotification?: (server: string, method: string, params: Plain) => void
  /** Used for streamable HTTP, for instance one with a network policy; the global fetch by default. */
  readonly fetch?: typeof globalThis.fetch
  /** Limits on what servers may send, with defaults. */
  readonly limits?: McpLimits
  /** Hears of tools that are left out because they cannot be used. */
  readonly onWarning?: (message: string) => void
  /** Whether a server that a script names itself may be used; all by default, given the grants. */
  readonly allow?: (config: McpServerConfig) => boolean
}

const DEFAULT_TIMEOUT_MS = 60_000
/** A server that never stops to say that something changed is listened to no longer. */
const MOST_UPDATES = 10_000
const LONGEST_URI = 4_096
/** Below the numbers of declared servers, for any number of them. */
const FIRST_ADDRESS = -1_000_000
const SAFE_ENVIRONMENT =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
        'PROGRAMFILES',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR', 'TZ']

/** Requests that change nothing on any server. */
const READING = new Set([
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'skills/list',
  'skills/get',
  'resources/directory/read',
])

/** A provider for `createRuntime`; each run gets its own connections. */
export function mcpProvider(options: McpOptions = {}): ProviderSource {
  return ({ pins = null }) => new McpConnections(options, pins)
}

export class McpConnections implements Provider {
  readonly kinds = ['mcp.connect', 'mcp.request'] as const
  private readonly options: McpOptions
  /** What the lock file says about tools; null in a run without one. */
  private readonly pins: PinnedTools | null
  /** Tools as the servers list them now, for runs with pins; until a server says that they have changed. */
  private readonly offered = new WeakMap<McpConnection, Promise<ReadonlyMap<string, Plain>>>()
  /** By connection number; negative numbers are connections of tools with `mcp_server`. */
  private readonly open = new Map<number, Promise<McpConnection>>()
  /** Those of `open` whose handshake is done. */
  private readonly opened = new Map<number, McpConnection>()
  /** Connection numbers of scripts that stand for the pinned connection of a server which is not lazy. */
  private readonly aliases = new Map<number, number>()
  /** Numbers of servers that are named by their URL. */
  private readonly addresses = new Map<string, number>()
  /** Connections that no number leads to any more, on their way out. */
  private readonly leaving = new Set<Promise<void>>()
  private readonly keepAlive = new Map<number, ReturnType<typeof setTimeout>>()
  private readonly readOnly = new Map<number, Promise<ReadonlySet<string>>>()
  /** What servers said to have changed and no script has asked for, by connection number. */
  private readonly updates = new Map<number, { readonly resources: Set<string>; readonly lists: Set<string> }>()
  /** Lists that servers are asked for page by page, by connection. */
  private readonly listings = new WeakMap<McpConnection, Listings>()
  private readonly stop = new AbortController()
  private ended = false

  constructor(options: McpOptions, pins: PinnedTools | null = null) {
    this.options = options
    this.pins = pins
    for (const [name, { lazy }] of Object.entries(options.servers ?? {})) {
      // Using it raises the reason; an unused server does not matter.
      if (lazy === false) this.getConnection(this.assignNumber(name), name, { server: name }, this.stop.signal).catch(() => {})
    }
  }

  readonly perform = (effect: Effect, call: EffectCall): EffectOutcome | Promise<EffectOutcome> => {
    const { args } = effect
    const number = typeof args.client === 'number' ? args.client : 0
    const name = typeof args.name === 'string' ? args.name : ''
    if (effect.kind === 'mcp.request') {
      return this.request(number, name, args.spec ?? null, String(args.method), record(args.params ?? null), call.signal)
    }
    switch (args.op) {
      case 'open':
        return this.connect(number, name, args.spec ?? null, call.signal)
      case 'close':
        return this.disconnect(number)
      case 'release':
        return this.release(number, name)
      case 'updates':
        return answered(this.takeUpdates(number))
      case 'status':
        return answered(this.describeStatus())
      default:
        return runtimeError(`mcp: unknown operation ${JSON.stringify(args.op ?? null)}`)
    }
  }

  /** What a dry run may carry out: reading, and tools that their server marks as read-only. */
  async isReadOnly(effect: Effect, call: EffectCall): Promise<boolean> {
    const { args } = effect
    if (effect.kind === 'mcp.connect') return true
    if (READING.has(String(args.method))) return true
    if (args.method !== 'tools/call') return false
    const number = Number(args.client)
    const tools = await this.readOnlyTools(number, String(args.name), args.spec ?? null, call.signal)
    return tools.has(String(record(args.params ?? null)['name']))
  }

  /** One tool call for the mcp executor, on a server that the host declared or at an address. Connects on first use. */
  async callTool(
    server: string,
    tool: string,
    args: { readonly [key: string]: Plain },
    signal: AbortSignal,
    timeoutMs?: number,
    progress?: (event: McpProgress) => void,
    meta?: { readonly [key: string]: Plain },
  ): Promise<EffectOutcome> {
    return this.request(
      this.assignNumber(server),
      server,
      this.makeSpec(server),
      'tools/call',
      { name: tool, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
      signal,
      timeoutMs,
      progress,
    )
  }

  /** Any other request to a declared server, such as `prompts/get`. Connects on first use. */
  async ask(
    server: string,
    method: string,
    params: { readonly [key: string]: Plain },
    signal: AbortSignal,
  ): Promise<EffectOutcome> {
    return this.request(this.assignNumber(server), server, this.makeSpec(server), method, params, signal)
  }

  /** `{server, capabilities, instructions}` of a declared server. Connects on first use. */
  async describe(server: string, signal: AbortSignal): Promise<EffectOutcome> {
    return this.connect(this.assignNumber(server), server, this.makeSpec(server), signal)
  }

  /** Whether a declared server marks the tool as read-only. */
  async isReadOnlyTool(server: string, tool: string, signal: AbortSignal): Promise<boolean> {
    return (await this.readOnlyTools(this.assignNumber(server), server, this.makeSpec(server), signal)).has(tool)
  }

  async close(): Promise<void> {
    this.ended = true
    this.stop.abort(new Error('the run has ended'))
    for (const timer of this.keepAlive.values()) clearTimeout(timer)
    const open = [...this.open.values()]
    this.open.clear()
    await Promise.allSettled([...this.leaving, ...open.map(async (connection) => (await connection).close())])
  }

  /** Of the connection that tools and eager clients of a declared server share; the same in every process. */
  private assignNumber(server: string): number {
    if (!this.isAddress(server)) return chooseNumber(this.options.servers ?? {}, server)
    const known = this.addresses.get(server)
    if (known !== undefined) return known
    const number = FIRST_ADDRESS - this.addresses.size
    this.addresses.set(server, number)
    return number
  }

  /** An undeclared server that is named by its URL, as in `use tool mcp "https://…"`. */
  private isAddress(server: string): boolean {
    return isServerAddress(server) && !Object.hasOwn(this.options.servers ?? {}, server)
  }

  private makeSpec(server: string): Plain {
    return this.isAddress(server) ? { transport: 'http', url: server } : { server }
  }

  private async connect(number: number, name: string, spec: Plain, signal: AbortSignal): Promise<EffectOutcome> {
    try {
      return answered((await this.getConnection(number, name, spec, signal)).facts())
    } catch (cause) {
      return cause instanceof McpFailure ? cause.outcome : runtimeError(`MCP: ${describeCause(cause)}`)
    }
  }

  private async request(
    number: number,
    name: string,
    spec: Plain,
    method: string,
    params: { readonly [key: string]: Plain },
    signal: AbortSignal,
    timeoutMs?: number,
    progress?: (event: McpProgress) => void,
  ): Promise<EffectOutcome> {
    const { onProgress } = this.options
    const declaration = this.findDeclaration(spec)
    const tool = method === 'tools/call' ? String(params['name']) : null
    if (tool !== null && declaration?.tools?.includes(tool) === false)
      return categorizedError('tool_rejected', `tool '${tool}' of MCP server '${name}' is not allowed by this host`)
    const limits = {
      timeoutMs: timeoutMs ?? declaration?.timeoutMs ?? this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal,
      onProgress: progress ?? (onProgress && ((event: McpProgress) => onProgress({ ...event, server: name, method }))),
    }
    // Numbers above zero were connected by the script; when one is not known here, the run was restored.
    const reopened = number > 0 && !this.open.has(number) && !this.aliases.has(number)
    try {
      const ask = async (connection: McpConnection): Promise<EffectOutcome> =>
        (tool === null ? null : await this.findChange(connection, name, spec, tool, signal)) ??
        connection.request(method, params, limits)
      const connection = await this.getConnection(number, name, spec, signal)
      let outcome = await ask(connection)
      if (connection.isSessionLost) {
        // The server forgot the session, so it did nothing with the request; once more on a new one.
        this.forget(number, connection)
        outcome = await ask(await this.getConnection(number, name, spec, signal))
      }
      outcome = this.getListings(await this.getConnection(number, name, spec, signal), name).checkPage(
        method,
        params['cursor'] ?? null,
        outcome,
      )
      return method === 'tools/list' && outcome.ok
        ? answered(this.keepPinned(keepListed(outcome.value, declaration?.tools), spec, name))
        : outcome
    } catch (cause) {
      const why = describeCause(cause)
      if (reopened) return categorizedError('handle_lost', `MCP client '${name}' could not be opened again: ${why}`)
      return cause instanceof McpFailure ? cause.outcome : runtimeError(`MCP: ${why}`)
    }
  }

  /**
   * The refusal of a call whose tool is not what the lock file pins, by what the server lists now: a server may change its tools at any time,
   * and each connection is its own server. Null where the tool is as it was, and in runs without pins.
   */
  private async findChange(
    connection: McpConnection,
    name: string,
    spec: Plain,
    tool: string,
    signal: AbortSignal,
  ): Promise<EffectOutcome | null> {
    if (this.pins === null) return null
    const server = identifyServer(spec, name)
    let offered = this.offered.get(connection)
    if (offered === undefined) this.offered.set(connection, (offered = this.listToolsByName(connection, name, signal)))
    let tools: ReadonlyMap<string, Plain>
    try {
      tools = await offered
    } catch (cause) {
      this.offered.delete(connection)
      return failDrifted(`the tools of MCP server '${name}' cannot be compared with the lock file: ${describeCause(cause)}`)
    }
    const found = tools.get(tool)
    const problem = found === undefined ? 'is no longer offered' : this.pins.changeOf(server, found)
    return problem === null ? null : failDrifted(`tool '${tool}' of MCP server '${name}' ${problem}`)
  }

  /** A page of tools as the lock file has them: what another one says must not reach a model either. */
  private keepPinned(page: Plain, spec: Plain, name: string): Plain {
    const { pins } = this
    const { tools } = record(page)
    if (pins === null || !Array.isArray(tools)) return page
    const server = identifyServer(spec, name)
    const kept = (tools as readonly Plain[]).filter((tool) => {
      const problem = pins.changeOf(server, tool)
      if (problem !== null)
        this.options.onWarning?.(`tool '${String(record(tool)['name'])}' of MCP server '${name}' is left out: it ${problem}`)
      return problem === null
    })
    return { ...record(page), tools: kept }
  }

  private async listToolsByName(
    connection: McpConnection,
    name: string,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Plain>> {
    const tools = new Map<string, Plain>()
    const limits = { timeoutMs: this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal }
    const listings = new Listings(name, { ...DEFAULT_LIMITS, ...this.options.limits }, () => {})
    let cursor: Plain = null
    do {
      const asked = await connection.request('tools/list', cursor === null ? {} : { cursor }, limits)
      const outcome = listings.checkPage('tools/list', cursor, asked)
      if (!outcome.ok) throw new Error(outcome.error.message)
      const page = record(outcome.value)
      for (const tool of Array.isArray(page['tools']) ? (page['tools'] as readonly Plain[]) : [])
        tools.set(String(record(tool)['name']), tool)
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : null
    } while (cursor !== null && !signal.aborted)
    return tools
  }

  private getListings(connection: McpConnection, server: string): Listings {
    const known = this.listings.get(connection)
    if (known !== undefined) return known
    const { limits, onWarning } = this.options
    const made = new Listings(server, { ...DEFAULT_LIMITS, ...limits }, (message) => onWarning?.(message))
    this.listings.set(connection, made)
    return made
  }

  /** Drops an unusable connection, unless another has replaced it. */
  private forget(given: number, gone: McpConnection): void {
    const number = this.aliases.get(given) ?? given
    void gone.close()
    if (this.opened.get(number) !== gone) return
    this.opened.delete(number)
    this.open.delete(number)
    this.readOnly.delete(number)
  }

  /** A server that the host declared is started again when its last connection has ended; one that a script started is not. */
  private async getConnection(given: number, name: string, spec: Plain, signal: AbortSignal): Promise<McpConnection> {
    const number = this.resolvePinned(given, spec)
    const known = this.open.get(number)
    if (known !== undefined) {
      const connection = await known
      if (!connection.isClosed || (number > 0 && typeof record(spec)['server'] !== 'string')) return connection
      this.forget(number, connection)
      return this.getConnection(number, name, spec, signal)
    }
    const opening = this.openConnection(number, name, spec, signal)
    this.open.set(number, opening)
    try {
      const connection = await opening
      this.opened.set(number, connection)
      return connection
    } catch (cause) {
      if (this.open.get(number) === opening) this.open.delete(number)
      throw cause
    }
  }

  /** The number of the pinned connection when the spec names a server that has one. */
  private resolvePinned(number: number, spec: Plain): number {
    const known = this.aliases.get(number)
    if (known !== undefined) return known
    const server = record(spec)['server']
    if (typeof server !== 'string' || number < 0 || this.options.servers?.[server]?.lazy !== false) return number
    const pinned = this.assignNumber(server)
    this.aliases.set(number, pinned)
    return pinned
  }

  private async openConnection(number: number, name: string, spec: Plain, signal: AbortSignal): Promise<McpConnection> {
    if (this.ended) throw new McpFailure(runtimeError('MCP: the run has ended'))
    const { options } = this
    const config = this.makeConfig(name, spec)
    const declared = this.findDeclaration(spec)
    const connection = await McpConnection.open(
      {
        config,
        cwd: options.cwd,
        env: makeEnvironment(options.env ?? 'safe'),
        stderr: options.stderr ?? 'ignore',
        connectTimeoutMs:
          declared?.connectTimeoutMs ??
          options.connectTimeoutMs ??
          declared?.timeoutMs ??
          options.timeoutMs ??
          DEFAULT_TIMEOUT_MS,
        handlers: typeof options.handlers === 'function' ? options.handlers(name) : (options.handlers ?? {}),
        fetch: options.fetch,
        limits: options.limits,
        onWarning: options.onWarning,
        onNotification: (method, params) => {
          if (method === 'notifications/tools/list_changed') {
            this.readOnly.delete(number)
            const changed = this.opened.get(number)
            if (changed !== undefined) this.offered.delete(changed)
          }
          this.noteUpdate(number, method, params)
          options.onNotification?.(name, method, params)
        },
      },
      signal,
    )
    if (this.ended) await connection.close()
    return connection
  }

  /** What the host said about the server that a spec names; null for a server of the script's own. */
  private findDeclaration(spec: Plain): McpServerDeclaration | null {
    const declared = record(spec)['server']
    const { servers = {} } = this.options
    return typeof declared === 'string' && Object.hasOwn(servers, declared) ? servers[declared]! : null
  }

  private makeConfig(name: string, spec: Plain): McpServerConfig {
    const declared = record(spec)['server']
    if (typeof declared === 'string') {
      const declaration = this.findDeclaration(spec)
      if (declaration === null)
        throw new McpFailure(runtimeError(`mcp: no server named '${declared}' is registered (check harn.toml)`))
      // The declaration of a server may set the path of its programs.
      const own = readDeclaredConfig(declared, declaration)
      return own.transport === 'stdio' ? this.withFoundProgram(own, own.env) : own
    }
    const read = readServerConfig(name, spec)
    // The variables of a script are for the program; what that is, they do not say.
    const config = read.transport === 'stdio' ? this.withFoundProgram(read, {}) : read
    if (this.options.allow?.(config) === false) {
      throw new McpFailure(categorizedError('tool_rejected', `MCP server '${name}' is not allowed by this host`))
    }
    return config
  }

  /** With the file that is started. It is looked up once, so that what `allow` sees is what runs. */
  private withFoundProgram<C extends McpServerConfig & { readonly transport: 'stdio' }>(
    config: C,
    env: { readonly [name: string]: string },
  ): C {
    const { cwd = process.cwd() } = this.options
    const path = { ...makeEnvironment(this.options.env ?? 'safe'), ...env }['PATH'] ?? ''
    return { ...config, file: findProgramFile(config.command, path, cwd) }
  }

  private async disconnect(number: number): Promise<EffectOutcome> {
    // The server stays for the others who use it.
    if (this.aliases.delete(number)) return answered(null)
    const connection = this.open.get(number)
    this.open.delete(number)
    this.readOnly.delete(number)
    if (connection !== undefined)
      await connection.then(
        (each) => each.close(),
        () => {},
      )
    return answered(null)
  }

  private release(number: number, name: string): EffectOutcome | Promise<EffectOutcome> {
    const keepAliveMs = this.options.servers?.[name]?.keepAliveMs ?? 0
    if (keepAliveMs <= 0) return this.disconnect(number)
    const timer = setTimeout(() => {
      this.keepAlive.delete(number)
      const leaving = this.disconnect(number).then(() => void this.leaving.delete(leaving))
      this.leaving.add(leaving)
    }, clampTimer(keepAliveMs))
    timer.unref?.()
    this.keepAlive.set(number, timer)
    return answered(null)
  }

  private noteUpdate(number: number, method: string, params: Plain): void {
    const list = /^notifications\/(tools|resources|prompts)\/list_changed$/.exec(method)?.[1]
    const uri = method === 'notifications/resources/updated' ? record(params)['uri'] : undefined
    if (list === undefined && typeof uri !== 'string') return
    const noted = this.updates.get(number) ?? { resources: new Set<string>(), lists: new Set<string>() }
    this.updates.set(number, noted)
    if (list !== undefined) noted.lists.add(list)
    else if (noted.resources.size < MOST_UPDATES && (uri as string).length <= LONGEST_URI) noted.resources.add(uri as string)
  }

  private takeUpdates(given: number): Plain {
    const number = this.aliases.get(given) ?? given
    const noted = this.updates.get(number)
    this.updates.delete(number)
    return { resources: [...(noted?.resources ?? [])].sort(), lists: [...(noted?.lists ?? [])].sort() }
  }

  private describeStatus(): Plain {
    return Object.entries(this.options.servers ?? {}).map(([name, server]) => ({
      name,
      lazy: server.lazy ?? true,
      card: server.card ?? null,
      keepAliveMs: server.keepAliveMs ?? 0,
    }))
  }

  private readOnlyTools(number: number, name: string, spec: Plain, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const known = this.readOnly.get(number)
    if (known !== undefined) return known
    const asked = this.askReadOnlyTools(number, name, spec, signal)
    this.readOnly.set(number, asked)
    return asked
  }

  private async askReadOnlyTools(number: number, name: string, spec: Plain, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const names = new Set<string>()
    for await (const { name: toolName, annotations } of this.listPages(number, name, spec, signal)) {
      if (typeof toolName === 'string' && record(annotations ?? null)['readOnlyHint'] === true) names.add(toolName)
    }
    return names
  }

  /** All tools of a declared server, over all pages. */
  async listTools(server: string, signal: AbortSignal): Promise<EffectOutcome> {
    const tools: Plain[] = []
    const listing = this.listPages(this.assignNumber(server), server, this.makeSpec(server), signal)
    for (;;) {
      const { done, value } = await listing.next()
      if (done === true) return value ?? answered(tools)
      tools.push(value)
    }
  }

  /** Tools page by page; gives the failure that ended the list, or null. */
  private async *listPages(
    number: number,
    name: string,
    spec: Plain,
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly [key: string]: Plain }, EffectOutcome | null> {
    let cursor: Plain = null
    do {
      const params: { readonly [key: string]: Plain } = cursor === null ? {} : { cursor }
      const outcome: EffectOutcome = await this.request(number, name, spec, 'tools/list', params, signal)
      if (!outcome.ok) return outcome
      const page = record(outcome.value)
      for (const tool of Array.isArray(page['tools']) ? (page['tools'] as readonly Plain[]) : []) yield record(tool)
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : null
    } while (cursor !== null && !signal.aborted)
    return null
  }
}

function failDrifted(message: string): EffectOutcome {
  return categorizedError('tool_rejected', message, 'schema_drift')
}

/** A page of `tools/list` without the tools that the host leaves out. */
function keepListed(page: Plain, allowed: readonly string[] | undefined): Plain {
  const { tools } = record(page)
  if (allowed === undefined || !Array.isArray(tools)) return page
  return {
    ...record(page),
    tools: (tools as readonly Plain[]).filter((tool) => allowed.includes(String(record(tool)['name']))),
  }
}

function record(value: Plain): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}

function makeEnvironment(choice: 'safe' | 'inherit' | { readonly [name: string]: string }): NodeJS.ProcessEnv {
  if (choice === 'inherit') return { ...process.env }
  if (choice !== 'safe') return { ...choice }
  const out: NodeJS.ProcessEnv = {}
  for (const name of SAFE_ENVIRONMENT) {
    const value = process.env[name]
    // A value that begins so is an exported shell function, which is code.
    if (value !== undefined && !value.startsWith('()')) out[name] = value
  }
  return out
}
