// THE table of executors, and the provider that answers `tool.call` with it: one row an executor, each behind the same
// timeout, cancellation and translation of outcomes.

import { targetOf, executorOf } from '@bridle/compiler/grants'
import type { EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../../library/time/host-clock.js'
import type { HostBridge } from './remote-host.js'
import { answered } from './provider.js'
import type { EffectCall, Provider, TokenLimit } from './provider.js'
import { makeFailedOutcome } from '../host-tools/errors.js'
import type { ToolErrorData } from '../host-tools/errors.js'
import type { Host } from '../host-tools/host.js'
import { makeDryRunExecutor } from './dry-run.js'
import type { CallScope, Executor, ExecutorName, ToolCall } from './executor.js'
import type { ToolOutcome } from './outcome.js'
import { makeHarnExecutor } from './harn.js'
import type { ScriptTool } from './harn.js'
import { makeHostBridgeExecutor } from './host-bridge.js'
import { makeMcpExecutor } from './mcp.js'
import type { McpToolCaller } from './mcp.js'
import type { PendingResults } from './pending.js'
import { makeProviderNativeExecutor } from './provider-native.js'
import { MAX_RESULT_BYTES, checkSize } from './result-size.js'
import { readStreamRequest } from './streams.js'
import { describeCause } from './provider.js'

export interface ExecutorParts {
  readonly host: Host
  /** A host in another process, for what this one does not have. */
  readonly bridge?: HostBridge | null
  readonly mcp: McpToolCaller | null
  readonly scripts?: { readonly [name: string]: ScriptTool }
}

export type ExecutorTable = { readonly [Name in ExecutorName]: Executor }

export function createExecutors(parts: ExecutorParts): ExecutorTable {
  return {
    harn: makeHarnExecutor(parts.scripts ?? {}),
    dry_run: makeDryRunExecutor(),
    host_bridge: makeHostBridgeExecutor(parts.host, parts.bridge ?? null),
    mcp_server: makeMcpExecutor(parts.mcp),
    provider_native: makeProviderNativeExecutor(),
  }
}

export interface ToolProviderParts {
  readonly executors: ExecutorTable
  readonly pending: PendingResults
  readonly progress?: (callId: string, tool: string, data: unknown) => void
  /** A tool's own limit, when the call names none. */
  readonly timeoutOf?: (tool: string) => number | null
  /** Of one result; MAX_RESULT_BYTES by default. */
  readonly maxResultBytes?: number
}

/** Answers `tool.call`. */
export function toolProvider(parts: ToolProviderParts): Provider {
  return {
    kinds: ['tool.call'],
    perform: (effect, call) => callTool(parts, readCall(parts, effect.args, call), call),
    async isReadOnly(effect, call) {
      const toolCall = readCall(parts, effect.args, call)
      return (await findExecutor(parts, toolCall)?.isReadOnly(toolCall, call)) ?? false
    },
    close: async () => {
      await Promise.allSettled(Object.values(parts.executors).map(async (executor) => executor.close?.()))
    },
  }
}

function findExecutor(parts: ToolProviderParts, call: ToolCall): Executor | null {
  return Object.hasOwn(parts.executors, call.executor) ? parts.executors[call.executor] : null
}

function readCall(parts: ToolProviderParts, args: { readonly [key: string]: Plain }, call: EffectCall): ToolCall {
  const readText = (key: string): string | null => (typeof args[key] === 'string' ? args[key] : null)
  const tool = readText('tool') ?? ''
  const callId = readText('call_id') ?? `effect_${call.id}`
  const given = args['args'] ?? null
  const executor = readText('executor') ?? executorOf('host')
  const target = targetOf(executor, readText)
  const timeoutMs = args['timeout_ms']
  // Field by field: spreads between fields make an object of a slow kind, and there is one for every call.
  const made: { -readonly [Key in keyof ToolCall]: ToolCall[Key] } = {
    executor: executor as ExecutorName,
    tool,
    args: isRecord(given) ? given : {},
    target,
    runId: call.runId,
    callId,
    attempt: typeof args['attempt'] === 'number' ? args['attempt'] : 1,
    maxAttempts: typeof args['max_attempts'] === 'number' ? args['max_attempts'] : 1,
    idempotencyKey: `${call.runId}:${readText('idempotency_key') ?? callId}`,
    timeoutMs: typeof timeoutMs === 'number' ? timeoutMs : (parts.timeoutOf?.(target.host_capability ?? tool) ?? null),
    progress: (data) => parts.progress?.(callId, tool, data),
    nested: call.nested ?? null,
  }
  const stream = readStreamRequest(args['stream'])
  if (stream !== null) made.stream = stream
  if (args['meta'] !== undefined) made.meta = args['meta'] as { readonly [key: string]: Plain }
  if (call.isAgain === true) made.isAgain = true
  return made
}

function isRecord(value: Plain): value is { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}

/** What is around a call: of a run, the effect that asks for it. */
type OuterCall = CallScope & Partial<Pick<EffectCall, 'now' | 'askedAt' | 'waitsFor' | 'awaitToken'>>

/** One attempt under its time limit. The executor may keep working after the limit; its result is ignored. */
export function callTool(parts: ToolProviderParts, call: ToolCall, outer: OuterCall): EffectOutcome | Promise<EffectOutcome> {
  const executor = findExecutor(parts, call)
  if (executor === null)
    return makeFailedOutcome({
      code: 'not_registered',
      message: `Tool '${call.tool}' declares unknown executor "${call.executor}"`,
    })
  const scope = new Scope()
  const { timeoutMs } = call
  const leftMs = timeoutMs === null ? null : timeoutMs - measureElapsed(outer)
  const waitsFor = outer.waitsFor ?? null
  if (waitsFor !== null) return waitFor(parts, call, { kind: 'pending', token: waitsFor }, { scope, outer, leftMs })
  // A call whose time was over before the restore is not awaited.
  if (timeoutMs !== null && leftMs! <= 0 && timeoutMs > 0)
    return translate(parts, call, { kind: 'failed', error: makeTimeout(timeoutMs) })
  let outcome: ToolOutcome | Promise<ToolOutcome>
  try {
    outcome =
      call.stream === undefined || executor.streams?.(call) === true
        ? executor.call(call, scope)
        : wrapAsStream(executor, call, scope)
  } catch (cause) {
    outcome = reportBug(cause)
  }
  return outcome instanceof Promise || outcome.kind === 'pending'
    ? waitFor(parts, call, outcome, { scope, outer, leftMs })
    : translate(parts, call, outcome)
}

/** Milliseconds since the run asked for the call, which a restore does not begin anew. */
function measureElapsed({ now, askedAt }: OuterCall): number {
  return now === undefined || askedAt === undefined ? 0 : Math.max(0, now - askedAt)
}

function makeTimeout(limitMs: number): ToolErrorData {
  return { code: 'timeout', message: `timeout: elapsed ${limitMs}ms, limit ${limitMs}ms`, details: { limit_ms: limitMs } }
}

/** The answer of an executor that does not stream: all there is comes when the stream is opened. */
async function wrapAsStream(executor: Executor, { stream: _, ...call }: ToolCall, scope: CallScope): Promise<ToolOutcome> {
  const outcome = await executor.call(call, scope)
  return outcome.kind === 'result' ? { kind: 'result', value: { streaming: false, value: outcome.value } } : outcome
}

class Scope implements CallScope {
  private controller: AbortController | null = null
  private stopped: Error | null = null

  get signal(): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController()
      if (this.stopped !== null) this.controller.abort(this.stopped)
    }
    return this.controller.signal
  }

  stop(reason: string): void {
    this.stopped = new Error(reason)
    this.controller?.abort(this.stopped)
  }
}

async function waitFor(
  parts: ToolProviderParts,
  call: ToolCall,
  outcome: ToolOutcome | Promise<ToolOutcome>,
  { scope, outer, leftMs }: { readonly scope: Scope; readonly outer: OuterCall; readonly leftMs: number | null },
): Promise<EffectOutcome> {
  const { signal } = outer
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = (): void => {}
  const interrupted = new Promise<ToolOutcome>((resolve) => {
    const stop = (error: ToolErrorData): void => {
      scope.stop(error.message)
      resolve({ kind: 'failed', error })
    }
    onAbort = () => stop({ code: 'cancelled', message: `Tool '${call.tool}' was cancelled` })
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const { timeoutMs } = call
    if (timeoutMs !== null) timer = setTimeout(() => stop(makeTimeout(timeoutMs)), clampTimer(leftMs!))
  })
  const settleOutcome = async (): Promise<ToolOutcome> => {
    // An executor that rejects has a bug; the script sees a failed call anyway.
    const first = await Promise.resolve(outcome).catch(reportBug)
    if (first.kind !== 'pending') return first
    const { token } = first
    if (outer.awaitToken === undefined) return parts.pending.wait(token, scope.signal)
    const { timeoutMs } = call
    const own = timeoutMs === null ? null : { dueAt: (outer.now ?? 0) + leftMs!, error: makeTimeout(timeoutMs) }
    const { deadlineMs } = first
    if (deadlineMs === undefined || (own !== null && own.dueAt <= (outer.now ?? 0) + deadlineMs))
      return outer.awaitToken(token, scope.signal, own)
    const limit: TokenLimit = {
      dueAt: (outer.now ?? 0) + deadlineMs,
      error: makeTimeout(deadlineMs),
      ...(first.endsRun === true ? { endsRun: true } : {}),
    }
    return outer.awaitToken(token, scope.signal, limit)
  }
  try {
    return translate(parts, call, await Promise.race([interrupted, settleOutcome()]))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function reportBug(cause: unknown): ToolOutcome {
  return { kind: 'failed', error: { code: 'execution_failed', message: describeCause(cause) } }
}

function translate(
  { maxResultBytes = MAX_RESULT_BYTES }: ToolProviderParts,
  call: ToolCall,
  outcome: ToolOutcome,
): EffectOutcome | Promise<EffectOutcome> {
  return checkSize(toEffectOutcome(outcome), maxResultBytes, call.tool)
}

function toEffectOutcome(outcome: ToolOutcome): EffectOutcome {
  switch (outcome.kind) {
    case 'result':
      return answered(outcome.value)
    case 'failed':
      return makeFailedOutcome(outcome.error)
    case 'rejected':
      return makeFailedOutcome({ code: outcome.code, message: outcome.message })
    case 'pending':
      return makeFailedOutcome({ code: 'execution_failed', message: 'a pending result cannot be pending again' })
  }
}

export type { CallScope, Executor, ExecutorName, ToolCall } from './executor.js'
export type { ToolOutcome } from './outcome.js'
export type { ScriptTool } from './harn.js'
export type { McpToolCaller } from './mcp.js'
