// Functions on strings. They format their arguments; a missing one is empty. `split`, `substring` and `format`
// differ from the methods of the same name: the default separator is a space, the third argument a length.

import { builtin } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, Result, Run } from './builtin.js'
import { count, countOr, readTextArg } from './core-values.js'
import { containsValue } from './lists.js'
import { definePieces, makeStepWork } from './pieces.js'
import type { Cost, Steps } from './pieces.js'
import { caseFunctions, iterateClusters, beginsPlainly, takeFirstGrapheme, splitGraphemes } from './strings-case.js'
import { baseName, dirName, extName } from './strings-paths.js'
import { repeatText, replaceAll, splitText, trim } from './strings-text.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { TextBuilder } from '../values/text-builder.js'
import { work } from '../values/meter.js'
import { isPart } from '../values/text-search.js'
import { countCodePoints, sliceText } from '../values/text-order.js'
import type { Value } from '../values/value.js'

/** Characters per unit of fuel, as a power of two: functions that search for words are slow. */
const TEXT_BITS = 2

/** A function from up to three strings to a string. */
function defineTextFunction(
  signature: string,
  doc: string,
  map: (first: string, second: string, third: string) => Value,
): BuiltinDef {
  const run: Run = (ctx, a = null, b = null, c = null) => {
    const first = readTextArg(ctx, 0, a)
    const second = readTextArg(ctx, 1, b)
    const third = readTextArg(ctx, 2, c)
    const size = first.length + second.length + third.length
    ctx.charge(size >> TEXT_BITS, size)
    return map(first, second, third)
  }
  return builtin(signature, { doc, borrows: true }, run)
}

const UNITS_A_PLACE = 2

/** Characters and matches between two checks of the budget. */
const WRITTEN = 2048
const PLACES = 128

function estimateCost(places: number, size: number): Cost {
  return { units: UNITS_A_PLACE * places + (size >> 6), heap: size }
}

/** Replaces `{key}` by the formatted entry, in one pass; other braces stay unchanged. */
function* formatNamed(template: string, values: HarnDict): Steps {
  const out = new TextBuilder()
  let at = 0
  let places = 0
  let written = 0
  for (;;) {
    const open = template.indexOf('{', at)
    const close = open < 0 ? -1 : template.indexOf('}', open)
    if (close < 0) break
    const value = values.get(template.slice(open + 1, close))
    out.add(template.slice(at, open) + (value === undefined ? template.slice(open, close + 1) : display(value)))
    at = close + 1
    if (++places % PLACES === 0 || out.length - written > WRITTEN) {
      yield estimateCost(PLACES, out.length - written)
      written = out.length
    }
  }
  yield estimateCost(places % PLACES, out.length - written)
  return finishFormat(out, template.slice(at))
}

/** Each `{}` replaced by the next value; surplus ones stay. */
function* formatPositional(template: string, values: readonly Value[]): Steps {
  const out = new TextBuilder()
  let at = 0
  let written = 0
  for (let next = 0; next < values.length; next++) {
    const open = template.indexOf('{}', at)
    if (open < 0) break
    out.add(template.slice(at, open) + display(values[next]!))
    at = open + 2
    if (out.length - written > WRITTEN) {
      yield estimateCost(1, out.length - written)
      written = out.length
    }
  }
  yield estimateCost(values.length, out.length - written)
  return finishFormat(out, template.slice(at))
}

function finishFormat(out: TextBuilder, rest: string): (ctx: Context) => Result {
  return (ctx) => {
    ctx.charge(rest.length >> 6, rest.length)
    return out.toString() + rest
  }
}

const formatting = definePieces('string.format', ([template, ...values]) => {
  const text = template as string
  const [first] = values
  return makeStepWork(first instanceof HarnDict ? formatNamed(text, first) : formatPositional(text, values))
})

/** Up to this many values are inserted at once, without pieces. */
const FEW_VALUES = 8

function isShort(value: Value): boolean {
  return typeof value === 'string' ? value.length <= WRITTEN : typeof value !== 'object' || value === null
}

function formatFew(ctx: Context, template: string, values: readonly Value[]): string {
  let out = ''
  let at = 0
  for (let next = 0; next < values.length; next++) {
    const open = template.indexOf('{}', at)
    if (open < 0) break
    out += template.slice(at, open) + display(values[next]!)
    at = open + 2
  }
  const { units, heap } = estimateCost(values.length, out.length)
  const rest = template.slice(at)
  ctx.charge(units + (rest.length >> 6), heap + rest.length)
  return out + rest
}

function format(ctx: Context, template: Value = null, ...values: Value[]): Result {
  const text = readTextArg(ctx, 0, template)
  ctx.charge(text.length >> 6)
  return values.length <= FEW_VALUES && values.every(isShort)
    ? formatFew(ctx, text, values)
    : formatting.run(ctx, text, ...values)
}

/** An argument whose case is about to be changed. */
function readWord(ctx: Context, at: number, value: Value): string {
  const text = readTextArg(ctx, at, value)
  ctx.charge(text.length >> TEXT_BITS)
  return text
}

const SIDES: ReadonlySet<string> = new Set(['left', 'right', 'both'])

function pad(ctx: Context, value: Value = null, width: Value = null, fill: Value = null, side: Value = null): Result {
  const text = readTextArg(ctx, 0, value)
  const where = ctx.argc > 3 ? readWord(ctx, 3, side).toLowerCase() : 'right'
  chargeGraphemes(ctx, text)
  const missing = countOr(width, 0) - splitGraphemes(text).length
  if (missing <= 0) return text
  if (!SIDES.has(where)) return ctx.runtime('str_pad: side must be left, right, or both')
  const filling = ctx.argc > 2 ? readTextArg(ctx, 2, fill) : ' '
  if (!beginsPlainly(filling)) ctx.charge(UNITS_OF_A_SEARCH)
  const unit = takeFirstGrapheme(filling) ?? ' '
  const before = where === 'left' ? missing : where === 'both' ? Math.floor(missing / 2) : 0
  const left = repeatText(ctx, unit, before)
  const right = repeatText(ctx, unit, missing - before)
  return typeof left !== 'string' ? left : typeof right !== 'string' ? right : left + text + right
}

/** The host's segmenter takes long for each cluster. */
function chargeGraphemes(ctx: Context, text: string): void {
  ctx.charge(UNITS_A_CLUSTER * text.length, 32 * text.length)
}

const UNITS_A_CLUSTER = 24
/** Fuel for finding one cluster: the segmenter copies itself for each string. */
const UNITS_OF_A_SEARCH = 400

const segmenting = definePieces('string.graphemes', ([text]) => makeStepWork(splitInSteps(text as string)))

function* splitInSteps(text: string): Steps {
  const found: string[] = []
  for (const { segment } of iterateClusters(text)) {
    yield { units: UNITS_A_CLUSTER + (segment.length >> 4), heap: 32 + segment.length }
    found.push(segment)
  }
  return () => new HarnList(found)
}

const FORMS: ReadonlySet<string> = new Set(['NFC', 'NFD', 'NFKC', 'NFKD'])

function normalize(ctx: Context, value: Value = null, form: Value = null): Result {
  const name = ctx.argc > 1 ? readWord(ctx, 1, form).toUpperCase() : 'NFC'
  if (!FORMS.has(name)) return ctx.runtime('unicode_normalize: form must be NFC, NFD, NFKC, or NFKD')
  const text = readTextArg(ctx, 0, value)
  ctx.charge(text.length >> 2, text.length)
  return text.normalize(name)
}

function takeSubstring(ctx: Context, value: Value = null, start: Value = null, length: Value = null): Result {
  const text = readTextArg(ctx, 0, value)
  const size = countCodePoints(text)
  const from = Math.min(countOr(start, 0), size)
  const to = count(length) === null ? size : Math.min(size, from + countOr(length, 0))
  return sliceText(text, from, to)
}

function contains(ctx: Context, hay: Value = null, wanted: Value = null): Result {
  if (typeof hay === 'string') return isPart(hay, readTextArg(ctx, 1, wanted))
  if (!(hay instanceof HarnList)) return false
  return containsValue(ctx, hay, wanted)
}

const list = (ctx: Context, texts: string[]): HarnList => {
  ctx.charge(0, 32 * texts.length)
  return new HarnList(texts)
}

export const stringFrames: readonly FrameDef[] = [segmenting.frame, formatting.frame]

export const stringFunctions: readonly BuiltinDef[] = [
  builtin(
    'format(template: string, ...args: any) -> string',
    { doc: 'Fills `{key}` from a dict, or each `{}` with the next argument.', borrows: true },
    format,
  ),
  defineTextFunction('trim(str: string) -> string', 'Without white space at both ends.', (text) => trim(text)),
  defineTextFunction('lowercase(str: string) -> string', 'In lower case.', (text) => text.toLowerCase()),
  defineTextFunction('uppercase(str: string) -> string', 'In upper case.', (text) => text.toUpperCase()),
  builtin(
    'split(s: string, sep?: string) -> list<string> as ?',
    { doc: 'The parts between separators, a space by default.', borrows: true },
    (ctx, text, separator) =>
      list(ctx, splitText(readTextArg(ctx, 0, text), ctx.argc > 1 ? readTextArg(ctx, 1, separator) : ' ', ctx.mostWork + 1)),
  ),
  defineTextFunction(
    'starts_with(str: string, prefix: string) -> bool as ?',
    'Whether it begins with `prefix`.',
    (text, prefix) => text.startsWith(prefix),
  ),
  defineTextFunction('ends_with(str: string, suffix: string) -> bool as ?', 'Whether it ends with `suffix`.', (text, suffix) =>
    text.endsWith(suffix),
  ),
  builtin(
    'contains(haystack: string|list|dict, needle: any) -> bool as ?',
    { doc: 'Whether a string has the part, or a list the element.', borrows: true },
    contains,
  ),
  builtin(
    'replace(s: string, old: string, new: string) -> string',
    { doc: 'Every `old` replaced by `new`.', borrows: true },
    (ctx, text, old, replacement) =>
      replaceAll(ctx, readTextArg(ctx, 0, text), readTextArg(ctx, 1, old), readTextArg(ctx, 2, replacement)),
  ),
  builtin(
    'substring(s: string, start: int, len?: int) -> string',
    { doc: '`len` characters from `start`, or all that follow.', borrows: true },
    takeSubstring,
  ),
  builtin(
    'str_pad(s: string, width: int, char?: string, side?: string) -> string',
    { doc: 'Filled up to `width` grapheme clusters.', borrows: true },
    pad,
  ),
  builtin(
    'unicode_normalize(s: string, form: string) -> string',
    { doc: 'In the normal form NFC, NFD, NFKC or NFKD.', borrows: true },
    normalize,
  ),
  builtin(
    'unicode_graphemes(str: string) -> list<string> as list',
    { doc: 'The extended grapheme clusters.', borrows: true },
    (ctx, value) => segmenting.run(ctx, readTextArg(ctx, 0, value)),
  ),
  defineTextFunction('dirname(path: string) -> string', 'The path without its last part.', (path) => dirName(path)),
  defineTextFunction('basename(path: string) -> string', 'The last part of the path.', (path) => baseName(path)),
  defineTextFunction('extname(path: string) -> string', 'The extension with its dot.', (path) => extName(path)),
  ...Object.entries(caseFunctions).map(([name, { doc, map }]) =>
    defineTextFunction(`${name}(s: string) -> string`, doc, (text) => {
      // They take twice as long as others: they find words by the letters of Unicode.
      work(text.length >> TEXT_BITS)
      return map(text)
    }),
  ),
]
