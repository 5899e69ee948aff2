// Where runs are kept so that they outlive their process: the journal of each, and who is working on it. A store is small on purpose;
// `storeConformance` is the contract as tests, for authors of stores.
//
// The worker of a run holds its lease. A lease that was not renewed in time may be taken over, which makes a new one with a higher
// number: later writes of the old holder are refused (`journal_lease_lost`). Time is given with each call, so that the clock of a
// runtime, and a virtual one in tests, decides. All calls are synchronous, because an entry must be kept before its effect happens.

import { ToolError } from '../../tools/host-tools/errors.js'

export interface Lease {
  readonly runId: string
  /** Counts the holders of a run from 1. */
  readonly fence: number
}

export interface Claim {
  /** The worker's id: unique to a process. */
  readonly owner: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly leaseMs: number
}

export interface RunFacts {
  readonly runId: string
  /** Null without a holder. */
  readonly owner: string | null
  /** When the lease ends, milliseconds since 1970; 0 without one. */
  readonly expiresAt: number
  /** How the run ended (`done`, `failed`, …), null while it has not. */
  readonly ended: string | null
}

export interface RunStore {
  /**
   * Takes a run that is new, was given back, whose lease has ended (`expiresAt <= now`), or that the same owner holds; null when another
   * holds it or it has ended.
   */
  claim(runId: string, claim: Claim): Lease | null
  /** Makes a lease last until `now + leaseMs`; false when it was lost. */
  renew(lease: Lease, now: number, leaseMs: number): boolean
  /** Gives a run back; with `ended` it cannot be claimed any more. A lost lease is not an error. */
  release(lease: Lease, ended?: string): void
  /** Adds one line to the journal (JSON: no line breaks, no control characters), kept when it returns. Raises ToolError `journal_lease_lost`. */
  append(lease: Lease, line: string): void
  /** The journal; empty for an unknown run. */
  read(runId: string): readonly string[]
  /** All runs, by id. */
  list(): readonly RunFacts[]
  /** Forgets a run and its journal; whether there was one. */
  remove(runId: string): boolean
  close?(): void
}

export function makeLeaseLost({ runId }: Lease): ToolError {
  return new ToolError('journal_lease_lost', `another worker has taken over the run ${runId}`)
}

interface MemoryRun {
  facts: RunFacts
  fence: number
  readonly lines: string[]
}

/** Runs in memory: for tests, and for one process with several workers. */
export function memoryRunStore(): RunStore {
  const runs = new Map<string, MemoryRun>()
  const findHeld = ({ runId, fence }: Lease): MemoryRun | null => {
    const run = runs.get(runId)
    return run !== undefined && run.fence === fence && run.facts.owner !== null && run.facts.ended === null ? run : null
  }
  return {
    claim(runId, claim) {
      const run = runs.get(runId) ?? { facts: { runId, owner: null, expiresAt: 0, ended: null }, fence: 0, lines: [] }
      if (!mayClaim(run.facts, claim)) return null
      run.fence++
      run.facts = { runId, owner: claim.owner, expiresAt: claim.now + claim.leaseMs, ended: null }
      runs.set(runId, run)
      return { runId, fence: run.fence }
    },
    renew(lease, now, leaseMs) {
      const run = findHeld(lease)
      if (run !== null) run.facts = { ...run.facts, expiresAt: now + leaseMs }
      return run !== null
    },
    release(lease, ended) {
      const run = findHeld(lease)
      if (run !== null) run.facts = { ...run.facts, owner: null, expiresAt: 0, ended: ended ?? null }
    },
    append(lease, line) {
      const run = findHeld(lease)
      if (run === null) throw makeLeaseLost(lease)
      run.lines.push(line)
    },
    read: (runId) => [...(runs.get(runId)?.lines ?? [])],
    list: () => [...runs.values()].map(({ facts }) => facts).sort(compareById),
    remove: (runId) => runs.delete(runId),
  }
}

/** The rule of `claim`. */
export function mayClaim({ owner, expiresAt, ended }: RunFacts, claim: Claim): boolean {
  return ended === null && (owner === null || owner === claim.owner || expiresAt <= claim.now)
}

export function compareById(a: RunFacts, b: RunFacts): number {
  return a.runId < b.runId ? -1 : 1
}
