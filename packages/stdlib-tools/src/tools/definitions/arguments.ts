// Arguments of a tool call before anything is done with them: defaults of the parameters, the check against them, and the search
// for values that cannot leave the machine.

import {
  HarnChannel,
  HarnDict,
  HarnGenerator,
  HarnHandle,
  HarnIter,
  HarnList,
  HarnTask,
  isCallable,
  stringifySorted,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { isObjectSchema, isRequired, toSchema, validateSchema } from './validate.js'
import { getOrNil } from './registry.js'
import { editDistance } from '@bridle/compiler/signatures'

export function readParameters(entry: HarnDict): HarnDict {
  const parameters = getOrNil(entry, 'parameters') ?? getOrNil(entry, 'inputSchema') ?? getOrNil(entry, 'input_schema')
  return parameters instanceof HarnDict ? parameters : new HarnDict()
}

export function hasDefaults(parameters: HarnDict): boolean {
  return readProperties(parameters)
    .values()
    .some((spec) => spec instanceof HarnDict && spec.has('default'))
}

/** Arguments with the defaults of the parameters filled in. */
export function withDefaults(parameters: HarnDict, args: HarnDict): HarnDict {
  const specs = isObjectSchema(parameters) ? (parameters.get('properties') as HarnDict) : parameters
  let filled = args
  for (const [name, spec] of specs.entries()) {
    if (!(spec instanceof HarnDict) || !spec.has('default') || args.has(name)) continue
    if (filled === args) filled = args.copy()
    filled.set(name, spec.get('default')!)
  }
  return filled
}

export interface ArgumentProblem {
  readonly message: string
  readonly details: Value
}

function makeProblem(path: string, message: string, expected: string, actual: string, reason: string): ArgumentProblem {
  return { message, details: HarnDict.of({ path, expected, actual, reason }) }
}

export function checkArguments(parameters: HarnDict, args: HarnDict): ArgumentProblem | null {
  if (isObjectSchema(parameters)) {
    const failure = validateSchema(args, parameters)
    if (failure === null) return null
    return makeProblem(
      failure.path,
      `Invalid arguments at ${failure.path}: ${failure.reason}`,
      failure.expected,
      failure.actual,
      failure.reason,
    )
  }
  for (const name of parameters.keys()) {
    const spec = parameters.get(name)!
    const value = args.get(name)
    if (value === undefined) {
      if (!isRequired(spec)) continue
      const hint = suggestUnknown(name, parameters, args)
      const reason = `missing required property '${name}'`
      return makeProblem(
        `$.${name}`,
        `Missing required parameter: ${name}${hint}`,
        `property '${name}'`,
        stringifySorted(args),
        reason,
      )
    }
    // An optional parameter may be given as nil.
    if (value === null && !isRequired(spec)) continue
    const failure = validateSchema(value, toSchema(spec))
    if (failure === null) continue
    const path = `$.${name}${failure.path.slice(1)}`
    const unknown = name === 'operation' && typeof value === 'string' && failure.reason === 'value is not in enum'
    return makeProblem(
      path,
      unknown ? `Invalid operation: ${value}` : `Invalid type for parameter '${name}': ${failure.reason}`,
      failure.expected,
      failure.actual,
      failure.reason,
    )
  }
  return null
}

/** A suggestion when an argument that no parameter has looks like a misspelling of the missing one. */
function suggestUnknown(missing: string, parameters: HarnDict, args: HarnDict): string {
  const limit = missing.length <= 2 ? 1 : missing.length <= 5 ? 2 : 3
  const near = args.keys().find((key) => !parameters.has(key) && key.length < 64 && editDistance(key, missing) <= limit)
  return near === undefined ? '' : ` (did you mean '${missing}' instead of '${near}'?)`
}

/** The path of a value that cannot leave the machine (closures, channels, tasks, handles), or null. */
export function findLiveValue(root: Value): { path: string; value: Value } | null {
  // Paths are made only for arguments that are refused.
  return hasLiveValue(root) ? locateLiveValue(root) : null
}

function hasLiveValue(root: Value): boolean {
  const pending: Value[] = [root]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const members = value instanceof HarnList ? value.view() : value instanceof HarnDict ? value.values() : null
    if (members === null ? isLive(value) : members.some(isLive)) return true
    for (const member of members ?? []) if (member instanceof HarnList || member instanceof HarnDict) pending.push(member)
  }
  return false
}

function locateLiveValue(root: Value): { path: string; value: Value } | null {
  const pending: { path: string; value: Value }[] = [{ path: '$', value: root }]
  while (pending.length > 0) {
    const { path, value } = pending.pop()!
    if (value instanceof HarnList) value.view().forEach((item, at) => pending.push({ path: `${path}[${at}]`, value: item }))
    else if (value instanceof HarnDict)
      for (const [key, item] of value.entries()) pending.push({ path: `${path}.${key}`, value: item })
    else if (isLive(value)) return { path, value }
  }
  return null
}

function isLive(value: Value): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    (isCallable(value) ||
      value instanceof HarnChannel ||
      value instanceof HarnTask ||
      value instanceof HarnHandle ||
      value instanceof HarnIter ||
      value instanceof HarnGenerator)
  )
}

function readProperties(parameters: HarnDict): HarnDict {
  const properties = isObjectSchema(parameters) ? parameters.get('properties') : parameters
  return properties instanceof HarnDict ? properties : new HarnDict()
}

/** Whether the schema has a parameter of that name. */
export function knowsParameter(parameters: HarnDict, name: string): boolean {
  return readProperties(parameters).has(name)
}

/** Deeper records of a schema are not checked here. */
const MAX_MARKED_DEPTH = 32

/**
 * Names that the schema marks as secret (`writeOnly`, `secret`, format `password`), also within records and lists of them. A mark on the
 * items of a list, on one of several schemas, or behind a `$ref` is one on what has them.
 */
export function listSecretParameters(parameters: HarnDict): readonly string[] {
  const found = new Set<string>()
  const known = new Map<HarnDict, boolean>()
  const look = (schema: Value | undefined, depth: number): boolean => {
    // What is too deep to look at may be marked.
    if (depth > MAX_MARKED_DEPTH) return schema instanceof HarnDict
    if (!(schema instanceof HarnDict)) return false
    // A schema that is met twice, or within itself, is read once.
    const before = known.get(schema)
    if (before !== undefined) return before
    const own = schema.get('writeOnly') === true || schema.get('secret') === true || schema.get('format') === 'password'
    known.set(schema, own)
    for (const [name, property] of readProperties(schema).entries()) if (look(property, depth + 1)) found.add(name)
    for (const key of ['$defs', 'definitions', 'patternProperties', 'dependentSchemas']) {
      const parts = schema.get(key)
      if (parts instanceof HarnDict) for (const part of parts.values()) look(part, depth + 1)
    }
    let isMarked = own
    const parts = ['items', 'contains', 'additionalProperties', 'unevaluatedProperties', 'if', 'then', 'else', 'not']
    for (const key of parts) isMarked = look(schema.get(key), depth + 1) || isMarked
    for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']) {
      const list = schema.get(key)
      if (list instanceof HarnList) for (const part of list.view()) isMarked = look(part, depth + 1) || isMarked
    }
    const reference = schema.get('$ref')
    if (typeof reference === 'string') isMarked = look(resolvePointer(parameters, reference), depth + 1) || isMarked
    known.set(schema, isMarked)
    return isMarked
  }
  look(parameters, 0)
  return [...found]
}

/** What `#/a/b` stands for within the schema; undefined for an address elsewhere. */
function resolvePointer(root: HarnDict, reference: string): Value | undefined {
  if (!reference.startsWith('#')) return undefined
  let at: Value | undefined = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    if (!(at instanceof HarnDict)) return undefined
    at = at.get(part.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  return at
}

/** Parameters that the schema marks: `url` (format `uri`), `path` (format `path`). */
export function listMarkedParameters(parameters: HarnDict, mark: 'url' | 'path'): readonly string[] {
  return readProperties(parameters)
    .keys()
    .filter((name) => {
      const spec = readProperties(parameters).get(name)
      if (!(spec instanceof HarnDict)) return false
      const format = spec.get('format')
      return mark === 'url' ? format === 'uri' || format === 'url' : format === 'path'
    })
}
