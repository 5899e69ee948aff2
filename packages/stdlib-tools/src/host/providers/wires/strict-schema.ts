// JSON Schemas as services with strict decoding want them. OpenAI: every property is required, objects are closed, an optional property is
// nullable instead, and only some keywords are known. A schema that cannot be expressed this way is not sent as strict. What is omitted from a schema
// is not lost: the machine holds the answer against the whole of it.

import { HarnDict, HarnList, parseJson, stringifySorted } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { list, readText, record } from './json.js'
import type { Json } from './json.js'

const KEPT: readonly string[] = [
  'type',
  'description',
  'title',
  'enum',
  'const',
  '$ref',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
]

/** Keywords that change which values fit in ways that no kept keyword can say. */
const STRUCTURAL: readonly string[] = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'prefixItems',
  'dependentSchemas',
  'dependentRequired',
  'propertyNames',
  'unevaluatedProperties',
  'contains',
  '$dynamicRef',
]

const MOST_DEPTH = 10
const MOST_PROPERTIES = 5000
const MOST_WORDS = 1000

/** OpenAI's formats of strings. */
const FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])

class NotStrict extends Error {}

interface Counts {
  properties: number
  words: number
}

/** Null where no strict schema says the same. */
export function makeStrictSchema(schema: unknown): Json | null {
  const given = record(schema)
  if (given['type'] !== 'object' || given['anyOf'] !== undefined || given['oneOf'] !== undefined) return null
  try {
    return makeStrict(given, 0, { properties: 0, words: 0 })
  } catch (cause) {
    if (cause instanceof NotStrict) return null
    throw cause
  }
}

/** Whether a schema is strict as it stands: then a tool may claim it, and the arguments that come need no change. */
export function isStrictSchema(schema: unknown): boolean {
  const strict = makeStrictSchema(schema)
  return strict !== null && JSON.stringify(order(strict)) === JSON.stringify(order(schema))
}

/** The order of keys, and of required names, is irrelevant. */
function order(value: unknown, key = ''): unknown {
  if (Array.isArray(value))
    return key === 'required' ? value.map(String).toSorted((a, b) => (a < b ? -1 : 1)) : value.map((each) => order(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, order(each, name)]),
  )
}

function makeStrict(schema: unknown, depth: number, counts: Counts): Json {
  const given = record(schema)
  if (depth > MOST_DEPTH || typeof schema !== 'object' || Object.keys(given).length === 0) throw new NotStrict()
  if (STRUCTURAL.some((name) => given[name] !== undefined)) throw new NotStrict()
  const out: Record<string, unknown> = {}
  for (const name of KEPT) if (given[name] !== undefined) out[name] = given[name]
  if (out['format'] !== undefined && !FORMATS.has(readText(out['format']) ?? '')) delete out['format']
  counts.words += list(given['enum']).length
  if (counts.words > MOST_WORDS) throw new NotStrict()
  const kinds = given['anyOf'] ?? given['oneOf']
  if (kinds !== undefined) out['anyOf'] = list(kinds).map((kind) => makeStrict(kind, depth, counts))
  if (given['$defs'] !== undefined || given['definitions'] !== undefined) {
    const key = given['$defs'] === undefined ? 'definitions' : '$defs'
    out[key] = Object.fromEntries(Object.entries(record(given[key])).map(([name, each]) => [name, makeStrict(each, 1, counts)]))
  }
  const types = [given['type']].flat()
  if (types.includes('object')) Object.assign(out, makeClosed(given, depth, counts))
  if (types.includes('array')) {
    if (given['items'] === undefined) throw new NotStrict()
    out['items'] = makeStrict(given['items'], depth + 1, counts)
  }
  if (['type', 'enum', 'const', '$ref', 'anyOf'].every((name) => out[name] === undefined)) throw new NotStrict()
  return out
}

function makeClosed(given: Json, depth: number, counts: Counts): Json {
  const open = given['additionalProperties']
  if ((open !== undefined && open !== false) || given['properties'] === undefined) throw new NotStrict()
  const entries = Object.entries(record(given['properties']))
  counts.properties += entries.length
  if (counts.properties > MOST_PROPERTIES) throw new NotStrict()
  const required = new Set(list(given['required']))
  const properties = entries.map(([name, each]) => {
    const strict = makeStrict(each, depth + 1, counts)
    return [name, required.has(name) ? strict : makeNullable(strict)] as const
  })
  return { properties: Object.fromEntries(properties), required: entries.map(([name]) => name), additionalProperties: false }
}

function makeNullable(schema: Json): Json {
  const { type } = schema
  if (admitsNull(schema)) return schema
  if (type === undefined || schema['const'] !== undefined) return { anyOf: [schema, { type: 'null' }] }
  const words = schema['enum'] === undefined ? {} : { enum: [...list(schema['enum']), null] }
  return { ...schema, type: [...[type].flat(), 'null'], ...words }
}

function admitsNull(schema: Json): boolean {
  if ([schema['type']].flat().includes('null')) return schema['enum'] === undefined || list(schema['enum']).includes(null)
  if (schema['nullable'] === true || ('const' in schema && schema['const'] === null)) return true
  return list(schema['anyOf'] ?? schema['oneOf']).some((kind) => admitsNull(record(kind)))
}

/** Objects closed as Anthropic wants them; optional properties stay optional. Null where an object is open on purpose. */
export function makeClosedSchema(schema: unknown): Json | null {
  const close = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(close)
    if (typeof each !== 'object' || each === null) return each
    const given = each as Json
    const out = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, DATA.has(name) ? value : close(value)]))
    if (![given['type']].flat().includes('object')) return out
    const open = given['additionalProperties']
    if ((open !== undefined && open !== false) || given['properties'] === undefined) throw new NotStrict()
    return { ...out, additionalProperties: false }
  }
  try {
    return record(schema)['type'] === 'object' ? (close(schema) as Json) : null
  } catch (cause) {
    if (cause instanceof NotStrict) return null
    throw cause
  }
}

const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required'])

// ---------------------------------------------------------------------------------------------------------------- answers

/**
 * An answer to a strict schema as one to the schema that was given: optional properties that are null are left out. A text that is no JSON, or
 * has none of them, stays as it is.
 */
export function withoutNulls(text: string, schema: unknown): string {
  if (!text.includes('null')) return text
  const read = parseJson(text)
  if (!read.ok) return text
  const root = record(schema)
  const before = stringifySorted(read.value)
  const after = stringifySorted(dropNulls(read.value, root, root))
  return before === after ? text : after
}

function dropNulls(value: Value, schema: Json, root: Json): Value {
  const known = resolveReference(schema, root)
  const kinds = list(known['anyOf'] ?? known['oneOf']).map(record)
  if (value instanceof HarnList) {
    const items = [known, ...kinds].map((kind) => resolveReference(kind, root)['items']).find((each) => each !== undefined)
    return items === undefined ? value : new HarnList(value.view().map((item) => dropNulls(item, record(items), root)))
  }
  if (!(value instanceof HarnDict)) return value
  let out: Value = value
  for (const kind of kinds) out = dropNulls(out, kind, root)
  const properties = record(known['properties'])
  const required = new Set(list(known['required']))
  const kept = new HarnDict()
  for (const [name, item] of (out as HarnDict).entries()) {
    const own = Object.hasOwn(properties, name) ? record(properties[name]) : null
    const isMissing = item === null && own !== null && !required.has(name) && !admitsNull(resolveReference(own, root))
    if (!isMissing) kept.set(name, own === null ? item : dropNulls(item, own, root))
  }
  return kept
}

/** `#/$defs/NAME`; a chain of them is followed as far as it is short. */
function resolveReference(schema: Json, root: Json): Json {
  let found = schema
  for (let steps = 0; steps < 8; steps++) {
    const reference = readText(found['$ref'])
    if (reference === null || !reference.startsWith('#')) return found
    const path = reference
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
    found = path.reduce<Json>((at, part) => record(at[part]), root)
  }
  return found
}
