// Cancellation of runs. An AbortSignal is one of these; a run's own is not, because making the first AbortController of a process
// takes several milliseconds in Node, and most runs are never cancelled.

/** The part of AbortSignal that is needed here. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  readonly addEventListener: (type: 'abort', listener: () => void, options?: { readonly once?: boolean }) => void
  readonly removeEventListener: (type: 'abort', listener: () => void) => void
}

export class Cancellation implements CancelSignal {
  aborted = false
  reason: unknown = undefined
  private readonly listeners = new Set<() => void>()

  /** Tells each listener once; the first reason stays. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of this.listeners) listener()
    this.listeners.clear()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener)
  }
}
