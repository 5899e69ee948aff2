// Agent sessions: transcripts that live in the machine by id, and how they descend from each other. The
// least recently used ones are forgotten when there are too many.

import { HarnDict, HarnList, builtin, display, failWith, family, isCallable, isInt, readShape } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listDicts, isMessageEvent } from '../transcripts/shape.js'
import { SESSION_COMPACTION_OPTIONS } from '../transcripts/compaction-options.js'

const MOST_SESSIONS = 128

export interface Session {
  readonly id: string
  messages: HarnDict[]
  /** Events that are not messages. */
  events: HarnDict[]
  summary: string | null
  metadata: HarnDict | null
  /** From the last loop on it; null before the first. */
  state: string | null
  parentId: string | null
  childIds: string[]
  branchedAt: number | null
  /** Names of the skills that the last loop on it had in sight. */
  activeSkills: string[]
}

interface SessionState {
  /** Most recently used last. */
  readonly sessions: Map<string, Session>
}

export const sessionState = family<SessionState>('agent_sessions', () => ({ sessions: new Map() }))

/** The session, which counts as used now. */
export function touch(ctx: Context, id: string): Session | undefined {
  const { sessions } = ctx.state(sessionState)
  const found = sessions.get(id)
  if (found === undefined) return undefined
  sessions.delete(id)
  sessions.set(id, found)
  return found
}

export function openSession(ctx: Context, id: string): Session {
  const known = touch(ctx, id)
  if (known !== undefined) return known
  const { sessions } = ctx.state(sessionState)
  ctx.charge(1, 256)
  const made: Session = {
    id,
    messages: [],
    events: [],
    summary: null,
    metadata: null,
    state: null,
    parentId: null,
    childIds: [],
    branchedAt: null,
    activeSkills: [],
  }
  sessions.set(id, made)
  const oldest = sessions.size > MOST_SESSIONS ? sessions.keys().next().value : undefined
  if (oldest !== undefined) sessions.delete(oldest)
  return made
}

const CURRENT = 'agent.session'

/** The session of the innermost loop of the running task. */
export function findCurrentSession(ctx: Context): string | null {
  const value = ctx.machine.task().fields.get(CURRENT) ?? null
  return value === null ? null : display(value)
}

export function setCurrentSession(ctx: Context, id: string | null): void {
  ctx.machine.task().fields.set(CURRENT, id)
}

// ------------------------------------------------------------------------------------------------------------- primitives

function copySession(ctx: Context, source: Session, id: string): Session {
  const copy = openSession(ctx, id)
  copy.messages = [...source.messages]
  copy.events = [...source.events]
  copy.summary = source.summary
  copy.state = source.state
  copy.metadata = (source.metadata ?? new HarnDict()).with('parent_session_id', source.id)
  copy.parentId = source.id
  source.childIds.push(id)
  return copy
}

/** Events without a message belong to the messages as they were. */
function keepMessages(session: Session, messages: HarnDict[]): void {
  session.messages = messages
  session.events = []
}

/** The session of an id, which may have been closed since `caller` was called. */
function requireSession(ctx: Context, caller: Value | undefined, id: Value | undefined): Session {
  return touch(ctx, id as string) ?? failWith(`${caller as string}: unknown session id '${id as string}'`)
}

function describeSession({ id, messages, events, summary, metadata, state, parentId, childIds, branchedAt }: Session): HarnDict {
  return HarnDict.of({
    conversation: HarnDict.of({
      id,
      messages: new HarnList([...messages]),
      events: new HarnList([...events]),
      summary,
      metadata,
      state,
    }),
    descent: HarnDict.of({
      parent_id: parentId,
      child_ids: new HarnList([...childIds]),
      branched_at_event_index: branchedAt,
    }),
  })
}

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__open_session(id: string) -> string',
    'Opens a session, made if there is none.',
    (ctx, id) => openSession(ctx, id as string).id,
  ),
  definePrimitive(
    '__session_facts(id: string) -> dict?',
    'What a transcript of a session is made of, {conversation, descent}; nil without a session.',
    (ctx, id) => {
      const session = touch(ctx, id as string)
      return session === undefined ? null : describeSession(session)
    },
  ),
  definePrimitive(
    '__fork_session(caller: string, source: string, keep: int?, destination: string) -> string',
    'A copy of a session, of its first messages where a number is given; its id.',
    (ctx, caller, source, keep, destination) => {
      const made = copySession(ctx, requireSession(ctx, caller, source), destination as string)
      if (keep === null) return made.id
      const kept = Math.max(0, Number(keep))
      made.branchedAt = Math.min(kept, made.messages.length)
      keepMessages(made, made.messages.slice(0, kept))
      return made.id
    },
  ),
  definePrimitive('__session_messages(caller: string, id: string) -> list', 'Messages of a session.', (ctx, caller, id) => {
    return new HarnList([...requireSession(ctx, caller, id).messages])
  }),
  definePrimitive(
    '__compact_session(caller: string, id: string, messages: list?) -> int',
    'Gives a session its messages after compaction, nil when it changed nothing; how many there are.',
    (ctx, caller, id, messages) => {
      const session = requireSession(ctx, caller, id)
      if (messages !== null) keepMessages(session, listDicts(messages))
      return session.messages.length
    },
  ),
]

// --------------------------------------------------------------------------------------------------------------- builtins

const EFFECTS = ['random.bytes', 'clock.now']

/** Continues as a function of sessions.harn. What callbacks print is lost, as in the reference. */
function goOn(ctx: Context, name: string, ...args: Value[]): Result {
  return ctx.library({ module: 'agents/sessions/sessions', function: name, output: 'drop' }, args)
}

interface SessionRules {
  readonly effects?: readonly string[]
  /** What the first parameter is called in errors. */
  readonly parameter?: string
  /** Errors in the further arguments; checked before the session is looked up. */
  readonly problem?: (second: Value, third: Value) => string | null
  readonly shapes?: BuiltinDef['shapes']
}

/** A builtin on a session that must exist. */
function onSession(
  signature: string,
  doc: string,
  run: (ctx: Context, session: Session, second: Value, third: Value) => Result,
  { effects = [], parameter = 'id', problem = () => null, shapes = null }: SessionRules = {},
): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return builtin(signature, { doc, effects, ...(shapes === null ? {} : { shapes }) }, (ctx, id, second, third) => {
    if (typeof id !== 'string') return ctx.throw(`${name}: \`${parameter}\` must be a string`)
    const wrong = problem(second ?? null, third ?? null)
    if (wrong !== null) return ctx.throw(`${name}: ${wrong}`)
    const session = touch(ctx, id)
    return session === undefined
      ? ctx.throw(`${name}: unknown session id '${id}'`)
      : run(ctx, session, second ?? null, third ?? null)
  })
}

/** What is wrong with a number of messages to keep. */
function countProblem(name: string, value: Value): string | null {
  if (!isInt(value)) return `\`${name}\` must be an int`
  return value < 0 ? `\`${name}\` must be >= 0` : null
}

/** What is wrong with the id for a fork. */
function describeDestinationProblem(value: Value): string | null {
  return value === null || typeof value === 'string' ? null : '`dst` must be a string or nil'
}

/** Here the language itself refuses every other key. */
const listCompactKeys = (): readonly string[] => readShape(SESSION_COMPACTION_OPTIONS).map(({ name }) => name)

function inject(ctx: Context, session: Session, message: Value): Result {
  if (!(message instanceof HarnDict)) return ctx.throw('agent_session_inject: message must be a dict')
  if (typeof message.get('role') !== 'string') {
    return ctx.throw('agent_session_inject: message must have a string `role` (user|assistant|tool_result|system)')
  }
  ctx.charge(1, 64)
  keepMessages(session, [...session.messages, message])
  return null
}

export const sessionsFamily: BuiltinFamily = {
  name: 'sessions',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtin(
      'agent_session_open(id?: string | nil) -> string',
      { doc: 'Opens the session of an id, made if there is none; without an id a new one.', effects: EFFECTS },
      (ctx, id) =>
        id !== null && typeof id !== 'string'
          ? ctx.throw('agent_session_open: `id` must be a string or nil')
          : goOn(ctx, 'open_session', id!),
    ),
    builtin('agent_session_exists(id: string) -> bool', { doc: 'Whether there is such a session.', effects: [] }, (ctx, id) =>
      typeof id === 'string'
        ? ctx.state(sessionState).sessions.has(id)
        : ctx.throw('agent_session_exists: `id` must be a string'),
    ),
    onSession('agent_session_length(id: string) -> int', 'How many messages it has.', (_ctx, session) => session.messages.length),
    builtin(
      'agent_session_snapshot(id: string) -> dict | nil',
      { doc: 'The session as a transcript, with its descent.', effects: EFFECTS },
      (ctx, id) =>
        typeof id === 'string' ? goOn(ctx, 'snapshot_session', id) : ctx.throw('agent_session_snapshot: `id` must be a string'),
    ),
    builtin('agent_session_ancestry(id: string) -> dict | nil', { doc: 'Parent, children and root.', effects: [] }, (ctx, id) => {
      if (typeof id !== 'string') return ctx.throw('agent_session_ancestry: `id` must be a string')
      const { sessions } = ctx.state(sessionState)
      const session = touch(ctx, id)
      if (session === undefined) return null
      let root = session
      for (let up = 0; up < MOST_SESSIONS && root.parentId !== null; up++) {
        const parent = sessions.get(root.parentId)
        if (parent === undefined) break
        root = parent
      }
      // A closed parent is listed too.
      const rootId = root.parentId !== null && !sessions.has(root.parentId) ? root.parentId : root.id
      return HarnDict.of({
        parent_id: session.parentId,
        child_ids: new HarnList([...session.childIds]),
        root_id: rootId,
      })
    }),
    builtin(
      'agent_session_current_id() -> string | nil',
      { doc: 'The session of the loop that is running.', effects: [] },
      (ctx) => findCurrentSession(ctx),
    ),
    onSession('agent_session_inject(id: string, message: dict) -> nil', 'Adds a message.', inject),
    onSession('agent_session_reset(id: string) -> nil', 'Forgets its messages.', (_ctx, session) => {
      keepMessages(session, [])
      session.summary = null
      session.state = null
      return null
    }),
    onSession('agent_session_close(id: string) -> nil', 'Forgets the session.', (ctx, session) => {
      ctx.state(sessionState).sessions.delete(session.id)
      return null
    }),
    onSession(
      'agent_session_trim(id: string, keep_last: int) -> int',
      'Keeps its last messages.',
      (_ctx, session, keep) => {
        keepMessages(session, Number(keep) === 0 ? [] : session.messages.slice(-Number(keep)))
        return session.messages.length
      },
      { problem: (keep) => countProblem('keep_last', keep) },
    ),
    onSession(
      'agent_session_fork(src: string, dst?: string) -> string',
      'A copy with a place in the descent.',
      (ctx, session, destination) => goOn(ctx, 'fork_session', 'agent_session_fork', session.id, null, destination),
      { effects: EFFECTS, parameter: 'src', problem: describeDestinationProblem },
    ),
    onSession(
      'agent_session_fork_at(src: string, keep_first: int, dst?: string) -> string',
      'A copy of its first messages.',
      (ctx, session, keep, destination) => goOn(ctx, 'fork_session', 'agent_session_fork_at', session.id, keep, destination),
      {
        effects: EFFECTS,
        parameter: 'src',
        problem: (keep, destination) => countProblem('keep_first', keep) ?? describeDestinationProblem(destination),
      },
    ),
    onSession(
      'agent_session_compact(id: string, options?: dict) -> int',
      'Sums its older messages up; how many are left.',
      (ctx, session, options) => {
        if (options !== null && !(options instanceof HarnDict)) {
          return ctx.throw('agent_session_compact: `opts` must be a dict or nil')
        }
        const given = options ?? new HarnDict()
        const known = listCompactKeys()
        const unknown = given.keys().find((key) => !known.includes(key))
        if (unknown !== undefined) {
          return ctx.throw(`agent_session_compact: unknown option key '${unknown}' (expected one of: ${known.join(', ')})`)
        }
        const custom = given.get('custom_compactor') ?? null
        if (custom !== null && !isCallable(custom))
          return ctx.throw('agent_session_compact: `custom_compactor` must be a closure')
        const keep = given.get('keep_last') ?? null
        if (isInt(keep) && keep < 0) return ctx.throw('agent_session_compact: `keep_last` must be >= 0')
        return goOn(ctx, 'compact_session', 'agent_session_compact', session.id, given)
      },
      {
        effects: ['llm.call', 'process.info', 'callback', ...EFFECTS],
        shapes: { options: SESSION_COMPACTION_OPTIONS },
      },
    ),
  ],
}

/** The events of a transcript that a session keeps. */
export function listKeptEvents(transcript: HarnDict): HarnDict[] {
  return listDicts(transcript.get('events')).filter((event) => !isMessageEvent(event))
}
