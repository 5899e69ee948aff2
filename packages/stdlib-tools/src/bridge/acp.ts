// A script as an agent that another program drives over stdio (the Agent Client Protocol; docs/embedding/bridge.md): sessions, prompts that run
// the script, its output as message chunks, and calls back into the client for host operations, tools, permissions and, where it
// has one, its terminal.
// One AcpServer is one connection; every prompt is a run of its own.

import { fromPlain } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { ApprovalDesk, approvalProvider } from '../tools/policy/host-approval.js'
import type { ModelDelta } from '../agents/models/told-pieces.js'
import type { Run, RunResult } from '../host/run.js'
import type { Module } from '../host/module.js'
import type { Runtime } from '../host/runtime.js'
import type { StartOptions } from '../host/runtime-options.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { answered, runtimeError } from '../tools/executors/provider.js'
import { VERSION } from '../version.js'
import { makeReplay } from './acp-sessions.js'
import type { AcpSessionRecord, AcpSessionStore, AcpTurn } from './acp-sessions.js'
import { readCapabilities, remoteApproval, remoteHost } from '../tools/executors/remote-host.js'
import { BridgeError, JsonRpcPeer, RequestError, isRecord, methodNotFound } from '../tools/executors/jsonrpc.js'
import type { Params } from '../tools/executors/jsonrpc.js'
import { toClientWords, withTerminal } from './terminal.js'
import type { MessageTransport } from '../tools/executors/stream-transport.js'
import type { HostCapabilities, Report } from '../library/effects/index.js'

export interface AcpOptions {
  readonly runtime: Runtime
  /** The program of a prompt: the same for all of them, or made from the prompt's text. Throws CompileError. */
  readonly module: (prompt: string) => Module
  /** What the runs of a session are started with; `cwd` is the folder that its client named. */
  readonly start?: (session: { readonly id: string; readonly cwd: string }) => Omit<StartOptions, 'bridge' | 'signal' | 'onEvent'>
  /** The script global `mcp`. */
  readonly mcp?: Value
  /** Limit of one `host/call`; 60 s by default. */
  readonly callTimeoutMs?: number
  /** Limit of other requests to the client; 300 s by default. */
  readonly timeoutMs?: number
  readonly newId?: () => string
  /** Sessions that may be open at a time; 1000 by default. A client closes one by `session/close`. */
  readonly maxSessions?: number
  /**
   * What a client is told of answers of models that come in pieces, while they come: `thoughts`, the default, is reasoning as
   * `agent_thought_chunk`; `all` is their text as `agent_message_chunk` too, for scripts that do not print the answers themselves.
   */
  readonly deltas?: 'none' | 'thoughts' | 'all'
  /** Keeps sessions beyond this process; without it they end with the connection. */
  readonly sessions?: AcpSessionStore
}

/** Names that scripts of an agent can read everywhere: give them to `createRuntime({ globals })`. */
export const ACP_GLOBALS = ['prompt', 'cwd', 'mcp'] as const

interface Session {
  readonly id: string
  readonly cwd: string
  readonly parent: string | null
  readonly branchedAt: number | null
  readonly title: string | null
  /** Of the past; kept where there is a store. */
  turns: readonly AcpTurn[]
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
/** Words of a person that no agent loop has heard, of one session: messages, and characters in all. */
const MOST_MESSAGES = 1000
const MOST_CHARACTERS = 4 << 20

const PROTOCOL_VERSION = 1
const MODES = [{ id: 'default', name: 'Default', description: 'Execute harn pipelines' }]
/** Kinds of update that the protocol does not have. */
const EXTENSIONS: ReadonlySet<string> = new Set(['call_progress', 'log', 'progress'])
const INVALID_PARAMS = -32602
const SESSION_NOT_FOUND = -32004
const RUN_FAILED = -32000

export class AcpServer {
  private readonly options: AcpOptions
  private readonly peer: JsonRpcPeer
  private readonly desk = new ApprovalDesk()
  private readonly sessions = new Map<string, Session>()
  private hasTerminal = false
  /** The client introduced itself, as those of the protocol do: it is answered in the protocol's own words alone. */
  private isPlain = false
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
      onRequest: (method, params) => this.answer(method, params),
      onNotification: (method, params) => this.hear(method, params),
      onClose: () => this.onClosed(),
      answersDamage: true,
    })
    this.desk.onRequest(({ payload }) => void this.peer.notify('harn.hitl.requested', { ...payload }))
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

  private answer(method: string, params: Params): unknown {
    if (INPUT_METHODS.has(method)) {
      this.listen(this.getSession(params), params)
      return {}
    }
    switch (method) {
      case 'initialize':
        return this.initialize(params)
      case 'session/new':
        return { sessionId: this.open({ cwd: readOptionalText(params, 'cwd') ?? process.cwd() }).id, modes: this.listModes() }
      case 'session/list':
        return { sessions: this.list() }
      case 'session/load':
        return this.load(params)
      case 'session/fork':
        return this.fork(params)
      case 'session/prompt':
        return this.handlePrompt(params)
      case 'session/close':
        return this.closeSession(this.getSession(params))
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
      // Nobody is told: a notification has no answer.
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

  /** Words in the middle of a prompt: agent loops of its script hear them before a turn, or when they would end. */
  private listen(session: Session, params: Params): void {
    const content = readPromptText(params['content'] ?? params['prompt'])
    if (content === '') return
    if (!hasRoom(session)) throw new RequestError(RUN_FAILED, 'too many messages wait for the agent to hear them')
    session.inbox = [...session.inbox, { content, isPatient: !SOON.has(params['mode']) }]
  }

  private listModes(): unknown {
    return this.isPlain ? { currentModeId: MODES[0]!.id, availableModes: MODES } : MODES
  }

  private initialize(params: Params): unknown {
    const declared = isRecord(params['clientCapabilities']) ? params['clientCapabilities'] : {}
    this.hasTerminal = declared['terminal'] === true
    this.isPlain = isRecord(params['clientInfo'])
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: {},
        sessionCapabilities: { close: {}, fork: {}, load: {} },
        _meta: {
          harn: {
            schemaCompatibility: 'agentclientprotocol/agent-client-protocol schema v0.12.2',
            sessionUpdateExtensions: [...EXTENSIONS],
            contentExtensionFields: ['visible_delta', 'visible_text'],
          },
        },
      },
      agentInfo: { name: 'bridle', version: VERSION },
    }
  }

  private open(facts: Partial<AcpSessionRecord> & { readonly cwd: string }): Session {
    const most = this.options.maxSessions ?? MOST_SESSIONS
    if (this.sessions.size >= most)
      throw new RequestError(RUN_FAILED, `${most} sessions are open, and no more may be; close one by session/close`)
    const id = facts.id ?? this.options.newId?.() ?? `session_${crypto.randomUUID()}`
    const session: Session = {
      id,
      cwd: facts.cwd,
      parent: facts.parent ?? null,
      branchedAt: facts.branchedAt ?? null,
      title: facts.title ?? null,
      turns: facts.turns ?? [],
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

  /** Written down before and after each turn. A store that cannot be written fails the request that wanted it. */
  private keep(session: Session, turn: AcpTurn | null): void {
    const { id, cwd, parent, branchedAt, title, turns } = session
    this.options.sessions?.save({ id, cwd, parent, branchedAt, title, turns: turn === null ? turns : [...turns, turn] })
  }

  private list(): unknown {
    const known = [...this.sessions.values()]
    const kept = (this.options.sessions?.list() ?? []).filter(({ id }) => !this.sessions.has(id))
    return [...known, ...kept].map(({ id, cwd, title, parent, branchedAt }) => ({
      sessionId: id,
      cwd,
      ...(title === null ? {} : { title }),
      ...(parent === null ? {} : { _meta: forkFacts({ parent, branchedAt, title }) }),
    }))
  }

  private load(params: Params): unknown {
    const id = readText(params['sessionId'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'session/load requires sessionId')
    const kept = this.options.sessions?.load(id) ?? null
    const session = this.sessions.get(id) ?? (kept === null ? undefined : this.open(kept))
    if (session === undefined) throw new RequestError(SESSION_NOT_FOUND, `Session not found: ${id}`)
    const replayed = kept === null ? [] : makeReplay({ ...kept, turns: session.turns })
    for (const update of replayed) this.update(session, update)
    return { sessionId: id, modes: this.listModes(), session: { sessionId: id, cwd: session.cwd }, replayed }
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
      cwd: source.cwd,
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
    return { sessionId: session.id, state: 'forked', parent_id: source.id, branched_at: branchedAt }
  }

  private getSession(params: Params): Session {
    const id = readText(params['sessionId'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'Missing sessionId')
    const session = this.sessions.get(id)
    if (session === undefined) throw new RequestError(INVALID_PARAMS, `Unknown session: ${id}`)
    return session
  }

  private respond(params: Params): unknown {
    const id = readText(params['request_id'])
    if (id === null) throw new RequestError(INVALID_PARAMS, 'Invalid harn.hitl.respond params: missing field `request_id`')
    if (!this.desk.respond(id, params)) throw new RequestError(RUN_FAILED, `unknown HITL request id '${id}'`)
    return { ok: true }
  }

  private async handlePrompt(params: Params): Promise<unknown> {
    const session = this.getSession(params)
    if (session.isBusy) throw new RequestError(INVALID_PARAMS, `Session is busy: ${session.id}`)
    session.isBusy = true
    const prompt = readPromptText(params['prompt'])
    session.stopped = false
    session.visible = ''
    session.said = ''
    session.unsent = ''
    session.thought = ''
    let stopReason: AcpTurn['stopReason'] = 'failed'
    try {
      this.keep(session, { prompt, said: '', stopReason: null })
      const result = await this.run(session, prompt)
      stopReason = session.stopped || result.status === 'cancelled' ? 'cancelled' : 'failed'
      if (stopReason === 'cancelled') return { stopReason }
      if (result.status === 'failed') throw result.error
      if (result.status === 'limit') throw new Error(result.message)
      stopReason = 'completed'
      return { stopReason: this.isPlain ? 'end_turn' : stopReason }
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      this.say(session, `Error: ${message}\n`)
      throw new RequestError(RUN_FAILED, message)
    } finally {
      this.flush(session)
      session.run = null
      session.isBusy = false
      if (this.options.sessions !== undefined) {
        session.turns = [...session.turns, { prompt, said: session.said, stopReason }]
        this.keep(session, null)
      }
    }
  }

  private async run(session: Session, prompt: string): Promise<RunResult> {
    const { runtime, mcp } = this.options
    const start = this.options.start?.(session) ?? {}
    const module = this.options.module(prompt)
    const capabilities = await this.requestCapabilities(session)
    const desk = this.desk.provider()
    const ask = remoteApproval(this.peer, session.id, () => null)
    const run = runtime.start(module, {
      ...start,
      globals: {
        ...start.globals,
        prompt,
        cwd: session.cwd,
        mcp: mcp ?? fromPlain({}),
      },
      bridge: remoteHost(this.peer, {
        session: session.id,
        callTimeoutMs: this.options.callTimeoutMs ?? 60_000,
        capabilities: capabilities ?? {},
        // A client that does not know the question about its operations has none.
        operations: capabilities === null ? 'declared' : 'any',
        failure: ({ fault }) =>
          runtimeError(fault.kind === 'answered' ? `Client error: ${fault.message}` : toClientWords(fault.message)),
      }),
      providers: [
        ...(start.providers ?? []).map((source) =>
          this.hasTerminal ? withTerminal(source, this.peer, session.id, session.cwd) : source,
        ),
        {
          ...desk,
          perform: (effect, call) => {
            if (effect.args.kind === 'messages') return answered(takeMessages(session, effect.args.payload ?? null))
            return effect.args.kind === 'permission' ? approvalProvider(ask).perform(effect, call) : desk.perform(effect, call)
          },
        },
      ],
      reportsOnly: true,
      hasInbox: true,
      onEvent: (event) => {
        if (event.type === 'output') this.say(session, event.text)
        else if (event.type === 'report') this.update(session, makeUpdate(event.report))
        else if (event.type === 'model_delta') this.tellDelta(session, event.delta)
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
        visible_text: session.visible,
        visible_delta: session.visible.slice(visible.length),
      },
    }
    void this.peer.notify('session/update', { sessionId: session.id, update }).then(() => {
      session.isSending = false
      this.flush(session)
    })
  }

  /** Whatever was said before comes before. */
  private update(session: Session, update: Params): void {
    this.flush(session)
    if (this.isPlain && EXTENSIONS.has(String(update['sessionUpdate']))) return
    void this.peer.notify('session/update', { sessionId: session.id, update })
  }
}

/** What a loop hears now; the rest waits. */
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

/** What a script says of itself, as an update of its session. */
function makeUpdate(report: Report): Params {
  if (report.kind === 'log') {
    const { level, message, fields } = report
    return { sessionUpdate: 'log', level, message, fields: plainFromHost(fields) }
  }
  const { phase, message, current, total } = report
  return {
    sessionUpdate: 'progress',
    phase,
    message,
    ...(current === null ? {} : { progress: current }),
    ...(total === null ? {} : { total }),
  }
}

function readPromptText(blocks: unknown): string {
  if (typeof blocks === 'string') return blocks
  if (!Array.isArray(blocks)) return ''
  return (blocks as readonly unknown[])
    .flatMap((block) => {
      const { type, text: words } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown }
      return type === 'text' && typeof words === 'string' ? [words] : []
    })
    .join('\n')
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
