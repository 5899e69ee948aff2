// The one interface behind which a tool call is carried out outside the machine. An executor always settles and never throws
// for reasons of the tool: refusals and failures are outcomes. What it does not do: policy, retries, journal and schemas of
// the script's side; those are the dispatch in the machine.

import type { CallTarget, EXECUTORS, ExecutorName as AnyExecutor } from '@bridle/compiler/grants'
import type { Plain } from '@bridle/vm'
import type { NestedGate } from './provider.js'
import type { ToolOutcome } from './outcome.js'

/** What a call of a stream asks for: `open` is a call itself, the others are about one that is open. */
export type StreamRequest =
  | { readonly op: 'open' }
  /** `index`: chunks that were delivered; `most`: how many may come at once. */
  | { readonly op: 'next'; readonly index: number; readonly most: number }
  | { readonly op: 'close' }

/** Those with an implementation outside of the machine; a builtin behind a standard tool is called within. */
export type ExecutorName = {
  [Name in AnyExecutor]: (typeof EXECUTORS)[Name]['runs'] extends 'builtin' ? never : Name
}[AnyExecutor]

/** One attempt of one call. */
export interface ToolCall {
  readonly executor: ExecutorName
  readonly tool: string
  readonly args: { readonly [key: string]: Plain }
  /** Where it goes: `host_capability`, a bridge identifier `capability.operation`; `mcp_server`, and `mcp_tool`, its name there. */
  readonly target: Partial<CallTarget>
  readonly runId: string
  readonly callId: string
  readonly attempt: number
  readonly maxAttempts: number
  readonly idempotencyKey: string
  /** The call was begun before the run was restored, and may have been carried out. */
  readonly isAgain?: boolean
  readonly timeoutMs: number | null
  /** For calls of `tool_stream`: the requested part of the stream (executors/streams.ts). */
  readonly stream?: StreamRequest
  /** Context of the trace, for an MCP server. */
  readonly meta?: { readonly [key: string]: Plain }
  readonly progress: (data: unknown) => void
  /** Judges the calls that the tool makes itself; null where no run is around the call. */
  readonly nested?: NestedGate | null
}

/** What bounds one attempt. */
export interface CallScope {
  /** Aborts at the attempt's time limit, and when the run gives the call up. */
  readonly signal: AbortSignal
}

export interface Executor {
  readonly name: ExecutorName
  /** An outcome that is ready is used at once; the script's other tasks do not get a turn then. */
  readonly call: (call: ToolCall, scope: CallScope) => ToolOutcome | Promise<ToolOutcome>
  /** Whether a dry run may carry the call out. */
  readonly isReadOnly: (call: ToolCall, scope: CallScope) => boolean | Promise<boolean>
  /** Whether it serves `call.stream` itself; other calls give one chunk. */
  readonly streams?: (call: ToolCall) => boolean
  /** Ends what it keeps open for the run. */
  readonly close?: () => Promise<void>
}

export function makeResult(value: Plain): ToolOutcome {
  return { kind: 'result', value }
}

export function makeFailed(code: string, message: string, details?: Plain): ToolOutcome {
  return { kind: 'failed', error: details === undefined ? { code, message } : { code, message, details } }
}
