// The flow graph of a function's linked instructions: basic blocks, the order to visit them in, dominators, natural loops, and
// which slots are live where. Computed once a function, on demand; it looks at code only, never at values.

import { LINKED } from '../interpreter/linked.js'
import { mayFault, readsOf, successorsOf, writeOf } from './operands.js'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'

export class Block {
  readonly instrs: Instr[] = []
  /** Where control goes on, a jump's target last. */
  readonly successors: Block[] = []
  /** The handler that takes faults of this block, null where they leave the function. */
  handler: Block | null = null
  /** In a handler's block: the slot that takes the fault. */
  faultSlot = -1
  /** Slots live at the start, one byte each. */
  live: Uint8Array
  readonly index: number

  constructor(index: number, frameSize: number) {
    this.index = index
    this.live = new Uint8Array(frameSize)
  }

  get first(): Instr {
    return this.instrs[0]!
  }

  get last(): Instr {
    return this.instrs[this.instrs.length - 1]!
  }
}

/** Bytes of code times slots up to which a function has a graph: which slot lives where takes that long to find out. */
const LARGEST = 1 << 21

/** The graph of a function, made when it is first asked for; null for one that is too large. */
export function graphOf(code: FunctionCode): FlowGraph | null {
  if (code.chunk.code.length * code.frameSize > LARGEST) return null
  return (code.compiled.graph ??= new FlowGraph(code))
}

export class FlowGraph {
  readonly code: FunctionCode
  readonly blocks: Block[] = []
  readonly entry: Block
  private readonly byFirst = new Map<Instr, Block>()
  private readonly home = new Map<Instr, Block>()
  // Counting memory asks for the same few places of each function again and again.
  private readonly before = new Map<Instr, readonly number[]>()
  private readonly waiting = new Map<Instr, readonly number[]>()
  /** Slots of the variables in scope at an instruction that surely hold a value there. */
  private readonly held = new Map<Instr, number[]>()

  constructor(code: FunctionCode) {
    this.code = code
    this.entry = this.build()
    this.findHeld()
    this.solveLiveness()
  }

  /** The block that starts with `instr`, undefined when none does. */
  blockOf(instr: Instr): Block | undefined {
    return this.byFirst.get(instr)
  }

  /** Slots live before `instr` runs. Undefined for an instruction that no path reaches. */
  liveBefore(instr: Instr): readonly number[] | undefined {
    return this.remembered(this.before, instr, true)
  }

  /** Slots live after `instr` has run, its own result left out: what a frame that waits for the result needs. */
  liveWhileWaiting(instr: Instr): readonly number[] | undefined {
    return this.remembered(this.waiting, instr, false)
  }

  private remembered(answers: Map<Instr, readonly number[]>, instr: Instr, before: boolean): readonly number[] | undefined {
    const known = answers.get(instr)
    if (known !== undefined) return known
    const live = this.liveness(instr, before)
    if (live === undefined) return undefined
    const slots = [...live.keys()].filter((slot) => live[slot] === 1)
    answers.set(instr, slots)
    return slots
  }

  private liveness(instr: Instr, before: boolean): Uint8Array | undefined {
    const block = this.home.get(instr)
    if (block === undefined) return undefined
    const live = this.liveAtEnd(block)
    for (let at = block.instrs.length - 1; at >= 0; at--) {
      const each = block.instrs[at]!
      if (each === instr && !before) {
        const result = writeOf(each)
        if (result >= 0) live[result] = 0
        this.addKept(block, each, live)
        return live
      }
      this.stepBack(block, each, live)
      if (each === instr) return live
    }
    return undefined
  }

  private build(): Block {
    const { code } = this
    const { handlers, slots } = code.chunk
    const targets = handlers.map((handler) => code.blockAt(handler.target))
    const leaders = new Set<Instr>([code.entry])
    const seen = new Set<Instr>()
    const pending: Instr[] = [code.entry]
    // Handlers of code that is never reached have no first instruction.
    for (const target of targets) {
      if (target === undefined) continue
      leaders.add(target)
      pending.push(target)
    }
    while (pending.length > 0) {
      for (let i: Instr | null = pending.pop()!; i !== null && !seen.has(i);) {
        seen.add(i)
        const more: Instr[] | null = successorsOf(i)
        if (more === null) {
          i = i.next
          continue
        }
        for (const each of more) {
          leaders.add(each)
          pending.push(each)
        }
        i = null
      }
    }
    // Where a handler begins or ends to apply, a block does too.
    const handlerOf = (i: Instr): number => handlers.findIndex(({ start, end }) => i.pc >= start && i.pc < end)
    for (const i of seen) if (successorsOf(i) === null && handlerOf(i) !== handlerOf(i.next)) leaders.add(i.next)
    // Where a generator goes on, compiled code is entered.
    for (const i of seen) if (i.op === LINKED.YIELD) leaders.add(i.next)
    for (const leader of leaders) {
      const block = new Block(this.blocks.length, code.frameSize)
      this.blocks.push(block)
      this.byFirst.set(leader, block)
    }
    for (const [leader, block] of this.byFirst) {
      let i = leader
      for (;;) {
        block.instrs.push(i)
        this.home.set(i, block)
        if (successorsOf(i) !== null || leaders.has(i.next)) break
        i = i.next
      }
      for (const each of successorsOf(i) ?? [i.next]) block.successors.push(this.byFirst.get(each)!)
      const handler = handlerOf(block.first)
      if (handler >= 0 && block.instrs.some(mayFault)) {
        block.handler = this.byFirst.get(targets[handler]!)!
        block.handler.faultSlot = slots + handlers[handler]!.depth
      }
    }
    return this.byFirst.get(code.entry)!
  }

  /** A variable's scope may begin before its first assignment; until then its slot holds what was there before. */
  private findHeld(): void {
    const { frameSize, paramCount, chunk } = this.code
    const atStart = new Map<Block, Uint8Array>([[this.entry, new Uint8Array(frameSize).fill(1, 0, paramCount)]])
    const pending = [this.entry]
    const meet = (to: Block, assigned: Uint8Array, more: number): void => {
      const known = atStart.get(to)
      let changed = known === undefined
      const state = known ?? assigned.slice()
      for (let slot = 0; slot < frameSize; slot++) {
        const bit = assigned[slot] === 1 || slot === more ? 1 : 0
        if (known === undefined) state[slot] = bit
        else if (state[slot]! > bit) {
          state[slot] = 0
          changed = true
        }
      }
      atStart.set(to, state)
      if (changed) pending.push(to)
    }
    while (pending.length > 0) {
      const block = pending.pop()!
      const assigned = atStart.get(block)!.slice()
      for (const i of block.instrs) {
        if (block.handler !== null && mayFault(i)) meet(block.handler, assigned, block.handler.faultSlot)
        const slots: number[] = []
        for (const local of chunk.locals)
          if (i.pc >= local.start && i.pc < local.end && assigned[local.slot] === 1) slots.push(local.slot)
        this.held.set(i, slots)
        const result = writeOf(i)
        if (result >= 0 && !isJumpWithResult(i)) assigned[result] = 1
      }
      block.successors.forEach((to, which) => {
        const { last } = block
        const written = !isJumpWithResult(last) ? -1 : which === 0 ? last.a : last.op === LINKED.NEXT ? last.d : -1
        meet(to, assigned, written)
      })
    }
  }

  private solveLiveness(): void {
    for (let changed = true; changed;) {
      changed = false
      for (let at = this.blocks.length - 1; at >= 0; at--) {
        const block = this.blocks[at]!
        const live = this.liveAtEnd(block)
        for (let each = block.instrs.length - 1; each >= 0; each--) this.stepBack(block, block.instrs[each]!, live)
        if (live.some((bit, slot) => bit !== block.live[slot])) {
          block.live = live
          changed = true
        }
      }
    }
  }

  /** Behind the last instruction but before its result is written: a jump that writes does so on its way. */
  private liveAtEnd(block: Block): Uint8Array {
    const live = new Uint8Array(this.code.frameSize)
    const { last } = block
    block.successors.forEach((successor, which) => {
      const written = which === 1 && last.op === LINKED.NEXT ? last.d : which === 1 ? -1 : isJumpWithResult(last) ? last.a : -1
      for (let slot = 0; slot < live.length; slot++) if (successor.live[slot] === 1 && slot !== written) live[slot] = 1
    })
    return live
  }

  private stepBack(block: Block, i: Instr, live: Uint8Array): void {
    const result = writeOf(i)
    if (result >= 0 && !isJumpWithResult(i)) live[result] = 0
    this.addKept(block, i, live)
    for (const slot of readsOf(i)) live[slot] = 1
  }

  /** What has to be there while `i` runs, whether or not it is used behind it. */
  private addKept({ handler }: Block, i: Instr, live: Uint8Array): void {
    if (handler !== null) {
      for (let slot = 0; slot < live.length; slot++) if (handler.live[slot] === 1 && slot !== handler.faultSlot) live[slot] = 1
    }
    // A variable in scope keeps what it holds, used again or not: permits are given back when nothing holds them, and callables
    // are looked up by name in the frames of callers.
    // Blocks that no path reaches are in the graph when they hold a handler.
    for (const slot of this.held.get(i) ?? []) live[slot] = 1
  }
}

function isJumpWithResult(i: Instr): boolean {
  return i.op === LINKED.NEXT || i.op === LINKED.PROPAGATE
}

// ---- regions

/**
 * A nest of loops that is entered at the header of an inner one: the turns of the outer loops come back to that header too. They
 * go to an empty block in front of it instead, so that the inner loop is a loop of its own, from which V8 can move work out.
 */
export interface Rotated {
  readonly header: Block
  readonly inner: ReadonlySet<Block>
  readonly outer: Block
}

/** A part of a flow graph with one entry, and what its structure is: the order, dominators and loops of its blocks. */
export class Region {
  readonly entry: Block
  /** Reverse postorder; a block's place in it is its rank. */
  readonly order: readonly Block[]
  readonly rank: ReadonlyMap<Block, number>
  readonly dominator = new Map<Block, Block>()
  /** Loop headers → the blocks of the loop, the header with them. */
  readonly loops = new Map<Block, Set<Block>>()
  /** Incoming edges that do not go back to a loop header. */
  readonly forwardEdges = new Map<Block, number>()
  private readonly edges: (block: Block) => readonly Block[]
  private readonly rotated: Rotated | null

  /**
   * `edges` gives the successors of a block, handlers with them; those outside the region are left out by the caller. A region
   * that is entered at the start of an inner loop is `rotated`.
   */
  constructor(entry: Block, edges: (block: Block) => readonly Block[], rotated: Rotated | null = null) {
    this.entry = rotated === null ? entry : rotated.outer
    this.edges =
      rotated === null ? edges : (block) => (block === rotated.outer ? [entry] : edges(block).map((to) => this.goal(block, to)))
    this.rotated = rotated
    this.order = reversePostorder(this.entry, this.edges)
    this.rank = new Map(this.order.map((block, at) => [block, at]))
    this.findDominators()
    this.findLoops()
  }

  /** Where an edge between two blocks of the function leads in this region. */
  goal(from: Block, to: Block): Block {
    const { rotated } = this
    return rotated !== null && to === rotated.header && from !== rotated.outer && !rotated.inner.has(from) ? rotated.outer : to
  }

  private findDominators(): void {
    const predecessors = this.predecessors()
    this.dominator.set(this.entry, this.entry)
    for (let changed = true; changed;) {
      changed = false
      for (const block of this.order) {
        if (block === this.entry) continue
        let common: Block | null = null
        for (const each of predecessors.get(block)!) {
          if (!this.dominator.has(each)) continue
          common = common === null ? each : this.commonDominator(common, each)
        }
        if (common !== null && this.dominator.get(block) !== common) {
          this.dominator.set(block, common)
          changed = true
        }
      }
    }
  }

  private commonDominator(one: Block, other: Block): Block {
    let a = one
    let b = other
    while (a !== b) {
      if (this.rank.get(a)! > this.rank.get(b)!) a = this.dominator.get(a)!
      else b = this.dominator.get(b)!
    }
    return a
  }

  predecessors(): Map<Block, Block[]> {
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
    const predecessors = this.predecessors()
    for (const block of this.order) {
      for (const to of this.edges(block)) {
        if (this.rank.get(to)! > this.rank.get(block)!) {
          this.forwardEdges.set(to, (this.forwardEdges.get(to) ?? 0) + 1)
          continue
        }
        // JavaScript cannot say it. Our compiler emits none; chunks from elsewhere may.
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
