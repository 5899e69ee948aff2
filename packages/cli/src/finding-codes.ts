// THE table of the catalogues: every code that a finding before a run can have, for `bridle explain` and the reference page.
// All phases report through `report` of @bridle/parser, which takes a catalogue and a code of it.

import { CHECK_CATALOG, EFFECT_CATALOG, EMIT_CATALOG, INVARIANT_CATALOG, LINT_CATALOG, MISTAKE_CATALOG } from '@bridle/compiler'
import { CATALOG } from '@bridle/parser'
import type { Catalog, Severity } from '@bridle/parser'
import { PREFLIGHT_CATALOG } from './preflight/catalog.js'

export interface FindingCode {
  readonly severity: Severity
  readonly title: string
  readonly doc: string
  /** Name of the lint rule, by which it is switched off. */
  readonly rule?: string
}

/** In the order in which they are listed; a code is in one of them. */
export const CATALOGS: readonly Catalog[] = [
  CATALOG,
  CHECK_CATALOG,
  EMIT_CATALOG,
  EFFECT_CATALOG,
  LINT_CATALOG,
  MISTAKE_CATALOG,
  PREFLIGHT_CATALOG,
  INVARIANT_CATALOG,
]

export const FINDING_CODES: Readonly<Record<string, FindingCode>> = Object.assign({}, ...CATALOGS)

/** The code that is named, or whose lint rule is. */
export function resolveFindingCode(name: string): string | null {
  const code = name.toUpperCase()
  if (Object.hasOwn(FINDING_CODES, code)) return code
  return Object.entries(FINDING_CODES).find(([, { rule }]) => rule === name.toLowerCase())?.[0] ?? null
}
