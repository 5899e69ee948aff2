// `@bridle/compiler/signatures`: what the compiler must know about builtins. The registry of the machine is its source; the
// compiler itself never sees the machine.

export { findClosest, editDistance } from '@bridle/parser/suggest'

/** What a call of a builtin may ask of the world. */
export interface BuiltinEffects {
  /** Kinds of effect (`fs.read`) and marks of families that keep state (`shared`); empty for a pure builtin. */
  readonly tokens: readonly string[]
  /** Whether it calls a function that it is given. */
  readonly calls: 'nothing' | 'arguments'
}

export interface Signatures {
  /** Names that can be called without being declared. */
  readonly has: (name: string) => boolean
  /** Builtins and methods that neither keep nor return their arguments: a container passed to them stays owned. */
  readonly borrows: (name: string) => boolean
  readonly borrowsMethod: (name: string) => boolean
  /** undefined: there is no builtin of that name. */
  readonly effects: (name: string) => BuiltinEffects | undefined
  /** Of all builtin methods of that name, whatever their receiver; undefined when there is none. */
  readonly methodEffects: (name: string) => BuiltinEffects | undefined
  /** Global constants that are values rather than functions, such as `pi`. */
  readonly constants: readonly string[]
  /** All builtin names, for suggestions. */
  readonly names: readonly string[]
}
