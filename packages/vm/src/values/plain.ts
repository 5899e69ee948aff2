// Value ⇄ plain data at the edge of the machine (design §8.5): float → number, dict → null-prototype object, list → array;
// back: an integral number is an int, another number a float. HarnFloat passes through where the difference matters.

import type { Plain } from '../effects/effect.js'
import { HarnDict } from './dict.js'
import { display } from './display.js'
import { HarnHandle } from './handles.js'
import { HarnList } from './list.js'
import { Keyed } from './keyed.js'
import { HarnBytes, HarnFloat, HarnPair } from './scalars.js'
import { visit } from './meter.js'
import { HarnSet } from './set.js'
import { wrapInt } from './value.js'
import type { Value } from './value.js'

/** Nesting that toPlain and fromPlain follow before they refuse; deeper data is never legitimate at an edge. */
const MAX_DEPTH = 2000

export class TooDeepError extends Error {}

/** Values without a plain form (closures, durations, handles …) become their display text, as in 04a §0. */
export function toPlain(value: Value): Plain {
  return plainOf(value, 0, { visited: 0 })
}

function plainOf(value: Value, depth: number, walk: { visited: number }): Plain {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof HarnFloat) return value.v
  if (value instanceof HarnBytes) return value.data
  if (depth > MAX_DEPTH) throw new TooDeepError(`data nested deeper than ${MAX_DEPTH}`)
  if (value instanceof HarnList) return listToPlain(value.view(), depth, walk)
  if (value instanceof Keyed) return keyedToPlain(value, depth, walk)
  if (value instanceof HarnSet) return listToPlain(value.values(), depth, walk)
  if (value instanceof HarnPair) return listToPlain([value.first, value.second], depth, walk)
  if (value instanceof HarnHandle) return { $handle: value.kind, id: value.id }
  return display(value)
}

function listToPlain(items: readonly Value[], depth: number, walk: { visited: number }): Plain[] {
  walk.visited = visit(walk.visited, items.length)
  return items.map((item) => plainOf(item, depth + 1, walk))
}

function keyedToPlain(object: Keyed, depth: number, walk: { visited: number }): Plain {
  const keys = object.keys()
  walk.visited = visit(walk.visited, keys.length)
  const out = Object.create(null) as Record<string, Plain>
  for (const key of keys) out[key] = plainOf(object.get(key)!, depth + 1, walk)
  return out
}

export function fromPlain(plain: Plain | undefined, depth = 0): Value {
  if (plain === null || plain === undefined) return null
  switch (typeof plain) {
    case 'string':
    case 'boolean':
      return plain
    case 'number':
      return Number.isSafeInteger(plain) && !Object.is(plain, -0) ? plain : new HarnFloat(plain)
    case 'bigint':
      return wrapInt(plain)
  }
  if (plain instanceof HarnFloat) return plain
  if (plain instanceof Uint8Array) return new HarnBytes(plain)
  if (depth > MAX_DEPTH) throw new TooDeepError(`data nested deeper than ${MAX_DEPTH}`)
  if (Array.isArray(plain)) return new HarnList(plain.map((item: Plain) => fromPlain(item, depth + 1)))
  const dict = new HarnDict()
  for (const [key, item] of Object.entries(plain as Record<string, Plain>)) dict.set(key, fromPlain(item, depth + 1))
  return dict
}
