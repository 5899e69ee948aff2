// The compiled tier as a machine sees it: when to compile, how to enter from the base tier, and how activations that leave become
// frames again (docs/decisions/0007). The base tier is always correct and always available. Whatever compiled code cannot do it hands over,
// at an instruction that has had no effect yet, with the same slots, the same fuel and the same heap units.
//
// Compiled activations have no frame on the coroutine. When they leave, each pushes what its frame would hold (`Machine.leaving`,
// inner ones first), and `settle` makes the frames. A fault that passes through them needs no frames at all.

import { compileAnyElements, compileBeginning, compileElements, compileFunction, compileLoop, compilePart } from './compile.js'
import { Site } from './site.js'
import { forget, giveUp, NEVER } from './state.js'
import { fits } from './entry-types.js'
import { carryOut, popNative } from '../interpreter/activations.js'
import { LINKED, NATIVE_RETURN, NATIVE_STEP } from '../interpreter/linked.js'
import { MAX_NESTED_CALLS, NativeActivation } from '../scheduler/task.js'
import { convertLeavingRun } from '../interpreter/fault.js'
import { raiseFault } from '../interpreter/unwind.js'
import type { ElementLoop, Enter, EnteredUnit, Profit } from './state.js'
import type { LoopState } from '../builtins/builtin.js'
import type { FrameDef, Result } from '../builtins/builtin.js'
import type { Leaving } from './site.js'
import type { Fault } from '../interpreter/fault.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Instr } from '../interpreter/linked.js'
import type { HarnList } from '../values/list.js'
import type { FunctionCode, LinkedProgram } from '../interpreter/module.js'
import { HarnClosure } from '../values/callable.js'
import { CONTROL } from '../builtins/builtin.js'
import { LEFT } from '../values/handles.js'
import type { HarnGenerator } from '../values/handles.js'
import type { Value } from '../values/value.js'
import type { CompiledTier, Machine, TierOptions } from '../interpreter/machine.js'

/** Low, because even a first run in a fresh process is faster compiled once loops take a few hundred iterations. */
export const DEFAULT_TIER: TierOptions = { calls: 200, turns: 300 }

/** Activations of compiled code on the JavaScript stack above one entry from the base tier; beyond that they become frames. */
const MAX_NESTED = 150

/** Generators that pull one another on the JavaScript stack; the base tier pulls further ones. */
const MAX_PULLING = 4

/**
 * A unit is abandoned if after this many exits it did less than PAYING units of work between them; the builtin for which it leaves
 * has usually charged about forty itself.
 */
const TRIAL_EXITS = 64
const PAYING_WORK = 56

/** Below this fuel a native frame makes its steps itself: compiled code would leave at once. */
const LEAST_FUEL = 16

/** Loops by native frame, for functions that have no loop of their own. */
const anyLoops = new WeakMap<FrameDef, ElementLoop>()

export class Tier implements CompiledTier {
  readonly calls: number
  readonly turns: number
  private readonly m: Machine
  /** Generators that are running in compiled code. */
  private pulling = 0
  /** The fault that stopped the current generator. */
  private fault: Fault | null = null
  /** Whether the fault that left compiled code also left a run, and its line suffix was added. */
  private hasLeftRun = false
  /** Entries from the base tier, which prove that compiled code ran. */
  entered = 0

  constructor(m: Machine, { calls, turns }: TierOptions) {
    this.m = m
    this.calls = calls
    this.turns = turns
  }

  /** Compiles a function whose arguments are at `from`; null if it stays in the base tier. */
  compile(closure: HarnClosure, regs: readonly Value[], from: number): Enter | null {
    const { code } = closure
    compileFunction(this.m, closure, (slot) => (slot < code.paramCount ? regs[from + slot] : undefined))
    return code.enter
  }

  /** Runs a compiled function for the call at the current instruction of `co`; its arguments are at `from`. Undefined: see `settle`. */
  call(co: Coroutine, enter: Enter, callee: HarnClosure, from: number): Value | undefined {
    const { m } = this
    const depth = co.fp + 1
    this.begin(co, depth)
    const fuel = m.fuel
    if ((co.instr.moves & 1) === 1) m.wants = depth
    const value = enter(m, callee, depth, co.regs, from)
    if (value === undefined && m.leaving.length > 0) {
      this.judge(callee.code, callee.code.compiled.profit, fuel, () => giveUp(callee.code))
      co.returns[depth] = co.instr
      this.layOut(co, depth, from)
    }
    return value
  }

  /** As call, for a function that is a separate run: a method of a struct. KEEP WITH: writeStructCall of calls.ts. */
  callRun(co: Coroutine, enter: Enter, callee: HarnClosure, from: number): Value | undefined {
    const { m } = this
    const depth = co.fp + 1
    this.begin(co, depth)
    m.deepest = Math.min(m.floor, depth + MAX_NESTED_CALLS - 1)
    const { fuel } = m
    if ((co.instr.moves & 1) === 1) m.wants = depth
    const value = enter(m, callee, depth, co.regs, from)
    if (value !== undefined) return value
    if (m.leaving.length === 0) {
      m.raised = convertLeavingRun(m.raised!)
      this.hasLeftRun = true
      return undefined
    }
    this.judge(callee.code, callee.code.compiled.profit, fuel, () => giveUp(callee.code))
    co.returns[depth] = co.instr
    co.fp = depth
    co.openRun()
    this.layOut(co, depth, from)
    return undefined
  }

  /** As call, for a callee that replaces the top frame: the arguments are at its base. */
  callTail(co: Coroutine, enter: Enter, callee: HarnClosure): Value | undefined {
    const { m } = this
    this.begin(co, co.fp)
    if ((co.returns[co.fp]!.moves & 1) === 1) m.wants = co.fp
    const value = enter(m, callee, co.fp, co.regs, co.base)
    if (value !== undefined) return value
    if (m.leaving.length > 0) this.layOut(co, co.fp, co.base)
    else {
      // The trace already contains this frame; the fault continues from there.
      co.frames[co.fp] = m.raisedIn!
      co.instr = m.raisedAt!.instr
      m.passing = false
    }
    return value
  }

  /**
   * Runs an iteration of a hot loop: `co` is at the loop's start. Undefined: after `settle`, the base tier continues at the
   * current instruction of `co`. A value is what the function returned.
   */
  runLoop(co: Coroutine, loop: Instr, closure: HarnClosure): Value | undefined {
    const { m } = this
    const unit = (loop.cache as EnteredUnit | null) ?? compileLoop(m, closure, loop, co)
    if (unit === null || !this.canEnter(unit, closure.code, co)) return undefined
    this.begin(co, co.fp)
    if ((co.returns[co.fp]!.moves & 1) === 1) m.wants = co.fp
    const fuel = m.fuel
    const value = unit.enter(m, closure, co.fp, co.regs, co.base)
    if (value === undefined && m.leaving.length > 0) {
      this.judge(closure.code, unit.profit, fuel, () => {
        loop.cache = null
        loop.kind = NEVER
      })
      this.layOut(co, co.fp, co.base)
    }
    return value
  }

  /**
   * Runs the native frame that a builtin just requested, called at `depth`, if it calls a function for every element. Returns
   * the builtin's value, undefined as calls do, or CONTROL, with nothing done, when the base tier has to run it.
   */
  elements(depth: number): Result | undefined {
    const { m } = this
    const action = m.context.action!
    if (action.kind !== 'frame') return CONTROL
    const state = action.state as LoopState
    const { fn } = state
    if (!(fn instanceof HarnClosure) || depth + 2 >= m.floor || depth >= m.limits.frames) return CONTROL
    const { compiled } = fn.code
    let loop = compiled.lastLoop
    if (compiled.lastFrame !== action.frame || loop === null) {
      const def = m.registry.frames.get(action.frame)
      if (def?.loop === undefined || def.output === 'drop' || fn.code.jitCount !== (def.loop.count ?? 1)) return CONTROL
      loop = this.getElementLoop(fn, def, state.list.length)
    }
    m.context.action = null
    const top = m.deepest
    m.deepest = Math.min(m.floor, depth + 1 + MAX_NESTED_CALLS)
    const value = loop(m, fn, depth + 2, state.list, state, -1, null, state.acc)
    m.deepest = top
    return value
  }

  /**
   * Continues the native frame on top of `co`, whose step was charged, if it calls a function for every element. Returns whether the
   * task can continue; null, with nothing done, when the frame has to make its step itself.
   */
  stepElements(task: Task, activation: NativeActivation): boolean | null {
    const { m } = this
    const { def } = activation
    const state = activation.state as LoopState
    const { fn, list, at } = state
    if (!(fn instanceof HarnClosure) || fn.code.enter === null || fn.code.jitCount !== (def.loop!.count ?? 1)) return null
    // Too little fuel to start, or it has ended and waits for something else.
    if (m.fuel < LEAST_FUEL || at >= list.length) return null
    const co = task.current
    co.instr = NATIVE_RETURN
    m.fuel++
    this.begin(co, co.fp + 1)
    const { fuel } = m
    const value = this.getElementLoop(fn, def, list.length - at)(m, fn, co.fp + 1, list, state, at, co.regs[co.base]!, state.acc)
    if (value !== undefined) {
      popNative(m, task)
      m.give(co, value)
      return true
    }
    const left = m.leaving.pop()
    if (left?.site === null) {
      co.regs[co.base] = left.result
      if (m.leaving.length > 0) {
        this.judge(fn.code, fn.code.compiled.profit, fuel, () => giveUp(fn.code))
        co.returns[co.fp + 1] = NATIVE_RETURN
        this.layOut(co, co.fp + 1, co.base + 1)
      } else co.instr = NATIVE_STEP
    } else if (left !== undefined) throw new Error('a native frame that left is not there')
    return this.settle(task)
  }

  /** The loop of a native frame over `count` elements: for any function, or for this one when it is hot. */
  private getElementLoop(fn: HarnClosure, def: FrameDef, count: number): ElementLoop {
    const { code } = fn
    const { compiled } = code
    compiled.elements += count
    if (compiled.elements > this.calls) {
      const known = compiled.loops.get(def.kind)
      const own = known ?? compileElements(this.m, fn, def)
      if (own !== null) {
        if (known === undefined) compiled.loops.set(def.kind, own)
        if (def.output === 'keep' && code.jitCount === (def.loop!.count ?? 1)) {
          compiled.lastFrame = def.kind
          compiled.lastLoop = own
        }
        return own
      }
    }
    let loop = anyLoops.get(def)
    if (loop === undefined) {
      loop = compileAnyElements(this.m, def)
      anyLoops.set(def, loop)
    }
    return loop
  }

  /** Whether the top frame of `co` holds the values that the unit's guards require. */
  private canEnter({ expects }: EnteredUnit, code: FunctionCode, co: Coroutine): boolean {
    // Not for-of: this runs for every item of a generator.
    for (let at = 0; at < expects.length; at++) {
      const { slot, type, reals } = expects[at]!
      const value = co.regs[co.base + slot]
      if (fits(type, value)) {
        if (reals) this.unbox(value as HarnList)
        continue
      }
      code.compiled.entryGuesses = false
      forget(code)
      return false
    }
    return true
  }

  /**
   * Gets the next item of a generator, END after the last, if its code up to the next yield is compiled. LEFT: it stopped on
   * the way, its stack is the task's current one, and `settle` must follow. Undefined: the base tier must do it, nothing happened.
   */
  pull(task: Task, generator: HarnGenerator): Value | undefined {
    const { m } = this
    const own = generator.coroutine
    if (own === null || own.resumer !== null || own === task.current || own.fp !== 0 || this.pulling >= MAX_PULLING)
      return undefined
    const closure = own.frames[0] as HarnClosure
    const { code } = closure
    const unit = this.findPartAt(own, closure)
    if (unit === null) return undefined
    if (own.paused) {
      // When resumed, the yield itself evaluates to nil.
      m.give(own, null)
      own.paused = false
    }
    if (!this.canEnter(unit, code, own)) return undefined
    const { floor, deepest, tails, passing } = m
    own.resumer = task.current
    task.current = own
    this.begin(own, 0)
    this.pulling++
    const { fuel } = m
    const item = unit.enter(m, closure, 0, own.regs, own.base)
    this.pulling--
    m.floor = floor
    m.deepest = deepest
    m.tails = tails
    if (item === undefined) {
      this.judge(code, unit.profit, fuel, () => {
        if (code.compiled.beginning === unit) code.compiled.begun = NEVER
        for (const instr of code.compiled.entered) if (instr.cache === unit) instr.kind = NEVER
        forget(code)
      })
      this.layOut(own, 0, own.base)
      // The consumer leaves too, but not because of the fault; a generator among the consumers learns nothing from it.
      if (m.raised !== null) {
        this.fault = m.raised
        m.raised = null
      }
      return LEFT
    }
    m.passing = passing
    task.current = own.resumer
    own.resumer = null
    if (m.yieldedAt === null) {
      generator.done = true
      generator.coroutine = null
    } else {
      own.instr = m.yieldedAt.instr
      own.paused = true
    }
    return item
  }

  /** The unit for a generator that is at a yield or at its beginning; null for any other, or until it is hot. */
  private findPartAt(own: Coroutine, closure: HarnClosure): EnteredUnit | null {
    const { code } = closure
    const { compiled } = code
    const { instr, regs, base } = own
    if (!own.paused) {
      if (instr !== code.entry) return null
      if (compiled.beginning !== null || ++compiled.begun <= this.calls) return compiled.beginning
      compiled.beginning = compileBeginning(this.m, closure, instr, own)
      if (compiled.beginning === null) compiled.begun = NEVER
      return compiled.beginning
    }
    if (instr.cache !== null) return instr.cache as EnteredUnit
    // Before a loop around the yield becomes hot.
    if (instr.op !== LINKED.YIELD || ++instr.kind <= this.turns >> 1) return null
    regs[base + instr.a] = null
    return compilePart(this.m, closure, instr, instr.next, own)
  }

  /**
   * The loop reads floats of this list. Converting it to doubles here, and not on the way, keeps the other representation out of V8's
   * type feedback for the loop. The budget bounds the cost of loops that are entered often and of a list that is converted back each time.
   */
  private unbox(list: HarnList): void {
    const { m } = this
    if (list.raw !== null) return
    m.unboxing = Math.min(m.unboxing + 1024, 1 << 24)
    if (m.unboxing < list.length) return
    m.unboxing -= list.length
    list.unbox()
  }

  /** After compiled code returned undefined: raises the fault or carries out what a builtin requested. Returns whether the task can continue. */
  settle(task: Task): boolean {
    const { m } = this
    const fault = m.raised ?? this.fault
    this.fault = null
    if (fault !== null) {
      m.raised = null
      const { passing } = m
      const { hasLeftRun } = this
      m.passing = true
      this.hasLeftRun = false
      return raiseFault(m, task, fault, passing, passing && !hasLeftRun && m.raisedIn?.code.module.isHidden !== true)
    }
    return m.context.action === null || carryOut(m, task)
  }

  /** A call from compiled code to a function that is not compiled. */
  callFirst(closure: HarnClosure, depth: number, args: readonly Value[]): Value | undefined {
    const { code } = closure
    if (compileFunction(this.m, closure, (slot) => args[slot])) return code.jit(this.m, closure, depth, ...args)
    return this.leaveAtEntry(closure, args)
  }

  /** The base tier runs the function from its first instruction. */
  leaveAtEntry(closure: HarnClosure, args: readonly Value[]): undefined {
    const { code } = closure
    const slots = Array.from({ length: args.length }, (_, at) => at)
    this.m.leaving.push({ site: new Site(code, code.entry, slots), closure, values: args })
  }

  private begin(co: Coroutine, depth: number): void {
    const { m } = this
    this.entered++
    m.floor = depth + MAX_NESTED
    m.deepest = Math.min(m.floor, co.limit - 1)
    m.tails = 0
    m.wants = -1
    m.passing = true
  }

  private judge({ compiled: { all } }: FunctionCode, profit: Profit, fuelBefore: number, drop: () => void): void {
    const { m } = this
    const work = Math.max(0, fuelBefore - m.fuel)
    profit.work += work
    all.work += work
    // The end of a slice is no evidence against the code.
    if (m.fuel <= 0) return
    profit.leaves++
    all.leaves++
    if (profit.leaves < TRIAL_EXITS) return
    if (!pays(profit) && !this.ownHere()) drop()
    profit.leaves = profit.work = 0
  }

  /**
   * Whether this exit may have happened to make lists owned. Once in each run it has to; if that is most of what the code
   * does, its next version copies lists itself.
   */
  private ownHere(): boolean {
    let found = false
    for (const { site } of this.m.leaving) {
      if (site === null || site.code.compiled.leavesToOwn !== 'yes') continue
      found = true
      const { compiled } = site.code
      if (pays(compiled.all)) {
        compiled.all.leaves = Math.floor(compiled.all.leaves / 2)
        compiled.all.work = Math.floor(compiled.all.work / 2)
        continue
      }
      compiled.leavesToOwn = 'no'
      forget(site.code)
    }
    return found
  }

  /** Makes frames of the activations that left: the outermost becomes frame `depth` with its registers at `from`. */
  private layOut(co: Coroutine, depth: number, from: number): void {
    const { leaving } = this.m
    let fp = depth
    let base = from
    for (let at = leaving.length - 1; at >= 0; at--) {
      const one = leaving[at]!
      if (one.site === null) {
        this.layOutNative(co, one, fp, base)
        if (at === 0) break
        fp++
        co.returns[fp] = NATIVE_RETURN
        base++
        continue
      }
      const { site, closure, values } = one
      const { instr, slots } = site
      co.reserve(base + closure.code.frameSize + 16)
      co.frames[fp] = closure
      co.bases[fp] = base
      for (let which = 0; which < slots.length; which++) co.regs[base + slots[which]!] = values[which]!
      co.stand(fp, base, instr)
      if (at === 0) break
      fp++
      co.returns[fp] = instr
      if (leaving[at - 1]!.site === null) {
        base += closure.code.frameSize
        continue
      }
      base += instr.op === LINKED.CALL_METHOD || instr.op === LINKED.PIPE ? instr.b : instr.d
      if (instr.op === LINKED.CALL_METHOD) {
        co.fp = fp
        co.openRun()
      }
    }
    leaving.length = 0
  }

  /** KEEP WITH: pushNative. */
  private layOutNative(co: Coroutine, one: Extract<Leaving, { site: null }>, fp: number, base: number): void {
    const def = this.m.registry.frames.get(one.frame)!
    co.reserve(base + 8)
    co.frames[fp] = new NativeActivation(def, one.state, co.limit)
    co.bases[fp] = base
    co.regs[base] = one.result
    co.limit = fp + 1 + MAX_NESTED_CALLS
    co.stand(fp, base, NATIVE_STEP)
  }
}

function pays({ leaves, work }: Profit): boolean {
  return work >= leaves * PAYING_WORK && leaves > 0
}

/** A bug inside the compiler for any function of a program, null if there was none. */
export function findCompilerFault({ modules }: LinkedProgram): unknown {
  for (const module of modules.values()) {
    for (const { compiled } of module.functions) if (compiled.broken !== null) return compiled.broken
  }
  return null
}
