// One tool call from name to result, as the native frame `tool.dispatch`: resolve, encode, defaults, validate input, identify,
// policy, attempt loop with the executor, validate output, decode. The frame's state is all that a restart needs;
// journal, approval and the outside executors are the driver's, reached by the effect `tool.call` (library/effects/tool-records.ts).
// Scripts reach it through `std/tools`: tool_call throws a ToolError dict, tool_try gives a Result.

import { popScope, pushScope } from '../../library/task-scopes.js'
import { TOOL_CALLS, makeCallKey } from './branches.js'
import { HAS_OTHER_HOST_TOOLS, HOST_TOOLS } from '../definitions/entry.js'
import { DRIFT_WATCH, RESULT_CACHE } from '../host-slots.js'
import { carryOutPrimitives, makeHandlerArguments, passedFrame } from './carry-out.js'
import { RUNTIME_TOOLS } from '../definitions/runtime-tools.js'
import {
  Control,
  HarnDict,
  HarnFloat,
  HarnList,
  Keyed,
  TooDeepError,
  UNTRACED,
  runAtOnce,
  builtin,
  chargeArguments,
  debugQuoted,
  display,
  err,
  family,
  frame,
  fromPlain,
  definePieces,
  makeStepWork,
  isCallable,
  isInt,
  toMillis,
  ok,
  stringifySorted,
  toPlain,
  typeName,
} from '@bridle/vm/families'
import type {
  BuiltinFamily,
  Context,
  Cost,
  Effect,
  Fault,
  FrameState,
  Plain,
  Result,
  Steps,
  TraceRecord,
  Value,
} from '@bridle/vm/families'
import { admitByCircuit, reportToCircuit } from './circuit.js'
import { STANDARD_CALL, reserveBudgets, settle, findSmallestLimit } from '../policy/grants.js'
import type { AppliedGrant } from '../policy/grants.js'
import { makeEgressRefusal } from '../../library/http/egress.js'
import { executorNamed, factsOfExecutor, findExecutorFacts, isOutside } from '@bridle/compiler/grants'
import type { OutsideExecutor } from '@bridle/compiler/grants'
import { findClosest } from '@bridle/compiler/signatures'
import {
  makeStandardAnswer,
  makeStandardCall,
  findStandardEntry,
  findStandardProblem,
  STANDARD_TOOLS,
} from '../definitions/standard-tools.js'
import { checkArguments, findLiveValue } from '../definitions/arguments.js'
import { makeCacheKey, forgetResults, keepResult, findKeptResult, chooseRule } from './cache.js'
import { getEntryFacts, toHostEntry, readServer } from '../definitions/entry.js'
import { checkDrift, findQuarantine } from './drift.js'
import { openStream } from './streams.js'
import { readParseError } from '../definitions/model-arguments.js'
import { normalizePlan } from '../definitions/plan.js'
import { isCounted, judgeAdded, noteCounted, judgeQuickly, startGate, startPostHooks, takePass } from '../policy/gate.js'
import type { CalledTool } from './identity.js'
import { admit, admitArguments, findBrokenGrant, findHostEntry, identifyEntry, makePin } from './gate.js'
import type { GateCall } from './gate.js'
import type { ToolIdentity } from './identity.js'
import { findCodeRow, toToolError, isInterruption, makeToolError } from '../../library/tool-errors.js'
import { definedTools } from '../definitions/define.js'
import { hashEntrySchemas } from '../definitions/pins.js'
import type { ToolOrigin } from '../definitions/pins.js'
import type { RetryPolicy } from './retry.js'
import { capPolicy, mayRetry, retryDelay, retryPolicy } from './retry.js'
import { maySeeResults } from './hooks.js'
import {
  boundRegistry,
  listEntries,
  findEntry,
  isRegistry,
  listKnownNames,
  readName,
  getOrNil,
  readText,
  withoutHandler,
} from '../definitions/registry.js'
import { hasMembers, isObjectSchema, stepThroughSchema, validateSchema } from '../definitions/validate.js'
import type { SchemaFailure } from '../definitions/validate.js'
import type { CallFacts } from '../../library/tool-errors.js'

/** Call ids count per machine, so that a replay gives the same ones. */
const toolCalls = family<{ made: number }>(TOOL_CALLS, () => ({ made: 0 }))

/** Field of a task inside a call that may be tried again: [attempt, attempts at most]. */
const ATTEMPTS = 'tool.attempts'

interface DispatchState extends FrameState {
  stage: 'start' | 'gate' | 'running' | 'checking' | 'waiting' | 'after'
  /** A registry, or nil for the bound one. */
  registry: Value
  /** A name, a registry of one tool, or an entry. */
  tool: Value
  args: Value
  options: Value
  /** True for tool_try: errors become an Err. */
  quiet: boolean
  /** Set for tool_stream: the result comes in chunks (tool-streams.ts). */
  stream?: boolean
  entry: HarnDict | null
  /** What is carried out; null until the call is resolved. */
  identity: ToolIdentity | null
  name: string
  callId: string
  argHash: string
  /** Who defines the tool. */
  origin: ToolOrigin
  /** How the script calls the tool, when by an alias; then `tool` is its binding. */
  alias: string | null
  /** Outermost first. */
  applied: readonly AppliedGrant[]
  /** The call around this one, which the task goes back to; undefined until this one has its id. */
  outerCall?: Value
  /** What the call around it says about its attempts, if it does. */
  outerAttempts?: Value
  startedMs: number
  /** Whether an attempt runs under a time limit of its own. */
  limited: boolean
  /** Scopes of grants that hold for the builtin behind a standard tool. */
  pushed: number
  /** Whether the ceilings of the calling module hold for the handler. */
  narrowed?: boolean
  /** Whether its effects are left out of the trace. */
  covered: boolean
  attempt: number
  /** The call of an agent loop that it is an attempt of (policy/gate.ts). */
  attemptOf?: number
  /** Where its result is kept, for tools whose results are. */
  cacheKey?: string
  /** Whether the result is one that was kept. */
  cached?: boolean
  /** One dict a failed attempt. */
  history: Value[]
  /** The result while hooks look at it. */
  value: Value
}

const makeFacts = (state: DispatchState): CallFacts => ({
  tool: state.name,
  alias: state.alias,
  callId: state.callId === '' ? null : state.callId,
  attempt: state.attempt,
})

function finish(ctx: Context, state: DispatchState, value: Value): Value {
  traceCall(ctx, state, () => ({ ok: true, value: toPlain(value) }))
  return state.quiet ? ok(value) : value
}

function refuse(ctx: Context, state: DispatchState, error: HarnDict): Result {
  traceCall(ctx, state, () => ({
    ok: false,
    code: display(error.get('code') ?? null),
    message: display(error.get('message') ?? null),
    denied: state.attempt === 0,
  }))
  return state.quiet ? err(error) : ctx.throw(error)
}

/** One record for every call that was resolved, refused ones too. */
function traceCall(ctx: Context, state: DispatchState, outcome: () => TraceRecord['outcome']): void {
  const { traced } = ctx.machine
  const { entry } = state
  if (traced === null || entry === null) return
  const { outerCall } = state
  traced({
    kind: 'tool_call',
    tool: state.name,
    alias: state.alias,
    version: getEntryFacts(entry).version,
    executor: chooseExecutor(state, entry),
    callId: state.callId,
    parent: typeof outerCall === 'string' ? outerCall : null,
    task: ctx.machine.taskNumber,
    args: toPlainOrText(state.args),
    policy: state.applied.length === 0 ? null : (state.applied.map(({ grant }) => grant) as Plain),
    secret: listCallSecrets(ctx, state, entry),
    attempts: state.attempt,
    cached: state.cached === true,
    startedMs: state.startedMs,
    endedMs: ctx.now,
    outcome: outcome(),
  })
}

/** By the entry of the call, and by the host's own word about its tool. */
function listCallSecrets(ctx: Context, state: DispatchState, entry: HarnDict): readonly string[] {
  const own = state.identity === null ? null : findHostEntry(ctx, state.identity)
  const { secrets } = getEntryFacts(entry)
  return own === null || own === entry ? secrets : [...new Set([...secrets, ...getEntryFacts(own).secrets])]
}

/** Arguments that were refused for their depth are traced as a text. */
export function toPlainOrText(value: Value): Plain {
  try {
    return toPlain(value)
  } catch {
    return '<nested too deeply>'
  }
}

function refuseWith(ctx: Context, state: DispatchState, code: string, message: string, details: Value = null): Result {
  return refuse(ctx, state, makeToolError(code, message, makeFacts(state), details))
}

// --- resolve ------------------------------------------------------------------------------------------------------------

/** The entry that is meant, or the text that says why there is none. A name that no registry knows goes to the host. */
function resolve(ctx: Context, state: DispatchState): HarnDict | string {
  const { tool } = state
  if (tool instanceof HarnDict && state.alias !== null) return resolveBinding(ctx, state, tool)
  if (tool instanceof HarnDict) {
    if (!isRegistry(tool)) return tool.has('name') ? tool : 'a tool is named by a string, a registry of one tool, or an entry'
    const entries = listEntries(tool)
    const only = entries[0]
    return entries.length === 1 && only instanceof HarnDict
      ? only
      : `a registry of one tool is needed to call it, got ${entries.length} tools`
  }
  const name = display(tool)
  const registry = state.registry ?? ctx.state(boundRegistry).registry
  if (registry !== null && !(registry instanceof HarnDict && isRegistry(registry)))
    return 'registry must be a tool registry (created with tool_registry())'
  const entry = registry === null ? null : findEntry(registry, name)
  if (entry !== null) return entry
  if (state.registry !== null) return `Tool '${name}' not found. Registered tools: ${listKnownNames(registry as HarnDict)}`
  return findById(ctx, state, name) ?? describeUnknownTool(name, listKnownIds(ctx, registry))
}

/** What an alias stands for (grants.ts). */
function resolveBinding(ctx: Context, state: DispatchState, binding: HarnDict): HarnDict | string {
  const id = display(binding.get('tool') ?? '')
  const server = binding.get('mcp_tool')
  if (typeof server === 'string') {
    state.origin = 'mcp'
    return HarnDict.of({ name: server, executor: 'mcp_server', mcp_server: id, parameters: new HarnDict() })
  }
  const { registry } = ctx.state(boundRegistry)
  const own = registry instanceof HarnDict && isRegistry(registry) ? findEntry(registry, id) : null
  return own ?? findById(ctx, state, id) ?? describeUnknownTool(id, listKnownIds(ctx, registry))
}

/** A tool of the host, else a standard one. A machine that does not know its host's tools leaves the question to the host. */
function findById(ctx: Context, state: DispatchState, name: string): HarnDict | null {
  const hostTools = ctx.machine.hostData(HOST_TOOLS)
  const hasOtherHostTools = ctx.machine.hostData(HAS_OTHER_HOST_TOOLS)
  const entry = hostTools?.get(name)
  state.origin = 'host'
  if (entry !== undefined) return toHostEntry(entry)
  const standard = findStandardEntry(name)
  if (standard !== null) {
    state.origin = 'bridle'
    return standard
  }
  return hasOtherHostTools ? HarnDict.of({ name, executor: 'host_bridge', parameters: new HarnDict() }) : null
}

function listKnownIds(ctx: Context, registry: Value): readonly string[] {
  const own = registry instanceof HarnDict && isRegistry(registry) ? listEntries(registry).map(readName) : []
  return [...own, ...(ctx.machine.hostData(HOST_TOOLS)?.keys() ?? []), ...STANDARD_TOOLS.map(({ id }) => id)]
}

function describeUnknownTool(name: string, known: readonly string[]): string {
  const near = findClosest(name, known)
  return near === null ? `Tool '${name}' not found` : `Tool '${name}' not found. Did you mean '${near}'?`
}

// --- executors ----------------------------------------------------------------------------------------------------------

function chooseExecutor(state: DispatchState, entry: HarnDict): string {
  return state.options instanceof HarnDict && state.options.get('dry_run') === true ? 'dry_run' : readExecutor(entry)
}

function readExecutor(entry: HarnDict): string {
  return getEntryFacts(entry).executor
}

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
function attemptLimit(state: DispatchState, entry: HarnDict): number | null {
  const asked =
    state.options instanceof HarnDict ? toMillis(state.options.get('timeout_ms') ?? state.options.get('timeout')) : null
  const own = asked ?? getEntryFacts(entry).timeoutMs
  const granted = findSmallestLimit(state.applied, 'timeout_ms')
  return own === null || granted === null ? (own ?? granted) : Math.min(own, granted)
}

function makeOutsideCall(ctx: Context, state: DispatchState, entry: HarnDict, executor: OutsideExecutor, args: Plain): Effect {
  const secrets = listCallSecrets(ctx, state, entry)
  return {
    kind: 'tool.call',
    args: {
      executor,
      identity: state.identity!.key,
      tool: state.name,
      ...getEntryFacts(entry).target,
      args,
      call_id: state.callId,
      attempt: state.attempt,
      max_attempts: capPolicyByGrants(state, retryPolicy(entry, state.options)).maxRetries + 1,
      idempotency_key: makeCallKey(ctx, state.callId),
      arg_hash: state.argHash,
      timeout_ms: attemptLimit(state, entry),
      ...(secrets.length === 0 ? {} : { secrets }),
      ...(state.stream === true ? { stream: { op: 'open' } } : {}),
      ...(state.applied.length === 0 ? {} : { grants: state.applied.map(({ grant }) => grant) as Plain }),
    },
  }
}

function attempt(ctx: Context, state: DispatchState): Result {
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
      identify(ctx, state, args)
      return ctx.request(makeOutsideCall(ctx, state, entry, known as OutsideExecutor, toPlain(args)))
    }
  }
}

function capPolicyByGrants(state: DispatchState, policy: RetryPolicy): RetryPolicy {
  return state.applied.length === 0 ? policy : capPolicy(policy, findSmallestLimit(state.applied, 'max_retries'))
}

/** Constraints of an alias or an entry that hold for what the builtin behind a standard tool does. */
const WITHIN: ReadonlySet<string> = new Set(['domain', 'path', 'paths', 'max_cost_usd', 'max_total_tokens'])

/** Through the builtin, with the grants of the call around it: a redirect is a request of its own, and must fit them too. */
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
    // Budgets count by the grant that they are of, over all calls of the alias.
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
function endAttempt(ctx: Context, state: DispatchState): boolean {
  for (; state.pushed > 0; state.pushed--) popScope(ctx, 'grants')
  if (state.covered) for (const field of [UNTRACED, STANDARD_CALL]) ctx.machine.task().fields.delete(field)
  if (state.narrowed === true) popScope(ctx, 'imports')
  if (state.narrowed !== undefined) state.narrowed = false
  state.covered = false
  if (!state.limited) return false
  state.limited = false
  return ctx.machine.endTimeLimit()
}

// --- the result ---------------------------------------------------------------------------------------------------------

/** Numbers from outside lose the difference of 1 and 1.0; the schema gives it back. */
function* decodeResult(value: Value, schema: Value | undefined, depth = 0): Generator<Cost, Value, void> {
  if (!(schema instanceof HarnDict) || depth > 100) return value
  const items = schema.get('items')
  if (value instanceof HarnList && items instanceof HarnDict) {
    const decoded: Value[] = []
    for (const item of value.view()) {
      if (decoded.length % DECODED_AT_ONCE === 0) yield { units: DECODED_AT_ONCE, heap: DECODED_AT_ONCE * UNITS_A_SLOT }
      decoded.push(hasMembers(item) ? yield* decodeResult(item, items, depth + 1) : decodeNumber(item, items))
    }
    return new HarnList(decoded)
  }
  const properties = schema.get('properties')
  if (!(value instanceof HarnDict) || !(properties instanceof HarnDict)) return decodeNumber(value, schema)
  const decoded = value.copy()
  yield { units: properties.size, heap: UNITS_A_SLOT * (1 + decoded.size) }
  for (const [key, inner] of properties.entries()) {
    const member = decoded.get(key)
    if (member === undefined) continue
    decoded.set(key, hasMembers(member) ? yield* decodeResult(member, inner, depth + 1) : decodeNumber(member, inner))
  }
  return decoded
}

/** Items between two steps, and heap units of one. */
const DECODED_AT_ONCE = 256
const UNITS_A_SLOT = 16

function decodeNumber(value: Value, schema: Value): Value {
  if (!(schema instanceof HarnDict)) return value
  const type = schema.get('type')
  if (type === 'number' && isInt(value)) return new HarnFloat(Number(value))
  if (type === 'integer' && value instanceof HarnFloat && Number.isSafeInteger(value.v)) return value.v
  return value
}

/** A result that was checked, for the frame of its call. */
function* stepThroughResult(raw: Value, schema: Value, isDecoded: boolean): Steps {
  const value = isDecoded ? yield* decodeResult(raw, schema) : raw
  const failure = yield* stepThroughSchema(value, schema)
  return () => HarnDict.of({ value, failure: failure === null ? null : HarnDict.of({ ...failure }) })
}

const checkingResult = definePieces('tool.check_result', ([raw, schema, isDecoded]) =>
  makeStepWork(stepThroughResult(raw!, schema!, isDecoded as boolean)),
)

/** Results that are checked within the step that takes them in. */
const SMALL_RESULT = 1_000

/** Whether a value has no more than `most` members, those of its members counted too. */
function isSmall(value: Value, most: number): boolean {
  const pending = [value]
  let left = most
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const members = next instanceof HarnList ? next.view() : next instanceof Keyed ? next.values() : []
    left -= members.length
    if (left < 0) return false
    for (const member of members) if (hasMembers(member)) pending.push(member)
  }
  return true
}

function readOutputMode(entry: HarnDict): string {
  return readText(entry, 'output_mode') ?? 'fail'
}

function runAfterHooks(ctx: Context, state: DispatchState, value: Value): Result {
  if (!maySeeResults(ctx, toCalled(state))) return finish(ctx, state, value)
  state.stage = 'after'
  state.value = value
  return startPostHooks(ctx, toCalled(state), state.args, formatResult(value))
}

function accept(ctx: Context, state: DispatchState, given: Value): Result {
  const entry = state.entry!
  let raw = given
  if (state.stream === true) {
    const executor = readExecutor(entry)
    const opened = openStream(ctx, state.callId, given, () =>
      isOutside(executor) ? makeOutsideCall(ctx, state, entry, executor, toPlain(state.args)) : null,
    )
    if (opened.kind === 'chunks') {
      endAttempt(ctx, state)
      return finish(ctx, state, opened.handle)
    }
    raw = opened.value
  }
  const schema = getEntryFacts(entry).output
  endAttempt(ctx, state)
  reportToCircuit(ctx, `tool:${state.name}`, getEntryFacts(entry).breaker, true)
  const runs = findExecutorFacts(readExecutor(entry))?.runs
  const answer = runs === 'builtin' ? makeStandardAnswer(state.name, raw, state.args as HarnDict) : raw
  if (schema === null) return takeResult(ctx, state, answer, null)
  const isDecoded = runs !== 'builtin' && runs !== 'handler'
  if (!isSmall(answer, SMALL_RESULT)) {
    state.stage = 'checking'
    const checked = checkingResult.run(ctx, answer, schema, isDecoded)
    return checked instanceof Control ? checked : takeChecked(ctx, state, checked as HarnDict)
  }
  const value = isDecoded ? runAtOnce(decodeResult(answer, schema)) : answer
  return takeResult(ctx, state, value, validateSchema(value, schema))
}

function takeChecked(ctx: Context, state: DispatchState, checked: HarnDict): Result {
  const failure = checked.get('failure')
  const found =
    failure instanceof HarnDict
      ? (Object.fromEntries(failure.entries()) as { readonly [part in keyof SchemaFailure]: string })
      : null
  return takeResult(ctx, state, checked.get('value')!, found)
}

/** Goes on with a result of which is known whether it is as the schema of its tool says. */
function takeResult(ctx: Context, state: DispatchState, value: Value, failure: SchemaFailure | null): Result {
  const entry = state.entry!
  const schema = getEntryFacts(entry).output
  const { drift: reaction } = getEntryFacts(entry)
  if (reaction !== null || ctx.machine.hostData(DRIFT_WATCH) !== null) {
    const key = (): string => makePin({ identity: state.identity!, entry, isOfScript: isOfScript(state) })
    const drift = checkDrift(ctx, { tool: state.identity!.id, reaction, key, schema }, value)
    const message = `Tool '${state.name}' gave another shape than expected: ${drift?.line ?? ''}`
    if (drift !== null) return refuseWith(ctx, state, 'schema_drift', message, drift.report)
  }
  if (failure === null && state.cacheKey !== undefined)
    keepResult(
      ctx,
      state.cacheKey,
      { value, handler: getOrNil(entry, 'handler') },
      chooseRule(ctx.machine.hostData(RESULT_CACHE), getEntryFacts(entry).cache) ?? { ttlMs: 0 },
    )
  if (failure === null || readOutputMode(entry) === 'warn')
    return runAfterHooks(ctx, state, state.stream === true ? HarnDict.of({ kind: 'whole', id: state.callId, value }) : value)
  const { path, expected, actual, reason } = failure
  const message = `Tool '${state.name}' returned an invalid result at ${path}: ${reason}`
  return refuseWith(ctx, state, 'output_validation_failed', message, HarnDict.of({ path, expected, actual, reason }))
}

// --- the frame ----------------------------------------------------------------------------------------------------------

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
  const grants = admit(ctx, makeGateCall(state), isCarriedOut)
  if (grants instanceof HarnDict) return refuse(ctx, state, grants)
  state.applied = grants
  const given = nameArguments(state, getEntryFacts(entry).parameters) ?? state.args ?? new HarnDict()
  if (!(given instanceof HarnDict))
    return refuseWith(ctx, state, 'invalid_args', `Parameters must be an object, got ${typeName(given)}`)
  const unreadable = readParseError(given)
  if (unreadable !== null) return refuseWith(ctx, state, 'invalid_args', unreadable)
  const call = makeGateCall(state)
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

/** Whether the program made the entry itself. */
function isOfScript(state: DispatchState): boolean {
  return state.origin === 'script'
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

/** What policies and hooks are asked about. */
function toCalled(state: DispatchState): CalledTool {
  return { shown: state.name, identity: state.identity! }
}

const schemaHashes = new WeakMap<HarnDict, string>()

/** Hash of a tool's name and schemas; entries are never changed in place, so it is worked out once. */
function getSchemaHash(ctx: Context, entry: HarnDict): string {
  let hash = schemaHashes.get(entry)
  if (hash === undefined) schemaHashes.set(entry, (hash = hashEntrySchemas((bytes) => ctx.machine.hashHex(bytes), entry)))
  return hash
}

/** For whoever keeps calls or compares them outside; once for all attempts. */
function identify(ctx: Context, state: DispatchState, args: HarnDict): void {
  if (state.argHash !== '') return
  const text = stringifySorted(args)
  ctx.charge(text.length >> 6, text.length)
  state.argHash = ctx.machine.sha256Hex(text)
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

/** What hooks look at and may replace: texts as they are, data as JSON. */
function formatResult(value: Value): string {
  return typeof value === 'string' ? value : stringifySorted(value, 2)
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

function withHistory(state: DispatchState, error: HarnDict): HarnDict {
  if (state.history.length === 0) return error
  const retry = HarnDict.of({ state: 'exhausted', attempts: state.attempt, history: new HarnList(state.history) })
  return error.with('retry', retry)
}

function onLeave(ctx: Context, state: DispatchState): void {
  endAttempt(ctx, state)
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
  return readName(entry) === id && getEntryFacts(entry).executor === 'host_bridge' && getOrNil(entry, 'host_capability') === null
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
