// Methods of strings. Positions and lengths count Unicode code points; strings without surrogates, the common case, take
// paths on which a code point is one JavaScript unit. Arguments are formatted. Functions are in
// strings-functions.ts, case conversion in strings-case.ts.

import { method } from './builtin.js'
import type { BuiltinDef, Context, Control, Quick, Result } from './builtin.js'
import { count, countOr, readTextArg } from './core-values.js'
import type { BuiltinFamily } from './registry.js'
import { stringFrames, stringFunctions } from './strings-functions.js'
import { splitLines, repeatText, replaceAll, splitText, trim, trimEnd, trimStart } from './strings-text.js'
import { HarnList } from '../values/list.js'
import { scan } from '../values/meter.js'
import {
  readCharacterAt,
  countCodePoints,
  hasPairUpTo,
  hasSurrogates,
  quickLength,
  SHORT,
  sliceText,
} from '../values/text-order.js'
import { chargeLastSearch, chargeSearch, findLastText, findText, isPart, isQuickSearch } from '../values/text-search.js'
import type { Value } from '../values/value.js'

/** Characters from `start` up to `end` (null or negative: the end of the string), both clamped. */
function takeSubstring(text: string, start: number, end: number | null): string {
  const length = countCodePoints(text)
  const to = end === null || end < 0 ? length : Math.min(end, length)
  const from = Math.min(Math.max(0, start), length)
  return from < to ? sliceText(text, from, to) : ''
}

/** Position in code points of a position in units. */
function pointsBefore(text: string, units: number): number {
  return units <= 0 ? units : countCodePoints(text.slice(0, units))
}

function findIndex(text: string, part: string): number {
  chargeSearch(text, part)
  return pointsBefore(text, findText(text, part))
}

function findLastIndex(text: string, part: string): number {
  chargeLastSearch(text, part)
  return pointsBefore(text, findLastText(text, part))
}

function pad(ctx: Context, text: string, width: number, fill: string, left: boolean): string | Control {
  const missing = width - countCodePoints(text)
  if (missing <= 0) return text
  const padding = repeatText(ctx, fill === '' ? ' ' : String.fromCodePoint(fill.codePointAt(0)!), missing)
  return typeof padding !== 'string' ? padding : left ? padding + text : text + padding
}

function readCharAt(text: string, index: number | null): string | null {
  return index === null || index < 0 ? null : readCharacterAt(text, index)
}

function makeTextList(ctx: Context, texts: string[], size: number): HarnList {
  ctx.charge(0, 32 * texts.length + size)
  return new HarnList(texts)
}

function defineStringMethod(
  signature: string,
  doc: string,
  run: (ctx: Context, self: string, a: Value, b: Value) => Result,
  quick: Quick | null = null,
): BuiltinDef {
  return method(
    'string',
    signature,
    quick === null ? { doc, borrows: true } : { doc, borrows: true, quick },
    (ctx, self, a = null, b = null) => {
      const text = self as string
      scan(text.length)
      return run(ctx, text, a, b)
    },
  )
}

/** Characters that `startsWith` compares per unit of fuel, as a power of two: V8 takes them one by one. */
const COMPARED_BITS = 7

// Uncharged searches in two short strings. Each is a separate function without calls through variables: otherwise V8 would mix
// their type feedback and inline none of them.

const quickContains: Quick = (text, part) =>
  typeof text === 'string' && typeof part === 'string' && isQuickSearch(text, part) ? text.includes(part) : undefined

const quickStart: Quick = (text, part) =>
  typeof text === 'string' && typeof part === 'string' && isQuickSearch(text, part) ? text.startsWith(part) : undefined

const quickEnd: Quick = (text, part) =>
  typeof text === 'string' && typeof part === 'string' && isQuickSearch(text, part) ? text.endsWith(part) : undefined

const quickIndex: Quick = (text, part) => {
  if (typeof text !== 'string' || typeof part !== 'string' || !isQuickSearch(text, part)) return undefined
  const at = text.indexOf(part)
  return at <= SHORT ? (hasPairUpTo(text, at) ? undefined : at) : hasSurrogates(text) ? undefined : at
}

/** Compares one end of a text with another text. */
function defineComparison(
  signature: string,
  doc: string,
  compare: (text: string, part: string) => boolean,
  quick: Quick,
): BuiltinDef {
  const run = (ctx: Context, self: string, part: Value): boolean => {
    const wanted = readTextArg(ctx, 0, part)
    ctx.charge(Math.min(self.length, wanted.length) >> COMPARED_BITS)
    return compare(self, wanted)
  }
  return defineStringMethod(signature, doc, run, quick)
}

function quickCount(text: Value): Value | undefined {
  return typeof text === 'string' ? quickLength(text) : undefined
}

/** One definition under several names. */
function defineAliases(
  names: readonly string[],
  signature: string,
  doc: string,
  run: (ctx: Context, self: string, a: Value, b: Value) => Result,
  quick: Quick | null = null,
): BuiltinDef[] {
  return names.map((name) => defineStringMethod(`${name}${signature}`, doc, run, quick))
}

/** Characters changed per unit of fuel, as a power of two. */
const MAPPED_BITS = 4

/** A method that returns a string of about the same size. */
function defineMapped(names: readonly string[], doc: string, map: (text: string) => string): BuiltinDef[] {
  return defineAliases(names, '() -> string', doc, (ctx, self) => {
    ctx.charge(self.length >> MAPPED_BITS, self.length)
    return map(self)
  })
}

function reverseText(text: string): string {
  return Array.from(text).reverse().join('')
}

const methods: readonly BuiltinDef[] = [
  ...defineAliases(['count', 'len'], '() -> int', 'Number of characters.', (_ctx, self) => countCodePoints(self), quickCount),
  defineStringMethod('empty() -> bool', 'Whether there is no character.', (_ctx, self) => self === ''),
  defineStringMethod(
    'contains(part: string) -> bool',
    'Whether `part` occurs.',
    (ctx, self, part) => isPart(self, readTextArg(ctx, 0, part)),
    quickContains,
  ),
  defineComparison(
    'starts_with(prefix: string) -> bool',
    'Whether it begins with `prefix`.',
    (text, prefix) => text.startsWith(prefix),
    quickStart,
  ),
  defineComparison(
    'ends_with(suffix: string) -> bool',
    'Whether it ends with `suffix`.',
    (text, suffix) => text.endsWith(suffix),
    quickEnd,
  ),
  defineStringMethod(
    'replace(old: string, new: string) -> string',
    'Every `old` replaced by `new`.',
    (ctx, self, old, replacement) => {
      if (ctx.argc < 2) return null
      return replaceAll(ctx, self, readTextArg(ctx, 0, old), readTextArg(ctx, 1, replacement))
    },
  ),
  defineStringMethod(
    'split(separator?: string) -> list<string>',
    'The parts between separators, a comma by default.',
    (ctx, self, separator) =>
      makeTextList(ctx, splitText(self, ctx.argc > 0 ? readTextArg(ctx, 0, separator) : ',', ctx.mostWork + 1), self.length),
  ),
  ...defineMapped(['trim'], 'Without white space at both ends.', trim),
  ...defineMapped(['trim_start'], 'Without white space at the start.', trimStart),
  ...defineMapped(['trim_end'], 'Without white space at the end.', trimEnd),
  ...defineMapped(['lowercase', 'lower', 'to_lower'], 'In lower case.', (text) => text.toLowerCase()),
  ...defineMapped(['uppercase', 'upper', 'to_upper'], 'In upper case.', (text) => text.toUpperCase()),
  defineStringMethod('reverse() -> string', 'Last character first.', (ctx, self) => {
    ctx.charge(self.length >> 1, self.length)
    return reverseText(self)
  }),
  defineStringMethod(
    'substring(start: int, end?: int) -> string',
    'Characters from `start` up to `end`; a negative end is the end.',
    (_ctx, self, start, end) => takeSubstring(self, count(start) ?? 0, count(end)),
  ),
  defineStringMethod(
    'index_of(part: string) -> int',
    'Where `part` first occurs, or -1.',
    (ctx, self, part) => findIndex(self, readTextArg(ctx, 0, part)),
    quickIndex,
  ),
  defineStringMethod('last_index_of(part: string) -> int', 'Where `part` last occurs, or -1.', (ctx, self, part) =>
    findLastIndex(self, readTextArg(ctx, 0, part)),
  ),
  defineStringMethod('chars() -> list<string>', 'The characters.', (ctx, self) => {
    ctx.charge(self.length >> 1, 17 * self.length)
    return new HarnList(Array.from(self))
  }),
  defineStringMethod('lines() -> list<string>', 'The lines without their ends.', (ctx, self) =>
    makeTextList(ctx, splitLines(self, ctx.mostWork + 1), self.length),
  ),
  defineStringMethod('repeat(n?: int) -> string', 'The text `n` times.', (ctx, self, n) => repeatText(ctx, self, count(n) ?? 1)),
  defineStringMethod('pad_left(width: int, fill?: string) -> string', 'Filled up on the left.', (ctx, self, width, fill) =>
    pad(ctx, self, countOr(width, 0), ctx.argc > 1 ? readTextArg(ctx, 1, fill) : ' ', true),
  ),
  defineStringMethod('pad_right(width: int, fill?: string) -> string', 'Filled up on the right.', (ctx, self, width, fill) =>
    pad(ctx, self, countOr(width, 0), ctx.argc > 1 ? readTextArg(ctx, 1, fill) : ' ', false),
  ),
  defineStringMethod('char_at(index: int) -> string | nil', 'One character; nil out of range.', (ctx, self, index) =>
    readCharAt(self, ctx.argc === 0 ? 0 : (count(index) ?? 0)),
  ),
]

export const stringsFamily: BuiltinFamily = { name: 'strings', builtins: [...methods, ...stringFunctions], frames: stringFrames }
