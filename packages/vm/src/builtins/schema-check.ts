// Validation of values against canonical schemas (reference 03a §11.2): all errors of a value, in a fixed order, and the value
// with its defaults filled in when asked.

import { compileRegex, testRegex } from './regex-engine.js'
import { RegexSyntaxError } from './regex-syntax.js'
import { HarnStruct } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { equals } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { codePointLength } from '../values/text-order.js'
import { isInt, typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

/** Recursive schemas ($ref) follow data no deeper than this. */
const MAX_DEPTH = 512
/** Nodes visited in one check: unions of references to themselves would grow without end. */
const MAX_WORK = 1_000_000

export interface Checked {
  /** The value with defaults, as far as it could be followed. */
  readonly value: Value
  readonly errors: readonly string[]
}

/** Checks `value` against a canonical schema. */
export function checkSchema(value: Value, schema: HarnDict, applyDefaults: boolean): Checked {
  const checker = new Checker(schema, applyDefaults)
  const result = checker.node(value, schema, '', 0)
  return { value: result, errors: checker.errors }
}

class Checker {
  errors: string[] = []
  private work = 0
  private readonly root: HarnDict
  private readonly applyDefaults: boolean

  constructor(root: HarnDict, applyDefaults: boolean) {
    this.root = root
    this.applyDefaults = applyDefaults
  }

  private report(path: string, text: string): void {
    this.errors.push(`at ${path === '' ? 'root' : path}: ${text}`)
  }

  node(value: Value, schema: HarnDict, path: string, depth: number): Value {
    if (depth > MAX_DEPTH || ++this.work > MAX_WORK) {
      this.report(path, 'schema is nested too deeply')
      return value
    }
    const reference = schema.get('$ref')
    if (reference !== undefined) {
      const target = this.resolve(display(reference))
      if (target !== null) return this.node(value, target, path, depth + 1)
      this.report(path, `unresolved schema reference '${display(reference)}'`)
      return value
    }
    if (value === null && schema.get('nullable') === true) return value
    if (schema.has('const')) {
      const constant = schema.get('const')!
      if (!equals(constant, value)) {
        this.report(path, `expected constant ${display(constant)}, got ${display(value)}`)
        return value
      }
    }
    const branched = this.branches(value, schema, path, depth)
    const type = schema.get('type')
    if (type !== undefined && !hasType(branched, display(type))) {
      this.report(path, `expected type '${display(type)}', got '${schemaTypeName(branched)}'`)
      return branched
    }
    const inner = this.content(branched, schema, path, depth)
    this.scalarRules(inner, schema, path)
    return inner
  }

  private branches(value: Value, schema: HarnDict, path: string, depth: number): Value {
    let current = value
    const all = schema.get('all_of')
    if (all instanceof HarnList)
      for (const branch of all.view()) current = this.node(current, branch as HarnDict, path, depth + 1)
    const union = schema.get('union')
    if (!(union instanceof HarnList)) return current
    const before = this.errors
    for (const branch of union.view()) {
      this.errors = []
      const result = this.node(current, branch as HarnDict, path, depth + 1)
      const failed = this.errors.length > 0
      this.errors = before
      if (!failed) return result
    }
    this.report(path, 'value did not match any union branch')
    return current
  }

  private content(value: Value, schema: HarnDict, path: string, depth: number): Value {
    if (value instanceof Keyed) return this.object(value, schema, path, depth)
    if (value instanceof HarnList) {
      const items = this.items(value.view(), schema, path, depth)
      return items === null ? value : new HarnList(items)
    }
    if (value instanceof HarnSet) {
      const items = this.items(value.values(), schema, path, depth)
      return items === null ? value : new HarnSet(items)
    }
    return value
  }

  private object(value: HarnDict | HarnStruct, schema: HarnDict, path: string, depth: number): Value {
    const properties = schema.get('properties')
    const known = properties instanceof HarnDict ? properties : new HarnDict()
    const out = HarnDict.from(value)
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`)
    const defaults = new Map<string, Value>()
    if (this.applyDefaults) {
      for (const key of known.keys()) {
        const child = known.get(key)
        if (!value.has(key) && child instanceof HarnDict && child.has('default')) defaults.set(key, child.get('default')!)
      }
    }
    const required = schema.get('required')
    if (required instanceof HarnList) {
      for (const key of required.view().map((name) => display(name)))
        if (!out.has(key) && !defaults.has(key)) this.report(path, `missing required key '${key}'`)
    }
    for (const key of known.keys()) {
      const given = out.has(key) ? out.get(key) : defaults.get(key)
      if (given === undefined) continue
      const before = this.errors.length
      const result = this.node(given, known.get(key) as HarnDict, at(key), depth + 1)
      if (this.errors.length === before) out.set(key, result)
    }
    const additional = schema.get('additional_properties')
    for (const key of value.keys()) {
      if (known.has(key)) continue
      if (additional === false) this.report(path, `unexpected key '${key}'`)
      else if (additional instanceof HarnDict) out.set(key, this.node(out.get(key)!, additional, at(key), depth + 1))
    }
    return this.applyDefaults || value instanceof HarnDict ? out : value
  }

  /** The checked items; null when there is no rule for them. */
  private items(items: readonly Value[], schema: HarnDict, path: string, depth: number): Value[] | null {
    const least = limit(schema, 'min_items')
    const most = limit(schema, 'max_items')
    if (least !== null && items.length < least) this.report(path, `expected at least ${least} items, got ${items.length}`)
    if (most !== null && items.length > most) this.report(path, `expected at most ${most} items, got ${items.length}`)
    const each = schema.get('items')
    if (!(each instanceof HarnDict)) return null
    // Items with errors are left out of the value that is handed back.
    const good: Value[] = []
    for (const [index, item] of items.entries()) {
      const before = this.errors.length
      const result = this.node(item, each, `${path}[${index}]`, depth + 1)
      if (this.errors.length === before) good.push(result)
    }
    return good
  }

  private scalarRules(value: Value, schema: HarnDict, path: string): void {
    if (typeof value === 'string') this.textRules(value, schema, path)
    else if (isInt(value) || value instanceof HarnFloat) {
      const number = value instanceof HarnFloat ? value.v : value
      const min = bound(schema.get('min'))
      const max = bound(schema.get('max'))
      if (min !== null && number < min) this.report(path, `expected value >= ${min}, got ${number}`)
      if (max !== null && number > max) this.report(path, `expected value <= ${max}, got ${number}`)
    }
    const choices = schema.get('enum')
    if (choices instanceof HarnList && !choices.view().some((choice) => equals(choice, value)))
      this.report(path, `value must be one of ${display(choices)}`)
  }

  private textRules(text: string, schema: HarnDict, path: string): void {
    const length = codePointLength(text)
    const least = limit(schema, 'min_length')
    const most = limit(schema, 'max_length')
    if (least !== null && length < least) this.report(path, `expected length >= ${least}, got ${length}`)
    if (most !== null && length > most) this.report(path, `expected length <= ${most}, got ${length}`)
    const pattern = schema.get('pattern')
    if (pattern === undefined || pattern === null) return
    const source = display(pattern)
    try {
      if (!testRegex(compileRegex(source), text)) this.report(path, `value does not match pattern '${source}'`)
    } catch (error) {
      if (!(error instanceof RegexSyntaxError)) throw error
      this.report(path, `invalid regex pattern '${source}': ${error.message}`)
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

/** A struct counts as a dict. */
function schemaTypeName(value: Value): string {
  return value instanceof HarnStruct ? 'dict' : typeName(value)
}

function hasType(value: Value, type: string): boolean {
  return type === 'any' || schemaTypeName(value) === type
}

/** A count given as int or integral float. */
function limit(schema: HarnDict, key: string): number | null {
  const value = schema.get(key)
  return value instanceof HarnFloat ? value.v : value !== undefined && isInt(value) ? Number(value) : null
}

function bound(value: Value | undefined): number | bigint | null {
  return value instanceof HarnFloat ? value.v : value !== undefined && isInt(value) ? value : null
}
