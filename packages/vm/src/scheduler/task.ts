// A task is one line of execution; a coroutine is one stack. A task runs the coroutine on top of a chain: a generator that is
// pulled runs on its own stack on behalf of the task that pulls it, and knows its consumer.
//
// All of it is plain data: registers hold values, frames name functions by FunctionCode and positions by linked instruction,
// which the snapshot writes as (module, function index, code position).

import { FewMap } from '../few-map.js'
import { HarnClosure } from '../values/callable.js'
import { NATIVE_STEP, TASK_END } from '../interpreter/linked.js'
import type { FrameDef, FrameState } from '../builtins/builtin.js'
import type { Fault } from '../interpreter/fault.js'
import type { Instr } from '../interpreter/linked.js'
import type { HarnGenerator } from '../values/handles.js'
import type { Code, Value } from '../values/types.js'

declare module '../values/types.js' {
  interface Stack extends Coroutine {}
}

/** A native frame on a stack: a builtin that calls back or waits (builtins/builtin.ts). */
export class NativeActivation {
  readonly def: FrameDef
  readonly state: FrameState
  /** Recursion bound of the run that called it, restored when it leaves. */
  savedLimit: number
  timedOut = false
  constructor(def: FrameDef, state: FrameState, savedLimit: number) {
    this.def = def
    this.state = state
    this.savedLimit = savedLimit
  }
}

/** Frames of one run that may nest before a stack overflow of the language. */
export const MAX_NESTED_CALLS = 512

const FIRST_REGISTERS = 16

/** Heap units of an empty stack: registers and frame lists have spare capacity from the start. */
export const COROUTINE_UNITS = 1024

/** Waiting scripts are usually only a few calls deep. An array that starts empty gets room for seventeen with its first element. */
const NO_FRAME = null as never

export class Coroutine {
  regs: Value[]
  /** By frame: the function or native frame, the instruction of the caller that takes the result, and the frame's first register. */
  readonly frames: (HarnClosure | NativeActivation)[] = [NO_FRAME, NO_FRAME, NO_FRAME, NO_FRAME]
  readonly returns: Instr[] = [TASK_END, TASK_END, TASK_END, TASK_END]
  readonly bases: number[] = [0, 0, 0, 0]
  /** Top frame, -1 when there is none. */
  fp = -1
  base = 0
  /** Where to continue: the instruction to run, or with `delivering` the one whose result is being waited for. */
  instr: Instr = TASK_END
  /** Frames above this index overflow. */
  limit = MAX_NESTED_CALLS
  /**
   * The innermost frame that is a separate run without a native frame below it (a struct's method), -1 without one; and, for
   * each such frame, the `run` and `limit` to restore.
   */
  run = -1
  readonly outerRuns: number[] = []
  readonly generator: HarnGenerator | null
  /** The current consumer of this generator. */
  resumer: Coroutine | null = null
  /** Stopped at a yield whose value was taken; the next pull continues after it. */
  paused = false

  constructor(generator: HarnGenerator | null) {
    this.generator = generator
    this.regs = new Array<Value>(FIRST_REGISTERS).fill(null)
  }

  /** Sets up the bottom frame; register 0 takes its result. */
  begin(
    closure: HarnClosure,
    args: readonly Value[],
    place: (code: Code, regs: Value[], base: number, argc: number) => void,
  ): void {
    this.reserve(1 + closure.code.frameSize + args.length)
    for (let at = 0; at < args.length; at++) this.regs[1 + at] = args[at]!
    place(closure.code, this.regs, 1, args.length)
    this.fp = 0
    this.frames[0] = closure
    this.returns[0] = TASK_END
    this.bases[0] = 1
    this.base = 1
    this.instr = closure.code.entry
  }

  /** Stores what the loop keeps in locals. Small on purpose: V8 inlines it. */
  stand(fp: number, base: number, instr: Instr): void {
    this.fp = fp
    this.base = base
    this.instr = instr
  }

  /** Makes the top frame a separate run: a fresh recursion bound, and the line suffix for faults that leave it. */
  openRun(): void {
    this.outerRuns.push(this.run, this.limit)
    this.run = this.fp
    this.limit = this.fp + MAX_NESTED_CALLS
  }

  /** Called before the frame `run` is left for any reason. */
  closeRun(): void {
    this.limit = this.outerRuns.pop()!
    this.run = this.outerRuns.pop()!
  }

  reserve(top: number): void {
    while (this.regs.length < top) this.regs.push(null)
  }

  /** First register above the top frame. */
  get top(): number {
    if (this.fp < 0) return 1
    const frame = this.frames[this.fp]!
    return this.bases[this.fp]! + (frame instanceof HarnClosure ? frame.code.frameSize : 1)
  }

  /** Clears values above the top frame, so that neither memory nor snapshots keep them. */
  trim(): void {
    const { top } = this
    for (let at = top; at < this.regs.length; at++) this.regs[at] = null
  }

  get isNative(): boolean {
    return this.instr === NATIVE_STEP
  }
}

export type TaskStatus = 'ready' | 'waiting' | 'done' | 'failed' | 'cancelled'

export interface Deadline {
  readonly dueMs: number
  /** Where it was entered: a fault that leaves this coroutine frame ends it. */
  readonly coroutine: Coroutine
  readonly fp: number
  fired: boolean
}

/** What a waiting task receives when it runs again. */
export type Delivery =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'fault'; readonly fault: Fault }
  /** Run the native step again, after a wake or a timeout. */
  | { readonly kind: 'again'; readonly timedOut: boolean }

export class Task {
  /** 0 is the root task; spawned ones count from 1. */
  readonly id: number
  readonly parent: number
  current: Coroutine
  status: TaskStatus = 'ready'
  /** Output that was written and not yet passed on, in pieces. */
  output: string[] = []
  /** Above 0 while a native frame drops the output of its callbacks. */
  muted = 0
  result: Value = null
  fault: Fault | null = null
  deadlines: Deadline[] = []
  delivery: Delivery | null = null
  /** While waiting: the park key, the time of its timeout, and its position in the order of waiting. */
  waitKey: string | null = null
  waitDue: number | null = null
  waitOrder = 0
  /** While waiting for an effect: its id, 0 otherwise. */
  effectId = 0
  /** Set by cancel_graceful: what it may still run, and when a wait ends, before it is stopped. */
  cancelRequested = false
  cancelFuel = 0
  cancelDue: number | null = null
  /** The id that scripts see. */
  readonly name: string
  readonly taskId: string
  readonly group: string | null
  values = new FewMap<string, Value>()
  fields = new FewMap<string, Value>()
  /** Counters for the ids of children. */
  spawned = 0
  groups = 0
  readonly parentTaskId: string | null
  readonly rootTaskId: string

  constructor(
    id: number,
    parent: Task | null,
    coroutine: Coroutine,
    identity: { readonly taskId: string; readonly name: string; readonly group: string | null },
  ) {
    this.id = id
    this.parent = parent === null ? -1 : parent.id
    this.parentTaskId = parent === null ? null : parent.taskId
    this.rootTaskId = parent === null ? identity.taskId : parent.rootTaskId
    this.current = coroutine
    this.name = identity.name
    this.taskId = identity.taskId
    this.group = identity.group
  }
}
