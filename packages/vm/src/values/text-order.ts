// Order of strings by Unicode code point, which is the order of their UTF-8 bytes and the one scripts see (reference 01 §6).
// JavaScript's `<` orders by UTF-16 unit; the two differ only where a surrogate pair meets U+E000…U+FFFF.

/** Moves surrogates above every other unit, so that unit order becomes code point order. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}

export function compareText(left: string, right: string): number {
  if (left === right) return 0
  const shared = Math.min(left.length, right.length)
  for (let at = 0; at < shared; at++) {
    const a = left.charCodeAt(at)
    const b = right.charCodeAt(at)
    if (a !== b) return a < 0xd800 && b < 0xd800 ? a - b : rank(a) - rank(b)
  }
  return left.length - right.length
}

const ASTRAL_OR_PRIVATE = /[\ud800-\uffff]/

/** Sorts in place by code point; the built-in sort serves where no text holds a unit past U+D7FF. */
export function sortTexts(texts: string[]): string[] {
  for (const text of texts) if (ASTRAL_OR_PRIVATE.test(text)) return texts.sort(compareText)
  return texts.sort()
}

const SURROGATE = /[\ud800-\udfff]/

/** Length in code points. A text without surrogates, the common case, costs one regex scan. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length
  let count = 0
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return count
}

export function hasSurrogates(text: string): boolean {
  return SURROGATE.test(text)
}

/** Characters start ≤ i < end, counted in code points; bounds must already be clamped. */
export function sliceText(text: string, start: number, end: number): string {
  if (!SURROGATE.test(text)) return text.slice(start, end)
  return Array.from(text).slice(start, end).join('')
}
