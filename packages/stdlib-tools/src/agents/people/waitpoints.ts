// Waitpoints: named points that tasks wait for and others complete or cancel. One set of records serves both faces:
// the builtins `waitpoint_*`, whose waits answer with a status, and the functions of std/waitpoint, whose waits throw. All
// tasks of a run share them.

import {
  HarnDict,
  HarnList,
  builtin,
  failRuntime,
  failWith,
  family,
  here,
  millisOf,
  parkUntil,
  scripts,
  sortTexts,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Script, Value } from '@bridle/vm/families'
import { timeOrderedId, wallMs } from '../../library/time/identity.js'
import { isoNow } from '../../library/time/dates.js'

interface Waitpoint {
  readonly id: string
  status: 'open' | 'completed' | 'cancelled'
  readonly createdAt: string
  readonly createdBy: string
  completedAt: string | null
  completedBy: string | null
  cancelledAt: string | null
  cancelledBy: string | null
  reason: string | null
  value: Value
  metadata: Value
}

/** `outcomes` remembers what waits with a name of their own came to. */
const waitpointState = family<{ points: Map<string, Waitpoint>; outcomes: Map<string, HarnDict> }>('waitpoints', () => ({
  points: new Map(),
  outcomes: new Map(),
}))

const keyOf = (id: string): string => `waitpoint:${id}`

/** What the builtins show. */
function handleOf(point: Waitpoint): HarnDict {
  return HarnDict.of({
    id: point.id,
    status: point.status,
    created_at: point.createdAt,
    created_by: point.createdBy,
    completed_at: point.completedAt,
    completed_by: point.completedBy,
    cancelled_at: point.cancelledAt,
    cancelled_by: point.cancelledBy,
    reason: point.reason,
    metadata: point.metadata ?? new HarnDict(),
  })
}

/** What std/waitpoint shows. */
function recordOf(point: Waitpoint): HarnDict {
  return HarnDict.of({
    id: point.id,
    status: point.status,
    created_at: point.createdAt,
    completed_at: point.completedAt,
    cancelled_at: point.cancelledAt,
    completed_by: point.completedBy,
    cancelled_by: point.cancelledBy,
    value: point.value,
    reason: point.reason,
    metadata: point.metadata,
  })
}

// ---------------------------------------------------------------------------------------------------------------- records

interface Creation {
  readonly id: string | null
  readonly by: string
  readonly metadata: Value
}

function* create({ id, by, metadata }: Creation): Script<string> {
  const name = id ?? `waitpoint_${yield* timeOrderedId()}`
  if (yield* here((ctx) => ctx.state(waitpointState).points.has(name))) return name
  const createdAt = isoNow(yield* wallMs())
  return yield* here((ctx) => {
    const { points } = ctx.state(waitpointState)
    ctx.charge(1, 256)
    points.set(name, {
      id: name,
      status: 'open',
      createdAt,
      createdBy: by,
      completedAt: null,
      completedBy: null,
      cancelledAt: null,
      cancelledBy: null,
      reason: null,
      value: null,
      metadata,
    })
    return name
  })
}

interface Ending {
  readonly status: 'completed' | 'cancelled'
  readonly by: string | null
  readonly reason: string | null
  readonly value: Value
  readonly metadata: Value
}

/** An ended waitpoint stays as it is. */
function* end(id: string, ending: Ending): Script<null> {
  const at = isoNow(yield* wallMs())
  return yield* here((ctx) => {
    const point = ctx.state(waitpointState).points.get(id)!
    if (point.status !== 'open') return null
    point.status = ending.status
    if (ending.status === 'completed') {
      point.completedAt = at
      point.completedBy = ending.by
      point.value = ending.value
    } else {
      point.cancelledAt = at
      point.cancelledBy = ending.by
    }
    point.reason = ending.reason
    if (ending.metadata !== null) point.metadata = ending.metadata
    ctx.wake(keyOf(id))
    return null
  })
}

function* shown(id: string, show: (point: Waitpoint) => HarnDict): Script<HarnDict> {
  return yield* here((ctx) => show(ctx.state(waitpointState).points.get(id)!))
}

const statusOf = (ctx: Context, id: string): Waitpoint['status'] | null =>
  ctx.state(waitpointState).points.get(id)?.status ?? null

/** Waits until all are completed, one is cancelled, or the time is over. */
function* await_(
  ids: readonly string[],
  dueMs: number | null,
): Script<{ readonly end: 'completed' | 'cancelled' | 'timed_out'; readonly id: string | null }> {
  for (;;) {
    const next = yield* here((ctx) => {
      const cancelled = ids.find((id) => statusOf(ctx, id) === 'cancelled')
      if (cancelled !== undefined) return { end: 'cancelled' as const, id: cancelled }
      const open = ids.find((id) => statusOf(ctx, id) !== 'completed')
      return open === undefined ? { end: 'completed' as const, id: null } : { end: 'open' as const, id: open }
    })
    if (next.end !== 'open') return next
    // A task waits on one key: the first that is open. One that is cancelled meanwhile must wake it too, so with several the
    // task looks again now and then.
    const pollMs = ids.length === 1 ? null : yield* here((ctx) => ctx.now + POLL_MS)
    const until = pollMs === null || (dueMs !== null && dueMs < pollMs) ? dueMs : pollMs
    const timedOut = yield* parkUntil(keyOf(next.id), until)
    if (timedOut && until === dueMs) return { end: 'timed_out', id: null }
  }
}

const POLL_MS = 100

// ----------------------------------------------------------------------------------------------------- the `waitpoint_*` face

function idsOf(value: Value): string[] | null {
  const items = value instanceof HarnList ? value.view() : [value]
  const ids: string[] = []
  for (const item of items) {
    const id = item instanceof HarnDict ? item.get('id') : item
    if (typeof id !== 'string') return null
    if (id !== '' && !ids.includes(id)) ids.push(id)
  }
  return ids
}

const textOr = (options: HarnDict, key: string, fallback: string | null): string | null => {
  const value = options.get(key) ?? null
  return value === null
    ? fallback
    : typeof value === 'string'
      ? value
      : failRuntime(`${key}: expected string, got ${typeName(value)}`)
}

function readCreation(given: Value): Creation {
  if (given === null) return { id: null, by: 'system', metadata: new HarnDict() }
  if (typeof given === 'string') return { id: given === '' ? null : given, by: 'system', metadata: new HarnDict() }
  if (!(given instanceof HarnDict)) return failRuntime(`waitpoint_create: expected string or dict, got ${typeName(given)}`)
  const id = textOr(given, 'id', null)
  const by = textOr(given, 'by', 'system')!
  const metadata = given.get('metadata') ?? new HarnDict()
  if (!(metadata instanceof HarnDict)) return failRuntime('waitpoint_create: metadata must be a dict')
  return { id: id === '' ? null : id, by, metadata }
}

function optionsOf(name: string, value: Value): HarnDict {
  if (value === null) return new HarnDict()
  return value instanceof HarnDict ? value : failRuntime(`${name}: expected dict options, got ${typeName(value)}`)
}

function* endHandle(name: string, status: Ending['status'], target: Value, given: Value): Script {
  const ids = target instanceof HarnList ? null : idsOf(target)
  if (ids === null) return failRuntime(`${name}: unsupported waitpoint target ${typeName(target)}`)
  if (ids.length === 0) return failRuntime(`${name}: expected a waitpoint id`)
  const options = optionsOf(name, given)
  const by = textOr(options, 'by', 'system')
  const reason = status === 'cancelled' ? textOr(options, 'reason', null) : null
  const id = yield* create({ id: ids[0]!, by: 'system', metadata: new HarnDict() })
  yield* end(id, { status, by, reason, value: null, metadata: null })
  return yield* shown(id, handleOf)
}

function* waitHandles(target: Value, given: Value): Script {
  const name = 'waitpoint_wait'
  const ids = idsOf(target)
  if (ids === null) return failRuntime(`${name}: expected a waitpoint id, handle, or list`)
  if (ids.length === 0) return failRuntime(`${name}: expected at least one waitpoint id`)
  const options = optionsOf(name, given)
  const named = textOr(options, 'wait_id', null)
  const limit = options.get('timeout') ?? null
  const limitMs = limit === null ? null : millisOf(limit)
  if (limit !== null && (limitMs === null || limitMs < 0)) failRuntime(`${name}: expected timeout duration or millisecond count`)
  if (named !== null) {
    const recorded = yield* here((ctx) => ctx.state(waitpointState).outcomes.get(named) ?? null)
    if (recorded !== null) return recorded
  }
  const waitId = named ?? `waitpoint_wait_${yield* timeOrderedId()}`
  const traceId = `trace_${yield* timeOrderedId()}`
  const startedAt = isoNow(yield* wallMs())
  const dueMs = limitMs === null ? null : yield* here((ctx) => ctx.now + limitMs)
  const { end: status, id: cancelled } = yield* await_(ids, dueMs)
  const resolvedAt = isoNow(yield* wallMs())
  return yield* here((ctx) => {
    const { points, outcomes } = ctx.state(waitpointState)
    const known = ids.map((id) => points.get(id)).filter((point) => point !== undefined)
    const outcome = HarnDict.of({
      wait_id: waitId,
      waitpoint_ids: new HarnList([...ids]),
      status,
      started_at: startedAt,
      resolved_at: resolvedAt,
      waitpoints: new HarnList(known.map(handleOf)),
      cancelled_waitpoint_id: cancelled,
      trace_id: traceId,
      replay_of_event_id: null,
      reason: status === 'timed_out' ? 'deadline elapsed' : null,
    })
    if (named !== null) outcomes.set(named, outcome)
    return outcome
  })
}

// ------------------------------------------------------------------------------------------------------ the std/waitpoint face

function moduleId(name: string, value: Value): string {
  const id = value instanceof HarnDict ? value.get('id') : value
  if (typeof id === 'string') return id
  return failRuntime(`waitpoint.${name}: expected waitpoint id string or dict, got ${typeName(value)}`)
}

function moduleOptions(name: string, value: Value): HarnDict {
  if (value === null) return new HarnDict()
  return value instanceof HarnDict ? value : failRuntime(`waitpoint.${name}: options must be a dict`)
}

function* createRecord(given: Value): Script {
  if (given !== null && typeof given !== 'string' && !(given instanceof HarnDict)) {
    failRuntime(`waitpoint.create: expected string id or dict, got ${typeName(given)}`)
  }
  const options = given instanceof HarnDict ? given : new HarnDict()
  const id = given instanceof HarnDict ? (given.get('id') ?? null) : given
  const name = typeof id === 'string' && id !== '' ? id : null
  return yield* shown(yield* create({ id: name, by: 'system', metadata: options.get('metadata') ?? null }), recordOf)
}

function* endRecord(name: 'complete' | 'cancel', target: Value, value: Value, given: Value): Script {
  const id = moduleId(name, target)
  const options = moduleOptions(name, given)
  const wanted = name === 'complete' ? 'completed' : 'cancelled'
  const status = yield* here((ctx) => statusOf(ctx, id))
  if (status === null) failRuntime(`waitpoint.${name}: unknown waitpoint '${id}'`)
  if (status !== 'open' && status !== wanted) failRuntime(`waitpoint.${name}: waitpoint '${id}' is already ${status}`)
  yield* end(id, {
    status: wanted,
    by: textOr(options, 'by', null),
    reason: textOr(options, 'reason', null),
    value,
    metadata: options.get('metadata') ?? null,
  })
  return yield* shown(id, recordOf)
}

function* waitRecords(target: Value, given: Value): Script {
  const many = target instanceof HarnList
  const ids = sortTexts([...new Set((many ? target.view() : [target]).map((item) => moduleId('wait', item)))])
  if (ids.length === 0) failRuntime('waitpoint.wait: expected at least one waitpoint')
  const options = moduleOptions('wait', given)
  const limit = options.get('timeout') ?? null
  const limitMs = limit === null ? null : millisOf(limit)
  if (limit !== null && (limitMs === null || limitMs < 0)) failRuntime('waitpoint.wait: expected a duration or millisecond count')
  const unknown = yield* here((ctx) => ids.find((id) => statusOf(ctx, id) === null) ?? null)
  if (unknown !== null) failRuntime(`waitpoint.wait: unknown waitpoint '${unknown}'`)
  const waitId = textOr(options, 'wait_id', '')
  const dueMs = limitMs === null ? null : yield* here((ctx) => ctx.now + limitMs)
  const outcome = yield* await_(ids, dueMs)
  if (outcome.end === 'timed_out') {
    failWith(HarnDict.of({ name: 'WaitpointTimeoutError', category: 'timeout', message: 'waitpoint timed out', wait_id: waitId }))
  }
  if (outcome.end === 'cancelled') {
    const reason = (yield* shown(outcome.id!, recordOf)).get('reason') ?? null
    failWith(
      HarnDict.of({
        name: 'WaitpointCancelledError',
        category: 'cancelled',
        message: reason ?? 'waitpoint was cancelled',
        wait_id: waitId,
        waitpoint_ids: new HarnList([outcome.id!]),
        reason,
      }),
    )
  }
  const records: Value[] = []
  for (const id of ids) records.push(yield* shown(id, recordOf))
  return many ? new HarnList(records) : records[0]!
}

// -------------------------------------------------------------------------------------------------------------- the builtins

const machine = scripts('waitpoint.op', {
  *waitpoint_create(given) {
    return yield* shown(yield* create(readCreation(given!)), handleOf)
  },
  waitpoint_complete: (target, options) => endHandle('waitpoint_complete', 'completed', target!, options!),
  waitpoint_cancel: (target, options) => endHandle('waitpoint_cancel', 'cancelled', target!, options!),
  waitpoint_wait: (target, options) => waitHandles(target!, options!),
  __waitpoint_create: (given) => createRecord(given!),
  __waitpoint_complete: (target, value, options) => endRecord('complete', target!, value!, options!),
  __waitpoint_cancel: (target, options) => endRecord('cancel', target!, null, options!),
  __waitpoint_wait: (target, options) => waitRecords(target!, options!),
})

function define(signature: string, doc: string): ReturnType<typeof builtin> {
  const name = signature.slice(0, signature.indexOf('('))
  return builtin(signature, { doc, effects: ['clock.now', 'random.bytes'] }, (ctx, ...args): Result =>
    machine.start(ctx, name, ...args),
  )
}

export const waitpointsFamily: BuiltinFamily = {
  name: 'waitpoints',
  frames: [machine.frame],
  builtins: [
    define('waitpoint_create(options?: dict | string | nil) -> dict', 'Makes a waitpoint, or gives the one of that id.'),
    define(
      'waitpoint_complete(id: string | dict, options?: dict) -> dict',
      'Completes a waitpoint; everybody who waits for it goes on.',
    ),
    define('waitpoint_cancel(id: string | dict, options?: dict) -> dict', 'Cancels a waitpoint.'),
    define('waitpoint_wait(ids: string | dict | list, options?: dict) -> dict', 'Waits for waitpoints and says how that ended.'),
    define('__waitpoint_create(id_or_options?: string | dict) -> dict', 'As waitpoint.create of std/waitpoint.'),
    define(
      '__waitpoint_complete(handle: dict | string, value?: any, options?: dict) -> dict',
      'As waitpoint.complete of std/waitpoint.',
    ),
    define('__waitpoint_cancel(handle: dict | string, options?: dict) -> dict', 'As waitpoint.cancel of std/waitpoint.'),
    define('__waitpoint_wait(handles: dict | string | list, options?: dict) -> any', 'As waitpoint.wait of std/waitpoint.'),
  ],
}
