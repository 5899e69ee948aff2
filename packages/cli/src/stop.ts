// Ends a run from outside: the interrupt key, a termination request, or its time. The first signal lets the run be written down
// where that was asked for, and cancels it; a second one does not wait for anything.

import { EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_TIMEOUT } from './errors.js'

export class Stop {
  readonly signal: AbortSignal
  /** Exit code of a run that was stopped. */
  code = EXIT_INTERRUPTED
  complaint = ''
  /** What is done with a run that is to be stopped, before it is cancelled. */
  beforeCancel: (() => Promise<void>) | null = null
  private stopping = false
  private readonly abort = new AbortController()
  private readonly timer: NodeJS.Timeout | null
  private readonly onInterrupt = (): void => this.stop(EXIT_INTERRUPTED, 'interrupted', true)
  private readonly onTerminate = (): void => this.stop(EXIT_TERMINATED, 'terminated', true)

  constructor(timeoutMs: number | null) {
    this.signal = this.abort.signal
    process.on('SIGINT', this.onInterrupt)
    process.on('SIGTERM', this.onTerminate)
    this.timer =
      timeoutMs === null
        ? null
        : setTimeout(() => this.stop(EXIT_TIMEOUT, `the run took longer than ${timeoutMs} ms`, false), timeoutMs)
  }

  end(): void {
    process.off('SIGINT', this.onInterrupt)
    process.off('SIGTERM', this.onTerminate)
    if (this.timer !== null) clearTimeout(this.timer)
  }

  private stop(code: number, reason: string, bySignal: boolean): void {
    if (this.stopping) {
      if (bySignal) process.exit(code)
      return
    }
    this.stopping = true
    this.code = code
    this.complaint = `error: ${reason}\n`
    const cancel = (): void => this.abort.abort(new Error(reason))
    if (this.beforeCancel === null) return cancel()
    // A run that ended in the meantime has nothing to write down, and nothing to cancel.
    this.beforeCancel()
      .catch((cause: unknown) => {
        this.complaint += `error: no snapshot was written: ${cause instanceof Error ? cause.message : String(cause)}\n`
      })
      .finally(cancel)
  }
}
