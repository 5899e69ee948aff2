// What the compiler asks about builtins, read off a registry.

import type { Signatures } from '@bridle/compiler/signatures'
import type { Registry } from './registry.js'

/** Names with this prefix belong to the compiler; scripts may call them, suggestions never show them. */
const INTERNAL = '__'

export function signaturesOf(registry: Registry, globals: Iterable<string> = []): Signatures {
  const borrowed = new Set<string>()
  const kept = new Set<string>()
  for (const table of registry.methods.values()) {
    for (const def of table.values()) (def.borrows ? borrowed : kept).add(def.name)
  }
  return {
    has: (name) => registry.builtins.has(name),
    borrows: (name) => registry.builtins.get(name)?.borrows ?? false,
    // The receiver's type is not known here: the name must be safe on every type that has it.
    borrowsMethod: (name) => borrowed.has(name) && !kept.has(name),
    constants: [...registry.constants.keys(), ...globals],
    names: [...registry.builtins.keys()].filter((name) => !name.startsWith(INTERNAL) && !name.includes('.')),
  }
}
