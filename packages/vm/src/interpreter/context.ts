// What builtins see of the machine (builtins/builtin.ts): the Context of one call, and the MachineAccess of the few that are part
// of it. It holds the registers of the running call, which have no meaning between calls and are in no snapshot.

import { sha256 } from '@noble/hashes/sha2.js'
import { CONTROL } from '../builtins/builtin.js'
import { bytesToHex, toUtf8 } from '../builtins/sorted-json.js'
import { findListener } from '../builtins/trace-log.js'
import { makeEffectFault, measureOutcome, toValue } from '../effects/outcome.js'
import { abortTask, spawnTask, makeTaskFacts, readTaskOutcome } from '../scheduler/spawn.js'
import { Coroutine } from '../scheduler/task.js'
import { beginEffect, traceEffect } from '../scheduler/trace.js'
import { requestCancel, wake } from '../scheduler/transitions.js'
import { HarnBuiltin, HarnClosure } from '../values/callable.js'
import { HarnGenerator, HarnPermit } from '../values/handles.js'
import { runUnmetered } from '../values/meter.js'
import { makeAdapterClosure, getStreamModule } from './adapter.js'
import { makeCategorized, makeRuntimeFault, makeThrown, makeTypeFault } from './fault.js'
import { placeArguments } from './frames.js'
import { getLibraryEntry } from './library.js'
import { listCallingCeilings, findNarrowedCaller } from './place.js'
import { measureHeap } from './heap.js'
import type {
  Ceiling,
  Control,
  EffectJudge,
  Family,
  FrameState,
  LibraryCall,
  MachineAccess,
  Result,
  SpawnOptions,
  TaskFacts,
  TaskOutcome,
} from '../builtins/builtin.js'
import type { Effect, EffectOutcome, PendingEffect } from '../effects/effect.js'
import { NO_HOST_DATA } from '../host-data.js'
import type { HostSlot } from '../host-data.js'
import type { SpanMark } from '../effects/span-marks.js'
import type { TraceRecord } from '../effects/trace-records.js'
import type { HarnIter } from '../values/handles.js'
import type { Value } from '../values/value.js'
import type { Action, CallContext, Machine } from './machine.js'
import type { Fault } from './fault.js'

const CALL: Action = { kind: 'call' }
const AGAIN: Action = { kind: 'again' }

/** Heap units of an outcome that are converted per unit of fuel, as a power of two. */
const ANSWER_BITS = 8

/** Fuel for a walk of the whole machine, in addition to that for its contents. */
const WALK_UNITS = 100

export class MachineContext implements CallContext {
  private readonly m: Machine

  /** The effect that the host is performing right now; 0 for none. */
  performing = 0

  // ---- registers of a builtin call
  argc = 0
  result: Value = null
  timedOut = false
  action: Action | null = null
  callee: Value = null
  callArgs: readonly Value[] = []

  constructor(machine: Machine) {
    this.m = machine
  }

  get machine(): MachineAccess {
    return this
  }

  get now(): number {
    return this.m.now
  }

  private ask(action: Action): Control {
    this.action = action
    return CONTROL
  }

  state<S>(family: Family<S>): S {
    return this.m.state(family)
  }

  findState<S>(family: Family<S>): S | undefined {
    return this.m.families.get(family.name) as S | undefined
  }

  write(text: string): void {
    this.m.write(text)
  }

  noteCopy(bytes: number): void {
    this.m.noteCopy(bytes)
  }

  charge(fuel: number, heap = 0): void {
    // Whole units: compiled code counts in ints.
    this.m.charge(Math.ceil(fuel), heap)
  }

  get mostWork(): number {
    return this.m.limits.work
  }

  throw(value: Value): Control {
    return this.ask({ kind: 'fault', fault: makeThrown(value) })
  }

  runtime(message: string): Control {
    return this.ask({ kind: 'fault', fault: makeRuntimeFault(message) })
  }

  type(message: string): Control {
    return this.ask({ kind: 'fault', fault: makeTypeFault(message) })
  }

  categorized(category: string, message: string): Control {
    return this.ask({ kind: 'fault', fault: makeCategorized(category, message) })
  }

  fail(fault: Fault): Control {
    return this.ask({ kind: 'fault', fault })
  }

  perform(asked: Effect): Result {
    const { judge } = this.m.options
    const effect = judge === undefined ? asked : judge.complete(this, asked)
    const held = judge?.hold?.(this, asked, effect) ?? null
    if (held !== null) return held
    const refused = judge?.refuse(this, effect, 'both') ?? null
    if (refused !== null) return this.ask({ kind: 'fault', fault: refused })
    const id = this.m.nextEffect++
    if (this.m.options.spans !== undefined) beginEffect(this.m, this.m.running, id, effect)
    const outcome = this.performNow(effect, id)
    if (outcome === null) {
      const pending: PendingEffect = { id, task: this.m.running.id, effect }
      this.m.newEffects.push(pending)
      this.m.pending.set(id, pending)
      if (this.m.isTraced) this.m.effectStarts.set(id, this.m.now)
      return this.ask({ kind: 'effect', id })
    }
    const units = measureOutcome(outcome, this.m.limits.heap)
    this.m.charge(Math.min(units >> ANSWER_BITS, this.m.limits.work), units)
    if (this.m.isTraced) traceEffect(this.m, this.m.running, id, effect, outcome)
    return outcome.ok ? toValue(outcome) : this.ask({ kind: 'fault', fault: makeEffectFault(outcome) })
  }

  /** The cost of what the host does at once is not charged: it may have cached the outcome from another run. */
  private performNow(effect: Effect, id: number): EffectOutcome | null {
    const { perform } = this.m.options
    if (perform === undefined) return null
    this.performing = id
    try {
      return runUnmetered(() => perform(effect, id))
    } finally {
      this.performing = 0
    }
  }

  request(effect: Effect): Control {
    const result = this.perform(effect)
    if (result !== CONTROL) return this.ask({ kind: 'answered', value: result as Value })
    // A refusal reaches the requesting frame like a fault of a callee, whether it comes at once or later.
    if (this.action?.kind === 'fault') this.action = { kind: 'refused', fault: this.action.fault }
    return CONTROL
  }

  frame(kind: string, state: FrameState): Control {
    return this.ask({ kind: 'frame', frame: kind, state })
  }

  library(body: LibraryCall, args: readonly Value[]): Control {
    return this.ask({ kind: 'library', body, args })
  }

  call(callee: Value, args: readonly Value[]): Control {
    this.callee = callee
    this.callArgs = args
    return this.ask(CALL)
  }

  again(): Control {
    return this.ask(AGAIN)
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
    const co = this.m.running.current
    const { main } = this.m.program
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]
      if (frame instanceof HarnClosure && !frame.code.module.key.startsWith('<')) {
        return { file: frame.code.module.file, directory: frame.code.module.directory, entry: main.key }
      }
    }
    return { file: main.key, directory: main.directory, entry: main.key }
  }

  // ---- MachineAccess

  isPending(effect: number): boolean {
    return this.performing === effect || this.m.pending.has(effect)
  }

  hostData<T>(slot: HostSlot<T>): T {
    return (this.m.options.hostData ?? NO_HOST_DATA).get(slot)
  }

  get judge(): EffectJudge | null {
    return this.m.options.judge ?? null
  }

  libraryEntry(module: string, name: string): { readonly callee: Value; readonly starts: boolean } {
    return getLibraryEntry(this.m, module, name)
  }

  hashHex(bytes: Uint8Array): string {
    return this.m.options.hashHex(bytes)
  }

  sha256Hex(text: string): string {
    return this.m.options.sha256Hex?.(text) ?? bytesToHex(sha256(toUtf8(text)))
  }

  get runId(): string | null {
    return this.m.options.runId ?? null
  }

  closureOver(builtin: string, bound: readonly Value[], params: readonly string[]): HarnClosure {
    return makeAdapterClosure(this.m, builtin, bound, params)
  }

  wake(key: string): void {
    wake(this.m, key)
  }

  get isStopping(): boolean {
    return this.m.isStopping
  }

  get taskNumber(): number {
    return this.m.running.id
  }

  forgetTask(id: number): void {
    this.m.tasks.delete(id)
  }

  get importCeilings(): readonly Ceiling[] | null {
    return this.m.program.isNarrowed ? listCallingCeilings(this.m, this.m.running) : null
  }

  get narrowedCaller(): string | null {
    return this.m.program.isNarrowed ? (findNarrowedCaller(this.m.running)?.key ?? null) : null
  }

  get spans(): ((mark: SpanMark) => void) | null {
    return this.m.options.spans ?? null
  }

  get traced(): ((record: TraceRecord) => void) | null {
    return this.m.isTraced ? findListener(this.m) : null
  }

  beginTimeLimit(dueMs: number): void {
    const { running } = this.m
    running.deadlines.push({ dueMs, coroutine: running.current, fp: running.current.fp, fired: false })
  }

  endTimeLimit(): boolean {
    return this.m.running.deadlines.pop()?.fired ?? false
  }

  nextGroup(): number {
    return ++this.m.running.groups
  }

  streamOver(builtin: string, bound: readonly Value[]): HarnGenerator {
    const generator = new HarnGenerator('stream', null)
    const coroutine = new Coroutine(generator)
    coroutine.begin(new HarnClosure(getStreamModule(this.m, builtin, bound.length).functions[0]!, [...bound]), [], placeArguments)
    generator.coroutine = coroutine
    return generator
  }

  spawn(callee: HarnClosure | HarnBuiltin, args: readonly Value[], options: SpawnOptions = {}): number {
    return spawnTask(this.m, callee, args, options)
  }

  task(): TaskFacts {
    return makeTaskFacts(this.m, this.m.running)
  }

  taskOutcome(id: number): TaskOutcome {
    return readTaskOutcome(this.m, id)
  }

  requestCancel(id: number): void {
    requestCancel(this.m, id)
  }

  abortTask(id: number): void {
    abortTask(this.m, id)
  }

  repeated(units: number): void {
    this.m.repeated(units)
  }

  reachablePermits(): ReadonlySet<number> {
    const found = new Set<number>()
    measureHeap(this.m, (value) => {
      if (value instanceof HarnPermit) found.add(value.id)
    })
    // Not by the measured heap, which includes registers that are never read again: those differ with the slices of the run.
    this.charge(WALK_UNITS + Math.ceil(this.m.heapCharged / 256))
    return found
  }
}
