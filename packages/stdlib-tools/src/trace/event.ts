// Events of a trace (reference 05 §2.19): one record a call, numbered without gaps and chained by hash, so that an edited, dropped
// or moved event shows. What differs between two runs of the same work (wall clock, latency, the run's own id) is outside the
// hash: two deterministic runs have equal chains.
//
//   hash = sha256(canonical JSON of the event without hash, timestamp, latency_ms and run_id)
//
// Canonical JSON sorts keys by code point, has no blanks, and writes ints of any size as digits, bytes as {"$bytes": base64}.

import { sha256 } from '@noble/hashes/sha2.js'
import { toHex } from '../hash.js'

export const GENESIS = 'sha256:genesis'
export const TRACE_FORMAT = 1

export type TraceKind = 'run_start' | 'tool_call' | 'error' | 'run_end'

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
  /** Of the source of the program. */
  readonly doc_hash: string
  /** With `run_start` only. */
  readonly run_id?: string
  readonly tool_id?: string
  readonly tool_version?: string
  readonly inputs_hash?: string
  readonly outputs_hash?: string
  /** Of the grants that applied. */
  readonly policy_hash?: string
  readonly latency_ms?: number
  readonly cached?: boolean
  /** Texts longer than 4 KiB are `{"$blob": "sha256:…", "size": bytes}`; the sink keeps what they stand for. */
  readonly details?: { readonly [key: string]: TraceJson }
  readonly message?: string
}

const UNHASHED: ReadonlySet<string> = new Set(['hash', 'timestamp', 'latency_ms', 'run_id'])

export function sha256Text(text: string): string {
  return `sha256:${toHex(sha256(new TextEncoder().encode(text)))}`
}

export function canonicalJson(value: TraceJson): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const record = value as { readonly [key: string]: TraceJson }
  return `{${Object.keys(record)
    .sort(byCodePoint)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key]!)}`)
    .join(',')}}`
}

/** The order of UTF-16 units differs from that of code points where surrogates meet U+E000 and above. */
function byCodePoint(a: string, b: string): number {
  const left = [...a]
  const right = [...b]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = left[at]!.codePointAt(0)! - right[at]!.codePointAt(0)!
    if (order !== 0) return order
  }
  return left.length - right.length
}

export function hashOfEvent(event: Omit<TraceEvent, 'hash'>): string {
  const hashed = Object.fromEntries(Object.entries(event).filter(([key, value]) => value !== undefined && !UNHASHED.has(key)))
  return sha256Text(canonicalJson(hashed as TraceJson))
}

export type TraceVerdict =
  | { readonly ok: true; readonly events: number; /** Whether the end of the run is on record. */ readonly complete: boolean }
  | { readonly ok: false; readonly code: 'sequence' | 'chain' | 'hash'; readonly seq: number; readonly message: string }

/** Finds the first event that is not what the run wrote. What was cut off the end shows as `complete: false`. */
export function verifyTrace(events: readonly TraceEvent[]): TraceVerdict {
  let previous = GENESIS
  for (const [at, event] of events.entries()) {
    const seq = at + 1
    const broken = (code: 'sequence' | 'chain' | 'hash', message: string): TraceVerdict => ({ ok: false, code, seq, message })
    if (event.seq !== seq) return broken('sequence', `trace sequence mismatch: event ${seq} is numbered ${String(event.seq)}`)
    if (event.prev_hash !== previous)
      return broken('chain', `trace hash chain mismatch: event ${seq} does not follow event ${seq - 1}`)
    if (event.hash !== hashOfEvent(event)) return broken('hash', `trace event hash mismatch: event ${seq} was changed`)
    previous = event.hash
  }
  return { ok: true, events: events.length, complete: events.at(-1)?.kind === 'run_end' }
}
