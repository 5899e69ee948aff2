// THE table of findings about `@invariant(...)`. `invariant` is the name that reports show.

import type { CatalogRow } from '@bridle/parser'

export interface InvariantRow<Args> extends CatalogRow<Args> {
  /** Canonical name of the invariant; null for findings about the attribute itself. */
  readonly invariant: string | null
}

function row<A>(definition: Omit<InvariantRow<A>, 'severity'>): InvariantRow<A> {
  return { severity: 'error', ...definition }
}

type None = Record<string, never>

const GLOB_HINT = 'use a literal path that matches the declared glob, or narrow the dynamic path before writing'

export const INVARIANT_CATALOG = {
  I001: row<{ path: string; globs: readonly string[] }>({
    invariant: 'fs.writes',
    title: 'write outside of the allowed paths',
    message: (a) => `write path \`${a.path}\` is outside the allowed glob(s): ${a.globs.join(', ')}`,
    hint: () => GLOB_HINT,
    doc: 'A handler under `@invariant("fs.writes", …)` writes to a path that none of its globs matches.',
  }),
  I002: row<{ call: string; globs: readonly string[] }>({
    invariant: 'fs.writes',
    title: 'write to an unknown path',
    message: (a) => `could not prove \`${a.call}\` stays within the allowed glob(s): ${a.globs.join(', ')}`,
    hint: () => GLOB_HINT,
    doc: 'A handler under `@invariant("fs.writes", …)` writes to a path that is computed.',
  }),
  I003: row<None>({
    invariant: 'fs.writes',
    title: 'fs.writes without a glob',
    message: () => '`fs.writes` requires at least one allowed path glob',
    hint: () => 'name what may be written: `@invariant("fs.writes", "out/**")`',
    doc: 'The attribute does not say which paths may be written.',
  }),
  I010: row<{ target: string }>({
    invariant: 'budget.remaining',
    title: 'budget that may grow',
    message: (a) =>
      `assignment to \`${a.target}\` may increase it; only self-subtractions, identity assignments, or \`llm_budget_remaining()\` refreshes are accepted`,
    hint: () => 'rewrite the update as `target = target - delta`, `target -= delta`, or refresh it from `llm_budget_remaining()`',
    doc: 'A handler under `@invariant("budget.remaining")` assigns its budget something that is not plainly less.',
  }),
  I020: row<{ call: string }>({
    invariant: 'approval.reachability',
    title: 'side effect before an approval',
    message: (a) => `side-effecting call \`${a.call}\` is reachable before any approval gate`,
    hint: () => 'call `request_approval(...)` earlier on every path, or move the side effect into a `dual_control(...)` closure',
    doc: 'A handler under `@invariant("approval.reachability")` can reach a side effect without anybody having been asked.',
  }),
  I030: row<None>({
    invariant: null,
    title: 'invariant without a name',
    message: () => '`@invariant(...)` requires an invariant name as the first positional argument or `name:`',
    hint: () => 'for example `@invariant("fs.writes", "src/**")`',
    doc: 'The attribute has arguments, and none of them names an invariant.',
  }),
  I031: row<{ name: string }>({
    invariant: null,
    title: 'unknown invariant',
    message: (a) => `unknown invariant \`${a.name}\``,
    hint: () => 'known invariants are `fs.writes`, `budget.remaining`, and `approval.reachability`',
    doc: 'The attribute names an invariant that does not exist.',
  }),
  I032: row<None>({
    invariant: null,
    title: 'argument of an invariant',
    message: () => '`@invariant(...)` arguments must be strings, identifiers, numbers, bools, or nil',
    hint: () => 'write several globs as several arguments',
    doc: 'The attribute has a list as an argument.',
  }),
}

export type InvariantCode = keyof typeof INVARIANT_CATALOG

/** The name that a report shows beside a code; null for codes of other phases. */
export function nameInvariant(code: string): string | null {
  const rows: Readonly<Record<string, InvariantRow<never> | undefined>> = INVARIANT_CATALOG
  const row = rows[code]
  return row === undefined ? null : (row.invariant ?? 'invariant')
}
