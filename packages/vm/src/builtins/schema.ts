// Schema builtins (reference 03a §11.3) and json_validate. Where a script writes the name of a type alias as the schema, the
// compiler has put the alias's schema dict there.

import { builtin } from './builtin.js'
import type { BuiltinDef, Context, Control, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import { checkSchema } from './schema-check.js'
import type { Checked } from './schema-check.js'
import { SchemaError, canonicalSchema, filterProperties, partialSchema, toJsonSchema } from './schema-normal.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { err, ok } from '../values/scalars.js'
import { isTruthy, typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

/** Errors of a check; `value` is undefined when the schema itself is bad. */
type Outcome = Checked | { readonly value: undefined; readonly errors: readonly string[] }

function check(ctx: Context, value: Value, schema: Value, applyDefaults: boolean): Outcome {
  ctx.charge(8)
  let canonical: HarnDict
  try {
    canonical = canonicalSchema(schema)
  } catch (error) {
    if (error instanceof SchemaError) return { value: undefined, errors: [error.message] }
    throw error
  }
  ctx.charge(canonical.size + sizeOf(value))
  return checkSchema(value, canonical, applyDefaults)
}

/** Rough size for the fuel charge: members of the top container. */
function sizeOf(value: Value): number {
  return value instanceof HarnDict ? value.size : value instanceof HarnList ? value.length : 1
}

function asResult(outcome: Outcome): Value {
  if (outcome.errors.length === 0) return ok(outcome.value!)
  const fields: Record<string, Value> = { message: outcome.errors[0]!, errors: new HarnList([...outcome.errors]) }
  if (outcome.value !== undefined) fields['value'] = outcome.value
  return err(HarnDict.of(fields))
}

/** The builtin's value from two arguments, value and schema; fewer arguments are an error. */
function checking(
  name: string,
  signature: string,
  doc: string,
  finish: (ctx: Context, value: Value, schema: Value, third: Value) => Result,
): BuiltinDef {
  return builtin(`${name}${signature}`, { doc }, (ctx, value, schema, third) =>
    ctx.argc < 2 ? ctx.throw(`${name} requires 2 arguments`) : finish(ctx, value!, schema!, third ?? null),
  )
}

/** A transformation of one schema, canonical before `run` sees it; `refuse` looks at the second argument before that. */
function transforming(
  name: string,
  signature: string,
  doc: string,
  run: (ctx: Context, schema: HarnDict, second: Value) => Result,
  argumentCount = 1,
  refuse: (ctx: Context, second: Value) => Control | null = () => null,
): BuiltinDef {
  return builtin(`${name}${signature}`, { doc }, (ctx, schema, second) => {
    if (ctx.argc < argumentCount) return ctx.throw(`${name} requires ${argumentCount} arguments`)
    const refused = refuse(ctx, second ?? null)
    if (refused !== null) return refused
    try {
      return run(ctx, canonicalSchema(schema!), second ?? null)
    } catch (error) {
      if (error instanceof SchemaError) return ctx.throw(error.message)
      throw error
    }
  })
}

/** schema_pick keeps the named properties, schema_omit the others. */
function filtering(name: string, doc: string, wanted: boolean): BuiltinDef {
  return transforming(
    name,
    '(schema: dict, keys: list) -> dict',
    doc,
    (_ctx, schema, keys) => {
      const names = new Set((keys as HarnList).view().map((key) => display(key)))
      return filterProperties(schema, (key) => names.has(key) === wanted)
    },
    2,
    (ctx, keys) => (keys instanceof HarnList ? null : ctx.throw(`${name}: keys must be a list`)),
  )
}

const isOfType = (ctx: Context, value: Value, schema: Value): Result => {
  const outcome = check(ctx, value, schema, false)
  return outcome.value === undefined ? ctx.throw(outcome.errors[0]!) : outcome.errors.length === 0
}

function expectOrThrow(ctx: Context, outcome: Outcome, value: Value): Result {
  return outcome.errors.length === 0 ? value : ctx.throw(outcome.errors.join('; '))
}

export const schemaFamily: BuiltinFamily = {
  name: 'schema',
  builtins: [
    checking(
      'schema_check',
      '(data: unknown, schema: Schema<T>) -> Result<T, string>',
      '`Ok(value)`, or `Err` with all errors.',
      (ctx, value, schema) => {
        const outcome = check(ctx, value, schema, false)
        return outcome.errors.length === 0 ? ok(value) : asResult(outcome)
      },
    ),
    checking(
      'schema_parse',
      '(data: unknown, schema: Schema<T>) -> Result<T, string>',
      'As `schema_check`, with defaults filled in.',
      (ctx, value, schema) => asResult(check(ctx, value, schema, true)),
    ),
    checking('schema_is', '(data: any, schema: Schema<T>) -> bool', 'Whether a value satisfies a schema.', isOfType),
    checking('is_type', '(data: any, schema: dict) -> bool', 'Whether a value satisfies a schema.', isOfType),
    checking(
      'schema_expect',
      '(data: unknown, schema: Schema<T>, apply_defaults?: bool) -> T',
      'The value, or an error that lists what is wrong with it.',
      (ctx, value, schema, defaults) => {
        const outcome = check(ctx, value, schema, isTruthy(defaults))
        return expectOrThrow(ctx, outcome, isTruthy(defaults) ? (outcome.value ?? null) : value)
      },
    ),
    checking(
      'json_validate',
      '(data: any, schema: dict) -> bool',
      'True, or an error that lists what is wrong with the value.',
      (ctx, value, schema) => expectOrThrow(ctx, check(ctx, value, schema, false), true),
    ),
    builtin('schema_of(T: dict) -> dict', { doc: 'The schema of a type alias.' }, (ctx, schema) => {
      if (ctx.argc === 0) return ctx.throw('schema_of requires 1 arguments')
      return schema instanceof HarnDict
        ? schema
        : ctx.throw(`schema_of: expected a type alias or schema dict, got ${typeName(schema!)}`)
    }),
    transforming('schema_to_json_schema', '(schema: dict) -> dict', 'The schema in the words of JSON Schema.', (_ctx, schema) =>
      toJsonSchema(schema, false),
    ),
    transforming('schema_to_openapi_schema', '(schema: dict) -> dict', 'The schema in the words of OpenAPI.', (_ctx, schema) =>
      toJsonSchema(schema, true),
    ),
    transforming(
      'schema_from_json_schema',
      '(schema: dict) -> dict',
      'The canonical form of a JSON Schema.',
      (_ctx, schema) => schema,
    ),
    transforming(
      'schema_from_openapi_schema',
      '(schema: dict) -> dict',
      'The canonical form of an OpenAPI schema.',
      (_ctx, schema) => schema,
    ),
    transforming(
      'schema_extend',
      '(base: dict, overrides: dict) -> dict',
      'Two schemas merged; keys of the second win.',
      (_ctx, schema, more) => schema.merged(canonicalSchema(more)),
      2,
    ),
    transforming('schema_partial', '(schema: dict) -> dict', 'The schema with nothing required, at any depth.', (_ctx, schema) =>
      partialSchema(schema),
    ),
    filtering('schema_pick', 'The schema with the named properties only.', true),
    filtering('schema_omit', 'The schema without the named properties.', false),
  ],
}
