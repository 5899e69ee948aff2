// Values as data that outlives a run. state-files.harn has the operations on files.

import { HarnDict, HarnFloat, HarnList, stringifyJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

/** Nesting beyond this is not data that a script meant to keep. */
const MAX_DEPTH = 2000

/** What of a value survives as JSON: structs, closures, durations and everything else that is not data become nil. */
export function toJsonData(value: Value): Value {
  return toData(value, () => null)
}

/** A copy of a value as data, in which `other` stands for everything that is none. */
export function toData(value: Value, other: (value: Value) => Value, depth = 0): Value {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof HarnFloat) return Number.isFinite(value.v) ? value : null
  if (depth > MAX_DEPTH) return null
  if (value instanceof HarnList) return new HarnList(value.view().map((item) => toData(item, other, depth + 1)))
  if (!(value instanceof HarnDict)) return other(value)
  // Under the same keys, which are not put into a table again one by one.
  const copy = value.copy()
  const { slots } = copy
  for (let at = 0; at < slots.length; at++) slots[at] = toData(slots[at]!, other, depth + 1)
  return copy
}

export function stringifyPretty(value: Value): string {
  return stringifyJson(value, { indent: 2, interchange: true })
}
