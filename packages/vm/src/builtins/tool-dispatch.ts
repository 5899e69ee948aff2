// One tool call from name to result, as the native frame `tool.dispatch`: resolve, encode, defaults, validate input, identify,
// policy, attempt loop with the executor, validate output, decode (design §8.12). The frame's state is all that a restart needs;
// journal, approval and the outside executors are the driver's, reached by the effect `tool.call` (effects/tool-records.ts).
// Scripts reach it through `std/tools`: tool_call throws a ToolError dict, tool_try gives a Result.

import { sha256 } from '@noble/hashes/sha2.js'
import { builtin, family, frame } from './builtin.js'
import { normalizePlan } from './plan.js'
import { isGated, startGate, startPostHooks } from './policy-gate.js'
import { errorFromFault, isInterruption, toolError } from './tool-errors.js'
import { mayRetry, millisOf, retryDelay, retryPolicy } from './tool-retry.js'
import { bytesToHex, debugQuoted, sortedJson, utf8 } from './tools-json.js'
import { hasToolHooks } from './hooks.js'
import {
  boundRegistry,
  entriesOf,
  findEntry,
  isRegistry,
  knownNames,
  nameOf,
  present,
  textAt,
  withoutHandler,
} from './tools-registry.js'
import { isObjectSchema, isRequired, specSchema, validateSchema } from './tools-validate.js'
import { HarnClosure } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnGenerator, HarnHandle, HarnIter, HarnChannel, HarnTask } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { TooDeepError, toPlain } from '../values/plain.js'
import { err, HarnFloat, ok } from '../values/scalars.js'
import { isCallable, isInt, typeName } from '../values/value.js'
import type { CallFacts } from './tool-errors.js'
import type { Context, Control, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { Effect, Plain } from '../effects/effect.js'
import type { Fault } from '../interpreter/fault.js'
import type { Value } from '../values/value.js'

/** Call ids count per machine, so that a replay gives the same ones. */
const toolCalls = family<{ made: number }>('tool_calls', () => ({ made: 0 }))

interface DispatchState extends FrameState {
  stage: 'start' | 'gate' | 'running' | 'waiting' | 'after'
  /** A registry, or nil for the bound one. */
  registry: Value
  /** A name, a registry of one tool, or an entry. */
  tool: Value
  args: Value
  options: Value
  /** True for tool_try: errors become an Err. */
  quiet: boolean
  entry: HarnDict | null
  name: string
  callId: string
  argHash: string
  attempt: number
  /** One dict a failed attempt. */
  history: Value[]
  /** The result while hooks look at it. */
  value: Value
}

const factsOf = (state: DispatchState): CallFacts => ({
  tool: state.name,
  callId: state.callId === '' ? null : state.callId,
  attempt: state.attempt,
})

function finish(state: DispatchState, value: Value): Value {
  return state.quiet ? ok(value) : value
}

function refuse(ctx: Context, state: DispatchState, error: HarnDict): Result {
  return state.quiet ? err(error) : ctx.throw(error)
}

function refuseWith(ctx: Context, state: DispatchState, code: string, message: string, details: Value = null): Result {
  return refuse(ctx, state, toolError(code, message, factsOf(state), details))
}

// --- resolve ------------------------------------------------------------------------------------------------------------

/** The entry that is meant, or the text that says why there is none. A name that no registry knows goes to the host. */
function resolve(ctx: Context, state: DispatchState): HarnDict | string {
  const { tool } = state
  if (tool instanceof HarnDict) {
    if (!isRegistry(tool)) return tool.has('name') ? tool : 'a tool is named by a string, a registry of one tool, or an entry'
    const entries = entriesOf(tool)
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
  if (state.registry !== null) return `Tool '${name}' not found. Registered tools: ${knownNames(registry as HarnDict)}`
  return HarnDict.of({ name, executor: 'host_bridge', parameters: new HarnDict() })
}

// --- arguments ----------------------------------------------------------------------------------------------------------

function parametersOf(entry: HarnDict): HarnDict {
  const parameters = present(entry, 'parameters') ?? present(entry, 'inputSchema') ?? present(entry, 'input_schema')
  return parameters instanceof HarnDict ? parameters : new HarnDict()
}

/** Arguments with the defaults of the parameters filled in. */
function withDefaults(parameters: HarnDict, args: HarnDict): HarnDict {
  const specs = isObjectSchema(parameters) ? (parameters.get('properties') as HarnDict) : parameters
  let filled = args
  for (const [name, spec] of specs.map) {
    if (!(spec instanceof HarnDict) || !spec.has('default') || args.has(name)) continue
    if (filled === args) filled = args.copy()
    filled.set(name, spec.get('default')!)
  }
  return filled
}

interface ArgumentProblem {
  readonly message: string
  readonly details: Value
}

function problem(path: string, message: string, expected: string, actual: string, reason: string): ArgumentProblem {
  return { message, details: HarnDict.of({ path, expected, actual, reason }) }
}

function checkArguments(parameters: HarnDict, args: HarnDict): ArgumentProblem | null {
  if (isObjectSchema(parameters)) {
    const failure = validateSchema(args, parameters)
    if (failure === null) return null
    return problem(
      failure.path,
      `Invalid arguments at ${failure.path}: ${failure.reason}`,
      failure.expected,
      failure.actual,
      failure.reason,
    )
  }
  for (const name of parameters.keys()) {
    const spec = parameters.get(name)!
    const value = args.get(name)
    if (value === undefined) {
      if (!isRequired(spec)) continue
      const hint = nearestUnknown(name, parameters, args)
      const reason = `missing required property '${name}'`
      return problem(`$.${name}`, `Missing required parameter: ${name}${hint}`, `property '${name}'`, sortedJson(args), reason)
    }
    // An optional parameter may be given as nil.
    if (value === null && !isRequired(spec)) continue
    const failure = validateSchema(value, specSchema(spec))
    if (failure === null) continue
    const path = `$.${name}${failure.path.slice(1)}`
    return problem(
      path,
      `Invalid type for parameter '${name}': ${failure.reason}`,
      failure.expected,
      failure.actual,
      failure.reason,
    )
  }
  return null
}

/** A suggestion when an argument that no parameter has looks like a misspelling of the missing one. */
function nearestUnknown(missing: string, parameters: HarnDict, args: HarnDict): string {
  const limit = missing.length <= 2 ? 1 : missing.length <= 5 ? 2 : 3
  const near = args.keys().find((key) => !parameters.has(key) && key.length < 64 && editDistance(key, missing) <= limit)
  return near === undefined ? '' : ` (did you mean '${missing}' instead of '${near}'?)`
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const change = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}

/** The path of a value that cannot leave the machine (closures, channels, tasks, handles), or null. */
function pathOfLiveValue(root: Value): { path: string; value: Value } | null {
  const pending: { path: string; value: Value }[] = [{ path: '$', value: root }]
  while (pending.length > 0) {
    const { path, value } = pending.pop()!
    if (value instanceof HarnList) value.view().forEach((item, at) => pending.push({ path: `${path}[${at}]`, value: item }))
    else if (value instanceof HarnDict) for (const [key, item] of value.map) pending.push({ path: `${path}.${key}`, value: item })
    else if (
      isCallable(value) ||
      value instanceof HarnChannel ||
      value instanceof HarnTask ||
      value instanceof HarnHandle ||
      value instanceof HarnIter ||
      value instanceof HarnGenerator
    )
      return { path, value }
  }
  return null
}

// --- executors ----------------------------------------------------------------------------------------------------------

function executorOf(entry: HarnDict): string {
  const named = entry.get('executor')
  if (typeof named === 'string') return named === 'harn_builtin' ? 'harn' : named
  if (present(entry, 'handler') !== null) return 'harn'
  return textAt(entry, '_mcp_server') === null ? 'host_bridge' : 'mcp_server'
}

/**
 * The handler takes one dict. Only the handler of a `tool` declaration takes the declared parameters; it is known by its
 * parameter names being exactly those of the entry, and for a single parameter by its own name too, because a dict parameter
 * may well be called like the only argument.
 */
function handlerArguments(entry: HarnDict, handler: Value, args: HarnDict): Value[] {
  if (!(handler instanceof HarnClosure)) return [args]
  const names = handler.code.paramNames
  const parameters = parametersOf(entry)
  const declared = names.length === parameters.size && names.every((name) => parameters.has(name))
  if (!declared || (names.length === 1 && handler.code.chunk.name !== nameOf(entry))) return [args]
  return names.map((name) => args.get(name) ?? null)
}

function runHarn(ctx: Context, state: DispatchState, entry: HarnDict, args: HarnDict): Result {
  const handler = present(entry, 'handler')
  if (isCallable(handler)) return ctx.call(handler, handlerArguments(entry, handler, args))
  switch (state.name) {
    case 'emit_plan':
    case 'update_plan':
      return finish(state, normalizePlan(args, state.name))
    case 'read_file':
      return ctx.call(ctx.builtinValue('read_file'), [args.get('path') ?? null])
    case 'list_directory':
      return ctx.call(ctx.builtinValue('list_dir'), [args.get('path') ?? '.'])
    default:
      return refuseWith(ctx, state, 'not_registered', `Tool '${state.name}' has no handler`)
  }
}

/** What a dry run answers: the shape of 04a §1.9, so that scripts read both alike. */
function dryRunResult(state: DispatchState, entry: HarnDict): Value {
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

function outsideCall(state: DispatchState, entry: HarnDict, executor: 'host_bridge' | 'mcp_server', args: Plain): Effect {
  const timeoutMs =
    state.options instanceof HarnDict ? millisOf(state.options.get('timeout_ms') ?? state.options.get('timeout')) : null
  return {
    kind: 'tool.call',
    args: {
      executor,
      tool: state.name,
      host_capability: executor === 'host_bridge' ? textAt(entry, 'host_capability') : null,
      mcp_server: executor === 'mcp_server' ? (textAt(entry, 'mcp_server') ?? textAt(entry, '_mcp_server')) : null,
      mcp_tool: executor === 'mcp_server' ? (textAt(entry, 'mcp_tool') ?? state.name) : null,
      args,
      call_id: state.callId,
      attempt: state.attempt,
      max_attempts: retryPolicy(entry, state.options).maxRetries + 1,
      idempotency_key: state.callId,
      arg_hash: state.argHash,
      timeout_ms: timeoutMs ?? millisOf(entry.get('timeout_ms')),
    },
  }
}

function attempt(ctx: Context, state: DispatchState): Result {
  const entry = state.entry!
  const args = state.args as HarnDict
  state.attempt++
  state.stage = 'running'
  const executor = state.options instanceof HarnDict && state.options.get('dry_run') === true ? 'dry_run' : executorOf(entry)
  switch (executor) {
    case 'harn':
      return runHarn(ctx, state, entry, args)
    case 'dry_run':
      return finish(state, dryRunResult(state, entry))
    case 'provider_native':
      return refuseWith(
        ctx,
        state,
        'execution_failed',
        `Tool '${state.name}' is executed by the model provider (executor: "provider_native") and cannot be called from a script`,
      )
    case 'host_bridge':
    case 'mcp_server': {
      const live = pathOfLiveValue(args)
      if (live !== null) {
        return refuseWith(
          ctx,
          state,
          'invalid_args',
          `Invalid arguments at ${live.path}: a ${typeName(live.value)} cannot be passed to a tool outside the script`,
        )
      }
      return ctx.request(outsideCall(state, entry, executor, toPlain(args)))
    }
    default:
      return refuseWith(ctx, state, 'not_registered', `Tool '${state.name}' declares unknown executor ${debugQuoted(executor)}`)
  }
}

// --- the result ---------------------------------------------------------------------------------------------------------

/** Numbers from outside lose the difference of 1 and 1.0; the schema gives it back (design §8.5). */
function decode(value: Value, schema: Value | undefined, depth = 0): Value {
  if (!(schema instanceof HarnDict) || depth > 100) return value
  const type = schema.get('type')
  if (type === 'number' && isInt(value)) return new HarnFloat(Number(value))
  if (type === 'integer' && value instanceof HarnFloat && Number.isSafeInteger(value.v)) return value.v
  const items = schema.get('items')
  if (value instanceof HarnList && items instanceof HarnDict)
    return new HarnList(value.view().map((item) => decode(item, items, depth + 1)))
  const properties = schema.get('properties')
  if (!(value instanceof HarnDict) || !(properties instanceof HarnDict)) return value
  const decoded = value.copy()
  for (const [key, inner] of properties.map) if (decoded.has(key)) decoded.set(key, decode(decoded.get(key)!, inner, depth + 1))
  return decoded
}

function outputMode(entry: HarnDict): string {
  return textAt(entry, 'output_mode') ?? 'fail'
}

function afterHooks(ctx: Context, state: DispatchState, value: Value): Result {
  if (!hasToolHooks(ctx)) return finish(state, value)
  state.stage = 'after'
  state.value = value
  return startPostHooks(ctx, state.name, state.args, resultText(value))
}

function accept(ctx: Context, state: DispatchState, raw: Value): Result {
  const entry = state.entry!
  const schema = present(entry, 'outputSchema')
  const value = executorOf(entry) === 'harn' ? raw : decode(raw, schema)
  const failure = schema === null ? null : validateSchema(value, schema)
  if (failure === null || outputMode(entry) === 'warn') return afterHooks(ctx, state, value)
  const { path, expected, actual, reason } = failure
  const message = `Tool '${state.name}' returned an invalid result at ${path}: ${reason}`
  return refuseWith(ctx, state, 'output_validation_failed', message, HarnDict.of({ path, expected, actual, reason }))
}

// --- the frame ----------------------------------------------------------------------------------------------------------

function begin(ctx: Context, state: DispatchState): Result {
  const entry = resolve(ctx, state)
  if (typeof entry === 'string') {
    state.name = state.tool instanceof HarnDict ? '' : display(state.tool)
    return refuseWith(ctx, state, 'not_registered', entry)
  }
  state.entry = entry
  state.name = nameOf(entry)
  const given = state.args ?? new HarnDict()
  if (!(given instanceof HarnDict))
    return refuseWith(ctx, state, 'invalid_args', `Parameters must be an object, got ${typeName(given)}`)
  const parameters = parametersOf(entry)
  const args = withDefaults(parameters, given)
  const wrong = checkArguments(parameters, args)
  if (wrong !== null) return refuseWith(ctx, state, 'invalid_args', wrong.message, wrong.details)
  const calls = ctx.state(toolCalls)
  calls.made++
  state.callId = `call_${calls.made}`
  identify(ctx, state, args)
  if (!isGated(ctx)) return attempt(ctx, state)
  state.stage = 'gate'
  return startGate(ctx, state.name, args, HarnDict.of({ call_id: state.callId }))
}

function identify(ctx: Context, state: DispatchState, args: HarnDict): void {
  state.args = args
  const text = sortedJson(args)
  ctx.charge(text.length / 64, text.length)
  state.argHash = bytesToHex(sha256(utf8(text)))
}

/** What the gate said (policy-gate.ts). Arguments that a person or a hook changed are checked as the first ones were. */
function admitted(ctx: Context, state: DispatchState, verdict: HarnDict): Result {
  if (verdict.get('allowed') !== true) {
    const code = verdict.get('stage') === 'approval' ? 'approval_denied' : 'policy_violation'
    return refuseWith(ctx, state, code, display(verdict.get('reason') ?? null))
  }
  const args = verdict.get('args') as HarnDict
  if (args !== state.args) {
    const wrong = checkArguments(parametersOf(state.entry!), args)
    if (wrong !== null) return refuseWith(ctx, state, 'invalid_args', wrong.message, wrong.details)
    identify(ctx, state, args)
  }
  return attempt(ctx, state)
}

/** What hooks look at and may replace: texts as they are, data as JSON. */
function resultText(value: Value): string {
  return typeof value === 'string' ? value : sortedJson(value, 2)
}

function step(ctx: Context, state: DispatchState): Result {
  try {
    switch (state.stage) {
      case 'start':
        return begin(ctx, state)
      case 'gate':
        return admitted(ctx, state, ctx.result as HarnDict)
      case 'running':
        return accept(ctx, state, ctx.result)
      case 'after': {
        const text = ctx.result as string
        return finish(state, text === resultText(state.value) ? state.value : text)
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
  if (state.stage !== 'running' || isInterruption(fault)) return ctx.fail(fault)
  const entry = state.entry!
  const error = errorFromFault(fault, factsOf(state))
  const policy = retryPolicy(entry, state.options)
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
  if (state.history.length === 0) return refuse(ctx, state, error)
  const retry = HarnDict.of({ state: 'exhausted', attempts: state.attempt, history: new HarnList(state.history) })
  return refuse(ctx, state, error.with('retry', retry))
}

const dispatchFrame = frame<DispatchState>({ kind: 'tool.dispatch', step, onFault })

function dispatch(quiet: boolean) {
  return (ctx: Context, registry: Value, tool: Value, args: Value, options: Value): Control =>
    ctx.frame('tool.dispatch', {
      stage: 'start',
      registry,
      tool,
      args,
      options,
      quiet,
      entry: null,
      name: '',
      callId: '',
      argHash: '',
      attempt: 0,
      history: [],
      value: null,
    } satisfies DispatchState)
}

const EFFECTS = ['callback', 'tool.call'] as const

export const toolDispatchFamily: BuiltinFamily = {
  name: 'tool-dispatch',
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
      '__tool_entries(registry?: dict) -> list',
      { doc: 'The entries, without handlers, of a registry or else of the bound one.', effects: [] },
      (ctx, given) => {
        const registry = given ?? ctx.state(boundRegistry).registry
        return new HarnList(registry instanceof HarnDict && isRegistry(registry) ? entriesOf(registry).map(withoutHandler) : [])
      },
    ),
  ],
  frames: [dispatchFrame],
}
