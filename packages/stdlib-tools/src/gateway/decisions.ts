// Runs that wait, and what people answered on the page while no client was asking: a client that comes back takes the answer.

import { decodePending } from '../ai/pending-runs.js'
import type { PendingRun, PendingStore } from '../ai/pending-runs.js'
import type { Answer } from '../tools/policy/answers.js'

const MARK = '-answers'

export interface WaitingRun extends PendingRun {
  readonly token: string
}

export class Decisions {
  readonly store: PendingStore

  constructor(store: PendingStore) {
    this.store = store
  }

  /** Unanswered runs; empty for a store that cannot list. */
  async list(): Promise<readonly WaitingRun[]> {
    const tokens = (await this.store.list?.()) ?? []
    const waiting = tokens.filter((token) => !token.endsWith(MARK) && !tokens.includes(`${token}${MARK}`))
    const found: WaitingRun[] = []
    for (const token of waiting) {
      const run = await this.find(token)
      if (run !== null) found.push({ token, ...run })
    }
    return found
  }

  async find(token: string): Promise<PendingRun | null> {
    const record = token.endsWith(MARK) ? null : await this.store.load(token)
    return record === null ? null : decodePending(record)
  }

  async decide(token: string, answers: { readonly [id: string]: Answer }): Promise<void> {
    await this.store.save(`${token}${MARK}`, new TextEncoder().encode(JSON.stringify(answers)))
  }

  /** Returns the answer once, to one caller; null without an answer. */
  async take(token: string): Promise<{ readonly [id: string]: Answer } | null> {
    const record = await this.store.take(`${token}${MARK}`)
    return record === null ? null : (JSON.parse(new TextDecoder().decode(record)) as { readonly [id: string]: Answer })
  }
}
