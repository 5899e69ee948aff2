// The compiled form of a module: functions with their code, and the tables the code refers to. Plain data, frozen after
// assembly; it contains no state of a machine and can be shared, cached and serialised.

import type { ImportCeiling } from '../grants/ceilings.js'

/** Constants: primitives, exact ints, and tagged rows for values that JSON lacks. */
export type Constant =
  | null
  | boolean
  | string
  | number
  | bigint
  | { readonly tag: 'float'; readonly value: number }
  | { readonly tag: 'duration'; readonly ms: number | bigint }
  /** Any JSON data that an instruction interprets (schemas, parameter checks, key lists); `value` becomes a script value. */
  | { readonly tag: 'data'; readonly json: string }
  | { readonly tag: 'struct'; readonly name: string; readonly fields: readonly string[] | null }

/** A fault raised in [start, end) enters at `target` with the operand stack cut to `depth` and the fault pushed. */
export interface Handler {
  readonly start: number
  readonly end: number
  readonly target: number
  readonly depth: number
}

/** A named local while it is in scope: for traces, debuggers and the look-up of callables in callers. */
export interface LocalName {
  readonly name: string
  readonly slot: number
  readonly start: number
  readonly end: number
}

/** In the order of their numbers in written chunks. */
export const FUNCTION_KINDS = ['main', 'function', 'closure', 'generator', 'stream'] as const
export type FunctionKind = (typeof FUNCTION_KINDS)[number]

export interface FunctionChunk {
  readonly name: string
  readonly kind: FunctionKind
  readonly params: readonly string[]
  /** Index of the first parameter with a default; params.length without one. Missing arguments before it are nil. */
  readonly firstDefault: number
  /** Index of the rest parameter, -1 without one. */
  readonly rest: number
  /** Locals, parameters first. */
  readonly slots: number
  /** Deepest operand stack. */
  readonly stack: number
  readonly code: readonly number[]
  /** Inner handlers before outer ones. */
  readonly handlers: readonly Handler[]
  readonly captures: readonly string[]
  // ---- debug information, not part of the code's identity
  /** Triples [code position, line, column], ascending by position. Lines and columns count from 1. */
  readonly lines: readonly number[]
  readonly locals: readonly LocalName[]
}

export interface ModuleChunk {
  /** Its name in imports and snapshots: a path or `std/name`. */
  readonly key: string
  /** The path itself if the key has a number appended; see ceilings. */
  readonly file?: string
  /**
   * Hash of the module's behaviour, 16 hex digits: set for modules of the library, which were written and verified when Bridle was built
   * (bytecode/module-text.ts). Others are hashed when a snapshot names them.
   */
  readonly fingerprint?: string
  /** Ceilings of its importers (grants/imports.ts); absent for none. */
  readonly ceilings?: readonly ImportCeiling[]
  readonly functions: readonly FunctionChunk[]
  readonly constants: readonly Constant[]
  readonly names: readonly string[]
  readonly builtins: readonly string[]
  /** Keys of the imported modules, by `unit` operand. */
  readonly units: readonly string[]
  /** Names of the module slots: the module's variables and functions. Empty for the main module, which keeps them as locals. */
  readonly moduleSlots: readonly string[]
  /** Function slots that importers may bind. */
  readonly exports: { readonly [name: string]: number }
}

/** A whole program: every module follows those it imports, except in cycles. */
export interface CompiledProgram {
  readonly modules: readonly ModuleChunk[]
  readonly main: string
}
