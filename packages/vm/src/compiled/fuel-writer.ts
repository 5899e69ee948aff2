// The fuel of a unit: taken from the machine at fuel points, or kept in a variable while a quiet loop (quiet.ts) runs, which
// checks the most that an iteration may use once.

import { LINKED } from '../interpreter/linked.js'
import { FLOAT, NUMBER } from './entry-types.js'
import { findWrite } from './operands.js'
import type { Instr } from '../interpreter/linked.js'
import type { Block } from './graph.js'
import type { InlinedCalls } from './inlined-calls.js'
import type { WholeWriter } from './unit.js'

export class FuelWriter {
  /** Fuel used in a quiet loop and not subtracted yet. */
  owed = 0
  private readonly needs = new Map<Block, number>()
  /** Slots that quiet loops write. */
  private computed: ReadonlySet<number> | null = null
  private readonly whole: WholeWriter
  private readonly calls: InlinedCalls

  constructor(whole: WholeWriter, calls: InlinedCalls) {
    this.whole = whole
    this.calls = calls
  }

  /** An expression for the remaining fuel. */
  get left(): string {
    if (!this.whole.isQuiet) return 'm.fuel'
    const { host } = this.whole
    if (host !== null) return host.fuel
    return this.owed === 0 ? 'u' : `(u-${this.owed})`
  }

  /** Writes the fuel back. */
  refill(): string {
    return this.whole.isQuiet ? `m.fuel=${this.left};` : ''
  }

  /** For a unit that begins in a quiet loop. */
  enter(entry: Block): string {
    return this.draw() + this.askForCallees(entry) + this.reserve(entry)
  }

  /** On the edge from one block to another. */
  move(from: Block, to: Block): string {
    if (this.whole.host !== null) return ''
    if (!this.whole.quiet.has(to)) {
      const text = this.refill()
      this.owed = 0
      return text + (this.whole.isQuiet ? this.writeRenewed(to) : '')
    }
    let text = this.whole.isQuiet ? '' : this.draw()
    const isFollowed = !this.whole.isLabelled(to) && !this.whole.region.loops.has(to)
    if (this.owed > 0 && !isFollowed) {
      text += `u=u-${this.owed}|0;`
      this.owed = 0
    }
    if (!this.whole.isQuiet || this.findOutermostQuiet(from) !== this.findOutermostQuiet(to)) text += this.askForCallees(to)
    // LOOP has checked it.
    const isSame = this.whole.isQuiet && this.findInnermost(from) === this.findInnermost(to)
    if (isSame && !(this.whole.region.loops.has(to) && from.last.op !== LINKED.LOOP)) return text
    return text + this.reserve(to)
  }

  /**
   * Copies what a quiet loop computed into new values. V8 spills values that live across calls, and would spill the loop variables with
   * them, so that each iteration waits for memory. V8 does not see that these operations do nothing.
   */
  private writeRenewed(to: Block): string {
    this.computed ??= new Set([...this.whole.quiet].flatMap(({ instrs }) => instrs.map(findWrite)))
    let text = ''
    for (const slot of this.computed) {
      if (slot < 0 || to.live[slot] === 0) continue
      if (this.whole.types[slot] === FLOAT) text += `${this.whole.raw(slot)}=-(-${this.whole.raw(slot)});`
      else if (this.whole.types[slot] === NUMBER) text += `${this.whole.any(slot)}=${this.whole.any(slot)}+1-1;`
    }
    return text
  }

  /** Leaves before a part of a quiet loop that may need more fuel than there is. */
  private reserve(to: Block): string {
    const need = this.computeNeed(to)
    return need === 0 ? '' : `if(${this.writeFuelLeft(this.owed)}<${need}){${this.whole.exit(findFirst(to))}}`
  }

  private writeFuelLeft(owed: number): string {
    return owed === 0 ? 'u' : `u-${owed}`
  }

  /** Leaves before a quiet loop whose calls cannot be inlined as assumed: the conditions for that are constant within the loop. */
  private askForCallees(to: Block): string {
    const header = this.findOutermostQuiet(to)
    if (header === null) return ''
    const names = new Map<string, Instr>()
    const methods = new Set<string>()
    let hasCalls = false
    for (const { instrs } of this.whole.region.loops.get(header)!) {
      for (const i of instrs) {
        const found = this.whole.guessed.inlined.get(i)
        if (found === undefined) continue
        hasCalls = true
        if (i.op === LINKED.CALL_METHOD) methods.add(this.calls.writeLastReceiver(i))
        if (found.origin !== null) names.set(this.calls.writeClosureTest(found.call.code, found.origin, this.whole.any(i.b)), i)
      }
    }
    if (!hasCalls) return ''
    const exit = this.whole.exit(findFirst(to))
    const forgets = [...methods].map((last) => `${last}=Struct;`).join('')
    return `${forgets}if(z){${exit}}${[...names].map(([name, i]) => `if(!${name}){missed(${this.whole.place(i)});${exit}}`).join('')}`
  }

  private findOutermostQuiet(block: Block): Block | null {
    let found: Block | null = null
    let size = 0
    for (const [header, loop] of this.whole.region.loops) {
      if (!loop.has(block) || loop.size <= size || ![...loop].every((each) => this.whole.quiet.has(each))) continue
      found = header
      size = loop.size
    }
    return found
  }

  private findInnermost(block: Block): Block | null {
    let found: Block | null = null
    let size = Infinity
    for (const [header, loop] of this.whole.region.loops) {
      if (!loop.has(block) || loop.size >= size) continue
      found = header
      size = loop.size
    }
    return found
  }

  /** The most fuel that an iteration of the innermost loop around a block uses, without its LOOP and inner loops. */
  private computeNeed(block: Block): number {
    const header = this.findInnermost(block)
    if (header === null) return 0
    const known = this.needs.get(header)
    if (known !== undefined) return known
    let need = 0
    for (const each of this.whole.region.loops.get(header)!) {
      if (this.findInnermost(each) === header) for (const i of each.instrs) if (this.whole.guessed.inlined.has(i)) need++
    }
    this.needs.set(header, need)
    return need
  }

  /** The fuel point of a backward jump. */
  writeTurn(i: Instr, block: Block): string {
    if (!this.whole.isQuiet || this.whole.host !== null) return `if(--${this.left}<0){${this.left}++;${this.whole.exit(i)}}`
    const need = this.computeNeed(block)
    const taken = this.owed + 1
    this.owed = 0
    const out = `u++;${this.whole.exit(i)}`
    // Truncated to 32 bits, which hold any slice: V8 needs no overflow check then.
    const take = `(u=u-${taken}|0)`
    if (need === 0) return `if(${take}<0){${out}}`
    return `if(${take}<${need}){if(u<0){${out}}${this.whole.exit(findFirst(block.successors[0]!))}}`
  }

  /** Takes the fuel from the machine at the start of a quiet loop. */
  private draw(): string {
    return 'u=m.fuel|0;z=d>=m.deepest||d>=m.limits.frames;'
  }
}

/** The instruction that runs first in a block, which may be an empty one before a loop. */
function findFirst(block: Block): Instr {
  return block.instrs.length > 0 ? block.first : block.successors[0]!.first
}
