// A server of the revision 2026-07-28 or a later one. There is no session: each request says who we are, a result may ask for input and is
// then asked for again, and changes are heard on a stream that we open. What scripts see is what they see of older servers.

import { listenForAbort } from '../library/abort.js'
import type { Plain } from '@bridle/vm'
import { withIntegers } from '../tools/executors/exact-json.js'
import { VERSION } from '../version.js'
import { listCapabilities, serve } from './server-requests.js'
import type { McpServerRequestHandlers } from './server-requests.js'
import { ServerError } from './modern-transports.js'
import type { ModernTransport } from './modern-transports.js'
import { HEADER_MISMATCH, INPUT_METHODS, META, TASKS, isFields, makeArgumentHeaders, readHeaderArguments } from './modern-wire.js'
import type { HeaderArgument } from './modern-wire.js'
import type { Peer, PeerRequest } from './peer.js'

type Fields = { readonly [key: string]: unknown }

/** A server that asks for input again and again gets none in the end. */
const MOST_ROUNDS = 32
/** Before asking again when the server wants nothing but time. */
const PACE_MS = 250
const POLL_MS = 1000
const LONGEST_POLL_MS = 60_000
/** However long a server lets us keep a list. */
const LONGEST_CACHE_MS = 24 * 3_600_000
const MOST_CACHED = 200
const MOST_PAGES = 100
/** How long after its end, at first, the stream of changes is opened again. */
const LISTEN_AGAIN_MS = 1000

/** By what a notification makes stale. */
const STALE: { readonly [notification: string]: readonly string[] } = {
  'notifications/tools/list_changed': ['tools/list'],
  'notifications/prompts/list_changed': ['prompts/list'],
  'notifications/resources/list_changed': ['resources/list', 'resources/templates/list'],
  'notifications/resources/updated': ['resources/read'],
}
const CACHED: ReadonlySet<string> = new Set(Object.values(STALE).flat())

export interface ModernPeerOptions {
  readonly version: string
  /** The result of `server/discover`. */
  readonly discovered: Fields
  readonly handlers: McpServerRequestHandlers
  readonly hear: (method: string, params: Fields) => void
  readonly onWarning: (message: string) => void
  /** Whether arguments go into headers too. */
  readonly usesHeaders: boolean
}

/** What every request says about us. */
export function makeEnvelope(version: string, handlers: McpServerRequestHandlers): Fields {
  const { tasks: _, ...capabilities } = listCapabilities(handlers)
  return {
    [META.version]: version,
    [META.clientInfo]: { name: 'bridle', version: VERSION },
    [META.capabilities]: { ...capabilities, extensions: { [TASKS]: {} } },
  }
}

interface Kept {
  readonly result: Fields
  readonly until: number
}

export class ModernPeer implements Peer {
  private readonly transport: ModernTransport
  private readonly options: ModernPeerOptions
  private readonly envelope: Fields
  private made = 0
  private logLevel: string | null = null
  private readonly kept = new Map<string, Kept>()
  /** By tool; of tools that were listed. */
  private readonly headerArguments = new Map<string, readonly HeaderArgument[]>()
  private readonly watched = new Set<string>()
  private listening: Listening | null = null
  private readonly stop = new AbortController()

  constructor(transport: ModernTransport, options: ModernPeerOptions) {
    this.transport = transport
    this.options = options
    this.envelope = makeEnvelope(options.version, options.handlers)
    transport.hear = (method, params) => this.hear(method, params)
    if (Object.keys(this.makeFilter()).length > 0) void this.listen()
  }

  facts(): ReturnType<Peer['facts']> {
    const { discovered } = this.options
    const meta = discovered['_meta']
    return {
      server: (isFields(meta) ? meta[META.serverInfo] : undefined) ?? discovered['serverInfo'],
      capabilities: discovered['capabilities'],
      instructions: discovered['instructions'],
      protocol: this.options.version,
    }
  }

  get hasSession(): boolean {
    return false
  }

  async request({ method, params, token, signal }: PeerRequest): Promise<Fields> {
    switch (method) {
      // These have no words of their own any more.
      case 'ping':
        await this.exchange('server/discover', {}, signal)
        return {}
      case 'logging/setLevel':
        this.logLevel = typeof params['level'] === 'string' ? params['level'] : null
        return {}
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const uri = String(params['uri'])
        if (method === 'resources/subscribe') this.watched.add(uri)
        else this.watched.delete(uri)
        const honored = await this.listen(signal)
        if (method === 'resources/unsubscribe' || listTexts(honored['resourceSubscriptions']).includes(uri)) return {}
        this.watched.delete(uri)
        const why = 'resourceSubscriptions' in honored ? 'Resource not found' : 'The server tells no changes of'
        throw new ServerError({ code: -32602, message: `${why}: ${uri}` })
      }
    }
    const key = CACHED.has(method) ? JSON.stringify([method, { ...params, _meta: undefined }]) : null
    const known = key === null ? undefined : this.kept.get(key)
    if (known !== undefined && performance.now() < known.until) return structuredClone(known.result)
    const meta = isFields(params['_meta']) ? params['_meta'] : {}
    const asked = { ...params, ...(token === null ? {} : { _meta: { ...meta, progressToken: token } }) }
    const result = await this.callUntilDone(method, asked, signal)
    const complete = method === 'tools/list' ? this.withUsableTools(result) : result
    if (key !== null) this.keep(key, complete)
    return withoutWireFields(complete)
  }

  async close(): Promise<void> {
    this.stop.abort(new Error('the connection was closed'))
    this.listening?.stop.abort(new Error('the connection was closed'))
    await this.transport.close()
  }

  private hear(method: string, params: Fields): void {
    const stale = Object.hasOwn(STALE, method) ? STALE[method]! : []
    for (const key of [...this.kept.keys()]) if (stale.some((each) => key.startsWith(`["${each}",`))) this.kept.delete(key)
    if (method === 'notifications/subscriptions/acknowledged') {
      const meta = params['_meta']
      const id = isFields(meta) ? meta[META.subscription] : undefined
      if (this.listening !== null && String(id) === String(this.listening.id))
        this.listening.acknowledge(isFields(params['notifications']) ? params['notifications'] : {})
      return
    }
    const { _meta: meta, ...rest } = params
    const { [META.subscription]: _, ...others } = isFields(meta) ? meta : {}
    this.options.hear(method, Object.keys(others).length === 0 ? rest : { ...rest, _meta: others })
  }

  /** One request and its answer of any kind. */
  private exchange(
    method: string,
    params: Fields,
    signal: AbortSignal,
    headers: { readonly [name: string]: string } = {},
    id = ++this.made,
  ): Promise<Fields> {
    const level = this.logLevel === null ? {} : { [META.logLevel]: this.logLevel }
    const meta = isFields(params['_meta']) ? params['_meta'] : {}
    const whole = { ...params, _meta: { ...meta, ...this.envelope, ...level } }
    return this.transport.ask({ id, method, params: whole }, headers, signal)
  }

  private async callUntilDone(method: string, params: Fields, signal: AbortSignal): Promise<Fields> {
    let answered: Fields = {}
    for (let round = 0; round <= MOST_ROUNDS; round++) {
      const result = await this.callTool(method, { ...params, ...answered }, signal)
      const kind = result['resultType']
      if (kind === 'task') return this.awaitTask(result, signal)
      // Not all servers of these revisions say it of results that are complete.
      if (kind === 'complete' || kind === undefined) return result
      if (kind !== 'input_required') throw new Error(`a result of the unknown kind ${JSON.stringify(kind)} came for '${method}'`)
      const { inputRequests, requestState } = result
      const asked = isFields(inputRequests) ? inputRequests : {}
      if (Object.keys(asked).length === 0) {
        if (typeof requestState !== 'string') throw new Error(`'${method}' asks for input and does not say which`)
        await pause(PACE_MS, signal)
      }
      const inputResponses = await this.answerAll(asked, signal)
      answered = {
        ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
        ...(typeof requestState === 'string' ? { requestState } : {}),
      }
    }
    throw new Error(`'${method}' still asked for input after ${MOST_ROUNDS} rounds`)
  }

  /** All of them, or none: the others stop when one cannot be answered. */
  private async answerAll(asked: Fields, signal: AbortSignal): Promise<Fields> {
    const stop = new AbortController()
    const within = AbortSignal.any([signal, this.stop.signal, stop.signal])
    try {
      const answers = Object.entries(asked).map(async ([key, request]) => {
        const { method, params } = isFields(request) ? request : ({} as Fields)
        if (typeof method !== 'string' || !INPUT_METHODS.has(method))
          throw new Error(`the server asks for input by ${JSON.stringify(method)}, which is no way to do so`)
        const given = withIntegers(isFields(params) ? params : {}) as Plain
        return [key, await serve(this.options.handlers, method, given, within)] as const
      })
      return Object.fromEntries(await Promise.all(answers))
    } finally {
      stop.abort(new Error('another request of the server was not answered'))
    }
  }

  /** A request whose arguments go into headers, once more when the server knows them better than we do. */
  private async callTool(method: string, params: Fields, signal: AbortSignal): Promise<Fields> {
    const makeHeaders = (): { [name: string]: string } => {
      const declared = method === 'tools/call' ? this.headerArguments.get(String(params['name'])) : undefined
      return declared === undefined ? {} : makeArgumentHeaders(declared, params['arguments'])
    }
    try {
      return await this.exchange(method, params, signal, makeHeaders())
    } catch (cause) {
      if (!this.options.usesHeaders || method !== 'tools/call') throw cause
      if (!(cause instanceof ServerError) || cause.code !== HEADER_MISMATCH) throw cause
      await this.readAllTools(signal)
      return this.exchange(method, params, signal, makeHeaders())
    }
  }

  private async readAllTools(signal: AbortSignal): Promise<void> {
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const result = await this.exchange('tools/list', cursor === undefined ? {} : { cursor }, signal)
      this.withUsableTools(result)
      cursor = result['nextCursor']
      if (typeof cursor !== 'string') return
    }
  }

  /** Notes which arguments go into headers, and leaves out tools that cannot be called in this way. */
  private withUsableTools(result: Fields): Fields {
    const { tools } = result
    if (!this.options.usesHeaders || !Array.isArray(tools)) return result
    const usable = (tools as readonly unknown[]).filter((tool) => {
      if (!isFields(tool) || typeof tool['name'] !== 'string') return true
      const read = readHeaderArguments(tool['inputSchema'])
      if (read.ok) this.headerArguments.set(tool['name'], read.list)
      else this.options.onWarning(`tool ${JSON.stringify(tool['name'].slice(0, 80))} is left out: ${read.problem}`)
      return read.ok
    })
    return { ...result, tools: usable }
  }

  private keep(key: string, result: Fields): void {
    const { ttlMs } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    if (this.kept.size >= MOST_CACHED) this.kept.delete(this.kept.keys().next().value!)
    const until = performance.now() + Math.min(ttlMs, LONGEST_CACHE_MS)
    this.kept.set(key, { result: structuredClone(withoutWireFields(result)), until })
  }

  /** The result of a task, polled until it is available (`io.modelcontextprotocol/tasks`). */
  private async awaitTask(created: Fields, signal: AbortSignal): Promise<Fields> {
    const { taskId } = created
    if (typeof taskId !== 'string') throw new Error('the server made a task that has no id')
    const given = new Set<string>()
    try {
      for (let task = created; ; task = await this.exchange('tasks/get', { taskId }, signal)) {
        switch (task['status']) {
          case 'completed':
            return isFields(task['result']) ? task['result'] : {}
          case 'failed':
            throw new ServerError(task['error'])
          case 'cancelled':
            throw new Error('the server cancelled the task')
          case 'input_required': {
            const asked = Object.entries(isFields(task['inputRequests']) ? task['inputRequests'] : {})
            const open = asked.filter(([key]) => !given.has(key))
            if (open.length > 0) {
              const inputResponses = await this.answerAll(Object.fromEntries(open), signal)
              await this.exchange('tasks/update', { taskId, inputResponses }, signal)
              for (const [key] of open) given.add(key)
            }
          }
        }
        const { pollIntervalMs } = task
        const wished = typeof pollIntervalMs === 'number' && pollIntervalMs > 0 ? pollIntervalMs : POLL_MS
        await pause(Math.min(wished, LONGEST_POLL_MS), signal)
      }
    } catch (cause) {
      if (signal.aborted && !this.stop.signal.aborted)
        this.exchange('tasks/cancel', { taskId }, AbortSignal.any([this.stop.signal, AbortSignal.timeout(5_000)])).catch(() => {})
      throw cause
    }
  }

  // ---------------------------------------------------------------------------
  // changes
  // ---------------------------------------------------------------------------

  /** Notifications that the server supports and we use. */
  private makeFilter(): Fields {
    const { capabilities } = this.options.discovered
    const says = (area: string): boolean => {
      const each = isFields(capabilities) ? capabilities[area] : undefined
      return isFields(each) && each['listChanged'] === true
    }
    return {
      ...(says('tools') ? { toolsListChanged: true } : {}),
      ...(says('prompts') ? { promptsListChanged: true } : {}),
      ...(says('resources') ? { resourcesListChanged: true } : {}),
      ...(this.watched.size === 0 ? {} : { resourceSubscriptions: [...this.watched] }),
    }
  }

  /** Hears what the filter of now says in place of what was heard before; resolves with what the server has taken up of that. */
  private listen(signal?: AbortSignal, againAfterMs = LISTEN_AGAIN_MS): Promise<Fields> {
    const before = this.listening
    const notifications = this.makeFilter()
    if (Object.keys(notifications).length === 0 || this.stop.signal.aborted) {
      this.listening = null
      before?.stop.abort(new Error('nothing is watched any more'))
      return Promise.resolve({})
    }
    const id = ++this.made
    const stop = new AbortController()
    return new Promise((resolve, reject) => {
      const isAsked = signal !== undefined
      let isOpen = false
      const ignore = listenForAbort(signal, () =>
        reject(signal!.reason instanceof Error ? signal!.reason : new Error('cancelled')),
      )
      const acknowledge = (honored: Fields): void => {
        isOpen = true
        ignore()
        // Only now, so that nothing is missed between the two.
        before?.stop.abort(new Error('another stream has taken over'))
        resolve(honored)
      }
      this.listening = { id, stop, acknowledge }
      const onEnd = (cause: unknown): void => {
        ignore()
        if (isAsked && !isOpen) reject(cause instanceof Error ? cause : new Error(String(cause)))
        else resolve({})
        if (this.listening?.id !== id || stop.signal.aborted) return
        this.listening = null
        // A server that does not know the method has nothing to say; others had their own reasons to end the stream.
        if (cause instanceof ServerError || this.stop.signal.aborted) return
        pause(againAfterMs, this.stop.signal, false).then(
          () => (this.listening === null ? this.listenAgain(isOpen ? LISTEN_AGAIN_MS : againAfterMs * 2) : undefined),
          () => {},
        )
      }
      this.exchange('subscriptions/listen', { notifications }, AbortSignal.any([stop.signal, this.stop.signal]), {}, id).then(
        () => onEnd(new Error('the server ended the stream of changes')),
        onEnd,
      )
    })
  }

  /** Changes in the meantime were not reported, so everything may have changed. */
  private listenAgain(nextMs: number): void {
    void this.listen(undefined, Math.min(nextMs, LONGEST_POLL_MS)).then(() => {
      if (this.listening === null) return
      const filter = this.makeFilter()
      if (filter['toolsListChanged'] === true) this.hear('notifications/tools/list_changed', {})
      if (filter['promptsListChanged'] === true) this.hear('notifications/prompts/list_changed', {})
      if (filter['resourcesListChanged'] === true) this.hear('notifications/resources/list_changed', {})
      for (const uri of this.watched) this.hear('notifications/resources/updated', { uri })
    })
  }
}

interface Listening {
  readonly id: number
  readonly stop: AbortController
  /** With the accepted subset of the requested notifications. */
  readonly acknowledge: (honored: Fields) => void
}

const listTexts = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])

/** Parts of a result for clients, not for their users. */
function withoutWireFields(result: Fields): Fields {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta: meta, ...rest } = result
  const { [META.serverInfo]: _server, ...others } = isFields(meta) ? meta : {}
  return Object.keys(others).length === 0 ? rest : { ...rest, _meta: others }
}

function pause(ms: number, signal: AbortSignal, keepsAlive = true): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      ignore()
      resolve()
    }, ms)
    if (!keepsAlive) timer.unref?.()
    const ignore = listenForAbort(signal, () => {
      clearTimeout(timer)
      reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'))
    })
  })
}
