// Ceilings of a module's functions as data: made from `@grant_import` (imports.ts) or options of a host, stored
// in chunks, enforced by the checker and at run time.

import { EFFECT_NAMES } from '../effects/kinds.js'
import type { GrantRecord } from './constraints.js'

export interface ImportCeiling {
  /** The import path as written. */
  readonly module: string
  /** Names of allowed effects (effects/kinds.ts), sorted; `fs.read` is `fs` without changes. Null: all of them. */
  readonly effects: readonly string[] | null
  /** Constraints by tool id, family or pattern. */
  readonly grants: { readonly [tool: string]: GrantRecord }
}

/** Effects that are allowed by default. */
export const FREE_EFFECTS: readonly string[] = Object.keys(EFFECT_NAMES).filter(
  (name) => !EFFECT_NAMES[name as keyof typeof EFFECT_NAMES].needsGrant,
)

/** Normalises effect names of a host for a ceiling. `fs.read` is reading only; effects that need no grant are always allowed. */
export function normalizeCeiling(names: readonly string[]): readonly string[] {
  return [...new Set([...FREE_EFFECTS, ...names])].sort()
}

/** Kinds of effect that read files and change nothing. */
const READING: ReadonlySet<string> = new Set(['fs.read', 'fs.query'])

/** Whether a ceiling allows an effect, by its name and its kind; an unknown kind is null. */
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

/** Names that `normalizeCeiling` accepts. */
export function isEffectName(name: string): boolean {
  return name === 'fs.read' || Object.hasOwn(EFFECT_NAMES, name)
}
