// What is known of a slot's value at each point of a region: a raw double, an int that is a number, a bool, or nothing. The
// main purpose is floats: a slot whose value is a float on every path is kept as a raw double in its own variable, and the
// float object is never made. V8's own feedback handles ints.
//
// Facts come from constants and operators; from the operand types that the base tier saw (Instr.kind), behind a guard; and from
// the values present when the code was compiled, behind a guard at the entry. An operator without any other information
// is assumed to work on ints, behind a guard too: otherwise its other cases would be most of the code, and V8 inlines only short functions.

import { HarnFloat } from '../values/scalars.js'
import { LINKED, OPERATION_BY_CODE } from '../interpreter/linked.js'
import { ANY, BOOL, COUNTER, FLOAT, LIST, LIST_ITER, NIL, NUMBER, RANGE, RANGE_ITER, TEXT, UNSET } from './entry-types.js'
import { locateArguments, mayFault, listReads, findWrite } from './operands.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Instr, LinkedOp, OperationKind } from '../interpreter/linked.js'
import type { Block } from './graph.js'
import type { Region } from './region.js'
import type { FlowGraph } from './graph.js'
import type { FunctionCode } from '../interpreter/module.js'

/** `Instr.kind` of an arithmetic operation: only ints so far; both operands were floats; anything else, or a wrong guess. */
export const SAW_INTS = 0
export const SAW_FLOATS = 1
export const SAW_OTHERS = 2
/** In addition to these: two numbers, at least one of them a float. The result is a float. */
export const SAW_MIXED_NUMBERS = 3
/** `Instr.kind` of an access by index: nothing but lists and ints; the same, but what was read is not always a float. */
export const SAW_LISTS = 0
export const SAW_MIXED_LISTS = 1

/** `Instr.d` of a method call whose callee was not the inlined one. */
export const NOT_TAKEN_IN = 2

export type Types = Uint8Array

const L = LINKED

const getKind = (op: LinkedOp): OperationKind | null => OPERATION_BY_CODE[op]!.kind

/** Whether the result of `op` is a bool. */
function isTest(op: LinkedOp): boolean {
  switch (getKind(op)) {
    case 'test':
    case 'order':
    case 'order int':
    case 'equality':
    case 'equality int':
      return true
    default:
      return false
  }
}

/** Whether `Instr.kind` records the operand types of the operation. */
export function hasKind(op: LinkedOp): boolean {
  return isNumeric(op) || op === L.GET_INDEX || op === L.SET_INDEX || op === L.BUILD_RANGE
}

function isNumeric(op: LinkedOp): boolean {
  return getKind(op) === 'arithmetic' || getKind(op) === 'arithmetic int' || op === L.NEG || op === L.MOD || op === L.MODK
}

/** After a wrong guess about `i`. */
export function noteMiss(i: Instr): void {
  i.missed = true
  if (i.op === L.GET_INDEX) i.kind = i.kind === SAW_LISTS ? SAW_MIXED_LISTS : SAW_OTHERS
  else if (i.op === L.CALL_METHOD) i.d = i.d === 0 ? NOT_TAKEN_IN : i.d
  else if (hasKind(i.op) || i.op === L.CALL || i.op === L.CALL_NAMED) i.kind = SAW_OTHERS
}

/** Whether the bounds of a range are assumed to be ints. */
export function guessesBounds(i: Instr, types: Types, guesses: boolean): boolean {
  const isOne = (type: number): boolean => type === ANY || type === NUMBER
  return guesses && i.op === L.BUILD_RANGE && i.kind === SAW_INTS && isOne(types[i.b]!) && isOne(types[i.c]!)
}

/** Whether `i` is assumed to work on a list and an int: operands that are not known to be so have a guard. */
export function guessesList(i: Instr, types: Types, guesses: boolean): boolean {
  const isGet = i.op === L.GET_INDEX
  if (!guesses || !(isGet || (i.op === L.SET_INDEX && i.k !== false)) || i.kind === SAW_OTHERS) return false
  const list = types[i.b]!
  const index = types[isGet ? i.c : i.d]!
  return (list === ANY || list === LIST) && (index === ANY || index === NUMBER)
}

/**
 * Reads by index that are assumed to give floats: those whose result is used nearby in arithmetic that saw only floats. The
 * base tier does not record what it reads, because that would cost more than it gains here.
 */
export function findFloatReads(blocks: Iterable<Block>): Set<Instr> {
  const reads = new Set<Instr>()
  for (const { instrs } of blocks) {
    const bySlot = new Map<number, Instr>()
    for (const i of instrs) {
      if (isNumeric(i.op) && i.kind === SAW_FLOATS) {
        for (const slot of listReads(i)) {
          const read = bySlot.get(slot)
          if (read !== undefined) reads.add(read)
        }
      }
      const moved = getKind(i.op) === 'move' ? bySlot.get(i.b) : undefined
      const result = findWrite(i)
      if (result < 0) continue
      if (i.op === L.GET_INDEX && i.kind === SAW_LISTS) bySlot.set(result, i)
      else if (moved !== undefined) bySlot.set(result, moved)
      else bySlot.delete(result)
    }
  }
  return reads
}

/** Whether guessing that an `ANY` operand is a float pays: it is used in arithmetic or an ordering test. */
export function usesAsNumber(i: Instr, slot: number): boolean {
  const { op } = i
  const counts = isNumeric(op) || getKind(op) === 'order' || getKind(op) === 'order jump'
  if (counts) return listReads(i).includes(slot)
  if (op === L.GET_INDEX) return i.c === slot && i.kind !== SAW_OTHERS
  return op === L.SET_INDEX && i.d === slot && i.kind !== SAW_OTHERS
}

/** Whether guessing that an `ANY` operand is a list or an iterator pays. */
export function usesAsContainer(i: Instr, slot: number): boolean {
  if (i.op === L.NEXT) return i.b === slot
  return (i.op === L.GET_INDEX || (i.op === L.SET_INDEX && i.k !== false)) && i.b === slot && i.kind !== SAW_OTHERS
}

/** Whether `i` is assumed to work on ints: operands that are not known to be ints have a guard. */
export function guessesInts(i: Instr, types: Types, guesses: boolean): boolean {
  const { op } = i
  const isOne = (type: number): boolean => type === ANY || type === NUMBER
  if (!guesses || i.kind !== SAW_INTS || !isOne(types[i.b]!)) return false
  if (getKind(op) === 'arithmetic int' || op === L.NEG) return true
  if (op === L.MODK) return i.c !== 0
  return (getKind(op) === 'arithmetic' || op === L.MOD) && isOne(types[i.c]!)
}

/** Whether `i` is assumed to work on two numbers, at least one of them a float: a guard precedes it. */
export function guessesMixed(i: Instr, types: Types): boolean {
  if (i.kind !== SAW_MIXED_NUMBERS || getKind(i.op) !== 'arithmetic') return false
  const x = types[i.b]!
  const y = types[i.c]!
  return (x === ANY || x === NUMBER) && (y === ANY || y === NUMBER) && (x === ANY || y === ANY)
}

/** A function as part of a caller's text (inline.ts). */
export interface Callee {
  readonly code: FunctionCode
  readonly graph: FlowGraph
  readonly region: Region
  readonly guessed: Guesses
  /** Types inside, and of the result, for arguments whose types are at `from` in the caller. */
  solve(types: Types, from: number): { readonly states: Map<Block, Types>; readonly result: number }
}

/** The origin of a callee that cannot change while the code runs: a capture of the closure, or a slot. */
export type Origin = { readonly kind: 'capture' | 'slot'; readonly at: number } | null

/** A call that is inlined. */
export interface TakenIn {
  readonly call: Callee
  readonly origin: Origin
}

/** What a unit assumes, behind guards. */
export interface Guesses {
  readonly allowed: boolean
  readonly floatReads: ReadonlySet<Instr>
  readonly inlined: ReadonlyMap<Instr, TakenIn>
}

/** The type that `i` leaves in its result slot. */
export function inferResultType(i: Instr, types: Types, { allowed: guesses, floatReads, inlined }: Guesses): number {
  const { op } = i
  if (guessesInts(i, types, guesses)) return NUMBER
  if (guessesList(i, types, guesses)) return op === L.SET_INDEX ? LIST : floatReads.has(i) ? FLOAT : ANY
  if (op === L.BUILD_LIST || op === L.LIST_PUSH || op === L.LIST_EXTEND || op === L.CHECK_LIST) return LIST
  if (op === L.CALL || op === L.CALL_NAMED || op === L.CALL_METHOD)
    return inlined.get(i)?.call.solve(types, locateArguments(i).from).result ?? ANY
  if (op === L.BUILD_RANGE)
    return guessesBounds(i, types, guesses) || (types[i.b] === NUMBER && types[i.c] === NUMBER) ? RANGE : ANY
  if (op === L.ITERATE) return types[i.b] === RANGE ? COUNTER : types[i.b] === LIST ? LIST_ITER : ANY
  if (getKind(op) === 'move') return types[i.b]!
  if (op === L.OWN || op === L.OWN_INDEX || op === L.OWN_PROP) return types[i.b]!
  if (op === L.LOADK) return inferConstantType(i.k)
  if (isTest(op)) return BOOL
  if (getKind(op) === 'arithmetic') {
    const x = types[i.b]!
    const y = types[i.c]!
    if (x === FLOAT || y === FLOAT) return FLOAT
    if (guessesMixed(i, types)) return FLOAT
    return x === ANY && y === ANY && i.kind === SAW_FLOATS ? FLOAT : ANY
  }
  if (getKind(op) === 'arithmetic int' || op === L.NEG) {
    if (types[i.b] === FLOAT) return FLOAT
    return types[i.b] === ANY && i.kind === SAW_FLOATS ? FLOAT : ANY
  }
  if (op === L.BUILTIN1 && types[i.b] === FLOAT && (i.k as BuiltinDef).real !== null) return FLOAT
  if (op === L.MODK) return types[i.b] === NUMBER && i.c !== 0 ? NUMBER : ANY
  if (isLengthAtHand(i, types)) return NUMBER
  return ANY
}

/** Longer strings are not written into the code. */
const SHORT = 80
/** Units from here on are not ordered like their code points. */
const SURROGATE = /[\ud800-\uffff]/

function inferConstantType(value: unknown): number {
  switch (typeof value) {
    case 'number':
      return NUMBER
    case 'boolean':
      return BOOL
    case 'string':
      return value.length < SHORT && !SURROGATE.test(value) ? TEXT : ANY
    default:
      return value === null ? NIL : value instanceof HarnFloat ? FLOAT : ANY
  }
}

/** Whether `i` reads the length of a string whose length is its number of units. A refused builtin has no `quick`. */
export function isLengthAtHand(i: Instr, types: Types): boolean {
  if (i.op !== L.BUILTIN1 || types[i.b] !== TEXT) return false
  const { name, quick } = i.k as BuiltinDef
  return name === 'len' && quick !== null
}

/** Whether `i` uses no fuel. */
export function keepsFuel(i: Instr, types: Types): boolean {
  const { free, kind } = OPERATION_BY_CODE[i.op]!
  if (free) return true
  return (kind === 'equality' || kind === 'equality jump') && (isIdentity(types[i.b]!) || isIdentity(types[i.c]!))
}

/** Whether `i` leaves the keys of every dict and struct unchanged. */
export function keepsShapes(i: Instr): boolean {
  const { quiet } = OPERATION_BY_CODE[i.op]!
  if (quiet === true || i.op === L.LOAD_MODULE || i.op === L.GET_INDEX) return true
  return (isNumeric(i.op) && i.op !== L.ADD_OWNED) || i.op === L.OWN || i.op === L.OWN_INDEX || i.op === L.OWN_PROP
}

/** Whether equality with a value of this type is identity, for any other operand. */
export function isIdentity(type: number): boolean {
  return type === TEXT || type === BOOL || type === NIL
}

/**
 * Slots whose value is in variables and must be an object for `i`: to be called before `i`, whatever it does. They hold the
 * object from then on.
 */
export function applyBefore(i: Instr, types: Types): number[] {
  const { op } = i
  const whole = listReads(i).filter((slot) =>
    types[slot] === RANGE ? getKind(op) !== 'move' && op !== L.ITERATE : types[slot] === COUNTER && op !== L.NEXT,
  )
  for (const slot of whole) types[slot] = types[slot] === RANGE ? ANY : RANGE_ITER
  return whole
}

/** The state after `i` if control continues at its `next`. */
export function applyAfter(i: Instr, types: Types, guesses: Guesses): void {
  const result = findWrite(i)
  if (result < 0) return
  const type = inferResultType(i, types, guesses)
  // The guard has checked it.
  if (guessesInts(i, types, guesses.allowed) || guessesBounds(i, types, guesses.allowed))
    for (const slot of listReads(i)) types[slot] = NUMBER
  else if (guessesList(i, types, guesses.allowed)) {
    types[i.b] = LIST
    types[i.op === L.GET_INDEX ? i.c : i.d] = NUMBER
  }
  types[result] = type
}

/** What NEXT writes on its edge to an item. */
export function inferItemType(i: Instr, types: Types): number {
  return types[i.b] === RANGE_ITER || types[i.b] === COUNTER ? NUMBER : ANY
}

/** Whether the general form of a value must be made. */
export function isRaw(type: number): boolean {
  return type === FLOAT || type === RANGE || type === COUNTER
}

function join(one: number, other: number): number {
  if (one === other || other === UNSET) return one
  if (one === UNSET) return other
  return one + other === RANGE_ITER + COUNTER ? RANGE_ITER : ANY
}

/** Types at the start of each block of a region, computed from those at its entry. Slots that are dead there are UNSET. */
export function solveTypes(
  region: Region,
  entryTypes: Types,
  guesses: Guesses,
  isExit: (i: Instr) => boolean,
): Map<Block, Types> {
  const states = new Map<Block, Types>()
  const pending = new Set<Block>()
  const flow = (to: Block, types: Types, written: number, value: number): void => {
    if (!region.rank.has(to)) return
    const known = states.get(to)
    const state = known ?? new Uint8Array(types.length)
    let changed = known === undefined
    for (let slot = 0; slot < state.length; slot++) {
      if (to.live[slot] === 0) continue
      const joined = join(state[slot]!, slot === written ? value : types[slot]!)
      if (joined !== state[slot]) {
        state[slot] = joined
        changed = true
      }
    }
    states.set(to, state)
    if (changed) pending.add(to)
  }
  flow(region.entry, entryTypes, -1, UNSET)
  while (pending.size > 0) {
    const block = region.order.find((each) => pending.has(each))!
    pending.delete(block)
    const types = states.get(block)!.slice()
    let open = true
    for (const i of block.instrs) {
      if (!isExit(i)) applyBefore(i, types)
      if (block.handler !== null && mayFault(i)) flow(block.handler, types, block.handler.faultSlot, ANY)
      if (isExit(i)) {
        open = false
        break
      }
      if (i !== block.last || block.successors.length <= 1) applyAfter(i, types, guesses)
    }
    if (!open) continue
    const last = block.instrs[block.instrs.length - 1]
    if (last === undefined) {
      flow(block.successors[0]!, types, -1, UNSET)
      continue
    }
    block.successors.forEach((successor, which) => {
      if (block.isEnd && which === 0) return
      const to = region.findGoal(block, successor)
      const isResult = last.op === L.NEXT || last.op === L.PROPAGATE
      const written = !isResult ? -1 : which === 0 ? last.a : last.op === L.NEXT ? last.d : -1
      flow(to, types, written, last.op === L.NEXT && which === 1 ? inferItemType(last, types) : ANY)
    })
  }
  return states
}
