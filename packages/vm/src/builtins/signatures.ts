// What the compiler needs to know of builtins, derived from a registry.

import type { BuiltinEffects, Signatures } from '@bridle/compiler/signatures'
import type { BuiltinDef } from './builtin.js'
import type { Registry } from './registry.js'

/** Names with this prefix belong to the compiler; scripts may call them, suggestions never include them. */
const INTERNAL = '__'

/** Types of receivers that a variable may own. No method retains any other kind. */
const OWNABLE: ReadonlySet<string> = new Set(['list', 'dict'])

export function collectSignatures(registry: Registry, globals: Iterable<string> = []): Signatures {
  const borrowed = new Set<string>()
  const kept = new Set<string>()
  for (const [type, table] of registry.methods) {
    for (const def of table.values()) (def.borrows || !OWNABLE.has(type) ? borrowed : kept).add(def.name)
  }
  return {
    effects: (name) => {
      const def = registry.builtins.get(name)
      return def === undefined ? undefined : collectEffects([def])
    },
    methodEffects: (name) => {
      const defs = [...registry.methods.values()].flatMap((table) => table.get(name) ?? [])
      return defs.length === 0 ? undefined : collectEffects(defs)
    },
    has: (name) => registry.builtins.has(name),
    borrows: (name) => registry.builtins.get(name)?.borrows ?? false,
    // The receiver's type is unknown here: the name must be safe on every type that has it.
    borrowsMethod: (name) => borrowed.has(name) && !kept.has(name),
    constants: [...registry.constants.keys(), ...globals],
    // For suggestions, and lazily: most programs need none.
    get names() {
      return [...registry.builtins.keys()].filter((name) => !name.startsWith(INTERNAL) && !name.includes('.'))
    },
  }
}

function collectEffects(defs: readonly BuiltinDef[]): BuiltinEffects {
  const tokens = new Set<string>()
  for (const { effects } of defs) {
    if (effects !== 'pure') for (const effect of effects) if (effect !== 'callback') tokens.add(effect)
  }
  return { tokens: [...tokens], calls: defs.some(takesFunction) ? 'arguments' : 'nothing' }
}

/** Lazy sequences keep a function and call it later; for the caller's ownership that makes no difference. */
function takesFunction({ signature }: BuiltinDef): boolean {
  const results = signature.lastIndexOf(') ->')
  return /\bclosure\b|\bfn\(/.test(results < 0 ? signature : signature.slice(0, results))
}
