// What the importers of a module leave its functions to do, as data: made of `@grant_import` (imports.ts) or of what a host says, kept
// in chunks, judged by the checker and at run time alike.

import { EFFECT_NAMES } from '../effects/kinds.js'
import type { GrantRecord } from './constraints.js'

export interface ImportCeiling {
  /** The module as the importer wrote it. */
  readonly module: string
  /** Names of effects that are left (effects/kinds.ts), sorted; `fs.read` is `fs` without changing anything. Null: all of them. */
  readonly effects: readonly string[] | null
  /** Constraints by tool id, family or pattern. */
  readonly grants: { readonly [tool: string]: GrantRecord }
}

/** What is left where nothing is said. */
export const FREE_EFFECTS: readonly string[] = Object.keys(EFFECT_NAMES).filter(
  (name) => !EFFECT_NAMES[name as keyof typeof EFFECT_NAMES].needsGrant,
)

/** Effect names that a host lists, as a ceiling has them. `fs.read` is reading alone; what needs no grant is left in any case. */
export function normalizeCeiling(names: readonly string[]): readonly string[] {
  return [...new Set([...FREE_EFFECTS, ...names])].sort()
}

/** Kinds of effect that read files and change nothing. */
const READING: ReadonlySet<string> = new Set(['fs.read', 'fs.query'])

/** Whether a ceiling leaves an effect, by its name and its kind of the machine; a kind that is not known is null. */
export function leavesEffect(ceiling: ImportCeiling, effect: string, kind: string | null): boolean {
  const { effects } = ceiling
  if (effects === null || effects.includes(effect)) return true
  return effect === 'fs' && effects.includes('fs.read') && (kind === null || READING.has(kind))
}

/** Whether data from outside is a ceiling. */
export function isCeiling(raw: unknown): raw is ImportCeiling {
  const { module, effects, grants } = (raw ?? {}) as { readonly [Name in keyof ImportCeiling]?: unknown }
  const isNames = Array.isArray(effects) && effects.every((name) => typeof name === 'string')
  return typeof module === 'string' && (effects === null || isNames) && typeof grants === 'object' && grants !== null
}

/** What `normalizeCeiling` takes. */
export function isEffectName(name: string): boolean {
  return name === 'fs.read' || Object.hasOwn(EFFECT_NAMES, name)
}
