// Executor `host_bridge`: asks the embedding program, in process. A tool with a bridge identifier is served by the capability
// operation of that name or, failing that, by the tool of that name; one without by the tool of its own name.

import { Pending } from '../tools/define.js'
import type { Tool, ToolContext } from '../tools/define.js'
import { NotDataError, plainFromHost } from '../tools/edge.js'
import { toolErrorData } from '../tools/errors.js'
import type { Host } from '../tools/host.js'
import { failed, result } from './executor.js'
import type { Executor, ToolCall, ToolOutcome } from './executor.js'

export function hostBridgeExecutor(host: Host): Executor {
  return {
    name: 'host_bridge',
    async call(call, signal) {
      const target = find(host, call)
      if (target === null) return failed('not_registered', `Tool '${call.hostCapability ?? call.tool}' not found`)
      const context = contextOf(call, signal)
      try {
        return typeof target === 'function' ? result(plainFromHost(await target(call.args, context))) : await callTool(target, call, context)
      } catch (cause) {
        if (cause instanceof NotDataError) return failed('execution_failed', `Tool '${call.tool}' returned what is not data: ${cause.message}`)
        return { kind: 'failed', error: toolErrorData(cause) }
      }
    },
    isReadOnly(call) {
      const target = find(host, call)
      return target !== null && typeof target !== 'function' && (target.sideEffect === 'none' || target.sideEffect === 'read_only')
    },
  }
}

function find(host: Host, call: ToolCall): Tool | ReturnType<Host['operation']> {
  const name = call.hostCapability
  if (name === null) return host.tools.get(call.tool) ?? null
  const dot = name.indexOf('.')
  return (dot < 0 ? null : host.operation(name.slice(0, dot), name.slice(dot + 1))) ?? host.tools.get(name) ?? null
}

async function callTool(tool: Tool, call: ToolCall, context: ToolContext): Promise<ToolOutcome> {
  let input: unknown = call.args
  if (tool.input !== null) {
    const checked = await tool.input.check(call.args)
    if (!checked.ok) return failed('invalid_args', `Invalid arguments at ${checked.path}: ${checked.reason}`, { path: checked.path, reason: checked.reason })
    input = checked.value
  }
  const value = await tool.execute(input, context)
  if (value instanceof Pending) return { kind: 'pending', token: value.token }
  if (tool.output === null) return result(plainFromHost(value))
  const checked = await tool.output.check(value)
  if (!checked.ok) {
    return failed('output_validation_failed', `Tool '${tool.name}' returned an invalid result at ${checked.path}: ${checked.reason}`, {
      path: checked.path, reason: checked.reason, actual: excerpt(value),
    })
  }
  return result(plainFromHost(checked.value, tool.output.json))
}

export function contextOf(call: ToolCall, signal: AbortSignal): ToolContext {
  const { runId, callId, attempt, idempotencyKey, progress } = call
  return { signal, runId, callId, attempt, idempotencyKey, progress }
}

/** What came back instead, short enough for an error. */
function excerpt(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > 4096 ? `${text.slice(0, 4096)}…` : text
}
