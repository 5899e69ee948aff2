// What the templates of single instructions (templates.ts) need from the writer of the whole unit (writer.ts): names of variables, what is
// known about them, and how control leaves.

import type { Instr } from '../interpreter/linked.js'
import type { Machine } from '../interpreter/machine.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Shape } from '../values/shape.js'
import type { Block } from './graph.js'
import type { Guesses, Types } from './types.js'

/** Names of the variables of a view. */
export interface ViewNames {
  readonly items: string
  readonly length: string
  /** null if no check is needed. */
  readonly owned: string | null
}

export interface InstrWriter {
  /** The variable of any value. */
  any(slot: number): string
  /** A value in its general form. */
  value(slot: number): string
  /** `text` is an expression for a fault of `i`. */
  writeFault(i: Instr, block: Block, text: string): string
  /** Whether to assume ints where no other type was seen, and to take current values as a hint. */
  readonly guesses: boolean
  /** Facts at the instruction being written. */
  readonly types: Types
  /** An expression for whether the caller takes ownership of the function's result. */
  readonly wanted: string
  /** Code before a tail call. */
  writeWantedAgain(): string
  readType(slot: number): number
  copyRange(i: Instr): string
  /** The variable of a raw float. */
  raw(slot: number): string
  isNumber(slot: number): boolean
  /** After a value may have got another owner. */
  lookForOwners(): string
  /** An expression for a constant that is not a number, bool or nil. */
  constant(value: unknown): string
  /** A captured value; in a loop it is read where the unit is entered. */
  capture(at: number): string
  /** The closure that runs. */
  readonly self: string
  /** The base tier continues before `i`, which has had no effect yet. */
  exit(i: Instr): string
  /** As exit, because a guess was wrong. */
  guard(i: Instr): string
  /** The fuel point of a backward jump. */
  writeTurn(i: Instr, block: Block): string
  /** Control continues at `to`; a block with one predecessor is written right here. `written` is a slot that was just set. */
  go(from: Block, to: Block, written?: number, type?: number): string
  /** An expression that may use fuel, also within a quiet loop. It may change lists, unless `isApart`. */
  writeCalling(text: string, isApart?: boolean): string
  isBool(slot: number): boolean
  /** The code of an inlined call, null for every other call. */
  writeInlined(i: Instr, block: Block): string | null
  /** An expression for the variant of the value in a slot, undefined if it has none: a `match` needs it repeatedly. */
  writeVariant(slot: number): string
  /** Whether the dict or struct in `slot` is known to have this shape; from here on it is. */
  hasShape(slot: number, shape: Shape): boolean
  noteShape(slot: number, shape: Shape): void
  /** The function's result is in `slot`. */
  writeReturn(slot: number): string
  /** Starts iterating over a range in variables. */
  startCounter(i: Instr): string
  /** Whether `i`, which reads by index, is assumed to give a float. */
  readsFloat(i: Instr): boolean
  /** The view of the list in `slot`, if there is one, as the names of its variables. */
  getView(slot: number, isReal: boolean): ViewNames | null
  /** A label for a statement to break out of. */
  makeLabel(): string
  readonly guessed: Guesses
  /** A call or builtin stopped in the middle of `i`: its result comes later. */
  wait(i: Instr): string
  setRange(slot: number, start: string, last: string, isExclusive: string): string
  /** Whether the unit is a function, which can call itself by name. */
  readonly isWhole: boolean
  /** As exit, from a call that may have used the last unit of fuel. */
  restart(i: Instr): string
  /** A call that returned because of a fault or a stop. */
  writeAfterCall(i: Instr, block: Block, fromRun?: boolean): string
  /** The variables of a range iterator: its next item, the last one, and the object that it represents or null. */
  counter(slot: number): { readonly at: string; readonly last: string; readonly shared: string }
  /** Checks again what is in `slot` now. */
  lookAgain(slot: number): string
  /** Whether the comparison `i` needs a fuel check. */
  owesFor(i: Instr): boolean
  /** The remaining fuel. */
  readonly fuel: string
  readonly code: FunctionCode
  /** The closure for which the code is generated first. */
  readonly machine: Machine
}
