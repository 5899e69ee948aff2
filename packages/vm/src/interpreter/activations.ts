// Native frames and generators on the stacks: entering and leaving them, and carrying out what a builtin or a step requested
// through its context. Each function works on the coroutine that is at the instruction in question. Those that return a
// boolean return whether the task can continue.

import { CONTROL } from '../builtins/builtin.js'
import { makeIterFrame, takeNextSimple } from '../builtins/iter.js'
import { MAX_NESTED_CALLS, NativeActivation } from '../scheduler/task.js'
import { wait } from '../scheduler/transitions.js'
import { HarnClosure } from '../values/callable.js'
import { END, HarnIter, LEFT } from '../values/handles.js'
import { callFrom } from './calls.js'
import { makeRuntimeFault } from './fault.js'
import { getLibraryEntry } from './library.js'
import { NATIVE_RETURN, NATIVE_STEP } from './linked.js'
import type { FrameState, LibraryCall, Result } from '../builtins/builtin.js'
import type { Task } from '../scheduler/task.js'
import type { HarnGenerator } from '../values/handles.js'
import type { Value } from '../values/value.js'
import type { Machine } from './machine.js'

/** NEXT on an iterator that the loop does not handle. */
export function advanceIter(m: Machine, task: Task, iter: HarnIter): boolean {
  const item = takeNextSimple(iter)
  if (item !== undefined) {
    m.give(task.current, item)
    return true
  }
  // Without a frame between them: this is the common use of a generator.
  return pullFrom(m, task, iter.op === 'generator' ? (iter.state[0] as HarnGenerator) : iter)
}

/** Requests the next item of a source; it is delivered to the current instruction of `co`. */
function pullFrom(m: Machine, task: Task, source: HarnIter | HarnGenerator): boolean {
  if (source instanceof HarnIter) return pushNative(m, task, 'iter.next', makeIterFrame(source) as unknown as FrameState)
  const own = source.coroutine
  if (source.done || own === null) {
    m.give(task.current, END)
    return true
  }
  if (m.tier !== null) {
    const item = m.tier.pull(task, source)
    if (item === LEFT) return m.tier.settle(task)
    if (item !== undefined) {
      m.give(task.current, item)
      return true
    }
  }
  if (own.resumer !== null || own === task.current) return m.raise(task, makeRuntimeFault('generator is already running'))
  own.resumer = task.current
  task.current = own
  if (own.paused) {
    own.paused = false
    // When resumed, the yield itself evaluates to nil.
    m.give(own, null)
  }
  return true
}

/** `yield`: passes the value to the consumer; does nothing in a generator that is called as a plain function. */
export function yieldValue(m: Machine, task: Task, value: Value): boolean {
  const co = task.current
  const pulled = co.generator !== null && co.fp === 0 ? co.resumer : null
  if (pulled === null) {
    m.give(co, null)
    return true
  }
  co.resumer = null
  co.paused = true
  co.trim()
  task.current = pulled
  m.give(pulled, value)
  return true
}

export function pushNative(m: Machine, task: Task, kind: string, state: FrameState): boolean {
  const def = m.registry.frames.get(kind)
  if (def === undefined) throw new Error(`no native frame ${kind}`)
  const co = task.current
  if (co.fp >= m.limits.frames) return m.hitLimit('frames', `too many frames: the limit is ${m.limits.frames}`)
  const base = co.top
  co.reserve(base + 8)
  const activation = new NativeActivation(def, state, co.limit)
  co.fp++
  co.frames[co.fp] = activation
  co.returns[co.fp] = co.instr
  co.bases[co.fp] = base
  co.base = base
  co.regs[base] = null
  co.instr = NATIVE_STEP
  // The native frame itself is not counted.
  if (def.runBoundary) co.limit = co.fp + 1 + MAX_NESTED_CALLS
  if (def.output === 'drop') task.muted++
  return true
}

/** Leaves the top native frame, for any reason. */
export function popNative(m: Machine, task: Task): NativeActivation {
  const co = task.current
  const activation = co.frames[co.fp] as NativeActivation
  if (activation.def.onLeave !== undefined) activation.def.onLeave(m.context, activation.state as never)
  co.limit = activation.savedLimit
  if (activation.def.output === 'drop') task.muted--
  co.instr = co.returns[co.fp]!
  co.frames[co.fp] = null as never
  co.fp--
  co.base = co.fp < 0 ? 0 : co.bases[co.fp]!
  return activation
}

export function stepNative(m: Machine, task: Task, activation: NativeActivation): boolean {
  const co = task.current
  m.context.result = co.regs[co.base]!
  m.context.timedOut = activation.timedOut
  activation.timedOut = false
  m.context.argc = 0
  m.spent = 0
  if (m.tier !== null && activation.def.loop !== undefined) {
    const goesOn = m.tier.stepElements(task, activation)
    if (goesOn !== null) return goesOn
  }
  return settleStep(m, task, activation.def.step(m.context, activation.state as never))
}

export function settleStep(m: Machine, task: Task, result: Result): boolean {
  if (result === CONTROL) return carryOut(m, task)
  popNative(m, task)
  m.give(task.current, result as Value)
  return true
}

/** Continues as a function of an internal module; its result is that of the builtin at the coroutine's current instruction. */
function enterLibrary(m: Machine, task: Task, body: LibraryCall, args: readonly Value[]): boolean {
  const { module, function: name, output } = body
  const known = m.entries.get(body)
  if (known !== undefined) return enterAt(m, task, known, args)
  // Running the module's own code first, or dropping the output of a call, needs a frame around it.
  if (output === 'drop' || !m.isStarted(module))
    return pushNative(m, task, output === 'drop' ? 'library.muted' : 'library.start', {
      module,
      function: name,
      args: [...args],
      stage: 'begin',
    })
  const { callee } = getLibraryEntry(m, module, name)
  m.entries.set(body, callee)
  return enterAt(m, task, callee, args)
}

function enterAt(m: Machine, task: Task, callee: HarnClosure, args: readonly Value[]): boolean {
  const co = task.current
  const from = co.top
  co.reserve(from + args.length + 1)
  for (let at = 0; at < args.length; at++) co.regs[from + at] = args[at]!
  return m.enter(task, callee, from, args.length, true)
}

/** Carries out what a builtin or step requested through its context. Returns whether the task can continue. */
export function carryOut(m: Machine, task: Task): boolean {
  const action = m.context.action
  m.context.action = null
  if (action === null) throw new Error('a builtin returned CONTROL without saying what for')
  const co = task.current
  switch (action.kind) {
    case 'fault':
      // A step's own fault leaves its frame; `onFault` handles faults of its calls.
      if (co.instr === NATIVE_STEP) popNative(m, task)
      return m.raise(task, action.fault)
    case 'refused':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      return m.raise(task, action.fault)
    case 'frame':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      return pushNative(m, task, action.frame, action.state)
    case 'answered':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      m.give(co, action.value)
      return true
    case 'again':
      return true
    case 'effect':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      task.effectId = action.id
      wait(m, task)
      return false
    case 'park':
      task.waitKey = action.key
      task.waitDue = action.due
      wait(m, task)
      return false
    case 'pull':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      return pullFrom(m, task, action.source)
    case 'library':
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      return enterLibrary(m, task, action.body, action.args)
    case 'call': {
      if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
      const { callee, callArgs: args } = m.context
      const from = co.base + 1
      co.reserve(from + args.length + 1)
      for (let at = 0; at < args.length; at++) co.regs[from + at] = args[at]!
      // A generator that a builtin calls runs as a plain function.
      if (callee instanceof HarnClosure) return m.enter(task, callee, from, args.length, false)
      return callFrom(m, task, callee, from, args.length, null, false)
    }
  }
}
