// Where the code of each block goes: inside its dominator's, or behind a loop that it is not part of; and which blocks are targets of a break.

import { findChain } from './chains.js'
import type { Chain, Way } from './chains.js'
import type { Block } from './graph.js'
import type { Region } from './region.js'

/** Blocks whose code is inside that of another, and after it. */
export interface Children {
  readonly inside: Block[]
  readonly behind: Block[]
}

export class Layout {
  readonly children = new Map<Block, Children>()
  /** Blocks that are targets of a break. */
  readonly labelled = new Set<Block>()
  /** By the block at whose end they begin. */
  readonly chains = new Map<Block, Chain>()
  private readonly region: Region
  private readonly quiet: ReadonlySet<Block>

  constructor(region: Region, quiet: ReadonlySet<Block>) {
    this.region = region
    this.quiet = quiet
    this.placeBlocks()
    this.findChains()
  }

  /** Inside its dominator, or after the outermost loop that it is not part of. */
  private placeBlocks(): void {
    const { region } = this
    for (const block of region.order) {
      if (block === region.entry) continue
      const dominator = region.dominator.get(block)!
      let outermost: Block | null = null
      for (let at = dominator; ; at = region.dominator.get(at)!) {
        const loop = region.loops.get(at)
        if (loop?.has(dominator) === true && !loop.has(block)) outermost = at
        if (at === region.entry) break
      }
      if (outermost !== null) {
        this.getChildren(outermost).behind.push(block)
        this.labelled.add(block)
      } else if ((region.forwardEdges.get(block) ?? 0) > 1) {
        this.getChildren(dominator).inside.push(block)
        this.labelled.add(block)
      }
    }
  }

  private findChains(): void {
    const { region } = this
    const skipped = new Set<Block>()
    for (const head of region.order) {
      const chain = skipped.has(head) ? null : findChain(head, (way) => this.follows(way))
      if (chain === null) continue
      this.chains.set(head, chain)
      // Code after a block of a chain, which has no code itself, goes after the chain.
      for (const each of chain.skipped) {
        skipped.add(each)
        this.getChildren(head).inside.push(...this.getChildren(each).inside.splice(0))
      }
    }
  }

  private getChildren(block: Block): Children {
    const known = this.children.get(block)
    if (known !== undefined) return known
    const made = { inside: [], behind: [] }
    this.children.set(block, made)
    return made
  }

  /** Whether a block is written where its predecessor ends, and means the same there. */
  private follows({ from, to }: Way): boolean {
    const { region, quiet } = this
    if (!region.rank.has(to) || region.findGoal(from, to) !== to || to.instrs.length === 0) return false
    return !this.labelled.has(to) && !region.loops.has(to) && quiet.has(from) === quiet.has(to)
  }
}
