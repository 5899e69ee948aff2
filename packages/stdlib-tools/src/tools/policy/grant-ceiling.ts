// What a host allows a run beside its powers, and the judge of effects that holds the run to it. Small on purpose: a run without grants
// never loads the rules (grants.ts).

import { listScopes } from '../../library/task-scopes.js'
import { defineHostSlot } from '@bridle/vm/families'
import type { Context, EffectJudge } from '@bridle/vm/families'
import type { ConstraintRules, GrantRecord } from '@bridle/compiler/grants'
import { effectProblem } from '../../library/effects/index.js'
import { findCode } from '../../library/tool-errors.js'
import { toCall, findEffectFault, findGrantLimit, makeEffectSpan, withEffectPins } from './grants.js'
import type { SecurityLevel } from './level-order.js'

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

export const GRANT_CEILING = defineHostSlot<GrantCeiling | null>('grant_ceiling', null)
/** Constraints of grants that the host has made; pure functions. */
export const CONSTRAINT_RULES = defineHostSlot<ConstraintRules | undefined>('constraint_rules', undefined)

/** Whether any grant could refuse an effect of the running task. */
export function isGuarded(ctx: Context): boolean {
  if (ctx.machine.hostData(GRANT_CEILING) !== null || listScopes(ctx, 'grants').length > 0) return true
  return ctx.machine.importCeilings !== null
}

export const EFFECT_JUDGE: EffectJudge = {
  problem: effectProblem,
  complete: (ctx, effect) => (isGuarded(ctx) ? withEffectPins(ctx, effect) : effect),
  refuse: (ctx, effect, mode) => (isGuarded(ctx) ? findEffectFault(ctx, effect, mode) : null),
  limit: (ctx, tool, argument) => (isGuarded(ctx) ? findGrantLimit(ctx, tool, argument) : Infinity),
  describe: (effect) => toCall(effect),
  span: makeEffectSpan,
  codeOf: (category) => findCode(category),
}
