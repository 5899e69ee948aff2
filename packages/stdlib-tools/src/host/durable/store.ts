// Where durable runs are kept: a row for each, the journal of what happened since its last snapshot, and answers from outside. A store answers
// with promises, so that commits of many runs can share a flush, and so that it may lie behind a network.
//
// A worker holds a lease: one row and one heartbeat for any number of runs. Each commit checks it in its transaction; that is the
// fence, so a worker without a lease cannot change anything.

import type { TenantQuota } from './quotas.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import type { ProgramSources } from '../modules.js'

export type RunState = 'ready' | 'running' | 'parked' | 'ended' | 'stuck'

export interface NewRun {
  readonly runId: string
  readonly tenant: string
  readonly program: NewProgram
  /** Tools of the host that a worker needs. */
  readonly tools: readonly string[]
  /** Journal lines that the run begins with: its head and its start. */
  readonly head: readonly string[]
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Whether the whole journal is kept, for replays, forks and migrations, and not only what came since the last snapshot. */
  readonly isArchived: boolean
}

/** Kept once for all its runs. */
export interface NewProgram {
  readonly hash: string
  readonly label: string
  readonly sources: ProgramSources
}

/** What a run becomes. */
export type MigratedProgram = Pick<NewRun, 'program' | 'tools' | 'head'>

/** What a worker receives for a run that it takes. */
export interface TakenRun {
  readonly runId: string
  readonly tenant: string
  readonly program: string
  readonly startedAt: number
  readonly isArchived: boolean
  /** Head and start; empty where a snapshot stands in their place. */
  readonly head: readonly string[]
  readonly snapshot: Uint8Array | null
  /** Since the snapshot. */
  readonly lines: readonly string[]
  /** Time limits of tokens at the snapshot; JSON of the worker's own. */
  readonly tokens: string
  readonly signals: readonly Signal[]
  /** Of its tenant; stores without quotas leave it out. */
  readonly quota?: TenantQuota
  /** How long it was ready and waited for a worker. */
  readonly queuedMs?: number
  /** Number of the last event that it has emitted; 0 without one. */
  readonly lastEvent: number
}

export interface Signal {
  readonly runId: string
  readonly token: string
  readonly line: string
}

export type Change =
  | { readonly do: 'append'; readonly runId: string; readonly lines: readonly string[] }
  /** Unanswered tokens that are no longer awaited: later answers are reported as such. */
  | { readonly do: 'close'; readonly runId: string; readonly tokens: readonly string[] }
  /** The journal so far is replaced by a snapshot; `used`: tokens whose answers are in it. */
  | ({ readonly do: 'checkpoint'; readonly runId: string } & Kept)
  /** The run is parked until one of its tokens is answered, or `wakeAt` is reached. */
  | ({ readonly do: 'park'; readonly runId: string; readonly wakeAt: number | null } & Kept)
  | { readonly do: 'end'; readonly runId: string; readonly status: string; readonly result: string }
  /** Stays stuck until `retry`. */
  | { readonly do: 'stuck'; readonly runId: string; readonly reason: string }
  /** The run begins anew, with this for its head; nothing else of it is kept but signals that came. */
  | {
      readonly do: 'again'
      readonly runId: string
      readonly head: readonly string[]
      readonly used: readonly string[]
      readonly signals: { readonly [name: string]: number }
    }
  | ({ readonly runId: string } & LinkedChange)
  /** Free for a worker that has these tools as well. */
  | { readonly do: 'release'; readonly runId: string; readonly tools: readonly string[] }

/** What a run does outside of itself, together with what entered it. */
export type LinkedChange =
  /** `program` is that of the run itself, with another pipeline. Its end answers the token `run:ID` of the run. */
  | {
      readonly do: 'start'
      readonly run: Omit<NewRun, 'tenant' | 'isArchived'>
      readonly onParentEnd: 'cancel' | 'abandon'
    }
  /** Of a run of the same tenant. */
  | { readonly do: 'signal'; readonly to: string; readonly token: string; readonly line: string }
  | { readonly do: 'cancel'; readonly to: string; readonly reason: string }
  /** What it says of itself; JSON. */
  | { readonly do: 'publish'; readonly name: string; readonly line: string }
  /** Its own event; one of the same number is kept. */
  | { readonly do: 'emit'; readonly sequence: number; readonly type: string; readonly line: string }

/** An event that a run has emitted; `line` is JSON. */
export interface RunEventRow {
  readonly sequence: number
  readonly type: string
  readonly line: string
  readonly at: number
}

interface Kept {
  readonly snapshot: Uint8Array
  /** `[[call, token, limit], …]` as JSON. */
  readonly tokens: string
  readonly used: readonly string[]
}

export interface RunRow {
  readonly runId: string
  readonly tenant: string
  readonly program: { readonly hash: string; readonly label: string }
  readonly state: RunState
  /** Name of the worker that has it; null when none does. */
  readonly worker: string | null
  readonly startedAt: number
  readonly updatedAt: number
  /** Milliseconds since 1970; null without a timer. */
  readonly wakeAt: number | null
  /** Tokens that it waits for. */
  readonly waitsFor: readonly string[]
  /** Tools that a worker needs. */
  readonly tools: readonly string[]
  /** How it ended, or why it is stuck; null otherwise. */
  readonly status: string | null
  /** JSON; null until it has ended. */
  readonly result: string | null
  /** Bytes of its snapshot, as they are kept. */
  readonly sizeBytes: number
  /** What it has published, by name; JSON. Absent from stores that keep none. */
  readonly published?: { readonly [name: string]: unknown }
  /** The parent run; null for a submitted run. */
  readonly parent?: string | null
}

export interface RunQuery {
  readonly state?: RunState
  readonly tenant?: string
  readonly program?: string
  readonly waitsFor?: string
  /** Begun at this time or later, milliseconds since 1970. */
  readonly since?: number
  /** The last id of the page before. */
  readonly after?: string
  readonly most: number
}

/** All that is kept of a run. */
export interface StoredRun {
  readonly row: RunRow
  readonly program: NewProgram
  readonly isArchived: boolean
  /** The journal from its beginning, where it is archived; else since the snapshot. */
  readonly journal: readonly string[]
  readonly snapshot: Uint8Array | null
}

export interface WorkerFacts {
  readonly name: string
  readonly leaseMs: number
  /** Tools of the host that runs may need; null: any. */
  readonly tools: readonly string[] | null
}

export interface TakeQuery {
  readonly now: number
  readonly most: number
  /** Tenants that have enough. */
  readonly busy: readonly string[]
  /** Only this run. */
  readonly runId?: string
}

export interface Taken {
  readonly runs: readonly TakenRun[]
  /** When the next timer of a parked run is due; null without one. */
  readonly nextWake: number | null
}

/** A worker in a store. Its lease ends when it was not renewed in time and another one took its runs. */
export interface StoreWorker {
  take(query: TakeQuery): Promise<Taken>
  /** All or nothing, kept when it resolves. Rejects with WorkerFenced when the worker, or the run, was given to another. */
  commit(changes: readonly Change[]): Promise<void>
  /** False if the worker lost its lease. */
  heartbeat(now: number): Promise<boolean>
  /** Answers that came for runs of this worker since the last look. */
  signals(): Promise<readonly Signal[]>
  /** Whether another process may have changed something since the last call; cheap. */
  hasChanged(): boolean
  /** Gives all runs back. */
  leave(): Promise<void>
}

export interface DurableStore {
  /** Stored when it resolves. A known id is not an error: its run is not changed. Returns the number of new runs. Rejects with QuotaExceeded: then none was stored. */
  submit(runs: readonly NewRun[], now: number): Promise<number>
  /** `known`: the token was answered before; `gone`: the token is not and will not be awaited, because the run has ended or never existed. */
  signal(runId: string, token: string, line: string, now: number): Promise<'kept' | 'known' | 'gone'>
  /** Ends a run; a run held by a worker is notified. False if it had ended. */
  cancel(runId: string, reason: string, now: number): Promise<boolean>
  /** A stuck run is ready again; false for any other. */
  retry(runId: string, now: number): Promise<boolean>
  /** A copy under another id, which continues from the last snapshot by itself; `gone` without one. */
  fork(runId: string, to: string, change: (snapshot: Uint8Array) => Uint8Array, now: number): Promise<'forked' | 'known' | 'gone'>
  /**
   * The run has another program from now on; the next worker replays its journal from the beginning. `changed`: somebody
   * works on it, or has done so since `seenAt` (its `updatedAt`); `gone`: it has ended, or its whole journal is not kept.
   */
  migrate(runId: string, to: MigratedProgram, seenAt: number, now: number): Promise<'migrated' | 'changed' | 'gone'>
  join(worker: WorkerFacts, now: number): Promise<StoreWorker>
  /** What signs keys of this store's runs, for hosts without their own ring; made once, the same for all who share the store. */
  secret(): Promise<string>
  program(hash: string): Promise<NewProgram | null>
  get(runId: string): Promise<RunRow | null>
  read(runId: string): Promise<StoredRun | null>
  list(query: RunQuery): Promise<readonly RunRow[]>
  /** Events that a run has emitted, behind a number, in order; stores that keep none lack it. */
  events?(runId: string, query: { readonly after: number; readonly most: number }): Promise<readonly RunEventRow[]>
  summarize(now: number): Promise<StoreSummary>
  /** Sets the quota of a tenant, or the default quota (null); a null quota removes it. Absent in stores without quotas. */
  setQuota?(tenant: string | null, quota: TenantQuota | null): Promise<void>
  quotaOf?(tenant: string): Promise<TenantQuota>
  /** Adds one to a counter of the summary. */
  count(counter: StoreCounter): Promise<void>
  /** Forgets runs that ended before; how many. */
  expire(endedBefore: number): Promise<number>
  close(): Promise<void>
}

/** What a store holds at a moment, for operators. */
export interface StoreSummary {
  readonly tenants: readonly TenantSummary[]
  readonly workers: readonly WorkerSummary[]
  /** Commits refused because the worker had lost its lease. */
  readonly fenced: number
  /** Calls with an unknown outcome. */
  readonly unknownOutcomes: number
}

export interface TenantSummary {
  readonly tenant: string
  readonly runs: { readonly [State in RunState]: number }
  /** Of snapshots, as they are kept. */
  readonly bytes: number
  /** How long the first of its ready runs has waited for a worker; null when none waits. */
  readonly oldestReadyMs: number | null
}

export interface WorkerSummary {
  readonly name: string
  readonly runs: number
  /** Milliseconds since 1970. */
  readonly leaseUntil: number
  readonly isGivenUp: boolean
  /** Its last commits, as it said when it renewed its lease; null before that. */
  readonly commitMs?: { readonly p50: number; readonly p95: number } | null
}

export type StoreCounter = 'fenced' | 'unknown_outcomes'

/** The worker lost its lease, or another worker holds the run: nothing was changed. */
export class WorkerFenced extends ToolError<'journal_lease_lost'> {
  constructor(message = 'another worker has taken over') {
    super('journal_lease_lost', message)
  }
}
