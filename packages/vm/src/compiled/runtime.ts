// Functions that compiled code calls: the slow side of operations, and the exits. Every exit returns undefined, which is never a value; the
// caller checks `raised` and either passes a fault on or adds its own frame to `leaving` and returns undefined too.

import { makeLoopIter, takeNextSimple } from '../builtins/iter.js'
import { CONTROL } from '../builtins/builtin.js'
import { HarnCell, HarnClosure, HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { compare, equals } from '../values/equality.js'
import { END, HarnIter, LEFT } from '../values/handles.js'
import { NO_SLOTS } from '../values/keyed.js'
import { HarnList, copyIfSmall } from '../values/list.js'
import { fromPlain } from '../values/plain.js'
import { HarnEnum, HarnFloat, HarnRange, ok } from '../values/scalars.js'
import { readCharacterAt } from '../values/text-order.js'
import { isTruthy, typeName } from '../values/value.js'
import {
  buildStruct,
  checkDict,
  checkList,
  getIndex,
  getProperty,
  isResult,
  setHeldIndex,
  setIndex,
  setProperty,
  share,
  slice,
  withoutKeys,
} from '../interpreter/access.js'
import {
  add,
  addOwned,
  contains,
  divide,
  makeRange,
  modulo,
  multiply,
  negate,
  power,
  subtract,
} from '../interpreter/arithmetic.js'
import { hold, holdsField, holdsItem, makeOwn, ownField, ownItem, readOut } from '../interpreter/ownership.js'
import { chargeHeldUpdate, isLong, isLongAccess, isLongUpdate, isShownAsKey } from '../interpreter/charges.js'
import { Fault, convertLeavingRun, makeThrown, makeTypeFault } from '../interpreter/fault.js'
import { findStructMethod } from '../interpreter/calls.js'
import { readField, writeField } from '../interpreter/fields.js'
import { chargeList } from '../builtins/core-values.js'
import { checkParameter } from '../interpreter/param-check.js'
import { MAX_NESTED_CALLS } from '../scheduler/task.js'
import { isDirect } from './direct.js'
import { noteGuardMiss, noteEntryMiss } from './feedback.js'
import type { BuiltinDef, Result } from '../builtins/builtin.js'
import type { LoopState } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { Site } from './site.js'
import type { HarnGenerator } from '../values/handles.js'
import type { Machine } from '../interpreter/machine.js'
import type { Value } from '../values/value.js'

/** The result of a call whose activation moved to the base tier or was left by a fault: see `Machine.raised`. */
type Left = undefined

function leave(m: Machine, site: Site, closure: HarnClosure, ...values: Value[]): Left {
  m.leaving.push({ site, closure, values })
}

function leaveBeforeCall(m: Machine, site: Site, closure: HarnClosure, ...values: Value[]): Left {
  // The unit that was missing was not used.
  if (m.fuel < 0) m.fuel++
  m.leaving.push({ site, closure, values })
}

function leaveWithGuess(m: Machine, site: Site, closure: HarnClosure, ...values: Value[]): Left {
  noteGuardMiss(site)
  m.leaving.push({ site, closure, values })
}

function leaveAtEntry(m: Machine, site: Site, closure: HarnClosure, ...values: Value[]): Left {
  noteEntryMiss(site)
  m.leaving.push({ site, closure, values })
}

/** A fault of the instruction at `site`, which the base tier raises. */
function leaveRaising(m: Machine, site: Site, closure: HarnClosure, fault: Fault, ...values: Value[]): Left {
  m.raised = fault
  m.passing = false
  m.leaving.push({ site, closure, values })
}

/** A fault raised by the callee of the call at `site`. */
function leavePassing(m: Machine, site: Site, closure: HarnClosure, ...values: Value[]): Left {
  m.passing = true
  m.leaving.push({ site, closure, values })
}

function raise(m: Machine, site: Site, closure: HarnClosure, fault: Fault): Left {
  if (!fault.isTraced || fault.isForeign) fault.note(site.code, site.instr.pc)
  m.raised = fault
  m.raisedAt = site
  m.raisedIn = closure
}

function pass(m: Machine, site: Site, closure: HarnClosure): Left {
  m.raised!.note(site.code, site.instr.pc)
  m.raisedAt = site
  m.raisedIn = closure
}

/** The fault as the handler of the same activation takes it. */
function caught(site: Site, fault: Fault): Fault {
  if (!fault.isTraced || fault.isForeign) fault.note(site.code, site.instr.pc)
  return fault
}

/** As caught, for a fault raised by the callee of the call at `site`. */
function passed(m: Machine, site: Site): Fault {
  const fault = m.raised!
  m.raised = null
  m.wants = -1
  fault.note(site.code, site.instr.pc)
  return fault
}

function leaveRun(m: Machine): void {
  m.raised = convertLeavingRun(m.raised!)
}

/** The native frame of a list method whose loop left (callbacks.ts); `made` is null if it has no state yet. */
function native(
  m: Machine,
  frame: string,
  made: LoopState | null,
  list: HarnList,
  fn: HarnClosure,
  out: Value[] | null,
  at: number,
  acc: Value,
  result: Value,
): Left {
  const state = made ?? { list, fn, at, out: [], acc }
  state.at = at
  state.acc = acc
  if (out !== null) state.out = out
  m.leaving.push({ site: null, frame, state, result })
}

/** The fault that a builtin raised. */
function asked(m: Machine): Fault {
  const action = m.context.action as { readonly fault: Fault }
  m.context.action = null
  return action.fault
}

/** Whether the result of an int operation is not exactly a number. A function, because that keeps generated code short. */
function past(result: number): boolean {
  return result > 9007199254740991 || result < -9007199254740991
}

function order(x: Value, y: Value): number {
  // A NaN compares as equal, as in `compare`.
  if (x instanceof HarnFloat && y instanceof HarnFloat) return x.v < y.v ? -1 : x.v > y.v ? 1 : 0
  return compare(x, y)
}

function key(value: Value): string {
  return typeof value === 'string' ? value : display(value)
}

function globalConstant(m: Machine, name: string): Value | undefined {
  return m.options.globals?.get(name) ?? m.registry.constants.get(name)
}

function listItem(list: HarnList, at: number): Value {
  const index = at < 0 ? at + list.length : at
  return index >= 0 ? (list.at(index) ?? null) : null
}

/** Assignment by index to a variable that is about to be overwritten. KEEP WITH: SET_INDEX in slow.ts. */
function putItem(m: Machine, list: HarnList, at: number, value: Value): Value | Fault {
  if (list.owned && at >= 0 && at < list.length) {
    list.put(at, value)
    return list
  }
  m.chargeUpdate(list)
  return setIndex(list, at, value, true)
}

/** As putItem, for a list owned by its holder, at an index that is out of range or negative. */
function putHeldItem(m: Machine, list: HarnList, at: number, value: Value): Value | Fault {
  chargeHeldUpdate(m, list)
  return setHeldIndex(list, at, value)
}

/** As putFloat, for a list owned by its holder. */
function putHeldFloat(m: Machine, list: HarnList, at: number, value: number): void {
  let mayUnbox = false
  if (list.raw === null) {
    m.unboxing = Math.min(m.unboxing + 4, 1 << 24)
    mayUnbox = m.unboxing >= list.length
    if (mayUnbox) m.unboxing -= list.length
  }
  list.putHeldFloat(at, value, mayUnbox)
}

/** As putItem, for a float; the list may be converted to doubles. */
function putFloat(m: Machine, list: HarnList, at: number, value: number): Value | Fault {
  let target = list
  if (!(list.owned && at >= 0 && at < list.length)) {
    m.chargeUpdate(list)
    if (at >= list.length || list.length === 0) return setIndex(list, at, value, true)
    if (!list.owned) {
      target = list.copyUnboxed()
      target.owned = true
    }
  } else if (list.raw === null) {
    // Converting costs what this many assignments save, even if the list is repeatedly converted back.
    m.unboxing = Math.min(m.unboxing + 4, 1 << 24)
    if (m.unboxing >= list.length) {
      m.unboxing -= list.length
      list.unbox()
    }
  }
  const index = at < 0 ? Math.max(0, at + target.length) : at
  if (target.raw === null) target.boxed[index] = new HarnFloat(value)
  else target.raw[index] = value
  return target
}

/** Treats a list as an array of doubles: V8 keeps it as one because it was one. */
const EMPTY = [0.5]
EMPTY.length = 0
const NO_ITEMS: readonly Value[] = []

/** Conversion budget for lists of a loop entered in compiled code: the loop may be short. */
const CREDIT = 64

/** The content of a possible list of floats, as doubles; empty if it cannot be converted or is not converted now. */
function reals(m: Machine, list: Value): number[] {
  if (!(list instanceof HarnList)) return EMPTY
  if (list.raw === null) {
    m.unboxing = Math.min(m.unboxing + CREDIT, 1 << 24)
    if (m.unboxing >= list.length) {
      m.unboxing -= list.length
      list.unbox()
    }
  }
  return list.raw ?? EMPTY
}

/** As reals, without conversion. */
function realsNow(list: Value): number[] {
  return list instanceof HarnList && list.raw !== null ? list.raw : EMPTY
}

/** As reals, for a list that its slot owns; empty if it does not. */
function ownReals(m: Machine, list: Value): number[] {
  return list instanceof HarnList && list.owned ? reals(m, list) : EMPTY
}

function ownRealsNow(list: Value): number[] {
  return list instanceof HarnList && list.owned ? realsNow(list) : EMPTY
}

function struct(
  closure: HarnClosure,
  type: { readonly name: string; readonly fields: readonly string[] | null },
  given: Value,
): Value {
  return buildStruct(type.name, closure.code.module.key, type.fields, given)
}

function listExtend(m: Machine, list: HarnList, items: Value): Fault | null {
  const fault = checkList(items)
  if (fault !== null) return fault
  m.chargeCopy(items)
  list.take(items as HarnList)
  return null
}

function dictExtend(m: Machine, dict: HarnDict, entries: Value): Fault | null {
  const fault = checkDict(entries)
  if (fault !== null) return fault
  m.chargeCopy(entries)
  dict.setAll(entries as HarnDict)
  return null
}

function catches(fault: Fault, name: string): boolean {
  return fault.kind === 'thrown' && fault.value instanceof HarnEnum && fault.value.enumName === name
}

function noResult(value: Value): Fault {
  return makeTypeFault(`? operator requires a Result value, got ${typeName(value)}`)
}

function iterate(value: Value): HarnIter {
  return makeLoopIter(value) ?? new HarnIter('list', [new HarnList([]), 0])
}

/** Returns its argument. Where it was never called, V8 assumes that all ints are small. */
function wide(int: number): number {
  return int
}

/** Writes a counter's position into the iterator that it represents. */
function count(iter: HarnIter, at: number): HarnIter {
  iter.state[1] = at
  return iter
}

/** The iterator that a counter represents: `shared`, which existed before, or a new one. */
function counter(shared: HarnIter | null, start: number, last: number, exclusive: boolean, at: number): HarnIter {
  return shared === null ? new HarnIter('range', [range(start, last, exclusive), at]) : count(shared, at)
}

function range(start: number, last: number, exclusive: boolean): HarnRange {
  return new HarnRange(start, exclusive ? last + 1 : last, exclusive)
}

/** The last item of a range of numbers. */
function findLast({ end, exclusive }: HarnRange): number {
  return (end as number) - (exclusive ? 1 : 0)
}

/** The next item of a generator's iterator: see `Tier.pull`. */
function pull(m: Machine, iter: HarnIter): Value | undefined {
  const generator = iter.state[0] as HarnGenerator
  if (!iter.done && !generator.done) return m.tier!.pull(m.running, generator)
  iter.done = true
  return END
}

/** The builtin method of a call site, if compiled code may run it; otherwise null. */
function findDirectMethod(m: Machine, site: Instr, receiver: Value): BuiltinDef | null {
  const def = m.findMethod(site, receiver)
  return def !== null && isDirect(def) ? def : null
}

function method0(m: Machine, site: Instr, receiver: Value): Result | undefined {
  const def = findDirectMethod(m, site, receiver)
  if (def === null) return undefined
  if (def.arity !== 0 || def.rest) return methodWith(m, def, [receiver])
  m.context.argc = 0
  m.spent = 0
  return def.run(m.context, receiver)
}

function method1(m: Machine, site: Instr, receiver: Value, a: Value): Result | undefined {
  const def = findDirectMethod(m, site, receiver)
  if (def === null) return undefined
  if (def.arity !== 1 || def.rest) return methodWith(m, def, [receiver, a])
  m.context.argc = 1
  m.spent = 0
  return def.run(m.context, receiver, a)
}

function method2(m: Machine, site: Instr, receiver: Value, a: Value, b: Value): Result | undefined {
  const def = findDirectMethod(m, site, receiver)
  if (def === null) return undefined
  if (def.arity !== 2 || def.rest) return methodWith(m, def, [receiver, a, b])
  m.context.argc = 2
  m.spent = 0
  return def.run(m.context, receiver, a, b)
}

function methodN(m: Machine, site: Instr, receiver: Value, ...args: Value[]): Result | undefined {
  const def = findDirectMethod(m, site, receiver)
  return def === null ? undefined : methodWith(m, def, [receiver, ...args])
}

/** A method that may change its receiver; KEEP WITH: CALL_METHOD of slow.ts. */
function lentMethod(m: Machine, site: Instr, receiver: Value, ...args: Value[]): Result | undefined {
  const def = findDirectMethod(m, site, receiver)
  if (def === null) return undefined
  const isLent = receiver instanceof HarnList || receiver instanceof HarnDict
  if (isLent) receiver.owned = true
  const result = methodWith(m, def, [receiver, ...args])
  if (isLent) receiver.owned = false
  return result
}

/** `x = x.push(value)`. KEEP WITH: `push` of builtins/lists.ts, and CALL_METHOD of slow.ts. */
function pushOwn(m: Machine, list: HarnList, value: Value): HarnList {
  const target = copyIfSmall(list)
  // Another list has grown past this one's end: appending copies it.
  if (!target.owned && target.items.length !== target.length) {
    m.spent = 0
    chargeList(m.context, target.length)
    return target.append(value)
  }
  m.chargeHeap(32)
  if (!target.owned) return target.append(value)
  if (target.raw === null) target.length = target.boxed.push(value)
  else target.length = target.items.push(value)
  return target
}

function methodWith(m: Machine, def: BuiltinDef, values: readonly Value[]): Result {
  return m.runMethod(def, values, 0, values.length - 1)
}

/** The names that unit texts use. */
export const HELPERS = {
  X: leave,
  XF: leaveBeforeCall,
  XR: leaveRaising,
  XP: leavePassing,
  G: leaveWithGuess,
  GE: leaveAtEntry,
  missed: noteGuardMiss,
  R: raise,
  P: pass,
  F: HarnFloat,
  List: HarnList,
  Dict: HarnDict,
  Struct: HarnStruct,
  Closure: HarnClosure,
  Cell: HarnCell,
  Enum: HarnEnum,
  Fault,
  END,
  CONTROL,
  RUN: MAX_NESTED_CALLS - 1,
  add,
  addOwned,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  negate,
  contains,
  makeRange,
  equals,
  order,
  past,
  isTruthy,
  display,
  key,
  share,
  fromPlain,
  globalConstant,
  checkParameter,
  listExtend,
  dictExtend,
  struct,
  listItem,
  putItem,
  putFloat,
  putHeldItem,
  putHeldFloat,
  EMPTY,
  NO_ITEMS,
  reals,
  realsNow,
  ownReals,
  ownRealsNow,
  getProperty,
  getIndex,
  setProperty,
  setIndex,
  setHeldIndex,
  readCharacterAt,
  chargeHeldUpdate,
  hold,
  makeOwn,
  readOut,
  ownItem,
  ownField,
  holdsItem,
  holdsField,
  slice,
  NO_SLOTS,
  readField,
  writeField,
  checkDict,
  checkList,
  withoutKeys,
  isLong,
  isLongAccess,
  isLongUpdate,
  isShownAsKey,
  isResult,
  ok,
  noResult,
  thrown: makeThrown,
  caught,
  passed,
  asked,
  leaveRun,
  native,
  catches,
  iterate,
  wide,
  count,
  counter,
  range,
  lastOf: findLast,
  nextSimple: takeNextSimple,
  pull,
  LEFT,
  structMethod: findStructMethod,
  method0,
  method1,
  method2,
  methodN,
  lentMethod,
  pushOwn,
} as const
