// What the templates of single instructions (templates.ts) ask of the writer of the whole text (writer.ts): names of variables, what is
// known about them, and how control leaves.

import type { Instr } from '../interpreter/linked.js'
import type { Machine } from '../interpreter/machine.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Shape } from '../values/shape.js'
import type { Block } from './graph.js'
import type { Guesses, Types } from './types.js'

/** The names of the variables that a view is in. */
export interface ViewNames {
  readonly items: string
  readonly length: string
  /** null where there is nothing to ask. */
  readonly owned: string | null
}

export interface InstrWriter {
  /** The variable of any value. */
  any(slot: number): string
  /** A value in its general form. */
  value(slot: number): string
  /** `text` is a fault of `i`. */
  writeFault(i: Instr, block: Block, text: string): string
  /** Whether ints are assumed where nothing else was seen, and values at hand are a hint. */
  readonly guesses: boolean
  /** Facts at the instruction being written. */
  readonly types: Types
  /** Whether the caller takes over what the function returns: an expression. */
  readonly wanted: string
  /** In front of a call that takes the function's place. */
  writeWantedAgain(): string
  readType(slot: number): number
  copyRange(i: Instr): string
  /** The variable of a raw float. */
  raw(slot: number): string
  isNumber(slot: number): boolean
  /** After something may have got another owner. */
  lookForOwners(): string
  /** The text that stands for a constant that is no number, bool or nil. */
  constant(value: unknown): string
  /** A value that the closure took along; in a loop it is read where the unit is entered. */
  capture(at: number): string
  /** The closure that runs. */
  readonly self: string
  /** The base tier goes on before `i`, of which nothing has happened. */
  exit(i: Instr): string
  /** As exit, because a guess was wrong. */
  guard(i: Instr): string
  /** The fuel point of a backward jump. */
  writeTurn(i: Instr, block: Block): string
  /** Control goes on at `to`; the text of a block with one way in stands right here. `written` is a slot that was just set. */
  go(from: Block, to: Block, written?: number, type?: number): string
  /** An expression that may use fuel, as part of a quiet loop too. It may change lists, but for `isApart`. */
  writeCalling(text: string, isApart?: boolean): string
  isBool(slot: number): boolean
  /** The text of a call whose callee is inlined, null for every other. */
  writeInlined(i: Instr, block: Block): string | null
  /** An expression for the variant of what is in a slot, undefined for what has none: a `match` asks for it again and again. */
  writeVariant(slot: number): string
  /** Whether the dict or struct in `slot` is known to have this shape; and that it has it from here on. */
  hasShape(slot: number, shape: Shape): boolean
  noteShape(slot: number, shape: Shape): void
  /** The function's result is in `slot`. */
  writeReturn(slot: number): string
  /** Begins to iterate over a range in variables. */
  startCounter(i: Instr): string
  /** Whether `i`, which reads by index, is taken to give a float. */
  readsFloat(i: Instr): boolean
  /** The view of a list in `slot` where there is one, by the names of its variables. */
  getView(slot: number, isReal: boolean): ViewNames | null
  /** A name for a statement to break out of. */
  makeLabel(): string
  readonly guessed: Guesses
  /** A call or builtin stopped in the middle of `i`: its result comes later. */
  wait(i: Instr): string
  setRange(slot: number, start: string, last: string, isExclusive: string): string
  /** Whether the text is that of a function, which can call itself by name. */
  readonly isWhole: boolean
  /** As exit, from a call that may have taken the unit of fuel that was missing. */
  restart(i: Instr): string
  /** A call that a fault came out of, or that stopped. */
  writeAfterCall(i: Instr, block: Block, fromRun?: boolean): string
  /** The variables of an iterator over a range: its next item, the last one, and the object that it stands for or null. */
  counter(slot: number): { readonly at: string; readonly last: string; readonly shared: string }
  /** Looks again at what is in `slot` now. */
  lookAgain(slot: number): string
  /** Whether `i`, which compares, has to ask for fuel. */
  owesFor(i: Instr): boolean
  /** What fuel there is. */
  readonly fuel: string
  readonly code: FunctionCode
  /** The one that the text is made for first. */
  readonly machine: Machine
}
