// What a host allows a run beside its powers, and the judge of effects that holds the run to it. Small on purpose: a run without grants
// never loads the rules (grants.ts).

import { scopesOf } from '../../library/task-scopes.js'
import { hostSlot } from '@bridle/vm/families'
import type { Context, EffectJudge } from '@bridle/vm/families'
import type { ConstraintRules, GrantRecord } from '@bridle/compiler/grants'
import { effectProblem } from '../../library/effects/index.js'
import { codeOfCategory } from '../../library/tool-errors.js'
import { effectAsCall, faultOfEffect, limitOfGrants, spanOfEffect, withEffectPins } from './grants.js'
import type { SecurityLevel } from './security-level.js'

/** What a host allows its run, outermost first; every scope must allow a call. */
export type GrantCeiling = readonly GrantScope[]

export interface GrantScope {
  /** By alias, tool id, family or pattern. */
  readonly grants: { readonly [tool: string]: GrantRecord }
  /** Refuses every call that no key of `grants` names; `effects`: only those that reach the world through builtins. */
  readonly defaultDeny?: boolean | 'effects'
  /** Refuses what needs a higher security level. */
  readonly level?: SecurityLevel
}

export const GRANT_CEILING = hostSlot<GrantCeiling | null>('grant_ceiling', null)
/** Constraints of grants that the host has made; pure functions. */
export const CONSTRAINT_RULES = hostSlot<ConstraintRules | undefined>('constraint_rules', undefined)

/** Whether any grant could refuse an effect of the running task. */
export function isGuarded(ctx: Context): boolean {
  if (ctx.machine.hostData(GRANT_CEILING) !== null || scopesOf(ctx, 'grants').length > 0) return true
  return ctx.machine.importCeilings !== null
}

export const EFFECT_JUDGE: EffectJudge = {
  problem: effectProblem,
  complete: (ctx, effect) => (isGuarded(ctx) ? withEffectPins(ctx, effect) : effect),
  refuse: (ctx, effect, mode) => (isGuarded(ctx) ? faultOfEffect(ctx, effect, mode) : null),
  limit: (ctx, tool, argument) => (isGuarded(ctx) ? limitOfGrants(ctx, tool, argument) : Infinity),
  describe: (effect) => effectAsCall(effect),
  span: spanOfEffect,
  codeOf: (category) => codeOfCategory(category),
}
