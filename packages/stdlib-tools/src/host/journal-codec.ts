// Plain data ⇄ JSON, exactly: what the edge of the machine may carry and JSON cannot say is written as a tagged object with
// one key. Keys are sorted, so that equal data has equal text and a replay can compare arguments by it.
//
//   {"$int": "9223372036854775807"}   an int beyond ±2^53
//   {"$float": "1"}                   a float that must stay one (1.0), and NaN, inf, -inf, -0
//   {"$bytes": "aGk="}                bytes, base64
//   {"$dict": {"$int": 1}}            a dict whose only key begins with `$`, so that no data is mistaken for a tag

import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'

/** JSON as it is written; objects made here have no prototype, so `__proto__` is an ordinary key. */
type Json = null | boolean | string | number | Json[] | { [key: string]: Json }

/** Deeper data is refused: nothing legitimate crosses the edge with such nesting, and the walk is recursive. */
const MAX_DEPTH = 2000

export class CodecError extends Error {
  override readonly name = 'CodecError'
}

export function encodePlain(data: Plain): string {
  return JSON.stringify(toJson(data, 0))
}

export function decodePlain(text: string): Plain {
  return fromJson(JSON.parse(text) as Json, 0)
}

/** For records that hold plain data among other fields. */
export function plainToJson(data: Plain): unknown {
  return toJson(data, 0)
}

export function plainFromJson(json: unknown): Plain {
  return fromJson(json as Json, 0)
}

function toJson(data: Plain, depth: number): Json {
  switch (typeof data) {
    case 'string':
    case 'boolean':
      return data
    case 'number':
      return Number.isFinite(data) && !Object.is(data, -0) ? data : { $float: formatFloat(data) }
    case 'bigint':
      return { $int: String(data) }
  }
  if (data === null || data === undefined) return null
  if (data instanceof HarnFloat) return { $float: formatFloat(data.v) }
  if (data instanceof Uint8Array) return { $bytes: toBase64(data) }
  if (depth > MAX_DEPTH) throw new CodecError(`data nested deeper than ${MAX_DEPTH}`)
  if (Array.isArray(data)) return data.map((item: Plain) => toJson(item, depth + 1))
  const record = data as { readonly [key: string]: Plain }
  const out = Object.create(null) as { [key: string]: Json }
  const keys = Object.keys(record).sort()
  for (const key of keys) {
    const item = record[key]
    if (item !== undefined) out[key] = toJson(item, depth + 1)
  }
  return keys.length === 1 && keys[0]!.startsWith('$') ? { $dict: out } : out
}

function fromJson(json: Json, depth: number): Plain {
  if (json === null || typeof json !== 'object') return json
  if (depth > MAX_DEPTH) throw new CodecError(`data nested deeper than ${MAX_DEPTH}`)
  if (Array.isArray(json)) return json.map((item) => fromJson(item, depth + 1))
  const keys = Object.keys(json)
  const tag = keys.length === 1 && keys[0]!.startsWith('$') ? keys[0]! : null
  if (tag === null) return decodeDict(json, depth)
  const inner = json[tag]!
  if (tag === '$dict' && inner !== null && typeof inner === 'object' && !Array.isArray(inner)) return decodeDict(inner, depth)
  if (typeof inner === 'string') {
    if (tag === '$int' && /^-?\d+$/.test(inner)) return BigInt(inner)
    if (tag === '$float') return new HarnFloat(parseFloatText(inner))
    if (tag === '$bytes') return fromBase64(inner)
  }
  throw new CodecError(`unknown tag ${JSON.stringify(tag)}`)
}

function decodeDict(json: { [key: string]: Json }, depth: number): Plain {
  const out = Object.create(null) as { [key: string]: Plain }
  for (const key of Object.keys(json)) out[key] = fromJson(json[key]!, depth + 1)
  return out
}

function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (value === Infinity) return 'inf'
  if (value === -Infinity) return '-inf'
  return Object.is(value, -0) ? '-0' : String(value)
}

function parseFloatText(text: string): number {
  switch (text) {
    case 'NaN':
      return NaN
    case 'inf':
      return Infinity
    case '-inf':
      return -Infinity
  }
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new CodecError(`bad float ${JSON.stringify(text)}`)
  return value
}

// Chunks, because a spread of a large array overflows the argument limit of String.fromCharCode.
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

export function fromBase64(text: string): Uint8Array {
  let binary: string
  try {
    binary = atob(text)
  } catch {
    throw new CodecError('bad base64')
  }
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
