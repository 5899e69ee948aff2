// What a tool returns whose result comes later.

/** A tool returns this to say that its result comes later, under this token. */
export class Pending {
  readonly token: string
  readonly limits: PendingLimits

  constructor(token: string, limits: PendingLimits = {}) {
    this.token = token
    this.limits = limits
  }
}

export interface PendingLimits {
  /** The maximum wait. */
  readonly deadlineMs?: number
  /** What ends then: the call, with `timeout`, or the whole run. `error` when absent. */
  readonly onTimeout?: 'error' | 'fail-run'
  /**
   * When the run ends before the answer: `cancel` (the default) reports to a late answer that nobody waits, `ignore` is for work that continues
   * whoever waits, and a tool is called to end the work that was begun outside.
   */
  readonly onCancel?: 'cancel' | 'ignore' | { readonly tool: string; readonly args?: { readonly [key: string]: unknown } }
  /** An event that the run emits with the commit that says that it waits. */
  readonly announcement?: { readonly type: string; readonly payload?: unknown }
}
