// Grants of tools as a host writes them: by alias, tool id, family (`http`) or pattern (`http.*`, `*`), the constraints of
// docs/tools/grants.md. They are the outermost scope of a run; scripts narrow them and never widen them.

import { constraintProblem } from '@bridle/compiler/grants'
import type { GrantRecord, GrantScalar, GrantValue } from '@bridle/compiler/grants'
import type { GrantScope } from '@bridle/vm'
import { GrantError } from '../authority.js'

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

/** `timeoutMs` and `max…` are written as everywhere in TypeScript; names of arguments stay as the tool has them. */
function keyOf(key: string): string {
  return key === 'timeoutMs' || /^max[A-Z]/.test(key) ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key
}

/** Raises GrantError for a constraint that cannot be understood: a misspelt grant must not be a missing one. */
export function grantScope(grants: ToolGrants, defaultDeny: boolean | 'effects' = false): GrantScope {
  const records: { [tool: string]: GrantRecord } = {}
  for (const [tool, grant] of Object.entries(grants)) {
    const record: { [key: string]: GrantValue } = {}
    for (const [key, value] of Object.entries(grant)) {
      if (value === undefined) continue
      const name = keyOf(key)
      const problem = constraintProblem(name, value)
      if (problem !== null) throw new GrantError(`grant of "${tool}": ${name} ${problem}`)
      record[name] = value
    }
    records[tool] = record
  }
  return defaultDeny !== false ? { grants: records, defaultDeny } : { grants: records }
}
