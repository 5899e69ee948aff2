// Records of the workflow engine read strictly: which fields a record has, of what type, and what a missing one is. A key with nil fits
// an optional field only; a payload that does not fit is named with the path of the misfit. Unknown keys are dropped. shapes.ts has the
// tables.
//
// (library/formats/record-shapes.ts reads records of the older kind, in which nil stands for a missing field everywhere.)

import { HarnDict, HarnFloat, HarnList, Problem, display, failRuntime, isInt, stringifyJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { recordData } from '../../library/formats/record-shapes.js'

/**
 * A scalar by its name, with `?` when nil fits, and behind `=` the default of a missing one; or records. `aliases` of a shape are other
 * names of a field.
 */
export type Field =
  | Scalar
  | { readonly record: Shape; readonly optional?: true }
  | { readonly records: Shape }
  | { readonly byName: Shape }

export type Scalar =
  | 'string'
  | 'string?'
  | 'i64'
  | 'i64?'
  | 'usize'
  | 'usize=1'
  | 'usize?'
  | 'f64?'
  | 'f64'
  | 'boolean'
  | 'boolean=true'
  | 'any'
  | 'map'
  | 'strings'
  | 'sequence'
  | 'sequence=nil'
  | 'string lists by name'
  | 'texts by name'

export interface Shape {
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
  readonly aliases?: Readonly<Record<string, readonly string[]>>
}

class Misfit extends Problem {
  readonly path: string
  readonly why: string

  constructor(path: string, why: string) {
    super(why)
    this.path = path
    this.why = why
  }
}

function describeValue(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (isInt(value)) return `integer \`${value}\``
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${display(value)}\``
  return value instanceof HarnList ? 'sequence' : 'map'
}

function throwMisfit(path: string, value: Value, wanted: string, kind = 'type'): never {
  throw new Misfit(path === '' ? '.' : path, `invalid ${kind}: ${describeValue(value)}, expected ${wanted}`)
}

function readItems<T extends Value>(value: Value, path: string, read: (item: Value, path: string) => T): HarnList {
  if (!(value instanceof HarnList)) return throwMisfit(path, value, 'a sequence')
  return new HarnList(value.view().map((item, at) => read(item, `${path}[${at}]`)))
}

function readText(value: Value, path: string): string {
  return typeof value === 'string' ? value : throwMisfit(path, value, 'a string')
}

function readEntries(value: Value, path: string, read: (item: Value, path: string) => Value): HarnDict {
  if (!(value instanceof HarnDict)) return throwMisfit(path, value, 'a map')
  const result = new HarnDict()
  for (const key of value.keys()) result.set(key, read(value.get(key)!, path === '' ? key : `${path}.${key}`))
  return result
}

function readScalar(field: Scalar, value: Value, path: string): Value {
  if (field === 'any' || (field.endsWith('?') && value === null)) return value
  const [type] = field.split(/[?=]/)
  switch (type) {
    case 'string':
      return readText(value, path)
    case 'i64':
      return isInt(value) ? value : throwMisfit(path, value, 'i64')
    case 'usize':
      if (!isInt(value)) return throwMisfit(path, value, 'usize')
      return value >= 0 ? value : throwMisfit(path, value, 'usize', 'value')
    case 'f64':
      if (isInt(value)) return new HarnFloat(Number(value))
      return value instanceof HarnFloat ? value : throwMisfit(path, value, 'f64')
    case 'boolean':
      return typeof value === 'boolean' ? value : throwMisfit(path, value, 'a boolean')
    case 'map':
      return value instanceof HarnDict ? value : throwMisfit(path, value, 'a map')
    case 'strings':
      return readItems(value, path, readText)
    case 'sequence':
      return value instanceof HarnList || (field === 'sequence=nil' && value === null)
        ? value
        : throwMisfit(path, value, 'a sequence')
    case 'texts by name':
      return readEntries(value, path, readText)
    default:
      return readEntries(value, path, (item, at) => readItems(item, at, readText))
  }
}

function makeDefault(field: Field): Value {
  if (typeof field !== 'string') {
    if ('record' in field) return field.optional === true ? null : readRecord(new HarnDict(), field.record, '')
    return 'records' in field ? new HarnList([]) : new HarnDict()
  }
  if (field === 'any' || field.endsWith('?') || field.endsWith('=nil')) return null
  const [type, given] = field.split('=')
  switch (type) {
    case 'string':
      return ''
    case 'i64':
    case 'usize':
      return Number(given ?? 0)
    case 'f64':
      return new HarnFloat(0)
    case 'boolean':
      return given === 'true'
    case 'strings':
    case 'sequence':
      return new HarnList([])
    default:
      return new HarnDict()
  }
}

function readField(field: Field, value: Value, path: string): Value {
  if (typeof field === 'string') return readScalar(field, value, path)
  if ('record' in field) return field.optional === true && value === null ? null : readRecord(value, field.record, path)
  if ('records' in field) return readItems(value, path, (item, at) => readRecord(item, field.records, at))
  return readEntries(value, path, (item, at) => readRecord(item, field.byName, at))
}

function readRecord(value: Value, shape: Shape, path: string): HarnDict {
  if (!(value instanceof HarnDict)) return throwMisfit(path, value, `struct ${shape.name}`)
  const result = new HarnDict()
  for (const [name, field] of Object.entries(shape.fields)) {
    const key = value.has(name) ? name : (shape.aliases?.[name]?.find((alias) => value.has(alias)) ?? name)
    const at = path === '' ? key : `${path}.${key}`
    result.set(name, value.has(key) ? readField(field, value.get(key)!, at) : makeDefault(field))
  }
  return result
}

/** So much of a payload stands in a message. */
const PAYLOAD_BYTES = 600

function describePayload(payload: Value): string {
  const text = stringifyJson(payload)
  return text.length > PAYLOAD_BYTES ? `${text.slice(0, PAYLOAD_BYTES)}...` : text
}

/**
 * The payload as a record. A misfit is raised: with path and payload, or, when it was `short`, with the reason alone.
 */
export function readShape(payload: Value, shape: Shape, label: string, short: boolean): HarnDict {
  const data = recordData(payload)
  try {
    return readRecord(data, shape, '')
  } catch (error) {
    if (!(error instanceof Misfit)) throw error
    if (short) return failRuntime(`${label}: ${error.why}`)
    return failRuntime(`${label} parse error at ${error.path}: ${error.why} | payload=${describePayload(data)}`)
  }
}
