// The agent loop: asks a model, carries out the tools that it calls, sends it their results, and continues
// until the work is done or a limit is reached. The turns are internal modules (run.harn) inside a frame that holds the loop's policies,
// its registry and its session, so that they end with the loop in all cases.

import { pushScope } from '../../library/task-scopes.js'
import type { ScopeKind } from '../../library/task-scopes.js'
import { builtinTaking, HarnDict, HarnList, builtin, frame, harnBuiltin, isCallable } from '@bridle/vm/families'
import type { BuiltinFamily, Context, FrameState, Result, Value } from '@bridle/vm/families'
import { LOOP_OPTIONS } from './option-shapes.js'
import { loopPrimitives } from './primitives.js'
import { traceSummary } from './trace.js'
import { loopState } from './loop-state.js'
import { decodeServers } from './servers.js'
import { llmState } from '../models/state.js'
import { toFailure } from '../models/attempt.js'
import { withJudgedNames } from './loop-names.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { closeScopes, openScopes } from '../../tools/policy/policy.js'
import { findCurrentSession, openSession, setCurrentSession } from '../sessions/sessions.js'
import { boundRegistry, isRegistry } from '../../tools/definitions/registry.js'

interface ScopeState extends FrameState {
  stage: 'open' | 'body'
  readonly prompt: Value
  readonly system: Value
  readonly options: HarnDict
  /** Connected servers as servers.harn has them; null without any. */
  readonly servers: HarnList | null
  opened: ScopeKind[]
  registry: Value
  session: string | null
  /** Category of the error that ended the loop. */
  failure: string | null
}

/** Holds what the loop installs: policies, the bound registry, the current session. */
const scopeFrame = frame<ScopeState>({
  kind: 'agent_loop.scope',
  output: 'drop',
  step: (ctx, state) => {
    if (state.stage === 'body') return ctx.result
    const opened = openScopes(ctx, withJudgedNames(ctx, state.options, decodeServers(state.servers)), 'agent_loop')
    if (!Array.isArray(opened)) return opened
    // Tools of a loop work for the module that began it.
    const caller = ctx.machine.narrowedCaller
    if (caller !== null) pushScope(ctx, 'imports', caller)
    state.opened = caller === null ? opened : [...opened, 'imports']
    state.registry = ctx.state(boundRegistry).registry
    state.session = findCurrentSession(ctx)
    state.stage = 'body'
    ctx.machine.spans?.({
      at: 'begin',
      work: 'agent_loop',
      id: null,
      name: 'agent_loop',
      task: ctx.machine.taskNumber,
      ms: ctx.now,
      facts: describeAgent(state.options),
    })
    const tools = state.options.get('tools')
    if (tools instanceof HarnDict && isRegistry(tools)) ctx.state(boundRegistry).registry = tools
    const { prompt, system, options, servers } = state
    return servers === null
      ? ctx.call(ctx.builtinValue('__agent_loop_body'), [prompt, system, options])
      : ctx.call(ctx.builtinValue('__agent_loop_turns'), [prompt, system, options, servers])
  },
  onFault: (ctx, state, fault) => {
    state.failure = toFailure(fault).category
    return ctx.fail(fault)
  },
  onLeave: (ctx, state) => {
    if (state.stage !== 'body') return
    const failure = typeof state.failure === 'string' ? { failure: state.failure } : {}
    ctx.machine.spans?.({ at: 'end', work: 'agent_loop', id: null, task: ctx.machine.taskNumber, ms: ctx.now, ...failure })
    closeScopes(ctx, state.opened)
    ctx.state(boundRegistry).registry = state.registry
    setCurrentSession(ctx, state.session)
  },
})

/** What traces say of a loop when it begins. */
function describeAgent(options: HarnDict): { readonly [name: string]: string } {
  const keys = ['provider', 'model', 'session_id'] as const
  return Object.fromEntries(
    keys.flatMap((key): readonly (readonly [string, string])[] => {
      const value = options.get(key)
      return typeof value === 'string' && value !== '' ? [[key === 'session_id' ? 'session' : key, value]] : []
    }),
  )
}

function openScope(ctx: Context, args: readonly Value[], servers: ScopeState['servers']): Result {
  const [prompt, system, options] = args
  return ctx.frame('agent_loop.scope', {
    stage: 'open',
    prompt: prompt!,
    system: system!,
    options: options as HarnDict,
    servers,
    opened: [],
    registry: null,
    session: null,
    failure: null,
  } satisfies ScopeState)
}

function runAgentLoop(ctx: Context, prompt: Value, system: Value, options: Value): Result {
  const given = options instanceof HarnDict ? options : new HarnDict()
  const servers = given.get('mcp_servers')
  const none = servers === undefined || (servers instanceof HarnList && servers.length === 0)
  return none ? openScope(ctx, [prompt, system, given], null) : ctx.library(SERVED, [prompt, system, given])
}

const SERVED = { module: 'agents/loop/servers', function: 'run_served', output: 'drop' } as const

/** What an agent loop may ask of the world. */
export const AGENT_EFFECTS = [
  'llm.call',
  'tool.call',
  'mcp.connect',
  'mcp.request',
  'process.info',
  'random.bytes',
  'clock.now',
  'approval.ask',
  'fs.read',
  'fs.query',
  'callback',
]

export const agentLoopFamily: BuiltinFamily = {
  name: 'agent-loop',
  frames: [scopeFrame],
  modules: findHarnModule,
  primitives: loopPrimitives,
  builtins: [
    builtin(
      'agent_loop(prompt: string, system?: string | nil, options?: dict) -> dict',
      {
        doc: 'Lets a model work on a task with tools, turn by turn, until it is done or a limit is reached.',
        effects: AGENT_EFFECTS,
        shapes: { options: LOOP_OPTIONS },
      },
      (ctx, prompt, system, options) => runAgentLoop(ctx, prompt!, system!, options!),
    ),
    builtin(
      '__agent_loop(prompt: string, system?: string, options?: dict) -> dict',
      { doc: 'The loop of a sub-agent or a worker, which policies know by these names.', effects: AGENT_EFFECTS },
      (ctx, prompt, system, options) => runAgentLoop(ctx, prompt!, system!, options!),
    ),
    harnBuiltin(
      '__agent_loop_body(prompt: string, system?: string, options?: dict) -> dict',
      { doc: 'The turns of an agent loop inside the scope of its policies.', effects: AGENT_EFFECTS },
      { module: 'agents/loop/run', function: 'run', output: 'drop' },
    ),
    builtin(
      '__agent_loop_scope(prompt: string, system: string, options: dict, servers: list) -> dict',
      { doc: 'An agent loop with connected MCP servers, under its policies.', effects: AGENT_EFFECTS },
      (ctx, prompt, system, options, servers) =>
        options instanceof HarnDict && servers instanceof HarnList
          ? openScope(ctx, [prompt!, system!, options], servers)
          : ctx.runtime('__agent_loop_scope is called by agent_loop'),
    ),
    harnBuiltin(
      '__agent_loop_turns(prompt: string, system: string, options: dict, servers: list) -> dict',
      { doc: 'The turns of an agent loop with connected MCP servers.', effects: AGENT_EFFECTS },
      { module: 'agents/loop/servers', function: 'run_turns', output: 'drop' },
    ),
    builtin(
      'agent_trace() -> list',
      { doc: 'What model calls and loops did so far.', effects: [] },
      (ctx) => new HarnList([...ctx.state(llmState).trace]),
    ),
    builtin('agent_trace_summary() -> dict', { doc: 'Totals of the agent trace.', effects: [] }, (ctx) => traceSummary(ctx)),
    builtinTaking(
      'agent_subscribe(session_id: string, callback: closure) -> nil',
      { doc: 'Calls a function with each event of the loops of a session.', effects: [] },
      {
        raise: 'runtime',
        not: { session_id: '{f}(session_id, callback): session_id must be a string' },
        fits: {
          // One that was not passed is nil, too.
          callback: (callback, { name }) =>
            isCallable(callback)
              ? null
              : `${name}(session_id, callback): callback ${callback === null ? 'closure required' : 'must be a closure'}`,
        },
      },
      (ctx, id, callback) => {
        openSession(ctx, id)
        ctx.charge(1, 64)
        const { subscribers } = ctx.state(loopState)
        subscribers.set(id, [...(subscribers.get(id) ?? []), callback])
        return null
      },
    ),
    builtin(
      'agent_inject_feedback(session_id: string, kind: string, content: string) -> nil',
      { doc: 'Puts a message of the runtime into the next turn of a session.', effects: [] },
      (ctx, id, kind, content) => {
        const label = 'agent_inject_feedback(session_id, kind, content)'
        if (typeof id !== 'string') return ctx.runtime(`${label}: session_id must be a string`)
        if (typeof kind !== 'string') return ctx.runtime(`${label}: kind must be a string`)
        if (typeof content !== 'string') return ctx.runtime(`${label}: content must be a string`)
        ctx.charge(1, 64 + 2 * content.length)
        const { injected } = ctx.state(loopState)
        injected.set(id, [...(injected.get(id) ?? []), { kind, content }])
        return null
      },
    ),
  ],
}
