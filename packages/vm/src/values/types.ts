// The type of all values, open at the bottom: values hold values, so the union and its classes refer to each other. The union names no
// class. Each class adds itself to `ValueClasses` in the file that defines it, and every file imports downward only.
//
// Closures and generators hold what only the interpreter understands. `Code` and `Stack` name it here; the file that defines it fills them in.

import type { FunctionChunk } from '@bridle/compiler/bytecode'

/** The classes of values that are objects, by their names in TypeScript. */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled in by the files that define the classes
export interface ValueClasses {}

export type Int = number | bigint

export type Value = null | boolean | string | Int | ValueClasses[keyof ValueClasses]

/**
 * The code that a closure runs: FunctionCode of interpreter/module.ts, which adds the rest. Values show the names of its parameters,
 * faults where they stood in it.
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
  /** Whether traces leave its frames out. */
  readonly isHidden: boolean
}

/** What a generator stands on between two items: Coroutine of scheduler/task.ts. */
// oxlint-disable-next-line typescript/no-empty-object-type -- filled in by scheduler/task.ts
export interface Stack {}
