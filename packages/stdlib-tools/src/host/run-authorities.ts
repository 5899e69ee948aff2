// What runs of a runtime may do: what its host gives, narrowed by a start, and by what a run was allowed before.

import { SnapshotError } from '@bridle/vm'
import type { ConstraintRules } from '@bridle/compiler/grants'
import { GrantError } from '../tools/policy/grant-error.js'
import type { ApprovalScope, GrantCeiling, GrantScope } from '../tools/policy/grant-ceiling.js'
import { makeBudgetScope } from '../tools/policy/host-budgets.js'
import { grantScope } from '../tools/policy/host-grants.js'
import { isSecurityLevel } from '../tools/policy/level-order.js'
import type { SecurityLevel } from '../tools/policy/level-order.js'
import { joinAuthorities, readHeldScopes } from './run-authority.js'
import type { RunAuthority } from './run-authority.js'
import { runLimits } from './run-limits.js'
import type { RuntimeOptions, StartOptions } from './runtime-options.js'

export class RunAuthorities {
  private readonly options: RuntimeOptions
  private readonly rules: ConstraintRules | undefined
  /** What people are asked about; null: nothing. */
  private readonly approval: ApprovalScope | null

  constructor(options: RuntimeOptions, rules: ConstraintRules | undefined, approval: ApprovalScope | null) {
    this.options = options
    this.rules = rules
    this.approval = approval
  }

  /** What the runtime and these options give. */
  make(
    options: Pick<StartOptions, 'grants' | 'toolGrants' | 'defaultDeny' | 'securityLevel' | 'budgets' | 'limits'>,
  ): RunAuthority {
    const { grants, builtins, pins, enforceManifest, confinement, limits } = this.options
    return {
      grants: [[...(grants ?? [])], ...(options.grants === undefined ? [] : [[...options.grants]])],
      scopes: this.makeCeiling(options),
      builtins: builtins === undefined ? [] : [builtins],
      pins: pins === undefined ? null : Object.fromEntries(pins),
      isHeld: enforceManifest !== false,
      confinement: confinement?.facts ?? null,
      limits: runLimits({ ...limits, ...options.limits }),
    }
  }

  /** What a run that continues may do. Raises SnapshotError where that cannot be said. */
  resume(before: RunAuthority | null, options: StartOptions, widen: boolean): RunAuthority {
    const now = this.make(options)
    if (widen) return now
    if (before === null) {
      // An explicit authority of the host is used; without one the run would get everything that the host has.
      if (options.grants !== undefined) return now
      throw new SnapshotError(
        'authority',
        'it was written by a version that did not write down what the run may do: name its grants, or set widen',
      )
    }
    if (before.confinement !== null && this.options.confinement?.isWithin(before.confinement) !== true)
      throw new SnapshotError(
        'authority',
        'the run was confined further than this host confines it: give the runtime the same confinement, or set widen',
      )
    return joinAuthorities({ ...before, scopes: readHeldScopes(before, this.rules) }, now)
  }

  /** The runtime's grants of tools, and those that the start adds. */
  private makeCeiling(options: Pick<StartOptions, 'toolGrants' | 'defaultDeny' | 'securityLevel' | 'budgets'>): GrantCeiling {
    const ceiling: GrantScope[] = [this.options, options].flatMap(({ toolGrants, defaultDeny, securityLevel: level }) => [
      ...(toolGrants === undefined && (defaultDeny ?? false) === false
        ? []
        : [grantScope(toolGrants ?? {}, defaultDeny, this.rules)]),
      ...(level === undefined ? [] : [{ grants: {}, level: requireLevel(level) }]),
    ])
    if (this.approval !== null) ceiling.push({ grants: {}, approve: this.approval })
    return options.budgets === undefined ? ceiling : [...ceiling, makeBudgetScope(options.budgets)]
  }
}

/** Raises GrantError: a misspelt level must not be a missing one. */
export function requireLevel(level: unknown): SecurityLevel {
  if (isSecurityLevel(level)) return level
  throw new GrantError(`securityLevel: expected "safe", "restricted" or "privileged", got ${JSON.stringify(level)}`)
}
