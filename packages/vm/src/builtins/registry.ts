// Joins builtin families into the table that a machine links against. Duplicates are refused; signatures for the checker and
// the docs are read off the same definitions.

import { charging } from './charging.js'
import { guarded } from './tools-policy.js'
import type { BuiltinDef, Context, FrameDef } from './builtin.js'
import type { Value } from '../values/value.js'

/** What one family file exports. */
export interface BuiltinFamily {
  readonly name: string
  readonly builtins: readonly BuiltinDef[]
  readonly frames?: readonly FrameDef[]
  /** `arguments`: by their size, before the builtin runs (charging.ts). `own` when absent: each builtin charges what it does. */
  readonly charges?: 'own' | 'arguments'
  /** Global constants, such as `pi`. Plain immutable values only. */
  readonly constants?: Readonly<Record<string, Value>>
}

export interface Registry {
  readonly builtins: ReadonlyMap<string, BuiltinDef>
  /** By `type_of` name of the receiver, then method name. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, BuiltinDef>>
  readonly frames: ReadonlyMap<string, FrameDef>
  readonly constants: ReadonlyMap<string, Value>
  readonly families: readonly BuiltinFamily[]
}

/** Builtins that stay when only listed ones are permitted (reference 02 §22). */
const CORE: ReadonlySet<string> = new Set(
  (
    'println print log type_of to_string to_int to_float len assert assert_eq assert_ne json_parse json_stringify runtime_context ' +
    'runtime_context_values runtime_context_get runtime_context_set runtime_context_clear task_current'
  ).split(' '),
)

export type BuiltinLists = { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

/**
 * The registry with builtins that refuse to run: those of `deny`, or all but those of `allow` and the core. What begins with `__` is
 * how the language itself is made and stays; it reaches the world through the others.
 */
export function restrictRegistry(registry: Registry, lists: BuiltinLists): Registry {
  const permits =
    'deny' in lists
      ? (name: string) => !lists.deny.includes(name)
      : (name: string) => lists.allow.includes(name) || CORE.has(name) || name.startsWith('__')
  const builtins = new Map(
    [...registry.builtins].map(([name, def]) => [
      name,
      permits(name)
        ? def
        : { ...def, run: (ctx: Context) => ctx.categorized('tool_rejected', `Tool '${name}' is not permitted.`) },
    ]),
  )
  return { ...registry, builtins }
}

export function createRegistry(families: readonly BuiltinFamily[]): Registry {
  const builtins = new Map<string, BuiltinDef>()
  const methods = new Map<string, Map<string, BuiltinDef>>()
  const frames = new Map<string, FrameDef>()
  const constants = new Map<string, Value>()
  for (const family of families) {
    for (const def of family.builtins) {
      let table: Map<string, BuiltinDef> = builtins
      if (def.receiver !== null) {
        table = methods.get(def.receiver) ?? new Map()
        methods.set(def.receiver, table)
      }
      if (table.has(def.name)) throw new Error(`builtin ${def.receiver ?? ''}.${def.name} is defined twice`)
      table.set(def.name, guarded(family.charges === 'arguments' && !def.pays ? charging(def) : def))
    }
    for (const def of family.frames ?? []) {
      if (frames.has(def.kind)) throw new Error(`native frame ${def.kind} is defined twice`)
      frames.set(def.kind, def)
    }
    for (const [name, value] of Object.entries(family.constants ?? {})) constants.set(name, value)
  }
  return { builtins, methods, frames, constants, families }
}
