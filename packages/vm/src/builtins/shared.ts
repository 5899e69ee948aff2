// Shared cells and maps: values that tasks share by name within a scope. Every change increments the version, which
// compare-and-set checks against a snapshot. An operation on a name that was never opened finds an empty one.

import { builtin, Control, family } from './builtin.js'
import { mailboxMetrics } from './mailbox.js'
import { makeHandle, openPlace, placeName, resolveScope, resolveTarget } from './scopes.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { equals } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { sortTexts } from '../values/text-order.js'
import type { Context, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { Place } from './scopes.js'
import type { Value } from '../values/value.js'

type SharedKind = 'shared_cell' | 'shared_map'

interface Shared {
  readonly kind: SharedKind
  readonly place: Place
  /** A cell's value; for a map its entries as a dict value. */
  value: Value
  /** Nothing else references this dict, so it is changed in place. */
  isOwn: boolean
  version: number
  reads: number
  writes: number
  casSuccesses: number
  casFailures: number
  staleReads: number
}

/** Both kinds by kind and place. */
const sharedState = family<{ entries: Map<string, Shared> }>('shared', () => ({ entries: new Map() }))

function makeName(kind: SharedKind, place: Place): string {
  return `${kind}\0${placeName(place)}`
}

function makeEntry(kind: SharedKind, place: Place, value: Value): Shared {
  return { kind, place, value, isOwn: false, version: 0, reads: 0, writes: 0, casSuccesses: 0, casFailures: 0, staleReads: 0 }
}

/** Characters of a key that are joined and looked up per unit of fuel, as a power of two. */
const KEY_BITS = 4

function openEntry(ctx: Context, kind: SharedKind, place: Place, initial: Value): Shared {
  const { entries } = ctx.state(sharedState)
  const name = makeName(kind, place)
  ctx.charge(name.length >> KEY_BITS)
  let entry = entries.get(name)
  if (entry === undefined) {
    entry = makeEntry(kind, place, initial)
    entries.set(name, entry)
  }
  return entry
}

function open(kind: SharedKind) {
  return (ctx: Context, given: Value, initial: Value): Result => {
    const place = openPlace(ctx, kind, kind, given)
    if (place instanceof Control) return place
    const start = initial ?? (given instanceof HarnDict ? (given.get('initial') ?? null) : null)
    openEntry(ctx, kind, place, kind === 'shared_cell' ? start : start instanceof HarnDict ? start : new HarnDict())
    return makeHandle(kind, place)
  }
}

/** An operation on one cell or map, given by its handle or name; `needed` is the number of arguments in all. */
function defineOperation(
  kind: SharedKind,
  name: string,
  needed: number,
  what: string,
  run: (entry: Shared, ctx: Context, ...args: Value[]) => Value,
) {
  return (ctx: Context, target: Value, ...args: Value[]): Result => {
    if (ctx.argc < needed) return ctx.runtime(needed === 1 ? `${name}: ${what} is required` : `${name}: requires ${what}`)
    const place = resolveTarget(ctx, name, kind, target)
    if (place instanceof Control) return place
    ctx.charge(1)
    return run(openEntry(ctx, kind, place, kind === 'shared_cell' ? null : new HarnDict()), ctx, ...args)
  }
}

function read(entry: Shared): Value {
  entry.reads++
  entry.isOwn = false
  return entry.value
}

function write(entry: Shared, value: Value): void {
  entry.value = value
  noteChange(entry)
}

function noteChange(entry: Shared): void {
  entry.version++
  entry.writes++
}

function getMap(entry: Shared): HarnDict {
  return entry.value as HarnDict // entries of a shared_map are always dicts
}

/** The map's entries, to be changed in place: a copy if a script holds the dict. */
function takeOwnMap(ctx: Context, entry: Shared): HarnDict {
  ctx.charge(1, 32)
  if (!entry.isOwn) {
    const dict = getMap(entry)
    ctx.charge(dict.size, 32 * dict.size)
    entry.value = dict.copy()
    entry.isOwn = true
  }
  return getMap(entry)
}

function setEntry(ctx: Context, entry: Shared, key: string, value: Value): void {
  takeOwnMap(ctx, entry).put(key, value)
  noteChange(entry)
}

function removeEntry(ctx: Context, entry: Shared, key: string): void {
  if (getMap(entry).has(key)) takeOwnMap(ctx, entry).delete(key)
  noteChange(entry)
}

function snapshotEntry(entry: Shared, value: Value): HarnDict {
  entry.reads++
  return HarnDict.of({ _type: 'shared_snapshot', value, version: entry.version })
}

/** Whether the cell still has `expected`, a plain value or a snapshot; updates the counters. */
function checkExpected(entry: Shared, current: Value, expected: Value): boolean {
  const isSnapshot = expected instanceof HarnDict && expected.get('_type') === 'shared_snapshot'
  const stale = isSnapshot && expected.get('version') !== entry.version
  const holds = !stale && equals(current, isSnapshot ? (expected.get('value') ?? null) : expected)
  if (holds) entry.casSuccesses++
  else entry.casFailures++
  if (stale) entry.staleReads++
  return holds
}

function readCounters(entry: Shared): HarnDict {
  return HarnDict.of({
    version: entry.version,
    read_count: entry.reads,
    write_count: entry.writes,
    cas_success_count: entry.casSuccesses,
    cas_failure_count: entry.casFailures,
    stale_read_count: entry.staleReads,
  })
}

function listMetricRows(ctx: Context): Result {
  const { entries } = ctx.state(sharedState)
  ctx.charge(entries.size, 160 * entries.size)
  const rows = sortTexts([...entries.keys()]).map((name) => {
    const entry = entries.get(name)!
    return readCounters(entry).merged(HarnDict.of({ _type: entry.kind, scope: entry.place.scope, key: entry.place.key }))
  })
  return new HarnList(rows)
}

/** Counters of the cell, map or mailbox of a handle; rows for all cells and maps if the argument is not a handle. */
function readMetrics(ctx: Context, handle: Value): Result {
  if (!(handle instanceof HarnDict)) return listMetricRows(ctx)
  const kind = handle.get('_type') ?? null
  if (kind === null) return ctx.runtime('shared_metrics: handle missing _type')
  for (const field of ['scope', 'key']) {
    if ((handle.get(field) ?? null) === null) return ctx.runtime(`shared_metrics: ${display(kind)} handle missing ${field}`)
  }
  if (kind === 'mailbox') return mailboxMetrics(ctx, handle)
  if (kind !== 'shared_cell' && kind !== 'shared_map') return listMetricRows(ctx)
  const place = resolveTarget(ctx, 'shared_metrics', kind, handle)
  if (place instanceof Control) return place
  return readCounters(ctx.state(sharedState).entries.get(makeName(kind, place)) ?? makeEntry(kind, place, null))
}

function resolveScopeId(ctx: Context, scope: Value, options: Value): Result {
  const word = scope === null ? 'task_group' : display(scope)
  return resolveScope(ctx, 'shared_scope_id', word, options instanceof HarnDict ? options : null)
}

const SHARED = ['shared'] as const

function define(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result) {
  return builtin(signature, { doc, effects: SHARED }, run)
}

export const sharedFamily: BuiltinFamily = {
  name: 'shared',
  builtins: [
    define(
      'shared_cell(key_or_options: string|dict, initial?: any) -> dict',
      'Opens a named value; one that exists keeps its content.',
      open('shared_cell'),
    ),
    define(
      'shared_map(key_or_options: string|dict, initial?: dict) -> dict',
      'Opens a named map; one that exists keeps its content.',
      open('shared_map'),
    ),
    define('shared_get(cell: dict)', 'The value of a cell.', defineOperation('shared_cell', 'shared_get', 1, 'handle', read)),
    define(
      'shared_set(cell: dict, value: any)',
      'Sets a cell and gives the value before.',
      defineOperation('shared_cell', 'shared_set', 1, 'handle', (cell, _ctx, value = null) => {
        const before = cell.value
        write(cell, value)
        return before
      }),
    ),
    define(
      'shared_snapshot(cell: dict) -> dict',
      'Value and version of a cell.',
      defineOperation('shared_cell', 'shared_snapshot', 1, 'handle', (cell) => snapshotEntry(cell, cell.value)),
    ),
    define(
      'shared_cas(cell: dict, expected_or_snapshot: any, value: any) -> bool',
      'Sets a cell if it still holds what is expected.',
      defineOperation(
        'shared_cell',
        'shared_cas',
        3,
        'handle, expected, and new value',
        (cell, _ctx, expected = null, value = null) => {
          const holds = checkExpected(cell, cell.value, expected)
          if (holds) write(cell, value)
          return holds
        },
      ),
    ),
    define(
      'shared_map_get(map: dict, key: string, default?: any)',
      'The value under a key, or the default.',
      defineOperation('shared_map', 'shared_map_get', 2, 'handle and key', (map, _ctx, key = null, fallback = null) => {
        map.reads++
        return getMap(map).get(display(key)) ?? fallback
      }),
    ),
    define(
      'shared_map_set(map: dict, key: string, value: any)',
      'Sets a key and gives the value before.',
      defineOperation('shared_map', 'shared_map_set', 3, 'handle, key, and value', (map, ctx, key = null, value = null) => {
        const before = getMap(map).get(display(key)) ?? null
        setEntry(ctx, map, display(key), value)
        return before
      }),
    ),
    define(
      'shared_map_delete(map: dict, key: string)',
      'Removes a key and gives its value.',
      defineOperation('shared_map', 'shared_map_delete', 2, 'handle and key', (map, ctx, key = null) => {
        const before = getMap(map).get(display(key))
        if (before !== undefined) removeEntry(ctx, map, display(key))
        return before ?? null
      }),
    ),
    define(
      'shared_map_entries(map: dict) -> dict',
      'All entries as a dict.',
      defineOperation('shared_map', 'shared_map_entries', 1, 'handle', read),
    ),
    define(
      'shared_map_snapshot(map: dict, key: string) -> dict',
      'The value under a key, with the version of the map.',
      defineOperation('shared_map', 'shared_map_snapshot', 2, 'handle and key', (map, _ctx, key = null) =>
        snapshotEntry(map, getMap(map).get(display(key)) ?? null),
      ),
    ),
    define(
      'shared_map_cas(map: dict, key: string, expected_or_snapshot: any, value: any) -> bool',
      'Sets a key if it still holds what is expected; nil removes it.',
      defineOperation(
        'shared_map',
        'shared_map_cas',
        4,
        'handle, key, expected, and new value',
        (map, ctx, key = null, expected = null, value = null) => {
          const name = display(key)
          const holds = checkExpected(map, getMap(map).get(name) ?? null, expected)
          if (holds && value === null) removeEntry(ctx, map, name)
          else if (holds) setEntry(ctx, map, name, value)
          return holds
        },
      ),
    ),
    define(
      'shared_metrics(handle?: dict)',
      'Counters of one cell, map or mailbox; a list over all cells and maps without a handle.',
      readMetrics,
    ),
    define(
      'shared_scope_id(scope?: string, options?: dict) -> string',
      'What a scope word means here, such as `task_group:task_root`.',
      resolveScopeId,
    ),
  ],
}
