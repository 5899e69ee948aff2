// Checks of values against JSON Schemas, for tool arguments and results. Values are checked as they are, without a
// detour over JSON text, so ints stay exact. Unknown keywords and unknown type names pass: a schema may come from anywhere.
// A failure names the place as a path: `$`, `$.a`, `$.a[0]`.

import {
  HarnBytes,
  HarnClosure,
  HarnDict,
  HarnFloat,
  HarnList,
  HarnStruct,
  Keyed,
  countCodePoints,
  compare,
  equals,
  isInt,
  stringifySorted,
  makeStructuralKey,
  typeName,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { RE2JS } from 're2js'

export interface SchemaFailure {
  readonly path: string
  readonly reason: string
  readonly expected: string
  /** JSON text of the value at the path, cut to 4 KiB. */
  readonly actual: string
}

/** Nesting of schemas that is followed; deeper ones, and endless `$ref` chains, fail. */
const MAX_DEPTH = 200
const MAX_ACTUAL = 4096

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['float', 'number'],
  ['bool', 'boolean'],
  ['list', 'array'],
  ['dict', 'object'],
  ['nil', 'null'],
])

function nameJsonType(value: Value): string {
  if (value === null) return 'null'
  if (value instanceof HarnDict || value instanceof HarnStruct) return 'object'
  if (value instanceof HarnList) return 'array'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return 'string'
  if (isInt(value)) return 'integer'
  if (value instanceof HarnFloat) return 'number'
  return typeName(value)
}

function hasType(value: Value, type: string): boolean {
  switch (TYPE_ALIASES.get(type) ?? type) {
    case 'null':
      return value === null
    case 'boolean':
      return typeof value === 'boolean'
    case 'string':
      return typeof value === 'string' || value instanceof HarnBytes
    case 'integer':
      return isInt(value) || (value instanceof HarnFloat && Number.isInteger(value.v))
    case 'number':
      return isInt(value) || value instanceof HarnFloat
    case 'array':
      return value instanceof HarnList
    case 'object':
      return value instanceof HarnDict || value instanceof HarnStruct
    case 'closure':
      return value instanceof HarnClosure
    default:
      return true
  }
}

function asKeyed(value: Value): Keyed | null {
  return value instanceof Keyed ? value : null
}

function readSize(schema: HarnDict, key: string): number | null {
  const value = schema.get(key)
  if (typeof value === 'number') return value
  return value instanceof HarnFloat ? value.v : null
}

class Checker {
  readonly root: Value

  constructor(root: Value) {
    this.root = root
  }

  check(value: Value, schema: Value, path: string, depth: number): SchemaFailure | null {
    const fail = (reason: string, expected: string): SchemaFailure => ({
      path,
      reason,
      expected,
      actual: shorten(stringifySorted(value)),
    })
    if (schema === false) return fail('schema is false', 'nothing')
    if (typeof schema === 'string') return hasType(value, schema) ? null : fail(describeType(schema, value), schema)
    if (!(schema instanceof HarnDict)) return null
    if (depth > MAX_DEPTH) return fail(`schema nested deeper than ${MAX_DEPTH}`, 'a shallower schema')

    const reference = schema.get('$ref')
    if (typeof reference === 'string') {
      const target = this.resolve(reference)
      const failure = target === undefined ? null : this.check(value, target, path, depth + 1)
      if (failure !== null) return failure
    }
    if (schema.has('const') && !equals(value, schema.get('const')!))
      return fail('value does not match const', stringifySorted(schema.get('const')!))
    const options = schema.get('enum')
    if (options instanceof HarnList && !options.view().some((option) => equals(value, option))) {
      return fail('value is not in enum', `one of ${stringifySorted(options)}`)
    }
    const types = listTypeNames(schema.get('type'))
    if (types !== null && !types.some((type) => hasType(value, type)))
      return fail(describeType(types.join(' or '), value), types.join(' or '))
    return (
      this.checkScalar(value, schema, fail) ??
      this.checkObject(value, schema, path, depth, fail) ??
      this.checkArray(value, schema, path, depth, fail) ??
      this.checkCombined(value, schema, path, depth, fail)
    )
  }

  private checkScalar(value: Value, schema: HarnDict, fail: Fail): SchemaFailure | null {
    if (typeof value === 'string') {
      const length = countCodePoints(value)
      const least = readSize(schema, 'minLength')
      if (least !== null && length < least) return fail(`string is shorter than ${least}`, `at least ${least} characters`)
      const most = readSize(schema, 'maxLength')
      if (most !== null && length > most) return fail(`string is longer than ${most}`, `at most ${most} characters`)
      const pattern = schema.get('pattern')
      if (typeof pattern === 'string' && !matches(pattern, value))
        return fail(`string does not match pattern ${pattern}`, pattern)
      return null
    }
    if (!isInt(value) && !(value instanceof HarnFloat)) return null
    for (const bound of BOUNDS) {
      const limit = schema.get(bound.keyword)
      if (limit === undefined || !(isInt(limit) || limit instanceof HarnFloat) || bound.holds(compare(value, limit))) continue
      return fail(`value is not ${bound.text} ${stringifySorted(limit)}`, `${bound.text} ${stringifySorted(limit)}`)
    }
    const step = readSize(schema, 'multipleOf')
    if (step !== null && step > 0) {
      const ratio = Number(value instanceof HarnFloat ? value.v : value) / step
      if (Math.abs(ratio - Math.round(ratio)) > 1e-9) return fail(`value is not a multiple of ${step}`, `a multiple of ${step}`)
    }
    return null
  }

  private checkObject(value: Value, schema: HarnDict, path: string, depth: number, fail: Fail): SchemaFailure | null {
    const fields = asKeyed(value)
    if (fields === null) return null
    const required = schema.get('required')
    if (required instanceof HarnList) {
      for (const name of required.view()) {
        if (typeof name === 'string' && !fields.has(name))
          return fail(`missing required property '${name}'`, `property '${name}'`)
      }
    }
    const least = readSize(schema, 'minProperties')
    if (least !== null && fields.size < least)
      return fail(`object has fewer than ${least} properties`, `at least ${least} properties`)
    const most = readSize(schema, 'maxProperties')
    if (most !== null && fields.size > most) return fail(`object has more than ${most} properties`, `at most ${most} properties`)
    const properties = schema.get('properties')
    const declared = properties instanceof HarnDict ? properties : new HarnDict()
    const patterns = schema.get('patternProperties')
    const additional = schema.get('additionalProperties')
    const keys = fields.keys()
    for (const key of keys) {
      const item = fields.get(key)!
      const place = `${path}.${key}`
      let known = declared.has(key)
      if (known) {
        const failure = this.check(item, declared.get(key)!, place, depth + 1)
        if (failure !== null) return failure
      }
      if (patterns instanceof HarnDict) {
        for (const [pattern, inner] of patterns.entries()) {
          if (!matches(pattern, key)) continue
          known = true
          const failure = this.check(item, inner, place, depth + 1)
          if (failure !== null) return failure
        }
      }
      if (known || additional === undefined || additional === true) continue
      if (additional === false) return fail(`additional property '${key}' is not allowed`, 'no other properties')
      const failure = this.check(item, additional, place, depth + 1)
      if (failure !== null) return failure
    }
    const names = schema.get('propertyNames')
    if (names !== undefined) {
      for (const key of keys) {
        const failure = this.check(key, names, `${path}.${key}`, depth + 1)
        if (failure !== null) return failure
      }
    }
    return null
  }

  private checkArray(value: Value, schema: HarnDict, path: string, depth: number, fail: Fail): SchemaFailure | null {
    if (!(value instanceof HarnList)) return null
    const least = readSize(schema, 'minItems')
    if (least !== null && value.length < least) return fail(`array has fewer than ${least} items`, `at least ${least} items`)
    const most = readSize(schema, 'maxItems')
    if (most !== null && value.length > most) return fail(`array has more than ${most} items`, `at most ${most} items`)
    const items = value.view()
    if (schema.get('uniqueItems') === true && new Set(items.map(makeStructuralKey)).size < items.length) {
      return fail('array items are not unique', 'unique items')
    }
    const firstOnes = schema.get('prefixItems')
    const prefix = firstOnes instanceof HarnList ? firstOnes.view() : []
    const others = schema.get('items')
    for (let at = 0; at < items.length; at++) {
      const inner = at < prefix.length ? prefix[at]! : others
      const failure = inner === undefined ? null : this.check(items[at]!, inner, `${path}[${at}]`, depth + 1)
      if (failure !== null) return failure
    }
    const contains = schema.get('contains')
    if (contains !== undefined && !items.some((item) => this.check(item, contains, path, depth + 1) === null)) {
      return fail('array contains no matching item', 'a matching item')
    }
    return null
  }

  private checkCombined(value: Value, schema: HarnDict, path: string, depth: number, fail: Fail): SchemaFailure | null {
    const passes = (inner: Value): boolean => this.check(value, inner, path, depth + 1) === null
    for (const inner of listAlternatives(schema, 'allOf')) {
      const failure = this.check(value, inner, path, depth + 1)
      if (failure !== null) return failure
    }
    const any = listAlternatives(schema, 'anyOf')
    if (any.length > 0 && !any.some(passes)) return fail('value matches no schema of anyOf', 'one of several schemas')
    const one = listAlternatives(schema, 'oneOf')
    if (one.length > 0) {
      const count = one.filter(passes).length
      if (count !== 1) return fail(`value matches ${count} schemas of oneOf`, 'exactly one of several schemas')
    }
    const not = schema.get('not')
    if (not !== undefined && passes(not)) return fail('value matches a schema that it must not match', 'another value')
    const condition = schema.get('if')
    if (condition === undefined) return null
    const branch = schema.get(passes(condition) ? 'then' : 'else')
    return branch === undefined ? null : this.check(value, branch, path, depth + 1)
  }

  /** A local reference such as `#/$defs/Name`; others pass. */
  private resolve(reference: string): Value | undefined {
    if (!reference.startsWith('#')) return undefined
    let found: Value | undefined = this.root
    for (const part of reference
      .slice(1)
      .split('/')
      .filter((part) => part !== '')) {
      found = found instanceof HarnDict ? found.get(part.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined
    }
    return found
  }
}

type Fail = (reason: string, expected: string) => SchemaFailure

const BOUNDS: readonly { readonly keyword: string; readonly text: string; readonly holds: (order: number) => boolean }[] = [
  { keyword: 'minimum', text: 'at least', holds: (order) => order >= 0 },
  { keyword: 'maximum', text: 'at most', holds: (order) => order <= 0 },
  { keyword: 'exclusiveMinimum', text: 'above', holds: (order) => order > 0 },
  { keyword: 'exclusiveMaximum', text: 'below', holds: (order) => order < 0 },
]

function listTypeNames(type: Value | undefined): string[] | null {
  if (typeof type === 'string') return [type]
  if (!(type instanceof HarnList)) return null
  return type.view().filter((name) => typeof name === 'string')
}

function describeType(expected: string, value: Value): string {
  return `expected type ${expected}, got ${nameJsonType(value)}`
}

function listAlternatives(schema: HarnDict, key: string): readonly Value[] {
  const list = schema.get(key)
  return list instanceof HarnList ? list.view() : []
}

/** A pattern that the engine does not know accepts everything, like any other unknown keyword. */
function matches(pattern: string, text: string): boolean {
  try {
    return RE2JS.compile(pattern).matcher(text).find()
  } catch {
    return true
  }
}

function shorten(text: string): string {
  return text.length > MAX_ACTUAL ? `${text.slice(0, MAX_ACTUAL)}…` : text
}

/** Null when the value fits. */
export function validateSchema(value: Value, schema: Value): SchemaFailure | null {
  return new Checker(schema).check(value, schema, '$', 0)
}

/** How one parameter spec of a tool is read when a call is checked. */
export function isRequired(spec: Value): boolean {
  return !(spec instanceof HarnDict) || (spec.get('required') !== false && !spec.has('default'))
}

/** The spec as a schema: `required` is a flag there, and `default` says nothing about the value. */
export function toSchema(spec: Value): Value {
  if (!(spec instanceof HarnDict) || !(spec.has('required') && !(spec.get('required') instanceof HarnList))) return spec
  const schema = spec.copy()
  schema.delete('required')
  return schema
}

/** A parameters dict may also be a whole object schema, as MCP servers give it. */
export function isObjectSchema(parameters: HarnDict): boolean {
  return parameters.get('type') === 'object' && parameters.get('properties') instanceof HarnDict
}
