// Results of calls that are kept: only of tools that say `cacheable: true`, or `cacheable: {ttl_ms}`. The key is the
// tool with its version and schemas, the grants that applied and the canonical arguments, so that nothing is served to a call that would
// not have been allowed to ask; policies and grants judge a hit like any call, budgets do not count it. Tools of a script are told
// apart by their handlers as well, since two registries may have tools of one name. The cache is state of the run: it is in its snapshots
// and ends with it.

import { HarnBytes, HarnDict, HarnList, Keyed, family, toMillis } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { findLiveValue } from '../definitions/arguments.js'
import type { AppliedGrant } from '../policy/grants.js'
import type { ResultCache } from '../host-slots.js'

interface Kept {
  readonly value: Value
  /** What made it, when that was a function of the script. */
  readonly handler: Value
  readonly size: number
  /** By the machine's clock; null: as long as the run. */
  readonly untilMs: number | null
}

/** In order of their making; the oldest go first. */
const cacheState = family('tool_results', (): { kept: Map<string, Kept>; size: number } => ({ kept: new Map(), size: 0 }))

const MAX_KEPT = 1000
/** Characters and values; what is larger is not kept, and all together are not more than sixteen of these. */
const MAX_RESULT = 65_536
const MAX_TOTAL = 16 * MAX_RESULT

export interface CacheRule {
  readonly ttlMs: number | null
}

/** What holds for a tool: its own rule, as far as the host has no other. */
export function chooseRule(cache: ResultCache | null, own: CacheRule | null): CacheRule | null {
  if (cache === null || own === null) return own
  if (!cache.enabled) return null
  return own.ttlMs === null ? { ttlMs: cache.ttlMs } : own
}

/** What an entry says; null: its results are not kept. */
export function readCacheRule(given: Value): CacheRule | null {
  if (given === true) return { ttlMs: null }
  return given instanceof HarnDict ? { ttlMs: toMillis(given.get('ttl_ms')) } : null
}

export function makeCacheKey(
  ctx: Context,
  call: {
    readonly tool: string
    readonly version: string | null
    /** Hash of its name and schemas. */
    readonly schemas: string
    readonly applied: readonly AppliedGrant[]
    readonly argHash: string
  },
): string {
  const policy = call.applied.length === 0 ? '' : JSON.stringify(call.applied.map(({ grant }) => grant))
  return ctx.machine.sha256Hex(`${call.tool}:${call.version ?? ''}:${call.schemas}:${policy}:${call.argHash}`)
}

/** What was kept under the key and still holds. */
export function findKeptResult(ctx: Context, key: string, handler: Value): { readonly value: Value } | null {
  const { kept } = ctx.state(cacheState)
  const found = kept.get(key)
  if (found === undefined || found.handler !== handler) return null
  if (found.untilMs === null || ctx.now < found.untilMs) return found
  drop(ctx, key)
  return null
}

/** Values that are bound to their run's tasks and handles are not kept. */
export function keepResult(
  ctx: Context,
  key: string,
  { value, handler }: { readonly value: Value; readonly handler: Value },
  { ttlMs }: CacheRule,
): void {
  const size = measureWithin(value, MAX_RESULT)
  if (size > MAX_RESULT || findLiveValue(value) !== null) return
  const state = ctx.state(cacheState)
  ctx.charge(1, 256)
  drop(ctx, key)
  state.kept.set(key, { value, handler, size, untilMs: ttlMs === null ? null : ctx.now + ttlMs })
  state.size += size
  while (state.kept.size > MAX_KEPT || state.size > MAX_TOTAL) drop(ctx, state.kept.keys().next().value!)
}

function drop(ctx: Context, key: string): void {
  const state = ctx.state(cacheState)
  state.size -= state.kept.get(key)?.size ?? 0
  state.kept.delete(key)
}

/** Characters and values inside a value; the count ends beyond `most`. */
function measureWithin(value: Value, most: number): number {
  let size = 0
  const pending: Value[] = [value]
  for (let next = pending.pop(); next !== undefined && size <= most; next = pending.pop()) {
    size += typeof next === 'string' ? next.length + 1 : 1
    if (next instanceof HarnBytes) size += next.data.length
    else if (next instanceof HarnList) for (const item of next.view()) pending.push(item)
    else if (next instanceof Keyed) for (const item of next.values()) pending.push(item)
    if (pending.length > most) return pending.length
  }
  return size
}

/** Forgets what was kept; the number of results. */
export function forgetResults(ctx: Context): number {
  const state = ctx.state(cacheState)
  const { size } = state.kept
  state.kept.clear()
  state.size = 0
  return size
}
