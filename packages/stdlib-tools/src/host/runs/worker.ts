// Runs that outlive their process. While a run continues, its journal is in a store under a lease (`makeRecordingJournal`); what another process
// finds there it plays again to the place where the journal ends, and continues (`Runtime.recover`).
//
// A recorded call without an outcome may have happened. Reads, and tools with `safe` or `idempotent`, are called again
// with the same idempotency key; for everything else the host decides, and without a decision the script gets `unknown_outcome`.

import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import type { Clock } from '../../library/time/host-clock.js'
import type { BegunCall, BegunCalls } from '../machine.js'
import { encodeEntry } from '../journal.js'
import type { Journal, JournalEntry } from '../journal.js'
import { categorizedError } from '../../tools/executors/provider.js'
import { makeCall } from '../replay.js'
import { plainFromHost } from '../../tools/host-tools/edge.js'
import type { Host } from '../../tools/host-tools/host.js'
import type { Lease, RunStore } from './store.js'
import { EFFECTS } from '../../library/effects/index.js'

/** Where a runtime keeps its runs. */
export interface RunKeeping {
  readonly store: RunStore
  /** What this worker is called; unique among all that use the store. A random name when absent. */
  readonly owner?: string
  /** Time without a renewal after which other processes may take the run over; default 30 s. */
  readonly leaseMs?: number
}

/** A call that a crash left without an outcome. */
export interface UnknownCall {
  readonly runId: string
  /** Number of the call within the run. */
  readonly id: number
  readonly kind: string
  /** The tool, the operation, or the kind. */
  readonly name: string
  readonly args: Plain
  /** As the provider or the tool was given it: ask the other side by it. */
  readonly idempotencyKey: string
}

/** Make the call (again), give the script the error `unknown_outcome`, the value that the call had, or leave the run for a later `recover`. */
export type UnknownDecision = 'retry' | 'fail' | 'hold' | { readonly done: unknown }

export const DEFAULT_LEASE_MS = 30_000

/** The journal of a run whose lease is held. Renews the lease as it goes, gives the run back when it is closed. */
export function makeRecordingJournal(
  { store, leaseMs = DEFAULT_LEASE_MS }: RunKeeping,
  lease: Lease,
  clock: Clock,
  more: { readonly isContinued?: boolean; readonly and?: Journal | undefined; readonly onClose?: () => void } = {},
): Journal {
  let renewedAt = clock.now()
  const renew = (): void => {
    renewedAt = clock.now()
    store.renew(lease, renewedAt, leaseMs)
  }
  // For runs that wait long. Virtual time does not pass by itself, and a lost lease shows at the next entry.
  const timer = clock.virtual ? null : setInterval(() => runQuietly(renew), Math.max(1, leaseMs / 3))
  ;(timer as { unref?: () => void } | null)?.unref?.()
  return {
    append(entry) {
      more.and?.append(entry)
      if (more.isContinued === true && entry.type === 'run') return
      store.append(lease, encodeEntry(entry))
      if (entry.type === 'end') store.release(lease, entry.kind)
      else if (clock.now() - renewedAt > leaseMs / 3) renew()
    },
    close() {
      if (timer !== null) clearInterval(timer)
      runQuietly(() => store.release(lease))
      more.and?.close?.()
      more.onClose?.()
    },
  }
}

/** A failing store is reported at the next entry, or was reported before. */
function runQuietly(work: () => void): void {
  try {
    work()
  } catch {
    // It is not awaited.
  }
}

/** What a journal says of the calls that it has no outcome of. */
export function listBegunCalls(entries: readonly JournalEntry[], before: BegunCalls = new Map()): BegunCalls {
  const begun = new Map<number, BegunCall>(before)
  let now = 0
  for (const entry of entries) {
    if ('now' in entry) ({ now } = entry)
    // Asked for again where the run was continued: its time has run since the first time.
    if (entry.type === 'effect' && !begun.has(entry.id)) begun.set(entry.id, { askedAt: now, token: null })
    else if (entry.type === 'token') begun.set(entry.id, { askedAt: begun.get(entry.id)?.askedAt ?? now, token: entry.token })
    else if (entry.type === 'answer' || (entry.type === 'resume' && entry.id !== null)) begun.delete(entry.id!)
  }
  return begun
}

/** The tool of a host that an effect calls and this host does not have; null when there is none. */
export function findMissingTool({ kind, args }: Effect, host: Host): string | null {
  if (kind !== 'tool.call' || args.executor !== 'host_bridge') return null
  const name = args.host_capability ?? args.tool
  return typeof name === 'string' && !host.serves(name) && host.tool(name) === null ? name : null
}

/** Asking a person or a model again, connecting again, writing a record again, ending again. */
const REPEATED: ReadonlySet<Effect['kind']> = new Set([
  'approval.ask',
  'llm.call',
  'mcp.connect',
  'process.set',
  'store.op',
  // What it changes happens with the commit that keeps its answer.
  'runs.op',
])

/** Facts of the run itself, which scripts ask for as operations of the host. */
const RUN_FACTS: ReadonlySet<unknown> = new Set(['runtime.pipeline_input', 'runtime.dry_run'])

/** Whether a call asks for a fact of the run, and no operation of the host of that name. */
export function asksForFact({ kind, args }: Effect, host: Host): boolean {
  return kind === 'host.call' && RUN_FACTS.has(args.name) && !host.serves(args.name as string)
}

/** Whether making a call a second time does no harm, as far as its kind and the tool say. */
export function mayRepeat({ kind, args }: Effect, host: Host): boolean {
  if (kind === 'tool.call') {
    const name = args.host_capability ?? args.tool
    const tool = typeof name === 'string' ? host.tool(name) : null
    // With `verify` the executor asks the tool what became of the call.
    return tool !== null && tool.recovery !== 'once'
  }
  if (REPEATED.has(kind) || asksForFact({ kind, args } as Effect, host)) return true
  if (kind === 'http.request') return ['GET', 'HEAD', 'OPTIONS'].includes(String(args.method ?? 'GET').toUpperCase())
  const { sideEffect } = EFFECTS[kind]
  return sideEffect === 'none' || sideEffect === 'read_only'
}

export function makeUnknownCall(runId: string, id: number, effect: Effect): UnknownCall {
  const { name } = makeCall(id, effect)
  const key = effect.args.idempotency_key
  return {
    runId,
    id,
    kind: effect.kind,
    name,
    args: effect.args,
    idempotencyKey: `${runId}:${typeof key === 'string' ? key : id}`,
  }
}

/** What a call is answered without being made; null when it is to be made. */
export function decideOutcome(call: UnknownCall, decision: Exclude<UnknownDecision, 'hold'>): EffectOutcome | null {
  if (decision === 'retry') return null
  if (decision !== 'fail') {
    // An invalid decision must not count as a completed call.
    if (typeof decision !== 'object' || decision === null || !('done' in decision))
      throw new Error(`onUnknownOutcome gave ${JSON.stringify(decision)}; expected "retry", "fail", "hold" or { done: value }`)
    return { ok: true, value: plainFromHost(decision.done) }
  }
  const message = `the outcome of ${call.name} is unknown: its process ended after the call was begun`
  if (call.kind !== 'tool.call') return categorizedError('tool_error', message, 'unknown_outcome')
  return { ok: false, error: { kind: 'thrown', message, value: { name: 'ToolError', code: 'unknown_outcome', message } } }
}
