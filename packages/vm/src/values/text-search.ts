// Substring search in time bounded by the sum of the lengths. JavaScript's own search is the fastest for short parts, but
// takes the product of the lengths if a long part nearly matches everywhere; then the algorithm of Knuth, Morris and Pratt
// is used, which reads every character once.

import { SCANNED_BITS, SHORT_TEXT, work } from './meter.js'

/** Parts up to this length are searched for by JavaScript. */
const SHORT_PART = 64

/** Below this many comparisons, indexOf is faster. */
const FEW = 1 << 20

/** Call before one or more searches that scan `text` once. */
export function chargeSearch(text: string, part: string): void {
  if (isQuickSearch(text, part)) return
  // If the first character occurs everywhere, and the next does not, each position takes some nanoseconds; a single one is found at once.
  const units = text.length >> (part.length <= 1 ? SCANNED_BITS : part.length <= SHORT_PART ? TRIED_BITS : TABLED_BITS)
  work(units)
}

/** Whether the search is included in the charge of its operation. */
export function isQuickSearch(text: string, part: string): boolean {
  return text.length <= (part.length <= 1 ? SHORT_TEXT : FEW_PLACES)
}

const FEW_PLACES = 127

/** Positions tried per unit of fuel for a short part, as a power of two; for a long one. */
const TRIED_BITS = 5
const TABLED_BITS = 3

/** Index of the first occurrence of `part` at or after `from`, or -1. */
export function findText(text: string, part: string, from = 0): number {
  if (part !== '' && part.length > text.length - from) return -1
  if (part.length <= SHORT_PART || (text.length - from) * part.length <= FEW) return text.indexOf(part, from)
  return new Search(part).findNext(text, from)
}

/** Whether `part` occurs; charges for the search. */
export function isPart(text: string, part: string): boolean {
  chargeSearch(text, part)
  return findText(text, part) >= 0
}

/** Call before `findLastText`, which compares the common prefix at each position. */
export function chargeLastSearch(text: string, part: string): void {
  const units = Math.floor((text.length * Math.min(part.length, SHORT_PART)) / 2 ** SCANNED_BITS)
  if (units > 0) work(units)
}

/** Index of the last occurrence of `part`, or -1. */
export function findLastText(text: string, part: string): number {
  if (part.length > text.length) return -1
  if (part.length <= SHORT_PART || text.length * part.length <= FEW) return text.lastIndexOf(part)
  const search = new Search(part)
  let last = -1
  for (let at = search.findNext(text, 0); at >= 0; at = search.findNext(text, at + 1, at)) last = at
  return last
}

/** As the string method, for a non-empty separator: at most `most` parts. */
export function splitAt(text: string, separator: string, most: number): string[] {
  if (separator.length <= SHORT_PART || separator.length > text.length || text.length * separator.length <= FEW)
    return text.split(separator, most)
  const search = new Search(separator)
  const parts: string[] = []
  let from = 0
  for (let at = search.findNext(text, 0); at >= 0 && parts.length < most; at = search.findNext(text, from)) {
    parts.push(text.slice(from, at))
    from = at + separator.length
  }
  if (parts.length < most) parts.push(text.slice(from))
  return parts
}

class Search {
  private readonly part: string
  /** For each length of a partial match: the length of the longest shorter one that may still continue. */
  private readonly shorter: Int32Array

  constructor(part: string) {
    this.part = part
    this.shorter = new Int32Array(part.length + 1)
    for (let at = 1, length = 0; at < part.length; at++) {
      while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = this.shorter[length]!
      if (part.charCodeAt(at) === part.charCodeAt(length)) length++
      this.shorter[at + 1] = length
    }
  }

  /** The first match at or after `from`; `before` is a match at `from - 1`, from which the search continues. */
  findNext(text: string, from: number, before = -1): number {
    const { part, shorter } = this
    let length = before < 0 ? 0 : shorter[part.length]!
    for (let at = before < 0 ? from : before + part.length; at < text.length; at++) {
      const code = text.charCodeAt(at)
      while (length > 0 && code !== part.charCodeAt(length)) length = shorter[length]!
      if (code === part.charCodeAt(length)) length++
      if (length === part.length) return at - length + 1
    }
    return -1
  }
}
