// How tasks change state: they wait, are woken, receive what they waited for, are interrupted by timers, and end. The machine
// decides when; only the order of its queue decides which task runs next.

import { makeChildrenKey, family, makeTaskKey } from '../builtins/builtin.js'
import { END } from '../values/handles.js'
import { makeAdapterClosure } from '../interpreter/adapter.js'
import { CANCELLED_TEXT, makeThrown } from '../interpreter/fault.js'
import { placeArguments } from '../interpreter/frames.js'
import { NATIVE_STEP } from '../interpreter/linked.js'
import { makeDelivery, measureOutcome } from '../effects/outcome.js'
import { traceEffect } from './trace.js'
import { Coroutine, NativeActivation } from './task.js'
import { listDueEvents } from './timers.js'
import type { EffectOutcome } from '../effects/effect.js'
import type { Fault } from '../interpreter/fault.js'
import type { Answer } from '../interpreter/exit.js'
import type { Machine } from '../interpreter/machine.js'
import type { Value } from '../values/value.js'
import type { Task } from './task.js'

/** What a task may still use after its cancellation was requested: fuel, and milliseconds inside a wait. */
const CANCEL_GRACE_FUEL = 1024
const CANCEL_GRACE_MS = 250
/** The same for waits that check the flag themselves. */
const HEEDING_GRACE_MS = 10

export function makeCancelledFault(): Fault {
  return makeThrown(CANCELLED_TEXT)
}

export function makeReady(m: Machine, task: Task, delivery: Task['delivery']): void {
  m.waits.leave(task)
  task.delivery = delivery
  task.status = 'ready'
  task.waitKey = null
  task.waitDue = null
  task.cancelDue = null
  m.queue.push(task)
}

/** Fuel for leaving a task: tasks that do little and wait again may never reach a fuel point of their own. */
const UNITS_A_SWITCH = 8

export function wait(m: Machine, task: Task): void {
  m.charge(UNITS_A_SWITCH)
  task.status = 'waiting'
  task.waitOrder = m.nextOrder++
  if (task.cancelRequested) task.cancelDue = m.now + findGrace(task)
  m.waits.enter(task)
  task.current.trim()
}

function findGrace(task: Task): number {
  const co = task.current
  // A builtin may wait through another one's frame.
  for (let fp = co.fp; fp >= 0; fp--) {
    const frame = co.frames[fp]
    if (!(frame instanceof NativeActivation)) break
    if (frame.def.heedsCancel === true) return HEEDING_GRACE_MS
  }
  return CANCEL_GRACE_MS
}

export function wake(m: Machine, key: string): void {
  for (const task of m.waits.on(key)) makeReady(m, task, { kind: 'again', timedOut: false })
}

/** Delivers the outcome of an effect to the task that waits for it; false when none does any more. */
export function deliverAnswer(m: Machine, answer: Answer): boolean {
  const asked = m.pending.get(answer.id)
  const task = m.tasks.get(asked?.task ?? -1)
  m.pending.delete(answer.id)
  if (task?.status !== 'waiting' || task.effectId !== answer.id) return false
  task.effectId = 0
  if (m.isTraced && asked !== undefined) traceEffect(m, task, answer.id, asked.effect, answer.outcome)
  // No task can be stopped here: the next heap check counts it.
  m.heapCharged += measureOutcome(answer.outcome, Infinity)
  makeReady(m, task, makeDelivery(answer.outcome))
  return true
}

/** Delivers to a task what it waited for; false when that ended or blocked it again. */
export function deliver(m: Machine, task: Task): boolean {
  const { delivery } = task
  task.delivery = null
  if (delivery === null) return true
  const co = task.current
  if (delivery.kind === 'fault') return m.raise(task, delivery.fault)
  if (delivery.kind === 'again') {
    const frame = co.frames[co.fp]
    if (frame instanceof NativeActivation) frame.timedOut = delivery.timedOut
    co.instr = NATIVE_STEP
    return true
  }
  m.give(co, delivery.value)
  return true
}

/** Fires what is due by the machine's clock. */
export function fireTimers(m: Machine): void {
  for (const { task, wasWaiting, kind, deadline } of listDueEvents(m.waits, m.ready, m.now)) {
    if (wasWaiting && task.status !== 'waiting') continue
    if (deadline !== null) deadline.fired = true
    if (kind === 'timeout') makeReady(m, task, { kind: 'again', timedOut: true })
    else interrupt(m, task, kind === 'deadline' ? makeThrown('Deadline exceeded') : makeCancelledFault())
  }
}

/** Raises a fault at the current position of a task, ending its wait. */
function interrupt(m: Machine, task: Task, fault: Fault): void {
  if (task.status === 'waiting') {
    forgetEffect(m, task)
    makeReady(m, task, { kind: 'fault', fault })
  } else task.delivery = { kind: 'fault', fault }
}

const GIVEN_UP: EffectOutcome = {
  ok: false,
  error: { kind: 'categorized', category: 'cancelled', message: 'nobody waits for it any more' },
}

/** A later outcome for the effect of an interrupted task is ignored. */
export function forgetEffect(m: Machine, task: Task): void {
  const asked = m.pending.get(task.effectId)
  if (m.isTraced && asked !== undefined) traceEffect(m, task, task.effectId, asked.effect, GIVEN_UP)
  m.pending.delete(task.effectId)
  task.effectId = 0
}

/** At the end of the bottom function of a coroutine. Returns whether the task can continue. */
export function endCoroutine(m: Machine, task: Task, value: Value): boolean {
  const co = task.current
  if (co.generator !== null && co.resumer !== null) {
    co.generator.done = true
    co.generator.coroutine = null
    task.current = co.resumer
    co.resumer = null
    m.give(task.current, END)
    return true
  }
  if (task.id === 0 && beginEpilogue(m, task)) return true
  task.status = 'done'
  task.result = value
  noteTaskEnd(m, task)
  return false
}

/** Kept in a family's state, so that a restored run does not start its epilogue twice. */
const epilogueState = family('machine.epilogue', () => ({ begun: false }))

function beginEpilogue(m: Machine, root: Task): boolean {
  const { epilogue } = m.options
  const state = m.state(epilogueState)
  if (epilogue === undefined || state.begun) return false
  state.begun = true
  root.current = new Coroutine(null)
  root.current.begin(makeAdapterClosure(m, epilogue, [], []), [], placeArguments)
  return true
}

export function failTask(m: Machine, task: Task, fault: Fault): void {
  task.status = 'failed'
  task.fault = fault
  noteTaskEnd(m, task)
}

export function endTaskSpan(m: Machine, task: Task, failure: string | null): void {
  const { spans } = m.options
  if (spans === undefined || task.id === 0) return
  spans({
    at: 'end',
    work: 'task',
    id: `task_${task.id}`,
    task: task.id,
    ms: m.now,
    ...(failure === null ? {} : { failure }),
  })
}

function noteTaskEnd(m: Machine, task: Task): void {
  if (task.id !== 0) m.charge(UNITS_A_SWITCH)
  endTaskSpan(m, task, task.fault === null ? null : 'execution_failed')
  task.deadlines = []
  task.current = new Coroutine(null)
  wake(m, makeTaskKey(task.id))
  wake(m, makeChildrenKey(task.parent))
}

export function requestCancel(m: Machine, id: number): void {
  const task = m.tasks.get(id)
  if (task === undefined || (task.status !== 'ready' && task.status !== 'waiting')) return
  task.cancelRequested = true
  task.cancelFuel = CANCEL_GRACE_FUEL
  if (task.status === 'waiting') task.cancelDue = m.now + findGrace(task)
}
