// Searching a text for a part in time that is bounded by their lengths. JavaScript's own search is the quickest for short parts, and
// takes the product of the lengths where a long part nearly occurs everywhere; then the algorithm of Knuth, Morris and Pratt
// searches, which looks at every character once.

import { SCANNED_BITS, SHORT_TEXT, work } from './meter.js'

/** Parts up to this length are searched for by JavaScript. */
const SHORT_PART = 64

/** So many comparisons at most are no matter. */
const FEW = 1 << 20

/** To be called before one or more searches that go through `text` once. */
export function chargeSearch(text: string, part: string): void {
  if (isQuickSearch(text, part)) return
  // Where the first character is everywhere, and the next is not, each place takes some nanoseconds; a single one is found at once.
  const units = text.length >> (part.length <= 1 ? SCANNED_BITS : part.length <= SHORT_PART ? TRIED_BITS : TABLED_BITS)
  work(units)
}

/** Whether the search is part of the operation that makes it. */
export function isQuickSearch(text: string, part: string): boolean {
  return text.length <= (part.length <= 1 ? SHORT_TEXT : FEW_PLACES)
}

const FEW_PLACES = 127

/** Places where a short part is tried for a unit, as a power of two; where a long one is. */
const TRIED_BITS = 5
const TABLED_BITS = 3

/** Where `part` first occurs at or behind `from`, or -1. */
export function findText(text: string, part: string, from = 0): number {
  if (part !== '' && part.length > text.length - from) return -1
  if (part.length <= SHORT_PART || (text.length - from) * part.length <= FEW) return text.indexOf(part, from)
  return new Search(part).findNext(text, from)
}

/** Whether `part` occurs; pays for looking. */
export function isPart(text: string, part: string): boolean {
  chargeSearch(text, part)
  return findText(text, part) >= 0
}

/** To be called before `findLastText`, which compares at each place as much as is alike. */
export function chargeLastSearch(text: string, part: string): void {
  const units = Math.floor((text.length * Math.min(part.length, SHORT_PART)) / 2 ** SCANNED_BITS)
  if (units > 0) work(units)
}

/** Where `part` last occurs, or -1. */
export function findLastText(text: string, part: string): number {
  if (part.length > text.length) return -1
  if (part.length <= SHORT_PART || text.length * part.length <= FEW) return text.lastIndexOf(part)
  const search = new Search(part)
  let last = -1
  for (let at = search.findNext(text, 0); at >= 0; at = search.findNext(text, at + 1, at)) last = at
  return last
}

/** As the method of strings, for a separator that is not empty: at most `most` parts. */
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
  /** For each length of a match so far: that of the longest shorter one which may still go on. */
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

  /** The first match at or behind `from`; `before` is a match at `from - 1`, from which the search goes on. */
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
