// String operations that methods and functions share.

import { detachPart, detachParts } from '../values/text-parts.js'
import type { Context, Control } from './builtin.js'
import { refuseText } from './core-values.js'
import { SCANNED_BITS, work } from '../values/meter.js'
import { chargeSearch, splitAt } from '../values/text-search.js'

// White_Space of Unicode, which is not JavaScript's \s: with U+0085, without U+FEFF.
const IS_SPACE = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

export function trimStart(text: string): string {
  let start = 0
  while (start < text.length && isSpace(text.charCodeAt(start))) start++
  return detachPart(text.slice(start), text.length)
}

export function trimEnd(text: string): string {
  // A loop: a regex anchored at the end is quadratic on long runs of spaces inside the string.
  let end = text.length
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--
  return detachPart(text.slice(0, end), text.length)
}

function isSpace(code: number): boolean {
  return code <= 0x20 ? code === 0x20 || (code >= 9 && code <= 13) : code >= 0x85 && IS_SPACE.test(String.fromCharCode(code))
}

export function trim(text: string): string {
  return trimEnd(trimStart(text))
}

/** Replaces every occurrence; an empty `old` matches between all characters and at both ends. */
export function replaceAll(ctx: Context, text: string, old: string, replacement: string): string | Control {
  const parts = cut(text, old, ctx.mostWork + 1)
  return refuseText(ctx, text.length + (parts.length - 1) * (replacement.length - old.length)) ?? parts.join(replacement)
}

/** Parts between separators; an empty separator gives the characters with an empty string at each end. */
export function splitText(text: string, separator: string, most = MOST_PARTS): string[] {
  const parts = cut(text, separator, most)
  return separator === '' ? parts : detachParts(text, parts, separator.length)
}

/** The same, for parts that are not kept. */
function cut(text: string, separator: string, most: number): string[] {
  if (separator === '') {
    work(text.length >> 1)
    return ['', ...text, '']
  }
  work(text.length >> SCANNED_BITS)
  chargeSearch(text, separator)
  // If an operation may not make that many parts, they are charged but not made.
  const parts = splitAt(text, separator, most)
  work(parts.length)
  return parts
}

const MOST_PARTS = 2 ** 32 - 1

export function splitLines(text: string, most = MOST_PARTS): string[] {
  const lines = splitText(text, '\n', most)
  const last = lines.pop()!
  const ended = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  return last === '' ? ended : [...ended, last]
}

/** `text` n times, or an error when that is longer than a string can be. */
export function repeatText(ctx: Context, text: string, times: number): string | Control {
  const count = Math.max(0, times)
  return refuseText(ctx, text.length * count) ?? text.repeat(text === '' ? 0 : count)
}
