// The gate (tool-gate.ts) for builtins that reach a tool outside of the machine by their own effect: host_call, host_tool_call,
// mcp_call. Their frames go through it in one or two steps, and the effect then carries what was judged.

import { HarnDict, display, typeName } from '@bridle/vm/families'
import type { Context, Plain, Result, Value } from '@bridle/vm/families'
import { reserveBudgets, settle, traceDenied } from '../policy/grants.js'
import { isCounted, noteCounted, judgeQuickly, startGate, takePass } from '../policy/gate.js'
import { getEntryFacts } from '../definitions/entry.js'
import { admit, admitArguments, findBrokenGrant, findHostEntry, listHostSecrets } from './gate.js'
import { makeToolError } from '../../library/tool-errors.js'
import type { ToolIdentity } from './identity.js'
import type { AppliedGrant } from '../policy/grants.js'

/** A call on its way through the gate; plain data, so that a frame can keep it. */
export interface OutsideCall {
  readonly identity: ToolIdentity
  readonly applied: readonly AppliedGrant[]
  /** As they were given, unless something changed them. */
  readonly args: Value
  /** Arguments that a schema marks as secret, by name. */
  readonly secrets: readonly string[]
  /** The call of an agent loop that it is an attempt of (policy/gate.ts). */
  readonly attemptOf: number | null
}

export type AtGate =
  /** The frame continues with this call, and its effect carries `identity.key`. */
  | { readonly kind: 'passed'; readonly call: OutsideCall }
  /** The frame is resumed with the verdict: `leaveGate`. */
  | { readonly kind: 'asking'; readonly call: OutsideCall; readonly result: Result }
  | { readonly kind: 'refused'; readonly result: Result }

/** `owner` is the value that a pass of an agent loop was given for (policy-gate.ts). */
export function enterGate(ctx: Context, identity: ToolIdentity, given: Value, owner: Value = null): AtGate {
  const facts = {
    tool: identity.names[0] === identity.key ? (identity.names[1] ?? identity.key) : identity.id,
    callId: null,
    attempt: 1,
  }
  const pass = owner === null ? null : takePass(ctx, owner, given)
  const attemptOf = pass?.call ?? null
  const secrets = [...(pass?.secrets ?? []), ...(identity.kind === 'host' ? listHostSecrets(ctx, identity.id) : [])]
  const refuseAtGate = (error: HarnDict, args: Value = given): AtGate => refuse(ctx, { identity, secrets }, args, error)
  const applied = admit(ctx, { identity, entry: null, binding: null, isOfScript: false, facts })
  if (applied instanceof HarnDict) return refuseAtGate(applied)
  const isEmpty = given === null
  if (!isEmpty && !(given instanceof HarnDict) && applied.length > 0)
    return refuseAtGate(makeToolError('invalid_args', `Parameters must be an object, got ${typeName(given)}`, facts))
  const before = given instanceof HarnDict ? given : new HarnDict()
  const checked = admitArguments(ctx, applied, before, { identity, entry: null, facts })
  if ('error' in checked) return refuseAtGate(checked.error, checked.args)
  const call: OutsideCall = { identity, applied, args: checked.args === before ? given : checked.args, secrets, attemptOf }
  const called = { shown: facts.tool, identity }
  const verdict = pass !== null ? 'pass' : judgeQuickly(ctx, called, checked.args)
  if (verdict === 'pass') return pay(ctx, call)
  if (verdict !== 'ask') return refuseAtGate(makeRefusal(verdict.stage, verdict.reason, facts), checked.args)
  return { kind: 'asking', call, result: startGate(ctx, called, checked.args, new HarnDict()) }
}

/** After the verdict of people, closures and hooks. */
export function leaveGate(ctx: Context, call: OutsideCall, verdict: HarnDict): AtGate {
  const { identity, applied } = call
  const facts = { tool: identity.id, callId: null, attempt: 1 }
  if (verdict.get('allowed') !== true)
    return refuse(ctx, call, call.args, makeRefusal(verdict.get('stage') ?? null, display(verdict.get('reason') ?? null), facts))
  const args = verdict.get('args') ?? null
  if (!(args instanceof HarnDict) || args === call.args || (call.args === null && args.size === 0)) return pay(ctx, call)
  const broken = findBrokenGrant(ctx, applied, args, { identity, entry: null, facts })
  return broken === null ? pay(ctx, { ...call, args }) : refuse(ctx, call, args, broken)
}

function pay(ctx: Context, call: OutsideCall): AtGate {
  const { identity, applied, args, attemptOf } = call
  if (applied.length === 0) return { kind: 'passed', call }
  const counts = !isCounted(ctx, attemptOf)
  const own = findHostEntry(ctx, identity)
  const usd = own === null || !counts ? 0 : getEntryFacts(own).costUsd
  const exhausted = reserveBudgets(ctx, applied, { tool: identity.id, callId: null, attempt: 1 }, { counts, usd })
  if (exhausted !== null) return refuse(ctx, call, args, exhausted)
  noteCounted(ctx, attemptOf)
  if (usd > 0) settle(ctx, applied, { usd, tokens: 0 })
  return { kind: 'passed', call }
}

function makeRefusal(
  stage: Value,
  reason: string,
  facts: { readonly tool: string; readonly callId: null; readonly attempt: number },
): HarnDict {
  return makeToolError(stage === 'approval' ? 'approval_denied' : 'policy_violation', reason, facts)
}

function refuse(
  ctx: Context,
  { identity, secrets }: Pick<OutsideCall, 'identity' | 'secrets'>,
  args: Value,
  error: HarnDict,
): AtGate {
  traceDenied(ctx, identity.id, args, error, secrets)
  return { kind: 'refused', result: ctx.throw(error) }
}

/** What the effect of a call carries beside its own arguments: what was judged, and what records may not show. */
export function makeJudgedFacts({ identity, secrets }: OutsideCall): { readonly [key: string]: Plain } {
  return { identity: identity.key, ...(secrets.length === 0 ? {} : { secrets }) }
}
