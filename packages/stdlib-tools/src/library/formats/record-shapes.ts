// Shapes of records: which fields a record has, of what type, and what a missing one is. A payload that does not fit is named
// with the place of the misfit. Fields that a shape does not know are dropped.

import {
  HarnBytes,
  HarnDict,
  HarnFloat,
  HarnList,
  Problem,
  display,
  encodeBase64,
  failRuntime,
  isInt,
  stringifyJson,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { toData } from '../files/state-files.js'

/** A payload as records keep it: data as it is, bytes as `{"$bytes_b64": …}`, everything else as its display text. */
export function recordData(value: Value): Value {
  return toData(value, (other) =>
    other instanceof HarnBytes ? HarnDict.of({ $bytes_b64: encodeBase64(other.data) }) : display(other),
  )
}

export type FieldShape =
  | { readonly type: 'text' | 'int' | 'number' | 'dict' | 'any'; readonly fallback?: Value }
  | { readonly type: 'flag'; readonly fallback: boolean }
  | { readonly type: 'texts' }
  | { readonly type: 'records'; readonly name: string; readonly shape: RecordShape }
  | { readonly type: 'record'; readonly name: string; readonly shape: RecordShape; readonly optional: boolean }

export type RecordShape = Readonly<Record<string, FieldShape>>

class Misfit extends Problem {}

function describeValue(value: Value): string {
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (isInt(value)) return `integer \`${value}\``
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${display(value)}\``
  return value === null ? 'null' : value instanceof HarnList ? 'sequence' : 'map'
}

function throwMisfit(path: string, value: Value, wanted: string): never {
  throw new Misfit(`${path}: invalid type: ${describeValue(value)}, expected ${wanted}`)
}

function readField(value: Value, shape: FieldShape, path: string): Value {
  switch (shape.type) {
    case 'any':
      return value ?? shape.fallback ?? null
    case 'text':
      return value === null ? (shape.fallback ?? null) : typeof value === 'string' ? value : throwMisfit(path, value, 'a string')
    case 'int':
      return value === null ? (shape.fallback ?? null) : isInt(value) ? value : throwMisfit(path, value, 'i64')
    case 'number': {
      if (value === null) return shape.fallback ?? null
      return value instanceof HarnFloat ? value : isInt(value) ? new HarnFloat(Number(value)) : throwMisfit(path, value, 'f64')
    }
    case 'flag':
      return value === null ? shape.fallback : typeof value === 'boolean' ? value : throwMisfit(path, value, 'a boolean')
    case 'dict':
      return value === null
        ? (shape.fallback ?? new HarnDict())
        : value instanceof HarnDict
          ? value
          : throwMisfit(path, value, 'a map')
    case 'texts': {
      if (value === null) return new HarnList([])
      if (!(value instanceof HarnList)) return throwMisfit(path, value, 'a sequence')
      return new HarnList(
        value.view().map((item, at) => (typeof item === 'string' ? item : throwMisfit(`${path}[${at}]`, item, 'a string'))),
      )
    }
    case 'records': {
      if (value === null) return new HarnList([])
      if (!(value instanceof HarnList)) return throwMisfit(path, value, 'a sequence')
      return new HarnList(value.view().map((item, at) => readShape(item, shape.name, shape.shape, `${path}[${at}]`)))
    }
    case 'record':
      return value === null && shape.optional ? null : readShape(value ?? new HarnDict(), shape.name, shape.shape, path)
  }
}

function readShape(value: Value, name: string, shape: RecordShape, path: string): HarnDict {
  if (!(value instanceof HarnDict)) return throwMisfit(path === '' ? '.' : path, value, `struct ${name}`)
  const result = new HarnDict()
  for (const [field, each] of Object.entries(shape))
    result.set(field, readField(value.get(field) ?? null, each, path === '' ? field : `${path}.${field}`))
  return result
}

/** The payload as a record of this shape. For primitives: a misfit is raised as a runtime error. */
export function readRecord(payload: Value, caller: string, name: string, shape: RecordShape): HarnDict {
  try {
    return readShape(payload, name, shape, '')
  } catch (error) {
    if (error instanceof Misfit)
      return failRuntime(`${caller} parse error at ${error.message} | payload=${stringifyJson(payload)}`)
    throw error
  }
}
