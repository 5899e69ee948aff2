// Tasks as scripts use them: spawn, await, cancel, the parallel forms and select. The scheduler starts
// and ends tasks (scheduler/); here are the frames that wait for them.

import { builtin, makeChildrenKey, family, frame, makeTaskKey } from './builtin.js'
import { toMillis } from './time-amounts.js'
import { HarnClosure } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { END, HarnChannel, HarnTask } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnDuration, HarnEnum, err, ok } from '../values/scalars.js'
import { isCallable, isInt, typeName } from '../values/value.js'
import { ANY_CHANNEL, takeFrom } from './channels.js'
import type { Context, Control, Result, TaskOutcome } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { HarnBuiltin } from '../values/callable.js'
import { beginSpan, endSpan, tracingState } from './spans.js'
import type { Value } from '../values/value.js'

const DEFAULT_SELECT_MS = 5000
const DEFAULT_CANCEL_MS = 5000

// ---- await and cancel

const awaitFrame = frame<{ id: number }>({
  kind: 'task.await',
  runBoundary: false,
  step: (ctx, { id }) => {
    const outcome = ctx.machine.taskOutcome(id)
    switch (outcome.kind) {
      case 'running':
        return ctx.park(makeTaskKey(id), null)
      case 'aborted':
        return null
      case 'failed':
        ctx.machine.forgetTask(id)
        return ctx.fail(outcome.fault)
      case 'done':
        ctx.machine.forgetTask(id)
        ctx.write(outcome.output)
        return outcome.value
    }
  },
})

const cancelFrame = frame<{ id: number; timeoutMs: number; dueMs: number | null }>({
  kind: 'task.cancel',
  runBoundary: false,
  step: (ctx, state) => {
    const outcome = ctx.machine.taskOutcome(state.id)
    if (state.dueMs === null) {
      if (outcome.kind !== 'running') return ok(null)
      state.dueMs = ctx.now + state.timeoutMs
      ctx.machine.requestCancel(state.id)
      return ctx.park(makeTaskKey(state.id), state.dueMs)
    }
    switch (outcome.kind) {
      case 'running':
        if (ctx.now < state.dueMs) return ctx.park(makeTaskKey(state.id), state.dueMs)
        ctx.machine.abortTask(state.id)
        return err('cancel_graceful: timeout, task forcefully aborted')
      case 'aborted':
        return ok(null)
      case 'failed':
        ctx.machine.forgetTask(state.id)
        return err(outcome.fault.text)
      case 'done':
        ctx.machine.forgetTask(state.id)
        ctx.write(outcome.output)
        return ok(outcome.value)
    }
  },
})

// ---- parallel

type Mode = 'count' | 'each' | 'settle' | 'stream'

const GROUP_NAMES: Readonly<Record<Mode, readonly [group: string, name: string]>> = {
  count: ['parallel', 'parallel'],
  each: ['parallel_each', 'parallel each'],
  settle: ['parallel_settle', 'parallel settle'],
  stream: ['parallel_each_stream', 'parallel each as stream'],
}

interface Batch {
  readonly [key: string]: unknown
  readonly mode: Mode
  readonly closure: HarnClosure
  /** The arguments of the children; null where each gets its index. */
  readonly items: readonly Value[] | null
  readonly count: number
  /** Children in flight at most; Infinity without a limit. */
  readonly limit: number
  readonly group: string
  /** Task number by index, for those started. */
  readonly ids: number[]
  /** Outcomes of started tasks by index; null while running. */
  readonly outcomes: (TaskOutcome | null)[]
  /** Indices in the order in which they ended. */
  readonly ended: number[]
  /** Children in flight at the last check, and whether more are about to be started. */
  running: number
  isStarting: boolean
}

function startBatch(ctx: Context, mode: Mode, subject: readonly Value[] | number, closure: HarnClosure, limit: number): Batch {
  const [word] = GROUP_NAMES[mode]
  const group = `${ctx.machine.task().taskId}:${word}:${ctx.machine.nextGroup()}`
  const items = typeof subject === 'number' ? null : subject
  const count = typeof subject === 'number' ? subject : subject.length
  ctx.charge(count, 64 * count)
  return { mode, closure, items, count, limit, group, ids: [], outcomes: [], ended: [], running: 0, isStarting: false }
}

/** Children that are started between two chances to end the slice. */
const STARTED_AT_ONCE = 256

/** Records children that ended and starts others. Returns what to do next: continue, wait, or finish. */
function tend(ctx: Context, batch: Batch): 'more' | 'wait' | 'done' {
  let left = STARTED_AT_ONCE
  if (!batch.isStarting) {
    batch.running = 0
    batch.ids.forEach((id, at) => {
      if (batch.outcomes[at] !== null) return
      const outcome = ctx.machine.taskOutcome(id)
      if (outcome.kind === 'running') batch.running++
      else {
        batch.outcomes[at] = outcome
        batch.ended.push(at)
        ctx.machine.forgetTask(id)
      }
    })
    ctx.charge(batch.ids.length >> 3)
  }
  // While children are being started no other task runs, so none of them ends.
  batch.isStarting = false
  while (batch.ids.length < batch.count && batch.running < batch.limit && !ctx.machine.isStopping) {
    if (left-- === 0) {
      batch.isStarting = true
      return 'more'
    }
    const index = batch.ids.length
    batch.outcomes.push(null)
    batch.ids.push(
      ctx.machine.spawn(batch.closure, [batch.items === null ? index : batch.items[index]!], {
        name: GROUP_NAMES[batch.mode][1],
        taskId: `${batch.group}:${index}`,
        group: batch.group,
      }),
    )
    batch.running++
  }
  return batch.running > 0 ? 'wait' : 'done'
}

function readLimit(ctx: Context, value: Value): number | Control {
  if (value === null) return Infinity
  if (!isInt(value)) return ctx.type(`parallel max_concurrent must be an int; got ${typeName(value)}`)
  return value > 0 ? Number(value) : Infinity
}

const parallelFrame = frame<{ batch: Batch; span: number | null }>({
  kind: 'task.parallel',
  runBoundary: false,
  step: (ctx, { batch }) => {
    const next = tend(ctx, batch)
    if (next === 'more') return ctx.again()
    if (next === 'wait') return ctx.park(makeChildrenKey(ctx.machine.taskNumber), null)
    return batch.mode === 'settle' ? settleResults(ctx, batch) : collectResults(ctx, batch)
  },
  onLeave: (ctx, { batch, span }) => {
    abandon(ctx, batch)
    endSpan(ctx.state(tracingState), span, ctx.now)
  },
})

function abandon(ctx: Context, batch: Batch): void {
  batch.ids.forEach((id, at) => {
    if (batch.outcomes[at] === null) ctx.machine.abortTask(id)
  })
}

function collectResults(ctx: Context, batch: Batch): Result {
  const values: Value[] = []
  for (const outcome of batch.outcomes) {
    if (outcome?.kind === 'failed') return ctx.fail(outcome.fault)
    if (outcome?.kind === 'done') {
      ctx.write(outcome.output)
      values.push(outcome.value)
    } else values.push(null)
  }
  return new HarnList(values)
}

/** A child's output is kept whether it succeeded or failed. */
function settleResults(ctx: Context, batch: Batch): Result {
  const results: Value[] = []
  let succeeded = 0
  for (const outcome of batch.outcomes) {
    if (outcome?.kind === 'done' || outcome?.kind === 'failed') ctx.write(outcome.output)
    if (outcome?.kind === 'done') {
      succeeded++
      results.push(ok(outcome.value))
    } else results.push(err(outcome?.kind === 'failed' ? outcome.fault.text : 'cancelled'))
  }
  return HarnDict.of({ results: new HarnList(results), succeeded, failed: results.length - succeeded })
}

// Streams of parallel children, by number: a builtin that is given the number advances the stream.
const streamState = family<{ count: number; readonly batches: Map<number, Batch> }>('parallel-streams', () => ({
  count: 0,
  batches: new Map(),
}))

const nextFrame = frame<{ id: number }>({
  kind: 'task.parallel-next',
  runBoundary: false,
  step: (ctx, { id }) => {
    const { batches } = ctx.state(streamState)
    const batch = batches.get(id)
    if (batch === undefined) return END
    const next = tend(ctx, batch)
    if (next === 'more') return ctx.again()
    const at = batch.ended.shift()
    if (at === undefined) {
      if (next === 'wait') return ctx.park(makeChildrenKey(ctx.machine.taskNumber), null)
      batches.delete(id)
      return END
    }
    const outcome = batch.outcomes[at]!
    if (outcome.kind === 'done') return outcome.value
    abandon(ctx, batch)
    batches.delete(id)
    return outcome.kind === 'failed' ? ctx.fail(outcome.fault) : END
  },
})

// ---- race

interface RaceState {
  [key: string]: unknown
  batch: Batch
  failures: string[]
}

const raceFrame = frame<RaceState>({
  kind: 'task.race',
  runBoundary: false,
  step: (ctx, state) => {
    const { batch } = state
    for (;;) {
      const next = tend(ctx, batch)
      if (next === 'more') return ctx.again()
      const at = batch.ended.shift()
      if (at === undefined) {
        if (next === 'wait') return ctx.park(makeChildrenKey(ctx.machine.taskNumber), null)
        return ctx.runtime(`parallel_race: all ${batch.count} task(s) failed: ${state.failures.join('; ')}`)
      }
      const outcome = batch.outcomes[at]!
      if (outcome.kind !== 'done') {
        state.failures.push(outcome.kind === 'failed' ? outcome.fault.text : 'cancelled')
        continue
      }
      const { value } = outcome
      if (!(value instanceof HarnEnum) || value.enumName !== 'Result') return value
      if (value.variant === 'Ok') return value.fields[0] ?? null
      state.failures.push(display(value.fields[0] ?? null))
    }
  },
  onLeave: (ctx, { batch }) => abandon(ctx, batch),
})

function readCap(value: Value): Value {
  return value instanceof HarnDict ? (value.get('max_concurrent') ?? null) : value
}

// ---- select statement

interface SelectState {
  [key: string]: unknown
  channels: HarnList
  dueMs: number | null
  hasDefault: boolean
  hasTimeout: boolean
}

const selectFrame = frame<SelectState>({
  kind: 'task.select',
  runBoundary: false,
  step: (ctx, state) => {
    let open = 0
    for (let at = 0; at < state.channels.length; at++) {
      const channel = state.channels.items[at]!
      // A value that is not a channel is never ready.
      if (!(channel instanceof HarnChannel)) continue
      const value = takeFrom(ctx, channel)
      if (value !== undefined) return new HarnList([at, value])
      if (!channel.closed) open++
    }
    const fallback = state.hasDefault || state.hasTimeout
    if (state.hasDefault || (open === 0 && !state.hasTimeout)) return new HarnList([fallback ? -1 : -2, null])
    if (open === 0 || (state.dueMs !== null && ctx.now >= state.dueMs)) return new HarnList([-1, null])
    return ctx.park(ANY_CHANNEL, state.dueMs)
  },
})

export const tasksFamily: BuiltinFamily = {
  name: 'tasks',
  builtins: [
    builtin(
      '__spawn(body: closure) -> task_handle',
      { doc: 'Starts `body` as a task.', effects: ['task'] },
      (ctx, body = null) => {
        if (!isCallable(body)) return ctx.type(`spawn: expected a closure, got ${typeName(body)}`)
        // The span covers the start only, not the work of the task.
        const tracing = ctx.state(tracingState)
        endSpan(tracing, beginSpan(tracing, 'spawn', 'spawn', ctx.now), ctx.now)
        const id = ctx.machine.spawn(body, [])
        return new HarnTask(id, ctx.machine.task().spawned)
      },
    ),
    builtin(
      'await(task: task_handle) -> any',
      { doc: 'Waits for a task and gives its value or raises its error.', effects: ['task'] },
      (ctx, task = null) => (task instanceof HarnTask ? ctx.frame('task.await', { id: task.id }) : task),
    ),
    builtin('cancel(task: task_handle) -> nil', { doc: 'Ends a task at once.', effects: ['task'] }, (ctx, task = null) => {
      if (task instanceof HarnTask) ctx.machine.abortTask(task.id)
      return null
    }),
    builtin(
      'cancel_graceful(task: task_handle, timeout?: duration|int) -> Result as ?',
      { doc: 'Asks a task to end and waits for it.', effects: ['task'] },
      (ctx, task = null, timeout = null) => {
        if (!(task instanceof HarnTask)) return null
        return ctx.frame('task.cancel', { id: task.id, timeoutMs: toMillis(timeout) ?? DEFAULT_CANCEL_MS, dueMs: null })
      },
    ),
    builtin(
      'is_cancelled() -> bool as ?',
      { doc: 'Whether this task was asked to end.', effects: ['task'] },
      (ctx) => ctx.machine.task().cancelled,
    ),
    builtin(
      '__parallel(mode: string, subject: any, body: closure, max: int) -> any',
      { doc: 'Runs the parallel forms.', effects: ['task'] },
      (ctx, mode = null, subject = null, body = null, max = null) => {
        const kind = mode as Mode
        const limit = readLimit(ctx, max)
        if (typeof limit !== 'number') return limit
        // Scripts can call this by its name, too.
        if (typeof mode !== 'string' || !Object.hasOwn(GROUP_NAMES, mode))
          return ctx.type(`parallel: there is no mode ${display(mode)}`)
        if (!isCallable(body)) return ctx.type(`parallel: expected a closure, got ${typeName(body)}`)
        const closure = toClosure(ctx, body)
        if (kind === 'count') {
          const count = isInt(subject) ? Math.max(0, Number(subject)) : 0
          // Of the parallel forms, only this one has a span.
          const span = beginSpan(ctx.state(tracingState), 'parallel', 'parallel', ctx.now)
          return ctx.frame('task.parallel', { batch: startBatch(ctx, kind, count, closure, limit), span })
        }
        if (!(subject instanceof HarnList)) return null
        const batch = startBatch(ctx, kind, subject.copyItems(), closure, limit)
        if (kind !== 'stream') return ctx.frame('task.parallel', { batch, span: null })
        const state = ctx.state(streamState)
        state.batches.set(++state.count, batch)
        return ctx.machine.streamOver('__parallel_next', [state.count])
      },
    ),
    builtin(
      '__parallel_next(id: int) -> any',
      { doc: 'The next result of a parallel stream.', effects: ['task'] },
      (ctx, id = null) => ctx.frame('task.parallel-next', { id: Number(id) }),
    ),
    builtin(
      'parallel_race(items: list, body: closure, cap?: int|dict) -> any',
      { doc: 'The first success of calls run side by side; the others are ended.', effects: ['task'] },
      (ctx, items = null, body = null, cap = null) => {
        if (!(items instanceof HarnList)) return ctx.type(`parallel_race: first argument must be a list, got ${typeName(items)}`)
        if (items.length === 0) return ctx.runtime('parallel_race: expected at least one item')
        if (!isCallable(body)) return ctx.type(`parallel_race: second argument must be callable, got ${typeName(body)}`)
        const limit = readLimit(ctx, readCap(cap))
        if (typeof limit !== 'number') return limit
        return ctx.frame('task.race', {
          batch: startBatch(ctx, 'each', items.copyItems(), toClosure(ctx, body), limit),
          failures: [],
        })
      },
    ),
    builtin(
      '__select(channels: list, timeout: any, has_default: bool, has_timeout: bool) -> list',
      { doc: 'Waits for the select statement.', effects: ['task'] },
      (ctx, channels = null, timeout = null, hasDefault = null, hasTimeout = null) => {
        const ms = timeout instanceof HarnDuration ? Number(timeout.ms) : isInt(timeout) ? Number(timeout) : DEFAULT_SELECT_MS
        if (!(channels instanceof HarnList)) return ctx.type(`select: expected a list of channels, got ${typeName(channels)}`)
        return ctx.frame('task.select', {
          channels,
          dueMs: hasTimeout === true ? ctx.now + ms : null,
          hasDefault: hasDefault === true,
          hasTimeout: hasTimeout === true,
        })
      },
    ),
  ],
  frames: [awaitFrame, cancelFrame, parallelFrame, nextFrame, raceFrame, selectFrame],
}

function toClosure(ctx: Context, body: HarnClosure | HarnBuiltin): HarnClosure {
  return body instanceof HarnClosure ? body : (ctx.machine.closureOver(body.name, [], ['item']) as HarnClosure)
}
