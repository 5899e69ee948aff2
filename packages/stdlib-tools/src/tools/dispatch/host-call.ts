// `host_call`, `host_tool_call` and `host_tool_list`. A host_call is answered by a mock, else by the embedding
// program, else by a built-in fallback, in this order; each is a stage of the native frame `host.call`. Fallbacks that another
// builtin already does (environment, templates, terminal) call that builtin, so that its mocks count here too.

import { HOST_TOOLS } from '../definitions/entry.js'
import { builtinTaking, CONTROL, HarnDict, HarnList, TooDeepError, builtin, display, frame, toPlain } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Fault, FrameState, Plain, Result, Value } from '@bridle/vm/families'
import { hasCommandPolicy, startAfterwards, startPreflight } from '../policy/command-policy.js'
import { matchHostMock } from './host-mocks.js'
import { toToolError, isToolError } from '../../library/tool-errors.js'
import { stepProcessFallback } from './host-process.js'
import { enterGate, makeJudgedFacts, leaveGate } from './outside-calls.js'
import type { AtGate, OutsideCall } from './outside-calls.js'
import { findHostNames, isOfHost } from './gate.js'
import { makeBridgedIdentity } from './identity.js'
import type { ToolIdentity } from './identity.js'
import { refuseHostCall } from '../policy/tool-policy.js'
import type { ProcessState } from './host-process.js'

interface HostCallState extends FrameState {
  stage: 'mocks' | 'preflight' | 'gate' | 'host' | 'fallback' | 'text' | 'done' | 'afterwards'
  name: string
  capability: string
  operation: string
  params: HarnDict
  process: ProcessState | null
  /** What the command policy in force said before; null without one. */
  verdict: HarnDict | null
  /** On its way through the gate; null for what no host carries out. */
  call: OutsideCall | null
}

function callBuiltin(
  ctx: Context,
  state: HostCallState,
  name: string,
  args: readonly Value[],
  stage: 'text' | 'done' = 'done',
): Result {
  state.stage = stage
  return ctx.call(ctx.builtinValue(name), args)
}

/** The plain form of a value, undefined when it is nested deeper than anything legitimate at an edge. */
function toPlainOrNothing(value: Value): Plain | undefined {
  try {
    return toPlain(value)
  } catch (error) {
    if (error instanceof TooDeepError) return undefined
    throw error
  }
}

function failMissing(ctx: Context, name: string): Result {
  return ctx.throw(`host_call: missing required parameter '${name}'`)
}

function startFallback(ctx: Context, state: HostCallState): Result {
  const { params } = state
  if (state.capability === 'process') {
    state.process = { stage: 'start', operation: state.operation, params, plan: null, startedAt: 0 }
    state.stage = 'fallback'
    return stepProcessFallback(ctx, state.process)
  }
  switch (state.name) {
    case 'template.render': {
      const path = params.get('path') ?? null
      if (path === null) return failMissing(ctx, 'path')
      return callBuiltin(ctx, state, 'render', [display(path), params.get('bindings') ?? null])
    }
    case 'interaction.ask': {
      const question = params.get('question') ?? null
      if (question === null) return failMissing(ctx, 'question')
      return callBuiltin(ctx, state, 'prompt_user', [display(question)])
    }
    case 'runtime.task':
      return callBuiltin(ctx, state, 'env', ['HARN_TASK'], 'text')
    case 'runtime.set_result':
      return null
    case 'workspace.project_root': {
      state.stage = 'fallback'
      return ctx.call(ctx.builtinValue('env'), ['HARN_PROJECT_ROOT'])
    }
    case 'workspace.cwd':
      return callBuiltin(ctx, state, 'cwd', [])
    default:
      return ctx.throw(`host_call: unsupported operation ${state.name}`)
  }
}

/** What a host does passes the gate in front of tools; what a builtin does in its place is judged by its own effects. */
function askHost(ctx: Context, state: HostCallState): Result {
  const identity = makeBridgedIdentity(findHostNames(ctx), { tool: state.name, capability: state.name })
  if (!isOfHost(ctx, identity) || (isOwnOperation(state.name) && !isDeclared(ctx, identity))) return sendHostCall(ctx, state)
  return continueAtGate(ctx, state, enterGate(ctx, identity, state.params))
}

/** Operations that every run has, with any host. */
const OWN_OPERATIONS: ReadonlySet<string> = new Set([
  'process.exec',
  'process.list_shells',
  'process.get_default_shell',
  'process.set_default_shell',
  'process.shell_invocation',
  'template.render',
  'interaction.ask',
  'runtime.task',
  'runtime.set_result',
  'runtime.pipeline_input',
  'runtime.dry_run',
  'workspace.project_root',
  'workspace.cwd',
])

/** Whether the host said itself that it has it. */
function isDeclared(ctx: Context, { id }: ToolIdentity): boolean {
  return ctx.machine.hostData(HOST_TOOLS)?.has(id) === true || findHostNames(ctx).hasOperation(id)
}

/** Whether every run has the operation, so that a builtin does it when the host does not. */
export function isOwnOperation(name: string): boolean {
  return OWN_OPERATIONS.has(name)
}

function continueAtGate(ctx: Context, state: HostCallState, at: AtGate): Result {
  if (at.kind === 'refused') return at.result
  state.call = at.call
  if (at.call.args instanceof HarnDict) state.params = at.call.args
  if (at.kind === 'passed') return sendHostCall(ctx, state)
  state.stage = 'gate'
  return at.result
}

function sendHostCall(ctx: Context, state: HostCallState): Result {
  state.stage = 'host'
  const { name, capability, operation, call } = state
  const params = toPlainOrNothing(state.params)
  if (params === undefined) return ctx.throw(`host_call: params of ${name} are nested too deeply`)
  const args = { name, capability, operation, params }
  return ctx.request({ kind: 'host.call', args: call === null ? args : { ...args, ...makeJudgedFacts(call) } })
}

/** The result of an operation that was carried out, after the command policy had its say. */
function finish(ctx: Context, state: HostCallState, result: Result): Result {
  if (result === CONTROL || state.verdict === null) return result
  state.stage = 'afterwards'
  return startAfterwards(ctx, state.verdict, result as Value)
}

function step(ctx: Context, state: HostCallState): Result {
  switch (state.stage) {
    case 'mocks': {
      const mock = matchHostMock(ctx, state.capability, state.operation, state.params)
      if (mock !== undefined) return mock.error === null ? mock.result : ctx.throw(mock.error)
      if (state.name !== 'process.exec' || !hasCommandPolicy(ctx)) return askHost(ctx, state)
      state.stage = 'preflight'
      return startPreflight(ctx, state.params)
    }
    case 'preflight': {
      const verdict = ctx.result as HarnDict
      const blocked = verdict.get('blocked')
      if (blocked !== undefined) return blocked
      state.verdict = verdict
      state.params = verdict.get('params') as HarnDict
      return askHost(ctx, state)
    }
    case 'gate':
      return continueAtGate(ctx, state, leaveGate(ctx, state.call!, ctx.result as HarnDict))
    case 'host': {
      const answer = ctx.result
      if (answer instanceof HarnDict && answer.get('handled') === true) return finish(ctx, state, answer.get('value') ?? null)
      return startFallback(ctx, state)
    }
    case 'fallback': {
      if (state.process !== null) return finish(ctx, state, stepProcessFallback(ctx, state.process))
      return ctx.result === null ? callBuiltin(ctx, state, 'cwd', []) : ctx.result
    }
    case 'text':
      return ctx.result ?? ''
    case 'done':
    case 'afterwards':
      return ctx.result
  }
}

function callHost(ctx: Context, name: string, params: Value): Result {
  const refused = refuseHostCall(ctx, name)
  if (refused !== null) return refused
  const dot = name.indexOf('.')
  if (dot < 0) return ctx.throw(`host_call: unsupported operation name '${name}'`)
  return ctx.frame('host.call', {
    stage: 'mocks',
    name,
    capability: name.slice(0, dot),
    operation: name.slice(dot + 1),
    params: params instanceof HarnDict ? params : new HarnDict(),
    process: null,
    verdict: null,
    call: null,
  } satisfies HostCallState)
}

/** A tool of the host fails with the record of library/effects/tool-records.ts; scripts see the full error dict, category and all. */
function completeError(ctx: Context, state: { readonly name: string | null }, fault: Fault): Result {
  if (!isToolError(fault.caught)) return ctx.fail(fault)
  return ctx.throw(toToolError(fault, { tool: state.name ?? '', callId: null, attempt: 1 }))
}

/** A missing template is a failure of the operation. */
function failHostCall(ctx: Context, state: HostCallState, fault: Fault): Result {
  const { caught } = fault
  if (state.name === 'template.render' && typeof caught === 'string' && caught.startsWith('Failed to read template'))
    return ctx.throw(`host_call template.render: f${caught.slice(1)}`)
  return completeError(ctx, state, fault)
}

interface HostToolState extends FrameState {
  stage: 'start' | 'gate' | 'asked'
  call: OutsideCall | null
  /** Null lists the tools. */
  name: string | null
  args: Value
}

function stepHostTool(ctx: Context, state: HostToolState): Result {
  const { name } = state
  switch (state.stage) {
    case 'start': {
      if (name === null) {
        state.stage = 'asked'
        return ctx.request({ kind: 'host.tool', args: { op: 'list' } })
      }
      const identity = makeBridgedIdentity(findHostNames(ctx), { tool: name, capability: name.includes('.') ? name : null })
      return continueHostToolAtGate(ctx, state, name, enterGate(ctx, identity, state.args))
    }
    case 'gate':
      return continueHostToolAtGate(ctx, state, name!, leaveGate(ctx, state.call!, ctx.result as HarnDict))
    case 'asked':
      break
  }
  const answer = ctx.result
  const attached = answer instanceof HarnDict && answer.get('attached') === true
  if (name !== null) return attached ? (answer.get('value') ?? null) : ctx.throw('host_tool_call: no host bridge is attached')
  return attached ? normalizeTools(ctx, answer.get('value') ?? null) : new HarnList([])
}

function continueHostToolAtGate(ctx: Context, state: HostToolState, name: string, at: AtGate): Result {
  if (at.kind === 'refused') return at.result
  state.call = at.call
  state.args = at.call.args
  if (at.kind === 'asking') {
    state.stage = 'gate'
    return at.result
  }
  state.stage = 'asked'
  const args = toPlainOrNothing(state.args)
  if (args === undefined) return ctx.throw(`host_tool_call: arguments of ${name} are nested too deeply`)
  return ctx.request({ kind: 'host.tool', args: { op: 'call', name, args, ...makeJudgedFacts(at.call) } })
}

/** The host's list in the one shape that scripts see. */
function normalizeTools(ctx: Context, answer: Value): Result {
  let tools = answer
  if (tools instanceof HarnDict) {
    const wrapped = tools.get('result')
    tools = tools.get('tools') ?? (wrapped instanceof HarnDict ? (wrapped.get('tools') ?? null) : (wrapped ?? null))
    if (!(tools instanceof HarnList)) return ctx.runtime('host/tools/list: host response must be an array or { tools: [...] }')
  }
  if (!(tools instanceof HarnList)) return ctx.runtime('host/tools/list: unexpected response shape')
  const listed: Value[] = []
  for (const tool of tools.view()) {
    if (!(tool instanceof HarnDict)) return ctx.runtime('host/tools/list: every tool must be an object')
    const name = tool.get('name')
    if (typeof name !== 'string') return ctx.runtime('host/tools/list: every tool must include a string `name`')
    listed.push(
      HarnDict.of({
        name,
        description: tool.get('description') ?? tool.get('short_description') ?? '',
        schema: tool.get('schema') ?? tool.get('parameters') ?? tool.get('input_schema') ?? null,
        deprecated: tool.get('deprecated') ?? false,
      }),
    )
  }
  return new HarnList(listed)
}

function callHostTool(ctx: Context, name: string, args: Value): Result {
  return ctx.frame('host.tool', { stage: 'start', call: null, name, args } satisfies HostToolState)
}

function listHostTools(ctx: Context): Result {
  return ctx.frame('host.tool', { stage: 'start', call: null, name: null, args: null } satisfies HostToolState)
}

export const hostCallFamily: BuiltinFamily = {
  name: 'host-call',
  builtins: [
    builtinTaking(
      'host_call(name: string, args?: any)',
      {
        fromOutside: true,
        doc: 'Calls `capability.operation` of the host.',
        effects: ['host.call', 'process.exec', 'process.info', 'callback'],
      },
      { text: { name: null } },
      callHost,
    ),
    builtinTaking(
      'host_tool_call(name: string, args?: any)',
      { fromOutside: true, doc: 'Calls a tool of the host by its name.', effects: ['host.tool'] },
      { text: { name: '{f}: tool name is required' } },
      callHostTool,
    ),
    builtin(
      'host_tool_list() -> list',
      { doc: 'The tools of the host; none without one.', effects: ['host.tool'] },
      listHostTools,
    ),
  ],
  frames: [
    frame<HostCallState>({ kind: 'host.call', runBoundary: false, step, onFault: failHostCall }),
    frame<HostToolState>({ kind: 'host.tool', runBoundary: false, step: stepHostTool, onFault: completeError }),
  ],
}
