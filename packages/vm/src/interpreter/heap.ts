// Memory of a run, in heap units: 16 for each object, 16 for each slot, and payload bytes. A walk over
// everything reachable from the machine; shared objects count once. Strings count once for each reference, which overstates.
// In a frame, only the slots that are live at its position count, so that stale registers do not change the result.
// Floats count a box for each reference, because whether two references share one depends on the tier. A test compares the units
// with V8's own figures: they are within a factor of two.

import { HarnCell, HarnClosure } from '../values/callable.js'
import { HarnAtomic, HarnChannel, HarnGenerator, HarnHandle, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnEnum, HarnFloat, HarnPair } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { getGraph } from '../compiled/graph.js'
import { Coroutine, COROUTINE_UNITS, NativeActivation } from '../scheduler/task.js'
import type { Machine } from './machine.js'

/** A float in a slot: counted per reference, since which of them share a box depends on the tier. */
const FLOAT_UNITS = 32

/** Overhead of dicts, structs and sets beyond their entries. It must not depend on the representation of their keys. */
const TABLE_UNITS = 48

/** A key's entry in a table. */
const PLACE_UNITS = 16

/** The buffer of a list, without its elements. */
const BUFFER_UNITS = 32

/** Numbers the measurements of all machines; its marks are in no snapshot and are meaningless once a measurement is over. */
let measurement = 0

/** Slots that are visited between two chances to return control to the host. */
const PIECE = 1 << 15

/** For an object of up to this many slots, the walk does not store its position within it. */
const FEW = 256

/** Position of a walk in an array; by index, because a list of millions is the usual case. */
class Items {
  at = 0
  readonly values: readonly unknown[]
  constructor(values: readonly unknown[]) {
    this.values = values
  }
}

/** Position of a walk in an object that is not an array. */
class Cursor {
  readonly values: Iterator<unknown>
  constructor(values: Iterator<unknown>) {
    this.values = values
  }
}

/** Everything that a machine holds, in one go. `visit` sees every object once, for callers that search for some kind. */
export function measureHeap(machine: Machine, visit: (value: object) => void = () => {}): number {
  const walk = new HeapWalk(machine, visit)
  while (!walk.step()) continue
  return walk.units
}

/**
 * The walk, in pieces: near the limit it visits millions of slots, which takes longer than a host may be blocked. The
 * machine must not change between two pieces.
 */
export class HeapWalk {
  units = 0
  private readonly mark = ++measurement
  private readonly seen = new Set<object>()
  private readonly pending: unknown[] = []
  /** Positions of the walk in large objects, innermost last. */
  private readonly cursors: (Cursor | Items)[] = []
  private left = 0
  /** The running stack: its top frame still reads the operands of its instruction. */
  private readonly runs: Coroutine | undefined
  private readonly visit: (value: object) => void

  constructor(machine: Machine, visit: (value: object) => void = () => {}) {
    this.visit = visit
    this.runs = machine.queue.first?.current
    for (const task of machine.tasks.values()) {
      for (let co: Coroutine | null = task.current; co !== null; co = co.resumer) this.pending.push(co)
      this.visitSlot(task.result)
      this.visitItems(task.output)
      this.visitSlots(task.values.values())
    }
    for (const module of machine.modules.values()) this.visitItems(module.slots)
    for (const table of machine.impls.values()) this.visitSlots(table.values())
    this.visitSlots(machine.families.values())
    if (machine.plainText !== '') this.visitSlot(machine.plainText)
  }

  /** Does one piece; returns whether everything is done. */
  step(): boolean {
    this.left = PIECE
    while (this.left > 0) {
      const cursor = this.cursors.at(-1)
      if (cursor !== undefined) {
        if (this.follow(cursor)) this.cursors.pop()
        continue
      }
      const value = this.pending.pop()
      if (value === undefined) return true
      this.left--
      this.visitObject(value as object)
    }
    return false
  }

  private visitSlot(value: unknown): void {
    this.left--
    this.units += 16
    if (typeof value === 'string') this.units += value.length
    else if (typeof value === 'object' && value !== null) {
      if (value instanceof HarnFloat) this.units += FLOAT_UNITS
      else this.pending.push(value)
    }
  }

  private visitSlots(values: Iterable<unknown>): void {
    const cursor = new Cursor(values[Symbol.iterator]())
    if (!this.follow(cursor)) this.cursors.push(cursor)
  }

  private visitItems(values: readonly unknown[]): void {
    if (values.length > FEW) this.cursors.push(new Items(values))
    else for (let at = 0; at < values.length; at++) this.visitSlot(values[at])
  }

  /** Whether it is complete. */
  private follow(cursor: Cursor | Items): boolean {
    if (cursor instanceof Items) {
      const { values } = cursor
      const end = Math.min(values.length, cursor.at + Math.max(1, this.left))
      for (let at = cursor.at; at < end; at++) this.visitSlot(values[at])
      cursor.at = end
      return end === values.length
    }
    const { values } = cursor
    while (this.left > 0) {
      const next = values.next()
      if (next.done === true) return true
      this.visitSlot(next.value)
    }
    return false
  }

  private visitObject(value: object): void {
    if (value instanceof HarnList || value instanceof Keyed || value instanceof HarnClosure) {
      if (value.mark === this.mark) return
      value.mark = this.mark
    } else {
      if (this.seen.has(value)) return
      this.seen.add(value)
    }
    this.visit(value)
    this.units += 16
    if (value instanceof Keyed || value instanceof HarnSet) this.units += TABLE_UNITS
    if (value instanceof HarnList) this.list(value)
    else if (value instanceof Keyed) {
      this.units += PLACE_UNITS * value.size
      this.visitSlots(value.names())
      this.visitSlots(value.values())
    } else if (value instanceof HarnSet) this.visitSlots(value.map.values())
    else if (value instanceof HarnClosure) this.visitItems(value.captures)
    else if (value instanceof HarnEnum) this.visitItems(value.fields)
    else if (value instanceof HarnPair) this.visitItems([value.first, value.second])
    else if (value instanceof HarnBytes) this.units += value.data.length
    else if (value instanceof HarnCell) this.visitSlot(value.value)
    else if (value instanceof HarnIter) this.visitItems(value.state)
    else if (value instanceof HarnGenerator) this.visitSlot(value.coroutine)
    else if (value instanceof HarnChannel) this.visitItems(value.buffer)
    else if (value instanceof HarnHandle) this.visitSlot(value.descriptor)
    else if (value instanceof HarnAtomic) this.visitSlot(value.value)
    else if (value instanceof Coroutine) {
      this.units += COROUTINE_UNITS
      this.visitSlots(listLiveRegisters(value, value === this.runs))
      this.visitItems(value.frames.slice(0, value.fp + 1))
    } else if (value instanceof NativeActivation) {
      this.visitItems(Object.values(value.state))
      // Unfinished work that is outside the state (builtins/pieces.ts).
      const held = value.state['heldHeap']
      if (typeof held === 'number') this.units += held
    } else if (value instanceof Map) {
      this.visitSlots((value as Map<unknown, unknown>).keys())
      this.visitSlots((value as Map<unknown, unknown>).values())
    } else if (value instanceof Set) this.visitSlots(value)
    else if (Array.isArray(value)) this.visitItems(value)
    else if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
      this.visitItems(Object.values(value))
  }

  private list(list: HarnList): void {
    this.units += BUFFER_UNITS
    const { boxed, length } = list
    if (boxed.length === 0 && list.raw !== null) this.units += (16 + FLOAT_UNITS) * length
    else if (boxed.length === length) this.visitItems(boxed)
    else if (!this.seen.has(boxed)) {
      // Lists made by appending share their buffer: all except the newest see elements in it that are not theirs.
      this.seen.add(boxed)
      this.visitItems(boxed)
    }
  }
}

/** The live slots of a coroutine's frames: a running top frame still reads the operands of its instruction. */
function* listLiveRegisters(co: Coroutine, runs: boolean): Generator<unknown, void> {
  for (let fp = 0; fp <= co.fp; fp++) {
    const frame = co.frames[fp]
    const base = co.bases[fp]!
    if (!(frame instanceof HarnClosure)) {
      yield co.regs[base]
      continue
    }
    const instr = fp === co.fp ? co.instr : co.returns[fp + 1]!
    const graph = getGraph(frame.code)
    const live = fp === co.fp && runs ? graph?.listLiveBefore(instr) : graph?.listLiveWhileWaiting(instr)
    if (live !== undefined) for (const slot of live) yield co.regs[base + slot]
    // A function that is too large has no graph, and unreachable code is not in it: then every slot counts.
    else for (let slot = 0; slot < frame.code.frameSize; slot++) yield co.regs[base + slot]
  }
}
