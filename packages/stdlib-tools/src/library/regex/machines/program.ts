// The compiled form of a regular expression: an automaton as plain arrays. re2js parses and compiles; what it compiled to (the
// instructions of a Thompson machine) is copied into nodes here, and the machines of this folder run those. The same form holds the
// program read backwards, which finds where a match begins once its end is known.
//
// The layout of re2js' program is that engine's internal matter: it is pinned to one version, and the tests would notice a change.

import { RE2JS } from 're2js'

/** Kinds of nodes. */
export const GO = 0
export const READ = 1
export const ASSERT = 2
export const MATCH = 3

/** Conditions of an ASSERT between two characters, as bits. */
export const CONDITION = { BEGIN_LINE: 1, END_LINE: 2, BEGIN_TEXT: 4, END_TEXT: 8, WORD: 16, NO_WORD: 32 } as const

/** What a side of a place in the text is, as bits: the end of the text (neither), a line feed, a word character. */
export const EDGE = 1
export const NEWLINE = 2
export const WORD = 4

/** Pairs [first, last] of code points, ascending and not overlapping, in one array. */
export type Ranges = Int32Array

export interface Automaton {
  readonly start: number
  readonly kind: Uint8Array
  /** Of READ: the set that it reads one character of; of ASSERT: bits of CONDITION. */
  readonly value: Int32Array
  /** Of GO: which capture slot takes the place in the text; -1 for none. */
  readonly slot: Int32Array
  /** Where it continues, most preferred first. */
  readonly next: readonly Int32Array[]
}

export interface Program extends Automaton {
  /** The sets of code points that READ nodes name. */
  readonly sets: readonly Ranges[]
  /** Two a group, the whole match among them. */
  readonly slots: number
  readonly usesLines: boolean
  readonly usesWords: boolean
  /** Whether a match can only begin where the text does. */
  readonly anchored: boolean
  /** Whether a match can only begin where a line does. */
  readonly beginsLine: boolean
  /** Whether an assertion may stand before the first character. */
  readonly looksBack: boolean
  /** What each match begins with. */
  readonly prefix: string
  /** Whether the prefix is all there is to match. */
  readonly literal: boolean
  /** UTF-16 units of each match; -1 where they differ. */
  readonly length: number
}

/** The instructions of re2js. */
interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly runes: ArrayLike<number>
}
interface Compiled {
  readonly inst: readonly Instruction[]
  readonly start: number
  readonly numCap: number
}
const OP = {
  ALT: 1,
  ALT_MATCH: 2,
  CAPTURE: 3,
  EMPTY_WIDTH: 4,
  FAIL: 5,
  MATCH: 6,
  NOP: 7,
  RUNE: 8,
  RUNE1: 9,
  RUNE_ANY: 10,
  RUNE_ANY_NOT_NL: 11,
} as const
const FOLD_CASE = 1
const MAX_CODE_POINT = 0x10ffff
const NO_NODES = new Int32Array(0)

/** What an engine's pattern compiled to. */
export function readProgram(engine: RE2JS): Program {
  const { inst, start, numCap } = engine.re2Input.prog as Compiled
  const kind = new Uint8Array(inst.length)
  const value = new Int32Array(inst.length)
  const slot = new Int32Array(inst.length).fill(-1)
  const next: Int32Array[] = []
  const sets: Ranges[] = []
  const setNumbers = new Map<string, number>()
  let conditions = 0
  for (const [at, { op, out, arg, runes }] of inst.entries()) {
    next.push(op === OP.MATCH || op === OP.FAIL ? NO_NODES : Int32Array.of(out))
    switch (op) {
      case OP.ALT:
      case OP.ALT_MATCH:
        next[at] = Int32Array.of(out, arg)
        break
      case OP.CAPTURE:
        slot[at] = arg
        break
      case OP.EMPTY_WIDTH:
        kind[at] = ASSERT
        value[at] = arg
        conditions |= arg
        break
      case OP.MATCH:
        kind[at] = MATCH
        break
      case OP.FAIL:
      case OP.NOP:
        break
      default: {
        kind[at] = READ
        const key = `${op === OP.RUNE_ANY || op === OP.RUNE_ANY_NOT_NL ? op : arg & FOLD_CASE}:${Array.from(runes).join()}`
        let number = setNumbers.get(key)
        if (number === undefined) {
          number = sets.push(readRanges(op, runes, (arg & FOLD_CASE) !== 0)) - 1
          setNumbers.set(key, number)
        }
        value[at] = number
      }
    }
  }
  const automaton = { start, kind, value, slot, next }
  return {
    ...automaton,
    sets,
    slots: numCap,
    usesLines: (conditions & (CONDITION.BEGIN_LINE | CONDITION.END_LINE)) !== 0,
    usesWords: (conditions & (CONDITION.WORD | CONDITION.NO_WORD)) !== 0,
    anchored: beginsWith(automaton, CONDITION.BEGIN_TEXT),
    beginsLine: beginsWith(automaton, CONDITION.BEGIN_LINE),
    looksBack: looksBackAtStart(automaton),
    length: measureLength(automaton, sets),
    ...findPrefix(automaton, sets),
  }
}

function readRanges(op: number, runes: ArrayLike<number>, fold: boolean): Ranges {
  if (op === OP.RUNE_ANY) return Int32Array.of(0, MAX_CODE_POINT)
  if (op === OP.RUNE_ANY_NOT_NL) return Int32Array.of(0, 9, 11, MAX_CODE_POINT)
  if (runes.length !== 1) return Int32Array.from(runes)
  const rune = runes[0]!
  return fold ? findFoldedRanges(rune) : Int32Array.of(rune, rune)
}

/** All characters that are `rune` but for their case: the engine says them for a class that holds another character as well. */
function findFoldedRanges(rune: number): Ranges {
  const { inst } = RE2JS.compile(`(?i)[\\x{${rune.toString(16)}}\\x{0}]`).re2Input.prog as Compiled
  const all = Array.from(inst.find((each) => each.op === OP.RUNE)!.runes)
  return Int32Array.from(all[1] === 0 ? all.slice(2) : [1, ...all.slice(1)])
}

/** Whether nothing matches but behind an assertion of the condition. */
function beginsWith({ start, kind, value, next }: Automaton, condition: number): boolean {
  for (let at = start; ; at = next[at]![0]!) {
    if (kind[at] === ASSERT && (value[at]! & condition) !== 0) return true
    if (kind[at] === READ || next[at]!.length !== 1) return false
  }
}

function looksBackAtStart({ kind, next, start }: Automaton): boolean {
  const pending = [start]
  const seen = new Set<number>()
  while (pending.length > 0) {
    const node = pending.pop()!
    if (seen.has(node)) continue
    seen.add(node)
    if (kind[node] === ASSERT) return true
    if (kind[node] === GO) pending.push(...next[node]!)
  }
  return false
}

function findPrefix({ start, kind, value, next }: Automaton, sets: readonly Ranges[]): { prefix: string; literal: boolean } {
  let prefix = ''
  let literal = true
  for (let at = start; ; at = next[at]![0]!) {
    if (kind[at] === MATCH) return { prefix, literal: literal && prefix !== '' }
    if (next[at]!.length !== 1) return { prefix, literal: false }
    if (kind[at] === ASSERT) literal = false
    if (kind[at] !== READ) continue
    const set = sets[value[at]!]!
    // A surrogate alone is no text to be looked for: it may be half of a character.
    if (set.length !== 2 || set[0] !== set[1] || (set[0]! >= 0xd800 && set[0]! <= 0xdfff)) return { prefix, literal: false }
    prefix += String.fromCodePoint(set[0]!)
  }
}

function measureLength({ start, kind, value, next }: Automaton, sets: readonly Ranges[]): number {
  let length = 0
  for (let at = start; kind[at] !== MATCH; at = next[at]![0]!) {
    if (next[at]!.length !== 1) return -1
    if (kind[at] !== READ) continue
    const set = sets[value[at]!]!
    const units = set[0]! > 0xffff ? 2 : 1
    if (units === 1 && set.at(-1)! > 0xffff) return -1
    length += units
  }
  return length
}

/**
 * The program read from its end to its start. Node q says that the program, standing at q, matches what has been read; what leads to
 * q becomes where q continues. Preference is lost on the way, which is why it only serves to find how far back a match can reach.
 */
export function reverseProgram(program: Program): Automaton {
  const size = program.kind.length
  // Nodes: q; size + q for a READ or ASSERT that leads somewhere; then the match, and where it begins.
  const matchAt = 2 * size
  const startAt = matchAt + 1
  const next: number[][] = Array.from({ length: startAt + 1 }, () => [])
  const kind = new Uint8Array(startAt + 1)
  const value = new Int32Array(startAt + 1)
  kind[matchAt] = MATCH
  for (let q = 0; q < size; q++) {
    if (program.kind[q] === MATCH) next[startAt]!.push(q)
    let from = q
    if (program.kind[q] === READ || program.kind[q] === ASSERT) {
      from = size + q
      kind[from] = program.kind[q]!
      value[from] = program.value[q]!
      next[from]!.push(q)
    }
    for (const to of program.next[q]!) next[to]!.push(from)
  }
  next[program.start]!.push(matchAt)
  return {
    start: startAt,
    kind,
    value,
    slot: new Int32Array(startAt + 1).fill(-1),
    next: next.map((each) => Int32Array.from(each)),
  }
}

/** What holds between two characters, given what they are. */
export function findConditionsBetween(before: number, behind: number): number {
  let held = ((before ^ behind) & WORD) === 0 ? CONDITION.NO_WORD : CONDITION.WORD
  if ((before & EDGE) !== 0) held |= CONDITION.BEGIN_TEXT | CONDITION.BEGIN_LINE
  else if ((before & NEWLINE) !== 0) held |= CONDITION.BEGIN_LINE
  if ((behind & EDGE) !== 0) held |= CONDITION.END_TEXT | CONDITION.END_LINE
  else if ((behind & NEWLINE) !== 0) held |= CONDITION.END_LINE
  return held
}
