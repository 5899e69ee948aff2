// The input and output of unit writers (writer.ts), and what the writers of one concern (fuel, views, inlined calls) need from the whole.

import type { Instr } from '../interpreter/linked.js'
import type { Machine } from '../interpreter/machine.js'
import type { HarnClosure } from '../values/callable.js'
import type { Block, FlowGraph } from './graph.js'
import type { InstrWriter } from './instr-writer.js'
import type { Region } from './region.js'
import type { Site } from './site.js'
import type { Expectation } from './state.js'
import type { Callee, Types } from './types.js'

/** Source with the objects that it references by number. */
export interface UnitText {
  readonly text: string
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly expects: readonly Expectation[]
}

/** A whole function; a loop that is entered in mid-run; or the part of a generator from where it resumes to its next yields. */
export type UnitKind = 'function' | 'loop' | 'part' | 'callee'

export interface UnitOptions {
  readonly graph: FlowGraph
  readonly kind: UnitKind
  readonly entry: Block
  /** The values of slots at the entry of the unit, for guesses. */
  readonly sample: (slot: number) => unknown
  readonly machine: Machine
  /** A closure that runs this code. */
  readonly closure: HarnClosure
}

/** The context of an inlined callee: a call, or a loop that calls a function for every element (callbacks.ts). */
export interface Host {
  readonly shared: Shared
  readonly call: Callee
  readonly states: Map<Block, Types>
  readonly prefix: string
  /** The closure that is called. */
  readonly self: string
  /** Whether fuel is in a variable, and an expression for it. */
  readonly isQuiet: boolean
  readonly fuel: string
  /** A captured value, if the code keeps captures. */
  readonly capture?: (at: number) => string
  /** An expression that may use fuel. */
  readonly calling: (text: string, isApart: boolean) => string
  readonly lookForOwners: () => string
  /** Code after the callee has handed over to the base tier. */
  readonly left: () => string
  /** Code after a fault that it raised. */
  readonly raised: () => string
  /** Receives the result, in its general form or as a raw float. */
  readonly result: (value: () => string, raw: () => string) => string
}

/** What a unit shares with its inlined callees. */
export interface Shared {
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly texts: Map<unknown, string>
  /** Variables other than those of slots are always declared; those of slots, with their initial values, only when they are used. */
  readonly slots: Map<string, string>
  readonly functions: string[]
  /** Expressions evaluated at the entry of the unit → their variable. */
  readonly tests: Map<string, string>
  labels: number
}

/** Statements at the start of the code. */
export function makeShared(): Shared {
  return { sites: [], constants: [], texts: new Map(), slots: new Map(), functions: [], tests: new Map(), labels: 0 }
}

/** What the writers of one concern of a unit need from the writer of the whole. */
export interface WholeWriter extends InstrWriter {
  /** The context of an inlined callee; null for everything else. */
  readonly host: Host | null
  readonly shared: Shared
  readonly region: Region
  /** Blocks of quiet loops (quiet.ts). */
  readonly quiet: ReadonlySet<Block>
  /** Whether the instruction being written is in a quiet loop. */
  readonly isQuiet: boolean
  /** The block being written. */
  readonly at: Block | null
  /** Whether a block is the target of a break. */
  isLabelled(block: Block): boolean
  /** The variable of a slot with this letter. */
  variable(letter: string, slot: number, start: string): string
  /** A site that is needed only for its position. */
  place(i: Instr): string
  /** A fault was raised by the callee of `i`. */
  passOn(i: Instr, block: Block): string
  /** A call in a quiet loop uses a unit of fuel. */
  oweCall(): void
  /** The writer of an inlined callee. */
  makeInner(host: Host): UnitBody
}

/** The writer of a callee, as the call sees it. */
export interface UnitBody {
  any(slot: number): string
  raw(slot: number): string
  writeBody(): string
}
