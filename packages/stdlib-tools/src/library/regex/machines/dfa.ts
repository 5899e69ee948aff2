// A deterministic automaton made while it runs. A state is what the automaton's threads stand at, most preferred first; where a state
// goes with a class of characters is worked out when it is first asked, and then a table says it. One step a character is all that
// a search takes, for any pattern: one over the text from where it is to begin (`endFrom`: the end of the leftmost match), one
// from that end backwards (`startBefore`).
//
// What holds at a place (word boundaries, ends of lines) depends on the characters at both sides. A state therefore speaks of the
// place before a character that was not read yet: it holds what was read, and assertions that need the other side wait in it; and
// a match is noticed with the step behind it.
//
// The table is bounded. When it is full it is thrown away; when that happens too often, the search gives up (`GAVE_UP`) and somebody
// else has to do it. Scripts pay for what a search reads, so whether it gives up must be a fact of pattern and text, not of what was in
// the table before: a search that fills a used table begins anew with an empty one.

import { EDGE_CLASS, MANY_CHARACTERS, NO_CHARACTER } from './classes.js'
import type { CharClasses } from './classes.js'
import type { Leap } from './leap.js'
import { ASSERT, CONDITION, EDGE, GO, MATCH, findConditionsBetween } from './program.js'
import type { Automaton } from './program.js'
import type { Sight } from './sight.js'

export const NO_MATCH = -1
export const GAVE_UP = -2

/** What the table says beside places in itself; a negative place is a match before the character that leads there. */
const UNKNOWN = 0
const DEAD = -1
const MATCHED_AND_DEAD = -2
/** No match has begun. */
const IDLE = -3
/** It continues to itself, as with all characters but few: what is next of these is looked for. The second: and there is a match. */
const STAYS = -4
const MATCHED_AND_STAYS = -5
/** Above these, negative as they are, are no places. */
const LEAST_PLACE = -6
const FIRST_STATE = 6
/** Answers of step() that are in no table. */
const GAVE_UP_STEP = -0x7fffffff
const FULL_STEP = -0x7ffffffe
/** A used table is full. */
const FULL = -3

/** States before they are thrown away: making them all takes some ms. A long count needs one for each character. */
const MOST_STATES = 8192
/** Fewer characters for each state of a full table, and a search is better off without. */
const PROGRESS_A_STATE = 10
/** What tries may read for nothing before there are too many: so much, and a character for each that is behind. */
const FREE_WASTE = 64
/** What starting costs, in characters. */
const WASTE_A_TRY = 4
/** Any class but that of the edge, where it does not matter which. */
const OTHER_CLASS = 1

const BEFORE = CONDITION.BEGIN_LINE | CONDITION.BEGIN_TEXT
const BEHIND = CONDITION.END_LINE | CONDITION.END_TEXT

/** Characters that a state may be left with before they are too many to be looked for. */
const MOST_EXITS = 3
/** Characters that are stepped through before looking for them, which takes longer to start. */
const NEAR = 16

/** What a state may be left with beside the end of the text. */
interface Exits {
  readonly chars: readonly string[]
  readonly units: readonly [number, number, number]
}

interface State {
  /** READ and MATCH nodes; where assertions wait, what they and the others are reached from. */
  readonly nodes: Int32Array
  /** What was read last, where an assertion waits for it: bits of EDGE, NEWLINE, WORD. */
  readonly known: number
  readonly waiting: boolean
  /** Whether a match may yet begin behind this place. */
  readonly searching: boolean
  /** null where they are many, or not known to be few. */
  exits: Exits | null
}

export interface DfaOptions {
  /**
   * `search`: reads forwards, and a match may begin anywhere; `here`: it must begin where reading does; `back`: reads from the end to
   * the start, and continues to the longest match.
   */
  readonly mode: 'search' | 'here' | 'back'
  /** Of a search: whether a match must begin where the text does. */
  readonly anchored: boolean
  /** Of `search` and `here`: how places are found where a match could begin. */
  readonly leap: Leap | null
  /** Entries of the table before it is thrown away; a fourth of that for nodes in states. */
  readonly most: number
}

export class Dfa {
  private readonly automaton: Automaton
  private readonly classes: CharClasses
  private readonly searches: boolean
  private readonly backwards: boolean
  private readonly anchored: boolean
  private readonly leap: Leap | null
  private readonly stride: number
  private readonly most: number
  private readonly mostStates: number
  private table: Int32Array
  private states: (State | null)[] = []
  private numbers = new Map<string, number>()
  private nodeCount = 0
  /** Start states by context, 0 if not created yet. */
  private readonly starts = new Int32Array(8)
  /** The state of a try where nothing depends on the character before; 0 where it is not made yet. */
  private first = 0
  private readonly looksBack: boolean
  /** No match of the last endFrom begins before this place; that of the last endNear begins there. */
  candidate = 0
  /** Where the last endFrom or endNear stopped reading. */
  stop = 0
  /** Characters that tries of this search read for nothing; -1 when it was too many. */
  wasted = 0
  private clearings = 0
  /** How far this search had come when the table was last thrown away; -1 for not yet. */
  private resetAt = -1
  /** Whether this search began with an empty table. */
  private fresh = false
  /** Marks of nodes seen in a walk: `mark` is raised for each. */
  private readonly seen: Int32Array
  private mark = 0

  constructor(automaton: Automaton, classes: CharClasses, options: DfaOptions) {
    this.automaton = automaton
    this.classes = classes
    this.searches = options.mode === 'search'
    this.backwards = options.mode === 'back'
    this.anchored = options.anchored
    this.leap = options.leap
    this.looksBack = options.leap?.looksBack === true
    this.stride = classes.count
    this.most = options.most
    this.mostStates = Math.max(FIRST_STATE + 2, Math.min(MOST_STATES, Math.floor(options.most / classes.count)))
    this.seen = new Int32Array(automaton.kind.length).fill(-1)
    this.table = new Int32Array(0)
    this.clear()
  }

  /**
   * The end of the leftmost match that begins at `from` or behind; with `early` some place at which it is known that there is one.
   * NO_MATCH, GAVE_UP.
   */
  endFrom(text: string, from: number, sight: Sight, early: boolean): number {
    this.begin()
    const end = this.scanFrom(text, from, sight, early)
    if (end !== FULL) return end
    this.beginAnew()
    return this.scanFrom(text, from, sight, early)
  }

  private scanFrom(text: string, from: number, sight: Sight, early: boolean): number {
    const { latin } = this.classes
    const length = text.length
    const { leap } = this
    let end = NO_MATCH
    this.stop = length
    let at = from
    if (leap !== null) {
      at = leap.find(text, at, sight)
      if (at < 0) return NO_MATCH
    }
    this.candidate = at
    let state = this.startState(at === 0 ? EDGE_CLASS : this.findClassBefore(text, at))
    if (state === DEAD) return NO_MATCH
    let { table } = this
    while (at < length) {
      const unit = text.charCodeAt(at)
      let size = 1
      let each: number
      if (unit < 256) each = latin[unit]!
      else if ((unit & 0xf800) === 0xd800) {
        const codePoint = text.codePointAt(at)!
        if (codePoint > 0xffff) size = 2
        each = this.classes.of(codePoint)
      } else each = this.classes.of(unit)
      let to = table[state + each]!
      if (to <= 0) {
        if (to === UNKNOWN) {
          to = this.stepState(state, each, at - from)
          table = this.table
          if (to <= FULL_STEP) return to === FULL_STEP ? FULL : GAVE_UP
        }
        if (to === IDLE) {
          at = leap!.find(text, at + size, sight)
          if (at < 0) return NO_MATCH
          this.candidate = at
          state = this.startState(leap!.looksBack ? this.findClassBefore(text, at) : OTHER_CLASS)
          table = this.table
          continue
        }
        if (to < 0) {
          if (to === STAYS) {
            at = this.leave(text, at + size, state, sight)
            continue
          }
          if (to !== DEAD) end = at
          if (to === DEAD || to === MATCHED_AND_DEAD || early) {
            this.stop = at
            return end
          }
          if (to === MATCHED_AND_STAYS) {
            const left = this.leave(text, at + size, state, sight)
            if (left > at + size) end = isPairBefore(text, left) ? left - 2 : left - 1
            at = left
            continue
          }
          to = -to
        }
      }
      state = to
      at += size
    }
    let last = table[state + EDGE_CLASS]!
    if (last === UNKNOWN) last = this.stepState(state, EDGE_CLASS, length - from)
    if (last <= FULL_STEP) return last === FULL_STEP ? FULL : GAVE_UP
    return last < LEAST_PLACE || last === MATCHED_AND_DEAD ? length : end
  }

  /**
   * Of `here`: tries the places where a match could begin, from `from` on, and answers the end of the first match; NO_MATCH, GAVE_UP.
   * It begins at `candidate`, and how far it had to read is in `stop`. Characters read by failed attempts are added to `wasted`; -1 where that
   * has become too much, with the answer GAVE_UP.
   */
  endNear(text: string, from: number, sight: Sight): number {
    const { wasted } = this
    this.begin()
    const end = this.scanNear(text, from, sight)
    if (end !== FULL) return end
    this.wasted = wasted
    this.beginAnew()
    return this.scanNear(text, from, sight)
  }

  private scanNear(text: string, from: number, sight: Sight): number {
    const { latin } = this.classes
    const { length } = text
    const { looksBack } = this
    const leap = this.leap!
    const { leaves } = leap
    let { table } = this
    for (let start = from; ;) {
      if (leaves === null) start = leap.find(text, start, sight)
      else {
        for (; start < length; start++) {
          const unit = text.charCodeAt(start)
          if (unit > 255 || leaves[unit] === 1) break
        }
        if (start >= length) start = -1
      }
      if (start < 0) {
        this.stop = length
        return NO_MATCH
      }
      let state = this.first
      if (looksBack || state === 0) {
        state = this.startState(start === 0 ? EDGE_CLASS : this.findClassBefore(text, start))
        ;({ table } = this)
        if (!looksBack) this.first = state
      }
      let end = NO_MATCH
      let at = start
      if (state === DEAD) at = length
      while (at < length) {
        const unit = text.charCodeAt(at)
        let size = 1
        let each: number
        if (unit < 256) each = latin[unit]!
        else {
          each = this.findClassAt(text, at)
          if ((unit & 0xfc00) === 0xd800) size = measureSizeAt(text, at)
        }
        let to = table[state + each]!
        if (to <= 0) {
          if (to === UNKNOWN) {
            to = this.stepState(state, each, at - from)
            ;({ table } = this)
            if (to <= FULL_STEP) return to === FULL_STEP ? FULL : GAVE_UP
          }
          if (to < 0) {
            if (to === STAYS) {
              at = this.leave(text, at + size, state, sight)
              continue
            }
            if (to !== DEAD) end = at
            if (to === DEAD || to === MATCHED_AND_DEAD) break
            if (to === MATCHED_AND_STAYS) {
              const left = this.leave(text, at + size, state, sight)
              if (left > at + size) end = isPairBefore(text, left) ? left - 2 : left - 1
              at = left
              continue
            }
            to = -to
          }
        }
        state = to
        at += size
      }
      if (at >= length) {
        at = length
        if (state !== DEAD) {
          let last = table[state + EDGE_CLASS]!
          if (last === UNKNOWN) last = this.stepState(state, EDGE_CLASS, length - from)
          if (last <= FULL_STEP) return last === FULL_STEP ? FULL : GAVE_UP
          if (last === MATCHED_AND_DEAD) end = length
        }
      }
      if (end >= 0) {
        this.wasted += at - end
        this.stop = at
        this.candidate = start
        return end
      }
      this.wasted += at - start + WASTE_A_TRY
      if (this.wasted > FREE_WASTE + start) {
        this.wasted = -1
        return GAVE_UP
      }
      start += measureSizeAt(text, start)
    }
  }

  /** The first place at `from` or behind from which the pattern matches up to `end`. NO_MATCH, GAVE_UP. */
  startBefore(text: string, end: number, from: number): number {
    this.begin()
    const start = this.scanBefore(text, end, from)
    if (start !== FULL) return start
    this.beginAnew()
    return this.scanBefore(text, end, from)
  }

  private scanBefore(text: string, end: number, from: number): number {
    const { latin } = this.classes
    const length = text.length
    let start = NO_MATCH
    let state = this.startState(end === length ? EDGE_CLASS : this.findClassAt(text, end))
    if (state === DEAD) return NO_MATCH
    let { table } = this
    for (let at = end; ;) {
      const low = at - 1
      const unit = low < 0 ? 0 : text.charCodeAt(low)
      let size = 1
      let each: number
      if (low < 0) each = EDGE_CLASS
      else if (unit < 256) each = latin[unit]!
      else {
        each = this.findClassBefore(text, at)
        if ((unit & 0xfc00) === 0xdc00 && isPairBefore(text, at)) size = 2
      }
      let to = table[state + each]!
      if (to === UNKNOWN) {
        to = this.stepState(state, each, end - at)
        table = this.table
        if (to <= FULL_STEP) return to === FULL_STEP ? FULL : GAVE_UP
      }
      if (to < 0) {
        if (to === DEAD) return start
        start = at
        if (to === MATCHED_AND_DEAD) return start
        to = -to
      }
      if (at <= from) return start
      state = to
      at -= size
    }
  }

  private begin(): void {
    this.fresh = this.states.length === FIRST_STATE
    this.resetAt = -1
  }

  private beginAnew(): void {
    this.clear()
    this.fresh = true
    this.resetAt = -1
  }

  /** Drops all states; they are recreated when needed. */
  clear(): void {
    this.table = new Int32Array(this.stride * (FIRST_STATE + 12))
    this.states = new Array<State | null>(FIRST_STATE).fill(null)
    this.numbers = new Map()
    this.nodeCount = 0
    this.starts.fill(0)
    this.first = 0
  }

  private findClassAt(text: string, at: number): number {
    return this.classes.of(text.codePointAt(at)!)
  }

  private findClassBefore(text: string, at: number): number {
    return this.classes.of(isPairBefore(text, at) ? text.codePointAt(at - 2)! : text.charCodeAt(at - 1))
  }

  /** The state of a search that begins beside a character of the class: DEAD, or its place in the table. */
  private startState(beside: number): number {
    const known = this.classes.getInfo(beside)
    let state = this.starts[known]!
    if (state === 0) {
      state = this.searches ? this.getState([], known, true) : this.getState([this.automaton.start], known, false)
      this.starts[known] = state
    }
    return state
  }

  /** Computes and stores the transition of a state with a class. */
  private stepState(from: number, each: number, progress: number): number {
    const state = this.states[from / this.stride]!
    const { kind, value, next } = this.automaton
    const other = this.classes.getInfo(each)
    let { nodes } = state
    if (state.waiting) {
      const held = this.backwards ? findConditionsBetween(other, state.known) : findConditionsBetween(state.known, other)
      nodes = this.expand(Array.from(nodes), held, ~0).nodes
    }
    let matched = false
    let { searching } = state
    const roots: number[] = []
    for (const node of nodes) {
      if (kind[node] === MATCH) {
        matched = true
        if (this.backwards) continue
        // The rest is less preferred.
        searching = false
        break
      }
      if (this.classes.accepts(value[node]!, each)) roots.push(next[node]![0]!)
    }
    const { clearings } = this
    const statesMade = this.states.length
    // With nothing under way it continues where something may begin.
    const idle = roots.length === 0 && searching && !matched && this.leap !== null
    const place = each === EDGE_CLASS ? DEAD : idle ? IDLE : this.getState(roots, other, searching)
    let to: number
    if (place === DEAD) to = matched ? MATCHED_AND_DEAD : DEAD
    else to = matched ? -place : place
    if (this.clearings === clearings) {
      this.table[from + each] = to
      return place === from && !this.backwards ? this.stayInState(from, each, state) : to
    }
    // The state that is left is in the table no more.
    if (!this.fresh) return FULL_STEP
    if (this.resetAt >= 0 && progress - this.resetAt < statesMade * PROGRESS_A_STATE) return GAVE_UP_STEP
    this.resetAt = progress
    return to
  }

  /** Sees whether there are but few characters that a state may be left with, now that it continues to itself with one more class. */
  private stayInState(from: number, each: number, state: State): number {
    const { table, classes } = this
    if (state.exits === null) {
      const chars: string[] = []
      for (let other = EDGE_CLASS + 1; other < this.stride; other++) {
        if (Math.abs(table[from + other]!) === from) continue
        const only = classes.findOnly(other)
        if (only === NO_CHARACTER) continue
        if (only === MANY_CHARACTERS || chars.length === MOST_EXITS || only > 0xffff || (only & 0xf800) === 0xd800)
          return table[from + each]!
        chars.push(String.fromCharCode(only))
      }
      const getUnit = (at: number): number => chars[at]?.charCodeAt(0) ?? -1
      state.exits = { chars, units: [getUnit(0), getUnit(1), getUnit(2)] }
    }
    for (let other = EDGE_CLASS + 1; other < this.stride; other++) {
      const to = table[from + other]!
      if (to === from) table[from + other] = STAYS
      else if (to === -from) table[from + other] = MATCHED_AND_STAYS
    }
    return table[from + each]!
  }

  /** Where the state is left at `at` or behind, or the text ends. */
  private leave(text: string, at: number, state: number, sight: Sight): number {
    const { chars, units } = this.states[state / this.stride]!.exits!
    const { length } = text
    const [first, second, third] = units
    const near = sight.looksAhead ? Math.min(length, at + NEAR) : length
    for (; at < near; at++) {
      const unit = text.charCodeAt(at)
      if (unit === first || unit === second || unit === third) return at
    }
    return at < length ? sight.look(text, chars, at) : length
  }

  /** The state that stands at what `roots` lead to. */
  private getState(roots: number[], known: number, searching: boolean): number {
    if (searching && (!this.anchored || (known & EDGE) !== 0)) roots.push(this.automaton.start)
    const held = this.backwards ? findConditionsBetween(0, known) & BEHIND : findConditionsBetween(known, 0) & BEFORE
    const unique = [...new Set(roots)]
    const { nodes: reached, waiting, ended } = this.expand(roots, held, this.backwards ? BEHIND : BEFORE)
    // With an assertion that waits all is to be done again from the roots: which way to a node comes first depends on it.
    const nodes = waiting ? Int32Array.from(unique) : reached
    if (this.backwards) nodes.sort()
    const goesOn = searching && !ended && !this.anchored
    if (nodes.length === 0 && !goesOn) return DEAD
    const kept = waiting ? known : 0
    const key = `${String.fromCharCode(kept + (goesOn ? 8 : 0) + (waiting ? 16 : 0))}${String.fromCharCode.apply(null, nodes as unknown as number[])}`
    const number = this.numbers.get(key)
    if (number !== undefined) return number * this.stride
    return this.add(key, { nodes, known: kept, waiting, searching: goesOn, exits: null })
  }

  private add(key: string, state: State): number {
    if (this.states.length >= this.mostStates || this.nodeCount > this.most >> 2) {
      this.clear()
      this.clearings++
    }
    const number = this.states.push(state) - 1
    this.numbers.set(key, number)
    this.nodeCount += state.nodes.length + 1
    if (this.states.length * this.stride > this.table.length) {
      const larger = new Int32Array(this.table.length * 2)
      larger.set(this.table)
      this.table = larger
    }
    return number * this.stride
  }

  /**
   * The nodes that read, assert or match and are reached from `roots`, in order of preference. Of an assertion the conditions in
   * `decided` are known: it holds if they are all in `held`, and waits if it asks for more.
   */
  private expand(roots: number[], held: number, decided: number): { nodes: Int32Array; waiting: boolean; ended: boolean } {
    const { kind, value, next } = this.automaton
    const { seen } = this
    const mark = ++this.mark
    const nodes: number[] = []
    let waiting = false
    const pending = roots.reverse()
    while (pending.length > 0) {
      const node = pending.pop()!
      if (seen[node] === mark) continue
      seen[node] = mark
      const type = kind[node]!
      if (type === ASSERT) {
        const wanted = value[node]!
        if ((wanted & decided & ~held) !== 0) continue
        if ((wanted & ~decided) !== 0) {
          waiting = true
          nodes.push(node)
          continue
        }
      } else if (type !== GO) {
        nodes.push(node)
        if (type === MATCH && !this.backwards) return { nodes: Int32Array.from(nodes), waiting, ended: true }
        continue
      }
      const to = next[node]!
      for (let at = to.length - 1; at >= 0; at--) pending.push(to[at]!)
    }
    return { nodes: Int32Array.from(nodes), waiting, ended: false }
  }
}

/** Units of the character at `at`. */
export function measureSizeAt(text: string, at: number): number {
  const codePoint = text.codePointAt(at)
  return codePoint !== undefined && codePoint > 0xffff ? 2 : 1
}

/** Whether two surrogates that make one character stand before `at`. */
export function isPairBefore(text: string, at: number): boolean {
  return at >= 2 && (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 2) & 0xfc00) === 0xd800
}
