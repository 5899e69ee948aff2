// Options of a gateway, and the questions it asks.

import type { PendingStore } from '../ai/pending-runs.js'
import type { TraceOptions } from '../host/trace/recorder.js'
import type { JsonObject } from '../mcp/server-protocol.js'
import type { ToolHashes } from '../tools/definitions/pins.js'

export interface GatewayOptions {
  /** Where runs that wait for a person are kept; in memory when absent. */
  readonly store?: PendingStore
  /** What was accepted of tools; tools are as their servers list them when absent. */
  readonly accepted?: AcceptedStore
  /** Where the trace of each run goes. */
  readonly tracing?: (runId: string) => TraceOptions
  /** The page on which a person answers, for clients without forms. */
  readonly page?: () => string | null
  /** Called with the reason why a server or tool is unavailable. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof globalThis.fetch
  /** Folder of server processes, and of relative paths of the configuration. */
  readonly cwd?: string
  readonly now?: () => number
}

/** `tools` of a lock file (docs/tools/lock.md), by `mcp:SERVER/TOOL`. */
export type AcceptedTools = { readonly [key: string]: ToolHashes }

export interface AcceptedStore {
  /** Null: nothing was accepted yet. */
  readonly load: () => AcceptedTools | null
  readonly save: (tools: AcceptedTools) => void
}

/** A tool that a person has to look at before scripts see it. */
export interface ToolChange {
  readonly key: string
  readonly server: string
  readonly listed: JsonObject
  /** As the end of a sentence. */
  readonly problem: string
}
