// The machine: all state of one run and the rules by which it moves. Synchronous and deterministic: it touches the world through
// the effects it returns, learns the time only with start and resume, and hands the thread back with a RunExit.
//
// What lives where: the dispatch loop is interpreter/loop.ts; rare operations interpreter/rare.ts; faults interpreter/unwind.ts;
// spawn, await and friends scheduler/tasks.ts. Builtins see the machine as their Context (builtins/builtin.ts).

import { CONTROL, childrenKey, family, taskKey } from './builtins/builtin.js'
import { END, HarnGenerator, HarnIter, HarnPermit } from './values/handles.js'
import { HarnBuiltin, HarnClosure, HarnStruct } from './values/callable.js'
import { HarnDict } from './values/dict.js'
import { fromPlain } from './values/plain.js'
import { typeName } from './values/value.js'
import { measureHeap } from './interpreter/heap.js'
import { DEFAULT_LIMITS } from './interpreter/exit.js'
import { Fault, categorized, runtimeFault, thrown, typeFault } from './interpreter/fault.js'
import { callableNamed, callFrom, callMethod, pipe, structMethod } from './interpreter/calls.js'
import { chargeCopy, chargeJoin, chargeRepeat, chargeUpdate } from './interpreter/charges.js'
import { placeArguments } from './interpreter/frames.js'
import { execute } from './interpreter/loop.js'
import { NATIVE_RETURN, NATIVE_STEP } from './interpreter/linked.js'
import { adapterModule, streamModule } from './interpreter/adapter.js'
import { rareOperation } from './interpreter/rare.js'
import { raiseFault } from './interpreter/unwind.js'
import { iterFrame, nextSimple } from './builtins/iter.js'
import { readSnapshot, writeSnapshot } from './snapshot/snapshot.js'
import { effectFault, outcomeDelivery } from './effects/outcome.js'
import { Coroutine, MAX_NESTED_CALLS, NativeActivation, Task } from './scheduler/task.js'
import { dueEvents, taskDue } from './scheduler/timers.js'
import { abortTask, spawnTask, taskFacts, taskOutcome } from './scheduler/spawn.js'
import type {
  BuiltinDef,
  Context,
  Control,
  Family,
  FrameState,
  MachineAccess,
  Result,
  SpawnOptions,
  TaskFacts,
  TaskOutcome,
} from './builtins/builtin.js'
import type { Registry } from './builtins/registry.js'
import type { Effect, EffectOutcome, PendingEffect } from './effects/effect.js'
import type { CallSite } from './interpreter/calls.js'
import type { LimitName, Limits, RunExit } from './interpreter/exit.js'
import type { Instr } from './interpreter/linked.js'
import type { FunctionCode, LinkedProgram, Module } from './interpreter/module.js'
import type { Value } from './values/value.js'

export interface MachineOptions {
  readonly limits?: Partial<Limits>
  /** Answers an effect at once, or null: the answer comes with resume. A ready answer does not switch tasks. */
  readonly perform?: (effect: Effect, id: number) => EffectOutcome | null
  /** BLAKE3 of bytes as lower-case hex (design §8.17). */
  readonly hashHex: (bytes: Uint8Array) => string
  /** Constants beside those of the registry, such as `argv`. */
  readonly globals?: ReadonlyMap<string, Value>
  /** A builtin without arguments that the root task goes on with when the program has ended well; its value is the run's. */
  readonly epilogue?: string
}

interface ModuleState {
  readonly slots: Value[]
  started: boolean
}

type Action =
  | { readonly kind: 'fault' | 'refused'; readonly fault: Fault }
  | { readonly kind: 'frame'; readonly frame: string; readonly state: FrameState }
  /** Of `callee` with `callArgs`: the most frequent action makes no object. */
  | { readonly kind: 'call' }
  | { readonly kind: 'effect'; readonly id: number }
  | { readonly kind: 'answered'; readonly value: Value }
  | { readonly kind: 'park'; readonly key: string | null; readonly due: number | null }
  | { readonly kind: 'pull'; readonly source: HarnIter | HarnGenerator }

const CALL: Action = { kind: 'call' }

/** An answer to a pending effect. */
export interface Answer {
  readonly id: number
  readonly outcome: EffectOutcome
}

export class Machine implements Context, MachineAccess {
  readonly program: LinkedProgram
  readonly registry: Registry
  readonly options: MachineOptions
  readonly limits: Limits

  // ---- state of the run; everything from here to "registers of a builtin call" is in a snapshot
  now = 0
  tasks = new Map<number, Task>()
  nextTask = 1
  /** Runnable tasks in order; the first is the one that runs. */
  ready: Task[] = []
  nextEffect = 1
  nextOrder = 1
  modules = new Map<string, ModuleState>()
  families = new Map<string, unknown>()
  /** Methods by struct: `module key` + `::` + struct name. */
  impls = new Map<string, Map<string, HarnClosure>>()
  /** Modules made by closureOver, by key. */
  adapters = new Map<string, Module>()
  fuelUsed = 0
  heapCharged = 0
  outputBytes = 0
  input: Value = null
  /** Effects that were asked for and not answered yet, by id. */
  pending = new Map<number, PendingEffect>()

  // ---- not in a snapshot
  private ended: RunExit | null = null
  /** Units left in this slice; the loop counts it down. */
  fuel = 0
  private sliceFuel = 0
  private heapNext: number
  private tripped = 0
  /** Units in the tank when the running task got the machine. */
  private taskFuel = 0
  private newEffects: PendingEffect[] = []
  private limitHit: { readonly limit: LimitName; readonly message: string } | null = null
  private sliceOver = false
  /** The time of the last start or resume; `now` lags behind it while timers that were due earlier are worked off. */
  private hostNow = 0
  private answer: Answer | null = null
  /** Waiting tasks, longest first, and those of them that are parked on a key. Derived from `tasks`. */
  private readonly waiting = new Set<Task>()
  private readonly parked = new Map<string, Set<Task>>()
  /** The task whose code runs. */
  running: Task = null as never

  // Methods of the struct that was asked for last; DEFINE_IMPL forgets them.
  structName: string | null = null
  structHome = ''
  structMethods: Map<string, HarnClosure> | null = null

  // ---- registers of a builtin call
  argc = 0
  result: Value = null
  timedOut = false
  action: Action | null = null
  private callee: Value = null
  private callArgs: readonly Value[] = []

  constructor(program: LinkedProgram, options: MachineOptions) {
    this.program = program
    this.registry = program.registry
    this.options = options
    this.limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.heapNext = this.limits.heap / 4
    for (const module of program.modules.values()) {
      this.modules.set(module.key, { slots: new Array<Value>(module.chunk.moduleSlots.length).fill(null), started: false })
    }
  }

  get machine(): MachineAccess {
    return this
  }

  // ---- running

  /** Starts the run. `now` is milliseconds since 1970. */
  start(input: Value, now: number): RunExit {
    this.input = input
    this.now = now
    this.hostNow = now
    const closure = new HarnClosure(this.program.main.functions[0]!, [])
    this.modules.get(this.program.main.key)!.started = true
    const coroutine = new Coroutine(null)
    coroutine.begin(closure, [], placeArguments)
    const root = new Task(0, null, coroutine, { taskId: 'task_root', name: 'root', group: null })
    this.tasks.set(0, root)
    this.ready.push(root)
    return this.run()
  }

  /** Goes on after `suspended` or `yielded`: with one answer, or with null when only time passed or the slice ended. */
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
    const task = this.tasks.get(this.pending.get(answer.id)?.task ?? -1)
    this.pending.delete(answer.id)
    if (task?.status !== 'waiting' || task.effectId !== answer.id) return false
    task.effectId = 0
    this.makeReady(task, outcomeDelivery(answer.outcome))
    return true
  }

  /** Ends the run from outside: the root task fails with a cancellation that scripts cannot catch. */
  cancel(reason: string): RunExit {
    if (this.ended !== null) return this.ended
    const root = this.tasks.get(0)
    root?.current.trim()
    return this.finish({ kind: 'failed', output: this.takeOutput(), fault: categorized('cancelled', reason) })
  }

  get isStopping(): boolean {
    return this.limitHit !== null
  }

  get isEnded(): boolean {
    return this.ended !== null
  }

  /** The earliest time at which a waiting task has something to do without an answer. */
  get wakeAt(): number | null {
    let earliest: number | null = null
    for (const task of this.waiting) {
      const due = taskDue(task)
      if (due !== null && (earliest === null || due < earliest)) earliest = due
    }
    return earliest
  }

  /** Effects that were asked for and not answered yet, in order: what a host answers first after a restore. */
  pendingEffects(): PendingEffect[] {
    return [...this.pending.values()].sort((a, b) => a.id - b.id)
  }

  pendingIds(): number[] {
    return [...this.pending.keys()].sort((a, b) => a - b)
  }

  /** The run as text; only between exits. Fits `Machine.restore` in any process with the same program. */
  snapshot(): string {
    return writeSnapshot(this)
  }

  /** A machine that goes on where the snapshot was taken: with `resume`. Raises SnapshotError with the reason of a refusal. */
  static restore(snapshot: string, program: LinkedProgram, options: MachineOptions): Machine {
    const machine = new Machine(program, options)
    readSnapshot(snapshot, machine)
    return machine
  }

  private run(): RunExit {
    const root = this.tasks.get(0)!
    this.fuel = this.sliceFuel = Math.max(1, Math.min(this.limits.sliceFuel, this.limits.fuel - this.fuelUsed))
    this.tripped = 0
    this.sliceOver = false
    // Code that runs for long cannot hold timers up; but while nothing is runnable they fire one due time after the other, as
    // if the host had come back for each, so that a slow host changes no order. A slice that ended without time passing is no
    // occasion for timers: slicing must not change the order of anything.
    if (this.ready.length > 0) {
      if (this.hostNow > this.now) {
        this.now = this.hostNow
        this.fireTimers()
      }
      this.deliverAnswer()
    }
    for (;;) {
      if (root.status === 'done') return this.finish({ kind: 'done', output: this.takeOutput(), value: root.result })
      if (root.status === 'failed') return this.finish({ kind: 'failed', output: this.takeOutput(), fault: root.fault! })
      if (this.limitHit !== null) return this.finish({ kind: 'limit', output: this.takeOutput(), ...this.limitHit })
      const task = this.ready[0]
      if (task === undefined) {
        if (this.nextTimer()) continue
        this.now = this.hostNow
        if (this.deliverAnswer()) continue
        this.settleFuel()
        return { kind: 'suspended', output: this.takeOutput(), effects: this.takeEffects(), wakeAt: this.wakeAt }
      }
      this.running = task
      this.taskFuel = this.fuel
      if (task.cancelRequested && this.fuel > task.cancelFuel) {
        // A trip at the end of its allowance.
        this.tripped = this.fuel - task.cancelFuel
        this.fuel = task.cancelFuel
        this.taskFuel = this.fuel + this.tripped
      }
      if (this.deliver(task)) execute(this, task)
      if (task.cancelRequested) task.cancelFuel = Math.max(0, task.cancelFuel - (this.taskFuel - this.fuel - this.tripped))
      if (this.tripped > 0) {
        this.fuel += this.tripped
        this.tripped = 0
      }
      if (this.sliceOver) {
        this.settleFuel()
        this.deliverAnswer()
        task.current.trim()
        return { kind: 'yielded', output: this.takeOutput(), effects: this.takeEffects() }
      }
      if (this.ready[0] === task && task.status !== 'ready') this.ready.shift()
      else if (this.limitHit === null && this.ready[0] === task) throw new Error('a task stopped without saying why')
    }
  }

  private finish(exit: RunExit): RunExit {
    this.settleFuel()
    this.ended = { ...exit, output: '' }
    this.ready = []
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

  // ---- scheduling

  makeReady(task: Task, delivery: Task['delivery']): void {
    this.leaveWait(task)
    task.delivery = delivery
    task.status = 'ready'
    task.waitKey = null
    task.waitDue = null
    task.cancelDue = null
    this.ready.push(task)
  }

  /** Moves the clock to the next timer that is due by now, and fires it. False when there is none. */
  private nextTimer(): boolean {
    const due = this.wakeAt
    if (due === null || due > this.hostNow) return false
    this.now = Math.max(this.now, due)
    this.fireTimers()
    return true
  }

  private fireTimers(): void {
    for (const { task, wasWaiting, kind, deadline } of dueEvents(this.waiting, this.ready, this.now)) {
      if (wasWaiting && task.status !== 'waiting') continue
      if (deadline !== null) deadline.fired = true
      if (kind === 'timeout') this.makeReady(task, { kind: 'again', timedOut: true })
      else this.interrupt(task, kind === 'deadline' ? thrown('Deadline exceeded') : cancelledFault())
    }
  }

  /** Raises a fault where a task stands, ending what it waits for. */
  private interrupt(task: Task, fault: Fault): void {
    if (task.status === 'waiting') {
      this.forgetEffect(task)
      this.makeReady(task, { kind: 'fault', fault })
    } else task.delivery = { kind: 'fault', fault }
  }

  /** An answer that still comes for the effect of an interrupted task is ignored. */
  forgetEffect(task: Task): void {
    this.pending.delete(task.effectId)
    task.effectId = 0
  }

  /** Gives a task what it waited for; false when that ended or blocked it again. */
  private deliver(task: Task): boolean {
    const { delivery } = task
    task.delivery = null
    if (delivery === null) return true
    const co = task.current
    if (delivery.kind === 'fault') return this.raise(task, delivery.fault)
    if (delivery.kind === 'again') {
      const frame = co.frames[co.fp]
      if (frame instanceof NativeActivation) frame.timedOut = delivery.timedOut
      co.instr = NATIVE_STEP
      return true
    }
    this.give(co, delivery.value)
    return true
  }

  /** Puts the result of the instruction that `co` stands at into place and goes past it. */
  give(co: Coroutine, value: Value): void {
    co.regs[co.base + co.instr.a] = value
    co.instr = co.instr.next
  }

  wait(task: Task): void {
    task.status = 'waiting'
    task.waitOrder = this.nextOrder++
    if (task.cancelRequested) task.cancelDue = this.now + CANCEL_GRACE_MS
    this.enterWait(task)
    task.current.trim()
  }

  wake(key: string): void {
    const woken = this.parked.get(key)
    if (woken === undefined) return
    for (const task of [...woken]) this.makeReady(task, { kind: 'again', timedOut: false })
  }

  /** Takes a task out of the lists of waiting ones. */
  leaveWait(task: Task): void {
    this.waiting.delete(task)
    if (task.waitKey === null) return
    const line = this.parked.get(task.waitKey)
    line?.delete(task)
    if (line?.size === 0) this.parked.delete(task.waitKey)
  }

  enterWait(task: Task): void {
    this.waiting.add(task)
    if (task.waitKey === null) return
    const line = this.parked.get(task.waitKey)
    if (line === undefined) this.parked.set(task.waitKey, new Set([task]))
    else line.add(task)
  }

  /** At the end of a function that stands at the bottom of a coroutine. Answers whether the task goes on. */
  endCoroutine(task: Task, value: Value): boolean {
    const co = task.current
    if (co.generator !== null && co.resumer !== null) {
      co.generator.done = true
      co.generator.coroutine = null
      task.current = co.resumer
      co.resumer = null
      this.give(task.current, END)
      return true
    }
    if (task.id === 0 && this.beginEpilogue(task)) return true
    task.status = 'done'
    task.result = value
    this.taskEnded(task)
    return false
  }

  private beginEpilogue(root: Task): boolean {
    const { epilogue } = this.options
    const state = this.state(epilogueState)
    if (epilogue === undefined || state.begun) return false
    state.begun = true
    root.current = new Coroutine(null)
    root.current.begin(this.closureOver(epilogue, [], []), [], placeArguments)
    return true
  }

  failTask(task: Task, fault: Fault): void {
    task.status = 'failed'
    task.fault = fault
    this.taskEnded(task)
  }

  private taskEnded(task: Task): void {
    task.deadlines = []
    task.current = new Coroutine(null)
    this.wake(taskKey(task.id))
    this.wake(childrenKey(task.parent))
  }

  // ---- fuel, heap, limits

  /** The slice or the task's allowance is used up, or a trip wire was touched. False: stop running this task now. */
  refuel(task: Task): boolean {
    // The unit that found the tank empty was not used.
    this.fuel++
    if (this.tripped > 0) {
      this.fuel += this.tripped
      this.tripped = 0
      if (this.heapCharged > this.heapNext && !this.checkHeap()) return false
      if (this.limitHit !== null) return false
      if (task.cancelRequested && this.taskFuel - this.fuel >= task.cancelFuel) return this.raise(task, cancelledFault())
      if (this.fuel > 0) return true
    }
    this.settleFuel()
    if (this.fuelUsed >= this.limits.fuel) return this.hitLimit('fuel', `out of fuel: the run used ${this.fuelUsed} units`)
    this.sliceOver = true
    return false
  }

  hitLimit(limit: LimitName, message: string): false {
    this.limitHit ??= { limit, message }
    return false
  }

  /** Makes the next fuel point look at limits. */
  private trip(): void {
    if (this.fuel > 0) {
      this.tripped += this.fuel
      this.fuel = 0
    }
  }

  chargeHeap(units: number): void {
    this.heapCharged += units
    if (this.heapCharged > this.heapNext) this.trip()
  }

  charge(fuel: number, heap = 0): void {
    if (this.fuel >= fuel) this.fuel -= fuel
    else {
      // The next fuel point sees an empty tank.
      const missing = fuel - this.fuel
      this.fuel = 0
      if (this.tripped >= missing) this.tripped -= missing
      else {
        this.fuelUsed += missing - this.tripped
        this.tripped = 0
      }
    }
    if (heap > 0) this.chargeHeap(heap)
  }

  private checkHeap(): boolean {
    const live = measureHeap(this)
    this.heapCharged = live
    this.heapNext = live + this.limits.heap / 4
    return (
      live <= this.limits.heap ||
      this.hitLimit('heap', `out of memory: ${live} heap units are in use, the limit is ${this.limits.heap}`)
    )
  }

  chargeJoin(x: Value, y: Value): void {
    chargeJoin(this, x, y)
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

  stackOverflow(): Fault {
    return new Fault('recursion', 'Stack overflow: too many nested calls')
  }

  raise(task: Task, fault: Fault): boolean {
    return raiseFault(this, task, fault)
  }

  rare(task: Task, instr: Instr, closure: HarnClosure): boolean {
    return rareOperation(this, task, instr, closure)
  }

  // ---- modules

  moduleSlots(module: Module): Value[] {
    return this.modules.get(module.key)!.slots
  }

  exportValue(key: string, slot: number): Value {
    return this.modules.get(key)?.slots[slot] ?? null
  }

  // ---- calls

  placeArguments(code: FunctionCode, regs: Value[], base: number, argc: number): void {
    placeArguments(code, regs, base, argc)
  }

  runBuiltin(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result {
    this.argc = argc
    if (!def.rest && def.arity <= 3) {
      const a = argc > 0 ? regs[from]! : null
      const b = argc > 1 ? regs[from + 1]! : null
      switch (def.arity) {
        case 0:
          return def.run(this)
        case 1:
          return def.run(this, a)
        case 2:
          return def.run(this, a, b)
        default:
          return def.run(this, a, b, argc > 2 ? regs[from + 2]! : null)
      }
    }
    return def.run(this, ...padded(def, regs, from, argc))
  }

  runMethod(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Result {
    this.argc = argc
    if (!def.rest && def.arity <= 2) {
      const self = regs[from]!
      const a = argc > 0 ? regs[from + 1]! : null
      return def.arity === 0
        ? def.run(this, self)
        : def.arity === 1
          ? def.run(this, self, a)
          : def.run(this, self, a, argc > 1 ? regs[from + 2]! : null)
    }
    return def.run(this, regs[from]!, ...padded(def, regs, from + 1, argc))
  }

  /** The builtin method a call site means for this receiver, null for everything that is not one. */
  methodFor(site: Instr, receiver: Value): BuiltinDef | null {
    if (receiver === null || receiver instanceof HarnStruct) return null
    const kind = typeof receiver === 'object' ? receiver.constructor : typeof receiver
    if (site.seen === kind) return site.cache as BuiltinDef | null
    const { name } = site.k as { readonly name: string }
    // Generators and streams share a class, so that their methods are looked up each time.
    const def = this.registry.methods.get(typeName(receiver))?.get(name) ?? null
    if (!(receiver instanceof HarnGenerator) && !(receiver instanceof HarnDict && def === null)) {
      site.seen = kind
      site.cache = def
    }
    return def
  }

  callMethod(
    task: Task,
    receiver: Value,
    from: number,
    argc: number,
    site: { readonly name: string; readonly optional: boolean },
  ): boolean {
    return callMethod(this, task, receiver, from, argc, site)
  }

  structMethod(receiver: HarnStruct, name: string): HarnClosure | null {
    return structMethod(this, receiver, name)
  }

  callFrom(task: Task, callee: Value, from: number, argc: number, site: CallSite | null): boolean {
    return callFrom(this, task, callee, from, argc, site)
  }

  pipe(task: Task, from: number, tail: boolean): boolean {
    return pipe(this, task, from, tail)
  }

  callableNamed(task: Task, name: string): Value {
    return callableNamed(this, task, name)
  }

  /** The result of a builtin that was run for the instruction `co` stands at. */
  settleCall(task: Task, result: Result): boolean {
    if (result === CONTROL) return this.control(task)
    this.give(task.current, result as Value)
    return true
  }

  /**
   * Pushes a frame for a closure whose arguments lie at `from`; its result goes to the instruction `co` stands at. With
   * `boundary` it is a run of its own, which nests up to the host's limit only.
   */
  enter(task: Task, callee: HarnClosure, from: number, argc: number, boundary: boolean): boolean {
    const co = task.current
    if (boundary) {
      if (co.fp >= this.limits.frames) return this.hitLimit('frames', `too many frames: the limit is ${this.limits.frames}`)
    } else if (co.fp + 1 >= co.limit) return this.raise(task, this.stackOverflow())
    if (this.fuel > 0) this.fuel--
    else this.charge(1)
    const { code } = callee
    co.reserve(from + Math.max(code.frameSize, argc) + 16)
    if (argc !== code.exactCount) placeArguments(code, co.regs, from, argc)
    co.fp++
    co.frames[co.fp] = callee
    co.returns[co.fp] = co.instr
    co.bases[co.fp] = from
    co.base = from
    co.instr = code.entry
    if (boundary) co.openRun()
    return true
  }

  // ---- generators and iteration

  /** NEXT on an iterator that the loop does not know. */
  nextItem(task: Task, iter: HarnIter): boolean {
    const item = nextSimple(iter)
    if (item !== undefined) {
      this.give(task.current, item)
      return true
    }
    return this.pullFrom(task, iter)
  }

  /** Asks a source for its next item; the answer is delivered to the instruction `co` stands at. */
  private pullFrom(task: Task, source: HarnIter | HarnGenerator): boolean {
    if (source instanceof HarnIter) return this.pushNative(task, 'iter.next', iterFrame(source) as unknown as FrameState)
    const own = source.coroutine
    if (source.done || own === null) {
      this.give(task.current, END)
      return true
    }
    if (own.resumer !== null || own === task.current) return this.raise(task, runtimeFault('generator is already running'))
    own.resumer = task.current
    task.current = own
    if (own.paused) {
      own.paused = false
      // When resumed, the yield itself gives nil.
      this.give(own, null)
    }
    return true
  }

  /** `yield`: hands the value to whoever pulls; a no-op in a generator that is called as a plain function. */
  yieldValue(task: Task, value: Value): boolean {
    const co = task.current
    const pulled = co.generator !== null && co.fp === 0 ? co.resumer : null
    if (pulled === null) {
      this.give(co, null)
      return true
    }
    co.resumer = null
    co.paused = true
    co.trim()
    task.current = pulled
    this.give(pulled, value)
    return true
  }

  // ---- native frames

  pushNative(task: Task, kind: string, state: FrameState): boolean {
    const def = this.registry.frames.get(kind)
    if (def === undefined) throw new Error(`no native frame ${kind}`)
    const co = task.current
    if (co.fp >= this.limits.frames) return this.hitLimit('frames', `too many frames: the limit is ${this.limits.frames}`)
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

  /** Leaves the top native frame in any way. */
  popNative(task: Task): NativeActivation {
    const co = task.current
    const activation = co.frames[co.fp] as NativeActivation
    if (activation.def.onLeave !== undefined) activation.def.onLeave(this, activation.state as never)
    co.limit = activation.savedLimit
    if (activation.def.output === 'drop') task.muted--
    co.instr = co.returns[co.fp]!
    co.frames[co.fp] = null as never
    co.fp--
    co.base = co.fp < 0 ? 0 : co.bases[co.fp]!
    return activation
  }

  stepNative(task: Task, activation: NativeActivation): boolean {
    const co = task.current
    this.result = co.regs[co.base]!
    this.timedOut = activation.timedOut
    activation.timedOut = false
    this.argc = 0
    return this.settleStep(task, activation.def.step(this, activation.state as never))
  }

  settleStep(task: Task, result: Result): boolean {
    if (result === CONTROL) return this.control(task)
    this.popNative(task)
    this.give(task.current, result as Value)
    return true
  }

  /** Carries out what a builtin or step asked for through its context. Answers whether the task goes on. */
  control(task: Task): boolean {
    const action = this.action
    this.action = null
    if (action === null) throw new Error('a builtin returned CONTROL without saying what for')
    const co = task.current
    switch (action.kind) {
      case 'fault':
        // A step's own fault leaves its frame; `onFault` is for what it called.
        if (co.instr === NATIVE_STEP) this.popNative(task)
        return this.raise(task, action.fault)
      case 'refused':
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        return this.raise(task, action.fault)
      case 'frame':
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        return this.pushNative(task, action.frame, action.state)
      case 'answered':
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        this.give(co, action.value)
        return true
      case 'effect':
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        task.effectId = action.id
        this.wait(task)
        return false
      case 'park':
        task.waitKey = action.key
        task.waitDue = action.due
        this.wait(task)
        return false
      case 'pull':
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        return this.pullFrom(task, action.source)
      case 'call': {
        if (co.instr === NATIVE_STEP) co.instr = NATIVE_RETURN
        const { callee, callArgs: args } = this
        const from = co.base + 1
        co.reserve(from + args.length + 1)
        for (let at = 0; at < args.length; at++) co.regs[from + at] = args[at]!
        // A generator that a builtin calls runs as a plain function (reference 01 §14.1).
        if (callee instanceof HarnClosure) return this.enter(task, callee, from, args.length, false)
        return this.callFrom(task, callee, from, args.length, null)
      }
    }
  }

  // ---- Context: what builtins may do

  private ask(action: Action): Control {
    this.action = action
    return CONTROL
  }

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
      // Even with nothing left to trip, the next fuel point must look.
      this.tripped = Math.max(1, this.tripped)
    }
  }

  throw(value: Value): Control {
    return this.ask({ kind: 'fault', fault: thrown(value) })
  }

  runtime(message: string): Control {
    return this.ask({ kind: 'fault', fault: runtimeFault(message) })
  }

  type(message: string): Control {
    return this.ask({ kind: 'fault', fault: typeFault(message) })
  }

  categorized(category: string, message: string): Control {
    return this.ask({ kind: 'fault', fault: categorized(category, message) })
  }

  fail(fault: Fault): Control {
    return this.ask({ kind: 'fault', fault })
  }

  perform(effect: Effect): Result {
    const id = this.nextEffect++
    const outcome = this.options.perform?.(effect, id) ?? null
    if (outcome === null) {
      const pending: PendingEffect = { id, task: this.running.id, effect }
      this.newEffects.push(pending)
      this.pending.set(id, pending)
      return this.ask({ kind: 'effect', id })
    }
    return outcome.ok ? fromPlain(outcome.value) : this.ask({ kind: 'fault', fault: effectFault(outcome) })
  }

  request(effect: Effect): Control {
    const result = this.perform(effect)
    if (result !== CONTROL) return this.ask({ kind: 'answered', value: result as Value })
    // A refusal reaches the frame that asked like a fault of what it called, whether it comes at once or later.
    if (this.action?.kind === 'fault') this.action = { kind: 'refused', fault: this.action.fault }
    return CONTROL
  }

  frame(kind: string, state: FrameState): Control {
    return this.ask({ kind: 'frame', frame: kind, state })
  }

  call(callee: Value, args: readonly Value[]): Control {
    this.callee = callee
    this.callArgs = args
    return this.ask(CALL)
  }

  park(key: string | null, due: number | null): Control {
    return this.ask({ kind: 'park', key, due })
  }

  pull(source: HarnIter | HarnGenerator): Control {
    return this.ask({ kind: 'pull', source })
  }

  builtinValue(name: string): Value {
    return new HarnBuiltin(name)
  }

  get source(): { readonly file: string; readonly directory: string; readonly entry: string } {
    const co = this.running.current
    const { main } = this.program
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]
      if (frame instanceof HarnClosure && !frame.code.module.key.startsWith('<')) {
        return { file: frame.code.module.key, directory: frame.code.module.directory, entry: main.key }
      }
    }
    return { file: main.key, directory: main.directory, entry: main.key }
  }

  // ---- MachineAccess

  hashHex(bytes: Uint8Array): string {
    return this.options.hashHex(bytes)
  }

  closureOver(builtin: string, bound: readonly Value[], params: readonly string[]): HarnClosure {
    const module = adapterModule(this, builtin, bound.length, params)
    return new HarnClosure(module.functions[0]!, [...bound])
  }

  get taskNumber(): number {
    return this.running.id
  }

  forgetTask(id: number): void {
    this.tasks.delete(id)
  }

  nextGroup(): number {
    return ++this.running.groups
  }

  streamOver(builtin: string, bound: readonly Value[]): HarnGenerator {
    const generator = new HarnGenerator('stream', null)
    const coroutine = new Coroutine(generator)
    coroutine.begin(new HarnClosure(streamModule(this, builtin, bound.length).functions[0]!, [...bound]), [], placeArguments)
    generator.coroutine = coroutine
    return generator
  }

  spawn(callee: HarnClosure | HarnBuiltin, args: readonly Value[], options: SpawnOptions = {}): number {
    return spawnTask(this, callee, args, options)
  }

  task(): TaskFacts {
    return taskFacts(this, this.running)
  }

  taskOutcome(id: number): TaskOutcome {
    return taskOutcome(this, id)
  }

  requestCancel(id: number): void {
    const task = this.tasks.get(id)
    if (task === undefined || (task.status !== 'ready' && task.status !== 'waiting')) return
    task.cancelRequested = true
    task.cancelFuel = CANCEL_GRACE_FUEL
    if (task.status === 'waiting') task.cancelDue = this.now + CANCEL_GRACE_MS
  }

  abortTask(id: number): void {
    abortTask(this, id)
  }

  reachablePermits(): ReadonlySet<number> {
    const found = new Set<number>()
    measureHeap(this, (value) => {
      if (value instanceof HarnPermit) found.add(value.id)
    })
    // Not by what was measured, which counts registers that nobody will read: they differ with the slices of the run.
    this.charge(Math.ceil(this.heapCharged / 256))
    return found
  }
}

/** In a family, so that a restored run does not begin its epilogue twice. */
const epilogueState = family('machine.epilogue', () => ({ begun: false }))

/** What a task may still do after its cancellation was asked for (03b §1.1): fuel, and milliseconds inside a wait. */
const CANCEL_GRACE_FUEL = 1024
const CANCEL_GRACE_MS = 10

function cancelledFault(): Fault {
  return thrown('kind:cancelled:VM cancelled by host')
}

function padded(def: BuiltinDef, regs: readonly Value[], from: number, argc: number): Value[] {
  const count = def.rest ? Math.max(argc, def.arity) : def.arity
  const args: Value[] = []
  for (let at = 0; at < count; at++) args.push(at < argc ? regs[from + at]! : null)
  return args
}
