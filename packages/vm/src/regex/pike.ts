// The machine that does what no other can: any program on any text, by threads that go on side by side, most preferred first, each
// with its captures (a Pike machine). It takes time in proportion to program and text, and is the slowest; searches come here when a
// table of states would explode, and captures when a span is too long to be walked with marks.

import { EDGE_CLASS } from './classes.js'
import type { CharClasses } from './classes.js'
import { isPairBefore } from './dfa.js'
import { ASSERT, GO, MATCH, conditionsBetween } from './program.js'
import type { Program } from './program.js'

/** Nodes that threads stand at, in order, with their captures beside them. */
interface Threads {
  count: number
  readonly nodes: Int32Array
  readonly slots: Int32Array
}

/**
 * Fills `slots` with the places of the leftmost match at `from` or behind, -1 for groups that took no part, and says whether there is
 * one. With an `end` the match must begin at `from` and end there.
 */
export function pikeSearch(
  program: Program,
  classes: CharClasses,
  text: string,
  from: number,
  slots: number[],
  end = -1,
): boolean {
  const { kind, value, next } = program
  const width = slots.length
  const size = kind.length
  const make = (): Threads => ({ count: 0, nodes: new Int32Array(size), slots: new Int32Array(size * width) })
  const threads = make()
  const ready = make()
  const seen = new Int32Array(size).fill(-1)
  const initial = new Int32Array(width).fill(-1)
  let found = false
  let before = classes.info(
    from === 0 ? EDGE_CLASS : classes.of(isPairBefore(text, from) ? text.codePointAt(from - 2)! : text.charCodeAt(from - 1)),
  )
  for (let at = from; ;) {
    const codePoint = at < text.length ? text.codePointAt(at)! : -1
    const each = codePoint < 0 ? EDGE_CLASS : classes.of(codePoint)
    const behind = classes.info(each)
    const walk = { program, ready, seen, mark: at, at, held: conditionsBetween(before, behind) }
    ready.count = 0
    for (let thread = 0; thread < threads.count; thread++) {
      const base = thread * width
      follow(walk, threads.nodes[thread]!, threads.slots.subarray(base, base + width))
    }
    if (!found && (end < 0 ? !program.anchored || at === 0 : at === from)) {
      initial[0] = at
      follow(walk, program.start, initial)
    }
    threads.count = 0
    for (let thread = 0; thread < ready.count; thread++) {
      const node = ready.nodes[thread]!
      const base = thread * width
      if (kind[node] === MATCH) {
        if (end >= 0 && at !== end) continue
        for (let slot = 0; slot < width; slot++) slots[slot] = ready.slots[base + slot]!
        slots[1] = at
        found = true
        // Threads behind it were less preferred.
        break
      }
      if (!classes.accepts(value[node]!, each)) continue
      threads.nodes[threads.count] = next[node]![0]!
      threads.slots.set(ready.slots.subarray(base, base + width), threads.count * width)
      threads.count++
    }
    const over = codePoint < 0 || (end >= 0 && at >= end)
    if (over || (threads.count === 0 && (found || end >= 0 || program.anchored))) return found
    before = behind
    at += codePoint > 0xffff ? 2 : 1
  }
}

interface Walk {
  readonly program: Program
  readonly ready: Threads
  readonly seen: Int32Array
  readonly mark: number
  readonly at: number
  readonly held: number
}

/** Adds what is reached from `node` without reading, each node once a place. */
function follow({ program, ready, seen, mark, at, held }: Walk, node: number, slots: Int32Array): void {
  const { kind, value, slot, next } = program
  const width = slots.length
  // What is to be visited; below 0: the slot ~n gets back what it held, which lies under it.
  const pending: number[] = [node]
  const own = slots.slice()
  while (pending.length > 0) {
    const each = pending.pop()!
    if (each < 0) {
      own[~each] = pending.pop()!
      continue
    }
    if (seen[each] === mark) continue
    seen[each] = mark
    const type = kind[each]!
    if (type === ASSERT) {
      if ((value[each]! & ~held) !== 0) continue
    } else if (type !== GO) {
      ready.nodes[ready.count] = each
      ready.slots.set(own, ready.count * width)
      ready.count++
      continue
    }
    const where = slot[each]!
    if (where >= 0 && where < width) {
      pending.push(own[where]!, ~where)
      own[where] = at
    }
    const to = next[each]!
    for (let index = to.length - 1; index >= 0; index--) pending.push(to[index]!)
  }
}
