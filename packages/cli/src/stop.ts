// Ends a run from outside: the interrupt key, a termination request, or its time. The first signal lets the run be written down
// where that was asked for, and cancels it; a second one does not wait for anything.

import { setMaxListeners } from 'node:events'
import { EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_TIMEOUT } from './errors.js'

/** The longest time of a timer; one of more would end at once. */
export const LONGEST_MS = 2 ** 31 - 1

export class Stop {
  /** Exit code of a run that was stopped. */
  code = EXIT_INTERRUPTED
  complaint = ''
  /** What is done with a run that is to be stopped, before it is cancelled. */
  beforeCancel: (() => Promise<void>) | null = null
  /** Cancels the run. */
  onCancel: ((reason: string) => void) | null = null
  private reason: string | null = null
  private stopping = false
  private controller: AbortController | null = null
  private readonly timer: NodeJS.Timeout | null
  private listening = false
  private readonly onInterrupt = (): void => this.stop(EXIT_INTERRUPTED, 'interrupted', true)
  private readonly onTerminate = (): void => this.stop(EXIT_TERMINATED, 'terminated', true)

  /**
   * `firstYield`: signals are heeded once `listen` is called, which is when the run first reaches the world or gives the thread away. Until then no
   * handler could run, so that the system ends the process as it does any other; a run that never gets there saves making the handlers.
   */
  constructor(timeoutMs: number | null, from: 'now' | 'firstYield' = 'now') {
    if (from === 'now') this.listen()
    this.timer =
      timeoutMs === null
        ? null
        : setTimeout(
            () => this.stop(EXIT_TIMEOUT, `the run took longer than ${timeoutMs} ms`, false),
            Math.min(timeoutMs, LONGEST_MS),
          )
  }

  /** Heeds signals from now on; again does nothing. */
  listen(): void {
    if (this.listening) return
    this.listening = true
    process.on('SIGINT', this.onInterrupt)
    process.on('SIGTERM', this.onTerminate)
  }

  /** Aborts when the run is to be cancelled. */
  get signal(): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController()
      // Every test of a suite may listen at the same time: that is no leak.
      setMaxListeners(0, this.controller.signal)
    }
    if (this.reason !== null) this.controller.abort(new Error(this.reason))
    return this.controller.signal
  }

  get isCancelled(): boolean {
    return this.reason !== null
  }

  end(): void {
    if (this.listening) {
      process.off('SIGINT', this.onInterrupt)
      process.off('SIGTERM', this.onTerminate)
    }
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
    const cancel = (): void => {
      this.reason = reason
      this.controller?.abort(new Error(reason))
      this.onCancel?.(reason)
    }
    if (this.beforeCancel === null) return cancel()
    // A run that ended in the meantime has nothing to write down, and nothing to cancel.
    this.beforeCancel()
      .catch((cause: unknown) => {
        this.complaint += `error: no snapshot was written: ${cause instanceof Error ? cause.message : String(cause)}\n`
      })
      .finally(cancel)
  }
}
