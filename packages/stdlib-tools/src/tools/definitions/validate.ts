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
  runAtOnce,
  makeStructuralKey,
  typeName,
} from '@bridle/vm/families'
import type { Cost, Value } from '@bridle/vm/families'
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

function readSize(schema: HarnDict, key: string): number | null {
  const value = schema.get(key)
  if (typeof value === 'number') return value
  return value instanceof HarnFloat ? value.v : null
}

/** A check that may be interrupted wherever it yields. */
type Checking = Generator<Cost, SchemaFailure | null, void>

/** Values between two steps: each goes through as many generators as values are nested. */
const AT_ONCE = 512
/** Of one value, about as of other builtins that look at each. */
const UNITS_A_VALUE = 4

/** Whether a schema has others that apply to the value itself. */
function isCombined(schema: HarnDict): boolean {
  return COMBINING.some((key) => schema.has(key))
}

/** Members of a record that are checked without a walk. */
const MOST_LEAVES = 64

/** Keywords about records that a look does not answer. */
const RARE_OF_RECORDS = ['minProperties', 'maxProperties', 'patternProperties', 'propertyNames'] as const

const COMBINING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if'] as const

export const hasMembers = (value: Value): boolean => value instanceof Keyed || value instanceof HarnList

class Checker {
  readonly root: Value
  private looked = 0

  constructor(root: Value) {
    this.root = root
  }

  *check(value: Value, schema: Value, path: string, depth: number): Checking {
    const fail = makeFail(value, path)
    if (schema === false || typeof schema === 'string' || !(schema instanceof HarnDict))
      return this.checkPlain(value, schema, fail)
    if (depth > MAX_DEPTH) return fail(`schema nested deeper than ${MAX_DEPTH}`, 'a shallower schema')
    if (++this.looked >= AT_ONCE) {
      this.looked = 0
      yield { units: AT_ONCE * UNITS_A_VALUE, heap: 0 }
    }
    const reference = schema.get('$ref')
    if (typeof reference === 'string') {
      const target = this.resolve(reference)
      const failure = target === undefined ? null : yield* this.check(value, target, path, depth + 1)
      if (failure !== null) return failure
    }
    const own = this.checkAlone(value, schema, fail)
    if (own !== null) return own
    if (value instanceof Keyed) {
      const failure = yield* this.checkObject(value, schema, path, depth, fail)
      if (failure !== null) return failure
    } else if (value instanceof HarnList) {
      const failure = yield* this.checkArray(value, schema, path, depth, fail)
      if (failure !== null) return failure
    }
    return isCombined(schema) ? yield* this.checkCombined(value, schema, path, depth, fail) : null
  }

  /** Whether a leaf, or a record of a few leaves, fits a schema without other keywords for records; false if that is not certain. */
  acceptsFlat(value: Value, schema: Value): boolean {
    if (!(schema instanceof HarnDict) || isCombined(schema) || value instanceof HarnList) return false
    if (this.checkAlone(value, schema, makeFail(value, '$')) !== null) return false
    if (!(value instanceof Keyed)) return true
    if (value.size > MOST_LEAVES || RARE_OF_RECORDS.some((keyword) => schema.has(keyword))) return false
    const required = schema.get('required')
    if (required instanceof HarnList && required.view().some((name) => typeof name === 'string' && !value.has(name))) return false
    const properties = schema.get('properties')
    const additional = schema.get('additionalProperties') ?? true
    for (const key of value.keys()) {
      const leaf = value.get(key)!
      const part = properties instanceof HarnDict ? properties.get(key) : undefined
      if (hasMembers(leaf) || (part === undefined && additional !== true)) return false
      if (part === undefined) continue
      if (!(part instanceof HarnDict) || isCombined(part) || this.checkAlone(leaf, part, makeFail(leaf, key)) !== null)
        return false
    }
    return true
  }

  /** `check` without its own generator, for a value without members and a schema that is one; most values are. */
  private checkPart(value: Value, schema: Value, path: string, depth: number): Checking | SchemaFailure | null {
    if (!(schema instanceof HarnDict)) return this.checkPlain(value, schema, makeFail(value, path))
    if (hasMembers(value) || depth > MAX_DEPTH || this.looked >= AT_ONCE - 1 || isCombined(schema))
      return this.check(value, schema, path, depth)
    this.looked++
    return this.checkAlone(value, schema, makeFail(value, path))
  }

  private checkPlain(value: Value, schema: Value, fail: Fail): SchemaFailure | null {
    if (schema === false) return fail('schema is false', 'nothing')
    if (typeof schema !== 'string' || hasType(value, schema)) return null
    return fail(describeType(schema, value), schema)
  }

  private checkAlone(value: Value, schema: HarnDict, fail: Fail): SchemaFailure | null {
    if (schema.has('const') && !equals(value, schema.get('const')!))
      return fail('value does not match const', stringifySorted(schema.get('const')!))
    const options = schema.get('enum')
    if (options instanceof HarnList && !options.view().some((option) => equals(value, option))) {
      return fail('value is not in enum', `one of ${stringifySorted(options)}`)
    }
    const types = listTypeNames(schema.get('type'))
    if (types !== null && !types.some((type) => hasType(value, type)))
      return fail(describeType(types.join(' or '), value), types.join(' or '))
    return this.checkScalar(value, schema, fail)
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

  private *checkObject(fields: Keyed, schema: HarnDict, path: string, depth: number, fail: Fail): Checking {
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
        let failure = this.checkPart(item, declared.get(key)!, place, depth + 1)
        if (isChecking(failure)) failure = yield* failure
        if (failure !== null) return failure
      }
      if (patterns instanceof HarnDict) {
        for (const [pattern, inner] of patterns.entries()) {
          if (!matches(pattern, key)) continue
          known = true
          let failure = this.checkPart(item, inner, place, depth + 1)
          if (isChecking(failure)) failure = yield* failure
          if (failure !== null) return failure
        }
      }
      if (known || additional === undefined || additional === true) continue
      if (additional === false) return fail(`additional property '${key}' is not allowed`, 'no other properties')
      let failure = this.checkPart(item, additional, place, depth + 1)
      if (isChecking(failure)) failure = yield* failure
      if (failure !== null) return failure
    }
    const names = schema.get('propertyNames')
    if (names !== undefined) {
      for (const key of keys) {
        let failure = this.checkPart(key, names, `${path}.${key}`, depth + 1)
        if (isChecking(failure)) failure = yield* failure
        if (failure !== null) return failure
      }
    }
    return null
  }

  private *checkArray(value: HarnList, schema: HarnDict, path: string, depth: number, fail: Fail): Checking {
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
      let failure = inner === undefined ? null : this.checkPart(items[at]!, inner, `${path}[${at}]`, depth + 1)
      if (isChecking(failure)) failure = yield* failure
      if (failure !== null) return failure
    }
    const contains = schema.get('contains')
    if (contains === undefined) return null
    for (const item of items) if ((yield* this.check(item, contains, path, depth + 1)) === null) return null
    return fail('array contains no matching item', 'a matching item')
  }

  private *checkCombined(value: Value, schema: HarnDict, path: string, depth: number, fail: Fail): Checking {
    const check = (inner: Value): Checking => this.check(value, inner, path, depth + 1)
    for (const inner of listAlternatives(schema, 'allOf')) {
      const failure = yield* check(inner)
      if (failure !== null) return failure
    }
    const any = listAlternatives(schema, 'anyOf')
    let matches = any.length === 0
    for (const inner of any) if ((matches ||= (yield* check(inner)) === null)) break
    if (!matches) return fail('value matches no schema of anyOf', 'one of several schemas')
    const one = listAlternatives(schema, 'oneOf')
    if (one.length > 0) {
      let count = 0
      for (const inner of one) if ((yield* check(inner)) === null) count++
      if (count !== 1) return fail(`value matches ${count} schemas of oneOf`, 'exactly one of several schemas')
    }
    const not = schema.get('not')
    if (not !== undefined && (yield* check(not)) === null)
      return fail('value matches a schema that it must not match', 'another value')
    const condition = schema.get('if')
    if (condition === undefined) return null
    const branch = schema.get((yield* check(condition)) === null ? 'then' : 'else')
    return branch === undefined ? null : yield* check(branch)
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

const makeFail =
  (value: Value, path: string): Fail =>
  (reason, expected) => ({ path, reason, expected, actual: shorten(stringifySorted(cutBeginning(value))) })

function isChecking(part: Checking | SchemaFailure | null): part is Checking {
  return part !== null && 'next' in part
}

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

/** As much of a value as its text shows before it is cut. */
function cutBeginning(value: Value): Value {
  let left = MAX_ACTUAL
  const cut = (each: Value, depth: number): Value => {
    left--
    if (typeof each === 'string') return each.slice(0, MAX_ACTUAL + 1)
    if (depth > MAX_DEPTH) return each
    if (each instanceof HarnList) {
      const items: Value[] = []
      for (const item of each.view()) {
        if (left < 0) break
        items.push(cut(item, depth + 1))
      }
      return new HarnList(items)
    }
    if (!(each instanceof HarnDict)) return each
    const dict = new HarnDict()
    for (const key of each.keys()) {
      if (left < 0) break
      dict.set(key, cut(each.get(key)!, depth + 1))
    }
    return dict
  }
  return cut(value, 0)
}

/** Null when the value fits. At once, for what is small. */
export function validateSchema(value: Value, schema: Value): SchemaFailure | null {
  const checker = new Checker(schema)
  return checker.acceptsFlat(value, schema) ? null : runAtOnce(checker.check(value, schema, '$', 0))
}

/** `validateSchema` in steps. */
export function* stepThroughSchema(value: Value, schema: Value): Generator<Cost, SchemaFailure | null, void> {
  const failure = yield* new Checker(schema).check(value, schema, '$', 0)
  yield { units: AT_ONCE * UNITS_A_VALUE, heap: 0 }
  return failure
}

/** How one parameter spec of a tool is read when a call is checked. */
export function isRequired(spec: Value): boolean {
  return !(spec instanceof HarnDict) || (spec.get('required') !== false && !spec.has('default'))
}

/** The spec as a schema: `required` is a flag there, and `default` does not constrain the value. */
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
