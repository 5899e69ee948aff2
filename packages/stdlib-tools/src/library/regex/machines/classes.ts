// Code points in classes: those that no set of a pattern tells apart are one to its machines, so that a state needs an entry for each
// class and not for each of a million characters. Texts are in UTF-16; a pair of surrogates is one character, one alone is one too.

import { EDGE, NEWLINE, WORD } from './program.js'
import type { Program, Ranges } from './program.js'

/** As scripts know words: letters, marks, decimal digits, connectors, joiners. */
export const WORD_CHARACTER = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u

/** The class of the place before the first and behind the last character. */
export const EDGE_CLASS = 0

export const NO_CHARACTER = -1
export const MANY_CHARACTERS = -2

/** Bits of the table that says which set has which class; past it sets are searched. */
const MOST_BITS = 1 << 22

export class CharClasses {
  /** Classes are less than this. */
  readonly count: number
  /** Classes of the first 256 code points. */
  readonly latin: Uint16Array
  private readonly pages: (Uint16Array | null)[] = []
  /** Where the parts of the code points begin that no set cuts, ascending; and their numbers, equal for parts in the same sets. */
  private readonly starts: Int32Array
  private readonly parts: Int32Array
  private readonly infos: Uint8Array
  /** First code point of each part number. */
  private readonly samples: Int32Array
  private readonly sets: readonly Ranges[]
  private readonly members: Uint32Array | null
  private readonly words: boolean

  constructor(program: Program) {
    this.sets = program.sets
    this.words = program.usesWords
    const sets = program.usesLines ? [...program.sets, Int32Array.of(10, 10)] : program.sets
    this.starts = listStarts(sets)
    this.parts = partition(this.starts, sets)
    let most = 0
    for (const part of this.parts) if (part > most) most = part
    this.samples = new Int32Array(most + 1).fill(-1)
    for (let at = 0; at < this.parts.length; at++) {
      const part = this.parts[at]!
      if (this.samples[part]! < 0) this.samples[part] = this.starts[at]!
    }
    this.count = 1 + (most + 1) * (this.words ? 2 : 1)
    this.infos = new Uint8Array(this.count)
    this.infos[EDGE_CLASS] = EDGE
    for (let each = 1; each < this.count; each++) {
      const isNewline = program.usesLines && this.samples[this.getPart(each)] === 10
      this.infos[each] = (isNewline ? NEWLINE : 0) | (this.words && (each & 1) === 0 ? WORD : 0)
    }
    this.members = (most + 1) * this.sets.length > MOST_BITS ? null : this.computeMembers()
    this.latin = this.getPage(0)
  }

  /** The class of a code point. */
  of(codePoint: number): number {
    return this.getPage(codePoint >> 8)[codePoint & 255]!
  }

  /** Bits of what characters of a class are: EDGE, NEWLINE, WORD. The last two only where the program asks. */
  getInfo(each: number): number {
    return this.infos[each]!
  }

  /** The only code point of a class; NO_CHARACTER where it has none, MANY_CHARACTERS where it may have more. */
  findOnly(each: number): number {
    if (each === EDGE_CLASS) return NO_CHARACTER
    const part = this.getPart(each)
    const first = this.samples[part]!
    if (first > 0x10ffff) return NO_CHARACTER
    const at = findLastNotAbove(this.starts, first)
    const isAlone = (this.starts[at + 1] ?? 0) === first + 1 && !this.parts.includes(part, at + 1)
    if (!isAlone) return MANY_CHARACTERS
    return this.words && this.of(first) !== each ? NO_CHARACTER : first
  }

  accepts(set: number, each: number): boolean {
    if (each === EDGE_CLASS) return false
    const part = this.getPart(each)
    if (this.members === null) return contains(this.sets[set]!, this.samples[part]!)
    const bit = part * this.sets.length + set
    return ((this.members[bit >> 5]! >> (bit & 31)) & 1) !== 0
  }

  private getPart(each: number): number {
    return this.words ? (each - 1) >> 1 : each - 1
  }

  private getPage(number: number): Uint16Array {
    const known = this.pages[number]
    if (known != null) return known
    while (this.pages.length <= number) this.pages.push(null)
    const page = new Uint16Array(256)
    const first = number << 8
    let at = findLastNotAbove(this.starts, first)
    for (let low = 0; low < 256; low++) {
      if (at + 1 < this.starts.length && this.starts[at + 1]! <= first + low) at++
      const part = this.parts[at]!
      page[low] = this.words ? 1 + 2 * part + (WORD_CHARACTER.test(String.fromCodePoint(first + low)) ? 1 : 0) : 1 + part
    }
    this.pages[number] = page
    return page
  }

  private computeMembers(): Uint32Array {
    const members = new Uint32Array(((this.samples.length * this.sets.length) >> 5) + 1)
    for (let set = 0; set < this.sets.length; set++) {
      const ranges = this.sets[set]!
      for (let at = 0; at < ranges.length; at += 2) {
        for (let part = findLastNotAbove(this.starts, ranges[at]!); part < this.starts.length; part++) {
          if (this.starts[part]! > ranges[at + 1]!) break
          const bit = this.parts[part]! * this.sets.length + set
          members[bit >> 5]! |= 1 << (bit & 31)
        }
      }
    }
    return members
  }
}

function listStarts(sets: readonly Ranges[]): Int32Array {
  const all = [0]
  for (const ranges of sets) for (let at = 0; at < ranges.length; at += 2) all.push(ranges[at]!, ranges[at + 1]! + 1)
  const sorted = Int32Array.from(all).sort()
  let size = 0
  for (const start of sorted) if (size === 0 || sorted[size - 1] !== start) sorted[size++] = start
  return sorted.slice(0, size)
}

/** Refines "all are one" by each set: what lies inside gets new numbers, one for each number that it had. */
function partition(starts: Int32Array, sets: readonly Ranges[]): Int32Array {
  const parts = new Int32Array(starts.length)
  let used = 1
  for (const ranges of sets) {
    const renamed = new Map<number, number>()
    const cut = covers(ranges, starts.length) ? complementRanges(ranges) : ranges
    for (let at = 0; at < cut.length; at += 2) {
      for (let part = findLastNotAbove(starts, cut[at]!); part < starts.length && starts[part]! <= cut[at + 1]!; part++) {
        let name = renamed.get(parts[part]!)
        if (name === undefined) {
          name = used++
          renamed.set(parts[part]!, name)
        }
        parts[part] = name
      }
    }
  }
  // Numbers without gaps, in order of appearance.
  const dense = new Map<number, number>()
  return parts.map((part) => {
    let name = dense.get(part)
    if (name === undefined) {
      name = dense.size
      dense.set(part, name)
    }
    return name
  })
}

/** A negated class cuts nothing but what it leaves out, which is less to go through. */
function covers(ranges: Ranges, parts: number): boolean {
  return parts > 64 && ranges.length < 64 && ranges[0] === 0 && ranges.at(-1) === 0x10ffff
}

function complementRanges(ranges: Ranges): Ranges {
  const out: number[] = []
  let from = 0
  for (let at = 0; at < ranges.length; at += 2) {
    if (ranges[at]! > from) out.push(from, ranges[at]! - 1)
    from = ranges[at + 1]! + 1
  }
  if (from <= 0x10ffff) out.push(from, 0x10ffff)
  return Int32Array.from(out)
}

/** The last place whose number is not above `number`; the first number is 0. */
function findLastNotAbove(sorted: Int32Array, number: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (sorted[middle]! <= number) low = middle
    else high = middle - 1
  }
  return low
}

function contains(ranges: Ranges, codePoint: number): boolean {
  let low = 0
  let high = (ranges.length >> 1) - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    if (ranges[2 * middle]! > codePoint) high = middle - 1
    else if (ranges[2 * middle + 1]! < codePoint) low = middle + 1
    else return true
  }
  return false
}
