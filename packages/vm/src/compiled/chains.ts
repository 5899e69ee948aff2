// Chains of tests of one slot against small ints, as a `match` makes them, become a `switch`: V8 uses a table if the
// numbers are dense. Such tests use no fuel, cannot fail and have no side effects, so their number is unobservable.

import { LINKED } from '../interpreter/linked.js'
import type { Block } from './graph.js'

/** Below this length, a switch is no faster. */
const LEAST_CASES = 8

/** Where control continues, and the test block that it comes from. */
export interface Way {
  readonly from: Block
  readonly to: Block
}

export interface Chain {
  readonly slot: number
  /** In the order of the tests; for duplicate numbers the first one wins. */
  readonly cases: readonly (Way & { readonly value: number })[]
  /** Where control continues when no test holds. */
  readonly rest: Way
  /** The blocks after the first, which need no code. */
  readonly skipped: readonly Block[]
}

interface Test {
  readonly slot: number
  readonly value: number
  readonly match: Block
  readonly rest: Block
  /** Instructions that it consists of. */
  readonly size: number
}

/** The test that a block ends with. */
function readTest({ instrs, successors }: Block): Test | null {
  const last = instrs.at(-1)
  const [next, target] = successors
  if (last === undefined || next === undefined || target === undefined) return null
  if (last.op === LINKED.JNEQK) return { slot: last.b, value: last.c, match: next, rest: target, size: 1 }
  const test = instrs.at(-2)
  if (last.op !== LINKED.JT || test?.op !== LINKED.EQK || test.a !== last.b || test.b === test.a) return null
  if (next.live[test.a] === 1 || target.live[test.a] === 1) return null
  return { slot: test.b, value: test.c, match: target, rest: next, size: 2 }
}

/** The chain that begins at the end of `head`, null for none. `follows`: whether a block is written right after its predecessor. */
export function findChain(head: Block, follows: (way: Way) => boolean): Chain | null {
  let test = readTest(head)
  if (test === null) return null
  const { slot } = test
  const cases: (Way & { readonly value: number })[] = []
  const skipped: Block[] = []
  let from = head
  let rest: Way
  for (;;) {
    cases.push({ from, to: test.match, value: test.value })
    rest = { from, to: test.rest }
    while (follows(rest) && rest.to.instrs.length === 1 && rest.to.first.op === LINKED.JUMP) {
      skipped.push(rest.to)
      rest = { from: rest.to, to: rest.to.successors[0]! }
    }
    test = follows(rest) ? readTest(rest.to) : null
    if (test === null || test.slot !== slot || test.size !== rest.to.instrs.length) break
    skipped.push(rest.to)
    from = rest.to
  }
  return cases.length < LEAST_CASES ? null : { slot, cases, rest, skipped }
}
