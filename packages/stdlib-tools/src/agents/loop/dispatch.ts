// One tool call of an agent loop: the gate, required arguments, loop detection, the backend, and the text
// that the model gets. Whatever goes wrong becomes a text; only limits and cancelling end the loop.

import type { Outcome } from './call-trace.js'
import {
  Fault,
  HarnDict,
  HarnEnum,
  HarnList,
  display,
  here,
  isCallable,
  isInt,
  sortedJson,
  tryCallBack,
} from '@bridle/vm/families'
import type { Context, HarnBuiltin, HarnClosure, Script, Value } from '@bridle/vm/families'
import { executorNamed, factsOfExecutor, isMarkedOutside, isOutside } from '@bridle/compiler/grants'
import { callServer, identityAtServer } from './servers.js'
import type { ConnectedServer } from './servers.js'
import { beginCall, callIdOf, endCall, traceRefusal } from './call-trace.js'
import { microCompact } from '../../tools/dispatch/micro-compact.js'
import { parseErrorOf } from '../../tools/definitions/model-arguments.js'
import { runPostToolUse } from '../../tools/dispatch/hooks.js'
import { RUNTIME_TOOLS } from './options.js'
import type { DispatchOptions } from './options.js'
import { traceEvent, pause } from '../models/call.js'
import { toolName } from '../models/tools.js'
import { grantsFor, recordOf, reserveBudgets, settle, smallestLimit } from '../../tools/policy/grants.js'
import { factsOfEntry } from '../../tools/definitions/entry.js'
import { beginAttempts, endAttempts, grantPass, isCounted, noteCounted } from '../../tools/policy/gate.js'
import { normalizePlan, planEntries, renderPlan } from '../../tools/definitions/plan.js'
import { isInterruption } from '../../library/tool-errors.js'
import { handlerArguments } from '../../tools/dispatch/dispatch.js'
import { admit, grantedArguments, identityOfEntry } from '../../tools/dispatch/gate.js'
import { calledByName, calledValue, insideIdentity } from '../../tools/dispatch/identity.js'
import type { CalledTool } from '../../tools/dispatch/identity.js'
import { installedAnnotations } from '../../tools/policy/tool-policy.js'
import { nameOf, present, textAt } from '../../tools/definitions/registry.js'
import { isRequired } from '../../tools/definitions/validate.js'
import { dictsOf, makeEvent } from '../transcripts/shape.js'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: HarnDict
}

export interface Dispatched {
  readonly name: string
  readonly status: 'ok' | 'error' | 'rejected'
  readonly text: string
  /** False when it was refused before anything was tried; such calls are not counted. */
  readonly attempted: boolean
  /** True for calls that loop detection left out: they have no result of their own. */
  readonly skipped: boolean
  readonly events: readonly HarnDict[]
}

export interface DispatchContext {
  readonly options: DispatchOptions
  readonly tools: ReadonlyMap<string, HarnDict>
  readonly sessionId: string
  readonly iteration: number
  readonly servers: readonly ConnectedServer[]
  /** Results of identical calls so far, by name and arguments. Both are hashes: the texts themselves are in the transcript. */
  readonly seen: Map<string, { result: string; count: number }>
  /** Tells subscribers. */
  readonly emit: (fields: Readonly<Record<string, Value>>) => Script<null>
}

const INT_KEYS = new Set(['range_start', 'range_end', 'offset', 'limit', 'timeout', 'line', 'start_line', 'end_line', 'count'])

/** Numbers that models write as texts. */
function normalized(value: Value, key: string | null): Value {
  if (typeof value === 'string') return key !== null && INT_KEYS.has(key) && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (value instanceof HarnList) return new HarnList(value.view().map((item) => normalized(item, key)))
  if (!(value instanceof HarnDict)) return value
  const copy = new HarnDict()
  for (const name of value.keys()) copy.set(name, normalized(value.get(name)!, name))
  return copy
}

/** Arguments under the names that the installed policy's annotations give them. */
function unaliased(aliases: ReadonlyMap<string, string>, args: HarnDict): HarnDict {
  if (aliases.size === 0) return args
  const renamed = args.copy()
  for (const [alias, name] of aliases) {
    if (!renamed.has(alias) || renamed.has(name)) continue
    renamed.set(name, renamed.get(alias)!)
    renamed.delete(alias)
  }
  return renamed
}

function missingParameters(tool: HarnDict | undefined, args: HarnDict): string[] {
  const parameters = tool === undefined ? null : present(tool, 'parameters')
  if (!(parameters instanceof HarnDict)) return []
  return parameters.keys().filter((name) => {
    const spec = parameters.get(name)!
    if ((args.get(name) ?? null) !== null || !isRequired(spec)) return false
    return !(spec instanceof HarnDict && spec.has('default'))
  })
}

function denial(tool: string, reason: string): string {
  return sortedJson(HarnDict.of({ error: 'permission_denied', reason, tool }), 2)
}

const NO_RETRY = ' Do not retry this tool.'
const POLICY_HINT = ". Use one of the declared tools exactly as named and put extra fields inside that tool's arguments."

export function* dispatchCall(call: ToolCall, context: DispatchContext): Script<Dispatched> {
  const { options } = context
  const tool = context.tools.get(call.name)
  const annotated = yield* here((ctx) => installedAnnotations(ctx, call.name) ?? null)
  const args = normalized(unaliased(annotated?.argAliases ?? new Map(), call.arguments), null) as HarnDict
  const parseError = parseErrorOf(args)
  const notMade = (code: string, message: string): Script<null> =>
    traceRefusal({ id: callIdOf(call.id, context.iteration), name: call.name, tool, args }, { code, message })
  if (parseError !== null) {
    yield* notMade('invalid_args', parseError)
    return yield* refused(call, null, `ERROR: ${parseError}`, 'error', { error_category: 'schema_validation' })
  }

  yield* context.emit({
    type: 'tool_call',
    tool_call_id: `tool-${call.id}`,
    tool_name: call.name,
    kind: annotated?.kind ?? null,
    status: 'pending',
    raw_input: args,
  })
  const called = yield* calledOf(call.name, tool, context)
  const verdict = (yield* callBuiltin(
    '__tool_gate',
    call.name,
    args,
    HarnDict.of({ session_id: context.sessionId, call_id: call.id, entry: tool ?? null, called: calledValue(called) }),
  )) as HarnDict | Fault
  if (verdict instanceof Fault) throw verdict
  const events: HarnDict[] = []
  for (const event of dictsOf(verdict.get('events'))) events.push(yield* eventOf(event))
  if (verdict.get('allowed') !== true) {
    const reason = display(verdict.get('reason') ?? '')
    yield* told(call, context, 'failed', { error: reason, error_category: 'permission_denied' })
    yield* notMade(verdict.get('stage') === 'approval' ? 'approval_denied' : 'policy_violation', reason)
    return yield* denied(call, args, verdict, events)
  }
  const allowed = verdict.get('args') as HarnDict

  const missing = missingParameters(tool, allowed)
  if (missing.length > 0) {
    const text =
      `ERROR: Tool '${call.name}' is missing required parameter(s): ${missing.join(', ')}. ` +
      'Provide all required parameters and try again.'
    yield* told(call, context, 'failed', { error: text.slice('ERROR: '.length), error_category: 'schema_validation' })
    yield* notMade('invalid_args', text.slice('ERROR: '.length))
    const answer = yield* refused(call, allowed, text, 'error', { error_category: 'schema_validation' })
    return { ...answer, events: [...events, ...answer.events] }
  }
  const intent = HarnDict.of({ arguments: allowed, tool_use_id: call.id })
  events.push(yield* makeEvent('tool_intent', 'assistant', 'internal', call.name, intent))
  const key = yield* here((ctx) => fingerprint(ctx, `${call.name}\n${sortedJson(allowed)}`))
  const before = context.seen.get(key)
  if (options.warnAt > 0 && before !== undefined && before.count >= options.skipAt - 1) {
    const repeated = before.count + 1
    const text =
      `BLOCKED: ${call.name}() was NOT executed (repeated ${repeated} times identically). This call will not be executed ` +
      'again with these arguments. You MUST change your approach NOW.'
    yield* intervention(call.name, 'block', repeated, context.iteration)
    yield* notMade('policy_violation', text)
    events.push(
      yield* executionEvent(call, text, 'rejected', {
        error_category: 'rejected_loop',
        loop_skipped: true,
        repeat_count: repeated,
      }),
    )
    return { name: call.name, status: 'rejected', text, attempted: true, skipped: true, events }
  }
  yield* told(call, context, 'in_progress', {})
  const inside = runsInside(tool, context)
  const id = callIdOf(call.id, context.iteration)
  const startMs = yield* here((ctx) => {
    if (inside) beginCall(ctx, id, call.name)
    return ctx.now
  })
  const outcome = yield* execute(call, tool, allowed, context, called)
  const endMs = yield* here((ctx) => {
    if (inside) endCall(ctx, { id, name: call.name, tool, args: allowed }, startMs, outcome)
    return ctx.now
  })
  const durationMs = Math.trunc(endMs - startMs)
  let text = yield* capped(call.name, outcome.text, options)
  text = yield* runPostToolUse(called, allowed, text)
  text = yield* withLoopDetection(call, key, text, context)
  const status = outcome.rejected ? 'rejected' : /^(?:Error:|ERROR:)/.test(text) ? 'error' : 'ok'
  // A handler may say in its text that it failed.
  const failed = outcome.category ?? (status === 'error' ? 'tool_error' : null)
  const category = failed === null ? {} : { error_category: failed }
  events.push(yield* executionEvent(call, text, status, category))
  if (outcome.plan !== null) events.push(yield* planEvent(call, outcome.plan))
  const executor = executorOf(call.name, tool)
  yield* told(call, context, status === 'ok' ? 'completed' : 'failed', {
    raw_output: HarnDict.of({ text, tool_use_id: call.id }),
    error: status === 'ok' ? null : text,
    duration_ms: durationMs,
    execution_duration_ms: durationMs,
    ...(executor === null ? {} : { executor }),
    ...category,
  })
  if (outcome.plan !== null) yield* context.emit({ type: 'plan', plan: outcome.plan })
  yield* traceEvent({
    type: status === 'rejected' ? 'tool_rejected' : 'tool_execution',
    tool_name: call.name,
    tool_use_id: call.id,
    duration_ms: 0,
    status,
    classification: 'other',
    iteration: context.iteration,
  })
  return { name: call.name, status, text, attempted: true, skipped: false, events }
}

/** What a call comes down to, as `executeOnce` carries it out. */
function* calledOf(name: string, tool: HarnDict | undefined, { servers }: DispatchContext): Script<CalledTool> {
  if (tool === undefined) return calledByName(name)
  return yield* here((ctx): CalledTool => {
    const given = [name, nameOf(tool)]
    if (!isElsewhere(tool))
      return { shown: name, identity: insideIdentity(RUNTIME_TOOLS.includes(name) ? 'builtin' : 'script', name, given) }
    const served = identityAtServer(servers, tool)
    if (served !== null) return { shown: name, identity: served }
    return {
      shown: name,
      identity: isCallable(present(tool, 'handler')) ? insideIdentity('script', name, given) : identityOfEntry(ctx, tool, name),
    }
  })
}

/** Whether the loop carries a tool out, or refuses it, by itself; the others tell of themselves, as calls of the dispatch or as effects. */
function runsInside(tool: HarnDict | undefined, { servers }: DispatchContext): boolean {
  if (tool === undefined || !isElsewhere(tool)) return true
  return isCallable(present(tool, 'handler')) && !servers.some(({ name }) => name === tool.get('mcp_server'))
}

/** Whether nobody that a loop reaches carries a tool out. */
function isRefused(executor: string): boolean {
  const known = executorNamed(executor)
  return known !== null && factsOfExecutor(known).runs === 'refused'
}

/** Whether a tool is meant to be carried out by somebody outside the script. */
function isElsewhere(tool: HarnDict): boolean {
  const executor = textAt(tool, 'executor')
  if (executor !== null && isRefused(executor)) return false
  return isOutside(executor) || isMarkedOutside((key) => textAt(tool, key) !== null)
}

/** Tells subscribers how a call goes on. */
function* told(
  call: ToolCall,
  context: DispatchContext,
  status: 'in_progress' | 'completed' | 'failed',
  facts: Readonly<Record<string, Value>>,
): Script<null> {
  return yield* context.emit({
    type: 'tool_call_update',
    tool_call_id: `tool-${call.id}`,
    tool_name: call.name,
    status,
    raw_output: null,
    error: null,
    ...facts,
  })
}

/** Who carries a tool out, as subscribers are told; null for one that nobody knows. */
function executorOf(name: string, tool: HarnDict | undefined): HarnDict | null {
  const executor = tool === undefined ? null : textAt(tool, 'executor')
  const server = tool === undefined ? null : (textAt(tool, 'mcp_server') ?? textAt(tool, '_mcp_server'))
  if (executor === 'host_bridge' || executor === 'provider_native') return HarnDict.of({ kind: executor })
  if (executor === 'mcp_server' || (executor === null && server !== null))
    return HarnDict.of({ kind: 'mcp_server', server_name: server })
  return tool === undefined && !RUNTIME_TOOLS.includes(name) ? null : HarnDict.of({ kind: 'harn_builtin' })
}

/** An event of the gate as a transcript keeps it. */
function* eventOf(event: HarnDict): Script<HarnDict> {
  const metadata = event.get('metadata')
  return yield* makeEvent(
    display(event.get('kind')!),
    display(event.get('role')!),
    display(event.get('visibility')!),
    display(event.get('text')!),
    metadata instanceof HarnDict ? metadata : null,
  )
}

function* executionEvent(
  call: ToolCall,
  text: string,
  status: Dispatched['status'],
  more: Readonly<Record<string, Value>>,
): Script<HarnDict> {
  const metadata = HarnDict.of({
    tool_name: call.name,
    tool_use_id: call.id,
    rejected: status === 'rejected',
    ...more,
  })
  return yield* makeEvent('tool_execution', 'tool', 'internal', text, metadata)
}

/** A call that was stopped before anything was tried. */
function* refused(
  call: ToolCall,
  args: HarnDict | null,
  text: string,
  status: 'error' | 'rejected',
  more: Readonly<Record<string, Value>>,
): Script<Dispatched> {
  const event = yield* executionEvent(call, text, 'rejected', { ...(args === null ? {} : { arguments: args }), ...more })
  return { name: call.name, status, text, attempted: false, skipped: false, events: [event] }
}

function* denied(call: ToolCall, args: HarnDict, verdict: HarnDict, events: HarnDict[]): Script<Dispatched> {
  const stage = display(verdict.get('stage') ?? '')
  const reason = display(verdict.get('reason') ?? '')
  const policy = stage === 'policy'
  const shown = policy && !reason.startsWith('Error [') ? `Error [tool_rejected]: ${reason}` : reason
  if (stage !== 'hook' && !events.some((event) => event.get('kind') === 'PermissionDeny')) {
    const metadata = HarnDict.of({ tool_name: call.name, arguments: args, reason: shown, escalated: false })
    events.push(yield* makeEvent('PermissionDeny', 'tool', 'internal', shown, metadata))
  }
  const escalated = events.some((event) => event.get('kind') === 'PermissionEscalation')
  const how: Readonly<Record<string, Value>> =
    stage === 'permissions'
      ? { permission: 'denied', escalated }
      : stage === 'approval'
        ? { approval: reason.includes('deny pattern') || reason.includes('allowlist') ? 'auto_denied' : 'host_denied' }
        : {}
  const facts = stage === 'hook' ? {} : { arguments: args }
  const text = denial(call.name, policy ? `${shown}${POLICY_HINT}` : shown)
  events.push(yield* executionEvent(call, text, 'rejected', { ...facts, error_category: 'permission_denied', ...how }))
  yield* traceEvent({ type: 'tool_rejected', tool_name: call.name, reason: shown })
  return { name: call.name, status: 'rejected', text, attempted: false, skipped: false, events }
}

function* planEvent(call: ToolCall, plan: HarnDict): Script<HarnDict> {
  const metadata = HarnDict.of({
    plan,
    entries: planEntries(plan),
    tool_name: call.name,
    tool_use_id: call.id,
  })
  return yield* makeEvent('plan', 'assistant', 'public', renderPlan(plan), metadata)
}

// ---------------------------------------------------------------------------------------------------------------- backends

function good(text: string, plan: HarnDict | null = null): Outcome {
  return { text, rejected: false, category: null, plan }
}

function bad(text: string, category: string): Outcome {
  return { text, rejected: false, category, plan: null }
}

function rejection(tool: string, reason: string): Outcome {
  return { text: denial(tool, reason + NO_RETRY), rejected: true, category: 'permission_denied', plan: null }
}

/** A refusal from within: the tool may do better with other arguments. */
function denialOf(tool: string, reason: string): Outcome {
  return { text: denial(tool, reason), rejected: true, category: 'permission_denied', plan: null }
}

/** How often grants let a failed call be tried again. An entry that says when to try again has used that up itself. */
function retriesUnderGrants(ctx: Context, { identity }: CalledTool, tool: HarnDict | undefined): number {
  const declared = tool === undefined ? null : factsOfEntry(tool).grants
  const own = declared instanceof HarnDict ? [{ id: 'tool', scope: 'tool' as const, grant: recordOf(declared) }] : []
  const applied = grantsFor(ctx, { named: identity, own })
  const most = typeof applied === 'string' ? 0 : smallestLimit(applied, 'max_retries')
  return most === null ? Infinity : tool !== undefined && tool.has('retry') ? 0 : most
}

function* execute(
  call: ToolCall,
  tool: HarnDict | undefined,
  args: HarnDict,
  context: DispatchContext,
  called: CalledTool,
): Script<Outcome> {
  const { options } = context
  // One call, however often it is tried: it is counted once.
  const attemptOf = yield* here((ctx) => beginAttempts(ctx))
  for (let made = 0; ; made++) {
    const outcome = yield* executeOnce(call, tool, args, context, attemptOf)
    const isFinal = outcome.category === null || outcome.rejected || made >= options.toolRetries
    if (isFinal || made >= (yield* here((ctx) => retriesUnderGrants(ctx, called, tool)))) {
      yield* here((ctx) => (endAttempts(ctx, attemptOf), null))
      return outcome
    }
    yield* pause(options.toolBackoffMs * 2 ** Math.min(made, 4))
  }
}

function* executeOnce(
  call: ToolCall,
  tool: HarnDict | undefined,
  args: HarnDict,
  context: DispatchContext,
  attemptOf: number,
): Script<Outcome> {
  const { name } = call
  const executor = tool === undefined ? null : textAt(tool, 'executor')
  if (executor !== null && isRefused(executor)) {
    return rejection(
      name,
      `tool '${name}' is declared executor: "${executor}" — the runtime does not dispatch these locally; the provider ` +
        'must have already executed the call',
    )
  }
  if (tool !== undefined && isElsewhere(tool)) {
    return yield* outside(name, tool, args, context, attemptOf)
  }
  if (RUNTIME_TOOLS.includes(name)) return yield* runtimeTool(name, args)
  const handler = tool === undefined ? null : present(tool, 'handler')
  return isCallable(handler) ? yield* handled(name, tool!, handler, args, attemptOf) : rejection(name, unavailable(name))
}

/** Lock file, grants and budgets, for a closure that the loop calls by itself: the arguments to call it with, or why it may not. */
function* granted(
  name: string,
  tool: HarnDict,
  args: HarnDict,
  attemptOf: number,
): Script<HarnDict | { readonly refused: string }> {
  return yield* here((ctx) => {
    const identity = insideIdentity('script', name, [nameOf(tool)])
    const facts = { tool: name, callId: null, attempt: 1 }
    const refused = (error: HarnDict): { readonly refused: string } => ({ refused: display(error.get('message') ?? '') })
    const applied = admit(ctx, { identity, entry: tool, binding: null, isOfScript: true, facts })
    if (applied instanceof HarnDict) return refused(applied)
    if (applied.length === 0) return args
    const checked = grantedArguments(ctx, applied, args, { identity, entry: tool, facts })
    if ('error' in checked) return refused(checked.error)
    const counts = !isCounted(ctx, attemptOf)
    const usd = counts ? factsOfEntry(tool).costUsd : 0
    const exhausted = reserveBudgets(ctx, applied, facts, { counts, usd })
    if (exhausted !== null) return refused(exhausted)
    noteCounted(ctx, attemptOf)
    if (usd > 0) settle(ctx, applied, { usd, tokens: 0 })
    return checked.args
  })
}

function unavailable(name: string): string {
  return `Tool '${name}' is not available in the current environment. Use only the tools listed in the tool-calling contract.`
}

function* handled(
  name: string,
  tool: HarnDict,
  handler: HarnClosure | HarnBuiltin,
  args: HarnDict,
  attemptOf: number,
): Script<Outcome> {
  const allowed = yield* granted(name, tool, args, attemptOf)
  if (!(allowed instanceof HarnDict)) return denialOf(name, allowed.refused)
  const value = yield* tryCallBack(handler, ...handlerArguments(tool, handler, allowed))
  return value instanceof Fault ? faultOutcome(value, name) : good(display(value))
}

/** Why nobody outside the script can carry a tool out. */
function unreachable(name: string, tool: HarnDict): string {
  switch (textAt(tool, 'executor')) {
    case 'host_bridge':
      return `tool '${name}' is declared executor: "host_bridge" but no host bridge is connected to this environment`
    case 'mcp_server': {
      const server = textAt(tool, 'mcp_server') ?? ''
      return `tool '${name}' (mcp_server: "${server}") cannot be dispatched: no direct MCP client, bridge, or Harn handler`
    }
    default:
      return unavailable(name)
  }
}

function faultOutcome(fault: Fault, tool: string): Outcome {
  if (isInterruption(fault)) throw fault
  if (fault.kind === 'categorized' && fault.category === 'tool_rejected') return denialOf(tool, fault.message)
  return bad(`Error: ${fault.text}`, 'tool_error')
}

/** Through the one dispatch of tools outside the script; the gate has spoken already. */
function* outside(name: string, tool: HarnDict, args: HarnDict, context: DispatchContext, attemptOf: number): Script<Outcome> {
  const served = yield* callServer(context.servers, tool, args, attemptOf)
  if (served instanceof Fault) return faultOutcome(served, name)
  if (served !== undefined) return good(served === null ? '(no output)' : resultText(served))
  const handler = present(tool, 'handler')
  if (isCallable(handler)) return yield* handled(name, tool, handler, args, attemptOf)
  yield* here((ctx) => {
    grantPass(ctx, tool, args, attemptOf)
    return null
  })
  const result = yield* callBuiltin('__tool_try', null, tool, args)
  if (result instanceof Fault) return faultOutcome(result, name)
  const payload = result instanceof HarnEnum ? (result.fields[0] ?? null) : result
  if (result instanceof HarnEnum && result.variant === 'Ok') {
    if (payload === null) return good('(no output)')
    return good(resultText(payload))
  }
  const message = payload instanceof HarnDict ? display(payload.get('message') ?? '') : display(payload)
  const code = payload instanceof HarnDict ? display(payload.get('code') ?? '') : ''
  const unknown = code === 'not_registered' || (code === 'provider_unavailable' && message.includes('no server named'))
  if (unknown || code === 'executor_unavailable' || code === 'host_unavailable') return rejection(name, unreachable(name, tool))
  return bad(`Error: ${message}`, code === 'timeout' ? 'timeout' : 'tool_error')
}

function resultText(value: Value): string {
  return typeof value === 'string' ? value : sortedJson(value, 2)
}

/** A builtin by name; its fault is an answer. */
function* callBuiltin(name: string, ...args: Value[]): Script<Value | Fault> {
  const callee = yield* here((ctx) => ctx.builtinValue(name))
  return yield* tryCallBack(callee, ...args)
}

const MOST_LINES = 2000

function* runtimeTool(name: string, args: HarnDict): Script<Outcome> {
  if (name === 'emit_plan' || name === 'update_plan') {
    const plan = normalizePlan(args, name)
    return good(sortedJson(plan, 2), plan)
  }
  if (name === 'list_directory') return yield* listDirectory(args)
  const given = args.get('path') ?? args.get('name') ?? null
  const path = given === null ? '' : display(given)
  if (path === '') return bad('Error: missing path parameter', 'schema_validation')
  const text = yield* callBuiltin('read_file', path)
  if (text instanceof Fault) {
    const listed = yield* listDirectory(HarnDict.of({ path }))
    return listed.category === null ? listed : bad(`Error: cannot read file '${path}': ${reasonOf(text)}`, 'tool_error')
  }
  const lines = display(text).replace(/\n$/, '').split('\n')
  const from = Math.max(1, intArg(args, 'offset', 1))
  const count = Math.min(MOST_LINES, Math.max(1, intArg(args, 'limit', MOST_LINES)))
  const shown = lines.slice(from - 1, from - 1 + count)
  const left = lines.length - (from - 1) - shown.length
  const more = left > 0 ? `\n\n[... ${left} more lines not shown. Use offset=${from + shown.length} to continue reading]` : ''
  return good(shown.map((line, at) => `${from + at}\t${line}`).join('\n') + more)
}

function intArg(args: HarnDict, key: string, fallback: number): number {
  const value = args.get(key) ?? null
  return isInt(value) ? Number(value) : fallback
}

/** What the system said, without the builtin's own words before it. */
function reasonOf(fault: Fault): string {
  return fault.message.replace(/^Failed to \w+ (?:file|directory) .*?: /, '')
}

function* listDirectory(args: HarnDict): Script<Outcome> {
  const given = args.get('path') ?? null
  const path = given === null || display(given) === '' ? '.' : display(given)
  const names = yield* callBuiltin('list_dir', path)
  if (names instanceof Fault || !(names instanceof HarnList)) {
    const reason = names instanceof Fault ? reasonOf(names) : 'not a directory'
    return bad(`Error: cannot list directory '${path}': ${reason}`, 'tool_error')
  }
  const shown: string[] = []
  for (const item of names.view()) {
    const name = display(item)
    const facts = yield* callBuiltin('stat', path === '.' ? name : `${path}/${name}`)
    shown.push(facts instanceof HarnDict && facts.get('is_dir') === true ? `${name}/` : name)
  }
  return good(shown.join('\n'))
}

// --------------------------------------------------------------------------------------------------- what is done to the text

function* capped(name: string, text: string, options: DispatchOptions): Script<string> {
  if (text.length <= options.outputCap) return text
  if (isCallable(options.compress)) {
    const asked = HarnDict.of({ tool_name: name, output: text, max_chars: options.outputCap })
    const answer = yield* tryCallBack(options.compress, asked)
    if (typeof answer === 'string' && answer !== '') return answer
  }
  return microCompact(text, options.outputCap)
}

function* intervention(tool: string, kind: string, count: number, iteration: number): Script<null> {
  return yield* traceEvent({ type: 'loop_intervention', tool_name: tool, kind, count, iteration })
}

/** Counts identical calls with identical results, and says so. */
function* withLoopDetection(call: ToolCall, key: string, text: string, context: DispatchContext): Script<string> {
  const { options, seen, iteration } = context
  if (options.warnAt <= 0) return text
  const result = yield* here((ctx) => fingerprint(ctx, text))
  const before = seen.get(key)
  const count = before !== undefined && before.result === result ? before.count + 1 : 1
  seen.set(key, { result, count })
  if (count >= options.blockAt) {
    yield* intervention(call.name, 'block', count, iteration)
    return (
      `BLOCKED: ${call.name}() has failed ${count} times identically. You MUST use a different approach. Pick a different ` +
      'available tool or change your parameters.'
    )
  }
  if (count < Math.max(options.warnAt, 2)) return text
  yield* intervention(call.name, 'warn', count, iteration)
  const first = text.split('\n')[0]!
  return (
    `${text}\n[LOOP DETECTED] This exact ${call.name}() call has produced the same result ${count} times. The result says: ` +
    `"${first}". Try a DIFFERENT tool or DIFFERENT parameters.`
  )
}

/** So much of a hash tells texts apart. */
const FINGERPRINT = 32

function fingerprint(ctx: Context, text: string): string {
  ctx.charge(text.length >> 6)
  return ctx.machine.sha256Hex(text).slice(0, FINGERPRINT)
}

/** Tools by name. */
export function toolsByName(tools: readonly HarnDict[]): ReadonlyMap<string, HarnDict> {
  return new Map(tools.map((tool) => [toolName(tool), tool]))
}
