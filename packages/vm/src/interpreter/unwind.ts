// How a fault unwinds the stacks: frames are left from the inside out until a handler takes it. Nothing is thrown in
// JavaScript. Leaving a run (a native frame that called back, a generator, a task) adds the suffix ` (line N)` to the message.

import { HarnClosure } from '../values/callable.js'
import { NativeActivation } from '../scheduler/task.js'
import { failTask } from '../scheduler/transitions.js'
import { popNative, settleStep } from './activations.js'
import { NATIVE_STEP } from './linked.js'
import { convertLeavingRun } from './fault.js'
import type { Machine } from './machine.js'
import type { Task } from '../scheduler/task.js'
import type { Fault } from './fault.js'
import type { FunctionCode, HandlerEntry } from './module.js'
import type { Value } from '../values/value.js'

/**
 * Raises `fault` at the current instruction of the task's coroutine, or with `passing` continues with one that already left the
 * callee of that instruction; `inRunNow`: the callee ran code of scripts. Returns whether the task can continue.
 */
export function raiseFault(machine: Machine, task: Task, raised: Fault, passing = false, inRunNow = passing): boolean {
  let fault = raised
  // Whether a script frame of the run being left was passed: a fault of the calling builtin itself leaves no run.
  let inRun = inRunNow
  // The trace of a rethrown fault already contains the frame that raises it again.
  let known = fault.isTraced && !passing && !fault.isForeign
  for (;;) {
    const co = task.current
    const { frames } = co
    // Mirrors of the coroutine, written back before anything may read it: a fault passes many frames, each in a few steps.
    let { fp, instr } = co
    while (fp >= 0) {
      const frame = frames[fp]!
      if (frame instanceof HarnClosure) {
        const { code } = frame
        const { pc } = instr
        // Traces omit internal modules, and a fault that occurs only within one leaves no run of the script.
        if (!code.module.isHidden) inRun = true
        if (!known) fault.note(code, pc)
        known = false
        const handler = code.handlers.length === 0 ? null : findHandlerAt(code, pc)
        if (handler !== null) {
          const base = co.bases[fp]!
          co.regs[base + handler.slot] = fault as unknown as Value
          co.stand(fp, base, (handler.entry ??= code.findBlockAt(handler.target)!))
          return true
        }
        if (fp === co.run) {
          if (inRun) fault = convertLeavingRun(fault)
          inRun = false
          co.closeRun()
        }
        instr = co.returns[fp]!
        fp--
      } else if (frame instanceof NativeActivation) {
        co.stand(fp, co.bases[fp]!, instr)
        if (frame.def.runBoundary) {
          if (inRun) fault = convertLeavingRun(fault)
          inRun = false
        }
        if (frame.def.onFault !== undefined) {
          co.instr = NATIVE_STEP
          machine.context.result = null
          const result = frame.def.onFault(machine.context, frame.state as never, fault)
          return settleStep(machine, task, result)
        }
        popNative(machine, task)
        ;({ fp, instr } = co)
      } else fp--
    }
    co.stand(-1, 0, instr)
    if (inRun) fault = convertLeavingRun(fault)
    inRun = false
    if (co.generator !== null || task.id !== 0) fault.leaveTask()
    if (co.generator !== null && co.resumer !== null) {
      co.generator.done = true
      co.generator.coroutine = null
      task.current = co.resumer
      co.resumer = null
      continue
    }
    failTask(machine, task, fault)
    return false
  }
}

function findHandlerAt(code: FunctionCode, pc: number): HandlerEntry | null {
  for (const handler of code.handlers) if (pc >= handler.start && pc < handler.end) return handler
  return null
}
