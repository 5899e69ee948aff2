// Shapes of data, and drift between them: what a tool is expected to give against what it gave. A shape is plain
// JSON, so that a lock file holds it:
//
//   "Any" "Null" "Bool" "Int" "Float" "String" "Bytes"
//   {list: shape}   {map: shape}   {optional: shape}   {union: [shape, …]}
//   {record: {name: shape, "name?": shape}}      with `?` the field may be absent
//
// Drift has a severity: `Info` for what is more than expected, `Warning` for what callers may notice, `Breaking` for what breaks them.

import { HarnBytes, HarnDict, HarnFloat, HarnList, HarnStruct, isInt, sortTexts, typeName } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { editDistance } from '@bridle/compiler/signatures'

export type Shape =
  | string
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly optional: Shape }
  | { readonly union: readonly Shape[] }
  | { readonly record: { readonly [field: string]: Shape } }

export type DriftSeverity = 'Info' | 'Warning' | 'Breaking'

export type DriftKind =
  | 'NullabilityChange'
  | 'MissingField'
  | 'ExtraField'
  | 'TypeNarrowed'
  | 'TypeWidened'
  | 'FieldRenamed'
  | 'TypeMismatch'

export interface Drift {
  readonly kind: DriftKind
  readonly severity: DriftSeverity
  readonly path: string
  readonly expected: string
  readonly actual: string
  /** Similarity of the two names of a renamed field, 0 to 1. */
  readonly similarity?: number
}

/** Elements of a list that are looked at; all of them up to here, because drift often begins in the middle. */
const MAX_SAMPLES = 1000
const MAX_DEPTH = 64
/** Names that are at least so much alike may be one name before and after. */
const MIN_SIMILARITY = 0.6

// -------------------------------------------------------------------------------------------------------------- reading

/** The shape of a value. A dict is a record; values nested too deeply are Any. */
export function inferShape(value: Value, depth = 0): Shape {
  if (value === null) return 'Null'
  if (typeof value === 'boolean') return 'Bool'
  if (typeof value === 'string') return 'String'
  if (isInt(value)) return 'Int'
  if (value instanceof HarnFloat) return 'Float'
  if (value instanceof HarnBytes) return 'Bytes'
  if (depth > MAX_DEPTH) return 'Any'
  if (value instanceof HarnList) {
    let item: Shape = 'Any'
    const items = value.view()
    for (let at = 0; at < Math.min(items.length, MAX_SAMPLES); at++) {
      const shape = inferShape(items[at]!, depth + 1)
      item = at === 0 ? shape : joinShapes(item, shape)
    }
    return { list: item }
  }
  if (value instanceof HarnDict || value instanceof HarnStruct) {
    const record: { [field: string]: Shape } = {}
    for (const name of value.keys()) put(record, name, true, inferShape(value.get(name)!, depth + 1))
    return { record }
  }
  return typeName(value)
}

/** The shape of a JSON Schema, or of a schema of tool_define. */
export function readSchemaShape(schema: Value | undefined, root: Value = schema ?? null, depth = 0): Shape {
  if (typeof schema === 'string') return readTypeShape(schema, null, root, depth)
  if (!(schema instanceof HarnDict) || depth > MAX_DEPTH) return 'Any'
  const reference = schema.get('$ref')
  if (typeof reference === 'string') return readSchemaShape(resolveReference(reference, root), root, depth + 1)
  for (const key of ['anyOf', 'oneOf']) {
    const branches = schema.get(key)
    if (branches instanceof HarnList && branches.length > 0)
      return uniteShapes(branches.view().map((branch) => readSchemaShape(branch, root, depth + 1)))
  }
  const types = schema.get('type')
  const shape =
    types instanceof HarnList
      ? uniteShapes(types.view().map((type) => readTypeShape(String(type), schema, root, depth)))
      : typeof types === 'string'
        ? readTypeShape(types, schema, root, depth)
        : schema.get('properties') instanceof HarnDict
          ? readTypeShape('object', schema, root, depth)
          : readConstantShape(schema)
  return schema.get('nullable') === true ? makeOptional(shape) : shape
}

function readConstantShape(schema: HarnDict): Shape {
  const constants = schema.get('enum')
  if (constants instanceof HarnList && constants.length > 0) return uniteShapes(constants.view().map((each) => inferShape(each)))
  return schema.has('const') ? inferShape(schema.get('const')!) : 'Any'
}

function readTypeShape(type: string, schema: HarnDict | null, root: Value, depth: number): Shape {
  switch (type) {
    case 'null':
    case 'nil':
      return 'Null'
    case 'boolean':
    case 'bool':
      return 'Bool'
    case 'integer':
    case 'int':
      return 'Int'
    case 'number':
    case 'float':
      return 'Float'
    case 'string':
      return 'String'
    case 'array':
    case 'list':
      return { list: readSchemaShape(schema?.get('items'), root, depth + 1) }
    case 'object':
    case 'dict':
      return readObjectShape(schema, root, depth)
    default:
      return 'Any'
  }
}

function readObjectShape(schema: HarnDict | null, root: Value, depth: number): Shape {
  const properties = schema?.get('properties')
  if (!(properties instanceof HarnDict)) {
    const others = schema?.get('additionalProperties')
    return { map: others instanceof HarnDict ? readSchemaShape(others, root, depth + 1) : 'Any' }
  }
  const required = schema?.get('required')
  const needed = new Set(required instanceof HarnList ? required.view() : [])
  const record: { [field: string]: Shape } = {}
  for (const name of properties.keys())
    put(record, name, needed.has(name), readSchemaShape(properties.get(name), root, depth + 1))
  return { record }
}

function resolveReference(reference: string, root: Value): Value | undefined {
  let found: Value | undefined = root
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    if (part === '') continue
    found = found instanceof HarnDict ? found.get(part.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined
  }
  return found
}

/** A shape from data such as a lock file; null for what is none. */
export function readShape(data: unknown): Shape | null {
  if (typeof data === 'string') return data
  if (typeof data !== 'object' || data === null) return null
  const { list, map, optional: of, union, record } = data as { readonly [key: string]: unknown }
  if (list !== undefined) return wrapShape(list, (shape) => ({ list: shape }))
  if (map !== undefined) return wrapShape(map, (shape) => ({ map: shape }))
  if (of !== undefined) return wrapShape(of, (shape) => ({ optional: shape }))
  if (Array.isArray(union)) {
    const members = union.map(readShape)
    return members.includes(null) ? null : { union: members as Shape[] }
  }
  if (typeof record !== 'object' || record === null) return null
  const fields: { [field: string]: Shape } = {}
  for (const [name, value] of Object.entries(record)) {
    const shape = readShape(value)
    if (shape === null) return null
    put(fields, name, true, shape)
  }
  return { record: fields }
}

function wrapShape(data: unknown, wrap: (shape: Shape) => Shape): Shape | null {
  const shape = readShape(data)
  return shape === null ? null : wrap(shape)
}

/** Field names come from anywhere: `__proto__` is one like others. */
function put(record: { [field: string]: Shape }, name: string, required: boolean, shape: Shape): void {
  Object.defineProperty(record, required ? name : `${name}?`, {
    value: shape,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

// -------------------------------------------------------------------------------------------------------------- joining

function makeOptional(shape: Shape): Shape {
  return shape === 'Any' || shape === 'Null' || isOptional(shape) ? shape : { optional: shape }
}

const isOptional = (shape: Shape): shape is { readonly optional: Shape } => typeof shape === 'object' && 'optional' in shape
const isRecord = (shape: Shape): shape is { readonly record: { readonly [field: string]: Shape } } =>
  typeof shape === 'object' && 'record' in shape

/** With Null among them, the rest is optional. */
function uniteShapes(shapes: readonly Shape[]): Shape {
  let nullable = false
  const members: Shape[] = []
  for (const each of shapes) {
    if (each === 'Null') nullable = true
    else if (isOptional(each)) {
      nullable = true
      add(members, each.optional)
    } else if (typeof each === 'object' && 'union' in each) for (const member of each.union) add(members, member)
    else add(members, each)
  }
  const whole: Shape = members.includes('Any') ? 'Any' : members.length === 1 ? members[0]! : { union: members }
  if (members.length === 0) return 'Null'
  return nullable ? makeOptional(whole) : whole
}

function add(members: Shape[], shape: Shape): void {
  if (!members.some((known) => isSameShape(known, shape))) members.push(shape)
}

const isSameShape = (a: Shape, b: Shape): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** What both elements of a list are: records by field, where a field that one lacks may be absent. */
function joinShapes(a: Shape, b: Shape): Shape {
  if (isSameShape(a, b)) return a
  if (isRecord(a) && isRecord(b)) {
    const record: { [field: string]: Shape } = {}
    const [left, right] = [listFields(a.record), listFields(b.record)]
    for (const name of sortTexts([...new Set([...left.keys(), ...right.keys()])])) {
      const [one, other] = [left.get(name), right.get(name)]
      if (one === undefined || other === undefined) put(record, name, false, (one ?? other)!.shape)
      else put(record, name, one.required && other.required, joinShapes(one.shape, other.shape))
    }
    return { record }
  }
  if (typeof a === 'object' && 'list' in a && typeof b === 'object' && 'list' in b) {
    if (a.list === 'Any') return b
    return b.list === 'Any' ? a : { list: joinShapes(a.list, b.list) }
  }
  return uniteShapes([a, b])
}

function listFields(record: {
  readonly [field: string]: Shape
}): Map<string, { readonly shape: Shape; readonly required: boolean }> {
  const fields = new Map<string, { readonly shape: Shape; readonly required: boolean }>()
  for (const [key, shape] of Object.entries(record)) {
    const required = !key.endsWith('?')
    fields.set(required ? key : key.slice(0, -1), { shape, required })
  }
  return fields
}

// ------------------------------------------------------------------------------------------------------------ comparing

export interface CompareOptions {
  /** The actual shape is that of one answer: members of a union and optional fields that it lacks say nothing. */
  readonly observed?: boolean
}

export function compareShapes(expected: Shape, actual: Shape, options: CompareOptions = {}): Drift[] {
  const drifts: Drift[] = []
  new Comparison(drifts, options.observed ?? false).compare(expected, actual, 'root')
  return drifts
}

class Comparison {
  private readonly drifts: Drift[]
  private readonly observed: boolean

  constructor(drifts: Drift[], observed: boolean) {
    this.drifts = drifts
    this.observed = observed
  }

  compare(expected: Shape, actual: Shape, path: string): void {
    if (expected === 'Any' || actual === 'Any' || isSameShape(expected, actual)) return
    if (isOptional(expected)) {
      if (actual !== 'Null') this.compare(expected.optional, isOptional(actual) ? actual.optional : actual, path)
      return
    }
    if (actual === 'Null' || isOptional(actual)) return this.add('NullabilityChange', 'Breaking', path, expected, actual)
    if (typeof expected === 'object' && 'union' in expected) return this.compareUnion(expected.union, actual, path)
    if (typeof actual === 'object' && 'union' in actual) {
      const kept = actual.union.some((member) => this.fits(expected, member))
      return this.add(kept ? 'TypeWidened' : 'TypeMismatch', kept ? 'Warning' : 'Breaking', path, expected, actual)
    }
    // Every int is a number.
    if (expected === 'Float' && actual === 'Int') return
    if (typeof expected === 'object' && typeof actual === 'object') {
      if ('list' in expected && 'list' in actual) return this.compare(expected.list, actual.list, `${path}[]`)
      if ('map' in expected && 'map' in actual) return this.compare(expected.map, actual.map, `${path}<value>`)
      if ('map' in expected && 'record' in actual) {
        for (const { shape } of listFields(actual.record).values()) this.compare(expected.map, shape, `${path}<value>`)
        return
      }
      if ('record' in expected && 'record' in actual) return this.compareFields(expected.record, actual.record, path)
    }
    this.add('TypeMismatch', 'Breaking', path, expected, actual)
  }

  private compareUnion(expected: readonly Shape[], actual: Shape, path: string): void {
    const found = typeof actual === 'object' && 'union' in actual ? actual.union : [actual]
    const lost = expected.filter((member) => !found.some((each) => this.fits(member, each)))
    const gained = found.filter((each) => !expected.some((member) => this.fits(member, each)))
    const whole: Shape = { union: expected }
    if (gained.length === found.length) return this.add('TypeMismatch', 'Breaking', path, whole, actual)
    if (lost.length > 0 && !this.observed) this.add('TypeNarrowed', 'Breaking', path, whole, actual)
    if (gained.length > 0) this.add('TypeWidened', 'Warning', path, whole, actual)
  }

  private fits(expected: Shape, actual: Shape): boolean {
    return !compareShapes(expected, actual, { observed: this.observed }).some(({ severity }) => severity === 'Breaking')
  }

  private compareFields(
    expected: { readonly [field: string]: Shape },
    actual: { readonly [field: string]: Shape },
    path: string,
  ): void {
    const [before, now] = [listFields(expected), listFields(actual)]
    const added = new Set([...now.keys()].filter((name) => !before.has(name)))
    for (const [name, { shape, required }] of before) {
      const found = now.get(name)
      if (found !== undefined) {
        if (required && !found.required)
          this.add('NullabilityChange', 'Breaking', `${path}.${name}`, shape, { optional: found.shape })
        else this.compare(shape, found.shape, `${path}.${name}`)
        continue
      }
      const renamed = required ? findClosestName(name, added) : null
      if (renamed !== null) {
        added.delete(renamed.name)
        this.drifts.push({
          kind: 'FieldRenamed',
          severity: 'Breaking',
          path: `${path}.${name}`,
          expected: name,
          actual: renamed.name,
          similarity: renamed.similarity,
        })
      } else if (required) this.add('MissingField', 'Breaking', `${path}.${name}`, shape, null)
      else if (!this.observed) this.add('MissingField', 'Warning', `${path}.${name}`, shape, null)
    }
    for (const name of added) this.add('ExtraField', 'Info', `${path}.${name}`, null, now.get(name)!.shape)
  }

  private add(kind: DriftKind, severity: DriftSeverity, path: string, expected: Shape | null, actual: Shape | null): void {
    const formatShape = (shape: Shape | null): string => (shape === null ? 'nothing' : showShape(shape))
    this.drifts.push({ kind, severity, path, expected: formatShape(expected), actual: formatShape(actual) })
  }
}

function findClosestName(
  name: string,
  candidates: ReadonlySet<string>,
): { readonly name: string; readonly similarity: number } | null {
  let best: { readonly name: string; readonly similarity: number } | null = null
  for (const candidate of candidates) {
    if (Math.max(name.length, candidate.length) > 64) continue
    const distance = editDistance(foldName(name), foldName(candidate))
    const similarity = Math.round((1 - distance / Math.max(foldName(name).length, foldName(candidate).length, 1)) * 100) / 100
    if (similarity >= MIN_SIMILARITY && (best === null || similarity > best.similarity)) best = { name: candidate, similarity }
  }
  return best
}

/** `user_name`, `userName` and `username` differ in how they are written only. */
const foldName = (name: string): string => name.replace(/[_-]/g, '').toLowerCase()

// -------------------------------------------------------------------------------------------------------------- showing

export function showShape(shape: Shape): string {
  if (typeof shape === 'string') return shape
  if ('list' in shape) return `List<${showShape(shape.list)}>`
  if ('map' in shape) return `Map<String, ${showShape(shape.map)}>`
  if ('optional' in shape) return `Optional<${showShape(shape.optional)}>`
  if ('union' in shape) return shape.union.map(showShape).join(' | ')
  const fields = Object.entries(shape.record).map(([name, each]) => `${name}: ${showShape(each)}`)
  return `Record{${fields.join(', ')}}`
}

/** `[Breaking] MissingField at 'root.a': expected Int, got nothing` */
export function formatDrift({ kind, severity, path, expected, actual, similarity }: Drift): string {
  const alike = similarity === undefined ? '' : ` (${Math.round(similarity * 100)} % alike)`
  return `[${severity}] ${kind} at '${path}': expected ${expected}, got ${actual}${alike}`
}
