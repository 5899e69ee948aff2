// THE table of the catalogues: every code of a finding before a run, for `bridle explain` and the reference page.
// All phases report through `report` of @bridle/parser, which takes a catalogue and a code.

import { CHECK_CATALOG, EFFECT_CATALOG, EMIT_CATALOG, INVARIANT_CATALOG, LINT_CATALOG, MISTAKE_CATALOG } from '@bridle/compiler'
import { CATALOG } from '@bridle/parser'
import type { Catalog, Severity } from '@bridle/parser'
import { PREFLIGHT_CATALOG } from './preflight/catalog.js'

export interface FindingCode {
  readonly severity: Severity
  readonly title: string
  readonly doc: string
  /** Name of the lint rule, which switches it off. */
  readonly rule?: string
}

/** In listing order; each code is in exactly one. */
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

/** The entry of a code or of a lint rule. */
export function resolveFindingCode(name: string): string | null {
  const code = name.toUpperCase()
  if (Object.hasOwn(FINDING_CODES, code)) return code
  return Object.entries(FINDING_CODES).find(([, { rule }]) => rule === name.toLowerCase())?.[0] ?? null
}
