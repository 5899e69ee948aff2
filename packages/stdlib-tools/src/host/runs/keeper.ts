// Stored runs of a runtime: takes the lease of a new run, and continues runs without a worker. A
// run is found again by playing its journal, with nothing performed, to the place where that ends (replay.ts with `isOpen`); from there
// it is a run like any other, whose journal continues behind the old one.

import { fromPlain } from '@bridle/vm'
import type { Effect, Limits, Plain, Value } from '@bridle/vm'
import { systemClock } from '../../library/time/host-clock.js'
import type { Clock } from '../../library/time/host-clock.js'
import type { DriveEnd } from '../machine-driver.js'
import type { AnswerEffect, ArrivedAnswer, BegunCalls, DrivenMachine } from '../machine.js'
import { decodeJournal, encodeEntry, findLastAuthority } from '../journal.js'
import type { Journal, JournalEntry } from '../journal.js'
import type { HashHex } from '../journal-trace.js'
import { describeCause } from '../../tools/executors/provider.js'
import { replay } from '../replay.js'
import type { Run } from '../run.js'
import type { RunAuthority } from '../run-authority.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import type { Host } from '../../tools/host-tools/host.js'
import type { Lease } from './store.js'
import { DEFAULT_LEASE_MS, mayRepeat, decideOutcome, makeRecordingJournal, listBegunCalls, makeUnknownCall } from './worker.js'
import type { RunKeeping, UnknownCall, UnknownDecision } from './worker.js'

/** What became of a run that `recover` found. */
export type Recovered =
  | { readonly kind: 'resumed'; readonly runId: string; readonly run: Run }
  /** The host left it for later (`hold`), because of this call; it is free for any worker. */
  | { readonly kind: 'held'; readonly runId: string; readonly call: UnknownCall }
  /** It had ended, and only its end was not recorded. */
  | { readonly kind: 'ended'; readonly runId: string; readonly status: DriveEnd['kind'] }
  /**
   * It cannot be continued by this host: it never began, its sources no longer compile, the program does something else now, or a tool is
   * missing. It is kept, and a later `recover` tries it again.
   */
  | { readonly kind: 'failed'; readonly runId: string; readonly reason: string }
  /** The store, or the host's decision on a call, raised `error`. The run can be recovered when its lease is over. */
  | { readonly kind: 'unavailable'; readonly runId: string; readonly error: unknown }

/** What a run began with, beside its program. */
export interface RunBeginning {
  readonly runId: string
  readonly input: Plain
  readonly globals: { readonly [name: string]: Value }
  readonly limits: Partial<Limits>
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** What it was allowed, at first and where its journal ends; null: that does not say. */
  readonly authority: RunAuthority | null
  readonly lastAuthority: RunAuthority | null
  readonly dryRun: boolean
}

/** The runtime, as far as it is needed here. */
export interface KeeperParts<M> {
  readonly host: Host
  readonly hashHex: HashHex
  readonly moduleOf: (entries: readonly JournalEntry[]) => M
  /** The tool of a host that an effect calls and this one does not have; null when there is none. */
  readonly findMissingTool: (effect: Effect) => string | null
  /** Raises SnapshotError where this host cannot say what the run may do, ToolError where it lacks a tool of the program. */
  readonly check: (began: RunBeginning, module: M) => void
  readonly machine: (module: M, began: RunBeginning, answer: AnswerEffect) => DrivenMachine
  /** The same machine under another authority. */
  readonly restored: (
    module: M,
    began: RunBeginning,
    answer: AnswerEffect,
    at: { readonly machine: DrivenMachine; readonly authority: RunAuthority },
  ) => DrivenMachine
  readonly launch: (
    module: M,
    began: RunBeginning,
    state: {
      readonly machine: Uint8Array
      readonly output: string
      readonly arrived: readonly ArrivedAnswer[]
      readonly begun: BegunCalls
      readonly journal: Journal
    },
  ) => Run
}

export class RunKeeper {
  private readonly keeping: RunKeeping & { readonly owner: string; readonly leaseMs: number }
  private readonly clock: Clock
  /** Runs that continue in this process. */
  private readonly active = new Set<string>()

  constructor(keeping: RunKeeping, name: string, clock: Clock = systemClock()) {
    this.keeping = { ...keeping, owner: keeping.owner ?? name, leaseMs: keeping.leaseMs ?? DEFAULT_LEASE_MS }
    this.clock = clock
  }

  /** The journal of a new run. Raises ToolError `store_unavailable` when the store has a run of that name. */
  begin(runId: string, and: Journal | undefined): Journal {
    const { store } = this.keeping
    const isKnown = (): boolean => store.read(runId).length > 0
    const lease = isKnown() ? null : this.claim(runId)
    // Another worker may have begun it, and given it back, between the look and the claim.
    const isTaken = lease !== null && isKnown()
    if (isTaken) store.release(lease)
    if (lease === null || isTaken) throw new ToolError('store_unavailable', `the store has a run ${runId} already`)
    return this.openJournal(lease, { and })
  }

  /** Continues each run without a worker. */
  recover<M>(
    parts: KeeperParts<M>,
    runIds: readonly string[] | undefined,
    decide: (call: UnknownCall) => UnknownDecision,
  ): readonly Recovered[] {
    const found: Recovered[] = []
    for (const { runId, ended } of this.keeping.store.list()) {
      if (ended !== null || this.active.has(runId) || runIds?.includes(runId) === false) continue
      // Of the runs before this one the caller needs the handles: an error must not take them along.
      try {
        const lease = this.claim(runId)
        if (lease !== null) found.push(this.goOn(parts, lease, decide))
      } catch (error) {
        found.push({ kind: 'unavailable', runId, error })
      }
    }
    return found
  }

  private claim(runId: string): Lease | null {
    const { store, owner, leaseMs } = this.keeping
    return store.claim(runId, { owner, now: this.clock.now(), leaseMs })
  }

  private openJournal(lease: Lease, more: { readonly isContinued?: boolean; readonly and?: Journal | undefined }): Journal {
    this.active.add(lease.runId)
    return makeRecordingJournal(this.keeping, lease, this.clock, { ...more, onClose: () => void this.active.delete(lease.runId) })
  }

  private goOn<M>(parts: KeeperParts<M>, lease: Lease, decide: (call: UnknownCall) => UnknownDecision): Recovered {
    const { store } = this.keeping
    const { runId } = lease
    // A store that fails now may be read later: that is raised, and gives no run up.
    const lines = store.read(runId)
    let entries: readonly JournalEntry[] = []
    try {
      entries = decodeJournal(lines.join('\n'))
    } catch (cause) {
      store.release(lease)
      return { kind: 'failed', runId, reason: describeCause(cause) }
    }
    let found: Exclude<Recovered, { readonly kind: 'unavailable' }>
    try {
      found = continueFrom(parts, entries, { runId, decide, journal: () => this.openJournal(lease, { isContinued: true }) })
    } catch (cause) {
      // It was not continued: another worker may be able to.
      if (!this.active.has(runId)) store.release(lease)
      throw cause
    }
    // Another version of the program or of Bridle may be able to continue with it, so it is kept; but it was not announced that a run without a
    // beginning was started.
    const hasBegun = entries.some((entry) => entry.type === 'start')
    if (found.kind === 'failed' && !hasBegun) store.release(lease, 'lost')
    else if (found.kind === 'failed' || found.kind === 'held') store.release(lease)
    if (found.kind === 'ended') {
      if (entries.at(-1)?.type !== 'end') store.append(lease, encodeEntry({ type: 'end', kind: found.status }))
      store.release(lease, found.status)
    }
    return found
  }
}

/** One run from its journal, to the place where that ends and on from there. Raises what `check` and `decide` raise. */
export function continueFrom<M>(
  parts: KeeperParts<M>,
  entries: readonly JournalEntry[],
  {
    runId = findRunId(entries),
    decide,
    journal,
  }: {
    readonly runId?: string
    readonly decide: (call: UnknownCall) => UnknownDecision
    /** Where the run is recorded from there; asked for when it continues. */
    readonly journal: () => Journal
  },
): Exclude<Recovered, { readonly kind: 'unavailable' }> {
  const makeFailed = (reason: string) => ({ kind: 'failed', runId, reason }) as const
  if (!entries.some((entry) => entry.type === 'start')) return makeFailed('the run never began')
  let module: M
  try {
    module = parts.moduleOf(entries)
  } catch (cause) {
    return makeFailed(describeCause(cause))
  }
  const began = readBeginning(runId, entries)
  parts.check(began, module)
  const end = replay({
    machine: (answer) => parts.machine(module, began, answer),
    restored: (before, authority, answer) => parts.restored(module, began, answer, { machine: before, authority }),
    entries,
    hashHex: parts.hashHex,
    isOpen: true,
  })
  if (end.kind === 'diverged') return makeFailed(end.divergence.message)
  if (end.kind === 'ended') return { kind: 'ended', runId, status: end.end.kind }
  const { machine, output } = end
  if (machine === null) return makeFailed('the run stopped before its journal did')
  for (const { effect } of machine.pendingEffects?.() ?? []) {
    const tool = parts.findMissingTool(effect)
    if (tool !== null) return makeFailed(`this host has no tool ${JSON.stringify(tool)}, which the run has called`)
  }
  const begun = listBegunCalls(entries)
  const arrived: ArrivedAnswer[] = []
  for (const { id, effect } of machine.pendingEffects?.() ?? []) {
    const known = begun.get(id)
    if (known === undefined || known.token !== null || mayRepeat(effect, parts.host)) continue
    const call = makeUnknownCall(runId, id, effect)
    const decision = decide(call)
    if (decision === 'hold') return { kind: 'held', runId, call }
    const outcome = decideOutcome(call, decision)
    if (outcome !== null) arrived.push({ id, outcome })
  }
  const state = { machine: machine.snapshot(), output, arrived, begun, journal: journal() }
  return { kind: 'resumed', runId, run: parts.launch(module, began, state) }
}

function findRunId(entries: readonly JournalEntry[]): string {
  return entries.find((entry) => entry.type === 'run')?.runId ?? ''
}

function readBeginning(runId: string, entries: readonly JournalEntry[]): RunBeginning {
  const began = entries.find((entry) => entry.type === 'start')!
  const head = entries.find((entry) => entry.type === 'run')
  const told = { authority: head?.authority ?? null, lastAuthority: findLastAuthority(entries), dryRun: head?.dryRun === true }
  const globals = Object.entries(began.globals ?? {}).map(([name, value]) => [name, fromPlain(value)] as const)
  return {
    runId,
    input: began.input,
    globals: Object.fromEntries(globals),
    limits: { ...began.limits },
    startedAt: began.now,
    ...told,
  }
}
