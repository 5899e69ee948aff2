// A compiled pattern and its searches: which machine does what. The deterministic automaton finds where the leftmost match ends, read
// backwards where it begins, and only then, and only if somebody asks, groups are looked for inside. Plain text is found by indexOf.
// All of it takes time in proportion to the text (and program), whatever the pattern.

import type { RE2JS } from 're2js'
import { Captures } from './captures.js'
import { CharClasses } from './classes.js'
import { Dfa, GAVE_UP, NO_MATCH, sizeAt } from './dfa.js'
import { leapOf } from './leap.js'
import type { Leap } from './leap.js'
import { pikeSearch } from './pike.js'
import { programOf, reversed } from './program.js'
import type { Program } from './program.js'

/** Programs and alphabets above this are no matter for tables. */
const MOST_NODES = 1 << 14
const MOST_CLASSES = 1 << 12

/** Bounds that tests make small, so that short texts meet them. */
export interface Bounds {
  /** Entries of a table of states; 0 does without. */
  readonly states: number
  /** Nodes times places that captures may mark; 0 also does without the one-pass table. */
  readonly marks: number
}

/** Half a MB for each of two tables, 32 KiB of marks. */
const BOUNDS: Bounds = { states: 1 << 17, marks: 1 << 18 }

/** What tries may read for nothing before there are too many: so much, and a character for each that is behind. */
const FREE_WASTE = 256
/** What starting costs, in characters. */
const WASTE_A_TRY = 4

const SURROGATE = /[\ud800-\udfff]/

/** What is made when a pattern is first used, and may be forgotten between searches. */
interface Machines {
  readonly classes: CharClasses
  readonly captures: Captures
  /** How to find where a match could begin; null where it could anywhere. */
  readonly leap: Leap | null
  /** null where the pattern is beyond them. */
  readonly here: Dfa | null
  forward: Dfa | null
  readonly backward: Dfa | null
}

export class Regex {
  /** Name of group i at index i - 1; null for a group without a name. */
  readonly groupNames: readonly (string | null)[]
  readonly program: Program
  private machines: Machines | null = null
  private readonly bounds: Bounds

  constructor(engine: RE2JS, groupNames: readonly (string | null)[], bounds = BOUNDS) {
    this.bounds = bounds
    this.program = programOf(engine)
    this.groupNames = groupNames
  }

  /** Instructions, by which compiling is paid. */
  get size(): number {
    return this.program.kind.length
  }

  use(): Machines {
    return (this.machines ??= machinesOf(this.program, this.bounds))
  }

  /** Gives memory back; what is needed will be made again. */
  forget(): void {
    this.machines = null
  }
}

function machinesOf(program: Program, { states, marks }: Bounds): Machines {
  const classes = new CharClasses(program)
  const { anchored } = program
  const tables = states > 0 && program.kind.length <= MOST_NODES && classes.count <= MOST_CLASSES
  const leap = anchored ? null : leapOf(program, classes)
  return {
    classes,
    captures: new Captures(program, classes, marks),
    leap,
    here: tables && leap !== null ? new Dfa(program, classes, { mode: 'here', anchored, leap: null, most: states }) : null,
    forward: tables ? new Dfa(program, classes, { mode: 'search', anchored, leap, most: states }) : null,
    backward:
      tables && program.length < 0 && !anchored
        ? new Dfa(reversed(program), classes, { mode: 'back', anchored: false, leap: null, most: states })
        : null,
  }
}

/**
 * The matches of a pattern in a text from left to right, not overlapping; an empty match right behind the one before it does not
 * count. Positions are in UTF-16 units.
 */
export class Search {
  readonly regex: Regex
  readonly text: string
  start = 0
  end = 0
  /** Start and end of each group, the whole match first, -1 for one that took no part; only where groups are asked for. */
  readonly slots: number[]
  private readonly machines: Machines
  private readonly groups: boolean
  private readonly pairs: boolean
  /** Whether the slots are filled for this match. */
  private filled = false
  /** Characters that were read for nothing by tries at places where a match could begin; -1 when it was too many. */
  private wasted = 0
  private from = 0
  private lastEnd = -1

  constructor(regex: Regex, text: string, groups: boolean) {
    this.regex = regex
    this.text = text
    this.machines = regex.use()
    this.groups = groups
    this.pairs = this.machines.leap?.needsPairs === true && SURROGATE.test(text)
    this.slots = groups ? new Array<number>(regex.program.slots).fill(-1) : []
  }

  /** Moves on to the next match; false when there is none. */
  next(): boolean {
    const { length } = this.text
    while (this.from <= length) {
      if (!this.find(this.from)) break
      const { start, end } = this
      const isNew = start !== end || end !== this.lastEnd
      this.lastEnd = end
      this.from = start === end ? end + sizeAt(this.text, end) : end
      if (isNew) {
        if (this.groups && !this.filled) this.machines.captures.fill(this.text, start, end, this.slots)
        return true
      }
    }
    this.from = length + 1
    return false
  }

  /** Whether there is a match at all. */
  exists(): boolean {
    const { program } = this.regex
    if (program.literal) return this.text.includes(program.prefix)
    const end = this.machines.forward?.endFrom(this.text, 0, this.pairs, true) ?? GAVE_UP
    return end === GAVE_UP ? this.findSlowly(0) : end !== NO_MATCH
  }

  /** The text of a group of the match; null for one that took no part. */
  group(number: number): string | null {
    const start = this.slots[2 * number]!
    return start < 0 ? null : this.text.slice(start, this.slots[2 * number + 1])
  }

  private find(from: number): boolean {
    const { program } = this.regex
    this.filled = false
    if (program.literal) {
      this.start = this.text.indexOf(program.prefix, from)
      this.end = this.start + program.prefix.length
      return this.start >= 0
    }
    const tried = this.tryPlaces(from)
    if (tried !== GAVE_UP) return tried !== NO_MATCH
    const { forward, backward } = this.machines
    const end = forward === null ? GAVE_UP : forward.endFrom(this.text, from, this.pairs, false)
    if (end === NO_MATCH) return false
    if (end === GAVE_UP) return this.findSlowly(from)
    this.end = end
    let start = from
    if (program.length >= 0) start = end - program.length
    else if (backward !== null) {
      // Nothing begins before the candidate; mostly it is where the match begins, and with its groups that is known at once.
      const { candidate } = forward!
      this.filled = this.groups && this.machines.captures.fillOnePass(this.text, candidate, end, this.slots)
      start = this.filled ? candidate : backward.startBefore(this.text, end, candidate)
      if (start < 0) return this.findSlowly(from)
    }
    this.start = start
    return true
  }

  /**
   * Where a match could begin is tried place by place, which reads each character once as long as most tries succeed: no second pass
   * for the start. When tries have read too much for nothing, this gives up for the rest of the text, so that it stays linear.
   */
  private tryPlaces(from: number): number {
    const { leap, here } = this.machines
    if (leap === null || here === null || this.wasted < 0) return GAVE_UP
    const { text, pairs } = this
    let at = leap.find(text, from, pairs)
    while (at >= 0) {
      const end = here.endAt(text, at)
      if (end === GAVE_UP) break
      if (end !== NO_MATCH) {
        this.wasted += here.stop - end
        this.start = at
        this.end = end
        return end
      }
      this.wasted += here.stop - at + WASTE_A_TRY
      if (this.wasted > FREE_WASTE + at) break
      at = leap.find(text, at + sizeAt(text, at), pairs)
    }
    if (at < 0) return NO_MATCH
    this.wasted = -1
    return GAVE_UP
  }

  private findSlowly(from: number): boolean {
    this.machines.forward = null
    const slots = this.groups ? this.slots : [-1, -1]
    const found = pikeSearch(this.regex.program, this.machines.classes, this.text, from, slots)
    if (found) {
      this.start = slots[0]!
      this.end = slots[1]!
      this.filled = true
    }
    return found
  }
}
