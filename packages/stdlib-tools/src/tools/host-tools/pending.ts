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
  /** Nobody waits longer than this. */
  readonly deadlineMs?: number
  /** What ends then: the call, with `timeout`, or the whole run. `error` when absent. */
  readonly onTimeout?: 'error' | 'fail-run'
}
