// What a run holds in memory, in heap units (design §8.15): 16 for each object, 16 for each slot, and payload bytes. A walk over
// everything reachable from the machine; shared objects count once. Strings count once for each reference, which overstates.
// Of a frame the slots count that are live where it stands, so that what registers still hold from before changes nothing; and
// floats count a box for each reference, because whether two references share one depends on the tier. A test holds the units
// against what V8 reports: within a factor of two.

import { HarnCell, HarnClosure } from '../values/callable.js'
import { HarnAtomic, HarnChannel, HarnGenerator, HarnHandle, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnBytes, HarnEnum, HarnFloat, HarnPair } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { graphOf } from '../compiled/graph.js'
import { Coroutine, NativeActivation } from '../scheduler/task.js'
import type { Machine } from '../vm.js'

/** A float in a slot: once for each reference, since which of them share a box depends on the tier. */
const FLOAT_UNITS = 32

/** What dicts, structs and sets need beside their entries. Which form their keys are in must not show. */
const TABLE_UNITS = 48

/** A key's place in a table. */
const PLACE_UNITS = 16

/** The buffer of a list, beside its elements. */
const BUFFER_UNITS = 32

/** Numbers measurements, those of all machines; what it marks is in no snapshot and means nothing once a measurement is over. */
let measurement = 0

/** `visit` sees every object once, for who looks for some kind of them. */
export function measureHeap(machine: Machine, visit: (value: object) => void = () => {}): number {
  const mark = ++measurement
  const seen = new Set<object>()
  const pending: unknown[] = []
  let units = 0
  const slot = (value: unknown): void => {
    units += 16
    if (typeof value === 'string') units += value.length
    else if (typeof value === 'object' && value !== null) {
      if (value instanceof HarnFloat) units += FLOAT_UNITS
      else pending.push(value)
    }
  }
  const slots = (values: Iterable<unknown>): void => {
    for (const value of values) slot(value)
  }
  const items = (values: readonly unknown[]): void => {
    for (let at = 0; at < values.length; at++) slot(values[at])
  }
  for (const task of machine.tasks.values()) {
    for (let co: Coroutine | null = task.current; co !== null; co = co.resumer) pending.push(co)
    slots([task.result, ...task.output, ...task.values.values()])
  }
  for (const module of machine.modules.values()) slots(module.slots)
  for (const table of machine.impls.values()) slots(table.values())
  slots(machine.families.values())
  while (pending.length > 0) {
    const value = pending.pop() as object
    if (value instanceof HarnList || value instanceof Keyed || value instanceof HarnClosure) {
      if (value.mark === mark) continue
      value.mark = mark
    } else {
      if (seen.has(value)) continue
      seen.add(value)
    }
    visit(value)
    units += 16
    if (value instanceof Keyed || value instanceof HarnSet) units += TABLE_UNITS
    if (value instanceof HarnList) {
      units += BUFFER_UNITS
      const { boxed, length } = value
      if (boxed.length === 0 && value.raw !== null) units += (16 + FLOAT_UNITS) * length
      else if (boxed.length === length) items(boxed)
      else if (!seen.has(boxed)) {
        // Lists made by appending share their buffer: all that are not the newest see more in it than their own.
        seen.add(boxed)
        items(boxed)
      }
    } else if (value instanceof Keyed) {
      units += PLACE_UNITS * value.size
      slots(value.names())
      slots(value.values())
    } else if (value instanceof HarnSet) slots(value.map.values())
    else if (value instanceof HarnClosure) items(value.captures)
    else if (value instanceof HarnEnum) items(value.fields)
    else if (value instanceof HarnPair) slots([value.first, value.second])
    else if (value instanceof HarnBytes) units += value.data.length
    else if (value instanceof HarnCell) slots([value.value])
    else if (value instanceof HarnIter) slots(value.state)
    else if (value instanceof HarnGenerator) slots([value.coroutine])
    else if (value instanceof HarnChannel) slots(value.buffer)
    else if (value instanceof HarnHandle) slots([value.descriptor])
    else if (value instanceof HarnAtomic) slots([value.value])
    else if (value instanceof Coroutine) {
      slots(liveRegisters(value, value === machine.running.current))
      slots(value.frames.slice(0, value.fp + 1))
    } else if (value instanceof NativeActivation) {
      slots(Object.values(value.state))
      // What is half done and lies outside the state (builtins/pieces.ts).
      const held = value.state['heldHeap']
      if (typeof held === 'number') units += held
    } else if (value instanceof Map) mapSlots(value as Map<unknown, unknown>, slots)
    else if (value instanceof Set) slots(value)
    else if (Array.isArray(value)) slots(value)
    else if (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
      slots(Object.values(value))
  }
  return units
}

/** What the frames of a coroutine need: a frame on top that runs still reads the operands of the instruction it stands at. */
function liveRegisters(co: Coroutine, runs: boolean): unknown[] {
  const values: unknown[] = []
  for (let fp = 0; fp <= co.fp; fp++) {
    const frame = co.frames[fp]
    const base = co.bases[fp]!
    if (!(frame instanceof HarnClosure)) {
      values.push(co.regs[base])
      continue
    }
    const instr = fp === co.fp ? co.instr : co.returns[fp + 1]!
    const graph = graphOf(frame.code)
    const live = fp === co.fp && runs ? graph?.liveBefore(instr) : graph?.liveWhileWaiting(instr)
    if (live !== undefined) for (const slot of live) values.push(co.regs[base + slot])
    // A function that is too large has no graph, and unreachable code has no place in it: then everything counts.
    else for (let slot = 0; slot < frame.code.frameSize; slot++) values.push(co.regs[base + slot])
  }
  return values
}

function mapSlots(map: Map<unknown, unknown>, slots: (values: Iterable<unknown>) => void): void {
  slots(map.keys())
  slots(map.values())
}
