// What comes back from the effects by which tools and the embedding program are reached: `tool.call`, `host.call`, `host.tool`. Keys are
// snake_case, as in every serialised record. The answer to `tool.call` is the tool's result. A failure is an EffectError of kind `thrown`
// whose `value` is a ToolFailureRecord; other errors count as code `execution_failed`.

import type { Plain } from '@bridle/vm/families'

export type NestedOutcome =
  /** Without `value` where that is not data. */
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

/** `handled: false` says that the embedding program does not know the operation; built-in fallbacks are tried then. */
export interface HostCallResult {
  readonly handled: boolean
  readonly value?: Plain
}

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
