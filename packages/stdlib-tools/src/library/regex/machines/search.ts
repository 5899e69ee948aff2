// A compiled pattern and its searches: which machine does what. The deterministic automaton finds where the leftmost match ends, read
// backwards where it begins, and only then, on request, groups are found inside. Plain text is found by indexOf.
// All searches take time proportional to the text (and program), for any pattern.

import { detachPart } from '@bridle/vm/families'
import type { RE2JS } from 're2js'
import { Captures } from './captures.js'
import { CharClasses } from './classes.js'
import { Dfa, GAVE_UP, NO_MATCH, measureSizeAt } from './dfa.js'
import { makeLeap } from './leap.js'
import type { Leap } from './leap.js'
import { Pike } from './pike.js'
import { readProgram, reverseProgram } from './program.js'
import type { Program } from './program.js'
import { Sight } from './sight.js'

/** Programs and alphabets above this size do not use tables. */
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

/** What reading a character costs beside the nodes of the program that it may visit. */
const WEIGHT = 8
/** Of a node that is marked at a place, as part of what reading a character costs. */
const STEP_WEIGHT = 2
/** How much more a character costs the machine without tables. */
const SLOW = 4
/** Units for tables that were made for nothing. */
const EXPLOSION = 20_000

const SURROGATE = /[\ud800-\udfff]/

const NO_SLOTS: number[] = []
/** Units that are as good as no bound: a small integer, which takes no object of its own. */
const UNBOUNDED = 0x3fffffff

/** What is made when a pattern is first used, and may be forgotten between searches. */
interface Machines {
  readonly classes: CharClasses
  readonly captures: Captures
  /** How to find where a match could begin; null where it could anywhere. */
  readonly leap: Leap | null
  /** null where the pattern is beyond them. */
  readonly here: Dfa | null
  readonly forward: Dfa | null
  readonly backward: Dfa | null
}

export class Regex {
  /** Name of group i at index i - 1; null for a group without a name. */
  readonly groupNames: readonly (string | null)[]
  readonly program: Program
  /** What it is known by where flags and pattern are one text. */
  readonly key: string
  /** A search that was ended, for the next one. */
  idle: Search | null = null
  private machines: Machines | null = null
  private readonly bounds: Bounds

  constructor(engine: RE2JS, groupNames: readonly (string | null)[], bounds = BOUNDS, key = '') {
    this.key = key
    this.bounds = bounds
    this.program = readProgram(engine)
    this.groupNames = groupNames
  }

  /** Instructions, by which compiling is paid. */
  get size(): number {
    return this.program.kind.length
  }

  use(): Machines {
    return (this.machines ??= makeMachines(this.program, this.bounds))
  }

  /** Gives memory back; what is needed will be made again. */
  forget(): void {
    this.machines = null
    this.idle = null
  }
}

function makeMachines(program: Program, { states, marks }: Bounds): Machines {
  const classes = new CharClasses(program)
  const { anchored } = program
  const tables = states > 0 && program.kind.length <= MOST_NODES && classes.count <= MOST_CLASSES
  const leap = anchored ? null : makeLeap(program, classes)
  return {
    classes,
    captures: new Captures(program, classes, marks),
    leap,
    here: tables && leap !== null ? new Dfa(program, classes, { mode: 'here', anchored, leap, most: states }) : null,
    forward: tables ? new Dfa(program, classes, { mode: 'search', anchored, leap, most: states }) : null,
    backward:
      tables && program.length < 0 && !anchored
        ? new Dfa(reverseProgram(program), classes, { mode: 'back', anchored: false, leap: null, most: states })
        : null,
  }
}

function makeBlankPlaces(regex: Regex): number[] {
  return new Array<number>(regex.program.slots).fill(-1)
}

/** What a search has come to. */
export const FOUND = 1
export const DONE = 0
export const PAUSED = -1

/**
 * The matches of a pattern in a text from left to right, not overlapping; an empty match right behind the one before it does not
 * count. Positions are in UTF-16 units.
 *
 * Searching has its price: units for each character that was read, by the size of the program, which is what the slowest machine takes.
 * It is a fact of pattern and text and grows with `spent`. What would take long stops where it has spent `allowed`, and continues later.
 */
export class Search {
  readonly regex: Regex
  /** Empty once the search was ended. */
  text = ''
  start = 0
  end = 0
  /** Start and end of each group, the whole match first, -1 for one that took no part; only where groups are asked for. */
  slots = NO_SLOTS
  spent = 0
  allowed = UNBOUNDED
  private machines: Machines
  private groups = false
  private readonly sight = new Sight()
  /** 32 times the price of a character. */
  private readonly weight: number
  /** Whether the slots are filled for this match. */
  private filled = false
  /** Characters that were read for nothing by tries at places where a match could begin; -1 when it was too many. */
  private wasted = 0
  /** Whether tables explode on this text. */
  private slow = false
  /** At work on this match or its groups. */
  private pike: Pike | null = null
  private from = 0
  private lastEnd = -1

  constructor(regex: Regex, text: string, groups: boolean) {
    this.regex = regex
    this.machines = regex.use()
    this.weight = regex.size + WEIGHT
    this.reset(text, groups)
  }

  /** The search of a text, as new. */
  private reset(text: string, groups: boolean): void {
    this.text = text
    this.machines = this.regex.use()
    this.groups = groups
    this.sight.reset(this.machines.leap?.needsPairs === true && SURROGATE.test(text))
    if (!groups) this.slots = NO_SLOTS
    else if (this.slots === NO_SLOTS) this.slots = makeBlankPlaces(this.regex)
    else this.slots.fill(-1)
    this.slow = this.machines.forward === null
    this.start = 0
    this.end = 0
    this.spent = 0
    this.allowed = UNBOUNDED
    this.filled = false
    this.wasted = 0
    this.pike = null
    this.from = 0
    this.lastEnd = -1
  }

  /** A search, which is to be ended: short texts are searched in less time than a new one is made in. */
  static begin(regex: Regex, text: string, groups: boolean): Search {
    const { idle } = regex
    if (idle === null) return new Search(regex, text, groups)
    regex.idle = null
    idle.reset(text, groups)
    return idle
  }

  /** The search was abandoned. */
  finish(): void {
    this.text = ''
    this.pike = null
    this.regex.idle = this
  }

  /** Moves on to the next match, if need be in several turns: FOUND, DONE, PAUSED. */
  advance(): number {
    const { length } = this.text
    if (this.pike !== null && this.filled) return this.fillSlowly()
    while (this.from <= length) {
      const found = this.pike !== null ? this.findSlowly() : this.find(this.from)
      if (found === PAUSED) return PAUSED
      if (found === DONE) break
      const { start, end } = this
      const isNew = start !== end || end !== this.lastEnd
      this.lastEnd = end
      this.from = start === end ? end + measureSizeAt(this.text, end) : end
      if (isNew) return this.groups && !this.filled ? this.fill() : FOUND
    }
    this.from = length + 1
    return DONE
  }

  /** Moves on to the next match; false when there is none. */
  next(): boolean {
    for (;;) {
      const found = this.advance()
      if (found !== PAUSED) return found === FOUND
      this.allowed = UNBOUNDED
    }
  }

  /** Whether there is a match at all. */
  exists(): boolean {
    const { program } = this.regex
    if (program.literal) return this.text.includes(program.prefix)
    const end = this.slow ? GAVE_UP : this.machines.forward!.endFrom(this.text, 0, this.sight, true)
    if (end !== GAVE_UP) return end !== NO_MATCH
    this.slow = true
    return this.next()
  }

  /** The text of a group of the match; null for one that took no part. */
  readGroup(number: number): string | null {
    const start = this.slots[2 * number]!
    return start < 0 ? null : detachPart(this.text.slice(start, this.slots[2 * number + 1]), this.text.length)
  }

  private find(from: number): number {
    const { program } = this.regex
    this.filled = false
    if (program.literal) {
      const start = this.text.indexOf(program.prefix, from)
      this.start = start
      this.end = start + program.prefix.length
      return start < 0 ? DONE : FOUND
    }
    if (this.slow) return this.findSlowly()
    if (this.wasted >= 0) {
      const tried = this.tryPlaces(from)
      // A search from everywhere has all the states that one from a single place has.
      if (this.slow) return this.findSlowly()
      if (tried !== GAVE_UP) return tried === NO_MATCH ? DONE : FOUND
    }
    const { forward, backward } = this.machines
    const end = forward!.endFrom(this.text, from, this.sight, false)
    if (end !== GAVE_UP) this.pay(forward!.stop - from)
    if (end === NO_MATCH) return DONE
    if (end === GAVE_UP) return this.findSlowly()
    this.end = end
    let start = from
    if (program.length >= 0) start = end - program.length
    else if (backward !== null) {
      // Nothing begins before the candidate; mostly it is where the match begins, and with its groups that is known at once.
      const { candidate } = forward!
      this.filled = this.groups && this.machines.captures.fillOnePass(this.text, candidate, end, this.slots)
      start = this.filled ? candidate : backward.startBefore(this.text, end, candidate)
      if (start < 0) return this.findSlowly()
    }
    this.start = start
    return FOUND
  }

  /**
   * Where a match could begin is tried place by place, which reads each character once as long as most tries succeed: no second pass
   * for the start. When tries have read too much for nothing, this gives up for the rest of the text, so that it stays linear.
   */
  private tryPlaces(from: number): number {
    const { here } = this.machines
    if (here === null) {
      this.wasted = -1
      return GAVE_UP
    }
    here.wasted = this.wasted
    const end = here.endNear(this.text, from, this.sight)
    this.wasted = here.wasted
    if (end === GAVE_UP) {
      if (here.wasted >= 0) this.giveUp()
      return GAVE_UP
    }
    this.pay(here.stop - from)
    this.start = here.candidate
    this.end = end
    return end
  }

  private fill(): number {
    const { captures } = this.machines
    this.spent += Math.floor((captures.estimateCost(this.end - this.start) * STEP_WEIGHT) / 32)
    if (captures.fill(this.text, this.start, this.end, this.slots)) return FOUND
    this.filled = true
    this.pike = this.makePike(this.start, this.end)
    return this.fillSlowly()
  }

  /** The groups of the match, by the machine that always can. */
  private fillSlowly(): number {
    if (!this.run()) return PAUSED
    for (let slot = 0; slot < this.slots.length; slot++) this.slots[slot] = this.pike!.slots[slot]!
    this.pike = null
    return FOUND
  }

  /** The match with its groups, by the machine that always can. */
  private findSlowly(): number {
    this.giveUp()
    this.filled = false
    this.pike ??= this.makePike(this.from, -1)
    if (!this.run()) return PAUSED
    const { found, slots } = this.pike
    this.pike = null
    if (!found) return DONE
    this.start = slots[0]!
    this.end = slots[1]!
    if (this.groups) for (let slot = 0; slot < slots.length; slot++) this.slots[slot] = slots[slot]!
    this.filled = true
    return FOUND
  }

  /** No more tables for this text. */
  private giveUp(): void {
    if (!this.slow) this.spent += EXPLOSION
    this.slow = true
  }

  private makePike(from: number, end: number): Pike {
    const { program } = this.regex
    return new Pike({
      program,
      classes: this.machines.classes,
      text: this.text,
      from,
      end,
      width: this.groups ? program.slots : 2,
    })
  }

  /** Lets the slow machine run as far as is allowed; true when it is over. */
  private run(): boolean {
    const left = this.allowed - this.spent
    if (left <= 0) return false
    const characters = Math.max(1, Math.floor((left * 32) / (this.weight * SLOW)))
    const before = this.pike!.at
    const over = this.pike!.run(characters)
    this.pay((this.pike!.at - before + 1) * SLOW)
    return over
  }

  private pay(characters: number): void {
    const price = characters * this.weight
    this.spent += price < 0x7fffffff ? price >> 5 : Math.floor(price / 32)
  }
}
