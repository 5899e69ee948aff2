// Joins builtin families into the table that a machine links against. Duplicates are refused; signatures for the checker and
// the docs are read off the same definitions.

import { guarded } from './tools-policy.js'
import type { BuiltinDef, FrameDef } from './builtin.js'
import type { Value } from '../values/value.js'

/** What one family file exports. */
export interface BuiltinFamily {
  readonly name: string
  readonly builtins: readonly BuiltinDef[]
  readonly frames?: readonly FrameDef[]
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
      table.set(def.name, guarded(def))
    }
    for (const def of family.frames ?? []) {
      if (frames.has(def.kind)) throw new Error(`native frame ${def.kind} is defined twice`)
      frames.set(def.kind, def)
    }
    for (const [name, value] of Object.entries(family.constants ?? {})) constants.set(name, value)
  }
  return { builtins, methods, frames, constants, families }
}
