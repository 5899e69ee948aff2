// Where tools that answered `pending` find whoever waits for their results.

import type { ToolOutcome } from './outcome.js'

/** Late results of tools that answered `pending`, by token. */
export class PendingResults {
  private readonly waiting = new Map<string, Set<(outcome: ToolOutcome) => void>>()
  /** Results that came before anyone waited, as they may after a restore. */
  private readonly early = new Map<string, ToolOutcome>()

  complete(token: string, outcome: ToolOutcome): void {
    const waiters = this.waiting.get(token)
    if (waiters === undefined) this.early.set(token, outcome)
    else for (const finish of [...waiters]) finish(outcome)
  }

  wait(token: string, signal: AbortSignal): Promise<ToolOutcome> {
    const early = this.early.get(token)
    if (early !== undefined) {
      this.early.delete(token)
      return Promise.resolve(early)
    }
    return new Promise((resolve) => {
      const finish = (outcome: ToolOutcome): void => {
        const others = this.waiting.get(token)
        others?.delete(finish)
        if (others?.size === 0) this.waiting.delete(token)
        signal.removeEventListener('abort', onAbort)
        resolve(outcome)
      }
      const onAbort = (): void => finish({ kind: 'failed', error: { code: 'cancelled', message: 'the call was cancelled' } })
      // Several: runs that go on from one snapshot wait for the same answer.
      const waiters = this.waiting.get(token) ?? new Set()
      this.waiting.set(token, waiters.add(finish))
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
