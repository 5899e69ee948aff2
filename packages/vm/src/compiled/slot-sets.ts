// Data structures of the flow graph: sets of slots, tables by block, and lookups of the handler and the variables in scope at a
// position. Each is made for a single pass through a function of any length. A set of slots is a row of words in a larger
// array, 32 slots per word; `row` is the first of them.

import type { LocalName } from '@bridle/compiler/bytecode'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'

export function readBit(sets: Int32Array, row: number, slot: number): number {
  return (sets[row + (slot >> 5)]! >> (slot & 31)) & 1
}

export function put(sets: Int32Array, row: number, slot: number): void {
  sets[row + (slot >> 5)]! |= 1 << (slot & 31)
}

/** Work list of blocks by index: taken in one direction repeatedly until it is empty. */
export class Work {
  private readonly marks: Uint8Array
  private left = 0

  constructor(size: number) {
    this.marks = new Uint8Array(size)
  }

  add(index: number): void {
    if (this.marks[index] === 1) return
    this.marks[index] = 1
    this.left++
  }

  /** Takes the next block after `index`, wrapping around; -1 when none remains. */
  takeAfter(index: number): number {
    if (this.left === 0) return -1
    const found = this.marks.indexOf(1, index + 1)
    return this.take(found < 0 ? this.marks.indexOf(1) : found)
  }

  /** Takes the next block before `index`, wrapping around; -1 when none remains. */
  takeBefore(index: number): number {
    if (this.left === 0) return -1
    const found = index === 0 ? -1 : this.marks.lastIndexOf(1, index - 1)
    return this.take(found < 0 ? this.marks.lastIndexOf(1) : found)
  }

  private take(index: number): number {
    this.marks[index] = 0
    this.left--
    return index
  }
}

/** The predecessors of each block. */
export class Sources {
  private readonly starts: Int32Array
  private readonly sources: Int32Array

  /** `ways` are tables of targets, -1 for none, each with the same number of entries per block. */
  constructor(size: number, ways: readonly Int32Array[]) {
    this.starts = new Int32Array(size + 2)
    for (const targets of ways) for (const to of targets) if (to >= 0) this.starts[to + 2]!++
    for (let index = 2; index < size + 2; index++) this.starts[index]! += this.starts[index - 1]!
    this.sources = new Int32Array(this.starts[size + 1]!)
    for (const targets of ways) {
      const each = targets.length / size
      for (let way = 0; way < targets.length; way++) {
        const to = targets[way]!
        if (to >= 0) this.sources[this.starts[to + 1]!++] = Math.floor(way / each)
      }
    }
  }

  /** Adds the predecessors of `index` to the work list. */
  addSources(index: number, work: Work): void {
    for (let at = this.starts[index]!; at < this.starts[index + 1]!; at++) work.add(this.sources[at]!)
  }
}

/** A number for some instructions of a function, looked up by code position; -1 for all others. */
export class InstrNumbers {
  private readonly at: (Instr | null)[]
  private readonly numbers: Int32Array
  /** Instructions that share their position with another numbered one. */
  private readonly more = new Map<Instr, number>()

  /** `length` is the length of the code. */
  constructor(length: number) {
    this.at = new Array<Instr | null>(length).fill(null)
    this.numbers = new Int32Array(length)
  }

  get(instr: Instr): number {
    const { pc } = instr
    if (this.at[pc] === instr) return this.numbers[pc]!
    return this.more.size === 0 ? -1 : (this.more.get(instr) ?? -1)
  }

  set(instr: Instr, number: number): void {
    const { pc } = instr
    this.at[pc] ??= instr
    if (this.at[pc] === instr) this.numbers[pc] = number
    else this.more.set(instr, number)
  }

  /** In code order. */
  listInstrs(): Instr[] {
    const found: Instr[] = []
    const behind = [...this.more.keys()].sort((one, other) => one.pc - other.pc)
    let next = 0
    for (const instr of this.at) {
      if (instr === null) continue
      while (next < behind.length && behind[next]!.pc < instr.pc) found.push(behind[next++]!)
      found.push(instr)
    }
    return found.concat(behind.slice(next))
  }
}

/** Which handler applies where: the first of those whose range holds the position. */
export class HandlerTable {
  /** Positions at which the handler may change, ascending. */
  private readonly bounds: readonly number[]
  /** The handler from each of them on, -1 for none. */
  private readonly from: Int32Array

  constructor({ chunk: { handlers } }: FunctionCode) {
    this.bounds = [...new Set(handlers.flatMap(({ start, end }) => [start, end]))].sort((one, other) => one - other)
    const places = new Map(this.bounds.map((bound, at) => [bound, at]))
    this.from = new Int32Array(this.bounds.length).fill(-1)
    // The next position from each on that no handler covers yet.
    const free = Int32Array.from({ length: this.bounds.length + 1 }, (_, at) => at)
    const findFirstFree = (at: number): number => {
      let found = at
      while (free[found] !== found) found = free[found] = free[free[found]!]!
      return found
    }
    for (const [which, { start, end }] of handlers.entries()) {
      for (let at = findFirstFree(places.get(start)!); at < places.get(end)!; at = findFirstFree(at)) {
        this.from[at] = which
        free[at] = at + 1
      }
    }
  }

  at(pc: number): number {
    const { bounds } = this
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (bounds[middle]! <= pc) low = middle + 1
      else high = middle
    }
    return low === 0 ? -1 : this.from[low - 1]!
  }
}

/** The slots of the variables in scope at a code position, for one pass from the beginning to the end. */
export class Scopes {
  readonly bits: Int32Array
  private readonly opening: readonly LocalName[]
  private readonly closing: readonly LocalName[]
  private readonly counts: Int32Array
  private pc = -1
  private opened = 0
  private closed = 0

  constructor(locals: readonly LocalName[], frameSize: number) {
    this.bits = new Int32Array((frameSize + 31) >> 5)
    this.counts = new Int32Array(frameSize)
    this.opening = locals.toSorted((one, other) => one.start - other.start)
    this.closing = locals.toSorted((one, other) => one.end - other.end)
  }

  moveTo(pc: number): void {
    if (pc < this.pc) {
      this.bits.fill(0)
      this.counts.fill(0)
      this.opened = this.closed = 0
    }
    this.pc = pc
    for (; this.opened < this.opening.length && this.opening[this.opened]!.start <= pc; this.opened++) {
      const { slot } = this.opening[this.opened]!
      if (this.counts[slot]!++ === 0) put(this.bits, 0, slot)
    }
    for (; this.closed < this.closing.length && this.closing[this.closed]!.end <= pc; this.closed++) {
      const { slot } = this.closing[this.closed]!
      if (--this.counts[slot]! === 0) this.bits[slot >> 5]! &= ~(1 << (slot & 31))
    }
  }
}
