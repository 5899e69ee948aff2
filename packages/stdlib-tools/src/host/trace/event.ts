// Events of a trace: one record a call, numbered without gaps and chained by hash, so that an edited, dropped
// or moved event shows. What differs between two runs of the same work (wall clock, latency, the run's own id) is outside the
// hash: two deterministic runs have equal chains.
//
//   hash = sha256(canonical JSON of the event without hash, timestamp, latency_ms and run_id)
//
// Canonical JSON sorts keys by code point, has no blanks, and writes ints of any size as digits, bytes as {"$bytes": base64}.

import { compareText } from '@bridle/vm'
import { hashSha256Hex } from '../hash.js'

export const GENESIS = 'sha256:genesis'
export const TRACE_FORMAT = 1

/** `call_intent` comes before the effect of that number, where the trace is required. */
export type TraceKind = 'run_start' | 'call_intent' | 'tool_call' | 'error' | 'run_end'

/** JSON data, as it is in the file. */
export type TraceJson = null | boolean | string | number | readonly TraceJson[] | { readonly [key: string]: TraceJson }

export interface TraceEvent {
  /** From 1. */
  readonly seq: number
  readonly kind: TraceKind
  readonly prev_hash: string
  readonly hash: string
  /** ISO text of the wall clock. */
  readonly timestamp: string
  /** Hash of the program's source. */
  readonly doc_hash: string
  /** With `run_start` only. */
  readonly run_id?: string
  readonly tool_id?: string
  readonly tool_version?: string
  readonly inputs_hash?: string
  readonly outputs_hash?: string
  /** Hash of the applied grants. */
  readonly policy_hash?: string
  readonly latency_ms?: number
  readonly cached?: boolean
  /** Texts longer than 4 KiB are `{"$blob": "sha256:…", "size": bytes}`; the sink keeps what they stand for. */
  readonly details?: { readonly [key: string]: TraceJson }
  readonly message?: string
}

/** Keys in which two traces of one run may differ. */
export const UNHASHED: ReadonlySet<string> = new Set(['hash', 'timestamp', 'latency_ms', 'run_id'])

export function hashSha256Text(text: string): string {
  return `sha256:${hashSha256Hex(text)}`
}

/** `known` holds the texts of objects inside `value` that were written before. */
export function stringifyCanonical(value: TraceJson, known: ReadonlyMap<unknown, string> | null = null): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const before = known?.get(value)
  if (before !== undefined) return before
  if (Array.isArray(value)) {
    let text = '['
    for (let at = 0; at < value.length; at++)
      text +=
        at === 0 ? stringifyCanonical(value[at] as TraceJson, known) : `,${stringifyCanonical(value[at] as TraceJson, known)}`
    return `${text}]`
  }
  const record = value as { readonly [key: string]: TraceJson }
  let text = ''
  for (const key of sortKeys(record)) {
    const item = record[key]
    if (item === undefined) continue
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${stringifyCanonical(item, known)}`
  }
  return text === '' ? '{}' : `${text}}`
}

/** By code point. What comes from a machine is in order already. */
function sortKeys(record: object): readonly string[] {
  const keys = Object.keys(record)
  for (let at = 1; at < keys.length; at++) if (compareText(keys[at - 1]!, keys[at]!) > 0) return keys.sort(compareText)
  return keys
}

/** What else an event may have, sorted. */
const HASHED = [
  'cached',
  'details',
  'doc_hash',
  'inputs_hash',
  'kind',
  'message',
  'outputs_hash',
  'policy_hash',
  'prev_hash',
  'seq',
  'tool_id',
  'tool_version',
] as const satisfies readonly (keyof TraceEvent)[]

const QUOTED = HASHED.map((key) => `"${key}":`)

export function hashEvent(event: Omit<TraceEvent, 'hash'>, known: ReadonlyMap<unknown, string> | null = null): string {
  let text = ''
  let found = 0
  for (let at = 0; at < HASHED.length; at++) {
    const item = event[HASHED[at]!]
    if (item === undefined) continue
    found++
    text += `${text === '' ? '{' : ','}${QUOTED[at]!}${stringifyCanonical(item, known)}`
  }
  let keys = 0
  for (const key in event) if (!UNHASHED.has(key) && event[key as keyof typeof event] !== undefined) keys++
  // Something has been added to it.
  if (keys !== found) return hashSha256Text(stringifyCanonical(pickHashed(event)))
  return hashSha256Text(`${text}}`)
}

function pickHashed(event: object): TraceJson {
  const hashed = Object.create(null) as { [key: string]: TraceJson }
  for (const [key, item] of Object.entries(event) as [string, TraceJson][]) if (!UNHASHED.has(key)) hashed[key] = item
  return hashed
}

export type TraceVerdict =
  | { readonly ok: true; readonly events: number; /** Whether the end of the run is on record. */ readonly complete: boolean }
  | { readonly ok: false; readonly code: 'sequence' | 'chain' | 'hash'; readonly seq: number; readonly message: string }

/** Finds the first event that is not what the run wrote. What was cut off the end shows as `complete: false`. */
export function verifyTrace(events: readonly TraceEvent[]): TraceVerdict {
  let previous = GENESIS
  for (const [at, event] of events.entries()) {
    const seq = at + 1
    const makeBroken = (code: 'sequence' | 'chain' | 'hash', message: string): TraceVerdict => ({ ok: false, code, seq, message })
    if (event.seq !== seq) return makeBroken('sequence', `trace sequence mismatch: event ${seq} is numbered ${String(event.seq)}`)
    if (event.prev_hash !== previous)
      return makeBroken('chain', `trace hash chain mismatch: event ${seq} does not follow event ${seq - 1}`)
    if (event.hash !== hashEvent(event)) return makeBroken('hash', `trace event hash mismatch: event ${seq} was changed`)
    previous = event.hash
  }
  return { ok: true, events: events.length, complete: events.at(-1)?.kind === 'run_end' }
}
