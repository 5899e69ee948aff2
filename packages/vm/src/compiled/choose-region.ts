// Which blocks become the text of a unit: a whole function, or a loop with as many of the loops around it as are not too large.

import { Block } from './graph.js'
import { Refusal, Region } from './region.js'
import type { FlowGraph, LoopRange } from './graph.js'

/** Past this V8 would not optimise the result, and compiling would hold the run up. */
const MAX_INSTRS = 1200

/** Where control may go from a block, handlers with it. */
type ListEdges = (block: Block) => Block[]

/** The region of a unit that is entered at `entry`: of the loop there, or of everything that is reached from it. */
export function chooseRegion(graph: FlowGraph, isLoop: boolean, entry: Block, listEdges: ListEdges): Region {
  return isLoop ? makeLoopRegion(graph, entry, listEdges) : makeWholeRegion(entry, listEdges)
}

/** The function, or the part of it that is reached from `entry`. */
function makeWholeRegion(entry: Block, listEdges: ListEdges): Region {
  let size = 0
  const reached = new Set([entry])
  for (const block of reached) {
    size += block.instrs.length
    if (size > MAX_INSTRS) throw new Refusal('too many instructions')
    for (const each of listEdges(block)) reached.add(each)
  }
  return new Region(entry, listEdges)
}

/**
 * The loop with the loops around it, as many of them as are not too large together. What is around those is left to the base tier,
 * as is everything behind the loop; a function may be a hundred times as large as what is looked at here.
 */
function makeLoopRegion(graph: FlowGraph, header: Block, listEdges: ListEdges): Region {
  for (const around of graph.listLoopsAround(header)) {
    const within = findCycle(header, around, listEdges)
    if (within === null) continue
    const listEdgesWithin = (block: Block): Block[] => listEdges(block).filter((each) => within.has(each))
    // Only the way back of a loop leads to an earlier block: the first one is where all of them are entered.
    let start = header
    for (const each of within) if (each.index < start.index) start = each
    const inner = new Region(start, listEdgesWithin).loops.get(header)
    if (inner === undefined || inner.size === within.size) return new Region(header, listEdgesWithin)
    const outer = new Block(graph, graph.size, [], -1, [header], header.live)
    return new Region(header, listEdgesWithin, { header, inner, outer })
  }
  throw new Refusal('too many instructions, or no way back to the start of the loop')
}

/** The blocks from which control comes back to `header` without leaving `range`; null for none and for too many of them. */
function findCycle(header: Block, { from, to, instrs }: LoopRange, listEdges: ListEdges): Set<Block> | null {
  if (instrs > 2 * MAX_INSTRS) return null
  const sources = new Map<Block, Block[]>()
  const reached = new Set([header])
  for (const block of reached) {
    for (const each of listEdges(block)) {
      if (each.index < from || each.index > to) continue
      reached.add(each)
      const known = sources.get(each)
      if (known === undefined) sources.set(each, [block])
      else known.push(block)
    }
  }
  if (!sources.has(header)) return null
  const within = new Set([header])
  let size = 0
  for (const block of within) {
    size += block.instrs.length
    for (const source of sources.get(block) ?? []) within.add(source)
  }
  return size > MAX_INSTRS ? null : within
}
