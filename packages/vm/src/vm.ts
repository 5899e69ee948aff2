// The machine: all state of one run and its transitions. Synchronous and deterministic: it reaches the outside only through
// the effects it returns, learns the time only with start and resume, and returns control with a RunExit.
//
// The parts: the dispatch loop is interpreter/loop.ts; its slow cases interpreter/slow.ts; rare operations interpreter/rare.ts; faults interpreter/unwind.ts;
// calls interpreter/calls.ts; native frames and generators interpreter/activations.ts; how tasks wait and end
// scheduler/transitions.ts. Builtins see the machine through interpreter/context.ts.

import { FewMap } from './few-map.js'
import { CONTROL } from './builtins/builtin.js'
import { HarnGenerator } from './values/handles.js'
import { HarnClosure, HarnStruct } from './values/callable.js'
import { findScriptPlace } from './interpreter/place.js'
import { HarnDict } from './values/dict.js'
import { Meter, runMetered } from './values/meter.js'
import { EdgeError } from './values/plain.js'
import { typeName } from './values/value.js'
import { carryOut } from './interpreter/activations.js'
import { MachineContext } from './interpreter/context.js'
import { HeapWalk } from './interpreter/heap.js'
import { DEFAULT_LIMITS, LimitReached } from './interpreter/exit.js'
import { Fault, makeCategorized } from './interpreter/fault.js'
import { findCallable, callFrom, callMethod, pipe } from './interpreter/calls.js'
import { chargeCopy, chargeJoin, chargeRepeat, chargeText, chargeUpdate } from './interpreter/charges.js'
import { placeArguments } from './interpreter/frames.js'
import { ensureModule } from './interpreter/library.js'
import { makeModuleKey } from './library-keys.js'
import { execute } from './interpreter/loop.js'
import { canGenerateCode } from './compiled/from-text.js'
import { DEFAULT_TIER, Tier } from './compiled/tier.js'
import { runRareOperation } from './interpreter/rare.js'
import { raiseFault } from './interpreter/unwind.js'
import { readSnapshot, writeSnapshot } from './snapshot/snapshot.js'
import { TaskQueue } from './scheduler/task-queue.js'
import { Coroutine, Task } from './scheduler/task.js'
import { makeCancelledFault, deliver, deliverAnswer, fireTimers } from './scheduler/transitions.js'
import { Waits } from './scheduler/waits.js'
import type { BuiltinDef, Context, Family, LibraryCall, Result } from './builtins/builtin.js'
import type { Registry } from './builtins/registry.js'
import type { Leaving, Site } from './compiled/site.js'
import type { PendingEffect } from './effects/effect.js'
import type { Answer, LimitName, Limits, RunExit } from './interpreter/exit.js'
import type { Instr, MethodSite } from './interpreter/linked.js'
import type { CallSite, FoundMethod, Machine as MachineOfParts, MachineOptions, ModuleState } from './interpreter/machine.js'
import type { ScriptPlace } from './interpreter/script-place.js'
import type { FunctionCode, LinkedProgram, Module } from './interpreter/module.js'
import type { Value } from './values/value.js'

/** Messages of JavaScript engines for strings, arrays and buffers that are too long. */
const TOO_LONG = /invalid (?:string|array|typed array|array buffer) length|allocation (?:failed|size)|too large/i

function isStackOverflow(cause: unknown): boolean {
  return cause instanceof RangeError && /call stack|too much recursion/i.test(cause.message)
}

/** Initial value of empty fields. */
const NONE: never[] = []

/** Maximum number of waiting tasks that the timers of one slice may visit. */
const MOST_LOOKED = 200_000

/** Maximum arguments of one call of a builtin: they are on JavaScript's stack, which is small. */
const MOST_ARGUMENTS = 1 << 15
/** Compiled code counts in 32 bits. */
const MOST_SLICE_FUEL = 1 << 30

export class Machine implements MachineOfParts {
  readonly program: LinkedProgram
  readonly registry: Registry
  readonly options: MachineOptions
  readonly limits: Limits

  // ---- state of the run; snapshots contain everything from here to "not in a snapshot"
  now = 0
  tasks = new FewMap<number, Task>()
  nextTask = 1
  /** Runnable tasks in order; the first is the running one. */
  readonly queue = new TaskQueue()
  nextEffect = 1
  nextOrder = 1
  modules = new FewMap<string, ModuleState>()
  families = new FewMap<string, unknown>()
  /** Methods by struct: `module key` + `::` + struct name. */
  impls = new FewMap<string, Map<string, HarnClosure>>()
  /** Modules made by closureOver, by key. */
  adapters: Map<string, Module> | null = null
  fuelUsed = 0
  heapCharged = 0
  /** Charges at which the heap is measured again. */
  heapNext: number
  outputBytes = 0
  input: Value = null
  /** Effects that were requested and have no outcome yet, by id. */
  pending = new FewMap<number, PendingEffect>()

  // ---- not in a snapshot
  private ended: RunExit | null = null
  /** Units left in this slice; the loop counts it down. */
  fuel = 0
  private sliceFuel = 0
  private tripped = 0
  /** Units charged since a builtin was called, a native frame made a step, or the loop was at a fuel point. */
  spent = 0
  /** Fuel in the tank when the running task was scheduled. */
  private taskFuel = 0
  /** When pending effects were requested; kept only for the trace. */
  readonly effectStarts = new FewMap<number, number>()
  /** Effects requested since the last exit. */
  newEffects: PendingEffect[] = []
  private limitHit: { readonly limit: LimitName; readonly message: string } | null = null
  private sliceOver = false
  /** Charges at which to act: the heap is measured, or the slice has allocated enough. */
  private heapTrip = 0
  /** The measurement in progress; it continues before the script does. */
  private measuring: HeapWalk | null = null
  /** A restored machine may have been in the middle of a measurement, and repeats it at once: reading the snapshot took longer. */
  private measuresAtOnce = false
  /** The time of the last start or resume; `now` lags behind it while earlier timers are processed. */
  private hostNow = 0
  private answer: Answer | null = null
  readonly waits = new Waits()
  private readonly meter = new Meter(this)
  /** The depth of the compiled activation whose caller takes ownership of its result; -1 for none (compiled/templates.ts). */
  wants = -1

  get plainText(): string {
    return this.meter.plainText
  }

  set plainText(text: string) {
    this.meter.plainText = text
  }
  /** The running task. */
  running: Task = null as never

  // ---- the compiled tier, null where it is off (compiled/tier.ts)
  readonly tier: Tier | null
  /** Activations of compiled code that left, inner ones first. */
  readonly leaving: Leaving[] = []
  /** The fault that leaves compiled code, where it was raised, and whether it has left the top activation. */
  raised: Fault | null = null
  raisedAt: Site | null = null
  raisedIn: HarnClosure | null = null
  passing = true
  /** Where the compiled code of a generator yielded, null at its end. */
  yieldedAt: Site | null = null
  /** Depth from which compiled code makes no further call: the limit of the run, and that of the JavaScript stack. */
  deepest = 0
  floor = 0
  /** Tail calls on the JavaScript stack. */
  tails = 0
  /** Budget of assignments for converting lists to lists of doubles: see putFloat. */
  unboxing = 0

  // The module whose slots were requested last.
  private slotsOf: Module | null = null
  private slots: Value[] = NONE

  /** Methods of structs that were called, by position of the call: see findStructMethod. */
  methodCache: FoundMethod[] = NONE

  readonly entries = new Map<LibraryCall, HarnClosure>()

  /** What builtins see. */
  readonly context = new MachineContext(this)

  constructor(program: LinkedProgram, options: MachineOptions) {
    this.program = program
    this.registry = program.registry
    this.options = options
    this.limits = options.limits === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...options.limits }
    this.heapNext = this.limits.heap / 4
    // Only the base tier knows where a copy was made.
    const tier = options.copies !== undefined ? null : options.tier === undefined ? DEFAULT_TIER : options.tier
    this.tier = tier !== null && canGenerateCode() ? new Tier(this, tier) : null
    for (const [name, state] of options.states?.() ?? []) this.families.set(name, state)
    for (const module of program.modules.values()) {
      this.modules.set(module.key, { slots: new Array<Value>(module.chunk.moduleSlots.length).fill(null), started: false })
    }
  }

  // ---- running

  /** Starts the run. `now` is milliseconds since 1970. */
  start(input: Value, now: number): RunExit {
    this.input = input
    this.now = now
    this.hostNow = now
    const closure = new HarnClosure(this.program.main.functions[0]!, NONE)
    this.modules.get(this.program.main.key)!.started = true
    const coroutine = new Coroutine(null)
    coroutine.begin(closure, [], placeArguments)
    const root = new Task(0, null, coroutine, { taskId: 'task_root', name: 'root', group: null })
    this.tasks.set(0, root)
    this.queue.push(root)
    return this.run()
  }

  /** Continues after `suspended` or `yielded`: with one outcome, or with null when only time passed or the slice ended. */
  resume(answer: Answer | null, now: number): RunExit {
    if (this.ended !== null) return this.ended
    this.hostNow = Math.max(this.now, now)
    this.answer = answer
    return this.run()
  }

  private deliverAnswer(): boolean {
    const { answer } = this
    this.answer = null
    if (answer === null) return false
    // It may add to what was already measured.
    this.measuring = null
    return deliverAnswer(this, answer)
  }

  /** Ends the run from outside: the root task fails with a cancellation that scripts cannot catch. */
  cancel(reason: string): RunExit {
    if (this.ended !== null) return this.ended
    const root = this.tasks.get(0)
    root?.current.trim()
    return this.finish({ kind: 'failed', output: this.takeOutput(), fault: makeCategorized('cancelled', reason) })
  }

  get isStopping(): boolean {
    return this.limitHit !== null
  }

  get isEnded(): boolean {
    return this.ended !== null
  }

  /** The earliest time at which a waiting task has something to do without an outcome. */
  get wakeAt(): number | null {
    return this.waits.earliest
  }

  /**
   * The source position of the running task: the innermost one in a file of the script, not in the library; for a task that runs only library code,
   * the position of its parent. Null before the start. While `perform` handles an effect, it is the call that requested the effect.
   */
  get place(): ScriptPlace | null {
    if (this.tasks.size === 0) return null
    for (let task: Task | undefined = this.running; task !== undefined; task = this.tasks.get(task.parent)) {
      const place = findScriptPlace(task.current)
      if (place !== null) return place
    }
    return null
  }

  /** Effects that were requested and have no outcome yet, in order: what a host answers first after a restore. */
  pendingEffects(): PendingEffect[] {
    return [...this.pending.values()].sort((a, b) => a.id - b.id)
  }

  /** Whether calls are traced. */
  get isTraced(): boolean {
    return this.options.trace !== undefined || this.families.has('trace_log')
  }

  /** Calls `act` on behalf of the task that waits for an effect; null when no task waits for it any more. `act` must not run the machine. */
  onBehalfOf<T>(effect: number, act: (ctx: Context) => T): T | null {
    const { running } = this
    const asked = this.pending.get(effect)
    const task = this.context.performing === effect ? running : this.tasks.get(asked?.task ?? -1)
    if (task === undefined || this.ended !== null) return null
    // A replay does not do this, so its cost must not move the ends of slices.
    const { fuel, spent, tripped, fuelUsed, heapCharged } = this
    this.running = task
    try {
      return act(this.context)
    } finally {
      this.running = running
      Object.assign(this, { fuel, spent, tripped, fuelUsed, heapCharged })
    }
  }

  /**
   * Calls `act` between exits or during `perform`, on behalf of no task: for input of the run other than outcomes, in the same
   * order in a replay. `act` must not run the machine; `units` are the heap units of what it stores.
   */
  note(act: (ctx: Context) => void, units = 0): void {
    act(this.context)
    this.heapCharged += units
    // It may have added to what was already measured.
    this.measuring = null
  }

  /** Runnable tasks, as snapshots have them. */
  get ready(): Task[] {
    return this.queue.list()
  }

  set ready(tasks: Task[]) {
    this.queue.begin(tasks)
  }

  pendingIds(): number[] {
    return [...this.pending.keys()].sort((a, b) => a - b)
  }

  /** The run as bytes; only between exits. `Machine.restore` accepts them in any process with the same program, any number of times. */
  snapshot(): Uint8Array {
    return writeSnapshot(this)
  }

  /** A machine that continues from the snapshot with `resume`. Throws SnapshotError with the reason of a refusal. */
  static restore(snapshot: Uint8Array, program: LinkedProgram, options: MachineOptions): Machine {
    const machine = new Machine(program, options)
    readSnapshot(snapshot, machine)
    machine.measuresAtOnce = true
    return machine
  }

  private run(): RunExit {
    const root = this.tasks.get(0)!
    this.fuel = this.sliceFuel = Math.max(1, Math.min(this.limits.sliceFuel, MOST_SLICE_FUEL, this.limits.fuel - this.fuelUsed))
    this.tripped = 0
    this.spent = 0
    this.sliceOver = false
    this.setHeapTrip()
    // Code that runs for long cannot delay timers. But while nothing is runnable they fire one due time after the other, as
    // if the host had resumed for each, so that a slow host changes no order. A slice that ended without time passing
    // fires no timers: slicing must not change the order of anything.
    if (this.queue.length > 0) {
      if (this.hostNow > this.now) {
        this.now = this.hostNow
        fireTimers(this)
      }
      this.deliverAnswer()
    }
    let looked = 0
    for (;;) {
      if (root.status === 'done') return this.finish({ kind: 'done', output: this.takeOutput(), value: root.result })
      if (root.status === 'failed') return this.finish({ kind: 'failed', output: this.takeOutput(), fault: root.fault! })
      if (this.limitHit !== null) return this.finish({ kind: 'limit', output: this.takeOutput(), ...this.limitHit })
      const task = this.queue.first
      if (task === undefined) {
        // Each timer visits all waiting tasks. Nothing is runnable, so continuing later changes no order.
        if (looked > MOST_LOOKED) return this.makeYielded()
        looked += this.waits.size
        if (this.fireNextTimer()) continue
        this.now = this.hostNow
        if (this.deliverAnswer()) continue
        this.settleFuel()
        return { kind: 'suspended', output: this.takeOutput(), effects: this.takeEffects(), wakeAt: this.wakeAt }
      }
      this.running = task
      if (this.heapCharged > this.heapNext && !this.checkHeap()) {
        if (this.limitHit !== null) continue
        return this.makeYielded()
      }
      this.measuresAtOnce = false
      this.taskFuel = this.fuel
      if (task.cancelRequested && this.fuel > task.cancelFuel) {
        // A trip at the end of its allowance.
        this.tripped = this.fuel - task.cancelFuel
        this.fuel = task.cancelFuel
        this.taskFuel = this.fuel + this.tripped
      }
      this.advance(task)
      if (task.cancelRequested) task.cancelFuel = Math.max(0, task.cancelFuel - (this.taskFuel - this.fuel - this.tripped))
      if (this.tripped > 0) {
        this.fuel += this.tripped
        this.tripped = 0
      }
      if (this.sliceOver) {
        task.current.trim()
        return this.makeYielded()
      }
      if (this.queue.first === task && task.status !== 'ready') this.queue.shift()
      else if (this.limitHit === null && this.queue.first === task) throw new Error('a task stopped without saying why')
      // Others may wait again without ever reaching a fuel point.
      if (this.fuel <= 0 && this.queue.length > 0 && this.limitHit === null) return this.makeYielded()
    }
  }

  private makeYielded(): RunExit {
    this.settleFuel()
    this.deliverAnswer()
    return { kind: 'yielded', output: this.takeOutput(), effects: this.takeEffects() }
  }

  /** Runs a task until it blocks, ends, its slice is used up, or the machine must stop. */
  private advance(task: Task): void {
    try {
      runMetered(this.meter, () => {
        if (deliver(this, task)) execute(this, task)
      })
    } catch (cause) {
      if (cause instanceof LimitReached) return
      if (cause instanceof EdgeError || isStackOverflow(cause)) {
        // Not foreseen by a builtin, which would have raised its own error.
        const reason = cause instanceof EdgeError ? cause.message : 'data nested too deeply'
        this.hitLimit('work', `too much work at once: an operation on ${reason}`)
        return
      }
      if (!(cause instanceof RangeError) || !TOO_LONG.test(cause.message)) throw cause
      // The length of the result was not foreseen.
      this.hitLimit('heap', `out of memory: a text or list is too long: ${cause.message}`)
    }
  }

  private finish(exit: RunExit): RunExit {
    this.settleFuel()
    this.ended = { ...exit, output: '' }
    this.queue.clear()
    return exit
  }

  private settleFuel(): void {
    this.fuelUsed += this.sliceFuel - this.fuel - this.tripped
    this.sliceFuel = this.fuel
    this.tripped = 0
  }

  private takeOutput(): string {
    const root = this.tasks.get(0)
    if (root === undefined || root.output.length === 0) return ''
    const text = root.output.join('')
    root.output = []
    return text
  }

  private takeEffects(): PendingEffect[] {
    const effects = this.newEffects
    this.newEffects = []
    return effects
  }

  /** Advances the clock to the next timer that is due by now, and fires it. False when there is none. */
  private fireNextTimer(): boolean {
    const due = this.wakeAt
    if (due === null || due > this.hostNow) return false
    this.now = Math.max(this.now, due)
    fireTimers(this)
    return true
  }

  /** Stores the result of the current instruction of `co` and advances past it. */
  give(co: Coroutine, value: Value): void {
    co.regs[co.base + co.instr.a] = value
    co.instr = co.instr.next
  }

  // ---- state and output of builtins

  state<S>(family: Family<S>): S {
    let state = this.families.get(family.name)
    if (state === undefined) {
      state = family.state()
      this.families.set(family.name, state)
    }
    return state as S
  }

  write(text: string): void {
    const task = this.running
    if (task.muted > 0 || text === '') return
    task.output.push(text)
    this.outputBytes += text.length
    if (this.outputBytes > this.limits.output && this.limitHit === null) {
      this.hitLimit('output', `too much output: the limit is ${this.limits.output} bytes`)
      this.trip()
      // Even with nothing left to trip, the next fuel point must check.
      this.tripped = Math.max(1, this.tripped)
    }
  }

  // ---- fuel, heap, limits

  /** The slice or the task's allowance is used up, or a trip wire was touched. False: stop running this task now. */
  refuel(task: Task): boolean {
    // The unit that was missing was not used.
    this.fuel++
    this.spent = 0
    if (this.tripped > 0) {
      this.fuel += this.tripped
      this.tripped = 0
      if (this.heapCharged > this.heapNext && !this.checkHeap()) {
        this.sliceOver = this.limitHit === null
        return false
      }
      if (this.limitHit !== null) return false
      if (task.cancelRequested && this.taskFuel - this.fuel >= task.cancelFuel) return this.raise(task, makeCancelledFault())
      if (this.fuel > 0 && this.heapCharged <= this.heapTrip) return true
    }
    this.settleFuel()
    if (this.fuelUsed >= this.limits.fuel) return this.hitLimit('fuel', `out of fuel: the run used ${this.fuelUsed} units`)
    this.sliceOver = true
    return false
  }

  /**
   * The fuel point of an operation that costs no fixed unit, only by its operands: active when the tank is empty, so that no
   * sequence of such operations blocks the host's thread. The instruction runs again later.
   */
  refuelBefore(task: Task): boolean {
    this.fuel--
    return this.refuel(task)
  }

  hitLimit(limit: LimitName, message: string): false {
    this.limitHit ??= { limit, message }
    return false
  }

  /** Makes the next fuel point check the limits. */
  private trip(): void {
    if (this.fuel > 0) {
      this.tripped += this.fuel
      this.fuel = 0
    }
  }

  chargeHeap(units: number): void {
    this.heapCharged += units
    if (this.heapCharged <= this.heapTrip) return
    this.trip()
    // Usage is measured at the next fuel point; what is allocated before that must fit whatever the result is.
    if (this.heapCharged > this.heapNext + this.limits.heap)
      this.stop('heap', `out of memory: ${this.heapCharged} heap units were asked for, the limit is ${this.limits.heap}`)
  }

  /** A walk over values (values/meter.ts). */
  noteWalk(more: number, total: number): void {
    if (total > this.limits.work)
      this.stop('work', `too much work at once: an operation on ${total} values, the limit is ${this.limits.work}`)
    this.charge(more)
  }

  /** Memory allocated by a walk (values/meter.ts). */
  keep(heap: number): void {
    this.chargeHeap(heap)
  }

  /** Ends the run in the middle of an operation. */
  private stop(limit: LimitName, message: string): never {
    this.hitLimit(limit, message)
    throw new LimitReached(message)
  }

  /**
   * For an operation that is about to start or continue. Its small charges may exceed the limit by a slice: operators
   * start where others of the slice have left `spent`, and must not be refused for those.
   */
  charge(fuel: number, heap = 0): void {
    this.spent += fuel
    if (this.spent > this.limits.work + this.limits.sliceFuel) this.failTooMuchWork(this.spent)
    if (this.fuel >= fuel) this.fuel -= fuel
    else {
      if (fuel > this.limits.work) this.failTooMuchWork(fuel)
      // The next fuel point sees an empty tank.
      const missing = fuel - this.fuel
      this.fuel = 0
      if (this.tripped >= missing) this.tripped -= missing
      else {
        this.fuelUsed += missing - this.tripped
        this.tripped = 0
        const used = this.fuelUsed + this.sliceFuel
        if (used > this.limits.fuel) this.stop('fuel', `out of fuel: the run used ${used} units`)
      }
    }
    if (heap > 0) this.chargeHeap(heap)
  }

  /** Takes repeated work, which was charged when it was first done, from the slice; the step that did it is free too. */
  repeated(units: number): void {
    const taken = Math.min(units, this.fuel)
    this.fuel -= taken
    this.sliceFuel -= taken + 1
    this.taskFuel -= taken + 1
  }

  private failTooMuchWork(units: number): never {
    this.stop('work', `too much work at once: an operation takes ${units} units, the limit is ${this.limits.work}`)
  }

  /** Measures the heap in use. False: it is too much, or the measurement must continue in the next slice. */
  private checkHeap(): boolean {
    this.measuring ??= new HeapWalk(this)
    while (!this.measuring.step()) if (!this.measuresAtOnce) return false
    const live = this.measuring.units
    this.measuring = null
    this.heapCharged = live
    this.heapNext = live + this.limits.heap / 4
    this.setHeapTrip()
    return (
      live <= this.limits.heap ||
      this.hitLimit('heap', `out of memory: ${live} heap units are in use, the limit is ${this.limits.heap}`)
    )
  }

  private setHeapTrip(): void {
    this.heapTrip = Math.min(this.heapNext, this.heapCharged + this.limits.sliceHeap)
  }

  chargeJoin(x: Value, y: Value, inPlace: boolean): void {
    chargeJoin(this, x, y, inPlace)
  }

  /** For a concatenated string. */
  chargeText(length: number): void {
    this.chargeHeap(16 + length)
    chargeText(this, length)
  }

  chargeRepeat(x: Value, y: Value): void {
    chargeRepeat(this, x, y)
  }

  chargeCopy(x: Value): void {
    chargeCopy(this, x)
  }

  chargeUpdate(x: Value): void {
    chargeUpdate(this, x)
  }

  noteCopy(bytes: number): void {
    const { copies } = this.options
    if (copies === undefined) return
    const place = findScriptPlace(this.running.current)
    if (place !== null) copies({ ...place, bytes })
  }

  makeStackOverflow(): Fault {
    return new Fault('recursion', 'Stack overflow: too many nested calls')
  }

  raise(task: Task, fault: Fault): boolean {
    return raiseFault(this, task, fault)
  }

  runRare(task: Task, instr: Instr, closure: HarnClosure): boolean {
    return runRareOperation(this, task, instr, closure)
  }

  // ---- modules

  moduleSlots(module: Module): Value[] {
    if (module !== this.slotsOf) {
      this.slotsOf = module
      this.slots = this.modules.get(module.key)!.slots
    }
    return this.slots
  }

  /** A module of the program, or an internal one. */
  findModule(key: string): Module | null {
    return this.program.modules.get(key) ?? ensureModule(this, key)
  }

  /** Whether the top-level code of an internal module has run, or is running. */
  isStarted(name: string): boolean {
    return this.modules.get(makeModuleKey(name))?.started ?? false
  }

  exportValue(key: string, slot: number): Value {
    return this.modules.get(key)?.slots[slot] ?? null
  }

  // ---- calls

  placeArguments(code: FunctionCode, regs: Value[], base: number, argc: number): void {
    placeArguments(code, regs, base, argc)
  }

  runBuiltin(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result {
    this.context.argc = argc
    this.spent = 0
    if (!def.rest && def.arity <= 3) {
      const a = argc > 0 ? regs[from]! : null
      const b = argc > 1 ? regs[from + 1]! : null
      switch (def.arity) {
        case 0:
          return def.run(this.context)
        case 1:
          return def.run(this.context, a)
        case 2:
          return def.run(this.context, a, b)
        default:
          return def.run(this.context, a, b, argc > 2 ? regs[from + 2]! : null)
      }
    }
    if (argc > MOST_ARGUMENTS) return this.failTooManyArguments(def, argc)
    return def.run(this.context, ...padArguments(def, regs, from, argc))
  }

  runMethod(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result {
    this.context.argc = argc
    this.spent = 0
    if (!def.rest && def.arity <= 2) {
      const self = regs[from]!
      const a = argc > 0 ? regs[from + 1]! : null
      return def.arity === 0
        ? def.run(this.context, self)
        : def.arity === 1
          ? def.run(this.context, self, a)
          : def.run(this.context, self, a, argc > 1 ? regs[from + 2]! : null)
    }
    if (argc > MOST_ARGUMENTS) return this.failTooManyArguments(def, argc)
    return def.run(this.context, regs[from]!, ...padArguments(def, regs, from + 1, argc))
  }

  private failTooManyArguments(def: BuiltinDef, argc: number): Result {
    return this.context.runtime(`${def.name}: too many arguments (${argc}; at most ${MOST_ARGUMENTS})`)
  }

  /** The builtin method that a call site means for this receiver, null if it is none. */
  findMethod(site: Instr, receiver: Value): BuiltinDef | null {
    if (receiver === null || receiver instanceof HarnStruct) return null
    const kind = typeof receiver === 'object' ? receiver.constructor : typeof receiver
    if (site.seen === kind) return site.cache as BuiltinDef | null
    const { name } = site.k as { readonly name: string }
    // Generators and streams share a class, so their methods are looked up each time.
    const def = this.registry.methods.get(typeName(receiver))?.get(name) ?? null
    if (!(receiver instanceof HarnGenerator) && !(receiver instanceof HarnDict && def === null)) {
      site.seen = kind
      site.cache = def
      // The base tier's name of the kind that `cache` is for; the base tier sets it again.
      site.kind = 0
    }
    return def
  }

  callMethod(task: Task, receiver: Value, from: number, argc: number, site: MethodSite): boolean {
    return callMethod(this, task, receiver, from, argc, site)
  }

  callFrom(task: Task, callee: Value, from: number, argc: number, site: CallSite | null): boolean {
    return callFrom(this, task, callee, from, argc, site)
  }

  pipe(task: Task, from: number, tail: boolean): boolean {
    return pipe(this, task, from, tail)
  }

  findCallable(task: Task, name: string): Value {
    return findCallable(this, task, name)
  }

  /** The result of a builtin that was run for the current instruction of `co`. */
  settleCall(task: Task, result: Result): boolean {
    if (result === CONTROL) return carryOut(this, task)
    this.give(task.current, result as Value)
    return true
  }

  /**
   * Pushes a frame for a closure whose arguments are at `from`; its result goes to the current instruction of `co`. With
   * `boundary` it is a separate run, which nests only up to the host's limit.
   */
  enter(task: Task, callee: HarnClosure, from: number, argc: number, boundary: boolean): boolean {
    const co = task.current
    if (boundary) {
      if (co.fp >= this.limits.frames) return this.hitLimit('frames', `too many frames: the limit is ${this.limits.frames}`)
    } else if (co.fp + 1 >= co.limit) return this.raise(task, this.makeStackOverflow())
    if (this.fuel > 0) this.fuel--
    else this.charge(1)
    const { code } = callee
    co.reserve(from + Math.max(code.frameSize, argc) + 16)
    if (argc !== code.exactCount) placeArguments(code, co.regs, from, argc)
    const { tier } = this
    if (tier !== null && code.plain && !(boundary && code.module.isHidden)) {
      const enter = code.enter ?? (++code.heat > tier.calls ? tier.compile(callee, co.regs, from) : null)
      if (enter !== null) {
        const value = boundary ? tier.callRun(co, enter, callee, from) : tier.call(co, enter, callee, from)
        if (value === undefined) return tier.settle(task)
        this.give(co, value)
        return true
      }
    }
    co.fp++
    co.frames[co.fp] = callee
    co.returns[co.fp] = co.instr
    co.bases[co.fp] = from
    co.base = from
    co.instr = code.entry
    if (boundary) co.openRun()
    return true
  }
}

function padArguments(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Value[] {
  const count = def.rest ? Math.max(argc, def.arity) : def.arity
  const args: Value[] = []
  for (let at = 0; at < count; at++) args.push(at < argc ? regs[from + at]! : null)
  return args
}
