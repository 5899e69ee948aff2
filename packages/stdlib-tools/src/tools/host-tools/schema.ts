// Schemas of tools and host functions. A host writes them with zod or any library of the Standard Schema kind, or as JSON
// Schema; either way there is one JSON Schema (for scripts, models and the machine's checks) and one check (for the host's
// own code, which then receives values with defaults and transformations applied). This module imports no schema library.

import { walkInPieces } from './piece-walk.js'
import { SchemaCheck, SchemaLimitError } from './schema-check.js'

export type JsonSchema = { readonly [key: string]: unknown }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

/** A schema of zod 4, valibot, arktype … : what they have in common (standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type AnySchema = StandardSchema<unknown, unknown> | JsonSchema

/** What the host's code receives for a schema: its output type, or unknown data for plain JSON Schema. */
export type OutputOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : unknown
  : unknown

/** What a check of a schema accepts: its input type, or unknown data for plain JSON Schema. */
export type InputOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : unknown
  : unknown

export type CheckResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly path: string; readonly reason: string }

/** A schema in the form the runtime works with. */
export interface CompiledSchema {
  readonly json: JsonSchema
  readonly check: (value: unknown) => CheckResult | Promise<CheckResult>
}

export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/**
 * Throws SchemaError when the schema has no JSON Schema form. `side` is what a value has before or after transformations, `owner` is what
 * the schema belongs to, for messages.
 */
export function compileSchema(schema: AnySchema, side: 'input' | 'output' = 'input', owner?: string): CompiledSchema {
  if (!isStandard(schema)) return { json: schema, check: makeJsonCheck(schema) }
  try {
    return { json: makeJsonSchema(schema, side), check: makeStandardCheck(schema) }
  } catch (cause) {
    if (owner === undefined || !(cause instanceof SchemaError)) throw cause
    throw new SchemaError(`${owner}: ${cause.message}`, { cause: cause.cause })
  }
}

/** The JSON Schema of a schema of any kind. Throws SchemaError when there is none. */
export function toJsonSchema(schema: AnySchema, side: 'input' | 'output' = 'input'): JsonSchema {
  return isStandard(schema) ? makeJsonSchema(schema, side) : schema
}

function isStandard(schema: AnySchema): schema is StandardSchema<unknown, unknown> {
  return '~standard' in schema
}

/** What is written for types that JSON does not have. */
const INSTEAD: readonly (readonly [begin: string, instead: string])[] = [
  ['BigInt', 'z.int(), or the JSON Schema {type: "integer"}, which takes ints beyond ±2^53 as bigint'],
  ['Date', 'z.iso.datetime(), a string'],
  ['Map', 'z.record(z.string(), …)'],
  ['Set', 'z.array(…)'],
  ['Undefined', '.optional(), or z.null()'],
]

function makeJsonSchema(schema: StandardSchema<unknown, unknown>, side: 'input' | 'output'): JsonSchema {
  type Convert = (options: { readonly [key: string]: unknown }) => JsonSchema
  const standard = (schema['~standard'] as { readonly jsonSchema?: { readonly [side: string]: Convert | undefined } }).jsonSchema
  const own = (schema as { readonly toJSONSchema?: Convert }).toJSONSchema
  try {
    if (typeof own === 'function') return withoutNoise(own.call(schema, { io: side }))
    const convert = standard?.[side]
    if (convert !== undefined) return withoutNoise(convert({ target: 'draft-2020-12' }))
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    const found = INSTEAD.find(([word]) => problem.startsWith(word))
    const hint = found === undefined ? '' : `: write ${found[1]}`
    throw new SchemaError(`schema cannot be written as JSON Schema: ${problem}${hint}`, { cause })
  }
  throw new SchemaError(`schemas of "${schema['~standard'].vendor}" have no JSON Schema form; give the JSON Schema instead`)
}

/** Drops what only says "any safe integer": models and people read these schemas. */
function withoutNoise(schema: JsonSchema): JsonSchema {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    const out: { [key: string]: unknown } = {}
    for (const [key, item] of Object.entries(value)) {
      if (key === '$schema' || key === '~standard') continue
      if ((key === 'minimum' && item === Number.MIN_SAFE_INTEGER) || (key === 'maximum' && item === Number.MAX_SAFE_INTEGER))
        continue
      out[key] = clean(item)
    }
    return out
  }
  return clean(schema) as JsonSchema
}

function makeStandardCheck(schema: StandardSchema<unknown, unknown>): CompiledSchema['check'] {
  const read = (result: StandardResult<unknown>): CheckResult => {
    if (result.issues === undefined) return { ok: true, value: result.value }
    const issue = result.issues[0]
    return { ok: false, path: formatPath(issue?.path ?? []), reason: issue?.message ?? 'invalid' }
  }
  return (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(read) : read(result)
  }
}

function formatPath(path: readonly (PropertyKey | { readonly key: PropertyKey })[]): string {
  let text = '$'
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part
    text += typeof key === 'number' ? `[${key}]` : `.${String(key)}`
  }
  return text
}

/**
 * An interpreting check: it needs no code generation, so it runs under a strict content security policy. Large values are checked in
 * pieces.
 */
function makeJsonCheck(schema: JsonSchema): CompiledSchema['check'] {
  let read: SchemaCheck
  try {
    read = new SchemaCheck(schema)
  } catch (cause) {
    if (!(cause instanceof SchemaLimitError)) throw cause
    throw new SchemaError(cause.message, { cause })
  }
  return (value) => {
    if (read.acceptsAtOnce(value)) return { ok: true, value }
    const walk = read.walk(value)
    const result = (): CheckResult => (walk.issue === null ? { ok: true, value } : { ok: false, ...walk.issue })
    const done = walkInPieces(walk)
    return done instanceof Promise ? done.then(result) : result()
  }
}
