// Connects tools that answered `pending` with the calls that wait for their results.

import { SIGNAL_TOKEN } from './completion-keys.js'
import type { ToolOutcome } from './outcome.js'

const MOST_ANSWERED = 10_000

/** A token of one run, where several share the place of answers. */
export function scopeToken(runId: string, token: string): string {
  return `${runId}\n${token}`
}

/** No answer in time; the waiting call decides what that means. */
export const LATE: ToolOutcome = { kind: 'rejected', code: 'timeout', message: 'nobody answered in time' }

/** Late results of tools that answered `pending`, by token. */
export class PendingResults {
  private readonly waiting = new Map<string, Set<(outcome: ToolOutcome) => void>>()
  /** Results that came before anyone waited, as they may after a restore. */
  private readonly early = new Map<string, ToolOutcome>()

  /** Answers to keys, which count once; the oldest is forgotten first. */
  private readonly answered = new Map<string, ToolOutcome>()

  /** `known`: it was answered before; the first answer stays. */
  resolve(token: string, outcome: ToolOutcome): 'kept' | 'known' {
    if (this.answered.has(token)) return 'known'
    this.answered.set(token, outcome)
    for (const oldest of this.answered.keys()) {
      if (this.answered.size <= MOST_ANSWERED) break
      this.answered.delete(oldest)
    }
    for (const finish of [...(this.waiting.get(token) ?? [])]) finish(outcome)
    return 'kept'
  }

  /** The next signal of a name: they are counted and queued. */
  signal(runId: string, name: string, outcome: ToolOutcome): void {
    let ordinal = 1
    while (this.answered.has(scopeToken(runId, `${SIGNAL_TOKEN}${name}#${ordinal}`))) ordinal++
    this.resolve(scopeToken(runId, `${SIGNAL_TOKEN}${name}#${ordinal}`), outcome)
  }

  complete(token: string, outcome: ToolOutcome): void {
    const waiters = this.waiting.get(token)
    if (waiters === undefined) this.early.set(token, outcome)
    else for (const finish of [...waiters]) finish(outcome)
  }

  wait(token: string, signal: AbortSignal): Promise<ToolOutcome> {
    const answered = this.answered.get(token)
    if (answered !== undefined) return Promise.resolve(answered)
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
      // Several: runs that continue from one snapshot wait for the same answer.
      const waiters = this.waiting.get(token) ?? new Set()
      this.waiting.set(token, waiters.add(finish))
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
