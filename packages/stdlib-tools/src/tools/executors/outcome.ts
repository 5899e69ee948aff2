// What a tool call came to, as executors say it. Below all that carries calls out and all that asks for them.

import type { Plain } from '@bridle/vm'

export type ToolOutcome =
  | { readonly kind: 'result'; readonly value: Plain }
  | { readonly kind: 'failed'; readonly error: ToolErrorData }
  /** Not carried out at all, by decision. */
  | { readonly kind: 'rejected'; readonly code: string; readonly message: string; readonly hint?: string }
  /** Comes later, from outside, under this token. */
  | {
      readonly kind: 'pending'
      readonly token: string
      /** The maximum wait. */
      readonly deadlineMs?: number
      /** The run ends then, and not the call alone. */
      readonly endsRun?: boolean
    }

export interface ToolErrorData {
  readonly code: string
  readonly message: string
  readonly retryAfterMs?: number
  readonly details?: Plain
}
