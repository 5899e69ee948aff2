// The state of one tool call (dispatch.ts), and how the call ends: with a value or a refusal, and one record in the trace.

import { HarnDict, display, err, ok, toPlain } from '@bridle/vm/families'
import type { Context, FrameState, Plain, Result, TraceRecord, Value } from '@bridle/vm/families'
import type { AppliedGrant } from '../policy/grants.js'
import { getEntryFacts } from '../definitions/entry.js'
import type { CalledTool, ToolIdentity } from './identity.js'
import { findHostEntry } from './gate.js'
import { makeToolError } from '../../library/tool-errors.js'
import type { ToolOrigin } from '../definitions/pins.js'
import type { CallFacts } from '../../library/tool-errors.js'
import { executorOf } from '@bridle/compiler/grants'

/** Field of a task inside a call that may be tried again: [attempt, attempts at most]. */
export const ATTEMPTS = 'tool.attempts'

export interface DispatchState extends FrameState {
  stage: 'start' | 'gate' | 'running' | 'checking' | 'waiting' | 'after'
  /** A registry, or nil for the bound one. */
  registry: Value
  /** A name, a registry of one tool, or an entry. */
  tool: Value
  args: Value
  options: Value
  /** True for tool_try: errors become an Err. */
  quiet: boolean
  /** Set for tool_stream: the result comes in chunks (tool-streams.ts). */
  stream?: boolean
  entry: HarnDict | null
  /** What is carried out; null until the call is resolved. */
  identity: ToolIdentity | null
  name: string
  callId: string
  argHash: string
  /** Who defines the tool. */
  origin: ToolOrigin
  /** How the script calls the tool, when by an alias; then `tool` is its binding. */
  alias: string | null
  /** Outermost first. */
  applied: readonly AppliedGrant[]
  /** The call around this one, which the task goes back to; undefined until this one has its id. */
  outerCall?: Value
  /** What the call around it says about its attempts, if it does. */
  outerAttempts?: Value
  startedMs: number
  /** Whether an attempt runs under its own time limit. */
  limited: boolean
  /** Scopes of grants that hold for the builtin behind a standard tool. */
  pushed: number
  /** Whether the ceilings of the calling module hold for the handler. */
  narrowed?: boolean
  /** Whether its effects are left out of the trace. */
  covered: boolean
  attempt: number
  /** The call of an agent loop that it is an attempt of (policy/gate.ts). */
  attemptOf?: number
  /** Where its result is kept, for tools whose results are. */
  cacheKey?: string
  /** Whether the result is one that was kept. */
  cached?: boolean
  /** One dict a failed attempt. */
  history: Value[]
  /** The result while hooks look at it. */
  value: Value
}

export const makeFacts = (state: DispatchState): CallFacts => ({
  tool: state.name,
  alias: state.alias,
  callId: state.callId === '' ? null : state.callId,
  attempt: state.attempt,
})

export function finish(ctx: Context, state: DispatchState, value: Value): Value {
  traceCall(ctx, state, () => ({ ok: true, value: toPlain(value) }))
  return state.quiet ? ok(value) : value
}

export function refuse(ctx: Context, state: DispatchState, error: HarnDict): Result {
  traceCall(ctx, state, () => ({
    ok: false,
    code: display(error.get('code') ?? null),
    message: display(error.get('message') ?? null),
    denied: state.attempt === 0,
  }))
  return state.quiet ? err(error) : ctx.throw(error)
}

/** One record for every call that was resolved, refused ones too. */
function traceCall(ctx: Context, state: DispatchState, outcome: () => TraceRecord['outcome']): void {
  const { traced } = ctx.machine
  const { entry } = state
  if (traced === null || entry === null) return
  const { outerCall } = state
  traced({
    kind: 'tool_call',
    tool: state.name,
    alias: state.alias,
    version: getEntryFacts(entry).version,
    executor: chooseExecutor(state, entry),
    callId: state.callId,
    parent: typeof outerCall === 'string' ? outerCall : null,
    task: ctx.machine.taskNumber,
    args: toPlainOrText(state.args),
    policy: state.applied.length === 0 ? null : (state.applied.map(({ grant }) => grant) as Plain),
    secret: listCallSecrets(ctx, state, entry),
    attempts: state.attempt,
    cached: state.cached === true,
    startedMs: state.startedMs,
    endedMs: ctx.now,
    outcome: outcome(),
  })
}

const NONE: readonly string[] = []

/** By the entry of the call, and by the host's own word about its tool. */
export function listCallSecrets(ctx: Context, state: DispatchState, entry: HarnDict): readonly string[] {
  const own = state.identity === null ? null : findHostEntry(ctx, state.identity)
  const { secrets } = getEntryFacts(entry)
  const further = own === null || own === entry ? NONE : getEntryFacts(own).secrets
  return further.length === 0 ? secrets : [...new Set([...secrets, ...further])]
}

/** Arguments that were refused for their depth are traced as a text. */
export function toPlainOrText(value: Value): Plain {
  try {
    return toPlain(value)
  } catch {
    return '<nested too deeply>'
  }
}

export function refuseWith(ctx: Context, state: DispatchState, code: string, message: string, details: Value = null): Result {
  return refuse(ctx, state, makeToolError(code, message, makeFacts(state), details))
}

export function chooseExecutor(state: DispatchState, entry: HarnDict): string {
  return state.options instanceof HarnDict && state.options.get('dry_run') === true ? executorOf(null) : readExecutor(entry)
}

export function readExecutor(entry: HarnDict): string {
  return getEntryFacts(entry).executor
}

/** Whether the program made the entry itself. */
export function isOfScript(state: DispatchState): boolean {
  return state.origin === 'script'
}

/** What policies and hooks are asked about. */
export function toCalled(state: DispatchState): CalledTool {
  return { shown: state.name, identity: state.identity! }
}
