// Ranges: the function `range` and the methods that ranges define themselves. For every other method of iterators
// the range is converted to one (iter-methods.ts).

import { builtin, method } from './builtin.js'
import type { BuiltinDef, Context } from './builtin.js'
import { addInts, isInRange, measureRange } from './core-values.js'
import type { BuiltinFamily } from './registry.js'
import { display } from '../values/display.js'
import { HarnRange } from '../values/scalars.js'
import { isInt } from '../values/value.js'
import type { Value } from '../values/value.js'

function defineRangeMethod(signature: string, doc: string, run: (self: HarnRange, arg: Value) => Value): BuiltinDef {
  return method('range', signature, { doc, borrows: true }, (_ctx, self, arg = null) => run(self as HarnRange, arg))
}

function isEmpty(range: HarnRange): boolean {
  return range.exclusive ? range.start >= range.end : range.start > range.end
}

const defineSizeMethod = (name: string): BuiltinDef => defineRangeMethod(`${name}() -> int`, 'Number of ints.', measureRange)

function makeRange(ctx: Context, from: Value = null, to: Value = null) {
  if (ctx.argc === 1) return isInt(from) ? new HarnRange(0, from, true) : ctx.type('range(n): expected integer argument')
  if (ctx.argc !== 2) return ctx.type(`range expects 1 or 2 integer arguments, got ${ctx.argc}`)
  return isInt(from) && isInt(to) ? new HarnRange(from, to, true) : ctx.type('range(a, b): expected integer arguments')
}

export const rangesFamily: BuiltinFamily = {
  name: 'ranges',
  builtins: [
    builtin(
      'range(end_or_start: int, end?: int) -> range as list',
      { doc: 'The ints from 0 or the first argument up to, not including, the last.' },
      makeRange,
    ),
    ...['len', 'count'].map(defineSizeMethod),
    defineRangeMethod('empty() -> bool', 'Whether there is no int in it.', isEmpty),
    defineRangeMethod('contains(value: int) -> bool', 'Whether the int lies in it.', isInRange),
    defineRangeMethod('first() -> int | nil', 'The first int, nil when empty.', (self) => (isEmpty(self) ? null : self.start)),
    defineRangeMethod('last() -> int | nil', 'The last int, nil when empty.', (self) =>
      isEmpty(self) ? null : self.exclusive ? addInts(self.end, -1) : self.end,
    ),
    defineRangeMethod('to_string() -> string', 'Its display.', display),
  ],
}
