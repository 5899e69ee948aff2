// Result values: `Ok`, `Err`, their tests and their unwrapping. A Result is an enum value named `Result`. Functions that
// unwrap return other values unchanged.

import { builtin } from './builtin.js'
import type { BuiltinDef, Run } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import { display } from '../values/display.js'
import { HarnEnum, err, ok } from '../values/scalars.js'
import type { Value } from '../values/value.js'

/** The variant of a Result, null for any other value. */
function readVariant(value: Value): 'Ok' | 'Err' | null {
  if (!(value instanceof HarnEnum) || value.enumName !== 'Result') return null
  return value.variant === 'Ok' || value.variant === 'Err' ? value.variant : null
}

function readPayload(value: Value): Value {
  return (value as HarnEnum).fields[0] ?? null
}

function define(signature: string, doc: string, run: Run, borrows = false): BuiltinDef {
  return builtin(signature, { doc, borrows }, run)
}

export const resultsFamily: BuiltinFamily = {
  name: 'results',
  builtins: [
    define('Ok(value: any) -> any', 'A success.', (_ctx, value = null) => ok(value)),
    define('Err(error: any) -> any', 'A failure.', (_ctx, error = null) => err(error)),
    define('is_ok(result: any) -> bool', 'Whether it is a success.', (_ctx, result = null) => readVariant(result) === 'Ok', true),
    define(
      'is_err(result: any) -> bool',
      'Whether it is a failure.',
      (_ctx, result = null) => readVariant(result) === 'Err',
      true,
    ),
    define('unwrap(result: any) -> any', 'The value of a success; a failure is an error.', (ctx, result = null) => {
      const variant = readVariant(result)
      if (variant === 'Err') return ctx.runtime(`unwrap called on Err: ${display(readPayload(result))}`)
      return variant === 'Ok' ? readPayload(result) : result
    }),
    define(
      'unwrap_or(result: any, default: any) -> any',
      'The value of a success, the default for a failure.',
      (_ctx, result = null, fallback = null) => {
        const variant = readVariant(result)
        return variant === 'Err' ? fallback : variant === 'Ok' ? readPayload(result) : result
      },
    ),
    define('unwrap_err(result: any) -> any', 'The error of a failure; anything else is an error.', (ctx, result = null) =>
      readVariant(result) === 'Err' ? readPayload(result) : ctx.runtime('unwrap_err called on non-Err'),
    ),
  ],
}
