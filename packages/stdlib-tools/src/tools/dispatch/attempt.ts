// One attempt of a call (dispatch.ts), by the row of its executor.

import { popScope, pushScope } from '../../library/task-scopes.js'
import { makeCallKey } from './branches.js'
import { makeHandlerArguments } from './carry-out.js'
import { RUNTIME_TOOLS } from '../definitions/runtime-tools.js'
import {
  HarnDict,
  HarnList,
  UNTRACED,
  debugQuoted,
  display,
  fromPlain,
  isCallable,
  toMillis,
  stringifySorted,
  toPlain,
  typeName,
} from '@bridle/vm/families'
import type { Context, Effect, EffectOf, Plain, Result, Value } from '@bridle/vm/families'
import { admitByCircuit } from './circuit.js'
import { STANDARD_CALL, findSmallestLimit } from '../policy/grants.js'
import { makeEgressRefusal } from '../../library/http/egress.js'
import { TARGET_KEYS, executorNamed, factsOfExecutor } from '@bridle/compiler/grants'
import type { OutsideExecutor } from '@bridle/compiler/grants'
import { makeStandardCall, findStandardProblem } from '../definitions/standard-tools.js'
import { findLiveValue } from '../definitions/arguments.js'
import { getEntryFacts, readServer } from '../definitions/entry.js'
import { KEEPS_CALLS } from '../host-slots.js'
import { normalizePlan } from '../definitions/plan.js'
import { makeToolError } from '../../library/tool-errors.js'
import type { RetryPolicy } from './retry.js'
import { capPolicy, retryPolicy } from './retry.js'
import { getOrNil } from '../definitions/registry.js'
import { ATTEMPTS, makeFacts, finish, refuse, listCallSecrets, refuseWith, chooseExecutor } from './call-state.js'
import type { DispatchState } from './call-state.js'

function runHarn(ctx: Context, state: DispatchState, entry: HarnDict, args: HarnDict): Result {
  const handler = getOrNil(entry, 'handler')
  // What a handler does for a module is bounded by what the module may do.
  const caller = ctx.machine.narrowedCaller
  if (caller !== null) {
    pushScope(ctx, 'imports', caller)
    state.narrowed = true
  }
  if (isCallable(handler)) return ctx.call(handler, makeHandlerArguments(entry, handler, args))
  const runtime = RUNTIME_TOOLS.get(state.name)
  if (runtime === undefined) return refuseWith(ctx, state, 'not_registered', `Tool '${state.name}' has no handler`)
  if (runtime.builtin === null) return finish(ctx, state, normalizePlan(args, state.name))
  return ctx.call(ctx.builtinValue(runtime.builtin), [args.get('path') ?? runtime.path ?? null])
}

/** Answer of a dry run, in the same form for scripts and agent loops. */
function makeDryRunResult(state: DispatchState, entry: HarnDict): Value {
  const annotations = entry.get('annotations')
  const facts = annotations instanceof HarnDict ? annotations : new HarnDict()
  const capabilities: Value[] = []
  const declared = facts.get('capabilities')
  if (declared instanceof HarnDict) {
    for (const key of declared.keys()) {
      const operations = declared.get(key)!
      if (operations instanceof HarnList)
        for (const operation of operations.view()) capabilities.push(`${key}.${display(operation)}`)
    }
  }
  return HarnDict.of({
    _type: 'synthesized_tool_result',
    status: 'dry_run',
    tool_id: state.callId,
    name: state.name,
    description: entry.get('description') ?? '',
    args: state.args,
    capabilities: new HarnList(capabilities),
    side_effect_level: facts.get('side_effect_level') ?? 'none',
    message: 'tool call is resolved and validated, but executor is dry_run',
  })
}

/** Limit of one attempt: the smallest that call, tool and grants know. */
export function attemptLimit(state: DispatchState, entry: HarnDict): number | null {
  const asked =
    state.options instanceof HarnDict ? toMillis(state.options.get('timeout_ms') ?? state.options.get('timeout')) : null
  const own = asked ?? getEntryFacts(entry).timeoutMs
  const granted = findSmallestLimit(state.applied, 'timeout_ms')
  return own === null || granted === null ? (own ?? granted) : Math.min(own, granted)
}

export function makeOutsideCall(
  ctx: Context,
  state: DispatchState,
  entry: HarnDict,
  executor: OutsideExecutor,
  { args, argHash }: { readonly args: Plain; readonly argHash: string },
): Effect {
  const secrets = listCallSecrets(ctx, state, entry)
  const { target } = getEntryFacts(entry)
  const call = {
    executor,
    identity: state.identity!.key,
    tool: state.name,
    args,
    call_id: state.callId,
    attempt: state.attempt,
    max_attempts: capPolicyByGrants(state, retryPolicy(entry, state.options)).maxRetries + 1,
    idempotency_key: makeCallKey(ctx, state.callId),
    arg_hash: argHash,
    timeout_ms: attemptLimit(state, entry),
  } as Growing<EffectOf<'tool.call'>['args']>
  // Field by field: a spread makes an object of a slow kind, and there is one for every call.
  for (const key of TARGET_KEYS) call[key] = target[key]
  if (secrets.length > 0) call.secrets = secrets
  if (state.stream === true) call.stream = { op: 'open' }
  if (state.applied.length > 0) call.grants = state.applied.map(({ grant }) => grant) as Plain
  return { kind: 'tool.call', args: call }
}

/** A record that is being made. */
type Growing<T> = { -readonly [Key in keyof T]: T[Key] }

export function attempt(ctx: Context, state: DispatchState): Result {
  const entry = state.entry!
  const args = state.args as HarnDict
  const closed = admitByCircuit(ctx, `tool:${state.name}`, getEntryFacts(entry).breaker)
  if (closed !== null) {
    const error = makeToolError('circuit_open', `circuit of tool '${state.name}' is open`, makeFacts(state))
    return refuse(ctx, state, withHistory(state, error.with('retry_after_ms', closed)))
  }
  state.attempt++
  state.stage = 'running'
  const executor = chooseExecutor(state, entry)
  const known = executorNamed(executor)
  if (known === null)
    return refuseWith(ctx, state, 'not_registered', `Tool '${state.name}' declares unknown executor ${debugQuoted(executor)}`)
  const { runs } = factsOfExecutor(known)
  if (runs === 'handler' || runs === 'builtin') beginLimit(ctx, state, entry)
  const policy = retryPolicy(entry, state.options)
  if (policy.maxRetries > 0)
    ctx.machine.task().fields.set(ATTEMPTS, new HarnList([state.attempt, capPolicyByGrants(state, policy).maxRetries + 1]))
  switch (runs) {
    case 'handler':
      return runHarn(ctx, state, entry, args)
    case 'builtin':
      if (makeStandardCall(state.name, args) === null)
        return refuseWith(
          ctx,
          state,
          'not_registered',
          `Tool '${state.name}' says executor: "builtin", and is none of the tools that come with the language`,
        )
      return runStandard(ctx, state, args)
    case 'record':
      return finish(ctx, state, makeDryRunResult(state, entry))
    case 'refused':
      return refuseWith(
        ctx,
        state,
        'execution_failed',
        `Tool '${state.name}' is executed by the model provider (executor: "${known}") and cannot be called from a script`,
      )
    case 'outside': {
      const live = findLiveValue(args)
      if (live !== null) {
        return refuseWith(
          ctx,
          state,
          'invalid_args',
          `Invalid arguments at ${live.path}: a ${typeName(live.value)} cannot be passed to a tool outside the script`,
        )
      }
      const server = readServer(entry)
      const blocked = server === null ? null : makeEgressRefusal(ctx, 'mcp_connect', server)
      if (blocked !== null) return refuseWith(ctx, state, 'egress_blocked', display(blocked.get('message')!), blocked)
      const argHash = payForHash(ctx, state, args)
      return ctx.request(makeOutsideCall(ctx, state, entry, known as OutsideExecutor, { args: toPlain(args), argHash }))
    }
  }
}

export function capPolicyByGrants(state: DispatchState, policy: RetryPolicy): RetryPolicy {
  return state.applied.length === 0 ? policy : capPolicy(policy, findSmallestLimit(state.applied, 'max_retries'))
}

/** Constraints of an alias or an entry that hold for what the builtin behind a standard tool does. */
const WITHIN: ReadonlySet<string> = new Set(['domain', 'path', 'paths', 'max_cost_usd', 'max_total_tokens'])

/** Through the builtin, with the grants of the call around it: a redirect is its own request, and must fit them too. */
function runStandard(ctx: Context, state: DispatchState, args: HarnDict): Result {
  const problem = findStandardProblem(state.name, args)
  if (problem !== null) {
    const { path, expected, actual } = problem
    const reason = `expected ${expected}, got ${actual}`
    const details = HarnDict.of({ path, expected, actual, reason })
    return refuseWith(ctx, state, 'invalid_args', `Invalid arguments at ${path}: ${reason}`, details)
  }
  const call = makeStandardCall(state.name, args)!
  const area = `${state.name.split('.')[0]!}.*`
  for (const { scope, grant, id } of state.applied) {
    if (scope !== 'alias' && scope !== 'tool') continue
    const kept = Object.fromEntries(Object.entries(grant).filter(([key]) => WITHIN.has(key)))
    if (Object.keys(kept).length === 0) continue
    // Budgets count per grant, over all calls of the alias.
    pushScope(ctx, 'grants', HarnDict.of({ id, grants: HarnDict.of({ [area]: fromPlain(kept as Plain) }) }))
    state.pushed++
  }
  ctx.machine.task().fields.set(UNTRACED, true)
  ctx.machine.task().fields.set(STANDARD_CALL, state.name)
  state.covered = true
  return ctx.call(ctx.builtinValue(call.builtin), call.args)
}

function beginLimit(ctx: Context, state: DispatchState, entry: HarnDict): void {
  const limit = attemptLimit(state, entry)
  if (limit === null) return
  state.limited = true
  ctx.machine.beginTimeLimit(ctx.now + limit)
}

/** Takes back what an attempt put on its task; whether its own time limit had struck. */
export function endAttempt(ctx: Context, state: DispatchState): boolean {
  for (; state.pushed > 0; state.pushed--) popScope(ctx, 'grants')
  if (state.covered) for (const field of [UNTRACED, STANDARD_CALL]) ctx.machine.task().fields.delete(field)
  if (state.narrowed === true) popScope(ctx, 'imports')
  if (state.narrowed !== undefined) state.narrowed = false
  state.covered = false
  if (!state.limited) return false
  state.limited = false
  return ctx.machine.endTimeLimit()
}

/** For results that are kept: `argHash` of the state. */
export function identify(ctx: Context, state: DispatchState, args: HarnDict): void {
  const text = stringifySorted(args)
  ctx.charge(text.length >> 6, text.length)
  state.argHash = ctx.machine.sha256Hex(text)
}

/** The hash of a call, charged once for all attempts. The charge is the same if calls are not recorded, because observers must not change a run. */
function payForHash(ctx: Context, state: DispatchState, args: HarnDict): string {
  if (state.argHash !== '') return state.argHash
  const text = stringifySorted(args)
  if (state.attempt === 1) ctx.charge(text.length >> 6, text.length)
  return hashKept(ctx, text)
}

export function hashArguments(ctx: Context, state: DispatchState): string {
  return state.argHash !== '' ? state.argHash : hashKept(ctx, stringifySorted(state.args))
}

function hashKept(ctx: Context, text: string): string {
  return ctx.machine.hostData(KEEPS_CALLS)() ? ctx.machine.sha256Hex(text) : ''
}

export function withHistory(state: DispatchState, error: HarnDict): HarnDict {
  if (state.history.length === 0) return error
  const retry = HarnDict.of({ state: 'exhausted', attempts: state.attempt, history: new HarnList(state.history) })
  return error.with('retry', retry)
}
