// Text operations that methods and functions of strings share.

import type { Context, Control } from './builtin.js'
import { refuseText } from './core-values.js'

// White_Space of Unicode, which is not JavaScript's \s: with U+0085, without U+FEFF.
const SPACE = '[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const IS_SPACE = new RegExp(SPACE)
const LEADING = new RegExp(`^${SPACE}+`)

export function trimStart(text: string): string {
  return text.replace(LEADING, '')
}

export function trimEnd(text: string): string {
  // By hand: a regex anchored at the end is quadratic on long runs of spaces inside the text.
  let end = text.length
  while (end > 0 && IS_SPACE.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

export function trim(text: string): string {
  return trimEnd(trimStart(text))
}

/** Every occurrence; an empty `old` stands between all characters and at both ends. */
export function replaceAll(ctx: Context, text: string, old: string, replacement: string): string | Control {
  const parts = old === '' ? ['', ...text, ''] : text.split(old)
  ctx.charge(parts.length >> 3)
  return refuseText(ctx, text.length + (parts.length - 1) * (replacement.length - old.length)) ?? parts.join(replacement)
}

/** Parts between separators; an empty separator gives the characters with an empty text at each end. */
export function splitText(text: string, separator: string): string[] {
  return separator === '' ? ['', ...text, ''] : text.split(separator)
}

export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop()!
  const ended = lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  return last === '' ? ended : [...ended, last]
}

/** `text` n times, or an error when that is longer than a string can be. */
export function repeatText(ctx: Context, text: string, times: number): string | Control {
  const count = Math.max(0, times)
  return refuseText(ctx, text.length * count) ?? text.repeat(text === '' ? 0 : count)
}
