// A script as an agent that another program drives over stdio (the Agent Client Protocol; docs/embedding/bridge.md): sessions, prompts that run
// the script, its output as message chunks, and calls back into the client for host operations, tools, permissions and, where it
// has one, its terminal.
// One AcpServer is one connection; every prompt is its own run.

import { fromPlain } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { ApprovalDesk, approvalProvider } from '../tools/policy/host-approval.js'
import type { ModelDelta } from '../agents/models/told-pieces.js'
import type { AskPerson } from '../tools/policy/host-approval.js'
import type { Run, RunResult } from '../host/run.js'
import type { Module } from '../host/module.js'
import type { Runtime } from '../host/runtime.js'
import type { StartOptions } from '../host/runtime-options.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { answered, runtimeError } from '../tools/executors/provider.js'
import type { ProviderSource } from '../tools/executors/provider.js'
import { VERSION } from '../version.js'
import { makeReplay } from './acp-sessions.js'
import type { AcpSessionRecord, AcpSessionStore, AcpTurn } from './acp-sessions.js'
import { askPerson } from './acp-permissions.js'
import { readPrompt } from './acp-prompt.js'
import type { AcpPrompt } from './acp-prompt.js'
import { readMcpServers } from './acp-servers.js'
import type { AcpMcpServers } from './acp-servers.js'
import { makeUpdate } from './acp-reports.js'
import { CallReporter } from './acp-updates.js'
import { withClientFiles } from './client-files.js'
import { readCapabilities, remoteApproval, remoteHost } from '../tools/executors/remote-host.js'
import type { HostBridge } from '../tools/executors/remote-host.js'
import { BridgeError, JsonRpcPeer, RequestError, isRecord, methodNotFound } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'
import { toClientWords, withTerminal } from './terminal.js'
import type { MessageTransport } from '../tools/executors/stream-transport.js'
import type { HostCapabilities } from '../library/effects/index.js'

export interface AcpOptions {
  readonly runtime: Runtime
  /** The program of a prompt: the same for all of them, or made from the prompt's text. Throws CompileError. */
  readonly module: (prompt: string) => Module
  /** What the runs of a session are started with; `cwd` is the folder that its client named, `mcpServers` are those that it gave the session. */
  readonly start?: (session: {
    readonly id: string
    readonly cwd: string
    readonly mcpServers: AcpMcpServers
  }) => Omit<StartOptions, 'bridge' | 'signal' | 'onEvent'>
  /** The script global `mcp`: handles of servers, also of those that the client gave the session. */
  readonly mcp?: Value | ((servers: AcpMcpServers) => Value)
  /** Limit of one `host/call`; 60 s by default. */
  readonly callTimeoutMs?: number
  /** Limit of other requests to the client; 300 s by default. */
  readonly timeoutMs?: number
  readonly newId?: () => string
  /** Sessions that may be open at a time; 1000 by default. A client closes one by `session/close`. */
  readonly maxSessions?: number
  /**
   * Which pieces of streamed model answers a client receives: `thoughts`, the default, is reasoning as
   * `agent_thought_chunk`; `all` is their text as `agent_message_chunk` too, for scripts that do not print the answers themselves.
   */
  readonly deltas?: 'none' | 'thoughts' | 'all'
  /** Keeps sessions beyond this process; without it they end with the connection. */
  readonly sessions?: AcpSessionStore
  /** Milliseconds since 1970, for when a session was last used; the system's when absent. */
  readonly now?: () => number
}

/** Names that scripts of an agent can read everywhere: give them to `createRuntime({ globals })`. */
export const ACP_GLOBALS = ['prompt', 'prompt_blocks', 'cwd', 'mcp'] as const

interface Session {
  readonly id: string
  cwd: string
  mcpServers: AcpMcpServers
  mode: string
  /** What a person said for all calls of a tool. */
  readonly standing: Map<string, 'allow-once' | 'reject-once'>
  /** An agent loop had no turns left. */
  isExhausted: boolean
  readonly parent: string | null
  readonly branchedAt: number | null
  readonly title: string | null
  /** Past updates; stored if there is a store. */
  turns: readonly AcpTurn[]
  updatedAt: string | null
  /** The rest of its run is discarded. */
  isDeleted: boolean
  /** From a prompt to its answer; `run` is there for a part of that. */
  isBusy: boolean
  run: Run | null
  stopped: boolean
  /** Text of the present prompt as the client shows it. */
  visible: string
  /** All of that text, as it was said. */
  said: string
  /** The end of it that the client has not been sent. */
  unsent: string
  /** What a model thought and the client has not been sent. */
  thought: string
  isSending: boolean
  /** What the person said and no agent loop has heard, oldest first. */
  inbox: readonly InboxMessage[]
}

interface InboxMessage {
  readonly content: string
  /** For a loop that has nothing else to do; others are heard before its next turn. */
  readonly isPatient: boolean
}

/** Input modes that do not wait for the end of a loop. */
const SOON: ReadonlySet<unknown> = new Set(['interrupt', 'interrupt_immediate', 'finish_step', 'after_current_operation'])
/** What a person says in the middle of a prompt comes by any of these. */
const INPUT_METHODS: ReadonlySet<string> = new Set(['session/input', 'user_message', 'agent/user_message'])

const MOST_SESSIONS = 1000
/** Sessions in one answer to `session/list`. */
const PAGE = 200
/** Words of a person that no agent loop has heard, of one session: messages, and characters in all. */
const MOST_MESSAGES = 1000
const MOST_CHARACTERS = 4 << 20

const PROTOCOL_VERSION = 1
const MODES = [{ id: 'default', name: 'Default', description: 'Execute harn pipelines' }] as const
/** Updates of the standard protocol only: the reference has the first. */
const DRY_RUN = {
  id: 'dry_run',
  name: 'Dry run',
  description: 'Carry out what reads; describe what would change something',
} as const
const STOP_REASONS: ReadonlySet<unknown> = new Set(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])
/** Kinds of update that the protocol does not have. */
const EXTENSIONS: ReadonlySet<string> = new Set(['call_progress', 'log', 'progress'])
const INVALID_PARAMS = -32602
const SESSION_NOT_FOUND = -32004
/** In the protocol. */
const RESOURCE_NOT_FOUND = -32002
const RUN_FAILED = -32000

export class AcpServer {
  private readonly options: AcpOptions
  private readonly peer: JsonRpcPeer
  private readonly desk = new ApprovalDesk()
  private readonly sessions = new Map<string, Session>()
  private hasTerminal = false
  private readsFiles = false
  private writesFiles = false
  private hasForms = false
  private hasNotices = false
  private hasCompactions = false
  /** The client named its protocol version: answers conform to the protocol. */
  private isStandard = false
  /** Requests and updates that the protocol does not have are for clients that declared them, and for those of the reference. */
  private hasExtensions = true
  /** Settles when the connection has ended. */
  readonly ended: Promise<void>
  private settleEnded: () => void = () => {}

  constructor(options: AcpOptions, transport: MessageTransport) {
    this.options = options
    this.ended = new Promise((resolve) => {
      this.settleEnded = resolve
    })
    this.peer = new JsonRpcPeer(transport, {
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      onRequest: (method, params, signal) => this.answer(method, params, signal),
      onNotification: (method, params) => this.hear(method, params),
      onClose: () => this.onClosed(),
      answersDamage: true,
      cancellation: () => (this.isStandard ? 'acp' : 'reference'),
    })
    this.desk.onRequest(({ payload }) => {
      if (this.hasExtensions) void this.peer.notify('harn.hitl.requested', { ...payload })
    })
  }

  start(): Promise<void> {
    return this.peer.start()
  }

  close(): Promise<void> {
    return this.peer.close()
  }

  private onClosed(): void {
    for (const session of this.sessions.values()) session.run?.cancel('the client went away')
    this.settleEnded()
  }

  private answer(method: string, params: Params, signal: AbortSignal): unknown {
    if (INPUT_METHODS.has(method)) {
      this.listen(this.getSession(params), params)
      return {}
    }
    switch (method) {
      case 'initialize':
        return this.initialize(params)
      case 'session/new':
        return this.openNew(params)
      case 'session/list':
        return this.list(params)
      case 'session/load':
        return this.load(params, true)
      case 'session/resume':
        return this.load(params, false)
      case 'session/set_mode':
        return this.setMode(params)
      case 'session/fork':
        return this.fork(params)
      case 'session/prompt':
        return this.handlePrompt(params, signal)
      case 'session/close':
        return this.closeSession(this.getSession(params, this.isStandard ? RESOURCE_NOT_FOUND : INVALID_PARAMS))
      case 'session/delete':
        return this.deleteSession(params)
      case 'session/cancel':
      case 'agent/resume':
        this.hear(method, params)
        return {}
      case 'harn.hitl.respond':
        return this.respond(params)
      default:
        throw methodNotFound(method)
    }
  }

  private hear(method: string, params: Params): void {
    const given = readText(params['sessionId'])
    if (INPUT_METHODS.has(method)) {
      const session = given === null ? this.findOnlyBusy() : this.sessions.get(given)
      // No one is notified: a notification has no answer.
      if (session !== undefined && hasRoom(session)) this.listen(session, params)
      return
    }
    if (method !== 'session/cancel' && method !== 'cancel') return
    for (const session of this.sessions.values()) {
      if (given !== null && given !== session.id) continue
      session.stopped = true
      session.run?.cancel('cancelled by the client')
    }
  }

  /** What a person says without saying to whom is for the prompt that is under way. */
  private findOnlyBusy(): Session | undefined {
    const busy = [...this.sessions.values()].filter(({ isBusy }) => isBusy)
    return busy.length === 1 ? busy[0] : undefined
  }

  /** Input during a prompt: agent loops of its script receive it before a turn, or when they would end. */
  private listen(session: Session, params: Params): void {
    const content = readPrompt(params['content'] ?? params['prompt']).text
    if (content === '') return
    if (!hasRoom(session)) throw new RequestError(RUN_FAILED, 'too many messages wait for the agent to hear them')
    session.inbox = [...session.inbox, { content, isPatient: !SOON.has(params['mode']) }]
  }

  private listModes({ mode }: Session): unknown {
    return this.isStandard ? { currentModeId: mode, availableModes: [...MODES, DRY_RUN] } : MODES
  }

  private openNew(params: Params): unknown {
    const mcpServers = readMcpServers(params['mcpServers'])
    const session = this.open({ cwd: this.readCwd(params) ?? process.cwd(), mcpServers })
    return { sessionId: session.id, modes: this.listModes(session) }
  }

  /** The protocol has absolute folders only. */
  private readCwd(params: Params): string | null {
    const cwd = readOptionalText(params, 'cwd')
    const isAbsolute = cwd === null || /^(?:[\\/]|[A-Za-z]:[\\/])/.test(cwd)
    if (this.isStandard && !isAbsolute) throw new RequestError(INVALID_PARAMS, `cwd is not an absolute path: ${cwd}`)
    return cwd
  }

  private setMode(params: Params): unknown {
    const session = this.getSession(params)
    const id = readText(params['modeId'])
    const mode = [...MODES, DRY_RUN].find((each) => each.id === id)
    if (mode === undefined) throw new RequestError(INVALID_PARAMS, `Unknown mode: ${String(id)}`)
    session.mode = mode.id
    return {}
  }

  private initialize(params: Params): unknown {
    const declared = isRecord(params['clientCapabilities']) ? params['clientCapabilities'] : {}
    const files = isRecord(declared['fs']) ? declared['fs'] : {}
    const meta = isRecord(declared['_meta']) ? declared['_meta'] : {}
    this.hasTerminal = declared['terminal'] === true
    this.readsFiles = files['readTextFile'] === true
    this.writesFiles = files['writeTextFile'] === true
    this.hasForms = isRecord(declared['elicitation']) && isRecord(declared['elicitation']['form'])
    const sessions = isRecord(declared['session']) ? declared['session'] : {}
    this.hasNotices = isRecord(sessions['notices'])
    this.hasCompactions = isRecord(sessions['compaction'])
    this.isStandard = typeof params['protocolVersion'] === 'number' || isRecord(params['clientInfo'])
    this.hasExtensions = !this.isStandard || (meta['harn'] ?? false) !== false
    const standard = {
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, close: {}, fork: {}, resume: {}, ...(this.canDelete ? { delete: {} } : {}) },
    }
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: true,
        ...(this.isStandard ? standard : { promptCapabilities: {}, sessionCapabilities: { close: {}, fork: {}, load: {} } }),
        _meta: {
          harn: {
            schemaCompatibility: 'agentclientprotocol/agent-client-protocol schema v0.12.2',
            sessionUpdateExtensions: [...EXTENSIONS],
            contentExtensionFields: ['visible_delta', 'visible_text'],
          },
        },
      },
      ...(this.isStandard ? { authMethods: [] } : {}),
      agentInfo: { name: 'bridle', version: VERSION },
    }
  }

  private open(facts: Partial<AcpSessionRecord> & { readonly cwd: string; readonly mcpServers?: AcpMcpServers }): Session {
    const most = this.options.maxSessions ?? MOST_SESSIONS
    if (this.sessions.size >= most)
      throw new RequestError(RUN_FAILED, `${most} sessions are open, and no more may be; close one by session/close`)
    const id = facts.id ?? this.options.newId?.() ?? `session_${crypto.randomUUID()}`
    const session: Session = {
      id,
      cwd: facts.cwd,
      mcpServers: facts.mcpServers ?? {},
      mode: MODES[0].id,
      standing: new Map(),
      isExhausted: false,
      parent: facts.parent ?? null,
      branchedAt: facts.branchedAt ?? null,
      title: facts.title ?? null,
      turns: facts.turns ?? [],
      updatedAt: facts.updatedAt ?? this.formatNow(),
      isDeleted: false,
      isBusy: false,
      run: null,
      stopped: false,
      visible: '',
      said: '',
      unsent: '',
      thought: '',
      isSending: false,
      inbox: [],
    }
    this.sessions.set(id, session)
    return session
  }

  /** Where sessions are kept, it can be loaded again. */
  private closeSession(session: Session): unknown {
    session.stopped = true
    session.run?.cancel('the client closed the session')
    this.sessions.delete(session.id)
    return {}
  }

  private get canDelete(): boolean {
    const { sessions } = this.options
    return sessions === undefined || sessions.delete !== undefined
  }

  /** Open or only kept: it is gone, with all that was said in it. */
  private deleteSession(params: Params): unknown {
    if (!this.canDelete) throw methodNotFound('session/delete')
    const id = readText(params['sessionId'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'Missing sessionId')
    const { sessions: store } = this.options
    const session = this.sessions.get(id)
    if (session === undefined && (store?.load(id) ?? null) === null)
      throw new RequestError(this.isStandard ? RESOURCE_NOT_FOUND : SESSION_NOT_FOUND, `Session not found: ${id}`)
    if (session !== undefined) {
      session.isDeleted = true
      this.closeSession(session)
    }
    store?.delete?.(id)
    return {}
  }

  /** Written down before and after each turn. A store that cannot be written fails the request that wanted it. */
  private keep(session: Session, turn: AcpTurn | null): void {
    session.updatedAt = this.formatNow()
    const { id, cwd, parent, branchedAt, title, turns, updatedAt } = session
    if (session.isDeleted) return
    const said = turn === null ? turns : [...turns, turn]
    this.options.sessions?.save({ id, cwd, parent, branchedAt, title, turns: said, updatedAt })
  }

  private formatNow(): string {
    return new Date(this.options.now?.() ?? Date.now()).toISOString()
  }

  private list(params: Params): unknown {
    const cwd = readOptionalText(params, 'cwd')
    const cursor = readOptionalText(params, 'cursor')
    const known = [...this.sessions.values()]
    const kept = (this.options.sessions?.list() ?? []).filter(({ id }) => !this.sessions.has(id))
    const wanted = [...known, ...kept].filter((each) => cwd === null || each.cwd === cwd)
    // The session behind which the last page ended: one that is gone since is refused, and the client begins again.
    const from = cursor === null ? 0 : wanted.findIndex(({ id }) => id === cursor) + 1
    if (cursor !== null && from === 0) throw new RequestError(INVALID_PARAMS, `Unknown cursor: ${cursor}`)
    const page = this.isStandard ? wanted.slice(from, from + PAGE) : wanted
    const sessions = page.map(({ id, cwd, title, parent, branchedAt, updatedAt }) => ({
      sessionId: id,
      cwd,
      ...(title === null ? {} : { title }),
      ...(this.isStandard && typeof updatedAt === 'string' ? { updatedAt } : {}),
      ...(parent === null ? {} : { _meta: forkFacts({ parent, branchedAt, title }) }),
    }))
    return from + page.length < wanted.length ? { sessions, nextCursor: page.at(-1)!.id } : { sessions }
  }

  private load(params: Params, tellsPast: boolean): unknown {
    const id = readText(params['sessionId'])
    if (id === null) throw new RequestError(INVALID_PARAMS, `session/${tellsPast ? 'load' : 'resume'} requires sessionId`)
    const mcpServers = readMcpServers(params['mcpServers'])
    const cwd = this.readCwd(params)
    const kept = this.options.sessions?.load(id) ?? null
    const session = this.sessions.get(id) ?? (kept === null ? undefined : this.open(kept))
    if (session === undefined)
      throw new RequestError(this.isStandard ? RESOURCE_NOT_FOUND : SESSION_NOT_FOUND, `Session not found: ${id}`)
    // A client that comes back says again where it works, and with which servers.
    if (this.isStandard) {
      session.cwd = cwd ?? session.cwd
      session.mcpServers = mcpServers
    }
    const { parent, branchedAt, title, turns } = session
    const replayed = tellsPast ? makeReplay({ id, cwd: session.cwd, parent, branchedAt, title, turns }) : []
    for (const update of replayed) this.update(session, update)
    if (this.isStandard) return { modes: this.listModes(session) }
    return { sessionId: id, modes: this.listModes(session), session: { sessionId: id, cwd: session.cwd }, replayed }
  }

  private fork(params: Params): unknown {
    const source = this.getSession(params)
    const wanted = readOptionalText(params, 'id')
    const isTaken = wanted !== null && (this.sessions.has(wanted) || (this.options.sessions?.load(wanted) ?? null) !== null)
    if (isTaken) throw new RequestError(INVALID_PARAMS, `Session already exists: ${wanted}`)
    const branch = readOptionalText(params, 'branch_name')
    const first = params['keep_first'] ?? null
    if (first !== null && !Number.isSafeInteger(first)) throw new RequestError(INVALID_PARAMS, 'keep_first is not a whole number')
    const branchedAt = typeof first === 'number' ? Math.max(0, first) : null
    const turns = branchedAt === null ? source.turns : source.turns.slice(0, branchedAt)
    const session = this.open({
      cwd: this.readCwd(params) ?? source.cwd,
      mcpServers: params['mcpServers'] === undefined ? source.mcpServers : readMcpServers(params['mcpServers']),
      parent: source.id,
      branchedAt,
      title: branch,
      turns,
      ...(wanted === null ? {} : { id: wanted }),
    })
    this.keep(session, null)
    this.update(session, {
      sessionUpdate: 'session_info_update',
      ...(branch === null ? {} : { title: branch }),
      _meta: forkFacts(session),
    })
    if (this.isStandard) return { sessionId: session.id, modes: this.listModes(session) }
    return { sessionId: session.id, state: 'forked', parent_id: source.id, branched_at: branchedAt }
  }

  private getSession(params: Params, unknown = INVALID_PARAMS): Session {
    const id = readText(params['sessionId'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'Missing sessionId')
    const session = this.sessions.get(id)
    if (session === undefined) throw new RequestError(unknown, `Unknown session: ${id}`)
    return session
  }

  private respond(params: Params): unknown {
    const id = readText(params['request_id'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'Invalid harn.hitl.respond params: missing field `request_id`')
    if (!this.desk.respond(id, params)) throw new RequestError(RUN_FAILED, `unknown HITL request id '${id}'`)
    return { ok: true }
  }

  /** `signal`: the client gave up the request. */
  private async handlePrompt(params: Params, signal: AbortSignal): Promise<unknown> {
    const session = this.getSession(params)
    if (session.isBusy) throw new RequestError(INVALID_PARAMS, `Session is busy: ${session.id}`)
    const prompt = readPrompt(params['prompt'])
    session.isBusy = true
    session.isExhausted = false
    session.stopped = false
    session.visible = ''
    session.said = ''
    session.unsent = ''
    session.thought = ''
    let stopReason: AcpTurn['stopReason'] = 'failed'
    const onGivenUp = (): void => {
      session.stopped = true
      session.run?.cancel('cancelled by the client')
    }
    signal.addEventListener('abort', onGivenUp, { once: true })
    try {
      this.keep(session, { prompt: prompt.text, said: '', stopReason: null })
      const result = await this.run(session, prompt)
      stopReason = session.stopped || result.status === 'cancelled' ? 'cancelled' : 'failed'
      if (stopReason === 'cancelled') return { stopReason }
      if (result.status === 'failed') throw result.error
      if (result.status === 'limit') throw new Error(result.message)
      stopReason = 'completed'
      return { stopReason: this.isStandard ? readStopReason(session, result) : stopReason }
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      this.say(session, `Error: ${message}\n`)
      throw new RequestError(RUN_FAILED, message)
    } finally {
      signal.removeEventListener('abort', onGivenUp)
      this.flush(session)
      session.run = null
      session.isBusy = false
      if (this.options.sessions !== undefined) {
        session.turns = [...session.turns, { prompt: prompt.text, said: session.said, stopReason }]
        this.keep(session, null)
      }
    }
  }

  private async run(session: Session, prompt: AcpPrompt): Promise<RunResult> {
    const { runtime, mcp } = this.options
    const start = this.options.start?.(session) ?? {}
    const module = this.options.module(prompt.text)
    const capabilities = this.hasExtensions ? await this.requestCapabilities(session) : null
    const desk = this.desk.provider()
    const reporter = new CallReporter({
      send: (update) => this.update(session, update),
      cwd: session.cwd,
      newId: () => `call_${crypto.randomUUID()}`,
    })
    const { peer, hasForms } = this
    const findCallId = (id: string): string => reporter.findCallId(id)
    const person = { peer, session: session.id, standing: session.standing, findCallId, hasForms }
    const ask: AskPerson = this.isStandard
      ? (request, signal) => askPerson(person, request, signal)
      : remoteApproval(this.peer, session.id, () => null)
    const files = {
      peer,
      session: session.id,
      reads: this.readsFiles,
      writes: this.writesFiles,
      onWrite: (effect: number, path: string, before: string | null, after: string) => {
        if (this.isStandard) reporter.attach(effect, { type: 'diff', path, oldText: before, newText: after })
      },
    }
    const onTerminal = (effect: number, terminalId: string): void => {
      if (this.isStandard) reporter.attach(effect, { type: 'terminal', terminalId })
    }
    const adapt = (source: ProviderSource): ProviderSource => {
      const withFiles = this.isStandard ? withClientFiles(source, files) : source
      return this.hasTerminal ? withTerminal(withFiles, peer, session.id, session.cwd, onTerminal) : withFiles
    }
    const run = runtime.start(module, {
      ...start,
      globals: {
        ...start.globals,
        prompt: prompt.text,
        prompt_blocks: fromPlain(plainFromHost(prompt.blocks)),
        cwd: session.cwd,
        mcp: typeof mcp === 'function' ? mcp(session.mcpServers) : (mcp ?? fromPlain({})),
      },
      ...(session.mode === DRY_RUN.id ? { dryRun: true } : {}),
      ...(this.hasExtensions ? { bridge: this.makeBridge(session, capabilities) } : {}),
      providers: [
        ...(start.providers ?? []).map(adapt),
        {
          ...desk,
          perform: (effect, call) => {
            if (effect.args.kind === 'messages') return answered(takeMessages(session, effect.args.payload ?? null))
            // Clients with the extensions of the reference answer questions through them.
            const isAsked = effect.args.kind === 'permission' || !this.hasExtensions
            return isAsked ? approvalProvider(ask).perform(effect, call) : desk.perform(effect, call)
          },
        },
      ],
      reportsOnly: true,
      hasInbox: true,
      onEvent: (event) => {
        if (this.isStandard) reporter.takeRunEvent(event)
        if (event.type === 'output') this.say(session, event.text)
        else if (event.type === 'report') {
          const { report } = event
          if (report.kind !== 'agent') this.update(session, makeUpdate(report, this.hasNotices && !this.hasExtensions))
          else {
            const agentEvent = plainFromHost(report.event)
            if (isRecord(agentEvent) && this.isStandard) this.takeAgentEvent(session, reporter, agentEvent)
          }
        } else if (event.type === 'model_delta') this.tellDelta(session, event.delta)
        else if (event.type === 'dry_run' && this.isStandard)
          this.update(session, {
            sessionUpdate: 'tool_call',
            toolCallId: `call_${crypto.randomUUID()}`,
            title: `Not carried out: ${event.entry.kind}`,
            kind: 'other',
            status: 'completed',
            rawInput: plainFromHost(event.entry.args),
          })
        else if (event.type === 'progress')
          this.update(session, {
            sessionUpdate: 'call_progress',
            toolCallId: event.callId,
            title: event.tool,
            data: plainFromHost(event.data),
          })
      },
    })
    session.run = run
    if (session.stopped || this.peer.isClosed) run.cancel('cancelled by the client')
    return run.result
  }

  private makeBridge(session: Session, capabilities: HostCapabilities | null): HostBridge {
    return remoteHost(this.peer, {
      session: session.id,
      callTimeoutMs: this.options.callTimeoutMs ?? 60_000,
      capabilities: capabilities ?? {},
      // A client that does not know the question about its operations has none.
      operations: capabilities === null ? 'declared' : 'any',
      failure: ({ fault }) =>
        runtimeError(fault.kind === 'answered' ? `Client error: ${fault.message}` : toClientWords(fault.message)),
    })
  }

  private takeAgentEvent(session: Session, reporter: CallReporter, event: Params): void {
    if (event['type'] === 'turn_start') session.isExhausted = false
    if (event['type'] === 'budget_exhausted') session.isExhausted = true
    if (event['type'] === 'transcript_compacted' && this.hasCompactions)
      this.update(session, {
        sessionUpdate: 'compaction_update',
        compactionId: `compaction_${crypto.randomUUID()}`,
        status: 'completed',
      })
    reporter.takeAgentEvent(event)
  }

  /** null: the client does not know the question. */
  private async requestCapabilities(session: Session): Promise<HostCapabilities | null> {
    try {
      return readCapabilities(await this.peer.request('host/capabilities', { sessionId: session.id }))
    } catch (cause) {
      if (cause instanceof BridgeError && cause.fault.kind === 'answered') return null
      throw cause
    }
  }

  private tellDelta(session: Session, delta: ModelDelta): void {
    const { deltas = 'thoughts' } = this.options
    if (delta.type === 'reasoning' && deltas !== 'none') this.think(session, delta.text)
    else if (delta.type === 'text' && deltas === 'all') this.say(session, delta.text)
  }

  /** As `say`: a client that reads slowly gets fewer and larger chunks. */
  private think(session: Session, words: string): void {
    if (session.unsent !== '') this.flush(session)
    session.thought += words
    if (!session.isSending) this.flushThought(session)
  }

  private flushThought(session: Session): void {
    const { thought } = session
    if (thought === '') return
    session.thought = ''
    session.isSending = true
    const update = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: thought } }
    void this.peer.notify('session/update', { sessionId: session.id, update }).then(() => {
      session.isSending = false
      this.flush(session)
    })
  }

  private say(session: Session, words: string): void {
    if (session.thought !== '') this.flushThought(session)
    session.said += words
    session.unsent += words
    // Each chunk has all of the visible text: a client that reads slowly gets fewer and larger ones.
    if (!session.isSending) this.flush(session)
  }

  private flush(session: Session): void {
    this.flushThought(session)
    const { unsent, visible } = session
    if (unsent === '') return
    session.unsent = ''
    session.visible = session.said.trimEnd()
    session.isSending = true
    const update = {
      sessionUpdate: 'agent_message_chunk',
      content: {
        type: 'text',
        text: unsent,
        ...(this.hasExtensions ? { visible_text: session.visible, visible_delta: session.visible.slice(visible.length) } : {}),
      },
    }
    void this.peer.notify('session/update', { sessionId: session.id, update }).then(() => {
      session.isSending = false
      this.flush(session)
    })
  }

  /** Earlier output is sent first. */
  private update(session: Session, update: Params): void {
    this.flush(session)
    if (!this.hasExtensions && EXTENSIONS.has(String(update['sessionUpdate']))) return
    void this.peer.notify('session/update', { sessionId: session.id, update })
  }
}

/** Input for the loop now; the rest waits. */
function takeMessages(session: Session, payload: Plain): string[] {
  const isEnd = isRecord(payload) && payload['at'] === 'end'
  const heard = session.inbox.filter(({ isPatient }) => isEnd || !isPatient)
  session.inbox = session.inbox.filter((message) => !heard.includes(message))
  return heard.map(({ content }) => content)
}

function forkFacts({ parent, branchedAt, title }: Pick<AcpSessionRecord, 'parent' | 'branchedAt' | 'title'>): Params {
  return {
    state: 'forked',
    parent_id: parent,
    branched_at: branchedAt,
    ...(title === null ? {} : { branch_name: title }),
  }
}

/** The script may say by its result why it stopped: `{stop_reason: "refusal"}`. */
function readStopReason(session: Session, result: RunResult): string {
  const value = result.status === 'done' && isRecord(result.value) ? result.value['stop_reason'] : null
  if (STOP_REASONS.has(value)) return value as string
  return session.isExhausted ? 'max_turn_requests' : 'end_turn'
}

function hasRoom({ inbox }: Session): boolean {
  return inbox.length < MOST_MESSAGES && inbox.reduce((sum, { content }) => sum + content.length, 0) < MOST_CHARACTERS
}

function readOptionalText(params: Params, key: string): string | null {
  const value = params[key] ?? null
  if (value !== null && typeof value !== 'string') throw new RequestError(INVALID_PARAMS, `${key} is not a string`)
  return value
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
