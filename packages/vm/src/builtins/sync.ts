// Named locks: mutex, semaphore, gate and rwlock are all a capacity with permits taken from it and a queue of
// waiting tasks. The queue is strictly first in, first out: a request that fits still waits behind one that does not.
// A granted request counts as held at once, before its task runs again. If that task is aborted first, the permit is returned.

import { builtin, family, frame } from './builtin.js'
import { readTimeoutMs } from './channels.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnPermit } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { sortTexts } from '../values/text-order.js'
import { isInt } from '../values/value.js'
import type { Context, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { Value } from '../values/value.js'

type LockKind = 'mutex' | 'semaphore' | 'gate' | 'rwlock'

interface Waiter {
  readonly ticket: number
  readonly permits: number
  readonly since: number
}

interface Lock {
  readonly kind: LockKind
  readonly key: string
  readonly capacity: number
  held: number
  /** Taken permits by permit id, with how many units and since when. */
  readonly grants: Map<number, { readonly permits: number; readonly since: number }>
  line: Waiter[]
  acquisitions: number
  timeouts: number
  cancellations: number
  releases: number
  deepestLine: number
  waitMs: number
  heldMs: number
}

interface SyncState {
  permits: number
  tickets: number
  /** By `kind:key`. */
  readonly locks: Map<string, Lock>
  /** Permit ids by ticket, for tasks that were granted a permit and have not run since. */
  readonly ready: Map<number, number>
}

const syncState = family<SyncState>('sync', () => ({ permits: 0, tickets: 0, locks: new Map(), ready: new Map() }))

const RWLOCK_CAPACITY = 1024

const makeTicketKey = (ticket: number): string => `sync:${ticket}`

interface Request {
  readonly builtin: string
  readonly kind: LockKind
  readonly key: string
  readonly capacity: number
  readonly permits: number
  /** Null waits without limit, 0 tries once. */
  readonly timeoutMs: number | null
}

function grant(ctx: Context, lock: Lock, permits: number): number {
  const state = ctx.state(syncState)
  state.permits++
  lock.held += permits
  lock.acquisitions++
  lock.grants.set(state.permits, { permits, since: ctx.now })
  return state.permits
}

/** Grants requests that fit, from the front of the queue. */
function admit(ctx: Context, lock: Lock): void {
  for (let head = lock.line[0]; head !== undefined && lock.held + head.permits <= lock.capacity; head = lock.line[0]) {
    lock.line.shift()
    lock.waitMs += ctx.now - head.since
    ctx.state(syncState).ready.set(head.ticket, grant(ctx, lock, head.permits))
    ctx.wake(makeTicketKey(head.ticket))
  }
}

function giveBack(ctx: Context, lock: Lock, permitId: number): boolean {
  const taken = lock.grants.get(permitId)
  if (taken === undefined) return false
  lock.grants.delete(permitId)
  lock.held -= taken.permits
  lock.releases++
  lock.heldMs += ctx.now - taken.since
  admit(ctx, lock)
  return true
}

/** Returns permits that no task can reach any more. Called only when needed, because it walks the machine. */
function reclaim(ctx: Context, lock: Lock): void {
  if (lock.grants.size === 0 || ctx.machine.reachablePermits === undefined) return
  const reachable = ctx.machine.reachablePermits()
  const underway = new Set(ctx.state(syncState).ready.values())
  for (const id of [...lock.grants.keys()]) if (!reachable.has(id) && !underway.has(id)) giveBack(ctx, lock, id)
}

interface AcquireState extends FrameState {
  readonly lock: string
  readonly kind: LockKind
  readonly key: string
  readonly permits: number
  readonly due: number | null
  ticket: number
}

const acquireFrame = frame<AcquireState>({
  heedsCancel: true,
  kind: 'sync.acquire',
  runBoundary: false,
  step: (ctx, state) => {
    const sync = ctx.state(syncState)
    const lock = sync.locks.get(state.lock)!
    if (state.ticket === 0) {
      sync.tickets++
      state.ticket = sync.tickets
      lock.line.push({ ticket: state.ticket, permits: state.permits, since: ctx.now })
      lock.deepestLine = Math.max(lock.deepestLine, lock.line.length)
    }
    const permitId = sync.ready.get(state.ticket)
    if (permitId !== undefined) {
      sync.ready.delete(state.ticket)
      return new HarnPermit(state.kind, state.key, permitId)
    }
    if (ctx.timedOut) {
      lock.timeouts++
      leaveLine(ctx, lock, state.ticket)
      return null
    }
    return ctx.park(makeTicketKey(state.ticket), state.due)
  },
  onLeave: (ctx, state) => {
    const sync = ctx.state(syncState)
    const lock = sync.locks.get(state.lock)!
    const permitId = sync.ready.get(state.ticket)
    if (permitId !== undefined) {
      sync.ready.delete(state.ticket)
      giveBack(ctx, lock, permitId)
    } else if (leaveLine(ctx, lock, state.ticket)) lock.cancellations++
  },
})

/** True when the ticket was in the queue. The requests behind it may fit now. */
function leaveLine(ctx: Context, lock: Lock, ticket: number): boolean {
  const gone = lock.line.find((waiter) => waiter.ticket === ticket)
  if (gone === undefined) return false
  lock.line = lock.line.filter((waiter) => waiter !== gone)
  admit(ctx, lock)
  return true
}

/** Characters of a name that are joined and hashed for a unit, as a power of two. */
const NAME_BITS = 6

/** Heap units of a lock, without its name. */
const HEAP_A_LOCK = 400

/** The key of a lock. It is a new string at every call, and is hashed at every call. */
function makeName(ctx: Context, kind: string, key: string): string {
  ctx.charge((kind.length + key.length) >> NAME_BITS)
  return `${kind}:${key}`
}

function acquire(ctx: Context, request: Request): Result {
  const { kind, key, capacity, permits, timeoutMs } = request
  if (capacity <= 0 || permits <= 0) return ctx.runtime(`${request.builtin}: value must be positive`)
  const sync = ctx.state(syncState)
  const name = makeName(ctx, kind, key)
  let lock = sync.locks.get(name)
  if (lock === undefined) {
    if (permits > capacity) return ctx.runtime(`sync ${kind} '${key}' requested ${permits} permits from capacity ${capacity}`)
    // It exists until the run ends.
    ctx.charge(1, HEAP_A_LOCK + name.length)
    lock = {
      kind,
      key,
      capacity,
      held: 0,
      grants: new Map(),
      line: [],
      acquisitions: 0,
      timeouts: 0,
      cancellations: 0,
      releases: 0,
      deepestLine: 0,
      waitMs: 0,
      heldMs: 0,
    }
    sync.locks.set(name, lock)
  }
  if (lock.capacity !== capacity)
    return ctx.runtime(`sync ${kind} '${key}' already exists with capacity ${lock.capacity}, not ${capacity}`)
  if (permits > capacity) return ctx.runtime(`sync ${kind} '${key}' requested ${permits} permits from capacity ${capacity}`)
  const fits = (): boolean => lock.line.length === 0 && lock.held + permits <= capacity
  if (!fits()) reclaim(ctx, lock)
  // A request that may wait counts as queued for a moment, even when it is granted at once.
  if (timeoutMs !== 0) lock.deepestLine = Math.max(lock.deepestLine, lock.line.length + 1)
  if (fits()) return new HarnPermit(kind, key, grant(ctx, lock, permits))
  if (timeoutMs !== null && timeoutMs <= 0) {
    lock.timeouts++
    return null
  }
  const due = timeoutMs === null ? null : ctx.now + timeoutMs
  return ctx.frame('sync.acquire', { lock: name, kind, key, permits, due, ticket: 0 } satisfies AcquireState)
}

/** Returns a permit, for scripts and at the end of a `mutex` block. True the first time. */
export function releasePermit(ctx: Context, permit: HarnPermit): boolean {
  if (permit.released) return false
  permit.released = true
  const lock = ctx.state(syncState).locks.get(makeName(ctx, permit.kind, permit.key))
  return lock !== undefined && giveBack(ctx, lock, permit.id)
}

/** The unnamed mutex is that of `mutex` blocks; each other kind has its own default. */
function makeKey(value: Value, kind: LockKind): string {
  if (value !== null) return display(value)
  return kind === 'mutex' ? '__default__' : 'default'
}

function readTimeout(value: Value): number | null {
  const ms = readTimeoutMs(value, ['timeout_ms', 'max_wait_ms'])
  return ms === null ? null : Math.max(0, ms)
}

function readCount(value: Value, fallback: number): number {
  return isInt(value) ? Number(value) : fallback
}

function acquireSemaphore(ctx: Context, key: Value, capacity: Value, permits: Value, timeout: Value): Result {
  return acquire(ctx, {
    builtin: 'sync_semaphore_acquire',
    kind: 'semaphore',
    key: makeKey(key, 'semaphore'),
    capacity: readCount(capacity, 1),
    permits: readCount(permits, 1),
    timeoutMs: readTimeout(timeout),
  })
}

function acquireRwlock(ctx: Context, key: Value, mode: Value, timeout: Value): Result {
  const write = mode === 'write'
  if (!write && mode !== 'read' && mode !== null) return ctx.runtime('sync_rwlock_acquire: mode must be read or write')
  const permits = write ? RWLOCK_CAPACITY : 1
  return acquire(ctx, {
    builtin: 'sync_rwlock_acquire',
    kind: 'rwlock',
    key: makeKey(key, 'rwlock'),
    capacity: RWLOCK_CAPACITY,
    permits,
    timeoutMs: readTimeout(timeout),
  })
}

function makeMetrics(lock: Lock): HarnDict {
  return HarnDict.of({
    kind: lock.kind,
    key: lock.key,
    capacity: lock.capacity,
    acquisition_count: lock.acquisitions,
    timeout_count: lock.timeouts,
    cancellation_count: lock.cancellations,
    release_count: lock.releases,
    current_held: lock.held,
    current_queue_depth: lock.line.length,
    max_queue_depth: lock.deepestLine,
    total_wait_ms: Math.round(lock.waitMs),
    total_held_ms: Math.round(lock.heldMs),
  })
}

function readMetrics(ctx: Context, kind: Value, key: Value): Result {
  const { locks } = ctx.state(syncState)
  for (const lock of locks.values()) reclaim(ctx, lock)
  if (kind !== null && key !== null) {
    const lock = locks.get(makeName(ctx, display(kind), display(key)))
    return lock === undefined ? null : makeMetrics(lock)
  }
  const names = sortTexts([...locks.keys()])
  ctx.charge(names.length, 200 * names.length)
  const rows = names.map((name) => locks.get(name)!).filter((lock) => kind === null || lock.kind === kind)
  return new HarnList(rows.map(makeMetrics))
}

const SYNC = ['sync'] as const

export const syncFamily: BuiltinFamily = {
  name: 'sync',
  builtins: [
    builtin(
      'sync_mutex_acquire(key?: string, timeout?: int|duration)',
      { doc: 'Takes the named mutex; nil when the time runs out.', effects: SYNC },
      (ctx, key, timeout) =>
        acquire(ctx, {
          builtin: 'sync_mutex_acquire',
          kind: 'mutex',
          key: makeKey(key!, 'mutex'),
          capacity: 1,
          permits: 1,
          timeoutMs: readTimeout(timeout!),
        }),
    ),
    builtin(
      'sync_semaphore_acquire(key: string, capacity?: int, permits?: int, timeout?: int|duration)',
      { doc: 'Takes permits of the named semaphore; nil when the time runs out.', effects: SYNC },
      acquireSemaphore,
    ),
    builtin(
      'sync_gate_acquire(key: string, limit?: int, timeout?: int|duration)',
      { doc: 'Enters the named gate; nil when the time runs out.', effects: SYNC },
      (ctx, key, limit, timeout) =>
        acquire(ctx, {
          builtin: 'sync_gate_acquire',
          kind: 'gate',
          key: makeKey(key!, 'gate'),
          capacity: readCount(limit!, 1),
          permits: 1,
          timeoutMs: readTimeout(timeout!),
        }),
    ),
    builtin(
      'sync_rwlock_acquire(key: string, mode: string, timeout?: int|duration)',
      { doc: 'Takes the named lock to read or to write; nil when the time runs out.', effects: SYNC },
      acquireRwlock,
    ),
    builtin(
      'sync_release(permit: any) -> bool',
      { doc: 'Gives a permit back; true the first time.', effects: SYNC },
      (ctx, permit) =>
        permit instanceof HarnPermit
          ? releasePermit(ctx, permit)
          : ctx.runtime('sync_release: first argument must be a sync permit'),
    ),
    builtin(
      'sync_metrics(kind?: string, key?: string)',
      { doc: 'Counters of one lock, or a list over all.', effects: SYNC },
      readMetrics,
    ),
  ],
  frames: [acquireFrame],
}
