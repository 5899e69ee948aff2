// Where the groups of a match lie, once it is known where the match begins and ends. Most programs leave no choice there: at each
// place one READ node at most takes the character, so that the way through the match is found by one step a character (a "one-pass"
// program; whether it is one shows while it runs). The others walk with marks, so that no node is tried twice at a place.

import { EDGE_CLASS } from './classes.js'
import type { CharClasses } from './classes.js'
import { isPairBefore } from './dfa.js'
import { pikeSearch } from './pike.js'
import { ASSERT, EDGE, GO, MATCH, READ, conditionsBetween } from './program.js'
import type { Program } from './program.js'

/** Entries of the one-pass table; a program with more walks with marks. */
const MOST_ENTRIES = 1 << 16

/** A way from one node to the node behind the next character. */
interface Way {
  readonly to: number
  /** Slots that get the place before that character. */
  readonly slots: readonly number[]
}

const UNKNOWN = 0

export class Captures {
  private readonly program: Program
  private readonly classes: CharClasses
  /** Whether the program has left no choice so far. */
  private onePass: boolean
  /** For node and class: 0 not known yet, -1 none, n > 0 the way n - 1. For the class of the edge: the way to the match. */
  private table: Int32Array | null = null
  private readonly ways: Way[] = []
  private marks = new Uint32Array(0)

  private readonly mostMarks: number

  /** `mostMarks`: nodes times places that are marked at a time. */
  constructor(program: Program, classes: CharClasses, mostMarks: number) {
    this.mostMarks = mostMarks
    this.program = program
    this.classes = classes
    this.onePass = mostMarks > 0 && !program.kind.includes(ASSERT) && program.kind.length * classes.count <= MOST_ENTRIES
  }

  /** Fills `slots` for the match of [start, end). */
  fill(text: string, start: number, end: number, slots: number[]): void {
    if (slots.length === 2) {
      slots[0] = start
      slots[1] = end
      return
    }
    if (this.fillOnePass(text, start, end, slots)) return
    slots.fill(-1)
    if (this.program.kind.length * (end - start + 1) <= this.mostMarks) this.runMarked(text, start, end, slots)
    else pikeSearch(this.program, this.classes, text, start, slots, end)
  }

  /** The same if the pattern matches [start, end) at all and leaves no choice there; false says nothing, and spoils the slots. */
  fillOnePass(text: string, start: number, end: number, slots: number[]): boolean {
    if (!this.onePass) return false
    slots.fill(-1)
    return this.runOnePass(text, start, end, slots)
  }

  // --------------------------------------------------------------------------------------------------------- one pass

  private runOnePass(text: string, start: number, end: number, slots: number[]): boolean {
    const { classes } = this
    const { count, latin } = classes
    this.table ??= new Int32Array(this.program.kind.length * count)
    const { table, ways } = this
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
      let number = table[node * count + each]!
      if (number === UNKNOWN) {
        number = this.findWay(node, each)
        if (number === UNKNOWN) return false
      }
      if (number < 0) return false
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

  /** The only way from `node` over a character of the class, written into the table; 0 when there are several. */
  private findWay(node: number, each: number): number {
    const { kind, value, slot, next } = this.program
    const seen = new Set<number>()
    let found: Way | null = null
    const pending: { readonly node: number; readonly slots: readonly number[] }[] = [{ node, slots: [] }]
    while (pending.length > 0) {
      const { node: at, slots } = pending.pop()!
      if (seen.has(at)) continue
      seen.add(at)
      if (kind[at] === GO) {
        const own = slot[at]! >= 2 ? [...slots, slot[at]!] : slots
        for (let index = next[at]!.length - 1; index >= 0; index--) pending.push({ node: next[at]![index]!, slots: own })
        continue
      }
      const fits = each === EDGE_CLASS ? kind[at] === MATCH : kind[at] === READ && this.classes.accepts(value[at]!, each)
      if (!fits) continue
      if (found !== null) {
        this.onePass = false
        this.table = null
        this.ways.length = 0
        return UNKNOWN
      }
      found = { to: next[at]![0] ?? at, slots }
    }
    const number = found === null ? -1 : this.ways.push(found)
    this.table![node * this.classes.count + each] = number
    return number
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
      if (type === ASSERT && (value[node]! & ~this.heldAt(text, at)) !== 0) continue
      const where = slot[node]!
      if (where >= 2) {
        pending.push(~where, slots[where]!)
        slots[where] = at
      }
      for (let index = to.length - 1; index >= 0; index--) pending.push(to[index]!, at)
    }
  }

  private heldAt(text: string, at: number): number {
    const { classes } = this
    const before =
      at === 0 ? EDGE : classes.info(classes.of(isPairBefore(text, at) ? text.codePointAt(at - 2)! : text.charCodeAt(at - 1)))
    return conditionsBetween(before, at === text.length ? EDGE : classes.info(classes.of(text.codePointAt(at)!)))
  }
}
