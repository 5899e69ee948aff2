// Outcomes of a session's effects. Each entry runs the session again from the start, and repeated effects get their earlier
// outcomes: nothing is written, sent or waited for twice. Outcomes are stored by request and count.

import type { Clock, Provider, ProviderSource } from '@bridle/stdlib-tools'
import { systemClock } from '@bridle/stdlib-tools'
import type { Effect, EffectOutcome } from '@bridle/vm'

export class Memory {
  private readonly kept = new Map<string, EffectOutcome[]>()
  private fresh: [key: string, outcome: EffectOutcome][] = []
  private asked = new Map<string, number>()
  private keptWaits = 0
  private waits = 0
  private skippedMs = 0

  /** Before a run. */
  begin(): void {
    this.asked = new Map()
    this.fresh = []
    this.waits = 0
    this.skippedMs = 0
  }

  /** After a run that becomes part of the session. */
  keep(): void {
    for (const [key, outcome] of this.fresh) {
      const known = this.kept.get(key)
      if (known === undefined) this.kept.set(key, [outcome])
      else known.push(outcome)
    }
    this.fresh = []
    this.keptWaits = this.waits
  }

  forget(): void {
    this.kept.clear()
    this.keptWaits = 0
    this.begin()
  }

  wrap(source: ProviderSource): ProviderSource {
    return typeof source === 'function' ? (run) => this.wrapProvider(source(run)) : this.wrapProvider(source)
  }

  private wrapProvider(provider: Provider): Provider {
    return {
      ...provider,
      ...(provider.close === undefined ? {} : { close: () => provider.close?.() }),
      perform: (effect, call) => {
        const key = makeKey(effect)
        const times = this.asked.get(key) ?? 0
        this.asked.set(key, times + 1)
        const known = this.kept.get(key)?.[times]
        if (known !== undefined) return known
        const outcome = provider.perform(effect, call)
        if (!(outcome instanceof Promise)) return this.note(key, outcome)
        return outcome.then((settled) => this.note(key, settled))
      },
    }
  }

  private note(key: string, outcome: EffectOutcome): EffectOutcome {
    this.fresh.push([key, outcome])
    return outcome
  }

  /** Waits of earlier entries take no time. */
  makeClock(): Clock {
    const system = systemClock()
    const now = (): number => system.now() + this.skippedMs
    return {
      virtual: false,
      now,
      until: async (dueMs, signal) => {
        if (this.waits++ < this.keptWaits) this.skippedMs += Math.max(0, dueMs - now())
        else await system.until(dueMs - this.skippedMs, signal)
      },
    }
  }
}

function makeKey({ kind, args }: Effect): string {
  return `${kind} ${JSON.stringify(args, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`
}
