// A part of a flow graph with one entry, ready to be written as structured code: the order of its blocks, dominators, and loops.

import type { Block } from './graph.js'

/**
 * A nest of loops entered at the header of an inner one: iterations of the outer loops return to that header too. They
 * go to an empty block in front of it instead, so that the inner loop is a separate loop, from which V8 can hoist code.
 */
export interface Rotated {
  readonly header: Block
  readonly inner: ReadonlySet<Block>
  readonly outer: Block
}

/** A part of a flow graph with one entry, and its structure: the order, dominators and loops of its blocks. */
export class Region {
  readonly entry: Block
  /** Reverse postorder; a block's index in it is its rank. */
  readonly order: readonly Block[]
  readonly rank: ReadonlyMap<Block, number>
  readonly dominator = new Map<Block, Block>()
  /** Loop headers → the blocks of the loop, including the header. */
  readonly loops = new Map<Block, Set<Block>>()
  /** Incoming edges other than back edges. */
  readonly forwardEdges = new Map<Block, number>()
  private readonly edges: (block: Block) => readonly Block[]
  private readonly rotated: Rotated | null

  /**
   * `edges` gives the successors of a block, including handlers; the caller omits those outside the region. A region
   * that is entered at the start of an inner loop is `rotated`.
   */
  constructor(entry: Block, edges: (block: Block) => readonly Block[], rotated: Rotated | null = null) {
    this.entry = rotated === null ? entry : rotated.outer
    this.edges =
      rotated === null
        ? edges
        : (block) => (block === rotated.outer ? [entry] : edges(block).map((to) => this.findGoal(block, to)))
    this.rotated = rotated
    this.order = reversePostorder(this.entry, this.edges)
    this.rank = new Map(this.order.map((block, at) => [block, at]))
    this.findDominators()
    this.findLoops()
  }

  /** Where an edge between two blocks of the function leads in this region. */
  findGoal(from: Block, to: Block): Block {
    const { rotated } = this
    return rotated !== null && to === rotated.header && from !== rotated.outer && !rotated.inner.has(from) ? rotated.outer : to
  }

  private findDominators(): void {
    const predecessors = this.listPredecessors()
    this.dominator.set(this.entry, this.entry)
    for (let changed = true; changed;) {
      changed = false
      for (const block of this.order) {
        if (block === this.entry) continue
        let common: Block | null = null
        for (const each of predecessors.get(block)!) {
          if (!this.dominator.has(each)) continue
          common = common === null ? each : this.findCommonDominator(common, each)
        }
        if (common !== null && this.dominator.get(block) !== common) {
          this.dominator.set(block, common)
          changed = true
        }
      }
    }
  }

  private findCommonDominator(one: Block, other: Block): Block {
    let a = one
    let b = other
    while (a !== b) {
      if (this.rank.get(a)! > this.rank.get(b)!) a = this.dominator.get(a)!
      else b = this.dominator.get(b)!
    }
    return a
  }

  listPredecessors(): Map<Block, Block[]> {
    const map = new Map<Block, Block[]>(this.order.map((block) => [block, []]))
    for (const block of this.order) for (const each of this.edges(block)) map.get(each)!.push(block)
    return map
  }

  dominates(one: Block, other: Block): boolean {
    let at = other
    while (at !== one && at !== this.entry) at = this.dominator.get(at)!
    return at === one
  }

  private findLoops(): void {
    const predecessors = this.listPredecessors()
    for (const block of this.order) {
      for (const to of this.edges(block)) {
        if (this.rank.get(to)! > this.rank.get(block)!) {
          this.forwardEdges.set(to, (this.forwardEdges.get(to) ?? 0) + 1)
          continue
        }
        // An irreducible graph, which JavaScript cannot express. Our compiler emits none; chunks from elsewhere may.
        if (!this.dominates(to, block)) throw new Refusal('a jump into the middle of a loop')
        const body = this.loops.get(to) ?? new Set([to])
        this.loops.set(to, body)
        const pending = [block]
        while (pending.length > 0) {
          const each = pending.pop()!
          if (body.has(each)) continue
          body.add(each)
          pending.push(...predecessors.get(each)!)
        }
      }
    }
  }
}

/** Why a piece of code stays in the base tier. */
export class Refusal extends Error {}

function reversePostorder(entry: Block, edges: (block: Block) => readonly Block[]): Block[] {
  const order: Block[] = []
  const seen = new Set([entry])
  const stack: { readonly block: Block; readonly more: Block[] }[] = [{ block: entry, more: [...edges(entry)] }]
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!
    const next = top.more.pop()
    if (next === undefined) {
      order.push(top.block)
      stack.pop()
    } else if (!seen.has(next)) {
      seen.add(next)
      stack.push({ block: next, more: [...edges(next)] })
    }
  }
  return order.reverse()
}
