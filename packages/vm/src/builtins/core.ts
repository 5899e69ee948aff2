// The builtins every script uses: output, types and conversion, assertions, error categories, identity.
// Output is appended to the running task's output, which the machine returns at its exits.

import { builtin, family } from './builtin.js'
import type { BuiltinDef, Context, Result, Run } from './builtin.js'
import { readCategory, toKnownCategory } from './core-errors.js'
import { fingerprint } from './core-hash.js'
import { readNumber, measureRange, readTextArg } from './core-values.js'
import { builtinTaking } from './unpack.js'
import type { BuiltinFamily } from './registry.js'
import { HarnBuiltin, HarnClosure } from '../values/callable.js'
import { equals } from '../values/equality.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnFloat, HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { scan } from '../values/meter.js'
import { countCodePoints, quickLength } from '../values/text-order.js'
import { isTruthy, typeName, wrapInt } from '../values/value.js'
import type { Int, Value } from '../values/value.js'

function define(signature: string, doc: string, run: Run): BuiltinDef {
  return builtin(signature, { doc, borrows: true }, run)
}

function definePrinter(name: string, doc: string, wrap: (text: string) => string): BuiltinDef {
  return define(`${name}(value: any) -> nil`, doc, (ctx, value) => {
    const text = wrap(readTextArg(ctx, 0, value))
    ctx.charge(text.length >> 6)
    ctx.write(text)
    return null
  })
}

const output: readonly BuiltinDef[] = [
  definePrinter('print', 'Writes the display of `value`.', (text) => text),
  definePrinter('println', 'Writes the display of `value` and ends the line.', (text) => `${text}\n`),
  definePrinter('log', 'Writes a line `[harn] ` with the display of `value`.', (text) => `[harn] ${text}\n`),
]

const MAX_INT = 9223372036854775807n
const MIN_INT = -9223372036854775808n

/** A float as an int: toward zero, saturating, 0 for NaN. */
export function truncateToInt(v: number): Int {
  if (Number.isNaN(v)) return 0
  const whole = Math.trunc(v)
  if (Number.isSafeInteger(whole)) return whole === 0 ? 0 : whole
  if (whole >= 2 ** 63) return MAX_INT
  return whole <= -(2 ** 63) ? MIN_INT : wrapInt(BigInt(whole))
}

/** A signed 64-bit int. */
const MOST_DIGITS = 20

/** An optional sign and decimal digits within 64 bits; null for any other text. */
export function parseInt64(text: string): Int | null {
  scan(text.length << 3)
  if (!/^[+-]?[0-9]+$/.test(text)) return null
  if (text.length < 16) return Number(text) + 0
  // Without leading zeros and a plus, which leaves a minus only in front of digits.
  const short = text.replace(/^\+?0*(?=[0-9])|^(-)0*(?=[0-9])/, '$1')
  if (short.length > MOST_DIGITS) return null
  const value = BigInt(short)
  return value > MAX_INT || value < MIN_INT ? null : wrapInt(value)
}

/** Decimal text without spaces, `inf` and `nan` included; null for any other text. */
export function parseFloat64(text: string): number | null {
  scan(text.length << 3)
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text)
  if (special !== null) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity
  return /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i.test(text) ? Number(text) : null
}

function toInt(value: Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof HarnFloat) return truncateToInt(value.v)
  return typeof value === 'string' ? parseInt64(value) : null
}

function toFloat(value: Value): Value {
  if (value instanceof HarnFloat) return value
  const v = typeof value === 'string' ? parseFloat64(value) : readNumber(value)
  return v === null ? null : new HarnFloat(v)
}

function measureLength(value: Value): Int {
  if (typeof value === 'string') return countCodePoints(value)
  if (value instanceof HarnList) return value.length
  if (value instanceof HarnDict || value instanceof HarnSet) return value.size
  if (value instanceof HarnBytes) return value.data.length
  return value instanceof HarnRange ? measureRange(value) : 0
}

function readQuickSize(value: Value): Int | undefined {
  return typeof value === 'string' ? quickLength(value) : value instanceof HarnList ? value.length : undefined
}

const conversion: readonly BuiltinDef[] = [
  define('type_of(value: any) -> string', 'The name of its type.', (_ctx, value = null) => typeName(value)),
  define('to_string(value: any) -> string', 'Its display.', (_ctx, value = null) => display(value)),
  define('to_int(value: any) -> int', 'Int, float toward zero, or decimal text; nil when it is neither.', (_ctx, value = null) =>
    toInt(value),
  ),
  define('to_float(value: any) -> float', 'Float, int, or decimal text; nil when it is neither.', (_ctx, value = null) =>
    toFloat(value),
  ),
  builtin(
    'to_list(value: set|list) -> list',
    { doc: 'The members of a set, a list itself, any other value in a list.' },
    (ctx, value = null) => {
      if (value instanceof HarnList) return value
      const size = value instanceof HarnSet ? value.size : 1
      ctx.charge(size >> 3, 16 + 16 * size)
      return new HarnList(value instanceof HarnSet ? value.values() : [value])
    },
  ),
  builtin(
    'len(value: string|list|dict|set|bytes|range|nil) -> int as ?',
    { doc: 'Number of characters, bytes or elements; 0 for other types.', borrows: true, quick: readQuickSize },
    (_ctx, value = null) => measureLength(value),
  ),
]

/** Throws the message argument when one was given, else the default. */
function failAssertion(ctx: Context, given: number, message: Value, text: () => string): Result {
  return ctx.throw(ctx.argc > given ? display(message) : text())
}

const testing: readonly BuiltinDef[] = [
  define(
    'assert(condition: any, msg?: string) -> nil',
    'Throws unless the condition holds.',
    (ctx, condition = null, message = null) =>
      isTruthy(condition) ? null : failAssertion(ctx, 1, message, () => 'Assertion failed'),
  ),
  builtinTaking(
    'assert_eq(actual: any, expected: any, msg?: string) -> nil',
    { doc: 'Throws unless both are equal.', borrows: true },
    { fewer: '{f} requires at least 2 arguments' },
    (ctx, actual, expected, message) => {
      if (equals(actual, expected)) return null
      return failAssertion(ctx, 2, message, () => `Assertion failed: expected ${display(expected)}, got ${display(actual)}`)
    },
  ),
  builtinTaking(
    'assert_ne(actual: any, expected: any, msg?: string) -> nil',
    { doc: 'Throws when both are equal.', borrows: true },
    { fewer: '{f} requires at least 2 arguments' },
    (ctx, actual, expected, message) => {
      if (!equals(actual, expected)) return null
      return failAssertion(ctx, 2, message, () => `Assertion failed: values should not be equal: ${display(actual)}`)
    },
  ),
  define('unreachable(value?: any) -> never', 'An error that says this place was thought out of reach.', (ctx, value = null) =>
    ctx.runtime(`unreachable code was reached${ctx.argc > 0 ? `: ${display(value)}` : ''}`),
  ),
]

const errors: readonly BuiltinDef[] = [
  define(
    'throw_error(message: string, category?: string) -> never as ?',
    'Throws `{category, message}`.',
    (ctx, message, category = null) => {
      const name = ctx.argc > 1 ? display(category) : 'generic'
      return ctx.throw(HarnDict.of({ category: toKnownCategory(name), message: readTextArg(ctx, 0, message) }))
    },
  ),
  define('error_category(err: any) -> string', 'The category of a caught error.', (_ctx, error = null) => readCategory(error)),
  define(
    'is_timeout(err: any) -> bool',
    'Whether the category is `timeout`.',
    (_ctx, error = null) => readCategory(error) === 'timeout',
  ),
  define(
    'is_rate_limited(err: any) -> bool',
    'Whether the category is `rate_limit`.',
    (_ctx, error = null) => readCategory(error) === 'rate_limit',
  ),
]

/** Numbers that stand for the addresses of containers: assigned on first request, kept for the life of the machine. */
const addresses = family('addresses', (): { readonly byValue: Map<Value, number> } => ({ byValue: new Map() }))

/** Values that `is_same` compares by allocation. */
function hasIdentity(value: Value): boolean {
  return (
    value instanceof HarnList ||
    value instanceof HarnDict ||
    value instanceof HarnSet ||
    value instanceof HarnClosure ||
    value instanceof HarnPair
  )
}

function isSame(a: Value, b: Value): boolean {
  return hasIdentity(a) && hasIdentity(b) ? a === b : equals(a, b)
}

function formatAddress(ctx: Context, value: Value): string {
  const type = typeName(value)
  if (value instanceof HarnBuiltin) return `builtin@${value.name}`
  if (typeof value === 'string' || value instanceof HarnBytes) {
    return `${type}@0x${BigInt.asUintN(64, fingerprint(value)).toString(16)}`
  }
  if (!hasIdentity(value) || value instanceof HarnPair) return `${type}@${display(value)}`
  const { byValue } = ctx.state(addresses)
  let address = byValue.get(value)
  if (address === undefined) {
    ctx.charge(1, 64)
    address = 0x1000 + 16 * byValue.size
    byValue.set(value, address)
  }
  return `${type}@0x${address.toString(16)}`
}

const identity: readonly BuiltinDef[] = [
  define(
    'is_same(a: any, b: any) -> bool',
    'Whether both are the same container; other values by equality.',
    (_ctx, a = null, b = null) => isSame(a, b),
  ),
  builtin(
    'addr_of(value: any) -> string',
    { doc: 'A key for the identity of a container, for the content of other values.' },
    (ctx, value = null) => formatAddress(ctx, value),
  ),
  define('hash_value(value: any) -> int', 'A hash that structurally equal values share.', (ctx, value = null) => {
    ctx.charge(1)
    return wrapInt(fingerprint(value))
  }),
]

export const coreFamily: BuiltinFamily = {
  name: 'core',
  builtins: [...output, ...conversion, ...testing, ...errors, ...identity],
}
