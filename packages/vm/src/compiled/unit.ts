// What a unit is made from and of (writer.ts), and what those who write one concern of it (fuel, views, inlined calls) ask of the whole.

import type { Instr } from '../interpreter/linked.js'
import type { Machine } from '../interpreter/machine.js'
import type { HarnClosure } from '../values/callable.js'
import type { Block, FlowGraph } from './graph.js'
import type { InstrWriter } from './instr-writer.js'
import type { Region } from './region.js'
import type { Site } from './site.js'
import type { Expectation } from './state.js'
import type { Callee, Types } from './types.js'

/** Text with what it refers to by number. */
export interface UnitText {
  readonly text: string
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly expects: readonly Expectation[]
}

/** A whole function; a loop that is entered in mid-run; or the part of a generator from where it goes on to its next yields. */
export type UnitKind = 'function' | 'loop' | 'part' | 'callee'

export interface UnitOptions {
  readonly graph: FlowGraph
  readonly kind: UnitKind
  readonly entry: Block
  /** The value of a slot where the unit is entered, for guesses. */
  readonly sample: (slot: number) => unknown
  readonly machine: Machine
  /** A closure that runs this code. */
  readonly closure: HarnClosure
}

/** What the text of a callee is part of: a call, or a loop that calls a function for every element (callbacks.ts). */
export interface Host {
  readonly shared: Shared
  readonly call: Callee
  readonly states: Map<Block, Types>
  readonly prefix: string
  /** The closure that is called. */
  readonly self: string
  /** Whether fuel is not in the machine, and what there is then. */
  readonly isQuiet: boolean
  readonly fuel: string
  /** A value that the closure took along, where the text keeps those. */
  readonly capture?: (at: number) => string
  /** An expression that may use fuel. */
  readonly calling: (text: string, isApart: boolean) => string
  readonly lookForOwners: () => string
  /** What stands behind the callee's handing over to the base tier. */
  readonly left: () => string
  /** What stands behind a fault that it raised. */
  readonly raised: () => string
  /** Takes the result, in its general form or as a raw float. */
  readonly result: (value: () => string, raw: () => string) => string
}

/** What a text has in common with those of the callees in it. */
export interface Shared {
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly texts: Map<unknown, string>
  /** Variables beside those of slots are declared always; those of slots, with what they begin with, when they are used. */
  readonly slots: Map<string, string>
  readonly functions: string[]
  /** Expressions whose value is found where the unit is entered → its variable. */
  readonly tests: Map<string, string>
  labels: number
}

/** What a text begins with. */
export function makeShared(): Shared {
  return { sites: [], constants: [], texts: new Map(), slots: new Map(), functions: [], tests: new Map(), labels: 0 }
}

/** What those who write one concern of a unit ask of the writer of the whole. */
export interface WholeWriter extends InstrWriter {
  /** What this text is part of: null for all but the text of a callee. */
  readonly host: Host | null
  readonly shared: Shared
  readonly region: Region
  /** Blocks of quiet loops (quiet.ts). */
  readonly quiet: ReadonlySet<Block>
  /** Whether the instruction being written is in a quiet loop. */
  readonly isQuiet: boolean
  /** The block being written. */
  readonly at: Block | null
  /** Whether others break to a block. */
  isLabelled(block: Block): boolean
  /** The variable with this letter of a slot. */
  variable(letter: string, slot: number, start: string): string
  /** A site that is only asked for its place. */
  place(i: Instr): string
  /** A fault came out of the call `i`. */
  passOn(i: Instr, block: Block): string
  /** A call in a quiet loop uses a unit of fuel. */
  oweCall(): void
  /** The writer of a callee that is part of this text. */
  makeInner(host: Host): UnitBody
}

/** The writer of a callee, as the call sees it. */
export interface UnitBody {
  any(slot: number): string
  raw(slot: number): string
  writeBody(): string
}
