// Schema builtins and json_validate. Where a script writes the name of a type alias as the schema, the
// compiler has put the alias's schema dict there. Values and schemas are data of any size, so that all of it is done in pieces.

import { HarnDict, HarnList, builtinTaking, display, err, definePieces, makeStepWork, isTruthy, ok } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Control, Cost, Result, Steps, Value } from '@bridle/vm/families'
import { checkInSteps } from './check.js'
import type { Checked } from './check.js'
import { SchemaError, canonicalizeSchema, filterProperties, makePartialSchema, toJsonSchema } from './normal.js'

/** Errors of a check; `value` is undefined when the schema itself is bad. */
type Outcome = Checked | { readonly value: undefined; readonly errors: readonly string[] }

function asResult(outcome: Outcome): Value {
  if (outcome.errors.length === 0) return ok(outcome.value!)
  const fields: Record<string, Value> = { message: outcome.errors[0]!, errors: new HarnList([...outcome.errors]) }
  if (outcome.value !== undefined) fields['value'] = outcome.value
  return err(HarnDict.of(fields))
}

const checkType = (ctx: Context, outcome: Outcome): Result =>
  outcome.value === undefined ? ctx.throw(outcome.errors[0]!) : outcome.errors.length === 0

function expectOrThrow(ctx: Context, outcome: Outcome, value: Value): Result {
  return outcome.errors.length === 0 ? value : ctx.throw(outcome.errors.join('; '))
}

/** A builtin that checks a value against a schema. */
interface Check {
  readonly signature: string
  readonly doc: string
  readonly finish: (ctx: Context, outcome: Outcome, value: Value, applyDefaults: boolean) => Result
}

const CHECKS: Readonly<Record<string, Check>> = {
  schema_check: {
    signature: '<T>(data: unknown, schema: Schema<T>) -> Result<T, string>',
    doc: '`Ok(value)`, or `Err` with all errors.',
    finish: (_ctx, outcome, value) => (outcome.errors.length === 0 ? ok(value) : asResult(outcome)),
  },
  schema_parse: {
    signature: '<T>(data: unknown, schema: Schema<T>) -> Result<T, string>',
    doc: 'As `schema_check`, with defaults filled in.',
    finish: (_ctx, outcome) => asResult(outcome),
  },
  schema_is: {
    signature: '(data: any, schema: Schema<T>) -> bool',
    doc: 'Whether a value satisfies a schema.',
    finish: checkType,
  },
  is_type: { signature: '(data: any, schema: dict) -> bool', doc: 'Whether a value satisfies a schema.', finish: checkType },
  schema_expect: {
    signature: '<T>(data: unknown, schema: Schema<T>, apply_defaults?: bool) -> T',
    doc: 'The value, or an error that lists what is wrong with it.',
    finish: (ctx, outcome, value, applyDefaults) => expectOrThrow(ctx, outcome, applyDefaults ? (outcome.value ?? null) : value),
  },
  json_validate: {
    signature: '(data: any, schema: dict) -> bool',
    doc: 'True, or an error that lists what is wrong with the value.',
    finish: (ctx, outcome) => expectOrThrow(ctx, outcome, true),
  },
}

function appliesDefaults(name: string, third: Value): boolean {
  return name === 'schema_parse' || (name === 'schema_expect' && isTruthy(third))
}

function* checkSteps(name: string, value: Value, schema: Value, applyDefaults: boolean): Steps {
  let outcome: Outcome
  try {
    outcome = yield* checkInSteps(value, yield* canonicalizeSchema(schema), applyDefaults)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    outcome = { value: undefined, errors: [error.message] }
  }
  return (ctx) => CHECKS[name]!.finish(ctx, outcome, value, applyDefaults)
}

const checking = definePieces('schema.check', ([name, value, schema, applyDefaults]) =>
  makeStepWork(checkSteps(name as string, value!, schema!, applyDefaults as boolean)),
)

/** Value and schema; fewer arguments are an error. */
function defineChecking(name: string, { signature, doc }: Check): BuiltinDef {
  return builtinTaking(
    `${name}${signature}`,
    { doc, pays: true },
    { fewer: '{f} requires 2 arguments' },
    (ctx, value, schema, third) => {
      ctx.charge(8)
      return checking.run(ctx, name, value!, schema!, appliesDefaults(name, third ?? null))
    },
  )
}

/** A builtin that makes another schema of one, which is canonical before `change` sees it. */
interface Change {
  readonly signature: string
  readonly doc: string
  readonly arguments?: number
  /** Looks at the second argument before anything else. */
  readonly refuse?: (ctx: Context, second: Value) => Control | null
  readonly change: (schema: HarnDict, second: Value) => Generator<Cost, HarnDict, void>
}

// oxlint-disable-next-line require-yield -- nothing to be done
function* keepSchema(schema: HarnDict): Generator<Cost, HarnDict, void> {
  return schema
}

function* extendSchema(schema: HarnDict, more: Value): Generator<Cost, HarnDict, void> {
  return schema.merged(yield* canonicalizeSchema(more))
}

const A_NAME: Cost = { units: 2, heap: 16 }

/** schema_pick keeps the named properties, schema_omit the others. */
function makeFiltering(name: string, doc: string, wanted: boolean): Change {
  return {
    signature: '(schema: dict, keys: list) -> dict',
    doc,
    arguments: 2,
    refuse: (ctx, keys) => (keys instanceof HarnList ? null : ctx.throw(`${name}: keys must be a list`)),
    *change(schema, keys) {
      const names = new Set<string>()
      for (const key of (keys as HarnList).view()) {
        yield A_NAME
        names.add(display(key))
      }
      return yield* filterProperties(schema, (key) => names.has(key) === wanted)
    },
  }
}

const CHANGES: Readonly<Record<string, Change>> = {
  schema_to_json_schema: {
    signature: '(schema: dict) -> dict',
    doc: 'The schema in the words of JSON Schema.',
    change: (schema) => toJsonSchema(schema, false),
  },
  schema_to_openapi_schema: {
    signature: '(schema: dict) -> dict',
    doc: 'The schema in the words of OpenAPI.',
    change: (schema) => toJsonSchema(schema, true),
  },
  schema_from_json_schema: {
    signature: '(schema: dict) -> dict',
    doc: 'The canonical form of a JSON Schema.',
    change: keepSchema,
  },
  schema_from_openapi_schema: {
    signature: '(schema: dict) -> dict',
    doc: 'The canonical form of an OpenAPI schema.',
    change: keepSchema,
  },
  schema_extend: {
    signature: '(base: dict, overrides: dict) -> dict',
    doc: 'Two schemas merged; keys of the second win.',
    arguments: 2,
    change: extendSchema,
  },
  schema_partial: {
    signature: '(schema: dict) -> dict',
    doc: 'The schema with nothing required, at any depth.',
    change: makePartialSchema,
  },
  schema_pick: makeFiltering('schema_pick', 'The schema with the named properties only.', true),
  schema_omit: makeFiltering('schema_omit', 'The schema without the named properties.', false),
}

function* changeSteps(name: string, schema: Value, second: Value): Steps {
  try {
    const changed = yield* CHANGES[name]!.change(yield* canonicalizeSchema(schema), second)
    return () => changed
  } catch (error) {
    if (error instanceof SchemaError) return (ctx) => ctx.throw(error.message)
    throw error
  }
}

const changing = definePieces('schema.change', ([name, schema, second]) =>
  makeStepWork(changeSteps(name as string, schema!, second!)),
)

function defineChanging(name: string, { signature, doc, arguments: wanted = 1, refuse }: Change): BuiltinDef {
  const demands = { fewer: `{f} requires ${wanted} arguments`, least: wanted }
  return builtinTaking(`${name}${signature}`, { doc, pays: true }, demands, (ctx, schema, second) => {
    return refuse?.(ctx, second ?? null) ?? changing.run(ctx, name, schema!, second ?? null)
  })
}

export const schemaFamily: BuiltinFamily = {
  name: 'schema',
  builtins: [
    ...Object.entries(CHECKS).map(([name, check]) => defineChecking(name, check)),
    builtinTaking(
      'schema_of(T: dict) -> dict',
      { doc: 'The schema of a type alias.' },
      { fewer: '{f} requires 1 arguments', not: { T: '{f}: expected a type alias or schema {type}, got {got}' } },
      (_ctx, schema) => schema,
    ),
    ...Object.entries(CHANGES).map(([name, change]) => defineChanging(name, change)),
  ],
  frames: [checking.frame, changing.frame],
}
