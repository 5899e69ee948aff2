// Calls that a tool of the host makes of other tools while a run waits for it. Its code runs outside of the machine, so the machine is
// asked to judge each of them, under the policies of the task that waits; asking changes nothing. A call that was judged enters the run at
// once, by entries of the journal of its own: its beginning, which counts it against every budget, and its end, which traces it. So what
// becomes of the call around it makes no difference, and a replay, which makes no calls, counts the same at the same places.
//
// What such calls gave stays in the machine as long as the call around them is under way. When that is made again, in another process, each
// of them is the same call as before: it is neither counted nor made a second time.
//
// Who would have to be asked, a person or a closure of the script, cannot be asked from there. Such a call is refused.

import { HarnDict, display, fromPlain, stringifySorted, toPlain } from '@bridle/vm/families'
import type { Context, NestedCall, Plain } from '@bridle/vm/families'
import { bookCounts, countCall } from '../policy/grants.js'
import { judgeQuickly } from '../policy/gate.js'
import { getEntryFacts } from '../definitions/entry.js'
import { admit, findHostEntry, makeGrantedArguments, findHostNames, listHostSecrets } from './gate.js'
import { makeHostIdentity } from './identity.js'
import type { NestedOutcome } from '../../library/effects/index.js'
import { beginNote, endNote } from './durable-notes.js'
import { nestedCalls } from './nested-state.js'
import { executorOf } from '@bridle/compiler/grants'

export type NestedVerdict =
  | {
      readonly ok: true
      /** With what grants pin. */ readonly call: NestedCall
      /** What became of it before. */ readonly before: CallBefore
    }
  | { readonly ok: false; readonly call: NestedCall; readonly code: string; readonly message: string; readonly details: Plain }

/** `none`: it is made for the first time; `begun`: its outcome is unknown. */
export type CallBefore = 'none' | 'begun' | NestedOutcome

interface Noted {
  readonly call: NestedCall
  /** Null while it is under way. */
  readonly outcome: NestedOutcome | null
}

const makeKey = (effect: number, id: string): string => `${effect}:${id}`

function keep(ctx: Context, effect: number, { call, outcome }: Noted): void {
  const { args, ...facts } = call
  // Part by part: data may be as deep as the edge allows.
  const value = outcome?.ok === true && outcome.value !== undefined ? { value: fromPlain(outcome.value) } : {}
  const { value: _, ...end } = { value: null, ...outcome }
  ctx.state(nestedCalls).noted.set(
    makeKey(effect, call.id),
    HarnDict.of({
      effect,
      facts: fromPlain(facts),
      args: fromPlain(args),
      end: outcome === null ? null : fromPlain(end),
      ...value,
    }),
  )
}

function read(dict: HarnDict): Noted {
  const readPlain = (key: string): unknown => toPlain(dict.get(key) ?? null)
  const end = readPlain('end') as NestedOutcome | null
  return {
    call: { ...(readPlain('facts') as Omit<NestedCall, 'args'>), args: readPlain('args') as Plain },
    outcome: end?.ok === true && dict.has('value') ? { ok: true, value: readPlain('value') as Plain } : end,
  }
}

function find(ctx: Context, effect: number, id: string): Noted | null {
  const found = ctx.findState(nestedCalls)?.noted.get(makeKey(effect, id))
  return found === undefined ? null : read(found)
}

/** Judges a call that is made while `effect` is answered, and says what it uses up; changes nothing. */
export function judgeNested(
  ctx: Context,
  effect: number,
  { id, tool: name, args, now }: { readonly id: string; readonly tool: string; readonly args: Plain; readonly now: number },
): NestedVerdict {
  const identity = makeHostIdentity(name, findHostNames(ctx).aliases)
  const facts = { tool: identity.id, callId: null, attempt: 1 }
  const parent = ctx.machine.task().fields.get('tool.call')
  const call = {
    id,
    tool: identity.id,
    args,
    parent: typeof parent === 'string' ? parent : null,
    task: ctx.machine.taskNumber,
    counts: {},
    startedMs: now,
  }
  const makeRefused = (code: string, message: string, details: Plain = null): NestedVerdict => ({
    ok: false,
    call,
    code,
    message,
    details,
  })
  const makeRefusedBy = (error: HarnDict): NestedVerdict =>
    makeRefused(display(error.get('code') ?? null), display(error.get('message') ?? null), toPlain(error.get('details') ?? null))
  const applied = admit(ctx, { identity, entry: null, binding: null, isOfScript: false, facts })
  if (applied instanceof HarnDict) return makeRefusedBy(applied)
  const given = fromPlain(args)
  const checked = makeGrantedArguments(ctx, applied, given instanceof HarnDict ? given : new HarnDict(), {
    identity,
    entry: null,
    facts,
  })
  if ('error' in checked) return makeRefusedBy(checked.error)
  const verdict = judgeQuickly(ctx, { shown: identity.id, identity }, checked.args)
  if (verdict === 'ask')
    return makeRefused(
      'policy_violation',
      `a policy of the run asks a person or a closure about '${identity.id}', which a call by a tool cannot wait for: call it from the script`,
    )
  if (verdict !== 'pass')
    return makeRefused(verdict.stage === 'approval' ? 'approval_denied' : 'policy_violation', verdict.reason)
  const admitted = { ...call, args: checked.args === given ? args : toPlain(checked.args) }
  const before = findCallBefore(ctx, effect, admitted)
  if (before !== 'none') return { ok: true, call: admitted, before }
  const own = findHostEntry(ctx, identity)
  const counts = countCall(ctx, applied, facts, own === null ? 0 : getEntryFacts(own).costUsd)
  if (counts instanceof HarnDict) return makeRefusedBy(counts)
  return { ok: true, call: { ...admitted, counts }, before }
}

/** A call of the same number is the same call if it is of the same tool with the same arguments. */
function findCallBefore(ctx: Context, effect: number, { id, tool, args }: NestedCall): CallBefore {
  const noted = find(ctx, effect, id)
  if (noted === null || noted.call.tool !== tool || !isSame(noted.call.args, args)) return 'none'
  if (noted.outcome === null) return 'begun'
  // It returned a value that is not data.
  return noted.outcome.ok && noted.outcome.value === undefined ? 'begun' : noted.outcome
}

function isSame(a: Plain, b: Plain): boolean {
  return stringifySorted(fromPlain(a)) === stringifySorted(fromPlain(b))
}

/** Counts a call that begins, and keeps it. */
export function beginNested(ctx: Context, effect: number, call: NestedCall): void {
  if (call.kind !== undefined) return beginNote(ctx, effect, call)
  const state = ctx.state(nestedCalls)
  for (const [key, dict] of state.noted) {
    if (dict.get('end') !== null && !ctx.machine.isPending(Number(dict.get('effect')))) state.noted.delete(key)
  }
  bookCounts(ctx, call.counts)
  keep(ctx, effect, { call, outcome: null })
}

/** Keeps what became of a call, and traces it. */
export function endNested(ctx: Context, effect: number, id: string, outcome: NestedOutcome, endedMs: number): void {
  if (endNote(ctx, id, outcome)) return
  const noted = find(ctx, effect, id)
  if (noted === null) return
  if (!outcome.ok && outcome.denied) ctx.state(nestedCalls).noted.delete(makeKey(effect, id))
  else keep(ctx, effect, { ...noted, outcome })
  trace(ctx, noted.call, outcome, endedMs)
}

const UNSETTLED: NestedOutcome = {
  ok: false,
  code: 'cancelled',
  message: 'the run ended first',
  denied: false,
}

/** Traces the calls that the end of the run leaves behind: what never ended was made anyway. */
export function leaveNested(ctx: Context, endedMs: number): void {
  for (const dict of ctx.findState(nestedCalls)?.noted.values() ?? []) {
    const { call, outcome } = read(dict)
    if (outcome === null) trace(ctx, call, UNSETTLED, endedMs)
  }
}

function trace(ctx: Context, call: NestedCall, outcome: NestedOutcome, endedMs: number): void {
  const { tool, id, args, parent, task, startedMs } = call
  ctx.machine.traced?.({
    kind: 'tool_call',
    tool,
    alias: null,
    version: null,
    executor: executorOf('host'),
    callId: id,
    parent,
    task,
    args,
    policy: null,
    secret: listHostSecrets(ctx, tool),
    attempts: outcome.ok || !outcome.denied ? 1 : 0,
    startedMs,
    endedMs,
    outcome: outcome.ok ? { ok: true, value: outcome.value ?? null } : outcome,
  })
}
