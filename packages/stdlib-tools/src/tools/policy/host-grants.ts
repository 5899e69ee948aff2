// Grants of tools as a host writes them: by alias, tool id, family (`http`) or pattern (`http.*`, `*`), the constraints of
// docs/tools/grants.md. They are the outermost scope of a run; scripts narrow them and never widen them.

import { normalizeCeiling, constraintProblem, isEffectName } from '@bridle/compiler/grants'
import type { ConstraintRules, GrantRecord, GrantScalar, GrantValue, ImportCeiling } from '@bridle/compiler/grants'
import type { GrantScope } from './grant-ceiling.js'
import { GrantError } from './grant-error.js'
import { toGrantKey } from './host-constraints.js'

/** One tool's constraints. Other keys are names of arguments, with the value or values that they must have. */
export interface ToolGrant {
  readonly domain?: string | readonly string[]
  readonly path?: string | readonly string[]
  readonly timeoutMs?: number
  readonly maxRetries?: number
  readonly maxCalls?: number
  /** Of model calls and of tools that say what a call costs, together. */
  readonly maxCostUsd?: number
  /** Of model calls, in and out, together. */
  readonly maxTotalTokens?: number
  readonly version?: string
  readonly [argument: string]: GrantScalar | readonly GrantScalar[] | undefined
}

export type ToolGrants = { readonly [tool: string]: ToolGrant }

/** Raises GrantError for a constraint that cannot be understood: a misspelt grant must not be a missing one. */
export function grantScope(grants: ToolGrants, defaultDeny: boolean | 'effects' = false, rules?: ConstraintRules): GrantScope {
  const records: { [tool: string]: GrantRecord } = {}
  for (const [tool, grant] of Object.entries(grants)) {
    const record: { [key: string]: GrantValue } = {}
    for (const [key, value] of Object.entries(grant)) {
      if (value === undefined) continue
      const name = toGrantKey(key, rules)
      const problem = constraintProblem(name, value, rules)
      if (problem !== null) throw new GrantError(`grant of "${tool}": ${name} ${problem}`)
      record[name] = value
    }
    records[tool] = record
  }
  return defaultDeny !== false ? { grants: records, defaultDeny } : { grants: records }
}

/** What a host leaves to an imported module. */
export interface ImportGrant {
  /** Effects that are left, as `allowEffects` of a compilation names them; `fs.read` is reading alone. All when absent. */
  readonly allowEffects?: readonly string[]
  readonly grants?: ToolGrants
}

/** By the path of the import, or the key of the module. */
export type ImportGrants = { readonly [path: string]: ImportGrant }

/** Raises GrantError for what cannot be understood. */
export function makeImportCeilings(imports: ImportGrants, rules?: ConstraintRules): { readonly [path: string]: ImportCeiling } {
  const ceilings: { [path: string]: ImportCeiling } = {}
  for (const [module, { allowEffects, grants = {} }] of Object.entries(imports)) {
    const unknown = allowEffects?.find((name) => !isEffectName(name))
    if (unknown !== undefined) throw new GrantError(`import "${module}": there is no effect "${unknown}"`)
    ceilings[module] = {
      module,
      effects: allowEffects === undefined ? null : normalizeCeiling(allowEffects),
      grants: withNumbers(grantScope(grants, false, rules).grants),
    }
  }
  return ceilings
}

/** Ceilings are JSON. */
function withNumbers(grants: GrantScope['grants']): GrantScope['grants'] {
  const toNumber = (value: GrantScalar): GrantScalar => (typeof value === 'bigint' ? Number(value) : value)
  const convertGrant = (grant: GrantRecord): GrantRecord =>
    Object.fromEntries(
      Object.entries(grant).map(([key, value]) => [
        key,
        Array.isArray(value) ? (value as readonly GrantScalar[]).map(toNumber) : toNumber(value as GrantScalar),
      ]),
    )
  return Object.fromEntries(Object.entries(grants).map(([tool, grant]) => [tool, convertGrant(grant)]))
}
