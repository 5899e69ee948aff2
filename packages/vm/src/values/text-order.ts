// Order of strings by Unicode code point, which is the order of their UTF-8 bytes and the one scripts see.
// JavaScript's `<` orders by UTF-16 unit; the two differ only where a surrogate pair meets U+E000…U+FFFF.

import { detachPart } from './text-parts.js'
import { isKnownPlain, notePlain, scan, SHORT_TEXT, work } from './meter.js'

/** Characters counted one by one per unit of fuel, as a power of two. */
const COUNTED_BITS = 4

/** Characters searched for one of a kind, per unit of fuel. */
const SOUGHT_BITS = 7

/** Moves surrogates above every other unit, so that unit order becomes code point order. */
function rankUnit(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}

export function compareText(left: string, right: string): number {
  const shared = Math.min(left.length, right.length)
  scan(shared << 1)
  if (left === right) return 0
  for (let at = shared > BLOCK ? countEqualBlocks(left, right, shared) : 0; at < shared; at++) {
    const a = left.charCodeAt(at)
    const b = right.charCodeAt(at)
    if (a !== b) return a < 0xd800 && b < 0xd800 ? a - b : rankUnit(a) - rankUnit(b)
  }
  return left.length - right.length
}

/** Characters compared at once where two long strings have a common prefix: comparing each takes fifty times as long. */
const BLOCK = 2048

/** Length of the common prefix, in whole blocks. */
function countEqualBlocks(left: string, right: string, shared: number): number {
  let at = 0
  while (at + BLOCK <= shared && left.slice(at, at + BLOCK) === right.slice(at, at + BLOCK)) at += BLOCK
  return at
}

const ASTRAL_OR_PRIVATE = /[\ud800-\uffff]/

/** Whether JavaScript's order equals the language's for this string and others like it. */
export function isPlainText(text: string): boolean {
  const { length } = text
  if (length > SHORT) return !ASTRAL_OR_PRIVATE.test(text)
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) >= 0xd800) return false
  return true
}

/** Sorts in place by code point; uses the built-in sort if no string has a unit past U+D7FF. */
export function sortTexts(texts: string[]): string[] {
  for (const text of texts) if (!isPlainText(text)) return texts.sort(compareText)
  return texts.sort()
}

const SURROGATE = /[\ud800-\udfff]/

/** Up to this length a loop over the units is faster than starting the regex, whose time hardly depends on the length. */
export const SHORT = 24

/** Length in code points. A string without surrogates, the common case, costs one scan. */
export function countCodePoints(text: string): number {
  if (!hasSurrogates(text)) return text.length
  work(text.length >> COUNTED_BITS)
  let count = 0
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return count
}

/** As countCodePoints for a string that is short enough to be counted for free, undefined for others. */
export function quickLength(text: string): number | undefined {
  return text.length > SHORT_TEXT || hasSurrogates(text) ? undefined : text.length
}

/** Whether there is a surrogate pair; also true for some strings with lone surrogates, which count as a character each anyway. */
export function hasSurrogates(text: string): boolean {
  const { length } = text
  // About a nanosecond per unit, if not all are of one byte.
  if (length > SHORT_TEXT) {
    if (isKnownPlain(text)) return false
    work(length >> SOUGHT_BITS)
    const found = SURROGATE.test(text)
    if (!found) notePlain(text)
    return found
  }
  return length > SHORT ? SURROGATE.test(text) : hasPairUpTo(text, length)
}

/** Whether there may be a pair of surrogates among the first `end` units. */
export function hasPairUpTo(text: string, end: number): boolean {
  // Of two neighbours, one has an odd index. A unit takes two nanoseconds, which is most of the cost of reading a length.
  for (let at = 1; at < end; at += 2) if ((text.charCodeAt(at) & 0xf800) === 0xd800) return true
  return false
}

/** Index in units of the code point `index`, counted from the start of the string; the length when there are fewer. */
export function countUnitsBefore(text: string, index: number): number {
  work(Math.min(text.length, 2 * index) >> COUNTED_BITS)
  let at = 0
  for (let points = 0; points < index && at < text.length; points++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return at
}

/** The code point `index` as a string, counted from the end when negative; null past either end. */
export function readCharacterAt(text: string, index: number): string | null {
  if (!hasSurrogates(text)) {
    const at = index < 0 ? index + text.length : index
    return at >= 0 && at < text.length ? text[at]! : null
  }
  const from = index < 0 ? index + countCodePoints(text) : index
  if (from < 0) return null
  const code = text.codePointAt(countUnitsBefore(text, from))
  return code === undefined ? null : String.fromCodePoint(code)
}

/** Characters start ≤ i < end, counted in code points; bounds must already be clamped. */
export function sliceText(text: string, start: number, end: number): string {
  if (!hasSurrogates(text)) return detachPart(text.slice(start, end), text.length)
  const rest = text.slice(countUnitsBefore(text, start))
  return detachPart(rest.slice(0, countUnitsBefore(rest, end - start)), text.length)
}
