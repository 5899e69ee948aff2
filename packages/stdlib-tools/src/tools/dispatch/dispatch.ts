// One tool call from name to result, as the native frame `tool.dispatch`: resolve, encode, defaults, validate input, identify,
// policy, attempt loop with the executor, validate output, decode. The frame's state is all that a restart needs;
// journal, approval and the outside executors are the driver's, reached by the effect `tool.call` (library/effects/tool-records.ts).
// Scripts reach it through `std/tools`: tool_call throws a ToolError dict, tool_try gives a Result.

import { TOOL_CALLS, makeCallKey } from './branches.js'
import { HOST_TOOLS, getEntryFacts, toHostEntry } from '../definitions/entry.js'
import { DRIFT_WATCH, RESULT_CACHE } from '../host-slots.js'
import { carryOutPrimitives, passedFrame } from './carry-out.js'
import {
  HarnDict,
  HarnList,
  TooDeepError,
  builtin,
  chargeArguments,
  debugQuoted,
  display,
  family,
  frame,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Fault, Result, Value, Control } from '@bridle/vm/families'
import { reportToCircuit } from './circuit.js'
import { reserveBudgets, settle } from '../policy/grants.js'
import { findExecutorFacts, findIdentity } from '@bridle/compiler/grants'
import { findStandardEntry } from '../definitions/standard-tools.js'
import { checkArguments } from '../definitions/arguments.js'
import { makeCacheKey, forgetResults, findKeptResult, chooseRule } from './cache.js'
import { findQuarantine } from './drift.js'
import { readParseError } from '../definitions/model-arguments.js'
import { isCounted, judgeAdded, noteCounted, judgeQuickly, startGate, takePass } from '../policy/gate.js'
import { admit, admitArguments, findBrokenGrant, findHostEntry, identifyEntry } from './gate.js'
import type { GateCall } from './gate.js'
import { findCodeRow, toToolError, isInterruption, makeToolError } from '../../library/tool-errors.js'
import { definedTools } from '../definitions/define.js'
import { hashEntrySchemas } from '../definitions/pins.js'
import { dropNotes } from './note-state.js'
import { mayRetry, retryDelay, retryPolicy } from './retry.js'
import { boundRegistry, listEntries, isRegistry, readName, getOrNil, withoutHandler } from '../definitions/registry.js'
import { isObjectSchema } from '../definitions/validate.js'
import { ATTEMPTS, makeFacts, finish, refuse, refuseWith, chooseExecutor, isOfScript, toCalled } from './call-state.js'
import type { DispatchState } from './call-state.js'
import { resolve } from './resolve.js'
import { attemptLimit, attempt, capPolicyByGrants, endAttempt, identify, withHistory } from './attempt.js'
import { checkingResult, runAfterHooks, accept, takeChecked, formatResult } from './result.js'

/** Call ids count per machine, so that a replay gives the same ones. */
const toolCalls = family<{ made: number }>(TOOL_CALLS, () => ({ made: 0 }))

function begin(ctx: Context, state: DispatchState): Result {
  const pass = takePass(ctx, state.tool, state.args)
  const judged = pass !== null
  if (pass !== null) state.attemptOf = pass.call
  const entry = resolve(ctx, state)
  if (typeof entry === 'string') {
    state.name = state.tool instanceof HarnDict ? '' : display(state.tool)
    return refuseWith(ctx, state, 'not_registered', entry)
  }
  state.entry = entry
  state.name = readName(entry)
  state.startedMs = ctx.now
  const calls = ctx.state(toolCalls)
  calls.made++
  state.callId = `call_${calls.made}`
  const { fields } = ctx.machine.task()
  ctx.machine.spans?.({
    at: 'begin',
    work: 'tool_call',
    id: state.callId,
    name: state.alias ?? state.name,
    task: ctx.machine.taskNumber,
    ms: state.startedMs,
  })
  state.outerCall = fields.get('tool.call') ?? null
  fields.set('tool.call', state.callId)
  const attempts = fields.get(ATTEMPTS)
  if (attempts !== undefined) {
    state.outerAttempts = attempts
    fields.delete(ATTEMPTS)
  }
  const identity = identifyEntry(ctx, entry, state.alias)
  state.identity = identity
  // Modules `host/…` hand over the entry that the host gave them.
  if (
    state.origin === 'script' &&
    identity.kind === 'host' &&
    identity.names.includes(state.name) &&
    ctx.machine.hostData(HOST_TOOLS)?.has(state.name) === true
  )
    state.origin = 'host'
  const isWatched = getEntryFacts(entry).drift !== null || ctx.machine.hostData(DRIFT_WATCH) !== null
  const quarantine = isWatched ? findQuarantine(ctx, identity.id) : null
  if (quarantine !== null) return refuseWith(ctx, state, 'schema_drift', quarantine)
  const isCarriedOut = findExecutorFacts(chooseExecutor(state, entry))?.runs !== 'record'
  if (identity.kind === 'none' && isCarriedOut)
    return refuseWith(
      ctx,
      state,
      'not_registered',
      `Tool '${state.name}' ${describeUnknownExecutor(getEntryFacts(entry).executor)}`,
    )
  const call = makeGateCall(state)
  const grants = admit(ctx, call, isCarriedOut)
  if (grants instanceof HarnDict) return refuse(ctx, state, grants)
  state.applied = grants
  const given = nameArguments(state, getEntryFacts(entry).parameters) ?? state.args ?? new HarnDict()
  if (!(given instanceof HarnDict))
    return refuseWith(ctx, state, 'invalid_args', `Parameters must be an object, got ${typeName(given)}`)
  const unreadable = readParseError(given)
  if (unreadable !== null) return refuseWith(ctx, state, 'invalid_args', unreadable)
  const checked = admitArguments(ctx, grants, given, call)
  const { args } = checked
  state.args = args
  if ('error' in checked) return refuse(ctx, state, checked.error)
  const called = toCalled(state)
  const verdict = !judged ? judgeQuickly(ctx, called, args) : args === given ? 'pass' : judgeAdded(ctx, called, args)
  if (verdict === 'pass') return runFirstAttempt(ctx, state)
  if (verdict !== 'ask') return refuseByGate(ctx, state, verdict.stage, verdict.reason)
  state.stage = 'gate'
  const asked = HarnDict.of({ call_id: state.callId, entry, alias: call.binding, after_hooks: judged })
  return startGate(ctx, called, args, asked)
}

function describeUnknownExecutor(executor: string): string {
  return findExecutorFacts(executor)?.runs === 'builtin'
    ? 'is no tool that every run has'
    : `declares unknown executor ${debugQuoted(executor)}`
}

function makeGateCall(state: DispatchState): GateCall {
  return {
    identity: state.identity!,
    entry: state.entry,
    binding: state.alias !== null && state.tool instanceof HarnDict ? state.tool : null,
    isOfScript: isOfScript(state),
    facts: makeFacts(state),
  }
}

/** An alias may be given its first parameter instead of a dict. */
function nameArguments(state: DispatchState, parameters: HarnDict): HarnDict | null {
  if (state.alias === null || state.args === null || state.args instanceof HarnDict) return null
  const required = parameters.get('required')
  const first = isObjectSchema(parameters)
    ? required instanceof HarnList && required.view().length > 0
      ? display(required.view()[0]!)
      : (parameters.get('properties') as HarnDict).keys()[0]
    : parameters.keys()[0]
  return first === undefined ? null : HarnDict.of({ [first]: state.args })
}

function runFirstAttempt(ctx: Context, state: DispatchState): Result {
  const { cache, version } = getEntryFacts(state.entry!)
  if (
    cache !== null &&
    chooseRule(ctx.machine.hostData(RESULT_CACHE), cache) !== null &&
    state.stream !== true &&
    findExecutorFacts(chooseExecutor(state, state.entry!))?.runs !== 'record'
  ) {
    identify(ctx, state, state.args as HarnDict)
    const schemas = getSchemaHash(ctx, state.entry!)
    state.cacheKey = makeCacheKey(ctx, {
      tool: `${state.identity!.key} ${state.name}`,
      version,
      schemas,
      applied: state.applied,
      argHash: state.argHash,
    })
    const kept = findKeptResult(ctx, state.cacheKey, getOrNil(state.entry!, 'handler'))
    if (kept !== null) {
      state.cached = true
      return runAfterHooks(ctx, state, kept.value)
    }
  }
  if (state.applied.length === 0) return attempt(ctx, state)
  const { attemptOf = null } = state
  const counts = !isCounted(ctx, attemptOf)
  const usd = counts ? findCost(ctx, state) : 0
  const exhausted = reserveBudgets(ctx, state.applied, makeFacts(state), { counts, usd })
  if (exhausted !== null) return refuse(ctx, state, exhausted)
  noteCounted(ctx, attemptOf)
  if (usd > 0) settle(ctx, state.applied, { usd, tokens: 0 })
  return attempt(ctx, state)
}

/** What a call costs: what the entry says, and no less than what the host says about its tool. */
function findCost(ctx: Context, state: DispatchState): number {
  const own = findHostEntry(ctx, state.identity!)
  return Math.max(getEntryFacts(state.entry!).costUsd, own === null ? 0 : getEntryFacts(own).costUsd)
}

const schemaHashes = new WeakMap<HarnDict, string>()

/** Hash of a tool's name and schemas; entries are never changed in place, so it is worked out once. */
function getSchemaHash(ctx: Context, entry: HarnDict): string {
  let hash = schemaHashes.get(entry)
  if (hash === undefined) schemaHashes.set(entry, (hash = hashEntrySchemas((bytes) => ctx.machine.hashHex(bytes), entry)))
  return hash
}

function refuseByGate(ctx: Context, state: DispatchState, stage: Value, reason: string): Result {
  return refuseWith(ctx, state, stage === 'approval' ? 'approval_denied' : 'policy_violation', reason)
}

/** What the gate said (policy-gate.ts). Arguments that a person or a hook changed are checked as the first ones were. */
function admitCall(ctx: Context, state: DispatchState, verdict: HarnDict): Result {
  if (verdict.get('allowed') !== true)
    return refuseByGate(ctx, state, verdict.get('stage') ?? null, display(verdict.get('reason') ?? null))
  const args = verdict.get('args') as HarnDict
  if (args !== state.args) {
    const wrong = checkArguments(getEntryFacts(state.entry!).parameters, args)
    if (wrong !== null) return refuseWith(ctx, state, 'invalid_args', wrong.message, wrong.details)
    state.args = args
    const broken = findBrokenGrant(ctx, state.applied, args, makeGateCall(state))
    if (broken !== null) return refuse(ctx, state, broken)
  }
  return runFirstAttempt(ctx, state)
}

function step(ctx: Context, state: DispatchState): Result {
  try {
    switch (state.stage) {
      case 'start':
        return begin(ctx, state)
      case 'gate':
        return admitCall(ctx, state, ctx.result as HarnDict)
      case 'running':
        return accept(ctx, state, ctx.result)
      case 'checking':
        return takeChecked(ctx, state, ctx.result as HarnDict)
      case 'after': {
        const text = ctx.result as string
        return finish(ctx, state, text === formatResult(state.value) ? state.value : text)
      }
      case 'waiting':
        return attempt(ctx, state)
    }
  } catch (error) {
    if (error instanceof TooDeepError) return refuseWith(ctx, state, 'invalid_args', error.message)
    throw error
  }
}

function onFault(ctx: Context, state: DispatchState, fault: Fault): Result {
  const limit = state.entry === null ? null : attemptLimit(state, state.entry)
  const struck = endAttempt(ctx, state)
  if (state.stage !== 'running' || (isInterruption(fault) && !(struck && fault.caught === 'Deadline exceeded')))
    return ctx.fail(fault)
  const entry = state.entry!
  const error =
    struck && fault.caught === 'Deadline exceeded'
      ? makeToolError(
          'timeout',
          `timeout: elapsed ${limit}ms, limit ${limit}ms`,
          makeFacts(state),
          HarnDict.of({ limit_ms: limit }),
        )
      : toToolError(fault, makeFacts(state))
  // Arguments that were wrong say nothing about the health of a tool.
  if (findCodeRow(display(error.get('code') ?? null)).mayRepeat !== 'no')
    reportToCircuit(ctx, `tool:${state.name}`, getEntryFacts(entry).breaker, false)
  const policy = capPolicyByGrants(state, retryPolicy(entry, state.options))
  const retriesDone = state.attempt - 1
  if (mayRetry(policy, entry, error, retriesDone)) {
    const delay = retryDelay(policy, error, state.callId, retriesDone)
    state.history.push(
      HarnDict.of({
        attempt_number: state.attempt,
        delay_ms: delay,
        error: error.get('message')!,
        code: error.get('code')!,
        timestamp_ms: Math.trunc(ctx.now),
      }),
    )
    state.stage = 'waiting'
    return ctx.park(null, ctx.now + delay)
  }
  return refuse(ctx, state, withHistory(state, error))
}

function onLeave(ctx: Context, state: DispatchState): void {
  endAttempt(ctx, state)
  dropNotes(ctx, state.callId)
  if (state.outerCall === undefined) return
  ctx.machine.spans?.({ at: 'end', work: 'tool_call', id: state.callId, task: ctx.machine.taskNumber, ms: ctx.now })
  const { fields } = ctx.machine.task()
  if (state.outerCall === null) fields.delete('tool.call')
  else fields.set('tool.call', state.outerCall)
  if (state.outerAttempts !== undefined) fields.set(ATTEMPTS, state.outerAttempts)
  else if (fields.has(ATTEMPTS)) fields.delete(ATTEMPTS)
}

const dispatchFrame = frame<DispatchState>({ kind: 'tool.dispatch', step, onFault, onLeave })

function dispatch(quiet: boolean) {
  return (ctx: Context, registry: Value, tool: Value, args: Value, options: Value): Control =>
    start(ctx, { registry, tool, args, options, quiet, alias: null })
}

/** What it looks through is paid first: the arguments, and the entries of the registry, of which one is read. */
function start(
  ctx: Context,
  call: Pick<DispatchState, 'registry' | 'tool' | 'args' | 'options' | 'quiet' | 'alias' | 'stream'>,
): Control {
  chargeArguments(ctx, [call.args, call.options])
  const registry = call.registry ?? ctx.state(boundRegistry).registry
  if (registry instanceof HarnDict) ctx.charge(listEntries(registry).length >> 3)
  // Field by field: a spread makes an object of a slow kind, and there is one for every call.
  const state: DispatchState = {
    registry: call.registry,
    tool: call.tool,
    args: call.args,
    options: call.options,
    quiet: call.quiet,
    alias: call.alias,
    stage: 'start',
    entry: null,
    identity: null,
    name: '',
    callId: '',
    origin: 'script',
    argHash: '',
    applied: [],
    startedMs: 0,
    limited: false,
    pushed: 0,
    covered: false,
    attempt: 0,
    history: [],
    value: null,
  }
  if (call.stream === true) state.stream = true
  return ctx.frame('tool.dispatch', state)
}

const EFFECTS = ['callback', 'tool.call'] as const

/** Whether an entry leads to the tool of the host that has this name, and nowhere else. */
function isOfHostTool(entry: HarnDict, id: string): boolean {
  return (
    readName(entry) === id &&
    findIdentity(getEntryFacts(entry).executor) === 'host' &&
    getOrNil(entry, 'host_capability') === null
  )
}

const readAlias = (binding: Value): string =>
  binding instanceof HarnDict ? display(binding.get('alias') ?? binding.get('tool') ?? null) : ''

export const toolDispatchFamily: BuiltinFamily = {
  name: 'tool-dispatch',
  charges: 'own',
  builtins: [
    builtin(
      '__tool_call(registry: any, tool: any, args?: dict, options?: dict)',
      { doc: 'Calls a tool and gives its result; throws a ToolError dict.', effects: EFFECTS },
      dispatch(false),
    ),
    builtin(
      '__tool_try(registry: any, tool: any, args?: dict, options?: dict) -> Result',
      { doc: 'Calls a tool and gives Ok(result) or Err(ToolError dict).', effects: EFFECTS },
      dispatch(true),
    ),
    builtin(
      '__tool_stream_open(registry: any, tool: any, args?: dict, options?: dict) -> dict',
      { doc: 'Calls a tool for its chunks; throws a ToolError dict.', effects: EFFECTS },
      (ctx, registry, tool, args, options) =>
        start(ctx, { registry: registry!, tool: tool!, args: args!, options: options!, quiet: false, alias: null, stream: true }),
    ),
    builtin(
      '__tool_alias_call(binding: dict, args?: any, options?: dict)',
      { doc: 'Calls the tool that an alias stands for.', effects: EFFECTS },
      (ctx, binding, args, options) =>
        start(ctx, {
          registry: null,
          tool: binding!,
          args: args!,
          options: options!,
          quiet: false,
          alias: readAlias(binding!),
        }),
    ),
    builtin(
      '__tool_server_call(binding: dict, name: string, args?: dict, options?: dict)',
      { doc: 'Calls a tool of the MCP server that an alias stands for.', effects: EFFECTS },
      (ctx, binding, name, args, options) => {
        if (!(binding instanceof HarnDict) || typeof name !== 'string')
          return ctx.runtime('an MCP server is called with the name of a tool and its arguments')
        const tool = binding.with('mcp_tool', name)
        return start(ctx, {
          registry: null,
          tool,
          args: args!,
          options: options!,
          quiet: false,
          alias: readAlias(binding),
        })
      },
    ),
    builtin(
      '__host_tool(id: string, entry: dict, args?: dict)',
      { doc: 'Calls a tool of the host; functions of modules `host/NAME` are made of it.', effects: EFFECTS },
      (ctx, id, entry, args) => {
        // The manifest names the tool by `id`, so an entry may lead to nothing else.
        if (!(entry instanceof HarnDict) || !isOfHostTool(entry, display(id ?? null)))
          return ctx.runtime(`__host_tool: the entry is not that of the host's tool '${display(id ?? null)}'`)
        return start(ctx, { registry: null, tool: entry, args: args!, options: null, quiet: false, alias: null })
      },
    ),
    builtin(
      '__defined_tool_call(name: string, args?: dict)',
      { doc: 'Calls a tool that the program defined, bound or not; else one by its id.', effects: EFFECTS },
      (ctx, name, args) => {
        const tool = ctx.state(definedTools).entries.get(display(name ?? null)) ?? name!
        return start(ctx, { registry: null, tool, args: args!, options: null, quiet: false, alias: null })
      },
    ),
    builtin('__tool_cache_clear() -> int', { doc: 'Forgets results that were kept; how many.', effects: [] }, forgetResults),
    builtin(
      '__tool_context() -> dict',
      { doc: 'Facts of the tool call that the caller is part of; nil outside of one.', effects: [] },
      (ctx) => {
        const { fields } = ctx.machine.task()
        const callId = fields.get('tool.call')
        if (typeof callId !== 'string') return null
        const attempts = fields.get(ATTEMPTS)
        const [attempt = 1, most = 1] = attempts instanceof HarnList ? attempts.view() : []
        return HarnDict.of({
          call_id: callId,
          attempt,
          max_attempts: most,
          idempotency_key: `${ctx.machine.runId ?? 'run'}:${makeCallKey(ctx, callId)}`,
          session_id: fields.get('agent_session_id') ?? null,
          process_id: fields.get('worker_id') ?? null,
          payload: null,
        })
      },
    ),
    builtin(
      '__tool_entry(id: string) -> dict',
      { doc: 'The entry of a tool of the host or of a standard one, nil when there is none.', effects: [] },
      (ctx, id) => {
        const name = display(id ?? null)
        const own = ctx.machine.hostData(HOST_TOOLS)?.get(name)
        return own === undefined ? findStandardEntry(name) : toHostEntry(own)
      },
    ),
    builtin(
      '__tool_bound() -> dict',
      { doc: 'The bound registry, or nil.', effects: [] },
      (ctx) => ctx.state(boundRegistry).registry,
    ),
    builtin(
      '__tool_entries(registry?: dict) -> list',
      { doc: 'The entries, without handlers, of a registry or else of the bound one.', effects: [] },
      (ctx, given) => {
        const registry = given ?? ctx.state(boundRegistry).registry
        if (!(registry instanceof HarnDict) || !isRegistry(registry)) return new HarnList([])
        const entries = listEntries(registry)
        ctx.charge(entries.length, entries.length * 64)
        return new HarnList(entries.map(withoutHandler))
      },
    ),
  ],
  frames: [dispatchFrame, checkingResult.frame, passedFrame],
  primitives: carryOutPrimitives,
}
