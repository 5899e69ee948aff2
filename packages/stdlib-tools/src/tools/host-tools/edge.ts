// Host data → script data. What a host function returns is taken apart once: it must be data, and its numbers
// become ints or floats by its schema. Script data → host data is `toPlain` of the machine.

import { DEFAULT_LIMITS, HarnFloat, MAX_EDGE_DEPTH } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import { describeCause } from '../executors/provider.js'
import { walkInPieces } from './piece-walk.js'
import type { PieceWalk } from './piece-walk.js'
import type { JsonSchema } from './schema.js'

/** Heap units of an object and of a slot. */
const UNITS = 16
/** An array of two values can say that it has four thousand million; what stands between takes as long to go through as if it were there. */
const MAX_HOLES = 10_000
/** Values that are copied once more, because their container occurs several times: a few objects can expand to more than any memory holds. */
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
  const walk = new HostWalk(value, schema, most)
  walk.step(Infinity)
  return walk.plain
}

/** The same in pieces, for what a tool gave: at once where it is one piece, so that small results take no turn of the event loop. */
export function plainFromHostInPieces(value: unknown, schema?: JsonSchema, most?: number): Plain | Promise<Plain> {
  if (typeof value === 'boolean' || value === null || value === undefined) return value ?? null
  if (typeof value === 'number') return convertNumber(value, schema, schema)
  const walk = new HostWalk(value, schema, most)
  const done = walkInPieces(walk)
  return done instanceof Promise ? done.then(() => walk.plain) : walk.plain
}

/** A list or record that is being copied. */
class Open {
  at = 0
  holes = 0
  readonly source: unknown
  readonly size: number
  /** Of a record; null for a list. */
  readonly keys: readonly string[] | null
  readonly copy: Plain[] | { [key: string]: Plain }
  readonly schema: JsonSchema | undefined
  /** How deep its members are. */
  readonly depth: number

  constructor(
    source: unknown,
    size: number,
    keys: readonly string[] | null,
    copy: Plain[] | { [key: string]: Plain },
    schema: JsonSchema | undefined,
    depth: number,
  ) {
    this.source = source
    this.size = size
    this.keys = keys
    this.copy = copy
    this.schema = schema
    this.depth = depth
  }
}

/** Members that are copied between two turns of the event loop. */
const PIECE = 1 << 12

class HostWalk implements PieceWalk {
  plain: Plain = null
  /** The whole schema, which references count from. */
  private readonly schema: JsonSchema | undefined
  /** Lists and records that were copied; null before the first. */
  private seen: Set<unknown> | null = null
  /** Values of those that were copied again. */
  private repeated = 0
  /** Heap units that were copied, and may be. */
  private units = 0
  private readonly most: number
  private readonly open: Open[] = []

  constructor(value: unknown, schema: JsonSchema | undefined, most: number = DEFAULT_LIMITS.heap) {
    this.schema = schema
    this.most = most
    this.runGuarded(() => (this.plain = this.begin(value, schema, 0)))
  }

  step(piece = PIECE): boolean {
    let isDone = true
    this.runGuarded(() => (isDone = this.go(piece)))
    return isDone
  }

  /** Getters, proxies and toJSON are code of the host, and the copy runs it. */
  private runGuarded(act: () => void): void {
    try {
      act()
    } catch (cause) {
      if (cause instanceof NotDataError) throw cause
      throw new NotDataError(`it cannot be read: ${describeCause(cause)}`, { cause })
    }
  }

  private go(piece: number): boolean {
    const { open } = this
    let left = piece
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (top.at === top.size) {
        open.pop()
        continue
      }
      if (left-- <= 0) return false
      const at = top.at++
      if (top.keys === null) this.copyItem(top, at)
      else this.copyField(top, top.keys[at]!)
    }
    return true
  }

  private copyItem(top: Open, at: number): void {
    const items = top.source as readonly unknown[]
    const item = items[at]
    if (item === undefined && !(at in items) && ++top.holes > MAX_HOLES)
      throw new NotDataError(`an array of ${top.size} with more than ${MAX_HOLES} holes is not data`)
    this.count(UNITS)
    ;(top.copy as Plain[]).push(this.begin(item, findItemSchema(top.schema, this.schema, at), top.depth))
  }

  private copyField(top: Open, key: string): void {
    const { source } = top
    const item: unknown = source instanceof Map ? source.get(key) : (source as { readonly [key: string]: unknown })[key]
    if (item === undefined) return
    this.count(UNITS + key.length)
    ;(top.copy as { [key: string]: Plain })[key] = this.begin(item, findPropertySchema(top.schema, this.schema, key), top.depth)
  }

  /** A leaf, or the empty copy of what has members, which are next. */
  private begin(value: unknown, schema: JsonSchema | undefined, depth: number): Plain {
    switch (typeof value) {
      case 'string':
        this.count(value.length)
        return value
      case 'boolean':
        return value
      case 'bigint':
        if (BigInt.asIntN(64, value) !== value) throw new NotDataError('an integer of more than 64 bits is not data')
        return value
      case 'number':
        return convertNumber(value, schema, this.schema)
      case 'undefined':
        return null
      case 'function':
      case 'symbol':
        throw new NotDataError(`a ${typeof value} is not data`)
    }
    if (value === null) return null
    if (value instanceof HarnFloat) return value
    if (value instanceof Uint8Array || value instanceof ArrayBuffer) {
      this.count(value.byteLength)
      return value instanceof Uint8Array ? value : new Uint8Array(value)
    }
    if (depth >= MAX_EDGE_DEPTH) throw new NotDataError(`data is nested deeper than ${MAX_EDGE_DEPTH}, or contains itself`)
    if (Array.isArray(value)) return this.list(value, value, schema, depth)
    if (isNumbers(value)) {
      if (value.length * UNITS > this.most) this.count(value.length * UNITS)
      return this.list(value, [...value], schema, depth)
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (value instanceof Set) return this.list(value, [...value], schema, depth)
    if (value instanceof Map) {
      const source = new Map([...value].map(([key, item]: [unknown, unknown]) => [String(key), item]))
      return this.record(source, [...source.keys()], schema, depth)
    }
    if (value instanceof Promise) {
      // There is no other handler: a rejection would end the process.
      value.catch(() => {})
      throw new NotDataError('a promise is not data')
    }
    const { toJSON } = value as { readonly toJSON?: unknown }
    if (typeof toJSON === 'function') return this.begin((toJSON as () => unknown).call(value), schema, depth + 1)
    if (value instanceof Error) return { name: String(value.name), message: String(value.message) }
    const keys = Object.keys(value as object)
    this.visit(value, keys.length)
    return this.record(value as object, keys, schema, depth)
  }

  private list(value: unknown, items: readonly unknown[], schema: JsonSchema | undefined, depth: number): Plain {
    this.visit(value, items.length)
    const list: Plain[] = []
    this.open.push(new Open(items, items.length, null, list, schema, depth + 1))
    return list
  }

  private record(source: object, keys: readonly string[], schema: JsonSchema | undefined, depth: number): Plain {
    const record = Object.create(null) as { [key: string]: Plain }
    this.open.push(new Open(source, keys.length, keys, record, schema, depth + 1))
    return record
  }

  private count(units: number): void {
    if ((this.units += units) > this.most) throw new TooLargeError(this.units, this.most)
  }

  private visit(value: unknown, size: number): void {
    if (this.seen === null) this.seen = new Set([value])
    else if (!this.seen.has(value)) this.seen.add(value)
    else if ((this.repeated += size + 1) > MAX_REPEATED)
      throw new NotDataError(`data in which the same objects stand for more than ${MAX_REPEATED} values is too large`)
  }
}

function isNumbers(value: unknown): value is Float64Array | BigInt64Array {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function convertNumber(value: number, schema: JsonSchema | undefined, root: JsonSchema | undefined): Plain {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return new HarnFloat(value)
  if (schema === undefined) return value
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
  for (const branch of listBranches(found)) addTypes(types, branch, root, seen)
}

function listBranches(schema: JsonSchema): readonly JsonSchema[] {
  if (BRANCHING.every((key) => schema[key] === undefined)) return NO_BRANCHES
  return BRANCHING.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []).filter(isSchema))
}

const BRANCHING = ['anyOf', 'oneOf', 'allOf'] as const
const NO_BRANCHES: readonly JsonSchema[] = []

function findItemSchema(schema: JsonSchema | undefined, root: JsonSchema | undefined, at: number): JsonSchema | undefined {
  return search(schema, root, (each) => {
    const prefix = each['prefixItems']
    const item = Array.isArray(prefix) && at < prefix.length ? (prefix[at] as unknown) : each['items']
    return isSchema(item) ? item : undefined
  })
}

function findPropertySchema(schema: JsonSchema | undefined, root: JsonSchema | undefined, key: string): JsonSchema | undefined {
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
  for (const branch of listBranches(found)) {
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
