// `@bridle/compiler/signatures`: what the compiler must know about builtins. The registry of the machine is its source; the
// compiler itself never sees the machine.

export interface Signatures {
  /** Names that can be called without being declared. */
  readonly has: (name: string) => boolean
  /** Builtins and methods that neither keep nor return their arguments: a container passed to them stays owned. */
  readonly borrows: (name: string) => boolean
  readonly borrowsMethod: (name: string) => boolean
  /** Global constants that are values rather than functions, such as `pi`. */
  readonly constants: readonly string[]
  /** All builtin names, for suggestions. */
  readonly names: readonly string[]
}
