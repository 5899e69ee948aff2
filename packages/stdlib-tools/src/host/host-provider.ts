// Answers `host.call` and `host.tool`: the embedding program, asked in process, and the few facts of the run itself that
// scripts read as host operations (`runtime.pipeline_input`, `runtime.dry_run`).

import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import type { HostBridge } from '../tools/executors/remote-host.js'
import { callTool } from '../tools/executors/index.js'
import type { ToolCall, ToolProviderParts } from '../tools/executors/index.js'
import { checkSize } from '../tools/executors/result-size.js'
import { answered } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import type { Host } from '../tools/host-tools/host.js'
import { executorOf } from '@bridle/compiler/grants'

export interface RunFacts {
  readonly input: Plain
  readonly dryRun: boolean
}

export function makeHostProvider(
  host: Host,
  tools: ToolProviderParts,
  facts: RunFacts,
  bridge: HostBridge | null = null,
): Provider<'host.call' | 'host.tool'> {
  return {
    kinds: ['host.call', 'host.tool'],
    perform: (effect, call) =>
      effect.kind === 'host.call'
        ? callHost(host, tools, facts, bridge, effect, call)
        : callHostTool(host, tools, bridge, effect, call),
    isReadOnly(effect) {
      const { name } = effect.args
      if (name === undefined) return true // a list
      if (effect.kind === 'host.call' && !host.serves(name)) return bridge === null || !hasOperation(bridge, name)
      const tool = host.tool(name)
      return tool !== null && (tool.sideEffect === 'none' || tool.sideEffect === 'read_only')
    },
  }
}

function callHost(
  host: Host,
  tools: ToolProviderParts,
  facts: RunFacts,
  bridge: HostBridge | null,
  { args: { name, params } }: EffectOf<'host.call'>,
  call: EffectCall,
): EffectOutcome | Promise<EffectOutcome> {
  if (host.serves(name)) return wrapOutcome('handled', callTool(tools, makeCall(tools, name, params, call), call))
  switch (name) {
    case 'runtime.pipeline_input':
      return answered({ handled: true, value: facts.input })
    case 'runtime.dry_run':
      return answered({ handled: true, value: facts.dryRun })
    default: {
      const asked = bridge?.callOperation(name, params, call.signal) ?? null
      if (asked === null) return answered({ handled: false })
      return asked.then((outcome) =>
        outcome === null ? answered({ handled: false }) : wrapOutcome('handled', checkSize(outcome, host.maxResultBytes, name)),
      )
    }
  }
}

function callHostTool(
  host: Host,
  tools: ToolProviderParts,
  bridge: HostBridge | null,
  { args }: EffectOf<'host.tool'>,
  call: EffectCall,
): EffectOutcome | Promise<EffectOutcome> {
  if (!host.isAttached && bridge === null) return answered({ attached: false })
  if (args.op === 'list') {
    const own = [...host.tools.values()].map((tool) => ({
      name: tool.name,
      description: tool.description,
      schema: (tool.input?.json ?? null) as Plain,
      deprecated: false,
    }))
    // The machine brings the other side's list into shape; with tools of both there is one shape for both.
    if (bridge === null) return answered({ attached: true, value: own })
    return wrapOutcome('attached', bridge.listTools(call.signal)).then((outcome) =>
      own.length === 0 ? outcome : joinTools(own, outcome),
    )
  }
  const { name } = args
  if (bridge !== null && host.tool(name) === null)
    return wrapOutcome(
      'attached',
      bridge.callTool(name, args.args, call.signal).then((outcome) => checkSize(outcome, host.maxResultBytes, name)),
    )
  return wrapOutcome('attached', callTool(tools, makeCall(tools, name, args.args, call), call))
}

function hasOperation(bridge: HostBridge, name: string): boolean {
  const dot = name.indexOf('.')
  const operations = bridge.capabilities[name.slice(0, dot)]?.operations
  return operations !== undefined && Object.hasOwn(operations, name.slice(dot + 1))
}

/** The tools of this process and those of the answer, when that is a list in one of the known shapes. */
function joinTools(own: readonly Plain[], outcome: EffectOutcome): EffectOutcome {
  if (!outcome.ok) return outcome
  type Listed = { readonly tools?: Plain; readonly result?: Plain }
  const { value } = outcome.value as { readonly value: Plain }
  const inner = Array.isArray(value) ? value : (((value as Listed | null)?.result ?? value) as Plain)
  const listed = Array.isArray(inner) ? inner : ((inner as Listed | null)?.tools ?? null)
  return Array.isArray(listed) ? answered({ attached: true, value: [...own, ...(listed as readonly Plain[])] }) : outcome
}

function wrapOutcome(key: 'handled' | 'attached', outcome: Promise<EffectOutcome>): Promise<EffectOutcome>
function wrapOutcome(
  key: 'handled' | 'attached',
  outcome: EffectOutcome | Promise<EffectOutcome>,
): EffectOutcome | Promise<EffectOutcome>
function wrapOutcome(
  key: 'handled' | 'attached',
  outcome: EffectOutcome | Promise<EffectOutcome>,
): EffectOutcome | Promise<EffectOutcome> {
  const wrap = (settled: EffectOutcome): EffectOutcome => (settled.ok ? answered({ [key]: true, value: settled.value }) : settled)
  return outcome instanceof Promise ? outcome.then(wrap) : wrap(outcome)
}

function makeCall(tools: ToolProviderParts, name: string, args: Plain, call: EffectCall): ToolCall {
  const callId = `effect_${call.id}`
  return {
    executor: executorOf('host'),
    tool: name,
    args:
      typeof args === 'object' && args !== null && !Array.isArray(args) && !(args instanceof Uint8Array)
        ? (args as { readonly [key: string]: Plain })
        : {},
    target: { host_capability: name.includes('.') ? name : null },
    runId: call.runId,
    callId,
    attempt: 1,
    maxAttempts: 1,
    idempotencyKey: call.idempotencyKey,
    ...(call.isAgain === true ? { isAgain: true } : {}),
    timeoutMs: tools.timeoutOf?.(name) ?? null,
    progress: (data) => tools.progress?.(callId, name, data),
    nested: call.nested ?? null,
  }
}
