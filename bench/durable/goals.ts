// What durable runs should cost, and what the prototype had: two shared cores, Node 20, a quiet disk that flushes in 0.18 ms.

export interface Goal {
  readonly what: string
  /** Null: only reported. */
  readonly goal: number | null
  readonly prototype: number | null
  /** The goal is a least amount, and not a most. */
  readonly isAtLeast?: boolean
}

export type GoalName =
  | 'alone'
  | 'effects'
  | 'effects_cpu'
  | 'reads'
  | 'disk'
  | 'wake_p50'
  | 'wake_p95'
  | 'idle'
  | 'resident'
  | 'takeover_block'
  | 'takeover'
  | 'fair'

export const GOALS: { readonly [Name in GoalName]: Goal } = {
  alone: { what: 'an effect alone, beyond a flush (ms)', goal: 0.6, prototype: 0.45 },
  effects: { what: 'effects a second, 1,000 runs of 10, each flushed', goal: 5000, prototype: 8773, isAtLeast: true },
  effects_cpu: { what: 'processor time of one of them (µs)', goal: null, prototype: 157 },
  reads: { what: '100 reads and a write (commits)', goal: 2, prototype: 2 },
  disk: { what: '1,000,000 parked runs on disk (MiB, scaled)', goal: 1024, prototype: 272 },
  wake_p50: { what: 'from the answer to the end of a parked run, half of them (ms)', goal: 5, prototype: 1.2 },
  wake_p95: { what: 'and 95 of 100 (ms)', goal: 15, prototype: null },
  idle: { what: 'processor while nothing happens (%)', goal: 1, prototype: null },
  resident: { what: 'resident memory with the parked runs (MiB)', goal: 250, prototype: 189 },
  takeover_block: { what: 'longest block of the loop at the takeover of 10,000 runs (ms)', goal: 50, prototype: null },
  takeover: { what: 'the whole takeover (ms)', goal: null, prototype: null },
  fair: { what: '20 runs of a small tenant behind 2,000 of another (ms)', goal: 500, prototype: 217 },
}
