// Checks data against JSON Schema (draft 2020-12) where the schema may come from a stranger, such as an MCP server: patterns run in the
// machine's engine of linear time, references are followed a bounded number of times, and a check that would take long ends with a
// refusal. What cannot be judged (a pattern of another dialect, a reference to nowhere, a schema without end) is refused when the
// schema is read, with its place.

import { parseUrl } from '@bridle/compiler/grants'
import { compileRegex } from '../../library/regex/engine.js'
import { testRegex } from '../../library/regex/engine.js'

type Schema = { readonly [key: string]: unknown }
type Pattern = ReturnType<typeof compileRegex>

/** A larger schema is none that a person or a model reads. */
const MOST_NODES = 20_000
const DEEPEST = 100
const LONGEST_PATTERN = 2_000
/** Schemas that one check looks at, beside a share of the length of texts. */
const MOST_STEPS = 200_000
const DEEPEST_CHECK = 300

export interface SchemaIssue {
  /** `$.a[0]` as far as the value goes. */
  readonly path: string
  readonly reason: string
}

/** A schema that is too large, or says what cannot be checked. */
export class SchemaLimitError extends Error {
  override readonly name = 'SchemaLimitError'
}

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
const isTyped = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint'

/** A schema that was read: its patterns are compiled, its references have somewhere to go. */
export class SchemaCheck {
  private readonly root: unknown
  private readonly patterns = new Map<string, Pattern>()
  /** Schemas that have their own name, by what a reference says. */
  private readonly named = new Map<string, unknown>()
  /** Whether the schema needs the set of evaluated members. */
  private tracks = false
  /** Schemas that no other applies to, and those of them that say nothing rare about records. */
  private readonly simple = new Set<unknown>()
  private readonly plain = new Set<unknown>()

  /** Throws SchemaLimitError. */
  constructor(schema: unknown) {
    this.root = schema
    const refs: { readonly ref: string; readonly place: string }[] = []
    const pending: { readonly node: unknown; readonly place: string; readonly depth: number; readonly isName: boolean }[] = [
      { node: schema, place: '#', depth: 0, isName: false },
    ]
    let nodes = 0
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { node, place, depth, isName } = next
      if (++nodes > MOST_NODES) throw new SchemaLimitError(`the schema has more than ${MOST_NODES} parts`)
      if (depth > DEEPEST) throw new SchemaLimitError(`the schema is nested deeper than ${DEEPEST}`)
      if (typeof node !== 'object' || node === null) continue
      if (isObject(node) && !isName) this.read(node, place, refs)
      for (const [key, inner] of Object.entries(node)) {
        // Data in a schema is no schema, and members of these are names.
        if (!isName && (key === 'enum' || key === 'const' || key === 'default' || key === 'examples')) {
          nodes += measureSize(inner, MOST_NODES - nodes)
          if (nodes > MOST_NODES) throw new SchemaLimitError(`the schema has more than ${MOST_NODES} parts`)
          continue
        }
        const areNames = !isName && NAMES.has(key) && isObject(inner)
        pending.push({ node: inner, place: place.length > 200 ? place : `${place}/${key}`, depth: depth + 1, isName: areNames })
      }
    }
    for (const { ref, place } of refs)
      if (this.resolve(ref) === undefined)
        throw new SchemaLimitError(`${place}: $ref ${JSON.stringify(ref.slice(0, 200))} leads nowhere in the schema`)
  }

  private read(node: Schema, place: string, refs: { ref: string; place: string }[]): void {
    const { pattern, patternProperties, $id, $anchor, $dynamicAnchor } = node
    if (!isCombined(node)) {
      this.simple.add(node)
      if (RARE_OF_RECORDS.every((keyword) => node[keyword] === undefined)) this.plain.add(node)
    }
    if (typeof pattern === 'string') this.compile(pattern, place)
    if (isObject(patternProperties)) for (const each of Object.keys(patternProperties)) this.compile(each, place)
    if (typeof $id === 'string') this.named.set($id, node)
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') this.named.set(`#${anchor}`, node)
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const ref = node[key]
      if (typeof ref === 'string') refs.push({ ref, place })
    }
    if ('unevaluatedProperties' in node || 'unevaluatedItems' in node) this.tracks = true
  }

  private compile(pattern: string, place: string): void {
    if (this.patterns.has(pattern)) return
    if (pattern.length > LONGEST_PATTERN)
      throw new SchemaLimitError(`${place}: a pattern is longer than ${LONGEST_PATTERN} characters`)
    try {
      this.patterns.set(pattern, compileRegex(pattern))
    } catch (cause) {
      const why = (cause instanceof Error ? cause.message : String(cause)).split('\n').at(-1)
      throw new SchemaLimitError(`${place}: pattern ${JSON.stringify(pattern.slice(0, 100))} is not supported: ${why}`, { cause })
    }
  }

  private resolve(ref: string): unknown {
    if (ref === '#') return this.root
    if (this.named.has(ref)) return this.named.get(ref)
    if (!ref.startsWith('#/')) return undefined
    let at = this.root
    for (const part of ref.slice(2).split('/')) {
      let key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      try {
        key = decodeURIComponent(key)
      } catch {
        // Its own percent sign.
      }
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
      at = (at as Schema)[key]
    }
    return at
  }

  /** The first error in a value; null if it is valid. */
  check(value: unknown): SchemaIssue | null {
    const walk = this.walk(value)
    while (!walk.step());
    return walk.issue
  }

  /** `check` in pieces. */
  walk(value: unknown): CheckWalk {
    return new CheckWalk(this.begin().checkNode(this.root, value, '$', 0, null))
  }

  /** Whether a look at the value is enough: a few leaves, as most arguments and results are. What it does not accept is walked. */
  acceptsAtOnce(value: unknown): boolean {
    return !this.tracks && this.begin().acceptsFlat(this.root, value, this.simple, this.plain)
  }

  private begin(): Run {
    return new Run(
      (ref) => this.resolve(ref),
      (pattern) => this.patterns.get(pattern),
      this.tracks,
    )
  }
}

/** A check that may be interrupted wherever it yields. */
type Checking = Generator<undefined, SchemaIssue | null, void>

/** The check of one value. */
export class CheckWalk {
  /** Known when all is done. */
  issue: SchemaIssue | null = null
  private readonly checking: Checking

  constructor(checking: Checking) {
    this.checking = checking
  }

  /** Does a piece; whether all is done. */
  step(): boolean {
    const next = this.checking.next()
    if (next.done !== true) return false
    this.issue = next.value
    return true
  }
}

/** Keywords whose members are schemas by name. */
const NAMES: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Parts of a piece of data, as far as `most`. */
function measureSize(value: unknown, most: number): number {
  const pending = [value]
  let size = 0
  for (let next = pending.pop(); pending.length > 0 || next !== undefined; next = pending.pop()) {
    if (++size > most) break
    if (typeof next === 'object' && next !== null) pending.push(...Object.values(next).slice(0, most))
  }
  return size
}

/** Members of one value that a schema has evaluated. */
interface Seen {
  readonly keys: Set<string>
  items: number
}

const TOO_LONG = 'Checking this against its schema takes too long: its references multiply, or never end.'

/** Schemas that are evaluated between two yields to the host's thread. */
const PIECE = 1 << 12

/** Whether a schema has others that apply to the value itself. */
function isCombined(schema: Schema): boolean {
  for (const key of COMBINING) if (schema[key] !== undefined) return true
  return false
}

const COMBINING = ['$ref', '$dynamicRef', '$recursiveRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if'] as const

/** Members of a record that are checked without a walk. */
const MOST_LEAVES = 64

/** Keywords about records that a look does not answer. */
const RARE_OF_RECORDS = [
  'minProperties',
  'maxProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
] as const

const NO_PROPERTIES: Schema = {}
const NO_NAMES: readonly unknown[] = []

function isChecking(part: Checking | SchemaIssue | null): part is Checking {
  return part !== null && 'next' in part
}

class Run {
  private steps = 0
  /** Steps after which others have their turn. */
  private pieceEnd = PIECE
  private readonly resolve: (ref: string) => unknown
  private readonly pattern: (text: string) => Pattern | undefined
  private readonly tracks: boolean

  constructor(resolve: (ref: string) => unknown, pattern: (text: string) => Pattern | undefined, tracks: boolean) {
    this.resolve = resolve
    this.pattern = pattern
    this.tracks = tracks
  }

  *checkNode(schema: unknown, value: unknown, path: string, depth: number, seen: Seen | null): Checking {
    const makeIssue = (reason: string): SchemaIssue => ({ path, reason })
    if (schema === true || schema === undefined) return null
    if (schema === false) return makeIssue('False boolean schema.')
    if (!isObject(schema)) return makeIssue('The schema is neither an object nor a bool.')
    if (this.isTooMuch(depth)) return makeIssue(TOO_LONG)
    if (this.steps >= this.pieceEnd) {
      this.pieceEnd = this.steps + PIECE
      yield
    }
    const own: Seen | null = this.tracks ? { keys: new Set(), items: 0 } : null
    const issue =
      this.checkSimple(schema, value, path) ??
      (isCombined(schema) ? yield* this.checkCombined(schema, value, path, depth, own) : null) ??
      (Array.isArray(value)
        ? yield* this.checkItems(schema, value, path, depth, own)
        : isObject(value)
          ? yield* this.checkMembers(schema, value, path, depth, own)
          : null)
    if (issue === null && seen !== null && own !== null) {
      for (const key of own.keys) seen.keys.add(key)
      seen.items = Math.max(seen.items, own.items)
    }
    return issue
  }

  /** `checkNode` without its own generator, for a value without members and a schema that is one; most values are. */
  private checkPart(schema: unknown, value: unknown, path: string, depth: number): Checking | SchemaIssue | null {
    if (!isObject(schema) || (typeof value === 'object' && value !== null) || isCombined(schema) || this.steps >= this.pieceEnd)
      return this.checkNode(schema, value, path, depth, null)
    return this.isTooMuch(depth) ? { path, reason: TOO_LONG } : this.checkSimple(schema, value, path)
  }

  /** Whether a leaf, or a record of a few leaves, fits a schema without other keywords for records; false if that is not certain. */
  acceptsFlat(schema: unknown, value: unknown, simple: ReadonlySet<unknown>, plain: ReadonlySet<unknown>): boolean {
    if (!isObject(schema) || !simple.has(schema)) return false
    if (!isObject(value)) return !Array.isArray(value) && this.checkSimple(schema, value, '') === null
    if (!plain.has(schema)) return false
    const { properties = NO_PROPERTIES, required = NO_NAMES, additionalProperties } = schema
    if (!isObject(properties) || !Array.isArray(required) || this.checkSimple(schema, value, '') !== null) return false
    for (const name of required)
      if (typeof name !== 'string' || !Object.hasOwn(value, name) || value[name] === undefined) return false
    const keys = Object.keys(value)
    if (keys.length > MOST_LEAVES) return false
    for (const key of keys) {
      const leaf = value[key]
      if (typeof leaf === 'object' && leaf !== null) return false
      if (!Object.hasOwn(properties, key)) {
        if (additionalProperties !== undefined && additionalProperties !== true) return false
        continue
      }
      const part = properties[key]
      if (!isObject(part) || !simple.has(part) || this.checkSimple(part, leaf, '') !== null) return false
    }
    return true
  }

  private isTooMuch(depth: number): boolean {
    return ++this.steps > MOST_STEPS || depth > DEEPEST_CHECK
  }

  private checkSimple(schema: Schema, value: unknown, path: string): SchemaIssue | null {
    const makeIssue = (reason: string): SchemaIssue => ({ path, reason })
    const { type, enum: choices, format } = schema
    if (type !== undefined) {
      const types =
        typeof type === 'string'
          ? [type]
          : (Array.isArray(type) ? (type as unknown[]) : [type]).map((each) =>
              typeof each === 'string' ? each : formatShortJson(each),
            )
      if (!types.some((each) => hasType(value, each)))
        return typeof value === 'number' && Number.isInteger(value) && types.includes('integer')
          ? makeIssue('An integer of more than 64 bits was rounded. Send it as a text, or declare a "number".')
          : makeIssue(`Instance type "${nameType(value)}" is invalid. Expected "${types.join('", "')}".`)
    }
    if ('const' in schema && !isSame(schema['const'], value))
      return makeIssue(`Instance does not match ${formatShortJson(schema['const'])}.`)
    if (Array.isArray(choices)) {
      this.steps += choices.length
      if (!choices.some((each) => isSame(each, value)))
        return makeIssue(`Instance does not match any of ${formatShortJson(choices)}.`)
    }
    if (isTyped(value)) return this.checkNumber(schema, value as number | bigint, path)
    if (typeof value !== 'string') return null
    this.steps += value.length >> 8
    const { minLength, maxLength, pattern } = schema
    if (typeof minLength === 'number' || typeof maxLength === 'number') {
      const length = countCharacters(value)
      if (typeof minLength === 'number' && length < minLength) return makeIssue(`String is too short (${length} < ${minLength}).`)
      if (typeof maxLength === 'number' && length > maxLength) return makeIssue(`String is too long (${length} > ${maxLength}).`)
    }
    if (typeof pattern === 'string' && !testRegex(this.pattern(pattern)!, value))
      return makeIssue('String does not match pattern.')
    if (typeof format === 'string' && Object.hasOwn(FORMATS, format) && !FORMATS[format]!(value))
      return makeIssue(`String does not match format "${format}".`)
    return null
  }

  private checkNumber(schema: Schema, value: number | bigint, path: string): SchemaIssue | null {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    const makeIssue = (reason: string): SchemaIssue => ({ path, reason: `${value} is ${reason}.` })
    if (typeof minimum === 'number' && value < minimum) return makeIssue(`less than ${minimum}`)
    if (typeof maximum === 'number' && value > maximum) return makeIssue(`greater than ${maximum}`)
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
      return makeIssue(`less than or equal to ${exclusiveMinimum}`)
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
      return makeIssue(`greater than or equal to ${exclusiveMaximum}`)
    if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf)) return makeIssue(`not a multiple of ${multipleOf}`)
    return null
  }

  private *checkCombined(schema: Schema, value: unknown, path: string, depth: number, seen: Seen | null): Checking {
    const checkInner = (part: unknown, into: Seen | null = seen): Checking => this.checkNode(part, value, path, depth + 1, into)
    for (const key of ['$ref', '$dynamicRef', '$recursiveRef']) {
      const ref = schema[key]
      const issue = typeof ref === 'string' ? yield* checkInner(this.resolve(ref)) : null
      if (issue !== null) return issue
    }
    const { allOf, anyOf, oneOf, not } = schema
    for (const part of Array.isArray(allOf) ? (allOf as readonly unknown[]) : []) {
      const issue = yield* checkInner(part)
      if (issue !== null) return issue
    }
    for (const [parts, most] of [
      [anyOf, Infinity],
      [oneOf, 1],
    ] as const) {
      if (!Array.isArray(parts)) continue
      let matches = 0
      let last: SchemaIssue | null = null
      for (const part of parts as readonly unknown[]) {
        const issue = yield* checkInner(part)
        if (issue === null) matches++
        else last = issue
        if (matches > 0 && most === Infinity && seen === null) break
      }
      if (matches === 0) return last ?? { path, reason: 'Instance does not match any subschemas.' }
      if (matches > most) return { path, reason: `Instance does not match exactly one subschema (${matches} matches).` }
    }
    if (not !== undefined && (yield* checkInner(not, null)) === null) return { path, reason: 'Instance matched "not" schema.' }
    if (schema['if'] === undefined) return null
    return yield* checkInner((yield* checkInner(schema['if'])) === null ? schema['then'] : schema['else'])
  }

  private *checkMembers(schema: Schema, value: Schema, path: string, depth: number, seen: Seen | null): Checking {
    const makeIssue = (reason: string): SchemaIssue => ({ path, reason })
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    const { required, minProperties, maxProperties, propertyNames, properties, patternProperties, additionalProperties } = schema
    for (const key of Array.isArray(required) ? required.map(String) : [])
      if (!Object.hasOwn(value, key) || value[key] === undefined)
        return makeIssue(`Instance does not have required property "${key}".`)
    if (typeof minProperties === 'number' && keys.length < minProperties)
      return makeIssue(`Instance does not have at least ${minProperties} properties.`)
    if (typeof maxProperties === 'number' && keys.length > maxProperties)
      return makeIssue(`Instance has more than ${maxProperties} properties.`)
    for (const name of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      const dependent = schema[name]
      for (const [key, needed] of isObject(dependent) ? Object.entries(dependent) : []) {
        if (!Object.hasOwn(value, key)) continue
        const missing = Array.isArray(needed) ? needed.map(String).find((each) => !Object.hasOwn(value, each)) : undefined
        if (missing !== undefined) return makeIssue(`Instance has "${key}" but does not have "${missing}".`)
        const issue = Array.isArray(needed) ? null : yield* this.checkNode(needed, value, path, depth + 1, seen)
        if (issue !== null) return issue
      }
    }
    const patterns = isObject(patternProperties)
      ? Object.entries(patternProperties).map(([text, part]) => [this.pattern(text)!, part] as const)
      : []
    for (const key of keys) {
      const checkInner = (part: unknown): Checking | SchemaIssue | null =>
        this.checkPart(part, value[key], `${path}.${key}`, depth + 1)
      if (propertyNames !== undefined) {
        const issue = yield* this.checkNode(propertyNames, key, path, depth + 1, null)
        if (issue !== null) return makeIssue(`Property name "${key}" does not match schema.`)
      }
      let isKnown = false
      if (isObject(properties) && Object.hasOwn(properties, key)) {
        isKnown = true
        let issue = checkInner(properties[key])
        if (isChecking(issue)) issue = yield* issue
        if (issue !== null) return issue
      }
      this.steps += patterns.length
      for (const [pattern, part] of patterns) {
        if (!testRegex(pattern, key)) continue
        isKnown = true
        let issue = checkInner(part)
        if (isChecking(issue)) issue = yield* issue
        if (issue !== null) return issue
      }
      if (!isKnown && additionalProperties !== undefined) {
        if (additionalProperties === false) return makeIssue(`Property "${key}" does not match additional properties schema.`)
        isKnown = true
        let issue = checkInner(additionalProperties)
        if (isChecking(issue)) issue = yield* issue
        if (issue !== null) return issue
      }
      if (isKnown) seen?.keys.add(key)
    }
    const { unevaluatedProperties } = schema
    if (unevaluatedProperties === undefined || seen === null) return null
    for (const key of keys) {
      if (seen.keys.has(key)) continue
      if ((yield* this.checkNode(unevaluatedProperties, value[key], `${path}.${key}`, depth + 1, null)) !== null)
        return makeIssue(`Property "${key}" does not match unevaluated properties schema.`)
      seen.keys.add(key)
    }
    return null
  }

  private *checkItems(schema: Schema, value: readonly unknown[], path: string, depth: number, seen: Seen | null): Checking {
    const makeIssue = (reason: string): SchemaIssue => ({ path, reason })
    const { minItems, maxItems, uniqueItems, prefixItems, items, contains, unevaluatedItems } = schema
    if (typeof maxItems === 'number' && value.length > maxItems)
      return makeIssue(`Array has too many items (${value.length} > ${maxItems}).`)
    if (typeof minItems === 'number' && value.length < minItems)
      return makeIssue(`Array has too few items (${value.length} < ${minItems}).`)
    // Before 2020-12 a list of schemas stood under `items`.
    const first = (Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []) as readonly unknown[]
    const rest = Array.isArray(items) ? schema['additionalItems'] : items
    for (let at = 0; at < value.length; at++) {
      const part = at < first.length ? first[at] : rest
      if (part === undefined) break
      let issue = this.checkPart(part, value[at], `${path}.${at}`, depth + 1)
      if (isChecking(issue)) issue = yield* issue
      if (issue !== null) return issue
      if (seen !== null) seen.items = Math.max(seen.items, at + 1)
    }
    if (contains !== undefined) {
      const least = typeof schema['minContains'] === 'number' ? schema['minContains'] : 1
      const most = typeof schema['maxContains'] === 'number' ? schema['maxContains'] : Infinity
      let found = 0
      for (const item of value) if ((yield* this.checkNode(contains, item, path, depth + 1, null)) === null) found++
      if (found < least) return makeIssue('Array does not contain item matching schema.')
      if (found > most) return makeIssue(`Array may contain at most ${most} items matching schema. ${found} items were found.`)
    }
    if (uniqueItems === true) {
      const known = new Map<string, number>()
      for (const [at, item] of value.entries()) {
        const text = stringifyCanonical(item)
        this.steps += text.length >> 8
        const before = known.get(text)
        if (before !== undefined) return makeIssue(`Duplicate items at indexes ${before} and ${at}.`)
        known.set(text, at)
      }
    }
    if (unevaluatedItems === undefined || seen === null) return null
    for (let at = seen.items; at < value.length; at++)
      if ((yield* this.checkNode(unevaluatedItems, value[at], `${path}.${at}`, depth + 1, null)) !== null)
        return makeIssue('Items did not match unevaluated items schema.')
    seen.items = value.length
    return null
  }
}

function nameType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function hasType(value: unknown, type: string): boolean {
  // Beyond 64 bits, JSON parsers have rounded it.
  if (type === 'integer')
    return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63)
  return nameType(value) === type
}

function countCharacters(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

function isMultiple(value: number | bigint, of: number): boolean {
  if (!(of > 0) || !Number.isFinite(of)) return false
  if (typeof value === 'bigint') return Number.isInteger(of) && value % BigInt(of) === 0n
  const [a, b] = [toDecimal(value), toDecimal(of)]
  const places = Math.max(a.places, b.places)
  // Far apart in size, no text of theirs is worth its length.
  if (places > 400) return false
  return (a.digits * 10n ** BigInt(places - a.places)) % (b.digits * 10n ** BigInt(places - b.places)) === 0n
}

/** A number as digits and how many of them stand behind the point. */
function toDecimal(value: number): { readonly digits: bigint; readonly places: number } {
  const [mantissa = '0', exponent = '0'] = Math.abs(value).toString().split('e')
  const [whole = '0', part = ''] = mantissa.split('.')
  const places = part.length - Number(exponent)
  const digits = BigInt(whole + part)
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 }
}

const isSame = (a: unknown, b: unknown): boolean =>
  typeof a === 'object' && a !== null
    ? stringifyCanonical(a) === stringifyCanonical(b)
    : normalizeNumber(a) === normalizeNumber(b)

function normalizeNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** Equal for equal data: keys sorted, numbers by value. */
function stringifyCanonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each === 'bigint') return { bigint: String(each) }
      return isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) : each
    }) ?? 'undefined'
  )
}

function formatShortJson(value: unknown): string {
  const text = stringifyCanonical(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

const fits =
  (pattern: RegExp, most = 4096) =>
  (text: string): boolean =>
    text.length <= most && pattern.test(text)
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/i

/** Formats that are checked; others are notes for readers. */
const FORMATS: { readonly [name: string]: (text: string) => boolean } = {
  date: fits(DATE),
  time: fits(TIME),
  'date-time': (text) => /^[tT ]$/.test(text[10] ?? '') && fits(DATE)(text.slice(0, 10)) && fits(TIME)(text.slice(11)),
  duration: fits(/^P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/),
  email: fits(/^[^\s@]+@[^\s@]+$/),
  hostname: fits(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/i, 254),
  ipv4: fits(/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/),
  ipv6: (text) => /^[0-9a-f:.]{2,45}$/i.test(text) && text.includes(':') && parseUrl(`http://[${text}]/`) !== null,
  uri: fits(/^[a-z][a-z0-9+.-]*:[^\s\\<>"^`{|}]*$/i),
  url: fits(/^(?:https?|ftp):\/\/[^\s\\<>"^`{|}]+$/i),
  'uri-reference': fits(/^[^\s\\<>"^`{|}]*$/),
  uuid: fits(/^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  'json-pointer': fits(/^(?:\/(?:[^~/]|~0|~1)*)*$/),
}
