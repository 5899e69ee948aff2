// The records of the effects by which tools and the embedding program are reached: `tool.call`, `host.call`, `host.tool`.
// Keys are snake_case, as in every serialised record. The issuing side is tools/dispatch/dispatch.ts and tools/dispatch/host-call.ts;
// providers answer with what is described here.

import type { CallTarget, OutsideExecutor } from '@bridle/compiler/grants'
import type { Plain } from '@bridle/vm/families'

/**
 * Effect `tool.call`: one attempt of one call. `call_id` and `idempotency_key` stay the same over attempts. The answer is the
 * tool's result. A failure is an EffectError of kind `thrown` whose `value` is a ToolFailureRecord; other errors count as
 * code `execution_failed`.
 *
 * The target is `host_capability`, a bridge identifier such as `interaction.ask`, null for a tool that the embedding program knows by its
 * name; or `mcp_server`, the name of a configured server, with `mcp_tool`, the name that it knows the tool by; null for the others.
 */
export type ToolCallArgs = CallTarget & {
  readonly executor: OutsideExecutor
  readonly tool: string
  /** Key of what the call comes down to, as it was judged (tools/dispatch/identity.ts). */
  readonly identity: string
  readonly args: Plain
  readonly call_id: string
  /** Counts from 1. */
  readonly attempt: number
  /** The first attempt and every retry that its policy allows. */
  readonly max_attempts: number
  readonly idempotency_key: string
  /** SHA-256 of the sorted JSON of `args`, hex. */
  readonly arg_hash: string
  readonly timeout_ms: number | null
  /** Grants that the call passed, outermost first; for executors that go on to other addresses or paths. Absent without any. */
  readonly grants?: Plain
}

export type NestedOutcome =
  /** Without `value` where that is no data. */
  | { readonly ok: true; readonly value?: Plain }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly details?: Plain; readonly denied: boolean }

/** `code` is one of `ToolErrorCode`; unknown codes are kept and have category `generic`. */
export interface ToolFailureRecord {
  readonly name: 'ToolError'
  readonly code: string
  readonly message: string
  readonly retryable?: boolean
  readonly retry_after_ms?: number
  readonly details?: Plain
}

/** Effect `host.call`: `capability.operation` of the embedding program. `name` is the two joined by a dot. */
export type HostCallArgs = {
  readonly name: string
  readonly capability: string
  readonly operation: string
  readonly params: Plain
}

/** `handled: false` says that the embedding program does not know the operation; built-in fallbacks are tried then. */
export interface HostCallResult {
  readonly handled: boolean
  readonly value?: Plain
}

/** Effect `host.tool`: the tools of an attached host. `list` answers as a list of tools, or as an object with such a list. */
export type HostToolArgs = { readonly op: 'list' } | { readonly op: 'call'; readonly name: string; readonly args: Plain }

/** `attached: false`: there is no host bridge. */
export interface HostToolResult {
  readonly attached: boolean
  readonly value?: Plain
}

/** Capabilities of an embedding program: their operations with a line about each. */
export interface HostCapabilities {
  readonly [capability: string]: {
    readonly description: string
    readonly operations: { readonly [operation: string]: string }
  }
}
