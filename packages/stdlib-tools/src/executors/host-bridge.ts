// Executor `host_bridge`: asks the embedding program, in process. A tool with a bridge identifier is served by the capability
// operation of that name or, failing that, by the tool of that name; one without by the tool of its own name.

import { Pending } from '../tools/define.js'
import type { Tool, ToolContext } from '../tools/define.js'
import { NotDataError, plainFromHost } from '../tools/edge.js'
import { toolErrorData } from '../tools/errors.js'
import type { Host } from '../tools/host.js'
import { failed, result } from './executor.js'
import type { CallScope, Executor, ToolCall, ToolOutcome } from './executor.js'

export function hostBridgeExecutor(host: Host): Executor {
  return {
    name: 'host_bridge',
    call(call, scope) {
      const target = find(host, call)
      if (target === null) return failed('not_registered', `Tool '${call.hostCapability ?? call.tool}' not found`)
      const context = new HostContext(call, scope)
      return attempt(call, () =>
        typeof target === 'function'
          ? then(target(call.args, context), (value) => result(plainFromHost(value)))
          : callTool(target, call, context),
      )
    },
    isReadOnly(call) {
      const target = find(host, call)
      return (
        target !== null && typeof target !== 'function' && (target.sideEffect === 'none' || target.sideEffect === 'read_only')
      )
    },
  }
}

function find(host: Host, call: ToolCall): Tool | ReturnType<Host['operation']> {
  const name = call.hostCapability
  if (name === null) return host.tools.get(call.tool) ?? null
  const dot = name.indexOf('.')
  return (dot < 0 ? null : host.operation(name.slice(0, dot), name.slice(dot + 1))) ?? host.tools.get(name) ?? null
}

function callTool(tool: Tool, call: ToolCall, context: ToolContext): Ready<ToolOutcome> {
  if (tool.input === null) return then(tool.execute(call.args, context), (value) => toolResult(tool, value))
  return then(tool.input.check(call.args), (checked) => {
    if (!checked.ok)
      return failed('invalid_args', `Invalid arguments at ${checked.path}: ${checked.reason}`, {
        path: checked.path,
        reason: checked.reason,
      })
    return then(tool.execute(checked.value, context), (value) => toolResult(tool, value))
  })
}

function toolResult(tool: Tool, value: unknown): Ready<ToolOutcome> {
  if (value instanceof Pending) return { kind: 'pending', token: value.token }
  if (tool.output === null) return result(plainFromHost(value))
  const { json } = tool.output
  return then(tool.output.check(value), (checked) => {
    if (checked.ok) return result(plainFromHost(checked.value, json))
    return failed(
      'output_validation_failed',
      `Tool '${tool.name}' returned an invalid result at ${checked.path}: ${checked.reason}`,
      {
        path: checked.path,
        reason: checked.reason,
        actual: excerpt(value),
      },
    )
  })
}

/** Most tools and nearly all checks are synchronous; a promise is made only where there is something to wait for. */
type Ready<T> = T | Promise<T>

function then<T, U>(value: Ready<T>, use: (value: T) => Ready<U>): Ready<U> {
  return value instanceof Promise ? value.then(use) : isThenable<T>(value) ? Promise.resolve(value).then(use) : use(value)
}

function isThenable<T>(value: unknown): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function attempt(call: ToolCall, work: () => Ready<ToolOutcome>): Ready<ToolOutcome> {
  const fail = (cause: unknown): ToolOutcome => {
    if (cause instanceof NotDataError)
      return failed('execution_failed', `Tool '${call.tool}' returned what is not data: ${cause.message}`)
    return { kind: 'failed', error: toolErrorData(cause) }
  }
  try {
    const outcome = work()
    return outcome instanceof Promise ? outcome.catch(fail) : outcome
  } catch (cause) {
    return fail(cause)
  }
}

/** The signal is made when the tool looks at it: most calls end before anyone could abort them. */
class HostContext implements ToolContext {
  private readonly call: ToolCall
  private readonly scope: CallScope

  constructor(call: ToolCall, scope: CallScope) {
    this.call = call
    this.scope = scope
  }

  get signal(): AbortSignal {
    return this.scope.signal
  }

  get runId(): string {
    return this.call.runId
  }

  get callId(): string {
    return this.call.callId
  }

  get attempt(): number {
    return this.call.attempt
  }

  get idempotencyKey(): string {
    return this.call.idempotencyKey
  }

  get progress(): (data: unknown) => void {
    return this.call.progress
  }
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
