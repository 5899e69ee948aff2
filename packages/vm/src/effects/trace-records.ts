// Records of calls that a machine passes to MachineOptions.trace: one record per call, when its outcome is
// known to the script, in an order that depends only on the run. The listener returns nothing, so tracing changes nothing;
// hashing, redaction and storage are the host's (stdlib-tools/src/trace).

import type { Plain } from '../values/data.js'

export interface TraceRecord {
  readonly kind: 'tool_call'
  /** Tool id, or the name of the registry entry. */
  readonly tool: string
  readonly alias: string | null
  readonly version: string | null
  /** `harn`, `host_bridge` …; `builtin` for an effect that a builtin requested directly. */
  readonly executor: string
  readonly callId: string
  /** The call within which this one was made; null at the top. */
  readonly parent: string | null
  /** Number of the task. */
  readonly task: number
  readonly args: Plain
  /** Grants that applied, outermost first; null when none did. */
  readonly policy: Plain
  /** Names of arguments that the tool's schema marks as secret. */
  readonly secret: readonly string[]
  /** None for a cached result. */
  readonly attempts: number
  readonly cached?: boolean
  /** By the machine's clock. */
  readonly startedMs: number
  readonly endedMs: number
  readonly outcome:
    | { readonly ok: true; readonly value: Plain }
    | { readonly ok: false; readonly code: string; readonly message: string; readonly denied: boolean }
}
