// Supervisors: named groups of child tasks that are started again by policy. Each start of a child is a task of its
// own that runs the native frame `supervisor.child`; one watcher task per supervisor reacts to exits and starts what is due.
// All of a supervisor is plain family state, so a snapshot in the middle of a backoff continues where it was.
//
// Children and the watcher never talk directly: a child that ends writes its exit into the state and wakes the supervisor's key.

import {
  builtinTaking,
  HarnBuiltin,
  HarnDict,
  HarnList,
  builtin,
  display,
  family,
  frame,
  isCallable,
  parseMillis,
  readTimeoutMs,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Control, FrameState, Result, Value } from '@bridle/vm/families'
import { isExhausted, readRestart, restartDelay } from './supervisor-policy.js'
import type { RestartPolicy } from './supervisor-policy.js'

type ChildStatus = 'running' | 'waiting' | 'stopped' | 'failed' | 'suppressed' | 'circuit_open'
type Status = 'running' | 'completed' | 'draining' | 'stopped' | 'escalated'
type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one' | 'escalate_to_parent'

interface Child {
  readonly name: string
  readonly kind: string
  readonly task: Value
  readonly policy: RestartPolicy
  readonly activeLease: Value
  status: ChildStatus
  /** Starts so far: tells runs of the child apart. Scripts see `restartCount + 1` as the attempt. */
  runs: number
  restartCount: number
  lastError: string | null
  waitReason: string | null
  /** Machine time of the next start; null when none is scheduled. */
  nextStart: number | null
  /** Whether that start is reported as a restart. */
  isRestart: boolean
  /** Times of failures inside the window. */
  failures: number[]
  /** Machine id of the running task; null when none runs. */
  taskId: number | null
  /** How the running task ended, until the watcher has dealt with it. */
  exit: { readonly error: string | null; readonly taskId: number } | null
}

interface Supervisor {
  readonly id: string
  readonly name: string
  readonly strategy: Strategy
  readonly shutdownMs: number
  /** Task id, as scripts see it, of the task that started the supervisor; children are named below it. */
  readonly parentTask: string
  readonly children: Child[]
  status: Status
  readonly metrics: { started: number; stopped: number; failed: number; restarted: number; suppressed: number; escalated: number }
  readonly events: Value[]
}

const supervisorState = family<{ made: number; readonly supervisors: Map<string, Supervisor> }>('supervisors', () => ({
  made: 0,
  supervisors: new Map(),
}))

/** A child in one of these has not come to its end by itself. */
const UNFINISHED: readonly ChildStatus[] = ['running', 'waiting', 'circuit_open']

const STRATEGIES: readonly string[] = ['one_for_one', 'one_for_all', 'rest_for_one', 'escalate_to_parent']

const wakeKey = (id: string): string => `supervisor:${id}`

function record(ctx: Context, supervisor: Supervisor, child: Child | null, kind: string, message: string | null): void {
  supervisor.events.push(
    HarnDict.of({
      seq: supervisor.events.length,
      at_ms: Math.trunc(ctx.now),
      supervisor_id: supervisor.id,
      child: child?.name ?? null,
      kind,
      message,
    }),
  )
}

// --- start ----------------------------------------------------------------------------------------------------------------

function readChild(spec: Value, index: number, usualRestart: Value): Child | string {
  if (!(spec instanceof HarnDict)) return ' child: expected a dict'
  const dict = spec
  const name = display(dict.get('name') ?? `child_${index + 1}`)
  const task = dict.get('task') ?? null
  if (!isCallable(task)) return `: child '${name}' requires a task closure`
  const policy = readRestart(dict.get('restart') ?? usualRestart)
  if (typeof policy === 'string') return `: ${policy}`
  return {
    name,
    kind: display(dict.get('kind') ?? 'task'),
    task,
    policy,
    activeLease: dict.get('active_lease') ?? null,
    status: 'waiting',
    runs: 0,
    restartCount: 0,
    lastError: null,
    waitReason: null,
    nextStart: null,
    isRestart: false,
    failures: [],
    taskId: null,
    exit: null,
  }
}

function start(ctx: Context, dict: HarnDict): Result {
  const refuse = (message: string): Control => ctx.runtime(`supervisor_start: ${message}`)
  const state = ctx.state(supervisorState)
  const givenId = dict.get('id') ?? null
  if (givenId === null) state.made++
  const given = dict.get('children') ?? null
  if (!(given instanceof HarnList)) return refuse('children must be a list')
  if (given.length === 0) return refuse('children must include at least one child')
  const strategy = display(dict.get('strategy') ?? 'one_for_one')
  if (!STRATEGIES.includes(strategy)) return refuse(`unknown strategy '${strategy}'`)
  const children: Child[] = []
  for (const [index, item] of given.view().entries()) {
    const child = readChild(item, index, dict.get('restart') ?? null)
    if (typeof child === 'string') return ctx.runtime(`supervisor_start${child}`)
    children.push(child)
  }
  const id = givenId === null ? `supervisor_${state.made}` : display(givenId)
  if (state.supervisors.has(id)) return refuse(`supervisor '${id}' already exists`)
  const supervisor: Supervisor = {
    id,
    name: display(dict.get('name') ?? id),
    strategy: strategy as Strategy, // listed in STRATEGIES
    shutdownMs: parseMillis(dict.get('shutdown_ms') ?? dict.get('drain_ms')) ?? 5000,
    parentTask: ctx.machine.task().taskId,
    children,
    status: 'running',
    metrics: { started: 0, stopped: 0, failed: 0, restarted: 0, suppressed: 0, escalated: 0 },
    events: [],
  }
  state.supervisors.set(id, supervisor)
  record(ctx, supervisor, null, 'supervisor_started', null)
  for (const child of children) startChild(ctx, supervisor, child)
  ctx.machine.spawn(new HarnBuiltin('__supervisor_watch'), [id], {
    name: 'supervisor',
    taskId: `${supervisor.parentTask}:supervisor:${id}`,
    group: id,
  })
  return HarnDict.of({ _type: 'supervisor', id, name: supervisor.name })
}

function startChild(ctx: Context, supervisor: Supervisor, child: Child): void {
  child.runs++
  child.status = 'running'
  child.waitReason = null
  child.nextStart = null
  child.exit = null
  supervisor.metrics.started++
  record(ctx, supervisor, child, 'child_started', null)
  if (child.isRestart) record(ctx, supervisor, child, 'child_restart_started', null)
  child.isRestart = false
  child.taskId = ctx.machine.spawn(
    new HarnBuiltin('__supervisor_child'),
    [supervisor.id, supervisor.children.indexOf(child), child.runs],
    {
      name: `supervisor ${child.kind}`,
      taskId: `${supervisor.parentTask}:supervisor:${supervisor.id}:${child.name}`,
      group: supervisor.id,
    },
  )
}

// --- the child's task -----------------------------------------------------------------------------------------------------

interface ChildFrame extends FrameState {
  readonly supervisor: string
  readonly index: number
  readonly run: number
  started: boolean
}

/** The child that this frame is a run of; undefined when another run has taken its place. */
function findChild(ctx: Context, state: ChildFrame): Child | undefined {
  const child = ctx.state(supervisorState).supervisors.get(state.supervisor)?.children[state.index]
  return child?.runs === state.run ? child : undefined
}

function leaveChild(ctx: Context, state: ChildFrame, error: string | null): Value {
  const child = findChild(ctx, state)
  if (child !== undefined && child.taskId !== null) child.exit = { error, taskId: child.taskId }
  ctx.wake(wakeKey(state.supervisor))
  return null
}

const childFrame = frame<ChildFrame>({
  kind: 'supervisor.child',
  step: (ctx, state) => {
    if (state.started) return leaveChild(ctx, state, null)
    state.started = true
    const child = findChild(ctx, state)
    if (child === undefined) return null
    return ctx.call(child.task, [
      HarnDict.of({
        supervisor_id: state.supervisor,
        child_name: child.name,
        child_kind: child.kind,
        attempt: child.restartCount + 1,
        restart_count: child.restartCount,
      }),
    ])
  },
  onFault: (ctx, state, fault) => leaveChild(ctx, state, fault.text),
})

// --- the watcher ----------------------------------------------------------------------------------------------------------

interface WatchFrame extends FrameState {
  readonly supervisor: string
}

const watchFrame = frame<WatchFrame>({
  kind: 'supervisor.watch',
  step: (ctx, state) => {
    const supervisor = ctx.state(supervisorState).supervisors.get(state.supervisor)
    if (supervisor === undefined) return null
    for (const child of supervisor.children) settleExit(ctx, supervisor, child)
    if (supervisor.status !== 'running') {
      // Children that it started again are its own child tasks: it stays until they have ended.
      const anyRuns = supervisor.children.some((child) => child.taskId !== null)
      return anyRuns ? ctx.park(wakeKey(supervisor.id), null) : null
    }
    for (const child of supervisor.children) {
      if (child.nextStart !== null && child.nextStart <= ctx.now) startChild(ctx, supervisor, child)
    }
    const isOver = supervisor.children.every((child) => child.taskId === null && !UNFINISHED.includes(child.status))
    if (isOver) {
      supervisor.status = 'completed'
      record(ctx, supervisor, null, 'supervisor_completed', null)
      ctx.wake(wakeKey(supervisor.id))
      return null
    }
    const starts = supervisor.children.map((child) => child.nextStart).filter((at) => at !== null)
    return ctx.park(wakeKey(supervisor.id), starts.length === 0 ? null : Math.min(...starts))
  },
})

/** Deals with a child whose task has ended, if it has. */
function settleExit(ctx: Context, supervisor: Supervisor, child: Child): void {
  const { exit } = child
  if (exit === null) return
  child.exit = null
  child.taskId = null
  const outcome = ctx.machine.taskOutcome(exit.taskId)
  ctx.machine.forgetTask(exit.taskId)
  const output = outcome.kind === 'done' || outcome.kind === 'failed' ? outcome.output : ''
  if (output !== '') record(ctx, supervisor, child, 'child_output', output)
  // A child that throws after it was asked to end counts as failed, like any other.
  if (exit.error === null) {
    child.status = 'stopped'
    child.lastError = null
    supervisor.metrics.stopped++
    record(ctx, supervisor, child, 'child_stopped', null)
  } else {
    child.status = 'failed'
    child.lastError = exit.error
    supervisor.metrics.failed++
    record(ctx, supervisor, child, 'child_failed', exit.error)
    child.failures.push(ctx.now)
  }
  if (supervisor.status === 'draining' && supervisor.children.every((other) => other.taskId === null)) {
    record(ctx, supervisor, null, 'supervisor_stopped', 'drained')
  }
  if (supervisor.status !== 'running') return
  if (exit.error === null) {
    if (wantsRestart(child, false)) decideRestart(ctx, supervisor, child, false)
  } else if (supervisor.strategy === 'escalate_to_parent') escalate(ctx, supervisor, child)
  else restartWithSiblings(ctx, supervisor, child)
}

function wantsRestart(child: Child, failed: boolean): boolean {
  return child.policy.mode === 'always' || (child.policy.mode === 'on_failure' && failed)
}

/** First child, in declaration order, that a failure of `child` reaches besides itself; the number of children when none. */
function findFirstAffected(supervisor: Supervisor, child: Child): number {
  if (supervisor.strategy === 'one_for_all') return 0
  return supervisor.strategy === 'rest_for_one' ? supervisor.children.indexOf(child) + 1 : supervisor.children.length
}

/** Ends the siblings that the strategy names; then everyone concerned decides, in declaration order, whether to start again. */
function restartWithSiblings(ctx: Context, supervisor: Supervisor, child: Child): void {
  const from = findFirstAffected(supervisor, child)
  // A sibling whose own exit waits to be dealt with decides for itself.
  const siblings = supervisor.children.slice(from).filter((other) => other !== child && other.exit === null)
  for (const sibling of siblings) {
    abort(ctx, sibling)
    // A child that must not be restarted stays in this state until the supervisor is stopped.
    sibling.status = 'waiting'
    sibling.waitReason = 'propagation_restart'
    record(ctx, supervisor, sibling, 'child_stopped', 'propagation restart')
  }
  for (const each of supervisor.children) {
    const failed = each === child
    if ((failed || siblings.includes(each)) && wantsRestart(each, failed)) decideRestart(ctx, supervisor, each, failed)
  }
}

function decideRestart(ctx: Context, supervisor: Supervisor, child: Child, failed: boolean): void {
  const { policy } = child
  if (policy.windowMs > 0) child.failures = child.failures.filter((at) => ctx.now - at <= policy.windowMs)
  if (isExhausted(policy, failed, child.failures.length, child.restartCount)) {
    supervisor.metrics.suppressed++
    if (policy.circuitOpenMs === null) {
      child.status = 'suppressed'
      child.waitReason = 'restart_cap_exceeded'
      record(ctx, supervisor, child, 'child_suppressed', 'restart cap reached')
    } else {
      child.status = 'circuit_open'
      child.waitReason = 'circuit_open'
      child.restartCount = 0
      child.failures = []
      child.nextStart = ctx.now + policy.circuitOpenMs
      child.isRestart = true
      record(ctx, supervisor, child, 'child_suppressed', 'restart cap reached; circuit opened')
    }
    return
  }
  const delay = restartDelay(policy, child.restartCount, `${supervisor.id}:${child.name}`)
  child.restartCount++
  supervisor.metrics.restarted++
  child.status = 'waiting'
  child.waitReason = 'restart_backoff'
  child.nextStart = ctx.now + delay
  child.isRestart = true
  record(ctx, supervisor, child, 'child_restarted', `scheduled after ${delay}ms`)
}

function abort(ctx: Context, child: Child): void {
  if (child.taskId !== null) {
    ctx.machine.abortTask(child.taskId)
    ctx.machine.forgetTask(child.taskId)
  }
  child.taskId = null
  child.exit = null
  child.nextStart = null
  child.waitReason = null
}

function escalate(ctx: Context, supervisor: Supervisor, child: Child): void {
  supervisor.metrics.escalated++
  supervisor.status = 'escalated'
  for (const other of supervisor.children) {
    if (other === child || (other.taskId === null && other.nextStart === null)) continue
    abort(ctx, other)
    other.status = 'stopped'
  }
  child.status = 'stopped'
  record(ctx, supervisor, child, 'child_escalated', 'failure escalated to parent supervisor')
  ctx.wake(wakeKey(supervisor.id))
}

// --- stop -----------------------------------------------------------------------------------------------------------------

interface StopFrame extends FrameState {
  readonly supervisor: string
  readonly due: number
}

const stopFrame = frame<StopFrame>({
  kind: 'supervisor.stop',
  runBoundary: false,
  step: (ctx, state) => {
    const supervisor = ctx.state(supervisorState).supervisors.get(state.supervisor)!
    for (const child of supervisor.children) settleExit(ctx, supervisor, child)
    const running = supervisor.children.filter((child) => child.taskId !== null)
    if (running.length > 0 && ctx.now < state.due) return ctx.park(wakeKey(supervisor.id), state.due)
    const unfinished = supervisor.children.filter((child) => UNFINISHED.includes(child.status))
    for (const child of unfinished) {
      abort(ctx, child)
      child.status = 'stopped'
      record(ctx, supervisor, child, 'child_stopped', 'supervisor stop')
    }
    supervisor.status = 'stopped'
    record(ctx, supervisor, null, 'supervisor_stopped', unfinished.length === 0 ? 'drained' : 'forced')
    return describe(supervisor)
  },
})

function stop(ctx: Context, supervisor: Supervisor, timeout: Value): Result {
  if (supervisor.status === 'stopped') {
    record(ctx, supervisor, null, 'supervisor_stopped', 'drained')
    return describe(supervisor)
  }
  supervisor.status = 'draining'
  record(ctx, supervisor, null, 'supervisor_stopping', null)
  for (const child of supervisor.children) {
    child.nextStart = null
    if (child.taskId !== null && child.exit === null) ctx.machine.requestCancel(child.taskId)
  }
  ctx.wake(wakeKey(supervisor.id))
  const ms = readTimeoutMs(timeout, ['timeout_ms']) ?? parseMillis(timeout) ?? supervisor.shutdownMs
  return ctx.frame('supervisor.stop', { supervisor: supervisor.id, due: ctx.now + Math.max(0, ms) } satisfies StopFrame)
}

// --- state ----------------------------------------------------------------------------------------------------------------

function makeMetrics(supervisor: Supervisor): HarnDict {
  return HarnDict.of({ ...supervisor.metrics })
}

function describe(supervisor: Supervisor): HarnDict {
  const children = supervisor.children.map((child) =>
    HarnDict.of({
      name: child.name,
      kind: child.kind,
      status: child.status,
      restart_count: child.restartCount,
      last_error: child.lastError,
      current_wait_reason: child.waitReason,
      active_lease: child.activeLease,
      next_restart_time: child.nextStart === null ? null : Math.trunc(child.nextStart),
    }),
  )
  return HarnDict.of({
    _type: 'supervisor_state',
    id: supervisor.id,
    name: supervisor.name,
    status: supervisor.status,
    strategy: supervisor.strategy,
    metrics: makeMetrics(supervisor),
    children: new HarnList(children),
  })
}

/** The states of all supervisors, for runtime_context. */
export function listSupervisorStates(ctx: Context): HarnList {
  return new HarnList([...ctx.state(supervisorState).supervisors.values()].map(describe))
}

/** The id that a handle names; anything else names itself. */
function handleText(target: Value): Value {
  const id = target instanceof HarnDict ? (target.get('id') ?? null) : null
  return typeof id === 'string' ? id : target
}

/** An operation on a supervisor, named by its handle or its id. */
function onSupervisor(name: string, run: (ctx: Context, supervisor: Supervisor, second: Value) => Result) {
  return (ctx: Context, target: Value, second: Value = null): Result => {
    const id = display(handleText(target))
    if (id === '') return ctx.runtime(`${name}: supervisor id must not be empty`)
    const supervisor = ctx.state(supervisorState).supervisors.get(id)
    return supervisor === undefined ? ctx.runtime(`${name}: unknown supervisor '${id}'`) : run(ctx, supervisor, second)
  }
}

const SUPERVISOR = ['supervisor'] as const

const NEEDS_HANDLE = { raise: 'runtime', fewer: '{f}: supervisor handle or id is required' } as const

export const supervisorFamily: BuiltinFamily = {
  name: 'supervisor',
  builtins: [
    builtinTaking(
      'supervisor_start(spec: dict) -> dict',
      { doc: 'Starts children that are restarted by policy, and gives a handle.', effects: SUPERVISOR },
      { raise: 'runtime', fewer: '{f}: spec is required', not: '{f}: expected a dict' },
      start,
    ),
    builtinTaking(
      'supervisor_state(handle_or_id: dict|string) -> dict',
      { doc: 'Status, metrics and children.', effects: SUPERVISOR },
      NEEDS_HANDLE,
      onSupervisor('supervisor_state', (_ctx, supervisor) => describe(supervisor)),
    ),
    builtinTaking(
      'supervisor_metrics(handle_or_id: dict|string) -> dict',
      { doc: 'Counters.', effects: SUPERVISOR },
      NEEDS_HANDLE,
      onSupervisor('supervisor_metrics', (_ctx, supervisor) => makeMetrics(supervisor)),
    ),
    builtinTaking(
      'supervisor_events(handle_or_id: dict|string) -> list',
      { doc: 'What happened so far.', effects: SUPERVISOR },
      NEEDS_HANDLE,
      onSupervisor('supervisor_events', (_ctx, supervisor) => new HarnList([...supervisor.events])),
    ),
    builtinTaking(
      'supervisor_stop(handle_or_id: dict|string, timeout?: int|duration) -> dict',
      { doc: 'Asks children to end, then ends them; gives the state.', effects: SUPERVISOR },
      NEEDS_HANDLE,
      onSupervisor('supervisor_stop', stop),
    ),
    builtin('__supervisor_watch(id: string)', { doc: 'The watcher task of a supervisor.', effects: SUPERVISOR }, (ctx, id) =>
      ctx.frame('supervisor.watch', { supervisor: display(id!) } satisfies WatchFrame),
    ),
    builtin(
      '__supervisor_child(id: string, index: int, run: int)',
      { doc: 'One run of a supervised child.', effects: SUPERVISOR },
      (ctx, id, index, run) =>
        ctx.frame('supervisor.child', {
          supervisor: display(id!),
          index: Number(index),
          run: Number(run),
          started: false,
        } satisfies ChildFrame),
    ),
  ],
  frames: [childFrame, watchFrame, stopFrame],
}
