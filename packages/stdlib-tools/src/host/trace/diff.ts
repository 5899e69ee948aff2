// Where two traces of a program part: equal chains are equal runs, else the first event that differs and how.

import { stringifyCanonical, UNHASHED } from './event.js'
import type { TraceEvent, TraceJson } from './event.js'

export type TraceDifference =
  | { readonly kind: 'equal'; readonly events: number }
  | { readonly kind: 'program'; readonly before: string; readonly after: string }
  | { readonly kind: 'length'; readonly seq: number; readonly more: 'before' | 'after'; readonly event: TraceEvent }
  | {
      readonly kind: 'event'
      readonly seq: number
      readonly fields: readonly FieldDifference[]
      readonly before: TraceEvent
      readonly after: TraceEvent
    }

export interface FieldDifference {
  readonly path: string
  readonly before: TraceJson | undefined
  readonly after: TraceJson | undefined
}

const IGNORED: ReadonlySet<string> = new Set([...UNHASHED, 'prev_hash', 'doc_hash'])

export function diffTraces(before: readonly TraceEvent[], after: readonly TraceEvent[]): TraceDifference {
  for (const [at, left] of before.entries()) {
    const right = after[at]
    if (right === undefined) return { kind: 'length', seq: left.seq, more: 'before', event: left }
    const fields = listFieldDifferences(left as unknown as TraceJson, right as unknown as TraceJson, '').filter(
      ({ path }) => !IGNORED.has(path),
    )
    if (fields.length > 0) return { kind: 'event', seq: left.seq, fields, before: left, after: right }
  }
  const more = after[before.length]
  if (more !== undefined) return { kind: 'length', seq: more.seq, more: 'after', event: more }
  const [one, other] = [before[0]?.doc_hash, after[0]?.doc_hash]
  if (one !== undefined && other !== undefined && one !== other) return { kind: 'program', before: one, after: other }
  return { kind: 'equal', events: before.length }
}

function listFieldDifferences(before: TraceJson | undefined, after: TraceJson | undefined, path: string): FieldDifference[] {
  if (before === undefined || after === undefined) return before === after ? [] : [{ path, before, after }]
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => listFieldDifferences(before[name], after[name], path === '' ? name : `${path}.${name}`))
  }
  return stringifyCanonical(before) === stringifyCanonical(after) ? [] : [{ path, before, after }]
}

function isRecord(value: TraceJson): value is { readonly [key: string]: TraceJson } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
