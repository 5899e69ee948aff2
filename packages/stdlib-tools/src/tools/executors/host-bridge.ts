// Executor `host_bridge`: asks the embedding program, in process. A tool with a bridge identifier is served by the capability
// operation of that name or, failing that, by the tool of that name; one without by the tool of its own name.

import type { HostBridge } from './remote-host.js'
import { describeCause } from './provider.js'
import type { Tool, VerifyCall } from '../host-tools/define.js'
import { NotDataError, TooLargeError, plainFromHostInPieces } from '../host-tools/edge.js'
import { toToolErrorData } from '../host-tools/errors.js'
import type { Host } from '../host-tools/host.js'
import { CallFacts, PreparedCalls, chainReady, findToolsOf, makeContext, invoke, openStream } from '../host-tools/invoke.js'
import type { Invoked, Ready } from '../host-tools/invoke.js'
import type { JsonSchema } from '../host-tools/schema.js'
import { makeFailed, makeResult } from './executor.js'
import type { CallScope, Executor, ToolCall } from './executor.js'
import type { ToolOutcome } from './outcome.js'
import { OpenStreams, makeStreamInvocation } from './streams.js'

export function makeHostBridgeExecutor(host: Host, bridge: HostBridge | null = null): Executor {
  const prepared = new PreparedCalls()
  const streams = new OpenStreams(host.maxResultBytes)
  const findTool = findToolsOf(host)
  return {
    name: 'host_bridge',
    streams(call) {
      const target = find(host, call)
      return target !== null && typeof target !== 'function'
    },
    close: () => streams.close(),
    call(call, scope) {
      const target = find(host, call)
      if (call.stream !== undefined && target !== null && typeof target !== 'function')
        return streams.serve(call, scope, target, (opened, signal) =>
          openStream(target, opened.args, makeStreamInvocation(opened, signal), findTool),
        )
      if (call.isAgain === true && target !== null && typeof target !== 'function' && typeof target.recovery === 'object') {
        const { verify } = target.recovery
        return verifyCall(call, host.maxResultBytes, verify, () => this.call({ ...call, isAgain: false }, scope))
      }
      if (target === null && bridge !== null) return askBridge(bridge, call, scope)
      if (target === null) return makeFailed('not_registered', `Tool '${call.target.host_capability ?? call.tool}' not found`)
      const invocation = new HostInvocation(call, scope)
      if (typeof target !== 'function')
        return chainReady(invoke(target, call.args, invocation, findTool, prepared), (outcome) => {
          if (outcome.kind === 'value' && outcome.happen !== undefined) call.nested?.durable?.intend(outcome.happen)
          return toToolOutcome(call, outcome, host.maxResultBytes)
        })
      return attempt(call, () =>
        chainReady(target(call.args, makeContext(invocation, findTool)), (value) =>
          chainReady(plainFromHostInPieces(value, undefined, host.maxResultBytes), makeResult),
        ),
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

/** The process on the other side decides what it knows; an operation that it did not declare may still be a tool of that name. */
async function askBridge(bridge: HostBridge, call: ToolCall, scope: CallScope): Promise<ToolOutcome> {
  const name = call.target.host_capability ?? call.tool
  const asked = (call.target.host_capability ?? null) === null ? null : bridge.callOperation(name, call.args, scope.signal)
  const outcome = (await asked) ?? (await bridge.callTool(name, call.args, scope.signal))
  if (outcome.ok) return makeResult(outcome.value)
  const { message, category } = outcome.error
  if (category === 'tool_rejected') return { kind: 'rejected', code: 'policy_violation', message }
  if (/^Bridge: operation cancelled/.test(message)) return makeFailed('cancelled', message)
  if (/^Bridge: host did not respond/.test(message)) return makeFailed('timeout', message)
  return makeFailed(/^Bridge: /.test(message) ? 'connection' : 'execution_failed', message)
}

/** The tool's verdict on a call whose process ended in the middle. Without a clear answer the call is not made. */
async function verifyCall(
  call: ToolCall,
  most: number,
  verify: VerifyCall,
  make: () => ToolOutcome | Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  let found: unknown
  try {
    found = await verify(call.idempotencyKey, call.args)
    if (typeof found === 'object' && found !== null && 'done' in found)
      return makeResult(await plainFromHostInPieces(found.done, undefined, most))
  } catch (cause) {
    return makeFailed('unknown_outcome', `what became of the call of ${call.tool} cannot be found out: ${describeCause(cause)}`)
  }
  if (found === 'not_done') return make()
  return makeFailed('unknown_outcome', `the outcome of ${call.tool} is unknown: its process ended after the call was begun`)
}

function find(host: Host, call: ToolCall): Tool | ReturnType<Host['operation']> {
  const name = call.target.host_capability ?? null
  if (name === null) return host.tool(call.tool)
  const dot = name.indexOf('.')
  return (dot < 0 ? null : host.operation(name.slice(0, dot), name.slice(dot + 1))) ?? host.tool(name)
}

function toToolOutcome(call: ToolCall, outcome: Invoked, most: number): Ready<ToolOutcome> {
  return outcome.kind === 'value' ? toDataOutcome(call, outcome.value, outcome.schema, most) : outcome
}

function toDataOutcome(call: ToolCall, value: unknown, schema: JsonSchema | undefined, most: number): Ready<ToolOutcome> {
  return attempt(call, () => chainReady(plainFromHostInPieces(value, schema, most), makeResult))
}

function attempt(call: ToolCall, work: () => Ready<ToolOutcome>): Ready<ToolOutcome> {
  try {
    const outcome = work()
    return outcome instanceof Promise ? outcome.catch((cause: unknown) => toFailure(call, cause)) : outcome
  } catch (cause) {
    return toFailure(call, cause)
  }
}

function toFailure(call: ToolCall, cause: unknown): ToolOutcome {
  if (cause instanceof TooLargeError)
    return makeFailed('execution_failed', `Tool '${call.tool}' gave ${cause.message} (maxResultBytes)`)
  if (cause instanceof NotDataError)
    return makeFailed('execution_failed', `Tool '${call.tool}' returned what is not data: ${cause.message}`)
  return { kind: 'failed', error: toToolErrorData(cause) }
}

class HostInvocation extends CallFacts {
  private readonly scope: CallScope

  constructor(call: ToolCall, scope: CallScope) {
    super(call)
    this.scope = scope
  }

  get signal(): AbortSignal {
    return this.scope.signal
  }
}
