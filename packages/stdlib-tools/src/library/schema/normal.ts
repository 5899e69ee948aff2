// The schema vocabulary and its transformations. Scripts may write schemas in the language's words or
// in those of JSON Schema and OpenAPI; everything works on one canonical form, made here.

import { HarnDict, HarnFloat, HarnList, Problem, display, isInt, lookup } from '@bridle/vm/families'
import type { Cost, Value } from '@bridle/vm/families'

/** A schema that cannot be read; the message is what scripts see. */
export class SchemaError extends Problem {}

/** Schemas nested deeper than this are refused; it keeps the recursion here far from the JavaScript stack's end. */
const MAX_DEPTH = 256
/** Schemas inside one schema. A value whose parts are shared may unfold to far more than it holds. */
const MAX_SCHEMAS = 100_000

interface Budget {
  left: number
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'dict',
  array: 'list',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'nil',
}

/** Canonical key → the spellings read for it, first found wins. */
const SPELLINGS: readonly (readonly [string, readonly string[]])[] = [
  ['additional_properties', ['additional_properties', 'additionalProperties']],
  ['min', ['min', 'minimum']],
  ['max', ['max', 'maximum']],
  ['min_length', ['min_length', 'minLength']],
  ['max_length', ['max_length', 'maxLength']],
  ['min_items', ['min_items', 'minItems']],
  ['max_items', ['max_items', 'maxItems']],
  ['union', ['union', 'oneOf', 'anyOf']],
  ['all_of', ['all_of', 'allOf']],
]

/** Keys that pass through as they are. */
const KEPT = [
  'pattern',
  'enum',
  'const',
  'default',
  '$ref',
  'title',
  'description',
  'format',
  'deprecated',
  'readOnly',
  'writeOnly',
  'example',
  'examples',
  'x-harn-type',
]

/** What a schema takes: some fifty keys are looked for, and what is found is copied. */
const A_SCHEMA: Cost = { units: 40, heap: 200 }

/** Makes one schema of another, in steps. */
type Changing = Generator<Cost, HarnDict, void>

/** The canonical form, in steps; throws SchemaError. */
export function* canonicalizeSchema(schema: Value, depth = 0, budget: Budget = { left: MAX_SCHEMAS }): Changing {
  if (!(schema instanceof HarnDict)) throw new SchemaError('schema must be a dict')
  if (depth > MAX_DEPTH) throw new SchemaError('schema is nested too deeply')
  if (--budget.left < 0) throw new SchemaError('schema is too large')
  yield A_SCHEMA
  const canonicalizeInner = (each: Value): Changing => canonicalizeSchema(each, depth + 1, budget)
  const out = new HarnDict()
  for (const key of KEPT) if (schema.has(key)) out.set(key, schema.get(key)!)
  for (const [key, spellings] of SPELLINGS) {
    const found = spellings.find((spelling) => schema.has(spelling))
    if (found !== undefined) yield* setCanonical(out, key, schema.get(found)!, canonicalizeInner)
  }
  const properties = schema.get('properties')
  if (properties instanceof HarnDict) out.set('properties', yield* mapSchemas(properties, canonicalizeInner))
  if (schema.has('required')) out.set('required', normalizeRequired(schema.get('required')!))
  if (schema.has('items')) out.set('items', yield* canonicalizeInner(schema.get('items')!))
  if (schema.get('nullable') === true) out.set('nullable', true)
  const definitions = schema.get('definitions')
  if (definitions instanceof HarnDict) out.set('definitions', yield* mapSchemas(definitions, canonicalizeInner))
  const components = schema.get('components')
  if (components instanceof HarnDict) out.set('components', yield* canonicalizeComponents(components, canonicalizeInner))
  setType(out, schema.get('type') ?? null, schema.get('uniqueItems') === true)
  return out
}

type Inner = (schema: Value) => Changing

function* setCanonical(out: HarnDict, key: string, value: Value, inner: Inner): Generator<Cost, void, void> {
  if (key === 'additional_properties') {
    if (typeof value === 'boolean') out.set(key, value)
    else if (value instanceof HarnDict) out.set(key, yield* inner(value))
  } else if (key === 'union' || key === 'all_of') {
    if (!(value instanceof HarnList)) throw new SchemaError('schema union/all_of must be a list')
    out.set(key, yield* mapItems(value, inner))
  } else out.set(key, value)
}

function setType(out: HarnDict, type: Value, unique: boolean): void {
  if (type instanceof HarnList) {
    out.set('union', new HarnList(type.view().map((name) => HarnDict.of({ type: normalizeTypeName(display(name)) }))))
  } else if (typeof type === 'string') {
    const word = normalizeTypeName(type)
    const isSet = word === 'list' && unique
    out.set('type', isSet ? 'set' : word)
    if (isSet) out.set('x-harn-type', 'set')
  }
}

function normalizeTypeName(name: string): string {
  return Object.hasOwn(TYPE_NAMES, name) ? TYPE_NAMES[name]! : name
}

/** Anything but a list of names counts as "nothing is required". */
function normalizeRequired(value: Value): HarnList {
  return value instanceof HarnList ? new HarnList(value.view().map((key) => display(key))) : new HarnList([])
}

type Change = (schema: Value) => Generator<Cost, Value, void>

function* mapSchemas(schemas: HarnDict, change: Change): Changing {
  const out = new HarnDict()
  for (const key of schemas.keys()) out.set(key, yield* change(schemas.get(key)!))
  return out
}

function* mapItems(items: HarnList, change: Change): Generator<Cost, HarnList, void> {
  const out: Value[] = []
  for (const item of items.view()) out.push(yield* change(item))
  return new HarnList(out)
}

function* canonicalizeComponents(components: HarnDict, inner: Inner): Changing {
  const schemas = components.get('schemas')
  return schemas instanceof HarnDict ? components.with('schemas', yield* mapSchemas(schemas, inner)) : components
}

// ------------------------------------------------------------------------------------------------------ transformations

/** Applies `change` to every schema inside a canonical one. */
function* mapChildren(schema: HarnDict, change: (schema: HarnDict) => Changing): Changing {
  yield A_SCHEMA
  const out = schema.copy()
  function* changeEach(value: Value): Generator<Cost, Value, void> {
    return value instanceof HarnDict ? yield* change(value) : value
  }
  for (const key of ['properties', 'definitions']) {
    const schemas = out.get(key)
    if (schemas instanceof HarnDict) out.set(key, yield* mapSchemas(schemas, changeEach))
  }
  for (const key of ['items', 'additional_properties']) if (out.has(key)) out.set(key, yield* changeEach(out.get(key)!))
  for (const key of ['union', 'all_of']) {
    const branches = out.get(key)
    if (branches instanceof HarnList) out.set(key, yield* mapItems(branches, changeEach))
  }
  const components = out.get('components')
  const schemas = components instanceof HarnDict ? components.get('schemas') : undefined
  if (schemas instanceof HarnDict)
    out.set('components', (components as HarnDict).with('schemas', yield* mapSchemas(schemas, changeEach)))
  return out
}

export function* makePartialSchema(schema: HarnDict): Changing {
  const out = yield* mapChildren(schema, makePartialSchema)
  out.delete('required')
  return out
}

const A_KEY: Cost = { units: 4, heap: 32 }

/** Keeps the top-level properties that `keep` wants. */
export function* filterProperties(schema: HarnDict, keep: (key: string) => boolean): Changing {
  const out = schema.copy()
  const properties = schema.get('properties')
  if (properties instanceof HarnDict) {
    const kept = new HarnDict()
    for (const key of properties.keys()) {
      yield A_KEY
      if (keep(key)) kept.set(key, properties.get(key)!)
    }
    out.set('properties', kept)
  }
  const required = schema.get('required')
  if (required instanceof HarnList) out.set('required', new HarnList(required.view().filter((key) => keep(display(key)))))
  return out
}

const JSON_TYPES: Readonly<Record<string, string>> = lookup({
  dict: 'object',
  list: 'array',
  set: 'array',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  nil: 'null',
})
const JSON_KEYS: Readonly<Record<string, string>> = lookup({
  additional_properties: 'additionalProperties',
  min: 'minimum',
  max: 'maximum',
  min_length: 'minLength',
  max_length: 'maxLength',
  min_items: 'minItems',
  max_items: 'maxItems',
  union: 'oneOf',
  all_of: 'allOf',
})

/** The words of JSON Schema, or of OpenAPI, which keeps `nullable`. */
export function* toJsonSchema(schema: HarnDict, openApi: boolean): Changing {
  const canonical = yield* mapChildren(schema, (child) => toJsonSchema(child, openApi))
  const out = new HarnDict()
  for (const key of canonical.keys()) {
    const value = canonical.get(key)!
    if (key === 'type') setJsonType(out, display(value))
    else if (key === 'min' || key === 'max') out.set(JSON_KEYS[key]!, isInt(value) ? new HarnFloat(Number(value)) : value)
    else if (key !== 'nullable') out.set(JSON_KEYS[key] ?? key, value)
    else if (openApi) out.set('nullable', true)
  }
  if (!openApi && canonical.get('nullable') === true) allowNull(out)
  return out
}

function setJsonType(out: HarnDict, type: string): void {
  // A closure has no JSON form and travels as a string that says what it was.
  if (type === 'closure') {
    out.set('type', 'string')
    out.set('x-harn-type', type)
    return
  }
  out.set('type', JSON_TYPES[type] ?? type)
  if (type === 'set') out.set('uniqueItems', true)
}

function allowNull(out: HarnDict): void {
  const type = out.get('type')
  const branches = out.get('oneOf')
  if (type !== undefined) out.set('type', new HarnList([type, 'null']))
  else if (branches instanceof HarnList) out.set('oneOf', branches.append(HarnDict.of({ type: 'null' })))
}
