// One call of one tool of the host, from arguments to checked result, without a machine: arguments against the schema, the
// prepare step, the tool's own code (which may call other tools), the response format, the result against its schema. The
// executor `host_bridge` and registries used without a run are both this. Time limits and cancellation are their caller's.

import { listenForAbort } from '../../library/abort.js'
import type { Plain } from '@bridle/vm'
import { clampTimer } from '../../library/time/host-clock.js'
import { Finished, Pending, isRepeatable, listDeclaredEffects } from './define.js'
import type { Tool, ToolContext, ToolCalls } from './define.js'
import { CallContext } from './call-context.js'
import type { FindTool, Invocation, Prepared } from './call-context.js'
import { Done } from './intents.js'
import type { CallBefore } from '../dispatch/nested-calls.js'
import type { NestedGate } from '../executors/provider.js'
import { NotDataError, plainFromHost } from './edge.js'
import { ToolError, toToolErrorData } from './errors.js'
import type { ToolErrorData } from './errors.js'
import { makeFailureResponse, isStandardResponse, isThrownAlways, respond } from './response.js'
import type { StandardResponse } from './response.js'
import type { JsonSchema } from './schema.js'
import { describeCause } from '../executors/provider.js'
import type { NestedOutcome } from '../../library/effects/index.js'

export { CallFacts, findToolsOf } from './call-context.js'
export type { FindTool, Invocation } from './call-context.js'

/** Calls of tools by tools, counted from the one that a script or a host made. */
export const MAX_NESTING = 16

/** Most tools and nearly all checks are synchronous; a promise is made only where there is something to wait for. */
export type Ready<T> = T | Promise<T>

export type Invoked =
  /** As the tool gave it; `schema` decides which numbers are floats. */
  | {
      readonly kind: 'value'
      readonly value: unknown
      readonly schema: JsonSchema | undefined
      /** To be done in the moment in which the result enters the run. */
      readonly happen?: () => void
    }
  | { readonly kind: 'failed'; readonly error: ToolErrorData }
  | { readonly kind: 'pending'; readonly token: string; readonly deadlineMs?: number; readonly endsRun?: boolean }

/** A streaming tool that has begun. */
export interface OpenStream {
  readonly kind: 'stream'
  /** The next chunk, or the checked result. Asking is what makes the tool continue. */
  readonly next: () => Promise<
    { readonly done: false; readonly chunk: unknown } | { readonly done: true; readonly outcome: Invoked }
  >
  /** Ends the tool where it stands. */
  readonly close: () => Promise<void>
}

/** Prepared calls of tools that may be tried again: every attempt sees what the first one prepared. */
export class PreparedCalls {
  private readonly byKey = new Map<string, Prepared>()

  get(key: string): Prepared | undefined {
    return this.byKey.get(key)
  }

  keep(key: string, prepared: Prepared, hasMoreAttempts: boolean): void {
    if (hasMoreAttempts) this.byKey.set(key, prepared)
    else this.byKey.delete(key)
  }

  drop(key: string): void {
    this.byKey.delete(key)
  }
}

export function invoke(
  tool: Tool,
  args: unknown,
  call: Invocation,
  find: FindTool,
  prepared: PreparedCalls | null = null,
  depth = 1,
): Ready<Invoked> {
  const context = new CallContext(call, find, makeNested(call, find, depth), tool)
  return guardWork(tool, args, () => {
    if (tool.input === null) return prepareAndRun(tool, args, context, prepared)
    return chainReady(tool.input.check(args), (checked) => {
      if (!checked.ok)
        return makeFailure('invalid_args', `Invalid arguments at ${checked.path}: ${checked.reason}`, {
          path: checked.path,
          reason: checked.reason,
        })
      return prepareAndRun(tool, checked.value, context, prepared)
    })
  })
}

/** As `invoke`, but a tool that streams is not run to its end; others are. */
export async function openStream(tool: Tool, args: unknown, call: Invocation, find: FindTool): Promise<OpenStream | Invoked> {
  let opened: OpenStream | null = null
  const execute: Tool['execute'] = (input, context) =>
    chainReady(tool.execute(input, context), (value) => {
      if (!isStream(value)) return value
      opened = makeStream(tool, input, value)
      return new Pending('')
    })
  const outcome = await invoke({ ...tool, execute }, args, call, find)
  return opened ?? outcome
}

function makeStream(tool: Tool, args: unknown, stream: AsyncIterator<unknown, unknown>): OpenStream {
  return {
    kind: 'stream',
    async next() {
      let value: unknown
      const outcome = await guardWork(tool, args, async () => {
        const item = await stream.next()
        value = item.value
        return item.done === true ? settle(tool, args, value) : { kind: 'pending', token: '' }
      })
      return outcome.kind === 'pending' ? { done: false, chunk: value } : { done: true, outcome }
    },
    async close() {
      await stream.return?.()
    },
  }
}

/** A context for code of the host that is not a tool, such as an operation of a capability. */
export function makeContext(call: Invocation, find: FindTool, tool: Tool | null = null): ToolContext {
  return new CallContext(call, find, makeNested(call, find, 1), tool)
}

function prepareAndRun(tool: Tool, args: unknown, context: CallContext, calls: PreparedCalls | null): Ready<Invoked> {
  const { prepare } = tool
  if (prepare === null) return run(tool, args, context)
  const key = context.idempotencyKey
  const known = calls?.get(key)
  const before = known ?? context.findPrepared()
  if (before !== null) return runPrepared(tool, before, context, calls)
  const made = chainReady(
    guardPrepare(() => prepare({ callId: context.callId, tool: tool.name, args }, context.forPrepare())),
    (answer) => {
      if (answer instanceof ToolError) return { kind: 'failed', error: toToolErrorData(answer) } satisfies Invoked
      if (answer instanceof Finished) return checkOutput(tool, args, answer.value)
      const ready: Prepared = { args: answer?.args ?? args, payload: answer?.payload ?? null }
      context.keepPrepared(ready)
      return runPrepared(tool, ready, context, calls)
    },
  )
  return made
}

function guardPrepare<T>(prepare: () => Ready<T>): Ready<T | ToolError> {
  const toFailed = (cause: unknown): ToolError =>
    cause instanceof ToolError ? cause : new ToolError('prepare_failed', describeCause(cause), { cause })
  try {
    const answer = prepare()
    return answer instanceof Promise ? answer.catch(toFailed) : answer
  } catch (cause) {
    return toFailed(cause)
  }
}

function runPrepared(tool: Tool, prepared: Prepared, context: CallContext, calls: PreparedCalls | null): Ready<Invoked> {
  context.payload = prepared.payload
  calls?.keep(context.idempotencyKey, prepared, context.attempt < context.maxAttempts)
  return chainReady(run(tool, prepared.args, context), (outcome) => {
    if (outcome.kind !== 'failed') calls?.drop(context.idempotencyKey)
    return outcome
  })
}

function run(tool: Tool, args: unknown, context: CallContext): Ready<Invoked> {
  return chainReady(tool.execute(args, context), (value) => {
    if (value instanceof Done) return settleDone(tool, args, value, context)
    if (value instanceof Pending && isTold(value)) return context.announce(value.limits).then(() => settle(tool, args, value))
    if (isStream(value)) return drain(value, context).then((last) => settle(tool, args, last))
    return settle(tool, args, value)
  })
}

function isTold({ limits }: Pending): boolean {
  return limits.announcement !== undefined || typeof limits.onCancel === 'object'
}

/** An invalid intent fails the call; no intent has been carried out then. */
function settleDone(tool: Tool, args: unknown, { value, intents }: Done, context: CallContext): Ready<Invoked> {
  const happen = intents.length === 0 ? null : context.stageIntents(intents)
  return chainReady(settle(tool, args, value), (outcome) =>
    happen === null || outcome.kind !== 'value' ? outcome : { ...outcome, happen },
  )
}

/** Chunks of a streaming tool are progress for those who wait for the whole; its last word is the result. */
async function drain(stream: AsyncIterator<unknown, unknown>, context: ToolContext): Promise<unknown> {
  const chunks: unknown[] = []
  for (;;) {
    if (context.signal.aborted) {
      await stream.return?.()
      throw new ToolError('cancelled', 'the call was cancelled')
    }
    const { done, value } = await stream.next()
    if (done === true) return value === undefined ? chunks : value
    context.progress({ chunk: value, index: chunks.length })
    chunks.push(value)
  }
}

function settle(tool: Tool, args: unknown, value: unknown): Ready<Invoked> {
  if (value instanceof Pending) {
    const { deadlineMs, onTimeout } = value.limits
    const limit = deadlineMs === undefined ? {} : { deadlineMs, ...(onTimeout === 'fail-run' ? { endsRun: true } : {}) }
    return { kind: 'pending', token: value.token, ...limit }
  }
  return checkOutput(tool, args, value instanceof Finished ? value.value : value)
}

function checkOutput(tool: Tool, args: unknown, value: unknown): Ready<Invoked> {
  if (tool.response === 'direct') return checkResult(tool, value, (checked) => checked)
  if (isStandardResponse(value)) {
    if (!value.success) return { kind: 'value', value, schema: tool.output?.json }
    return checkResult(tool, value.result, (result) => ({ ...value, result }))
  }
  return checkResult(tool, value, (result) => respond.ok(readOperation(tool, args), result))
}

function checkResult(tool: Tool, value: unknown, wrap: (checked: unknown) => unknown): Ready<Invoked> {
  if (tool.result === null) return { kind: 'value', value: wrap(value), schema: tool.output?.json }
  return chainReady(tool.result.check(value), (checked) => {
    if (checked.ok) return { kind: 'value', value: wrap(checked.value), schema: tool.output?.json } satisfies Invoked
    return makeFailure(
      'output_validation_failed',
      `Tool '${tool.name}' returned an invalid result at ${checked.path}: ${checked.reason}`,
      {
        path: checked.path,
        reason: checked.reason,
        actual: makeExcerpt(value),
      },
    )
  })
}

function makeFailure(code: string, message: string, details: Plain): Invoked {
  return { kind: 'failed', error: { code, message, details } }
}

/** What a standard response calls the work: the argument of that name, else the last part of the tool's name. */
function readOperation(tool: Tool, args: unknown): string {
  const given = (args as { readonly operation?: unknown } | null)?.operation
  return typeof given === 'string' ? given : tool.name.slice(tool.name.lastIndexOf('.') + 1)
}

/** Turns what the tool throws into an outcome: a value for the failures that its format reports, an error for the others. */
function guardWork(tool: Tool, args: unknown, work: () => Ready<Invoked>): Ready<Invoked> {
  const fail = (cause: unknown): Invoked => {
    const error =
      cause instanceof NotDataError
        ? { code: 'execution_failed', message: `Tool '${tool.name}' returned what is not data: ${cause.message}` }
        : toToolErrorData(cause)
    if (tool.response === 'direct' || isThrownAlways(error.code)) return { kind: 'failed', error }
    const value: StandardResponse = makeFailureResponse(readOperation(tool, args), error)
    return { kind: 'value', value, schema: tool.output?.json }
  }
  try {
    const outcome = work()
    return outcome instanceof Promise ? outcome.catch(fail) : outcome
  } catch (cause) {
    return fail(cause)
  }
}

function makeNested(call: Invocation, find: FindTool, depth: number): (performed: (effect: string) => void) => ToolCalls {
  return (performed) => new NestedCalls(call, find, depth, performed)
}

/** Calls that a tool makes: numbered within their attempt, under the signal of the outer call. */
class NestedCalls implements ToolCalls {
  private readonly outer: Invocation
  private readonly find: FindTool
  private readonly depth: number
  private readonly performed: (effect: string) => void
  private made = 0

  constructor(outer: Invocation, find: FindTool, depth: number, performed: (effect: string) => void) {
    this.outer = outer
    this.find = find
    this.depth = depth
    this.performed = performed
  }

  readonly call = async (
    name: string,
    args: { readonly [key: string]: unknown } = {},
    signal: AbortSignal | null = null,
  ): Promise<unknown> => {
    const { outer, depth } = this
    const number = ++this.made
    if (depth >= MAX_NESTING)
      throw new ToolError('tool_recursion_limit', `tools call each other more than ${MAX_NESTING} levels deep`)
    const tool = this.find(name)
    if (tool === null) throw new ToolError('not_registered', `Tool '${name}' not found`)
    // What a tool calls is its own doing, so it must have declared the effects of that too.
    for (const effect of listDeclaredEffects(tool) ?? ['external']) this.performed(effect)
    const id = `${outer.callId}/${number}`
    const gate = outer.nested ?? null
    const admitted = gate === null ? null : admit(gate, { tool, id, args })
    const { before = 'none' } = admitted ?? {}
    if (typeof before === 'object') {
      if (before.ok) return before.value
      throw ToolError.of(before)
    }
    const inner: Invocation = {
      runId: outer.runId,
      callId: id,
      attempt: 1,
      maxAttempts: 1,
      idempotencyKey: `${outer.idempotencyKey}/${number}`,
      progress: outer.progress,
      client: outer.client ?? null,
      nested: gate,
      signal: signal ?? outer.signal,
    }
    const given = admitted?.args ?? args
    // Made only if a process that continues the run would know of it.
    if (admitted?.kept !== undefined) await admitted.kept
    const make = (): Ready<Invoked> => limitOutcome(invoke(tool, given, inner, this.find, null, depth + 1), tool, signal)
    const outcome = await (before === 'begun' ? makeAgain(tool, given, inner, make) : make())
    if (outcome.kind === 'value') outcome.happen?.()
    admitted?.settle(toNestedOutcome(outcome))
    return getValue(outcome)
  }

  async race(
    calls: readonly { readonly tool: string; readonly args?: { readonly [key: string]: unknown } }[],
    { losers = 'cancel' }: { readonly losers?: 'cancel' | 'run' } = {},
  ): Promise<{ readonly index: number; readonly value: unknown }> {
    if (calls.length === 0) throw new ToolError('invalid_args', 'a race needs a call')
    const abort = new AbortController()
    const ignore = listenForAbort(this.outer.signal, () => abort.abort(this.outer.signal.reason))
    const made = calls.map(async ({ tool, args }, index) => ({ index, value: await this.call(tool, args, abort.signal) }))
    for (const each of made) each.catch(() => {})
    try {
      return await Promise.race(made)
    } finally {
      ignore()
      if (losers === 'cancel') abort.abort(new Error('another call of the race has ended'))
    }
  }

  async batch(
    calls: readonly { readonly tool: string; readonly args?: { readonly [key: string]: unknown } }[],
  ): Promise<readonly unknown[]> {
    return Promise.all(calls.map(({ tool, args }) => this.call(tool, args)))
  }
}

/** Through the gate of the run (tools/dispatch/nested-calls.ts); throws ToolError for a call that it refuses. */
function admit(
  gate: NestedGate,
  { tool, id, args }: { readonly tool: Tool; readonly id: string; readonly args: { readonly [key: string]: unknown } },
): {
  readonly args: { readonly [key: string]: unknown }
  readonly before: CallBefore
  readonly kept?: Promise<void>
  readonly settle: (outcome: NestedOutcome) => void
} {
  const given = plainFromHost(args)
  const admitted = gate.admit({ id, tool: tool.name, args: given })
  if (admitted === null) throw new ToolError('cancelled', `Tool '${tool.name}' was called for a call that nobody waits for`)
  if (!admitted.ok) throw ToolError.of(admitted)
  const { args: pinned, ...rest } = admitted
  return { ...rest, args: pinned === given ? args : (pinned as { readonly [key: string]: unknown }) }
}

/** A call with a recorded start and unknown outcome: handled by the tool's `recovery`. */
async function makeAgain(
  tool: Tool,
  args: { readonly [key: string]: unknown },
  call: Invocation,
  make: () => Ready<Invoked>,
): Promise<Invoked> {
  const { recovery } = tool
  if (isRepeatable(recovery)) return make()
  const makeUnknown = (why: string): Invoked => ({
    kind: 'failed',
    error: { code: 'unknown_outcome', message: `the outcome of ${tool.name} is unknown: ${why}` },
  })
  if (typeof recovery !== 'object') return makeUnknown('its process ended after the call was begun')
  try {
    const found = await recovery.verify(call.idempotencyKey, args)
    if (typeof found === 'object' && found !== null && 'done' in found)
      return { kind: 'value', value: found.done, schema: undefined }
    return found === 'not_done' ? await make() : makeUnknown('the tool cannot tell')
  } catch (cause) {
    return makeUnknown(describeCause(cause))
  }
}

/** For the journal, which keeps data only. */
function toNestedOutcome(outcome: Invoked): NestedOutcome {
  if (outcome.kind === 'failed') {
    const { code, message, details = null } = outcome.error
    return { ok: false, code, message, ...(details === null ? {} : { details }), denied: false }
  }
  if (outcome.kind === 'pending') return { ok: true }
  try {
    return { ok: true, value: plainFromHost(outcome.value, outcome.schema) }
  } catch {
    return { ok: true }
  }
}

/** The value of an outcome; throws ToolError for a failure. */
export function getValue(outcome: Invoked): unknown {
  switch (outcome.kind) {
    case 'value':
      return outcome.value
    case 'failed':
      throw ToolError.of(outcome.error)
    case 'pending':
      throw new ToolError('execution_failed', 'the result comes later, and only a run can wait for it')
  }
}

/** The outcome, or a failure when the tool's own time is over or the signal aborts first. */
export async function limitOutcome(
  outcome: Ready<Invoked>,
  tool: Tool,
  /** null where the call ends with another one that watches its signal. */
  signal: AbortSignal | null,
  timeoutMs = tool.timeoutMs,
): Promise<Invoked> {
  if (!(outcome instanceof Promise)) return outcome
  let timer: ReturnType<typeof setTimeout> | undefined
  let ignore = (): void => {}
  const interrupted = new Promise<Invoked>((resolve) => {
    ignore = listenForAbort(signal, () =>
      resolve({ kind: 'failed', error: { code: 'cancelled', message: `Tool '${tool.name}' was cancelled` } }),
    )
    if (timeoutMs === null) return
    const error = {
      code: 'timeout',
      message: `timeout: elapsed ${timeoutMs}ms, limit ${timeoutMs}ms`,
      details: { limit_ms: timeoutMs },
    }
    timer = setTimeout(() => resolve({ kind: 'failed', error }), clampTimer(timeoutMs))
  })
  try {
    return await Promise.race([interrupted, outcome])
  } finally {
    clearTimeout(timer)
    ignore()
  }
}

/** Continues synchronously if the value is available. (A module must not export a `then`: it would be taken for a promise.) */
export function chainReady<T, U>(value: Ready<T> | PromiseLike<T>, use: (value: T) => Ready<U>): Ready<U> {
  return value instanceof Promise ? value.then(use) : isThenable<T>(value) ? Promise.resolve(value).then(use) : use(value as T)
}

function isThenable<T>(value: unknown): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** What an async generator function gives; data never looks like it. */
export function isStream(value: unknown): value is AsyncIterator<unknown, unknown> & AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}

const EXCERPT = 4096

/** For JSON.stringify: no more of lists and texts than `most` characters show. */
function makeCutter(most: number): (key: string, value: unknown) => unknown {
  let shown = 0
  return (_key, value) => {
    if (++shown > most) return null
    if (typeof value === 'string') return value.length > most ? value.slice(0, most) : value
    return Array.isArray(value) && value.length > most ? value.slice(0, most) : value
  }
}

/** What came back instead, short enough for an error. */
function makeExcerpt(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value, makeCutter(EXCERPT)) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text
}
