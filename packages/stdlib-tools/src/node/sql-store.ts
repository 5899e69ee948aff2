// A store of durable runs on one SQLite database, with group commit: what comes while the event loop goes round once is one transaction, and one
// flush. Several processes may share the file.

import { randomBytes } from 'node:crypto'
import type { Change, DurableStore, StoreWorker } from '../host/durable/store.js'
import { QuotaExceeded, checkQuota } from '../host/durable/quotas.js'
import { WorkerFenced } from '../host/durable/store.js'
import { describeCause } from '../tools/executors/provider.js'
import { ToolError, isToolError } from '../tools/host-tools/errors.js'
import { SqlRuns } from './sql-runs.js'
import type { AfterCommit, CommitTimes, SqlConnection } from './sql-runs.js'

/** An open database, and what belongs to its engine. */
export interface SqlEngine {
  readonly connection: SqlConnection
  /** Runs a transaction that writes; only one process does so at a time. */
  readonly write: <T>(work: () => T) => T
  readonly read: <T>(work: () => T) => T
  /** Another value when another process has changed the file. */
  readonly version: () => unknown
  readonly close: () => void
}

interface Step {
  readonly work: (after: AfterCommit) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: unknown) => void
}

export interface SqlStoreStats {
  /** Transactions, and steps that were in them. */
  readonly commits: number
  readonly steps: number
  /** Of the last thousand; null before the first. */
  readonly commitMs: CommitTimes | null
}

export function sqlStore(
  engine: SqlEngine,
  { onCommit }: { readonly onCommit?: ((ms: number, steps: number) => void) | undefined } = {},
): DurableStore & { readonly stats: () => SqlStoreStats } {
  const runs = engine.write(() => new SqlRuns(engine.connection))
  let steps: Step[] = []
  let isClosed = false
  /** Counts what this process changes for workers beside their own commits. */
  let revision = 0
  const stats = { commits: 0, steps: 0 }
  const times: number[] = []

  const flush = (): void => {
    const group = steps
    steps = []
    if (group.length === 0) return
    const after: AfterCommit = { done: [], undone: [] }
    const begunAt = performance.now()
    let outcomes: (readonly [isDone: boolean, value: unknown])[] = []
    try {
      engine.write(() => {
        outcomes = group.map(({ work }) => {
          try {
            return [true, work(after)]
          } catch (cause) {
            // Raised before it changed anything.
            if (cause instanceof WorkerFenced || cause instanceof QuotaExceeded) return [false, cause]
            throw cause
          }
        })
      })
    } catch (cause) {
      runs.forget()
      for (const undo of after.undone) undo()
      const failure = isToolError(cause)
        ? cause
        : new ToolError('store_unavailable', `the store of runs cannot be written: ${describeCause(cause)}`, { cause })
      for (const { reject } of group) reject(failure)
      return
    }
    const tookMs = performance.now() - begunAt
    times.push(tookMs)
    if (times.length > MOST_TIMES) times.shift()
    onCommit?.(tookMs, group.length)
    stats.commits++
    stats.steps += group.length
    for (const done of after.done) done()
    for (const [at, { resolve, reject }] of group.entries()) {
      const [isDone, value] = outcomes[at]!
      if (isDone) resolve(value)
      else {
        if (value instanceof WorkerFenced) countFenced()
        reject(value)
      }
    }
  }

  const step = <T>(work: (after: AfterCommit) => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (isClosed) {
        reject(new ToolError('store_unavailable', 'the store of runs is closed'))
        return
      }
      steps.push({ work, resolve: resolve as (value: unknown) => void, reject })
      if (steps.length === 1) setImmediate(flush)
    })

  const countFenced = (): void => void step(() => runs.count('fenced')).catch(() => {})

  const look = async <T>(work: () => T): Promise<T> => {
    if (isClosed) throw new ToolError('store_unavailable', 'the store of runs is closed')
    try {
      return engine.read(work)
    } catch (cause) {
      throw isToolError(cause)
        ? cause
        : new ToolError('store_unavailable', `the store of runs cannot be read: ${describeCause(cause)}`, { cause })
    }
  }

  const change = <T>(work: () => T): Promise<T> => {
    const changed = step(work)
    // Also when it was not kept: a look too many is no harm.
    const note = (): void => void revision++
    changed.then(note, note)
    return changed
  }

  return {
    async submit(given, now) {
      for (const { runId, tenant } of given) {
        checkName('a run', runId)
        checkName('a tenant', tenant)
      }
      return change(() => {
        runs.checkQuotas(given, now)
        return given.reduce((made, run) => made + (runs.submit(run, now) ? 1 : 0), 0)
      })
    },
    async signal(runId, token, line, now) {
      checkName('a token', token)
      return change(() => runs.signal(runId, token, line, now))
    },
    cancel: (runId, reason, now) => change(() => runs.cancel(runId, reason, now)),
    retry: (runId, now) => change(() => runs.retry(runId, now)),
    async fork(runId, to, repack, now) {
      checkName('a run', to)
      return change(() => runs.fork(runId, to, repack, now))
    },
    migrate: (runId, to, seenAt, now) => change(() => runs.migrate(runId, to, seenAt, now)),
    expire: (endedBefore) => step(() => runs.expire(endedBefore)),
    secret: () => step(() => runs.secret(() => randomBytes(32).toString('hex'))),
    program: (hash) => look(() => runs.program(hash)),
    get: (runId) => look(() => runs.describeRun(runId)),
    read: (runId) => look(() => runs.read(runId)),
    list: (query) => look(() => runs.list(query)),
    events: (runId, query) => look(() => runs.events(runId, query)),
    summarize: (now) => look(() => runs.summarize(now)),
    async setQuota(tenant, quota) {
      if (quota !== null) checkQuota(quota)
      return change(() => runs.setQuota(tenant, quota))
    },
    quotaOf: (tenant) => look(() => runs.quotaOf(tenant)),
    count: (counter) => step(() => runs.count(counter)),
    async join({ name, leaseMs, tools }, joinedAt): Promise<StoreWorker> {
      const worker = await step(() => runs.join(name, leaseMs, tools, joinedAt))
      const owned = new Map<string, { readonly id: number; program: number; readonly isArchived: boolean; seq: number }>()
      let seen = 0
      let latest = joinedAt
      let version = engine.version()
      let known = revision
      return {
        async take(query) {
          latest = Math.max(latest, query.now)
          if (await look(() => runs.hasNothing(query))) return { runs: [], nextWake: await look(() => runs.nextWake()) }
          return step((after) => {
            const taken = runs.take(worker, tools, query, owned, after)
            return { runs: taken, nextWake: runs.nextWake() }
          })
        },
        commit(changes) {
          // Others of this process may have something to do now.
          if (changes.some((each) => TOUCHES_OTHERS.has(each.do))) revision++
          return step((after) => {
            runs.commit(worker, changes, owned, latest, after)
          })
        },
        heartbeat(now) {
          latest = Math.max(latest, now)
          return step(() => runs.heartbeat(worker, now, summarizeTimes(times)))
        },
        signals: () =>
          look(() => {
            const found = runs.signals(worker, seen)
            ;({ seen } = found)
            return found.found
          }),
        hasChanged() {
          const now = engine.version()
          const isSame = now === version && revision === known
          version = now
          known = revision
          return !isSame
        },
        leave: () => step(() => runs.leave(worker, latest)),
      }
    },
    async close() {
      if (isClosed) return
      flush()
      isClosed = true
      engine.close()
    },
    stats: () => ({ ...stats, commitMs: summarizeTimes(times) }),
  }
}

const MOST_TIMES = 1000

function summarizeTimes(times: readonly number[]): CommitTimes | null {
  if (times.length === 0) return null
  const sorted = [...times].sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
  return { p50: at(0.5), p95: at(0.95) }
}

const TOUCHES_OTHERS: ReadonlySet<Change['do']> = new Set(['start', 'signal', 'cancel', 'again', 'end'])

const MOST_NAME = 500

/** Raises ToolError `invalid_args`: a control character ends a string in some engines, so the run could not be named again. */
function checkName(what: string, name: string): void {
  // oxlint-disable-next-line no-control-regex
  const isOdd = /[\u0000-\u001f\u007f]/.test(name)
  if (name.length > MOST_NAME || isOdd)
    throw new ToolError(
      'invalid_args',
      `${what} cannot be called ${JSON.stringify(name.slice(0, 80))}: at most ${MOST_NAME} characters, and none of control`,
    )
}
