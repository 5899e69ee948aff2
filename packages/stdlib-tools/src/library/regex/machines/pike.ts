// The machine that does what no other can: any program on any text, by threads that continue side by side, most preferred first, each
// with its captures (a Pike machine). It takes time in proportion to program and text, and is the slowest; searches come here when a
// table of states would explode, and captures when a span is too long to be walked with marks. It can stop anywhere and continue.

import { EDGE_CLASS } from './classes.js'
import type { CharClasses } from './classes.js'
import { isPairBefore } from './dfa.js'
import { ASSERT, GO, MATCH, findConditionsBetween } from './program.js'
import type { Program } from './program.js'

/** Nodes that threads stand at, in order, with their captures beside them. */
interface Threads {
  count: number
  readonly nodes: Int32Array
  readonly slots: Int32Array
}

export interface PikeOptions {
  readonly program: Program
  readonly classes: CharClasses
  readonly text: string
  readonly from: number
  /** Slots that are asked for: 2, or all of the program. */
  readonly width: number
  /** Where the match must end, which then must begin at `from`; -1: the leftmost match at `from` or behind is looked for. */
  readonly end: number
}

export class Pike {
  found = false
  /** Places of the match; -1 for groups that took no part. */
  readonly slots: Int32Array
  private readonly options: PikeOptions
  private readonly threads: Threads
  private readonly ready: Threads
  /** Place at which a node was last reached. */
  private readonly seen: Int32Array
  /** Slots of the thread that is followed. */
  private readonly own: Int32Array
  /** What is to be visited; below 0: the slot ~n gets back what it held, which lies under it. Kept, as threads are many. */
  private readonly pending: number[] = []
  /** How far it has come. */
  at: number
  /** What the character before is. */
  private before: number

  constructor(options: PikeOptions) {
    const { program, classes, text, from, width } = options
    const size = program.kind.length
    const make = (): Threads => ({ count: 0, nodes: new Int32Array(size), slots: new Int32Array(size * width) })
    this.options = options
    this.threads = make()
    this.ready = make()
    this.slots = new Int32Array(width).fill(-1)
    this.seen = new Int32Array(size).fill(-1)
    this.own = new Int32Array(width)
    this.at = from
    this.before = classes.getInfo(
      from === 0 ? EDGE_CLASS : classes.of(isPairBefore(text, from) ? text.codePointAt(from - 2)! : text.charCodeAt(from - 1)),
    )
  }

  /** Continues for this many characters; true when the search is over. */
  run(characters: number): boolean {
    const { program, classes, text, from, end } = this.options
    const { threads, own } = this
    for (let left = characters; left > 0; left--) {
      const { at } = this
      const codePoint = at < text.length ? text.codePointAt(at)! : -1
      const each = codePoint < 0 ? EDGE_CLASS : classes.of(codePoint)
      const behind = classes.getInfo(each)
      const held = findConditionsBetween(this.before, behind)
      const { width } = this.options
      this.ready.count = 0
      for (let thread = 0; thread < threads.count; thread++) {
        const base = thread * width
        for (let slot = 0; slot < width; slot++) own[slot] = threads.slots[base + slot]!
        this.follow(threads.nodes[thread]!, held)
      }
      if (!this.found && (end < 0 ? !program.anchored || at === 0 : at === from)) {
        own.fill(-1)
        own[0] = at
        this.follow(program.start, held)
      }
      this.read(each)
      const over = codePoint < 0 || (end >= 0 && at >= end)
      if (over || (threads.count === 0 && (this.found || end >= 0 || program.anchored))) return true
      this.before = behind
      this.at += codePoint > 0xffff ? 2 : 1
    }
    return false
  }

  /** Moves the threads that read a character of the class, up to one that matches before it. */
  private read(each: number): void {
    const { classes, end, width } = this.options
    const { kind, value, next } = this.options.program
    const { threads, ready } = this
    threads.count = 0
    for (let thread = 0; thread < ready.count; thread++) {
      const node = ready.nodes[thread]!
      const base = thread * width
      if (kind[node] === MATCH) {
        if (end >= 0 && this.at !== end) continue
        for (let slot = 0; slot < width; slot++) this.slots[slot] = ready.slots[base + slot]!
        this.slots[1] = this.at
        this.found = true
        // Threads behind it were less preferred.
        return
      }
      if (!classes.accepts(value[node]!, each)) continue
      threads.nodes[threads.count] = next[node]![0]!
      const to = threads.count * width
      for (let slot = 0; slot < width; slot++) threads.slots[to + slot] = ready.slots[base + slot]!
      threads.count++
    }
  }

  /** Adds what is reached from `node` without reading, each node once a place. */
  private follow(node: number, held: number): void {
    const { seen, own, ready, at } = this
    const { kind, value, slot, next } = this.options.program
    const { width } = this.options
    const { pending } = this
    let height = 0
    pending[height++] = node
    while (height > 0) {
      const each = pending[--height]!
      if (each < 0) {
        own[~each] = pending[--height]!
        continue
      }
      if (seen[each] === at) continue
      seen[each] = at
      const type = kind[each]!
      if (type === ASSERT) {
        if ((value[each]! & ~held) !== 0) continue
      } else if (type !== GO) {
        const base = ready.count * width
        ready.nodes[ready.count] = each
        for (let index = 0; index < width; index++) ready.slots[base + index] = own[index]!
        ready.count++
        continue
      }
      const where = slot[each]!
      if (where >= 2 && where < width) {
        pending[height++] = own[where]!
        pending[height++] = ~where
        own[where] = at
      }
      const to = next[each]!
      for (let index = to.length - 1; index >= 0; index--) pending[height++] = to[index]!
    }
  }
}
