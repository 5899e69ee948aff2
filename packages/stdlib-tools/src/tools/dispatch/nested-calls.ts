// Calls that a tool of the host makes of other tools while a run waits for it. Its code runs outside of the machine, so the machine is
// asked to judge each of them, under the policies of the task that waits; asking changes nothing. What was made arrives with the outcome of
// the call around it, which is in the journal: then it is counted and traced, so that a replay, which makes no calls, counts the same.
//
// Who would have to be asked, a person or a closure of the script, cannot be asked from there. Such a call is refused.

import { HarnDict, display, fromPlain, toPlain } from '@bridle/vm/families'
import type { Context, NestedCall, Plain } from '@bridle/vm/families'
import { budgetProblem, grantIds, countNested } from '../policy/grants.js'
import { quickVerdict } from '../policy/gate.js'
import { admit, grantedArguments, hostNamesOf, secretsOfHost } from './gate.js'
import { hostIdentity } from './identity.js'

export type NestedVerdict =
  | { readonly ok: true; /** With what grants pin. */ readonly args: Plain; readonly grants: readonly string[] }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly details: Plain }

/** `made` are calls that were judged before and are not counted yet. */
export function judgeNested(ctx: Context, name: string, args: Plain, made: readonly NestedCall[]): NestedVerdict {
  const identity = hostIdentity(name, hostNamesOf(ctx).aliases)
  const facts = { tool: identity.id, callId: null, attempt: 1 }
  const refused = (error: HarnDict): NestedVerdict => ({
    ok: false,
    code: display(error.get('code') ?? null),
    message: display(error.get('message') ?? null),
    details: toPlain(error.get('details') ?? null),
  })
  const applied = admit(ctx, { identity, entry: null, binding: null, isOfScript: false, facts })
  if (applied instanceof HarnDict) return refused(applied)
  const given = fromPlain(args)
  const checked = grantedArguments(ctx, applied, given instanceof HarnDict ? given : new HarnDict(), {
    identity,
    entry: null,
    facts,
  })
  if ('error' in checked) return refused(checked.error)
  const verdict = quickVerdict(ctx, { shown: identity.id, identity }, checked.args)
  if (verdict === 'ask')
    return {
      ok: false,
      code: 'policy_violation',
      message: `a policy of the run asks a person or a closure about '${identity.id}', which a call by a tool cannot wait for: call it from the script`,
      details: null,
    }
  if (verdict !== 'pass')
    return {
      ok: false,
      code: verdict.stage === 'approval' ? 'approval_denied' : 'policy_violation',
      message: verdict.reason,
      details: null,
    }
  const exhausted = budgetProblem(ctx, applied, facts, made)
  if (exhausted !== null) return refused(exhausted)
  return { ok: true, args: checked.args === given ? args : toPlain(checked.args), grants: grantIds(applied) }
}

/** Counts and traces calls that came with an outcome; `parent` is the call around them. */
export function bookNested(ctx: Context, nested: readonly NestedCall[], parent: string | null): void {
  countNested(ctx, nested)
  const { traced } = ctx.machine
  if (traced === null) return
  for (const { tool, id, args, startedMs, endedMs, outcome } of nested) {
    traced({
      kind: 'tool_call',
      tool,
      alias: null,
      version: null,
      executor: 'host_bridge',
      callId: id,
      parent,
      task: ctx.machine.taskNumber,
      args,
      policy: null,
      secret: secretsOfHost(ctx, tool),
      attempts: outcome.ok || !outcome.denied ? 1 : 0,
      startedMs,
      endedMs,
      outcome: outcome.ok ? { ok: true, value: null } : outcome,
    })
  }
}
