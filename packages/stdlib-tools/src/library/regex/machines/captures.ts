// Where the groups of a match lie, once it is known where the match begins and ends. Most programs leave no choice there: at each
// place one READ node at most takes the character, so that the way through the match is found by one step a character (a "one-pass"
// program). The others walk with marks, so that no node is tried twice at a place. Which way is taken, and so what it costs, is a fact
// of the program and the length of the match.

import { EDGE_CLASS } from './classes.js'
import type { CharClasses } from './classes.js'
import { isPairBefore } from './dfa.js'
import { ASSERT, EDGE, GO, MATCH, READ, findConditionsBetween } from './program.js'
import type { Program } from './program.js'

/** Entries of the one-pass table; a program with more walks with marks. */
const MOST_ENTRIES = 1 << 14

/** A way from one node to the node behind the next character. */
interface Way {
  readonly to: number
  /** Slots that get the place before that character. */
  readonly slots: readonly number[]
}

interface OnePass {
  /** For node and class: 0 none, n > 0 the way n - 1. For the class of the edge: the way to the match. */
  readonly table: Int32Array
  readonly ways: readonly Way[]
}

export class Captures {
  private readonly program: Program
  private readonly classes: CharClasses
  private readonly mostMarks: number
  /** null if the program is ambiguous here; undefined if not yet computed. */
  private onePass: OnePass | null | undefined
  private marks = new Uint32Array(0)

  /** `mostMarks`: nodes times places that are marked at a time. */
  constructor(program: Program, classes: CharClasses, mostMarks: number) {
    this.program = program
    this.classes = classes
    this.mostMarks = mostMarks
    this.onePass = mostMarks === 0 ? null : undefined
  }

  /** Fills `slots` for the match of [start, end); false if that is too long to be walked with marks. */
  fill(text: string, start: number, end: number, slots: number[]): boolean {
    if (this.fillOnePass(text, start, end, slots)) return true
    if (this.program.kind.length * (end - start + 1) > this.mostMarks) return false
    slots.fill(-1)
    this.runMarked(text, start, end, slots)
    return true
  }

  /** The same if the pattern matches [start, end) at all and leaves no choice there; false is inconclusive and leaves the slots undefined. */
  fillOnePass(text: string, start: number, end: number, slots: number[]): boolean {
    const onePass = this.getOnePass()
    if (onePass === null) return false
    slots.fill(-1)
    return this.runOnePass(onePass, text, start, end, slots)
  }

  /** Units of work, in steps of a table, that filling takes at most. */
  estimateCost(characters: number): number {
    return this.getOnePass() !== null ? characters : characters * this.program.kind.length
  }

  // --------------------------------------------------------------------------------------------------------- one pass

  private runOnePass({ table, ways }: OnePass, text: string, start: number, end: number, slots: number[]): boolean {
    const { classes } = this
    const { count, latin } = classes
    let node = this.program.start
    for (let at = start; ;) {
      let each = EDGE_CLASS
      let size = 1
      if (at < end) {
        const unit = text.charCodeAt(at)
        if (unit < 256) each = latin[unit]!
        else {
          const codePoint = text.codePointAt(at)!
          if (codePoint > 0xffff) size = 2
          each = classes.of(codePoint)
        }
      }
      const number = table[node * count + each]!
      if (number === 0) return false
      const way = ways[number - 1]!
      for (const slot of way.slots) slots[slot] = at
      if (at >= end) break
      node = way.to
      at += size
    }
    slots[0] = start
    slots[1] = end
    return true
  }

  private getOnePass(): OnePass | null {
    if (this.onePass === undefined) this.onePass = makeOnePass(this.program, this.classes)
    return this.onePass
  }

  // --------------------------------------------------------------------------------------------------------- with marks

  private runMarked(text: string, start: number, end: number, slots: number[]): void {
    const { kind, value, slot, next } = this.program
    const size = kind.length
    const words = (size * (end - start + 1) + 31) >> 5
    if (this.marks.length < words) this.marks = new Uint32Array(Math.max(words, 64))
    const { marks } = this
    marks.fill(0, 0, words)
    // Pairs: node and place; or, with a node below 0, the slot ~node and what it held.
    const pending: number[] = [this.program.start, start]
    while (pending.length > 0) {
      const at = pending.pop()!
      const node = pending.pop()!
      if (node < 0) {
        slots[~node] = at
        continue
      }
      const bit = node + size * (at - start)
      if (((marks[bit >> 5]! >>> (bit & 31)) & 1) !== 0) continue
      marks[bit >> 5]! |= 1 << (bit & 31)
      const to = next[node]!
      const type = kind[node]!
      if (type === MATCH) {
        if (at !== end) continue
        slots[0] = start
        slots[1] = end
        return
      }
      if (type === READ) {
        if (at >= end) continue
        const codePoint = text.codePointAt(at)!
        if (this.classes.accepts(value[node]!, this.classes.of(codePoint)))
          pending.push(to[0]!, at + (codePoint > 0xffff ? 2 : 1))
        continue
      }
      if (type === ASSERT && (value[node]! & ~this.checkConditionsAt(text, at)) !== 0) continue
      const where = slot[node]!
      if (where >= 2) {
        pending.push(~where, slots[where]!)
        slots[where] = at
      }
      for (let index = to.length - 1; index >= 0; index--) pending.push(to[index]!, at)
    }
  }

  private checkConditionsAt(text: string, at: number): number {
    const { classes } = this
    const before =
      at === 0 ? EDGE : classes.getInfo(classes.of(isPairBefore(text, at) ? text.codePointAt(at - 2)! : text.charCodeAt(at - 1)))
    return findConditionsBetween(before, at === text.length ? EDGE : classes.getInfo(classes.of(text.codePointAt(at)!)))
  }
}

/** The ways between the nodes behind characters; null where some class has two. */
function makeOnePass(program: Program, classes: CharClasses): OnePass | null {
  const { kind, value, next, start } = program
  const { count } = classes
  if (kind.includes(ASSERT) || kind.length * count > MOST_ENTRIES) return null
  const table = new Int32Array(kind.length * count)
  const ways: Way[] = []
  const pending = [start]
  const reached = new Set(pending)
  for (const node of pending) {
    for (const { leaf, slots } of listLeaves(program, node)) {
      const to = next[leaf]![0] ?? leaf
      const number = ways.push({ to, slots })
      for (let each = 0; each < count; each++) {
        const fits = kind[leaf] === MATCH ? each === EDGE_CLASS : classes.accepts(value[leaf]!, each)
        if (!fits) continue
        const entry = node * count + each
        if (table[entry] !== 0) return null
        table[entry] = number
      }
      if (kind[leaf] === READ && !reached.has(to)) {
        reached.add(to)
        pending.push(to)
      }
    }
  }
  return { table, ways }
}

/** What `node` leads to without reading, and the slots that get the place on the way there. */
function listLeaves({ kind, slot, next }: Program, node: number): { readonly leaf: number; readonly slots: readonly number[] }[] {
  const leaves: { leaf: number; slots: readonly number[] }[] = []
  const seen = new Set<number>()
  const pending: { readonly at: number; readonly slots: readonly number[] }[] = [{ at: node, slots: [] }]
  while (pending.length > 0) {
    const { at, slots } = pending.pop()!
    if (seen.has(at)) continue
    seen.add(at)
    if (kind[at] !== GO) {
      leaves.push({ leaf: at, slots })
      continue
    }
    const own = slot[at]! >= 2 ? [...slots, slot[at]!] : slots
    for (let index = next[at]!.length - 1; index >= 0; index--) pending.push({ at: next[at]![index]!, slots: own })
  }
  return leaves
}
