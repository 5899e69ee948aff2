// Where a match could begin, found without a step of the automaton for every character: by the text that each match begins with, by
// the characters that its first few places may hold (a rare one at some place; or a window that is moved as far as the character at
// its end allows, as Boyer and Moore do), or by the line it must begin. Places that are passed over begin no match; the others have
// yet to be tried.

import type { CharClasses } from './classes.js'
import { MATCH, READ } from './program.js'
import type { Automaton, Program } from './program.js'
import type { Sight } from './sight.js'

/** Characters that are looked at one by one before indexOf, which takes longer to start, looks for the next one. */
const NEAR = 16
const MOST_WINDOW = 8

/** What texts are made of mostly: to stop at these is no gain where each stop costs more than a step. */
const COMMON = ' etaoinsr'
/** What comes next, about one in seventy characters each; others are taken to be one in three hundred. */
const FREQUENT = 'hldcumfpgwyb0123456789.,-_/"=:()\n'
/** Rare characters that are looked for, and how many in a thousand characters they may be together. */
const MOST_NEEDLES = 3
const MOST_NEEDED = 40

export interface Leap {
  /** The first place at `at` or behind where a match could begin; -1 for none. */
  find(text: string, at: number, sight: Sight): number
  /** Whether what may begin there depends on the character before. */
  readonly looksBack: boolean
  /** Whether `pairs` makes a difference. */
  readonly needsPairs: boolean
  /** By unit, 1 where a match may begin with it, where that is all there is to it: above 255 any may. null otherwise. */
  readonly leaves: Uint8Array | null
}

/** null where every place has to be tried. */
export function makeLeap(program: Program, classes: CharClasses): Leap | null {
  const { prefix, beginsLine, looksBack } = program
  if (beginsLine) return new LineLeap(prefix)
  const { window, leaves, shifts, needles, place, hasPairs } = computeWindow(program, classes)
  if (window === 0) return null
  if (prefix !== '') return new PrefixLeap(prefix, leaves, looksBack)
  if (needles !== '') return new NeedleLeap(needles, place, leaves, looksBack)
  const stops = Array.from(COMMON, (char) => leaves[char.charCodeAt(0)]!)
  if (looksBack && stops.includes(1)) return null
  return new WindowLeap(window, leaves, shifts, { looksBack, hasPairs })
}

class LineLeap implements Leap {
  readonly looksBack = true
  readonly needsPairs = false
  readonly leaves = null
  private readonly prefix: string
  private readonly opening: string

  constructor(prefix: string) {
    this.prefix = prefix
    this.opening = `\n${prefix}`
  }

  find(text: string, at: number): number {
    if (at === 0) {
      if (text.startsWith(this.prefix)) return 0
      at = 1
    }
    const found = text.indexOf(this.opening, at - 1)
    return found < 0 ? -1 : found + 1
  }
}

class PrefixLeap implements Leap {
  readonly looksBack: boolean
  readonly needsPairs = false
  readonly leaves = null
  private readonly prefix: string
  private readonly first: Uint8Array

  constructor(prefix: string, first: Uint8Array, looksBack: boolean) {
    this.prefix = prefix
    this.first = first
    this.looksBack = looksBack
  }

  find(text: string, at: number): number {
    const { first } = this
    const near = Math.min(text.length, at + NEAR)
    for (; at < near; at++) {
      const unit = text.charCodeAt(at)
      if (unit > 255 || first[unit] === 1) break
    }
    return text.indexOf(this.prefix, at)
  }
}

/** By rare characters, one of which stands at a certain place of each match. Where each comes next is remembered. */
class NeedleLeap implements Leap {
  readonly looksBack: boolean
  readonly needsPairs = false
  readonly leaves = null
  private readonly needles: readonly string[]
  private readonly units: readonly [number, number, number]
  private readonly place: number
  private readonly first: Uint8Array

  constructor(needles: string, place: number, first: Uint8Array, looksBack: boolean) {
    this.needles = [...needles]
    const getUnit = (at: number): number => needles.charCodeAt(Math.min(at, needles.length - 1))
    this.units = [getUnit(0), getUnit(1), getUnit(2)]
    this.place = place
    this.first = first
    this.looksBack = looksBack
  }

  find(text: string, at: number, sight: Sight): number {
    const { first, place } = this
    for (let from = at + place; ; from++) {
      from = this.findNeedle(text, from, sight)
      if (from < 0) return -1
      if (place === 0) return from
      const unit = text.charCodeAt(from - place)
      if (unit > 255 || first[unit] === 1) return from - place
    }
  }

  private findNeedle(text: string, from: number, sight: Sight): number {
    const { needles, units } = this
    const { next } = sight
    // A search that read ahead of the end of its match comes back to where it knows of no needle.
    for (; from < sight.since && from < text.length; from++) {
      const unit = text.charCodeAt(from)
      if (unit === units[0] || unit === units[1] || unit === units[2]) return from
    }
    sight.since = from
    let nearest = text.length
    for (let each = 0; each < needles.length; each++) {
      let found = next[each]!
      if (found < from) {
        found = text.indexOf(needles[each]!, from)
        if (found < 0) found = text.length
        next[each] = found
      }
      if (found < nearest) nearest = found
    }
    return nearest < text.length ? nearest : -1
  }
}

class WindowLeap implements Leap {
  readonly looksBack: boolean
  readonly needsPairs: boolean
  readonly leaves: Uint8Array | null
  private readonly window: number
  /** Whether a unit may begin a match. */
  private readonly first: Uint8Array
  /** By the unit at the end of the window: how far the window may move; null where that is hardly ever far. */
  private readonly shifts: Uint8Array | null

  constructor(
    window: number,
    first: Uint8Array,
    shifts: Uint8Array | null,
    { looksBack, hasPairs }: { readonly looksBack: boolean; readonly hasPairs: boolean },
  ) {
    this.window = window
    this.first = first
    this.leaves = shifts === null ? first : null
    this.shifts = shifts
    this.needsPairs = shifts !== null && hasPairs
    this.looksBack = looksBack
  }

  find(text: string, at: number, { pairs }: Sight): number {
    const { first, shifts } = this
    const { length } = text
    // Places in the window are characters; with pairs of surrogates they would not be units.
    if (shifts === null || pairs) {
      for (; at < length; at++) {
        const unit = text.charCodeAt(at)
        if (unit > 255 || first[unit] === 1) return at
      }
      return -1
    }
    const last = this.window - 1
    for (let end = at + last; end < length;) {
      const unit = text.charCodeAt(end)
      const shift = unit > 255 ? 0 : shifts[unit]!
      if (shift > 0) {
        end += shift
        continue
      }
      const unit0 = text.charCodeAt(end - last)
      if (unit0 > 255 || first[unit0] === 1) return end - last
      end++
    }
    return -1
  }
}

interface Window {
  /** Characters that each match has at least, or fewer. */
  readonly window: number
  readonly leaves: Uint8Array
  readonly shifts: Uint8Array | null
  /** Rare characters of which one stands `place` units behind the beginning of each match; empty for none. */
  readonly needles: string
  readonly place: number
  /** Whether some character in the window may be a pair of surrogates. */
  readonly hasPairs: boolean
}

function computeWindow(program: Program, classes: CharClasses): Window {
  const leaves = new Uint8Array(256)
  const shifts = new Uint8Array(256)
  let level = reads(program, [program.start])
  let window = 0
  let hasPairs = false
  let needles = ''
  let place = 0
  let rate = MOST_NEEDED + 1
  for (; level !== null && window < MOST_WINDOW; window++) {
    const accepted = new Uint8Array(classes.count)
    for (const node of level) {
      for (let each = 0; each < classes.count; each++) if (classes.accepts(program.value[node]!, each)) accepted[each] = 1
    }
    for (let unit = 0; unit < 256; unit++) {
      if (accepted[classes.latin[unit]!] === 0) continue
      if (window === 0) leaves[unit] = 1
      shifts[unit] = window + 1
    }
    const few = listFew(program, level)
    if (!hasPairs && few !== '' && estimateRate(few) < rate) {
      needles = few
      place = window
      rate = estimateRate(few)
    }
    for (const node of level) if (program.sets[program.value[node]!]!.at(-1)! > 0xffff) hasPairs = true
    level = reads(
      program,
      level.map((node) => program.next[node]![0]!),
    )
  }
  // So far: one more than the last place in the window where the unit may be.
  let gain = 0
  for (let unit = 0; unit < 256; unit++) shifts[unit] = window - shifts[unit]!
  for (const char of COMMON) gain += shifts[char.charCodeAt(0)]!
  return { window, leaves, shifts: gain >= 2 * COMMON.length ? shifts : null, needles, place, hasPairs }
}

/** All that the nodes read, where these are no more than few characters of one unit; otherwise empty. */
function listFew({ value, sets }: Program, nodes: readonly number[]): string {
  const units = new Set<number>()
  for (const node of nodes) {
    const set = sets[value[node]!]!
    for (let at = 0; at < set.length; at += 2) {
      for (let unit = set[at]!; unit <= set[at + 1]!; unit++) {
        if (unit > 0xffff || (unit & 0xf800) === 0xd800) return ''
        units.add(unit)
        if (units.size > MOST_NEEDLES) return ''
      }
    }
  }
  return String.fromCharCode(...units)
}

/** How many in a thousand characters of a text are one of these, as a guess. */
function estimateRate(chars: string): number {
  let rate = 0
  for (const char of chars) rate += COMMON.includes(char) ? 60 : FREQUENT.includes(char) ? 14 : 3
  return rate
}

/** READ nodes that are reached without reading, assertions taken to hold; null where the match is. */
function reads({ kind, next }: Automaton, roots: readonly number[]): number[] | null {
  const found: number[] = []
  const seen = new Set<number>()
  const pending = [...roots]
  while (pending.length > 0) {
    const node = pending.pop()!
    if (seen.has(node)) continue
    seen.add(node)
    if (kind[node] === MATCH) return null
    if (kind[node] === READ) found.push(node)
    else pending.push(...next[node]!)
  }
  return found
}
