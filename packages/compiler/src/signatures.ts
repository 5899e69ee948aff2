// `@bridle/compiler/signatures`: what the compiler must know about builtins. The registry of the machine provides it; the
// compiler itself never sees the machine.

export { findClosest, editDistance } from '@bridle/parser/suggest'
export { BACKOFFS } from './types/backoffs.js'
export type { Backoff } from './types/backoffs.js'

/** Options of any call that a lint rule reads (`long-running-without-cleanup`), whatever the option shape says. */
export const OPTIONS_OF_LINT: readonly string[] = ['background', 'long_running']

/** Operations of `host_call` that the run answers from its own start parameters, without an effect. */
export const RUN_FACTS: ReadonlySet<string> = new Set(['runtime.pipeline_input', 'runtime.dry_run'])

/** Effects of a builtin. */
export interface BuiltinEffects {
  /** Kinds of effect (`fs.read`) and marks of families that keep state (`shared`); empty for a pure builtin. */
  readonly tokens: readonly string[]
  /** Whether it calls a function argument. */
  readonly calls: 'nothing' | 'arguments'
}

export interface Signatures {
  /** Names that can be called without a declaration. */
  readonly has: (name: string) => boolean
  /** Builtins and methods that neither keep nor return their arguments: a container passed to them remains owned. */
  readonly borrows: (name: string) => boolean
  readonly borrowsMethod: (name: string) => boolean
  /** undefined if there is no builtin of that name. */
  readonly effects: (name: string) => BuiltinEffects | undefined
  /** Of all builtin methods of that name, whatever their receiver; undefined when there is none. */
  readonly methodEffects: (name: string) => BuiltinEffects | undefined
  /** Global constants that are values rather than functions, such as `pi`. */
  readonly constants: readonly string[]
  /** All builtin names, for suggestions. */
  readonly names: readonly string[]
}
