// The type of all values. Values contain values, so the union and its classes refer to each other. To keep imports downward only, the union
// names no class: each class adds itself to `ValueClasses` in the file that defines it.
//
// Closures and generators hold objects of the interpreter. `Code` and `Stack` declare them here; the file that defines them fills them in.

import type { FunctionChunk } from '@bridle/compiler/bytecode'

/** The classes of values that are objects, by their names in TypeScript. */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled in by the files that define the classes
export interface ValueClasses {}

export type Int = number | bigint

export type Value = null | boolean | string | Int | ValueClasses[keyof ValueClasses]

/**
 * The code that a closure runs: FunctionCode of interpreter/module.ts, which adds the rest. Formatting uses the parameter
 * names, faults the positions.
 */
export interface Code {
  readonly paramNames: readonly string[]
  readonly chunk: FunctionChunk
  readonly module: CodeModule
  findPlace(pc: number): { readonly line: number; readonly column: number }
}

/** The module of a function: Module of interpreter/module.ts. */
export interface CodeModule {
  readonly file: string
  /** Whether traces omit its frames. */
  readonly isHidden: boolean
}

/** The stack of a suspended generator: Coroutine of scheduler/task.ts. */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled in by scheduler/task.ts
export interface Stack {}
