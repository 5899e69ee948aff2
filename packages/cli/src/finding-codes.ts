// Every code that a finding before a run can have, from the catalogues of the phases, for `bridle explain` and the reference page.

import { CHECK_CATALOG, EFFECT_CATALOG, INVARIANT_CATALOG, LINT_CATALOG } from '@bridle/compiler'
import { CATALOG } from '@bridle/parser'
import { PREFLIGHT_CATALOG } from './preflight/catalog.js'

export interface FindingCode {
  readonly severity: string
  readonly title: string
  readonly doc: string
  /** Name of the lint rule, by which it is switched off. */
  readonly rule?: string
}

export const FINDING_CODES: Readonly<Record<string, FindingCode>> = {
  ...CATALOG,
  ...CHECK_CATALOG,
  C001: {
    severity: 'error',
    title: 'cannot be compiled',
    doc: 'The text is well formed and passed the checks, but says something that has no meaning where it stands, such as `break` outside a loop.',
  },
  ...EFFECT_CATALOG,
  ...LINT_CATALOG,
  ...PREFLIGHT_CATALOG,
  ...INVARIANT_CATALOG,
}

/** The code that is named, or whose lint rule is. */
export function findingCode(name: string): string | null {
  const code = name.toUpperCase()
  if (Object.hasOwn(FINDING_CODES, code)) return code
  return Object.entries(FINDING_CODES).find(([, { rule }]) => rule === name.toLowerCase())?.[0] ?? null
}
