// Reports of a script's progress to its host, in addition to its output: `progress(…)` and the structured log
// functions. A report is not stored: it is not an effect, is not journalled, and nothing that a host does with it can reach
// the run. A served script's reports become notifications to the client that asked (stdlib-tools, mcp/ and bridge/).

import type { Plain } from '@bridle/vm/families'

/** Least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type Report =
  | {
      readonly kind: 'progress'
      /** The task that reports; tasks of one call to a served script share the beginning of their ids. */
      readonly taskId: string
      readonly phase: string
      readonly message: string
      /** How far it is, in units of `total`; percent when there is no total. Null when the script does not say. */
      readonly current: number | null
      readonly total: number | null
    }
  | {
      readonly kind: 'log'
      readonly taskId: string
      readonly level: LogLevel
      readonly message: string
      readonly fields: { readonly [name: string]: Plain }
    }
  /** Events of an agent loop for subscribers of its session: `{type, session_id, …}`. */
  | { readonly kind: 'agent'; readonly taskId: string; readonly event: Plain }
