// The set: distinct values in insertion order. Distinct means "different structural key": 1 and 1.0 differ.

import { HarnBuiltin, HarnStruct } from './callable.js'
import { HarnDict } from './dict.js'
import { HarnTask } from './handles.js'
import { chargeGrowth } from './keyed.js'
import { HarnList } from './list.js'
import { SHORT_TEXT, visit, work } from './meter.js'
import { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange } from './scalars.js'
import type { Keyed } from './keyed.js'
import type { Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnSet: HarnSet
  }
}

export class HarnSet {
  readonly map: Map<unknown, Value>

  constructor(values: Iterable<Value> = []) {
    this.map = new Map()
    for (const value of values) this.add(value)
  }

  get size(): number {
    return this.map.size
  }

  /** In place, for a set under construction. */
  add(value: Value): void {
    this.addUnder(makeStructuralKey(value), value)
  }

  /** In place, for a value whose key is known, because it is a member of another set. */
  addUnder(key: unknown, value: Value): void {
    if (this.map.has(key)) return
    chargeGrowth(this.map.size)
    this.map.set(key, value)
  }

  values(): Value[] {
    return [...this.map.values()]
  }
}

/**
 * A key that two values share exactly when they are structurally the same: a primitive where possible, otherwise a string. Values
 * with identity only (closures, channels …) are their own key.
 */
export function makeStructuralKey(value: Value): unknown {
  switch (typeof value) {
    case 'number':
    case 'boolean':
      return value
    case 'string':
      return `s${value}`
    case 'bigint':
      return `i${value}`
  }
  if (value === null) return null
  if (value instanceof HarnFloat) return `f${Object.is(value.v, -0) ? '-0' : value.v}`
  const parts: string[] = []
  return appendKey(parts, value) ? parts.join('') : value
}

/**
 * A string that two values share when scripts find them equal, and rarely otherwise: numbers count by value, whatever
 * their type. For searching many values for an equal one.
 */
export function makeLikenessKey(value: Value): string {
  const parts: string[] = []
  appendKey(parts, value, true)
  return parts.join('')
}

const UNITS_A_KEY = 4
/** A walk that builds strings costs more than one that compares. */
const VISITS_A_PART = 2
/** Characters of a long string, or bytes, per visit, as a power of two: they are copied twice. */
const COPIED_BITS = 6
/** Visits per member of a set: keys are sorted. */
const VISITS_A_SORTED_KEY = 4

/** One character per byte. */
const toCharacters = new TextDecoder('latin1')

/** Visits charged for a string. Short ones are included in their container. */
const countVisits = (length: number): number => (length > SHORT_TEXT ? length >> COPIED_BITS : 0)

/** False when the value (or one inside it) has identity only; then the whole has. With `alike` all such values are the same. */
function appendKey(parts: string[], root: Value, alike = false): boolean {
  const pending: (Value | { readonly text: string })[] = [root]
  let visited = 0
  work(UNITS_A_KEY)
  while (pending.length > 0) {
    const value = pending.pop()!
    visited = visit(visited, VISITS_A_PART)
    if (value !== null && typeof value === 'object' && 'text' in value) parts.push(value.text)
    else if (value === null) parts.push('n;')
    else if (typeof value === 'string') {
      visited = visit(visited, countVisits(value.length))
      parts.push(`s${value.length}:${value}`)
    } else if (typeof value !== 'object') parts.push(`${typeof value === 'boolean' ? 'b' : 'i'}${alike ? Number(value) : value};`)
    else if (alike && value instanceof HarnFloat) parts.push(`i${value.v};`)
    else if (value instanceof HarnFloat) parts.push(`f${Object.is(value.v, -0) ? '-0' : value.v};`)
    else if (value instanceof HarnList) pushAll(pending, 'l', value.view())
    else if (value instanceof HarnDict) pushEntries(pending, 'd', value)
    else if (value instanceof HarnStruct) pushEntries(pending, `S${value.name}`, value)
    else if (value instanceof HarnEnum) pushAll(pending, `e${value.enumName}.${value.variant}`, value.fields)
    else if (value instanceof HarnPair) pushAll(pending, 'p', [value.first, value.second])
    else if (value instanceof HarnRange) parts.push(`r${value.start},${value.end},${value.exclusive};`)
    else if (value instanceof HarnDuration) parts.push(`t${value.ms};`)
    else if (value instanceof HarnBytes) {
      visited = visit(visited, countVisits(value.data.length))
      parts.push(`y${value.data.length}:`, toCharacters.decode(value.data))
    } else if (value instanceof HarnTask) parts.push(`k${value.id};`)
    else if (value instanceof HarnBuiltin) parts.push(`u${value.name};`)
    else if (alike) parts.push(value instanceof HarnSet ? `u${value.size};` : '?;')
    else if (value instanceof HarnSet) {
      visited = visit(visited, value.size * VISITS_A_SORTED_KEY)
      const keys: string[] = []
      for (const key of value.map.keys()) {
        if (typeof key === 'object' && key !== null) return false
        const text = `${typeof key}:${String(key)}`
        visited = visit(visited, countVisits(text.length))
        keys.push(text)
      }
      parts.push(`u${keys.length}(`, keys.sort().join(','), ')')
    } else return false
  }
  return true
}

type KeyWork = (Value | { readonly text: string })[]

function pushAll(pending: KeyWork, head: string, items: readonly Value[]): void {
  pending.push({ text: ')' })
  for (let at = items.length - 1; at >= 0; at--) pending.push(items[at]!)
  pending.push({ text: `${head}${items.length}(` })
}

function pushEntries(pending: KeyWork, head: string, object: Keyed): void {
  const keys = object.keys()
  pending.push({ text: ')' })
  for (let at = keys.length - 1; at >= 0; at--) {
    pending.push(object.get(keys[at]!)!, { text: `${keys[at]!.length}:${keys[at]!}=` })
  }
  pending.push({ text: `${head}${keys.length}(` })
}
