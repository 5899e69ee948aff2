// The flow graph of a function's linked instructions: basic blocks, loops, and which slots are live where. Computed once per function,
// on demand, from code only, never from values. A script may be one function of thousands of statements, so everything here
// takes time proportional to its code: facts are in arrays by block, slots are bit sets, a block is visited again only when
// its inputs have changed, and what only compiling needs is computed on request.

import { LINKED } from '../interpreter/linked.js'
import { mayFault, listReads, listSuccessors, findWrite } from './operands.js'
import { readBit, HandlerTable, InstrNumbers, put, Scopes, Sources, Work } from './slot-sets.js'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'

export class Block {
  /** Index in code order. */
  readonly index: number
  readonly instrs: readonly Instr[]
  /** In a handler's block: the slot that takes the fault. */
  readonly faultSlot: number
  private readonly graph: FlowGraph
  private to: readonly Block[] | null
  private bytes: Uint8Array | null

  /** `to` and `live` are computed from the graph if they are not given. */
  constructor(
    graph: FlowGraph,
    index: number,
    instrs: readonly Instr[],
    faultSlot: number,
    to: readonly Block[] | null = null,
    live: Uint8Array | null = null,
  ) {
    this.graph = graph
    this.index = index
    this.instrs = instrs
    this.faultSlot = faultSlot
    this.to = to
    this.bytes = live
  }

  /** Successors, a jump's target last. */
  get successors(): readonly Block[] {
    return (this.to ??= this.graph.listSuccessors(this))
  }

  /** The handler that takes faults of this block, null where they leave the function. */
  get handler(): Block | null {
    return this.graph.findHandler(this)
  }

  /**
   * Whether this is only the test that ends a `for`, and compiled code comes here only at the end: an item takes the edge
   * past it (NEXT). Then only the target follows.
   */
  get isEnd(): boolean {
    return this.graph.isEnd(this)
  }

  /** Slots live at the start, one byte each. */
  get live(): Uint8Array {
    return (this.bytes ??= this.graph.listLiveAtStart(this))
  }

  get first(): Instr {
    return this.instrs[0]!
  }

  get last(): Instr {
    return this.instrs[this.instrs.length - 1]!
  }
}

/** The code of a loop, from its first block to the last one that jumps back, and its number of instructions. */
export interface LoopRange {
  readonly from: number
  readonly to: number
  readonly instrs: number
}

/** By instruction of a block, sets of slots: live before it runs, and while it waits for its result. */
interface Inside {
  readonly before: Int32Array
  readonly waiting: Int32Array
}

/** Words of code, and words times slots, up to which a function has a graph: building it must fit into a slice. */
const LONGEST = 1 << 15
const LARGEST = 1 << 21

/** The graph of a function, built on first use; null for a function that is too large. */
export function getGraph(code: FunctionCode): FlowGraph | null {
  const { length } = code.chunk.code
  if (length > LONGEST || length * code.frameSize > LARGEST) return null
  // The cache holds nothing else.
  return (code.compiled.graph ??= new FlowGraph(code)) as FlowGraph
}

const NONE = -1

export class FlowGraph {
  readonly code: FunctionCode
  /** Number of blocks. They are in code order, so that only back edges of loops lead to an earlier one. */
  readonly size: number
  private readonly handlers: HandlerTable
  private readonly scopes: Scopes
  /** Words per set of slots. */
  private readonly words: number
  /** Leaders of blocks → the block's index. */
  private readonly numbers: InstrNumbers
  // ---- by block
  private readonly firsts: readonly Instr[]
  private readonly lasts: Instr[] = []
  private readonly lengths: Int32Array
  /** Two per block: its successors, a jump's target last. */
  private readonly nexts: Int32Array
  private readonly catchers: Int32Array
  private readonly faultSlots: Int32Array
  private readonly ends: Uint8Array
  /** Whether it is reachable. An unreachable block is in the graph only if it is a handler. */
  private readonly known: Uint8Array
  /** Slots that certainly hold a value at the start. */
  private readonly assigned: Int32Array
  /** Slots live at the start. */
  private readonly lives: Int32Array
  private readonly made: (Block | undefined)[]
  // ---- computed on request
  private readonly inside = new Map<number, Inside>()
  private loops: readonly LoopRange[] | null = null
  private sources: Sources | null = null
  // Counting memory asks for the same few positions of each function repeatedly.
  private readonly before = new Map<Instr, readonly number[]>()
  private readonly waiting = new Map<Instr, readonly number[]>()

  constructor(code: FunctionCode) {
    this.code = code
    this.handlers = new HandlerTable(code)
    this.scopes = new Scopes(code.chunk.locals, code.frameSize)
    this.words = (code.frameSize + 31) >> 5
    this.numbers = new InstrNumbers(code.chunk.code.length)
    this.firsts = this.findLeaders()
    this.size = this.firsts.length
    this.lengths = new Int32Array(this.size)
    this.nexts = new Int32Array(2 * this.size).fill(NONE)
    this.catchers = new Int32Array(this.size).fill(NONE)
    this.faultSlots = new Int32Array(this.size).fill(NONE)
    this.made = new Array<Block | undefined>(this.size).fill(undefined)
    this.cut()
    this.ends = this.findEnds()
    this.known = new Uint8Array(this.size)
    this.assigned = this.findAssigned()
    this.lives = this.solveLiveness()
  }

  get entry(): Block {
    return this.findBlock(this.code.entry)!
  }

  /** All blocks. In a large function, single blocks are computed separately. */
  listBlocks(): Block[] {
    return this.firsts.map((_, index) => this.getBlock(index))
  }

  /** The block that starts with `instr`, undefined when none does. */
  findBlock(instr: Instr): Block | undefined {
    const index = this.numbers.get(instr)
    return index === NONE ? undefined : this.getBlock(index)
  }

  listSuccessors({ index }: Block): Block[] {
    const to: Block[] = []
    for (let way = 2 * index; way < 2 * index + 2; way++) if (this.nexts[way] !== NONE) to.push(this.getBlock(this.nexts[way]!))
    return to
  }

  isEnd({ index }: Block): boolean {
    return this.ends[index] === 1
  }

  findHandler({ index }: Block): Block | null {
    const handler = this.catchers[index] ?? NONE
    return handler === NONE ? null : this.getBlock(handler)
  }

  /** Slots live at the start of a block, one byte each. */
  listLiveAtStart({ index }: Block): Uint8Array {
    const row = index * this.words
    return Uint8Array.from({ length: this.code.frameSize }, (_, slot) => readBit(this.lives, row, slot))
  }

  /** Slots live before `instr` runs. Undefined for an instruction that no path reaches. */
  listLiveBefore(instr: Instr): readonly number[] | undefined {
    return this.recallLive(this.before, instr, true)
  }

  /** Slots live after `instr` has run, without its own result: what a frame that waits for the result needs. */
  listLiveWhileWaiting(instr: Instr): readonly number[] | undefined {
    return this.recallLive(this.waiting, instr, false)
  }

  /** The loops whose code contains a block, outer ones first. The block need not be part of them. */
  listLoopsAround({ index }: Block): LoopRange[] {
    this.loops ??= this.findLoops()
    return this.loops.filter(({ from, to }) => from <= index && index <= to)
  }

  /**
   * Whether the value of `slot` at the start of a block was made by a `for` over a literal range: then only that
   * loop references the iterator. Checked on every path that leads there.
   */
  isOwnIterator({ index: start }: Block, slot: number): boolean {
    this.sources ??= new Sources(this.size, [this.nexts])
    const work = new Work(this.size)
    const seen = new Uint8Array(this.size)
    this.sources.addSources(start, work)
    for (let index = work.takeAfter(NONE); index !== NONE; index = work.takeAfter(index)) {
      if (seen[index] === 1) continue
      seen[index] = 1
      const { instrs } = this.getBlock(index)
      const last = instrs.findLastIndex((i) => findWrite(i) === slot || (i.op === LINKED.NEXT && i.d === slot))
      if (last < 0) {
        if (index === this.entry.index || this.faultSlots[index] !== NONE) return false
        this.sources.addSources(index, work)
        continue
      }
      const { op, b } = instrs[last]!
      if (op !== LINKED.ITERATE) return false
      const source = instrs.slice(0, last).findLast((i) => findWrite(i) === b)
      if (source?.op !== LINKED.BUILD_RANGE) return false
    }
    return true
  }

  private findLoops(): LoopRange[] {
    const lasts = new Map<number, number>()
    const instrsBefore = [0]
    for (let index = 0; index < this.size; index++) {
      instrsBefore.push(instrsBefore[index]! + this.lengths[index]!)
      for (const to of this.nexts.subarray(2 * index, 2 * index + 2)) if (to !== NONE && to <= index) lasts.set(to, index)
    }
    const ranges = [...lasts].map(([from, to]) => ({ from, to, instrs: instrsBefore[to + 1]! - instrsBefore[from]! }))
    return ranges.sort((one, other) => one.from - other.from || other.to - one.to)
  }

  private recallLive(answers: Map<Instr, readonly number[]>, instr: Instr, before: boolean): readonly number[] | undefined {
    const known = answers.get(instr)
    if (known !== undefined) return known
    const block = this.findBlockWith(instr)
    if (block === undefined) return undefined
    const inside = this.computeInside(block)
    const row = block.instrs.indexOf(instr) * this.words
    const sets = before ? inside.before : inside.waiting
    const slots: number[] = []
    for (let slot = 0; slot < this.code.frameSize; slot++) if (readBit(sets, row, slot) === 1) slots.push(slot)
    answers.set(instr, slots)
    return slots
  }

  /** The block of `instr`. Two blocks may begin at one position: the code after a YIELD may have no position of its own. */
  private findBlockWith(instr: Instr): Block | undefined {
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.firsts[middle]!.pc <= instr.pc) low = middle + 1
      else high = middle
    }
    for (let index = low - 1; index >= 0; index--) {
      const block = this.getBlock(index)
      if (block.instrs.includes(instr)) return block
      if (block.last.pc < instr.pc) return undefined
    }
    return undefined
  }

  private getBlock(index: number): Block {
    const known = this.made[index]
    if (known !== undefined) return known
    const instrs: Instr[] = []
    for (let i = this.firsts[index]!; instrs.length < this.lengths[index]!; i = i.next) instrs.push(i)
    return (this.made[index] = new Block(this, index, instrs, this.faultSlots[index]!))
  }

  // ---- where blocks begin and end

  /** First instructions of the blocks, in the order of code; `numbers` holds a block's index for each. */
  private findLeaders(): Instr[] {
    const { code, numbers, handlers } = this
    for (const start of code.listBlockStarts()) numbers.set(start, LEADER)
    const pending: Instr[] = []
    const reach = (leader: Instr): void => {
      if (numbers.get(leader) === REACHED) return
      numbers.set(leader, REACHED)
      pending.push(leader)
    }
    reach(code.entry)
    for (const { target } of code.chunk.handlers) {
      const first = code.findBlockAt(target)
      // Handlers of code that is never reached have no first instruction.
      if (first !== undefined) reach(first)
    }
    while (pending.length > 0) {
      for (let i = pending.pop()!; ;) {
        const more = listSuccessors(i)
        if (more !== null) {
          for (const each of more) reach(each)
          break
        }
        const { next } = i
        // A block also begins where the scope of a handler begins or ends, and where a generator resumes and compiled code is entered.
        if (numbers.get(next) !== NONE || i.op === LINKED.YIELD || handlers.at(i.pc) !== handlers.at(next.pc)) {
          reach(next)
          break
        }
        i = next
      }
    }
    const leaders = numbers.listInstrs().filter((leader) => numbers.get(leader) === REACHED)
    for (const leader of numbers.listInstrs()) if (numbers.get(leader) === LEADER) numbers.set(leader, NONE)
    for (let index = 0; index < leaders.length; index++) numbers.set(leaders[index]!, index)
    return leaders
  }

  private cut(): void {
    const { code, numbers, handlers } = this
    for (let index = 0; index < this.size; index++) {
      let i = this.firsts[index]!
      let length = 1
      let faults = mayFault(i)
      let more = listSuccessors(i)
      while (more === null && numbers.get(i.next) === NONE) {
        i = i.next
        length++
        faults ||= mayFault(i)
        more = listSuccessors(i)
      }
      this.lasts.push(i)
      this.lengths[index] = length
      if (more === null) this.nexts[2 * index] = numbers.get(i.next)
      else for (let way = 0; way < more.length; way++) this.nexts[2 * index + way] = numbers.get(more[way]!)
      const which = faults ? handlers.at(this.firsts[index]!.pc) : NONE
      if (which === NONE) continue
      const { target, depth } = code.chunk.handlers[which]!
      const handler = numbers.get(code.findBlockAt(target)!)
      this.catchers[index] = handler
      this.faultSlots[handler] = code.chunk.slots + depth
    }
  }

  /** See Block.isEnd. */
  private findEnds(): Uint8Array {
    const ends = new Uint8Array(this.size)
    const others = new Uint8Array(this.size)
    for (let index = 0; index < this.size; index++) {
      const last = this.lasts[index]!
      const handler = this.catchers[index]!
      if (handler !== NONE) others[handler] = 1
      for (let way = 0; way < 2; way++) {
        const to = this.nexts[2 * index + way]!
        if (to === NONE) continue
        const first = this.firsts[to]!
        const isEndOfLoop = last.op === LINKED.NEXT && way === 0 && first.op === LINKED.JEND && first.b === last.a
        if (isEndOfLoop) ends[to] = 1
        else others[to] = 1
      }
    }
    for (let index = 0; index < this.size; index++) if (others[index] === 1) ends[index] = 0
    return ends
  }

  // ---- which slots hold something

  /** A variable's scope may begin before its first assignment; until then its slot holds the previous value. */
  private findAssigned(): Int32Array {
    const { words, known, nexts } = this
    const assigned = new Int32Array(this.size * words)
    const work = new Work(this.size)
    const state = new Int32Array(words)
    const meet = (index: number, more: number): void => {
      const row = index * words
      let changed = known[index] === 0
      for (let word = 0; word < words; word++) {
        const given = state[word]! | (more >> 5 === word ? 1 << (more & 31) : 0)
        const both = known[index] === 0 ? given : assigned[row + word]! & given
        if (both !== assigned[row + word]) changed = true
        assigned[row + word] = both
      }
      known[index] = 1
      if (changed) work.add(index)
    }
    for (let slot = 0; slot < this.code.paramCount; slot++) put(state, 0, slot)
    meet(this.entry.index, NONE)
    for (let index = work.takeAfter(NONE); index !== NONE; index = work.takeAfter(index)) {
      for (let word = 0; word < words; word++) state[word] = assigned[index * words + word]!
      const handler = this.catchers[index]!
      let caught = handler === NONE
      let i = this.firsts[index]!
      for (let left = this.lengths[index]!; left > 0; left--) {
        // The assigned slots only grow, so the first fault gives the set that holds for all.
        if (!caught && mayFault(i)) {
          meet(handler, this.faultSlots[handler]!)
          caught = true
        }
        const result = findWrittenSlot(i)
        if (result >= 0) put(state, 0, result)
        i = i.next
      }
      const last = this.lasts[index]!
      for (let way = 0; way < 2; way++)
        if (nexts[2 * index + way] !== NONE) meet(nexts[2 * index + way]!, findSlotWrittenByJump(last, way))
    }
    return assigned
  }

  // ---- which slots are live

  private solveLiveness(): Int32Array {
    const { size, words, nexts, assigned } = this
    const lives = new Int32Array(size * words)
    // What a block reads before it writes, or has to keep; and what it writes.
    const uses = new Int32Array(size * words)
    const writes = new Int32Array(size * words)
    const work = new Work(size)
    for (let index = 0; index < size; index++) {
      const row = index * words
      let i = this.firsts[index]!
      for (let left = this.lengths[index]!; left > 0; left--) {
        this.scopes.moveTo(i.pc)
        for (let word = 0; word < words; word++)
          uses[row + word]! |= this.scopes.bits[word]! & assigned[row + word]! & ~writes[row + word]!
        for (const slot of listReads(i)) if (readBit(writes, row, slot) === 0) put(uses, row, slot)
        const result = findWrittenSlot(i)
        if (result >= 0) put(writes, row, result)
        i = i.next
      }
      work.add(index)
    }
    const sources = new Sources(size, [nexts, this.catchers])
    const live = new Int32Array(words)
    for (let index = work.takeBefore(size); index !== NONE; index = work.takeBefore(index)) {
      const row = index * words
      this.computeLiveAtEnd(index, lives, live)
      for (let word = 0; word < words; word++) live[word] = uses[row + word]! | (live[word]! & ~writes[row + word]!)
      this.addCaught(index, lives, live, 0)
      let changed = false
      for (let word = 0; word < words; word++) {
        if (lives[row + word] === live[word]) continue
        lives[row + word] = live[word]!
        changed = true
      }
      if (changed) sources.addSources(index, work)
    }
    return lives
  }

  /** After the last instruction but before its result is written: a jump that writes does so on its edge. */
  private computeLiveAtEnd(index: number, lives: Int32Array, live: Int32Array): void {
    live.fill(0)
    const last = this.lasts[index]!
    for (let way = 0; way < 2; way++) {
      const to = this.nexts[2 * index + way]!
      if (to === NONE) continue
      const written = findSlotWrittenByJump(last, way)
      for (let word = 0; word < this.words; word++) {
        const needed = lives[to * this.words + word]!
        live[word]! |= written >> 5 === word ? needed & ~(1 << (written & 31)) : needed
      }
    }
  }

  /** What the handler needs has to be live while anything in the block runs. */
  private addCaught(index: number, lives: Int32Array, sets: Int32Array, row: number): void {
    const handler = this.catchers[index]!
    if (handler === NONE) return
    const faultSlot = this.faultSlots[handler]!
    for (let word = 0; word < this.words; word++) {
      const needed = lives[handler * this.words + word]!
      sets[row + word]! |= faultSlot >> 5 === word ? needed & ~(1 << (faultSlot & 31)) : needed
    }
  }

  /** What is live at each instruction of a block. */
  private computeInside({ index, instrs }: Block): Inside {
    const known = this.inside.get(index)
    if (known !== undefined) return known
    const { words, scopes, lives } = this
    const before = new Int32Array(instrs.length * words)
    const waiting = new Int32Array(instrs.length * words)
    // A variable in scope keeps its value whether it is used again or not: permits are returned when nothing holds them, and callables
    // are looked up by name in the frames of callers.
    const assigned = this.assigned.slice(index * words, (index + 1) * words)
    for (const [at, i] of instrs.entries()) {
      scopes.moveTo(i.pc)
      for (let word = 0; word < words; word++) waiting[at * words + word] = scopes.bits[word]! & assigned[word]!
      const result = findWrittenSlot(i)
      if (result >= 0 && this.known[index] === 1) put(assigned, 0, result)
    }
    const live = new Int32Array(words)
    this.computeLiveAtEnd(index, lives, live)
    for (let at = instrs.length - 1; at >= 0; at--) {
      const i = instrs[at]!
      const row = at * words
      const result = findWrite(i)
      const own = result >> 5
      for (let word = 0; word < words; word++) {
        const kept = waiting[row + word]!
        const others = own === word ? live[word]! & ~(1 << (result & 31)) : live[word]!
        waiting[row + word] = kept | others
        live[word] = kept | (findWrittenSlot(i) >= 0 ? others : live[word]!)
      }
      this.addCaught(index, lives, waiting, row)
      this.addCaught(index, lives, live, 0)
      for (const slot of listReads(i)) put(live, 0, slot)
      before.set(live, row)
    }
    const made = { before, waiting }
    this.inside.set(index, made)
    return made
  }
}

// In `numbers`, while leaders are looked for.
const LEADER = -2
const REACHED = -3

/** The slot that holds the result at the successor, -1 for none or if that depends on the edge. */
function findWrittenSlot(i: Instr): number {
  return isJumpWithResult(i) ? NONE : findWrite(i)
}

/** The slot that a jump writes on its edge to its `which`-th successor, -1 for none. */
function findSlotWrittenByJump(i: Instr, which: number): number {
  if (!isJumpWithResult(i)) return NONE
  return which === 0 ? i.a : i.op === LINKED.NEXT ? i.d : NONE
}

function isJumpWithResult(i: Instr): boolean {
  return i.op === LINKED.NEXT || i.op === LINKED.PROPAGATE
}
