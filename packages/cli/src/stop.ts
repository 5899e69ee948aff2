// Stops a run from outside: by the interrupt key, a termination request, or its time limit. The first signal stores the run
// if that was requested, and cancels it; a second one ends the process at once.

import { setMaxListeners } from 'node:events'
import { EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_TIMEOUT } from './errors.js'

/** The longest timer; a longer one would fire at once. */
export const LONGEST_MS = 2 ** 31 - 1

export class Stop {
  /** Exit code of a run that was stopped. */
  code = EXIT_INTERRUPTED
  complaint = ''
  /** Called before a run is cancelled. */
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
   * `firstYield`: signals are handled once `listen` is called, when the run first requests an effect or ends a slice. Until then no
   * handler could run, so the system ends the process as usual; a run that never gets there saves installing the handlers.
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

  /** Handles signals from now on; further calls do nothing. */
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
      // Every test of a suite may listen at the same time: that is not a leak.
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
    // A run that ended meanwhile has nothing to store or cancel.
    this.beforeCancel()
      .catch((cause: unknown) => {
        this.complaint += `error: no snapshot was written: ${cause instanceof Error ? cause.message : String(cause)}\n`
      })
      .finally(cancel)
  }
}
