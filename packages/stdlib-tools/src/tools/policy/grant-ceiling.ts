// What a host allows a run beside its powers, and the judge of effects that holds the run to it. Small on purpose: a run without grants
// never loads the rules (grants.ts).

import { listScopes } from '../../library/task-scopes.js'
import { defineHostSlot, fromPlain } from '@bridle/vm/families'
import type { Context, Control, Effect, EffectJudge } from '@bridle/vm/families'
import type { ConstraintRules, GrantRecord } from '@bridle/compiler/grants'
import { EFFECTS, effectProblem } from '../../library/effects/index.js'
import { placeEffect } from '../../library/effects/execution-root.js'
import type { SideEffect } from '../../library/effects/index.js'
import { findCode } from '../../library/tool-errors.js'
import { opensStream, toCall } from './effect-calls.js'
import { findEffectFault, findGrantLimit, withEffectPins } from './grants.js'
import { makeEffectSpan, readAnswerFacts } from './effect-spans.js'
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
  /** Calls that need approval. */
  readonly approve?: ApprovalScope
}

/** What a host wants people to be asked about; plain data, so that snapshots carry it. */
export interface ApprovalScope {
  /** A call that matches one of them needs approval. */
  readonly rules: readonly ApprovalRecord[]
  /** How long an answer counts after its question. */
  readonly expiresMs: number
}

/** A call must match all keys. */
export interface ApprovalRecord {
  /** By alias, tool id, family or pattern. */
  readonly tools?: readonly string[]
  readonly effects?: readonly string[]
  /** This one or more. */
  readonly sideEffect?: SideEffect
  readonly level?: SecurityLevel
  /** A call whose arguments are within these constraints is not asked about. */
  readonly unless?: GrantRecord
}

/** Of the scopes of the run, those that want people to be asked; null without any. */
export const APPROVAL_SCOPES = defineHostSlot<readonly ApprovalScope[] | null>('approval_scopes', null)

/** Effects that were judged and are on their way. */
const onTheirWay = new WeakSet<Effect>()

/** Performs an effect after all required approvals (effect-approval.ts). */
export function requestApproved(ctx: Context, effect: Effect): Control {
  onTheirWay.add(effect)
  return ctx.request(effect)
}

/** Whether a rule about calls of builtins can apply to an effect: not if the effect has no identity, was judged as a tool call, or is the approval request itself. */
function mayNeedApproval({ kind, args, own }: Effect): boolean {
  return own !== true && kind !== 'approval.ask' && EFFECTS[kind].needsGrant && typeof args.identity !== 'string'
}

function holdForApproval(ctx: Context, asked: Effect, effect: Effect): Control | null {
  if (ctx.machine.hostData(APPROVAL_SCOPES) === null || onTheirWay.has(asked) || !mayNeedApproval(effect)) return null
  const refused = findEffectFault(ctx, effect, 'judge')
  if (refused !== null) return ctx.fail(refused)
  return ctx.frame('effect.approval', { stage: 'start', effect: effect.kind, args: fromPlain(effect.args) })
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
  complete: (ctx, asked) => {
    const effect = placeEffect(ctx, asked)
    return isGuarded(ctx) ? withEffectPins(ctx, effect) : effect
  },
  hold: holdForApproval,
  refuse: (ctx, effect, mode) => (isGuarded(ctx) ? findEffectFault(ctx, effect, mode) : null),
  limit: (ctx, tool, argument) => (isGuarded(ctx) ? findGrantLimit(ctx, tool, argument) : Infinity),
  describe: (effect) => (opensStream(effect) ? null : toCall(effect)),
  span: makeEffectSpan,
  spanEnd: readAnswerFacts,
  codeOf: (category) => findCode(category),
}
