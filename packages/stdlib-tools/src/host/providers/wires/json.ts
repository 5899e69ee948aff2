// JSON of services, read without trust: values of an unexpected type count as absent.

import type { Plain } from '@bridle/vm'

export type Json = { readonly [key: string]: unknown }

/** `String` would run the `toString` of an object, and what a stranger's JSON has by that name is not a function. */
export function readWord(value: unknown, missing = ''): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : missing
}

export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : 0
}

export function listTexts(value: unknown): string[] {
  return typeof value === 'string' ? [value] : list(value).filter((item): item is string => typeof item === 'string')
}

export function readStrings(value: unknown): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [key, item] of Object.entries(record(value))) if (typeof item === 'string') out[key] = item
  return out
}

/** Effect data as JSON: marked floats are numbers, bytes are base64. */
export function toPlainJson(value: Plain): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
  if (Array.isArray(value)) return (value as readonly Plain[]).map(toPlainJson)
  if ('v' in value && typeof (value as { v: unknown }).v === 'number' && Object.keys(value).length === 1) {
    return (value as { v: number }).v
  }
  return Object.fromEntries(Object.entries(value as { [key: string]: Plain }).map(([key, item]) => [key, toPlainJson(item)]))
}

/** Settings under the names of a service. */
export function renameSettings(settings: Json, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [ours, theirs] of Object.entries(names)) {
    const value = settings[ours]
    if (value !== undefined && value !== null) out[theirs] = value
  }
  return out
}

export function readFunction(tool: Json): Json {
  return record(tool['function'])
}

export function listCalls(message: Json): readonly Json[] {
  return list(message['tool_calls']).map(record)
}

/** Arguments of a past call, for a service that requires an object; other values are sent as text. */
export function parsePastArguments(call: Json): Json {
  const given = readFunction(call)['arguments'] ?? call['arguments'] ?? {}
  if (typeof given !== 'string') return Array.isArray(given) ? { __unreadable: given } : record(given)
  if (given.trim() === '') return {}
  try {
    const read: unknown = JSON.parse(given)
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Json) : { __unreadable: given }
  } catch {
    return { __unreadable: given }
  }
}

/** Only these fields: services refuse a request with fields that they do not know. */
export function pick(given: Json, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined || given[name] === null ? [] : [[name, given[name]]])),
  )
}

/** Arguments are as the model wrote them: the machine reads them, keeps large ints, and refuses what is not an object. */
export function makeToolCall(id: string, name: unknown, args: unknown): Json {
  return { id, type: 'tool_call', name: readWord(name), arguments: args ?? null }
}
