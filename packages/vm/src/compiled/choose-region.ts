// Which blocks are compiled as one unit: a whole function, or a loop with as many enclosing loops as are not too large.

import { Block } from './graph.js'
import { Refusal, Region } from './region.js'
import type { FlowGraph, LoopRange } from './graph.js'

/** Beyond this size V8 would not optimise the result, and compiling would delay the run. */
const MAX_INSTRS = 1200

/** Successors of a block, including handlers. */
type ListEdges = (block: Block) => Block[]

/** The region of a unit that is entered at `entry`: the loop there, or everything reachable from it. */
export function chooseRegion(graph: FlowGraph, isLoop: boolean, entry: Block, listEdges: ListEdges): Region {
  return isLoop ? makeLoopRegion(graph, entry, listEdges) : makeWholeRegion(entry, listEdges)
}

/** The function, or the part of it reachable from `entry`. */
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
 * The loop with as many enclosing loops as are not too large together. The base tier runs the code around and behind them:
 * a function may be a hundred times as large as a region.
 */
function makeLoopRegion(graph: FlowGraph, header: Block, listEdges: ListEdges): Region {
  for (const around of graph.listLoopsAround(header)) {
    const within = findCycle(header, around, listEdges)
    if (within === null) continue
    const listEdgesWithin = (block: Block): Block[] => listEdges(block).filter((each) => within.has(each))
    // Only back edges lead to an earlier block: the first block is the entry of all of them.
    let start = header
    for (const each of within) if (each.index < start.index) start = each
    const inner = new Region(start, listEdgesWithin).loops.get(header)
    if (inner === undefined || inner.size === within.size) return new Region(header, listEdgesWithin)
    const outer = new Block(graph, graph.size, [], -1, [header], header.live)
    return new Region(header, listEdgesWithin, { header, inner, outer })
  }
  throw new Refusal('too many instructions, or no way back to the start of the loop')
}

/** The blocks from which control returns to `header` without leaving `range`; null for none and for too many. */
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
