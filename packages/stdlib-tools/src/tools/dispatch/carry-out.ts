// How the calls of an agent loop are carried out: who does it, by the table of executors; the gate's part for a handler that the loop calls;
// and calls to outside, which go through the one dispatch. What the loop makes of outcomes is in agents/loop/calls.harn.

import {
  executorNamed,
  executorOfPlace,
  findExecutorFacts,
  findIdentity,
  isMarkedOutside,
  isOutside,
  targetOf,
} from '@bridle/compiler/grants'
import {
  HarnClosure,
  HarnDict,
  HarnList,
  chargeArguments,
  describeFault,
  display,
  frame,
  isCallable,
  isInt,
  stringifySorted,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, FrameState, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { readParameters } from '../definitions/arguments.js'
import { getEntryFacts } from '../definitions/entry.js'
import { normalizePlan, renderPlan } from '../definitions/plan.js'
import { readName, getOrNil, readText } from '../definitions/registry.js'
import { RUNTIME_TOOLS } from '../definitions/runtime-tools.js'
import { isObjectSchema, isRequired } from '../definitions/validate.js'
import { beginAttempts, endAttempts, grantPass, isCounted, noteCounted, startPostHooks } from '../policy/gate.js'
import { listGrantsFor, toRecord, reserveBudgets, settle, findSmallestLimit } from '../policy/grants.js'
import { admit, makeGrantedArguments, identifyEntry } from './gate.js'
import { maySeeResults } from './hooks.js'
import { makeCalled, makeInsideIdentity, readCalled } from './identity.js'
import type { CalledTool } from './identity.js'

/** The executor of a call; `server` is one that the loop is connected to. */
export type Carrier = 'refused' | 'server' | 'handler' | 'outside' | 'runtime' | 'nobody'

/** `isServed`: whether a server of the loop answers the tool. Tools of the runtime are recognised regardless of the registry. */
export function chooseCarrier(name: string, tool: HarnDict | null, isServed: boolean): Carrier {
  const executor = tool === null ? null : readText(tool, 'executor')
  if (findExecutorFacts(executor)?.runs === 'refused') return 'refused'
  const isHandled = tool !== null && isCallable(getOrNil(tool, 'handler'))
  if (tool !== null && (isOutside(executor) || isMarkedOutside((key) => readText(tool, key) !== null)))
    return isServed ? 'server' : isHandled ? 'handler' : 'outside'
  if (RUNTIME_TOOLS.has(name)) return 'runtime'
  return isHandled ? 'handler' : 'nobody'
}

/** What a call comes down to, where no server of the loop answers it. */
export function resolveCalledInLoop(ctx: Context, name: string, tool: HarnDict | null): CalledTool {
  if (tool === null) return makeCalled(name)
  const carrier = chooseCarrier(name, tool, false)
  if (carrier === 'outside') return { shown: name, identity: identifyEntry(ctx, tool, name) }
  return {
    shown: name,
    identity: makeInsideIdentity(RUNTIME_TOOLS.has(name) && !isElsewhere(tool) ? 'builtin' : 'script', name, [
      name,
      readName(tool),
    ]),
  }
}

/** Whether a tool is executed outside the script. */
function isElsewhere(tool: HarnDict): boolean {
  return chooseCarrier('', tool, true) === 'server'
}

/** The executor of a tool, for subscribers; null if unknown. */
function describeExecutor(name: string, tool: HarnDict | null): HarnDict | null {
  const read = (key: string): string | null => (tool === null ? null : readText(tool, key))
  const executor = read('executor')
  const known = executor === null ? executorOfPlace((key) => read(key) !== null) : executorNamed(executor)
  const identity = findIdentity(known)
  if (identity === 'mcp') return HarnDict.of({ kind: known, server_name: targetOf(known!, read).mcp_server })
  if (identity === 'host' || identity === 'native') return HarnDict.of({ kind: known })
  return tool === null && !RUNTIME_TOOLS.has(name) ? null : HarnDict.of({ kind: 'harn_builtin' })
}

/** Why a tool cannot be executed outside the script. */
function explainUnreachable(name: string, tool: HarnDict | null): string {
  const executor = tool === null ? null : readText(tool, 'executor')
  const known = executor === null ? null : executorNamed(executor)
  switch (findIdentity(known)) {
    case 'host':
      return `tool '${name}' is declared executor: "${known}" but no host bridge is connected to this environment`
    case 'mcp':
      return `tool '${name}' (mcp_server: "${readText(tool!, 'mcp_server') ?? ''}") cannot be dispatched: no direct MCP client, bridge, or Harn handler`
    default:
      return `Tool '${name}' is not available in the current environment. Use only the tools listed in the tool-calling contract.`
  }
}

/** Why a loop does not carry out a tool of such an executor. */
function explainRefused(name: string, tool: HarnDict): string {
  return (
    `tool '${name}' is declared executor: "${readText(tool, 'executor')}" — the runtime does not dispatch these locally; the provider ` +
    'must have already executed the call'
  )
}

/** Required parameters that a call leaves out. */
function listMissingParameters(tool: HarnDict | null, args: HarnDict): readonly string[] {
  const parameters = tool === null ? null : getOrNil(tool, 'parameters')
  if (!(parameters instanceof HarnDict)) return []
  if (isObjectSchema(parameters)) {
    const required = parameters.get('required')
    const names = required instanceof HarnList ? required.view().filter((name) => typeof name === 'string') : []
    return names.filter((name) => (args.get(name) ?? null) === null)
  }
  return parameters.keys().filter((name) => {
    const spec = parameters.get(name)!
    if ((args.get(name) ?? null) !== null || !isRequired(spec)) return false
    return !(spec instanceof HarnDict && spec.has('default'))
  })
}

// --------------------------------------------------------------------------------------------------------------- the gate's part

/**
 * The handler takes one dict. Only the handler of a `tool` declaration takes the declared parameters; it is known by its
 * parameter names being exactly those of the entry, and for a single parameter by its own name too, because a dict parameter
 * may well be called like the only argument.
 */
export function makeHandlerArguments(entry: HarnDict, handler: Value, args: HarnDict): Value[] {
  if (!(handler instanceof HarnClosure)) return [args]
  const names = handler.code.paramNames
  const parameters = readParameters(entry)
  const declared = names.length === parameters.size && names.every((name) => parameters.has(name))
  if (!declared || (names.length === 1 && handler.code.chunk.name !== readName(entry))) return [args]
  return names.map((name) => args.get(name) ?? null)
}

/** Lock file, grants and budgets, for a handler that the loop calls by itself: the arguments to call it with, or why it may not. */
function admitHandler(ctx: Context, name: string, tool: HarnDict, args: HarnDict, attemptOf: number): HarnDict {
  const identity = makeInsideIdentity('script', name, [readName(tool)])
  const facts = { tool: name, callId: null, attempt: 1 }
  const refuse = (error: HarnDict): HarnDict => HarnDict.of({ args: null, refusal: display(error.get('message') ?? '') })
  const accept = (allowed: HarnDict): HarnDict =>
    HarnDict.of({ args: new HarnList(makeHandlerArguments(tool, getOrNil(tool, 'handler'), allowed)), refusal: null })
  const applied = admit(ctx, { identity, entry: tool, binding: null, isOfScript: true, facts })
  if (applied instanceof HarnDict) return refuse(applied)
  if (applied.length === 0) return accept(args)
  const checked = makeGrantedArguments(ctx, applied, args, { identity, entry: tool, facts })
  if ('error' in checked) return refuse(checked.error)
  const counts = !isCounted(ctx, attemptOf)
  const usd = counts ? getEntryFacts(tool).costUsd : 0
  const exhausted = reserveBudgets(ctx, applied, facts, { counts, usd })
  if (exhausted !== null) return refuse(exhausted)
  noteCounted(ctx, attemptOf)
  if (usd > 0) settle(ctx, applied, { usd, tokens: 0 })
  return accept(checked.args)
}

/** How often grants let a failed call be tried again; null without a limit. An entry that says when to try again has used that up itself. */
function countRetriesUnderGrants(ctx: Context, { identity }: CalledTool, tool: HarnDict | null): number | null {
  const declared = tool === null ? null : getEntryFacts(tool).grants
  const own = declared instanceof HarnDict ? [{ id: 'tool', scope: 'tool' as const, grant: toRecord(declared) }] : []
  const applied = listGrantsFor(ctx, { named: identity, own })
  const most = typeof applied === 'string' ? 0 : findSmallestLimit(applied, 'max_retries')
  return most === null ? null : tool !== null && tool.has('retry') ? 0 : most
}

// ------------------------------------------------------------------------------------------------------------- calls to outside

/** A call that the gate has judged. The pass and the call are one step: no other task comes in between. */
interface PassedState extends FrameState {
  readonly callee: string
  readonly args: readonly Value[]
  /** What the dispatch knows the judged call by. */
  readonly judged: Value
  readonly given: Value
  readonly attemptOf: number
  readonly secrets: readonly string[]
  called: boolean
}

export const passedFrame = frame<PassedState>({
  kind: 'tool.passed',
  step: (ctx, state) => {
    if (state.called) return HarnDict.of({ value: ctx.result, fault: null })
    state.called = true
    grantPass(ctx, state.judged, state.given, state.attemptOf, state.secrets)
    return ctx.call(ctx.builtinValue(state.callee), state.args)
  },
  onFault: (_ctx, _state, fault) => HarnDict.of({ value: null, fault: describeFault(fault) }),
})

// ---------------------------------------------------------------------------------------------------------------------- texts

const MOST_LINES = 2000

/** The lines of a file that a call asks for by `offset` and `limit`, with their numbers. */
function numberLines(text: string, args: HarnDict): string {
  const lines = text.replace(/\n$/, '').split('\n')
  const count = (key: string, fallback: number): number => {
    const value = args.get(key) ?? null
    return isInt(value) ? Number(value) : fallback
  }
  const from = Math.max(1, count('offset', 1))
  const most = Math.min(MOST_LINES, Math.max(1, count('limit', MOST_LINES)))
  const lineTexts = lines.slice(from - 1, from - 1 + most)
  const left = lines.length - (from - 1) - lineTexts.length
  const more = left > 0 ? `\n\n[... ${left} more lines not shown. Use offset=${from + lineTexts.length} to continue reading]` : ''
  return lineTexts.map((line, at) => `${from + at}\t${line}`).join('\n') + more
}

const asDictOrNull = (value: Value | undefined): HarnDict | null => (value instanceof HarnDict ? value : null)

export const carryOutPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__carrier(name: string, tool: dict?, is_served: bool) -> string',
    'Who carries a call of a loop out: refused, server, handler, outside, runtime or nobody.',
    (_ctx, name, tool, isServed) => chooseCarrier(name as string, asDictOrNull(tool), isServed === true),
  ),
  definePrimitive(
    '__executor_facts(name: string, tool: dict?) -> dict?',
    'Who carries a tool out, as subscribers are told.',
    (_ctx, name, tool) => describeExecutor(name as string, asDictOrNull(tool)),
  ),
  definePrimitive('__unreachable(name: string, tool: dict?) -> string', 'Why nobody can carry a tool out.', (_ctx, name, tool) =>
    explainUnreachable(name as string, asDictOrNull(tool)),
  ),
  definePrimitive(
    '__refused_executor(name: string, tool: dict) -> string',
    'Why a loop does not carry a tool out.',
    (_ctx, name, tool) => explainRefused(name as string, tool as HarnDict),
  ),
  definePrimitive(
    '__missing_parameters(tool: dict?, args: dict) -> list',
    'Required parameters that a call leaves out.',
    (_ctx, tool, args) => new HarnList([...listMissingParameters(asDictOrNull(tool), args as HarnDict)]),
  ),
  definePrimitive('__begin_attempts() -> int', 'A call that is counted once, however often it is tried.', (ctx) =>
    beginAttempts(ctx),
  ),
  definePrimitive('__end_attempts(call: int) -> nil', 'Forgets the call.', (ctx, call) => (endAttempts(ctx, Number(call)), null)),
  definePrimitive(
    '__retries_under_grants(called: dict, tool: dict?) -> int?',
    'How often grants let a failed call be tried again; nil without a limit.',
    (ctx, called, tool) => countRetriesUnderGrants(ctx, readCalled(called!), asDictOrNull(tool)),
  ),
  definePrimitive(
    '__admit_handler(name: string, tool: dict, args: dict, attempt_of: int) -> dict',
    'What a handler is called with, or why it may not be: {args, refusal}.',
    (ctx, name, tool, args, attemptOf) =>
      admitHandler(ctx, name as string, tool as HarnDict, args as HarnDict, Number(attemptOf)),
  ),
  definePrimitive(
    '__dispatch_judged(tool: dict, args: dict, attempt_of: int) -> dict',
    'A call through the dispatch, which the gate has judged: {value, fault} with a Result.',
    (ctx, tool, args, attemptOf) =>
      ctx.frame('tool.passed', {
        callee: '__tool_try',
        args: [null, tool!, args!],
        judged: tool!,
        given: args!,
        attemptOf: Number(attemptOf),
        secrets: [],
        called: false,
      } satisfies PassedState),
  ),
  definePrimitive(
    '__call_server(client: any, tool: dict, args: dict, attempt_of: int) -> dict',
    'A call of a tool of a connected server, which the gate has judged for this very connection: {value, fault}.',
    (ctx, client, tool, args, attemptOf) =>
      ctx.frame('tool.passed', {
        callee: 'mcp_call',
        args: [client!, (tool as HarnDict).get('mcp_tool') ?? (tool as HarnDict).get('name') ?? '', args!],
        judged: client!,
        given: args!,
        attemptOf: Number(attemptOf),
        secrets: getEntryFacts(tool as HarnDict).secrets,
        called: false,
      } satisfies PassedState),
  ),
  definePrimitive(
    '__after_hooks(called: dict, args: dict, text: string) -> string',
    'A result after all hooks.',
    (ctx, called, args, text) => {
      const judged = readCalled(called!)
      return maySeeResults(ctx, judged) ? startPostHooks(ctx, judged, args!, text as string) : text!
    },
  ),
  definePrimitive('__normal_plan(args: dict, tool: string) -> dict', 'A plan in its one shape.', (ctx, args, tool) => {
    chargeArguments(ctx, [args!])
    return normalizePlan(args!, tool as string)
  }),
  definePrimitive('__plan_text(plan: dict) -> string', 'A plan as text.', (_ctx, plan) => renderPlan(plan as HarnDict)),
  definePrimitive(
    '__numbered_lines(text: string, args: dict) -> string',
    'The lines of a file that a call asks for, with their numbers.',
    (ctx, text, args) => {
      ctx.charge((text as string).length >> 4)
      return numberLines(text as string, args as HarnDict)
    },
  ),
  definePrimitive(
    '__os_reason(message: string) -> string',
    'What the system said, without the words of a builtin.',
    (_ctx, message) => (message as string).replace(/^Failed to \w+ (?:file|directory) .*?: /, ''),
  ),
  definePrimitive(
    '__call_key(name: string, args: dict) -> string',
    'A hash of a call, for finding identical ones.',
    (ctx, name, args) => hashText(ctx, `${name as string}\n${stringifySorted(args!)}`),
  ),
  definePrimitive(
    '__text_length(text: string) -> int',
    'UTF-16 units of a text, by which outputs are bounded.',
    (_ctx, text) => (text as string).length,
  ),
  definePrimitive('__fingerprint(text: string) -> string', 'A hash of a text, for finding identical ones.', (ctx, text) =>
    hashText(ctx, text as string),
  ),
]

/** Characters of a hash that distinguish texts. */
const FINGERPRINT = 32

function hashText(ctx: Context, text: string): string {
  ctx.charge(text.length >> 6)
  return ctx.machine.sha256Hex(text).slice(0, FINGERPRINT)
}
