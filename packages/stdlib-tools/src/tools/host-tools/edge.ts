// Host data → script data. What a host function returns is taken apart once: it must be data, and its numbers
// become ints or floats by its schema. Script data → host data is `toPlain` of the machine.

import { DEFAULT_LIMITS, HarnFloat, MAX_EDGE_DEPTH } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import { messageOf } from '../executors/provider.js'
import type { JsonSchema } from './schema.js'

/** Heap units of an object and of a slot. */
const UNITS = 16
/** An array of two values can say that it has four thousand million; what stands between takes as long to go through as if it were there. */
const MAX_HOLES = 10_000
/** Values that are copied once more, because what they are in is there several times: a few objects can stand for more than fits into any memory. */
const MAX_REPEATED = 1_000_000

/** What a host gave is not data: a function, a cycle, a promise inside a list, an integer of more than 64 bits. */
export class NotDataError extends Error {
  override readonly name = 'NotDataError'
}

/** It is data, and more than may cross at once. */
export class TooLargeError extends NotDataError {
  constructor(size: number, most: number) {
    super(`data of ${size} bytes or more is too large, the limit is ${most}`)
  }
}

/**
 * Copies host data into plain data. undefined is nil, a Date its ISO text, a Map a dict, a Set or a typed array a list (a Uint8Array and
 * an ArrayBuffer are bytes), an object with toJSON what that says. Raises NotDataError, also beyond `most` heap units (TooLargeError). By schema, a `number` is a float even when it is integral; without one an integral number is an int.
 */
export function plainFromHost(value: unknown, schema?: JsonSchema, most: number = DEFAULT_LIMITS.heap): Plain {
  try {
    return convert(value, schema, { schema, seen: new Set(), repeated: 0, most, units: 0 }, 0)
  } catch (cause) {
    if (cause instanceof NotDataError) throw cause
    // Getters, proxies and toJSON are code of the host, and the copy runs it.
    throw new NotDataError(`it cannot be read: ${messageOf(cause)}`, { cause })
  }
}

interface Whole {
  /** The whole schema, which references count from. */
  readonly schema: JsonSchema | undefined
  /** Lists and records that were copied. */
  readonly seen: Set<unknown>
  /** Values of those that were copied again. */
  repeated: number
  /** Heap units that were copied, and may be. */
  units: number
  readonly most: number
}

function count(root: Whole, units: number): void {
  if ((root.units += units) > root.most) throw new TooLargeError(root.units, root.most)
}

function visit(root: Whole, value: unknown, size: number): void {
  if (!root.seen.has(value)) root.seen.add(value)
  else if ((root.repeated += size + 1) > MAX_REPEATED)
    throw new NotDataError(`data in which the same objects stand for more than ${MAX_REPEATED} values is too large`)
}

function convert(value: unknown, schema: JsonSchema | undefined, root: Whole, depth: number): Plain {
  switch (typeof value) {
    case 'string':
      count(root, value.length)
      return value
    case 'boolean':
      return value
    case 'bigint':
      if (BigInt.asIntN(64, value) !== value) throw new NotDataError('an integer of more than 64 bits is not data')
      return value
    case 'number':
      return numberBySchema(value, schema, root.schema)
    case 'undefined':
      return null
    case 'function':
    case 'symbol':
      throw new NotDataError(`a ${typeof value} is not data`)
  }
  if (value === null) return null
  if (value instanceof HarnFloat) return value
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) {
    count(root, value.byteLength)
    return value instanceof Uint8Array ? value : new Uint8Array(value)
  }
  if (depth >= MAX_EDGE_DEPTH) throw new NotDataError(`data is nested deeper than ${MAX_EDGE_DEPTH}, or contains itself`)
  if (Array.isArray(value)) return list(value, value, schema, root, depth)
  if (isNumbers(value)) {
    if (value.length * UNITS > root.most) count(root, value.length * UNITS)
    return list(value, [...value], schema, root, depth)
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Set) return list(value, [...value], schema, root, depth)
  if (value instanceof Map)
    return record(
      [...value].map(([key, item]: [unknown, unknown]) => [String(key), item] as const),
      schema,
      root,
      depth,
    )
  if (value instanceof Promise) {
    // Nobody else waits for it: what it rejects with would end the process.
    value.catch(() => {})
    throw new NotDataError('a promise is not data')
  }
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return convert((toJSON as () => unknown).call(value), schema, root, depth + 1)
  if (value instanceof Error) return { name: String(value.name), message: String(value.message) }
  const entries = Object.entries(value as object)
  visit(root, value, entries.length)
  return record(entries, schema, root, depth)
}

function isNumbers(value: unknown): value is Float64Array | BigInt64Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function list(value: unknown, items: readonly unknown[], schema: JsonSchema | undefined, root: Whole, depth: number): Plain {
  const out: Plain[] = []
  let holes = 0
  visit(root, value, items.length)
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    if (item === undefined && !(at in items) && ++holes > MAX_HOLES)
      throw new NotDataError(`an array of ${items.length} with more than ${MAX_HOLES} holes is not data`)
    count(root, UNITS)
    out.push(convert(item, itemSchema(schema, root.schema, at), root, depth + 1))
  }
  return out
}

function record(
  entries: readonly (readonly [string, unknown])[],
  schema: JsonSchema | undefined,
  root: Whole,
  depth: number,
): Plain {
  const out = Object.create(null) as { [key: string]: Plain }
  for (const [key, item] of entries) {
    if (item === undefined) continue
    count(root, UNITS + key.length)
    out[key] = convert(item, propertySchema(schema, root.schema, key), root, depth + 1)
  }
  return out
}

function numberBySchema(value: number, schema: JsonSchema | undefined, root: JsonSchema | undefined): Plain {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return new HarnFloat(value)
  const types = new Set<string>()
  addTypes(types, schema, root, new Set())
  return types.has('number') && !types.has('integer') ? new HarnFloat(value) : value
}

/** Adds the JSON types that a schema allows, through references and alternatives. A schema may be one of its own alternatives. */
function addTypes(types: Set<string>, schema: JsonSchema | undefined, root: JsonSchema | undefined, seen: Set<JsonSchema>): void {
  const found = resolveRef(schema, root)
  if (found === undefined || seen.has(found)) return
  seen.add(found)
  const { type } = found
  if (typeof type === 'string') types.add(type)
  if (Array.isArray(type)) for (const each of type as readonly unknown[]) if (typeof each === 'string') types.add(each)
  for (const branch of branchesOf(found)) addTypes(types, branch, root, seen)
}

function branchesOf(schema: JsonSchema): JsonSchema[] {
  return ['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
    (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []).filter(isSchema),
  )
}

function itemSchema(schema: JsonSchema | undefined, root: JsonSchema | undefined, at: number): JsonSchema | undefined {
  return search(schema, root, (each) => {
    const prefix = each['prefixItems']
    const item = Array.isArray(prefix) && at < prefix.length ? (prefix[at] as unknown) : each['items']
    return isSchema(item) ? item : undefined
  })
}

function propertySchema(schema: JsonSchema | undefined, root: JsonSchema | undefined, key: string): JsonSchema | undefined {
  return search(schema, root, (each) => {
    const properties = each['properties']
    if (isSchema(properties) && Object.hasOwn(properties, key)) return isSchema(properties[key]) ? properties[key] : undefined
    return isSchema(each['additionalProperties']) ? each['additionalProperties'] : undefined
  })
}

/** First find in the schema or, for alternatives, in one of its branches. */
function search(
  schema: JsonSchema | undefined,
  root: JsonSchema | undefined,
  find: (schema: JsonSchema) => JsonSchema | undefined,
  seen: Set<JsonSchema> = new Set(),
): JsonSchema | undefined {
  const found = resolveRef(schema, root)
  if (found === undefined || seen.has(found)) return undefined
  seen.add(found)
  const direct = find(found)
  if (direct !== undefined) return direct
  for (const branch of branchesOf(found)) {
    const inner = search(branch, root, find, seen)
    if (inner !== undefined) return inner
  }
  return undefined
}

/** Follows `$ref: "#/…"` within the document. */
export function resolveRef(schema: JsonSchema | undefined, root: JsonSchema | undefined): JsonSchema | undefined {
  let found = schema
  for (let hops = 0; found !== undefined && typeof found['$ref'] === 'string' && hops < 20; hops++) {
    const ref: string = found['$ref']
    if (ref === '#') found = root
    else if (!ref.startsWith('#/')) return undefined
    else {
      let at: unknown = root
      for (const part of ref.slice(2).split('/'))
        at = isSchema(at) ? at[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
      found = isSchema(at) ? at : undefined
    }
  }
  return found
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
