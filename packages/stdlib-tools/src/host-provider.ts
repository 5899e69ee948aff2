// Answers `host.call` and `host.tool`: the embedding program, asked in process, and the few facts of the run itself that
// scripts read as host operations (`runtime.pipeline_input`, `runtime.dry_run`).

import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import { callTool } from './executors/index.js'
import type { ToolCall, ToolProviderParts } from './executors/index.js'
import { answered } from './providers/provider.js'
import type { EffectCall, Provider } from './providers/provider.js'
import type { Host } from './tools/host.js'

export interface RunFacts {
  readonly input: Plain
  readonly dryRun: boolean
}

export function hostProvider(host: Host, tools: ToolProviderParts, facts: RunFacts): Provider {
  return {
    kinds: ['host.call', 'host.tool'],
    perform: (effect, call) =>
      effect.kind === 'host.call' ? hostCall(host, tools, facts, effect, call) : hostTool(host, tools, effect, call),
    isReadOnly(effect) {
      const { name, op } = effect.args
      if (effect.kind === 'host.tool' && op === 'list') return true
      const text = String(name ?? '')
      if (effect.kind === 'host.call' && !isServed(host, text)) return true
      const tool = host.tool(text)
      return tool !== null && (tool.sideEffect === 'none' || tool.sideEffect === 'read_only')
    },
  }
}

function isServed(host: Host, name: string): boolean {
  const dot = name.indexOf('.')
  return host.tool(name) !== null || host.operation(name.slice(0, dot), name.slice(dot + 1)) !== null
}

function hostCall(
  host: Host,
  tools: ToolProviderParts,
  facts: RunFacts,
  effect: Effect,
  call: EffectCall,
): EffectOutcome | Promise<EffectOutcome> {
  const name = String(effect.args['name'] ?? '')
  if (isServed(host, name))
    return wrapped('handled', callTool(tools, callOf(tools, name, effect.args['params'] ?? null, call), call))
  switch (name) {
    case 'runtime.pipeline_input':
      return answered({ handled: true, value: facts.input })
    case 'runtime.dry_run':
      return answered({ handled: true, value: facts.dryRun })
    default:
      return answered({ handled: false })
  }
}

function hostTool(
  host: Host,
  tools: ToolProviderParts,
  effect: Effect,
  call: EffectCall,
): EffectOutcome | Promise<EffectOutcome> {
  if (!host.isAttached) return answered({ attached: false })
  if (effect.args['op'] === 'list') {
    return answered({
      attached: true,
      value: [...host.tools.values()].map((tool) => ({
        name: tool.name,
        description: tool.description,
        schema: (tool.input?.json ?? null) as Plain,
        deprecated: false,
      })),
    })
  }
  return wrapped(
    'attached',
    callTool(tools, callOf(tools, String(effect.args['name'] ?? ''), effect.args['args'] ?? null, call), call),
  )
}

function wrapped(
  key: 'handled' | 'attached',
  outcome: EffectOutcome | Promise<EffectOutcome>,
): EffectOutcome | Promise<EffectOutcome> {
  if (outcome instanceof Promise) return outcome.then((settled) => wrapped(key, settled))
  return outcome.ok ? answered({ [key]: true, value: outcome.value }) : outcome
}

function callOf(tools: ToolProviderParts, name: string, args: Plain, call: EffectCall): ToolCall {
  const callId = `effect_${call.id}`
  return {
    executor: 'host_bridge',
    tool: name,
    args:
      typeof args === 'object' && args !== null && !Array.isArray(args) && !(args instanceof Uint8Array)
        ? (args as { readonly [key: string]: Plain })
        : {},
    hostCapability: name.includes('.') ? name : null,
    mcpServer: null,
    mcpTool: null,
    runId: call.runId,
    callId,
    attempt: 1,
    maxAttempts: 1,
    idempotencyKey: call.idempotencyKey,
    timeoutMs: tools.timeoutOf?.(name) ?? null,
    progress: (data) => tools.progress?.(callId, name, data),
  }
}
