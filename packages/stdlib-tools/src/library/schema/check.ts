// Validation of values against canonical schemas: all errors of a value, in a fixed order, and the value
// with its defaults filled in when asked.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  HarnSet,
  HarnStruct,
  Keyed,
  PIECE,
  runAtOnce,
  countCodePoints,
  display,
  equals,
  isInt,
  spread,
  typeName,
  work,
} from '@bridle/vm/families'
import type { Cost, Value } from '@bridle/vm/families'
import { COMPILE_UNITS, SEARCHED_BITS, UNITS_AN_INSTRUCTION, compileRegex, searchRegex } from '../regex/engine.js'
import { RegexSyntaxError } from '../regex/syntax.js'
import { FOUND, PAUSED } from '../regex/machines/search.js'
import type { Regex } from '../regex/machines/search.js'

/** Recursive schemas ($ref) follow data no deeper than this. */
const MAX_DEPTH = 512
/** Nodes visited in one check: unions of references to themselves would grow without end. */
const MAX_WORK = 1_000_000

export interface Checked {
  /** The value with defaults, as far as it could be followed. */
  readonly value: Value
  readonly errors: readonly string[]
}

/** Units of checking a value, of looking for a key, and of comparing with a choice. */
const UNITS_A_NODE = 6
const UNITS_A_KEY = 2
/** Units between two steps: each goes through as many generators as schemas are nested. */
const AT_ONCE = 1024

/** Checks `value` against a canonical schema, in steps. */
export function* checkInSteps(value: Value, schema: HarnDict, applyDefaults: boolean): Generator<Cost, Checked, void> {
  const checker = new Checker(schema, applyDefaults)
  const result = yield* checker.checkNode(value, schema, '', 0)
  yield checker.takeSpent()
  return { value: result, errors: checker.errors }
}

/** The same at once, for values that fit into one operation. */
export function checkSchema(value: Value, schema: HarnDict, applyDefaults: boolean): Checked {
  return runAtOnce(checkInSteps(value, schema, applyDefaults))
}

type Checking<T> = Generator<Cost, T, void>

class Checker {
  errors: string[] = []
  private work = 0
  private units = 0
  private heap = 0
  private readonly texts = new Map<object, string>()
  private readonly patterns = new Map<string, Regex>()
  private readonly scalars = new Map<HarnDict, boolean>()
  private readonly root: HarnDict
  private readonly applyDefaults: boolean

  constructor(root: HarnDict, applyDefaults: boolean) {
    this.root = root
    this.applyDefaults = applyDefaults
  }

  private report(path: string, text: string): void {
    const error = `at ${path === '' ? 'root' : path}: ${text}`
    this.heap += 16 + error.length
    this.errors.push(error)
  }

  takeSpent(): Cost {
    const { units, heap } = this
    this.units = this.heap = 0
    return { units, heap }
  }

  /** How a value is shown in an error: the same one may be in very many. */
  private formatValue(value: Value): string {
    if (typeof value !== 'object' || value === null) return display(value)
    let text = this.texts.get(value)
    if (text === undefined) {
      text = display(value)
      this.texts.set(value, text)
    }
    return text
  }

  *checkNode(value: Value, schema: HarnDict, path: string, depth: number): Checking<Value> {
    if (depth > MAX_DEPTH || ++this.work > MAX_WORK) {
      this.report(path, 'schema is nested too deeply')
      return value
    }
    this.units += UNITS_A_NODE
    if (this.units >= AT_ONCE) yield this.takeSpent()
    const reference = schema.get('$ref')
    if (reference !== undefined) {
      const target = this.resolve(display(reference))
      if (target !== null) return yield* this.checkNode(value, target, path, depth + 1)
      this.report(path, `unresolved schema reference '${display(reference)}'`)
      return value
    }
    if (value === null && schema.get('nullable') === true) return value
    if (schema.has('const')) {
      const constant = schema.get('const')!
      if (!equals(constant, value)) {
        this.report(path, `expected constant ${this.formatValue(constant)}, got ${this.formatValue(value)}`)
        return value
      }
    }
    const branched = schema.has('all_of') || schema.has('union') ? yield* this.checkBranches(value, schema, path, depth) : value
    const type = schema.get('type')
    if (type !== undefined && !hasType(branched, display(type))) {
      this.report(path, `expected type '${display(type)}', got '${nameType(branched)}'`)
      return branched
    }
    const inner = isContainer(branched) ? yield* this.checkContent(branched, schema, path, depth) : branched
    this.checkScalar(inner, schema, path)
    const pattern = typeof inner === 'string' ? schema.get('pattern') : undefined
    if (typeof pattern === 'string') yield* this.checkPattern(inner as string, pattern, path)
    const choices = schema.get('enum')
    if (choices instanceof HarnList && !(yield* this.isAmong(choices, inner)))
      this.report(path, `value must be one of ${this.formatValue(choices)}`)
    return inner
  }

  /** Checks a value inside another one. Most are scalars under schemas that say little, and take no generator. */
  private checkInside(value: Value, schema: HarnDict, path: string, depth: number): Checking<Value> | Value {
    if (isContainer(value) || !this.isScalar(schema) || depth > MAX_DEPTH || this.work >= MAX_WORK || this.units >= AT_ONCE)
      return this.checkNode(value, schema, path, depth)
    this.work++
    this.units += UNITS_A_NODE
    if (value === null && schema.get('nullable') === true) return value
    const type = schema.get('type')
    if (type !== undefined && !hasType(value, display(type)))
      this.report(path, `expected type '${display(type)}', got '${nameType(value)}'`)
    else this.checkScalar(value, schema, path)
    return value
  }

  /** Whether a schema refers to no other one and has no list of its own. */
  private isScalar(schema: HarnDict): boolean {
    let known = this.scalars.get(schema)
    if (known === undefined) {
      known = !LARGE_RULES.some((key) => schema.has(key))
      this.scalars.set(schema, known)
    }
    return known
  }

  private *isAmong(choices: HarnList, value: Value): Checking<boolean> {
    for (const choice of choices.view()) {
      this.units += 1
      if (this.units >= AT_ONCE) yield this.takeSpent()
      if (equals(choice, value)) return true
    }
    return false
  }

  private *checkBranches(value: Value, schema: HarnDict, path: string, depth: number): Checking<Value> {
    let current = value
    const all = schema.get('all_of')
    if (all instanceof HarnList)
      for (const branch of all.view()) current = yield* this.checkNode(current, branch as HarnDict, path, depth + 1)
    const union = schema.get('union')
    if (!(union instanceof HarnList)) return current
    const before = this.errors
    for (const branch of union.view()) {
      this.errors = []
      const result = yield* this.checkNode(current, branch as HarnDict, path, depth + 1)
      const failed = this.errors.length > 0
      this.errors = before
      if (!failed) return result
    }
    this.report(path, 'value did not match any union branch')
    return current
  }

  private *checkContent(value: Value, schema: HarnDict, path: string, depth: number): Checking<Value> {
    if (value instanceof Keyed) return yield* this.checkObject(value, schema, path, depth)
    if (value instanceof HarnList) {
      const items = yield* this.checkItems(value.view(), schema, path, depth)
      return items === null ? value : new HarnList(items)
    }
    if (value instanceof HarnSet) {
      const items = yield* this.checkItems(value.values(), schema, path, depth)
      return items === null ? value : new HarnSet(items)
    }
    return value
  }

  private *checkObject(value: HarnDict | HarnStruct, schema: HarnDict, path: string, depth: number): Checking<Value> {
    const properties = schema.get('properties')
    const known = properties instanceof HarnDict ? properties : new HarnDict()
    work(value.size >> 3)
    const out = HarnDict.from(value)
    this.heap += 64 + 32 * value.size
    const joinPath = (key: string): string => (path === '' ? key : `${path}.${key}`)
    const defaults = new Map<string, Value>()
    if (this.applyDefaults) {
      for (const key of known.keys()) {
        this.units += UNITS_A_KEY
        if (this.units >= AT_ONCE) yield this.takeSpent()
        const child = known.get(key)
        if (!value.has(key) && child instanceof HarnDict && child.has('default')) defaults.set(key, child.get('default')!)
      }
    }
    const required = schema.get('required')
    if (required instanceof HarnList) {
      for (const name of required.view()) {
        this.units += UNITS_A_KEY
        if (this.units >= AT_ONCE) yield this.takeSpent()
        const key = display(name)
        if (!out.has(key) && !defaults.has(key)) this.report(path, `missing required key '${key}'`)
      }
    }
    for (const key of known.keys()) {
      this.units += UNITS_A_KEY
      if (this.units >= AT_ONCE) yield this.takeSpent()
      const given = out.has(key) ? out.get(key) : defaults.get(key)
      if (given === undefined) continue
      const before = this.errors.length
      const checked = this.checkInside(given, known.get(key) as HarnDict, joinPath(key), depth + 1)
      const result = isChecking(checked) ? yield* checked : checked
      if (this.errors.length === before) out.set(key, result)
    }
    const additional = schema.get('additional_properties')
    for (const key of value.keys()) {
      this.units += UNITS_A_KEY
      if (this.units >= AT_ONCE) yield this.takeSpent()
      if (known.has(key)) continue
      if (additional === false) this.report(path, `unexpected key '${key}'`)
      else if (additional instanceof HarnDict) {
        const checked = this.checkInside(out.get(key)!, additional, joinPath(key), depth + 1)
        out.set(key, isChecking(checked) ? yield* checked : checked)
      }
    }
    return this.applyDefaults || value instanceof HarnDict ? out : value
  }

  /** The checked items; null when there is no rule for them. */
  private *checkItems(items: readonly Value[], schema: HarnDict, path: string, depth: number): Checking<Value[] | null> {
    const least = readLimit(schema, 'min_items')
    const most = readLimit(schema, 'max_items')
    if (least !== null && items.length < least) this.report(path, `expected at least ${least} items, got ${items.length}`)
    if (most !== null && items.length > most) this.report(path, `expected at most ${most} items, got ${items.length}`)
    const each = schema.get('items')
    if (!(each instanceof HarnDict)) return null
    // Items with errors are left out of the value that is handed back.
    const good: Value[] = []
    for (const [index, item] of items.entries()) {
      const before = this.errors.length
      const checked = this.checkInside(item, each, `${path}[${index}]`, depth + 1)
      const result = isChecking(checked) ? yield* checked : checked
      this.heap += 16
      if (this.errors.length === before) good.push(result)
    }
    return good
  }

  private checkScalar(value: Value, schema: HarnDict, path: string): void {
    if (typeof value === 'string') this.checkText(value, schema, path)
    else if (isInt(value) || value instanceof HarnFloat) {
      const number = value instanceof HarnFloat ? value.v : value
      const min = readBound(schema.get('min'))
      const max = readBound(schema.get('max'))
      if (min !== null && number < min) this.report(path, `expected value >= ${min}, got ${number}`)
      if (max !== null && number > max) this.report(path, `expected value <= ${max}, got ${number}`)
    }
  }

  private checkText(text: string, schema: HarnDict, path: string): void {
    const least = readLimit(schema, 'min_length')
    const most = readLimit(schema, 'max_length')
    const length = least === null && most === null ? 0 : countCodePoints(text)
    if (least !== null && length < least) this.report(path, `expected length >= ${least}, got ${length}`)
    if (most !== null && length > most) this.report(path, `expected length <= ${most}, got ${length}`)
  }

  private *checkPattern(text: string, source: string, path: string): Checking<void> {
    try {
      if (!(yield* this.matches(source, text))) this.report(path, `value does not match pattern '${source}'`)
    } catch (error) {
      if (!(error instanceof RegexSyntaxError)) throw error
      this.report(path, `invalid regex pattern '${source}': ${error.message}`)
    }
  }

  private *matches(source: string, text: string): Checking<boolean> {
    let regex = this.patterns.get(source)
    if (regex === undefined) {
      work(source.length)
      regex = compileRegex(source)
      work(COMPILE_UNITS + UNITS_AN_INSTRUCTION * regex.size)
      this.patterns.set(source, regex)
    }
    this.units += 1 + (text.length >> SEARCHED_BITS)
    const search = searchRegex(regex, text, false)
    for (;;) {
      search.spent = 0
      search.allowed = PIECE >> 2
      const found = search.advance()
      yield* spread(search.spent, 0)
      if (this.units >= AT_ONCE) yield this.takeSpent()
      if (found === PAUSED) continue
      search.finish()
      return found === FOUND
    }
  }

  /** `#`, `#/definitions/X`, `#/components/schemas/X`: a JSON pointer into the root schema. */
  private resolve(reference: string): HarnDict | null {
    if (!reference.startsWith('#')) return null
    let at: Value = this.root
    for (const token of reference.slice(1).split('/').slice(1)) {
      const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!(at instanceof HarnDict)) return null
      at = at.get(key) ?? null
    }
    return at instanceof HarnDict ? at : null
  }
}

/** Rules that take more than a look at the value. */
const LARGE_RULES: readonly string[] = ['$ref', 'const', 'union', 'all_of', 'enum', 'pattern']

function isContainer(value: Value): boolean {
  return value instanceof Keyed || value instanceof HarnList || value instanceof HarnSet
}

function isChecking(checked: Checking<Value> | Value): checked is Checking<Value> {
  return typeof checked === 'object' && checked !== null && 'next' in checked && 'return' in checked
}

/** A struct counts as a dict. */
function nameType(value: Value): string {
  return value instanceof HarnStruct ? 'dict' : typeName(value)
}

function hasType(value: Value, type: string): boolean {
  return type === 'any' || nameType(value) === type
}

/** A count given as int or integral float. */
function readLimit(schema: HarnDict, key: string): number | null {
  const value = schema.get(key)
  return value !== undefined && isInt(value) ? Number(value) : null
}

function readBound(value: Value | undefined): number | bigint | null {
  return value instanceof HarnFloat ? value.v : value !== undefined && isInt(value) ? value : null
}
