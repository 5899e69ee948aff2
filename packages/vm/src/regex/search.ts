// A compiled pattern and its searches: which machine does what. The deterministic automaton finds where the leftmost match ends, read
// backwards where it begins, and only then, and only if somebody asks, groups are looked for inside. Plain text is found by indexOf.
// All of it takes time in proportion to the text (and program), whatever the pattern.

import type { RE2JS } from 're2js'
import { Captures } from './captures.js'
import { CharClasses } from './classes.js'
import { Dfa, GAVE_UP, NO_MATCH } from './dfa.js'
import { leapOf } from './leap.js'
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

const SURROGATE = /[\ud800-\udfff]/

/** What is made when a pattern is first used, and may be forgotten between searches. */
interface Machines {
  readonly classes: CharClasses
  readonly captures: Captures
  /** null where the pattern is beyond them. */
  forward: Dfa | null
  backward: Dfa | null
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
  return {
    classes,
    captures: new Captures(program, classes, marks),
    forward: tables
      ? new Dfa(program, classes, { backwards: false, anchored, leap: anchored ? null : leapOf(program, classes), most: states })
      : null,
    backward:
      tables && program.length < 0 && !anchored
        ? new Dfa(reversed(program), classes, { backwards: true, anchored: false, leap: null, most: states })
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
  /** Start and end of each group, the whole match first, -1 for one that took no part; filled where groups are asked for. */
  readonly slots: Int32Array
  private readonly machines: Machines
  private readonly groups: boolean
  private readonly pairs: boolean
  /** Whether the slots are filled for this match. */
  private filled = false
  private from = 0
  private lastEnd = -1

  constructor(regex: Regex, text: string, groups: boolean) {
    this.regex = regex
    this.text = text
    this.machines = regex.use()
    this.groups = groups && regex.groupNames.length > 0
    this.pairs = SURROGATE.test(text)
    this.slots = new Int32Array(groups ? regex.program.slots : 2)
  }

  /** Moves on to the next match; false when there is none. */
  next(): boolean {
    const { length } = this.text
    while (this.from <= length) {
      if (!this.find(this.from)) break
      const { start, end } = this
      const isNew = start !== end || end !== this.lastEnd
      this.lastEnd = end
      this.from = start === end ? end + this.sizeAt(end) : end
      if (isNew) {
        if (this.groups) this.fillGroups()
        else {
          this.slots[0] = start
          this.slots[1] = end
        }
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

  private findSlowly(from: number): boolean {
    this.machines.forward = null
    const found = pikeSearch(this.regex.program, this.machines.classes, this.text, from, this.slots)
    if (found) {
      this.start = this.slots[0]!
      this.end = this.slots[1]!
      this.filled = true
    }
    return found
  }

  private fillGroups(): void {
    if (!this.filled) this.machines.captures.fill(this.text, this.start, this.end, this.slots)
  }

  private sizeAt(at: number): number {
    const codePoint = this.text.codePointAt(at)
    return codePoint !== undefined && codePoint > 0xffff ? 2 : 1
  }
}
