// Writes the JavaScript text of one unit: a whole function, or one loop that is entered in mid-run. Blocks become structured
// code along the dominator tree (Ramsey, "Beyond Relooper"): a block with several ways in gets a label in front of which the
// ways to it break; what follows a loop stands behind it, not inside.
//
// Slots are variables: `r3` holds any value, `f3` a raw float. Where a fact ends (a join, a call, an exit), the value is put into
// its general form. No script text gets into the text but through JSON.

import { LINKED } from '../interpreter/linked.js'
import { Block } from './graph.js'
import { Refusal, Region } from './region.js'
import { chooseInlinedCalls } from './inline.js'
import { locateArguments, mayFault, listReads, findWrite } from './operands.js'
import { ANY, BOOL, COUNTER, fits, FLOAT, LIST, LIST_ITER, NUMBER, RANGE, RANGE_ITER, UNSET } from './entry-types.js'
import {
  applyAfter,
  applyBefore,
  findFloatReads,
  isRaw,
  keepsFuel,
  keepsShapes,
  solveTypes,
  usesAsContainer,
  usesAsNumber,
} from './types.js'
import { leavesCode, writeInstr } from './templates.js'
import { findQuietBlocks, listViews } from './quiet.js'
import { findChain } from './chains.js'
import { Site } from './site.js'
import { HarnList } from '../values/list.js'
import type { FlowGraph, LoopRange } from './graph.js'
import type { InstrWriter, ViewNames } from './instr-writer.js'
import type { View } from './quiet.js'
import type { Chain, Way } from './chains.js'
import type { Instr } from '../interpreter/linked.js'
import type { HarnClosure } from '../values/callable.js'
import type { Shape } from '../values/shape.js'
import type { Machine } from '../interpreter/machine.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Expectation } from './state.js'
import type { Callee, Guesses, Origin, Types } from './types.js'

/** Text with what it refers to by number. */
export interface UnitText {
  readonly text: string
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly expects: readonly Expectation[]
}

/** A whole function; a loop that is entered in mid-run; or the part of a generator from where it goes on to its next yields. */
export type UnitKind = 'function' | 'loop' | 'part' | 'callee'

/** Past this V8 would not optimise the result, and compiling would hold the run up. */
const MAX_INSTRS = 1200
const MAX_SLOTS = 120

const NO_SLOTS: ReadonlySet<number> = new Set()
const NO_SHAPES: ReadonlyMap<number, Shape> = new Map()

export interface UnitOptions {
  readonly graph: FlowGraph
  readonly kind: UnitKind
  readonly entry: Block
  /** The value of a slot where the unit is entered, for guesses. */
  readonly sample: (slot: number) => unknown
  readonly machine: Machine
  /** A closure that runs this code. */
  readonly closure: HarnClosure
}

/** What the text of a callee is part of: a call, or a loop that calls a function for every element (callbacks.ts). */
export interface Host {
  readonly shared: Shared
  readonly call: Callee
  readonly states: Map<Block, Types>
  readonly prefix: string
  /** The closure that is called. */
  readonly self: string
  /** Whether fuel is not in the machine, and what there is then. */
  readonly isQuiet: boolean
  readonly fuel: string
  /** A value that the closure took along, where the text keeps those. */
  readonly capture?: (at: number) => string
  /** An expression that may use fuel. */
  readonly calling: (text: string, isApart: boolean) => string
  readonly lookForOwners: () => string
  /** What stands behind the callee's handing over to the base tier. */
  readonly left: () => string
  /** What stands behind a fault that it raised. */
  readonly raised: () => string
  /** Takes the result, in its general form or as a raw float. */
  readonly result: (value: () => string, raw: () => string) => string
}

/** What a text has in common with those of the callees in it. */
export interface Shared {
  readonly sites: Site[]
  readonly constants: unknown[]
  readonly texts: Map<unknown, string>
  /** Variables beside those of slots are declared always; those of slots, with what they begin with, when they are used. */
  readonly slots: Map<string, string>
  readonly functions: string[]
  /** Expressions whose value is found where the unit is entered → its variable. */
  readonly tests: Map<string, string>
  labels: number
}

export class UnitWriter implements InstrWriter {
  readonly code: FunctionCode
  readonly machine: Machine
  readonly sites: Site[]
  readonly constants: unknown[]
  /** What this text is part of: null for all but the text of a callee. */
  private readonly host: Host | null
  private readonly shared: Shared
  /** In front of the names of variables and labels. */
  private readonly prefix: string = ''
  /** The closure that runs. */
  readonly self: string = 'c'
  private readonly options: UnitOptions
  private readonly graph: FlowGraph
  private readonly region: Region
  private readonly states: Map<Block, Types>
  private readonly kind: UnitKind
  /** Whether ints are assumed where nothing else was seen, and values at hand are a hint. */
  readonly guesses: boolean
  readonly guessed: Guesses
  /** What slots have to hold where the unit is entered. */
  private readonly expects: readonly Expectation[]
  private readonly children = new Map<Block, { readonly inside: Block[]; readonly behind: Block[] }>()
  private readonly labelled = new Set<Block>()
  /** Calls of methods that are taken in, numbered. */
  private readonly methods = new Map<Instr, number>()
  /** By the block at whose end they begin. */
  private readonly chains = new Map<Block, Chain>()
  private readonly written: ReadonlySet<number>
  /**
   * Slots that the text reads or writes, null for all. What lies in others stays in the frame that the base tier has; a function that is
   * called has no such frame.
   */
  private readonly touched: ReadonlySet<number> | null = null
  /** Slots that quiet loops write. */
  private computed: ReadonlySet<number> | null = null
  private changing: ReadonlySet<number> | null = null
  /** Blocks of quiet loops (quiet.ts). */
  private readonly quiet: ReadonlySet<Block>
  private readonly views: readonly View[]
  private readonly needs = new Map<Block, number>()
  /** Facts at the instruction being written. */
  types: Types = new Uint8Array(0)
  /** Whether it is in a quiet loop. */
  private isQuiet = false
  private at: Block | null = null
  /** Units of fuel that were used in a quiet loop and are not taken off yet. */
  private owed = 0
  /** Slots of which a variable holds the variant that the value has. */
  private tagged: ReadonlySet<number> = NO_SLOTS
  private asksWanted = false
  /** Slots whose value is not long, or for which there was fuel; and none was used since. */
  private paid: ReadonlySet<number> = NO_SLOTS
  /** What is known of the shapes of objects in slots, as long as nothing runs that might give one another. */
  private shapes: ReadonlyMap<number, Shape> = NO_SHAPES

  constructor(options: UnitOptions, host: Host | null = null) {
    const { graph, kind, entry, sample, machine, closure } = options
    this.options = options
    this.graph = graph
    this.code = graph.code
    this.machine = machine
    this.kind = kind
    this.host = host
    const guesses = this.code.compiled.guesses
    this.guesses = guesses
    if (host !== null) {
      const { call } = host
      this.shared = host.shared
      this.sites = host.shared.sites
      this.constants = host.shared.constants
      this.prefix = host.prefix
      this.self = host.self
      this.region = call.region
      this.guessed = call.guessed
      this.states = host.states
      this.expects = []
      this.written = new Set()
      this.quiet = host.isQuiet ? new Set(this.region.order) : new Set()
      this.views = []
      this.placeBlocks()
      return
    }
    this.shared = makeShared()
    this.sites = this.shared.sites
    this.constants = this.shared.constants
    this.region = kind === 'loop' ? this.makeLoopRegion(entry) : this.makeWholeRegion(entry)
    this.touched = this.isWhole ? null : listTouchedSlots(this.region.order)
    if ((this.touched?.size ?? this.code.frameSize) > MAX_SLOTS) throw new Refusal('too many slots')
    const types = new Uint8Array(this.code.frameSize)
    this.guessed = {
      allowed: guesses,
      floatReads: guesses ? findFloatReads(this.region.order) : new Set(),
      inlined: guesses ? chooseInlinedCalls(machine, closure, this.region.order, (slot) => this.findSteady(slot)) : new Map(),
    }
    for (const { call } of this.guessed.inlined.values()) call.code.compiled.hosts.add(this.code)
    for (let slot = 0; slot < types.length; slot++) {
      if (entry.live[slot] === 0) continue
      types[slot] = guesses ? this.guessAtEntry(slot, sample(slot)) : ANY
    }
    const leaves = (i: Instr): boolean => this.leaves(i)
    this.states = solveTypes(this.region, types, this.guessed, leaves)
    this.quiet = findQuietBlocks(this.region, this.states, this.guessed, leaves)
    this.views = listViews(this.region, this.quiet, this.states, this.guessed, leaves)
    this.chooseOwners()
    // A guess that does not hold on every way round is none.
    const atEntry = this.states.get(this.region.entry)!
    this.expects = [...types.keys()]
      .filter((slot) => types[slot]! > ANY && atEntry[slot] === types[slot])
      .map((slot) => ({ slot, type: types[slot]!, reals: types[slot] === LIST && this.holdsFloats(slot) }))
    this.written = kind === 'part' ? this.listWrittenSlots() : new Set()
    this.placeBlocks()
  }

  /** What a slot holds all the time that the text of a loop runs, undefined where that may change. */
  private findSteady(slot: number): unknown {
    const { kind, entry, sample } = this.options
    if (kind !== 'loop' || entry.live[slot] === 0) return undefined
    this.changing ??= this.listWrittenSlots()
    return this.changing.has(slot) ? undefined : sample(slot)
  }

  /** Which views are of owned lists only: those that are assigned to, unless what is there now says that this is rare. */
  private chooseOwners(): void {
    const { compiled } = this.code
    const written = this.views.filter(({ isWritten }) => isWritten)
    if (written.length > 0 && compiled.leavesToOwn === 'unasked') compiled.leavesToOwn = 'yes'
    if (compiled.leavesToOwn !== 'yes') return
    for (const view of written) {
      const list = this.options.sample(view.slot)
      view.isOwned = !(list instanceof HarnList) || list.owned
    }
  }

  private holdsFloats(slot: number): boolean {
    for (const { b } of this.guessed.floatReads) if (b === slot) return true
    return false
  }

  private makeWholeRegion(entry: Block): Region {
    let size = 0
    const reached = new Set([entry])
    for (const block of reached) {
      size += block.instrs.length
      if (size > MAX_INSTRS) throw new Refusal('too many instructions')
      for (const each of this.listEdges(block)) reached.add(each)
    }
    return new Region(entry, (block) => this.listEdges(block))
  }

  /**
   * The loop with the loops around it, as many of them as are not too large together. What is around those is left to the base tier,
   * as is everything behind the loop; a function may be a hundred times as large as what is looked at here.
   */
  private makeLoopRegion(header: Block): Region {
    for (const around of this.graph.listLoopsAround(header)) {
      const within = this.findCycle(header, around)
      if (within === null) continue
      const listEdgesWithin = (block: Block): Block[] => this.listEdges(block).filter((each) => within.has(each))
      // Only the way back of a loop leads to an earlier block: the first one is where all of them are entered.
      let start = header
      for (const each of within) if (each.index < start.index) start = each
      const inner = new Region(start, listEdgesWithin).loops.get(header)
      if (inner === undefined || inner.size === within.size) return new Region(header, listEdgesWithin)
      const outer = new Block(this.graph, this.graph.size, [], -1, [header], header.live)
      return new Region(header, listEdgesWithin, { header, inner, outer })
    }
    throw new Refusal('too many instructions, or no way back to the start of the loop')
  }

  /** The blocks from which control comes back to `header` without leaving `range`; null for none and for too many of them. */
  private findCycle(header: Block, { from, to, instrs }: LoopRange): Set<Block> | null {
    if (instrs > 2 * MAX_INSTRS) return null
    const sources = new Map<Block, Block[]>()
    const reached = new Set([header])
    for (const block of reached) {
      for (const each of this.listEdges(block)) {
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

  /** Whether the text is that of a function, which can call itself by name. */
  get isWhole(): boolean {
    return this.kind === 'function'
  }

  /** Whether the text ends at `i`. */
  private leaves(i: Instr): boolean {
    return leavesCode(i) || (this.kind === 'part' && (i.op === LINKED.RETURN || i.op === LINKED.TAIL_NAMED))
  }

  /** What stands at an instruction that leaves. */
  private writeLeaving(i: Instr): string {
    if (this.kind !== 'part' || (i.op !== LINKED.YIELD && i.op !== LINKED.RETURN)) return this.exit(i)
    if (i.op === LINKED.RETURN) return `${this.refill()}m.yieldedAt=null;return END;`
    const kept = this.graph.listLiveWhileWaiting(i)
    if (kept === undefined) throw new Refusal('code that no path reaches')
    // The iterator that a counter stands for does not know yet how far it is.
    const isStale = (slot: number): boolean => this.written.has(slot) || this.types[slot] === COUNTER
    const stores = kept.filter(isStale).map((slot) => `regs[b+${slot}]=${this.value(slot)};`)
    return `${this.refill()}${stores.join('')}m.yieldedAt=${this.place(i)};return ${this.value(i.b)};`
  }

  /** Slots that the region writes. */
  private listWrittenSlots(): Set<number> {
    const written = new Set<number>()
    for (const { instrs, faultSlot } of this.region.order) {
      if (faultSlot >= 0) written.add(faultSlot)
      for (const i of instrs) {
        written.add(findWrite(i))
        if (i.op === LINKED.NEXT) written.add(i.d)
      }
    }
    return written
  }

  private guessAtEntry(slot: number, value: unknown): number {
    const isUsed = (uses: (i: Instr, slot: number) => boolean): boolean =>
      this.region.order.some((block) => block.instrs.some((i) => uses(i, slot)))
    if (!this.code.compiled.entryGuesses) return ANY
    for (const type of [FLOAT, NUMBER]) if (fits(type, value) && isUsed(usesAsNumber)) return type
    // In a function the first access finds out; in a loop every turn would ask again.
    if (this.isWhole) return ANY
    for (const type of [LIST, RANGE_ITER, LIST_ITER]) {
      if (!fits(type, value) || !isUsed(usesAsContainer)) continue
      return type === RANGE_ITER && this.graph.isOwnIterator(this.options.entry, slot) ? COUNTER : type
    }
    return ANY
  }

  private listEdges(block: Block): Block[] {
    const leaving = block.instrs.findIndex((i) => this.leaves(i))
    const seen = leaving < 0 ? block.instrs : block.instrs.slice(0, leaving)
    const edges = leaving < 0 ? block.successors.slice(block.isEnd ? 1 : 0) : []
    if (block.handler !== null && seen.some(mayFault)) edges.push(block.handler)
    return edges
  }

  /** Where each block's text goes: inside its dominator's, or behind the outermost loop that it is not part of. */
  private placeBlocks(): void {
    const { region } = this
    const getChildren = (block: Block): { readonly inside: Block[]; readonly behind: Block[] } => {
      const known = this.children.get(block)
      if (known !== undefined) return known
      const made = { inside: [], behind: [] }
      this.children.set(block, made)
      return made
    }
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
        getChildren(outermost).behind.push(block)
        this.labelled.add(block)
      } else if ((region.forwardEdges.get(block) ?? 0) > 1) {
        getChildren(dominator).inside.push(block)
        this.labelled.add(block)
      }
    }
    const skipped = new Set<Block>()
    for (const head of region.order) {
      const chain = skipped.has(head) ? null : findChain(head, (way) => this.follows(way))
      if (chain === null) continue
      this.chains.set(head, chain)
      // What stands behind the text of a block that may have none stands behind the chain.
      for (const each of chain.skipped) {
        skipped.add(each)
        getChildren(head).inside.push(...getChildren(each).inside.splice(0))
      }
    }
  }

  /** Whether the text of a block stands where control comes to it from the one before, and means the same there. */
  private follows({ from, to }: Way): boolean {
    const { region, quiet } = this
    if (!region.rank.has(to) || region.findGoal(from, to) !== to || to.instrs.length === 0) return false
    return !this.labelled.has(to) && !region.loops.has(to) && quiet.has(from) === quiet.has(to)
  }

  write(): UnitText {
    const body = this.writeTree(this.region.entry)
    const { paramCount } = this.code
    const { entry } = this.region
    const params = Array.from({ length: paramCount }, (_, at) => `r${at}`)
    const starts: string[] = []
    const given = new Set(this.isWhole ? params : [])
    if (!this.isWhole) {
      for (let slot = 0; slot < this.code.frameSize; slot++) {
        if (entry.live[slot] === 0 || this.touched?.has(slot) === false) continue
        const type = this.expects.find((each) => each.slot === slot)?.type ?? ANY
        const name = `${type === FLOAT ? 'f' : 'r'}${slot}`
        given.add(name)
        starts.push(`let ${name}=regs[b+${slot}]${type === FLOAT ? '.v' : ''};`)
        if (type === NUMBER) starts.push(writeShort(name))
        if (type === COUNTER) starts.push(this.resumeCounter(slot))
      }
    } else if (this.expects.length > 0) {
      this.types = new Uint8Array(this.code.frameSize).fill(ANY)
      const test = this.expects
        .map(({ slot, type }) => (type === FLOAT ? `r${slot} instanceof F` : `typeof r${slot}==="number"`))
        .join('&&')
      starts.push(`if(!(${test}))${this.leave('GE', this.code.entry, true)}`)
      for (const { slot, type } of this.expects) if (type === FLOAT) starts.push(`${this.raw(slot)}=r${slot}.v;`)
    }
    let begins = ''
    if (this.quiet.has(entry)) {
      this.types = this.states.get(entry)!
      begins = this.draw() + this.askForCallees(entry) + this.reserve(entry) + this.openViews(entry, null)
    }
    for (const [test, name] of this.shared.tests) starts.push(`const ${name}=${test};`)
    starts.push(begins)
    const variables = [...this.shared.slots].filter(([name]) => !given.has(name))
    const head = [
      ...variables.map(([name, start]) => `let ${name}=${start};`),
      'let t,v,q=0,g=0,h=0,u=0,z=false;',
      this.asksWanted ? 'const wanted=m.wants===d;m.wants=-1;' : '',
      ...starts,
    ].join('')
    const constants = this.constants.map((_, at) => `const k${at}=K[${at}];`).join('')
    const inner = this.shared.functions.join('')
    const text = !this.isWhole
      ? `${constants}${inner}return function(m,c,d,regs,b){${head}${body}}`
      : `${constants}${inner}function f(${['m', 'c', 'd', ...params].join(',')}){${head}${body}}` +
        `return [f,function(m,c,d,regs,b){return f(${['m', 'c', 'd', ...params.map((_, at) => `regs[b+${at}]`)].join(',')})}]`
    return { text, sites: this.sites, constants: this.constants, expects: this.expects }
  }

  /** The text of a callee. */
  writeBody(): string {
    return this.writeTree(this.region.entry)
  }

  // ---- structure

  private writeTree(block: Block): string {
    const children = this.children.get(block)
    const sortByRank = (blocks: readonly Block[]): Block[] =>
      [...blocks].sort((one, other) => this.region.rank.get(one)! - this.region.rank.get(other)!)
    if (this.region.loops.has(block)) this.forgetSlots()
    let text = this.writeWithin(block, sortByRank(children?.inside ?? []))
    if (this.region.loops.has(block)) text = `L${block.index}:for(;;){${text}}`
    for (const each of sortByRank(children?.behind ?? []))
      text = `${this.prefix}B${each.index}:{${text}}${this.writeJoined(each)}`
    return text
  }

  private writeWithin(block: Block, inside: readonly Block[]): string {
    let text = this.writeBlock(block)
    for (const each of inside) text = `${this.prefix}B${each.index}:{${text}}${this.writeJoined(each)}`
    return text
  }

  /** A block that others break to. */
  private writeJoined(block: Block): string {
    this.owed = 0
    this.forgetSlots()
    return this.writeTree(block)
  }

  private writeBlock(block: Block): string {
    this.types = this.states.get(block)!.slice()
    this.isQuiet = this.quiet.has(block)
    this.at = block
    const parts: string[] = []
    for (const i of block.instrs) {
      if (this.leaves(i)) {
        parts.push(this.writeLeaving(i))
        return parts.join('')
      }
      parts.push(this.makeWhole(i))
      if (i === block.last && block.successors.length !== 1) {
        if (!keepsFuel(i, this.types)) this.paid = NO_SLOTS
        if (!keepsShapes(i)) this.shapes = NO_SHAPES
        parts.push(this.switch(block) ?? writeInstr(this, i, block))
        return parts.join('')
      }
      parts.push(writeInstr(this, i, block))
      this.noteAfter(i)
      applyAfter(i, this.types, this.guessed)
    }
    parts.push(this.go(block, block.successors[0]!))
    return parts.join('')
  }

  /** The text of a chain of tests that begins at the end of a block. A float that is an int equals it, and nothing else but a number. */
  private switch(head: Block): string | null {
    const chain = this.chains.get(head)
    if (chain === undefined || (this.types[chain.slot] !== ANY && !this.isNumber(chain.slot))) return null
    const { slot, cases, rest } = chain
    const x = this.any(slot)
    const selector = this.isNumber(slot) ? x : `typeof ${x}==="number"?${x}:${x} instanceof F?${x}.v:null`
    const known = new Set<number>()
    const texts: string[] = []
    for (const { from, to, value } of cases) {
      if (!known.has(value)) texts.push(`case ${value}:${this.go(from, to)}`)
      known.add(value)
    }
    return `switch(${selector}){${texts.join('')}}${this.go(rest.from, rest.to)}`
  }

  /** Control goes on at `to`; the text of a block with one way in stands right here. `written` is a slot that was just set. */
  go(from: Block, to: Block, written = -1, type = ANY): string {
    const before = this.types
    const wasQuiet = this.isQuiet
    const { at, owed, tagged, paid, shapes } = this
    if (written >= 0) {
      this.types = before.slice()
      this.types[written] = type
      this.forgetSlot(written)
    }
    const text = this.goOn(from, to)
    this.tagged = tagged
    this.paid = paid
    this.shapes = shapes
    this.types = before
    this.isQuiet = wasQuiet
    this.at = at
    this.owed = owed
    return text
  }

  private goOn(from: Block, successor: Block): string {
    const { region } = this
    const to = region.findGoal(from, successor)
    if (!region.rank.has(to)) return this.exit(to.first)
    const state = this.states.get(to)!
    let text = ''
    for (let slot = 0; slot < state.length; slot++) {
      const type = this.types[slot]!
      if (state[slot] !== UNSET && state[slot] !== type && isRaw(type)) text += `${this.any(slot)}=${this.value(slot)};`
    }
    text += this.moveFuel(from, to)
    text += this.openViews(to, from)
    if (region.loops.has(to) && region.rank.get(to)! <= region.rank.get(from)!) return `${text}continue L${to.index};`
    if (this.labelled.has(to)) return `${text}break ${this.prefix}B${to.index};`
    return text + this.writeTree(to)
  }

  /** Known where the unit is entered, and forgotten by the machine there: calls that it makes must not see it. */
  get wanted(): string {
    this.asksWanted = true
    return 'wanted'
  }

  writeWantedAgain(): string {
    return `m.wants=${this.wanted}?d:-1;`
  }

  // ---- values

  /** The variable of any value. */
  any(slot: number): string {
    const name = `${this.prefix}r${slot}`
    this.shared.slots.set(name, 'null')
    return name
  }

  /** The variable of a raw float. */
  raw(slot: number): string {
    const name = `${this.prefix}f${slot}`
    this.shared.slots.set(name, '0')
    return name
  }

  readType(slot: number): number {
    return this.types[slot]!
  }

  /** A value in its general form. */
  value(slot: number): string {
    switch (this.types[slot]) {
      case FLOAT:
        return `new F(${this.raw(slot)})`
      case RANGE:
        return `range(${this.bounds(slot)})`
      case COUNTER: {
        const { at, shared } = this.counter(slot)
        return `counter(${shared},${this.bounds(slot)},${at})`
      }
      default:
        return this.any(slot)
    }
  }

  private variable(letter: string, slot: number, start: string): string {
    const name = `${this.prefix}${letter}${slot}`
    this.shared.slots.set(name, start)
    return name
  }

  /** Start, last item and whether the end is left out, of a range in variables. */
  private bounds(slot: number): string {
    return [this.variable('a', slot, '0'), this.variable('e', slot, '0'), this.variable('x', slot, 'false')].join()
  }

  setRange(slot: number, start: string, last: string, isExclusive: string): string {
    const [a, e, x] = this.bounds(slot).split(',')
    return `${a!}=${start};${e!}=${last};${x!}=${isExclusive};`
  }

  copyRange(i: Instr): string {
    const [a, e, x] = this.bounds(i.b).split(',')
    return this.setRange(i.a, a!, e!, x!)
  }

  /** The variables of an iterator over a range: its next item, the last one, and the object that it stands for or null. */
  counter(slot: number): { readonly at: string; readonly last: string; readonly shared: string } {
    return { at: this.variable('n', slot, '0'), last: this.variable('e', slot, '0'), shared: this.any(slot) }
  }

  /** Begins to iterate over a range in variables. */
  startCounter(i: Instr): string {
    const { at, shared } = this.counter(i.a)
    const [start] = this.bounds(i.b).split(',')
    return `${i.a === i.b ? '' : this.copyRange(i)}${at}=${start!};${shared}=null;`
  }

  /** Goes on with an iterator that is there. */
  private resumeCounter(slot: number): string {
    const { at, last, shared } = this.counter(slot)
    return `${at}=${shared}.state[1];${writeShort(at)}${last}=lastOf(${shared}.state[0]);${writeShort(last)}`
  }

  /** Makes objects of what `i` needs as objects. */
  private makeWhole(i: Instr): string {
    const before = this.types.slice()
    const slots = applyBefore(i, this.types)
    if (slots.length === 0) return ''
    const after = this.types
    this.types = before
    const text = slots.map((slot) => `${this.any(slot)}=${this.value(slot)};`).join('')
    this.types = after
    return text
  }

  // ---- fuel

  /** What fuel there is. */
  get fuel(): string {
    if (!this.isQuiet) return 'm.fuel'
    if (this.host !== null) return this.host.fuel
    return this.owed === 0 ? 'u' : `(u-${this.owed})`
  }

  /** Puts the fuel back. */
  private refill(): string {
    return this.isQuiet ? `m.fuel=${this.fuel};` : ''
  }

  /** On the way from one block to another. */
  private moveFuel(from: Block, to: Block): string {
    if (this.host !== null) return ''
    if (!this.quiet.has(to)) {
      const text = this.refill()
      this.owed = 0
      return text + (this.isQuiet ? this.writeRenewed(to) : '')
    }
    let text = this.isQuiet ? '' : this.draw()
    const isFollowed = !this.labelled.has(to) && !this.region.loops.has(to)
    if (this.owed > 0 && !isFollowed) {
      text += `u=u-${this.owed}|0;`
      this.owed = 0
    }
    if (!this.isQuiet || this.findOutermostQuiet(from) !== this.findOutermostQuiet(to)) text += this.askForCallees(to)
    // A LOOP has seen to it.
    const isSame = this.isQuiet && this.findInnermost(from) === this.findInnermost(to)
    if (isSame && !(this.region.loops.has(to) && from.last.op !== LINKED.LOOP)) return text
    return text + this.reserve(to)
  }

  /**
   * What a quiet loop computed, as new values: V8 keeps a value that lives across calls in memory, and so would it the ones that go
   * round the loop, each turn of which would wait for memory. It does not see that these are no operations.
   */
  private writeRenewed(to: Block): string {
    this.computed ??= new Set([...this.quiet].flatMap(({ instrs }) => instrs.map(findWrite)))
    let text = ''
    for (const slot of this.computed) {
      if (slot < 0 || to.live[slot] === 0) continue
      if (this.types[slot] === FLOAT) text += `${this.raw(slot)}=-(-${this.raw(slot)});`
      else if (this.types[slot] === NUMBER) text += `${this.any(slot)}=${this.any(slot)}+1-1;`
    }
    return text
  }

  /** Leaves in front of a part of a quiet loop that may need more than there is. */
  private reserve(to: Block): string {
    const need = this.computeNeed(to)
    return need === 0 ? '' : `if(${this.writeFuelLeft(this.owed)}<${need}){${this.exit(findFirst(to))}}`
  }

  private writeFuelLeft(owed: number): string {
    return owed === 0 ? 'u' : `u-${owed}`
  }

  /** Leaves in front of a quiet loop in which calls cannot be made as they are taken in: what decides that does not change in it. */
  private askForCallees(to: Block): string {
    const header = this.findOutermostQuiet(to)
    if (header === null) return ''
    const names = new Map<string, Instr>()
    const methods = new Set<string>()
    let hasCalls = false
    for (const { instrs } of this.region.loops.get(header)!) {
      for (const i of instrs) {
        const found = this.guessed.inlined.get(i)
        if (found === undefined) continue
        hasCalls = true
        if (i.op === LINKED.CALL_METHOD) methods.add(this.writeLastReceiver(i))
        if (found.origin !== null) names.set(this.writeClosureTest(found.call.code, found.origin, this.any(i.b)), i)
      }
    }
    if (!hasCalls) return ''
    const exit = this.exit(findFirst(to))
    const forgets = [...methods].map((last) => `${last}=Struct;`).join('')
    return `${forgets}if(z){${exit}}${[...names].map(([name, i]) => `if(!${name}){missed(${this.place(i)});${exit}}`).join('')}`
  }

  private findOutermostQuiet(block: Block): Block | null {
    let found: Block | null = null
    let size = 0
    for (const [header, loop] of this.region.loops) {
      if (!loop.has(block) || loop.size <= size || ![...loop].every((each) => this.quiet.has(each))) continue
      found = header
      size = loop.size
    }
    return found
  }

  private findInnermost(block: Block): Block | null {
    let found: Block | null = null
    let size = Infinity
    for (const [header, loop] of this.region.loops) {
      if (!loop.has(block) || loop.size >= size) continue
      found = header
      size = loop.size
    }
    return found
  }

  /** The most fuel that a turn of the innermost loop around a block uses, its LOOP and inner loops left out. */
  private computeNeed(block: Block): number {
    const header = this.findInnermost(block)
    if (header === null) return 0
    const known = this.needs.get(header)
    if (known !== undefined) return known
    let need = 0
    for (const each of this.region.loops.get(header)!) {
      if (this.findInnermost(each) === header) for (const i of each.instrs) if (this.guessed.inlined.has(i)) need++
    }
    this.needs.set(header, need)
    return need
  }

  /** The fuel point of a backward jump. */
  writeTurn(i: Instr, block: Block): string {
    if (!this.isQuiet || this.host !== null) return `if(--${this.fuel}<0){${this.fuel}++;${this.exit(i)}}`
    const need = this.computeNeed(block)
    const taken = this.owed + 1
    this.owed = 0
    const out = `u++;${this.exit(i)}`
    // Cut to 32 bits, which a slice fits in: V8 need not look whether it does.
    const take = `(u=u-${taken}|0)`
    if (need === 0) return `if(${take}<0){${out}}`
    return `if(${take}<${need}){if(u<0){${out}}${this.exit(findFirst(block.successors[0]!))}}`
  }

  private draw(): string {
    return 'u=m.fuel|0;z=d>=m.deepest||d>=m.limits.frames;'
  }

  /** An expression that may use fuel, as part of a quiet loop too. It may change lists, but for `isApart`. */
  writeCalling(text: string, isApart = false): string {
    if (!this.isQuiet) return text
    if (this.host !== null) return this.host.calling(text, isApart)
    const views = isApart ? [] : this.listOpenedViews().map((view) => `,${this.look(view)}`)
    const { owed } = this
    return `(m.fuel=${this.fuel},t=${text},u=m.fuel${owed === 0 ? '' : `+${owed}`}|0${views.join('')},t)`
  }

  // ---- views (quiet.ts)

  /** The view of a list in `slot` where there is one, by the names of its variables. */
  getView(slot: number, isReal: boolean): ViewNames | null {
    const view = this.listOpenedViews().find((each) => each.slot === slot && each.isReal === isReal)
    if (view === undefined) return null
    const items = this.variable(isReal ? 'w' : 'y', slot, isReal ? 'EMPTY' : 'NO_ITEMS')
    return {
      items,
      length: isReal ? `${items}.length` : this.variable('l', slot, '0'),
      owned: view.isOwned ? null : this.variable('o', slot, 'false'),
    }
  }

  private listOpenedViews(): readonly View[] {
    const { at } = this
    return at === null || !this.isQuiet ? [] : this.views.filter(({ loop }) => loop.has(at))
  }

  /** Where a loop is entered. */
  private openViews(to: Block, from: Block | null): string {
    const opened = this.views.filter(({ header, loop }) => header === to && (from === null || !loop.has(from)))
    const first = opened.filter(({ isReal }) => isReal)
    // A list that turns into doubles is no longer what other views saw.
    const rest = first.length === 0 ? opened : this.views.filter(({ isReal, loop }) => !isReal && loop.has(to))
    return [...first, ...rest].map((view) => `${this.look(view, true)};`).join('')
  }

  /** An expression that looks at the list again. */
  private look({ slot, isReal, isWritten, isOwned }: View, isFirst = false): string {
    const list = this.any(slot)
    if (isReal && isOwned) return `${this.variable('w', slot, 'EMPTY')}=${isFirst ? 'ownReals(m,' : 'ownRealsNow('}${list})`
    const owned = isWritten && !isOwned ? `,${this.variable('o', slot, 'false')}=${list} instanceof List&&${list}.owned` : ''
    if (isReal) return `${this.variable('w', slot, 'EMPTY')}=${isFirst ? 'reals(m,' : 'realsNow('}${list})${owned}`
    const items = this.variable('y', slot, 'NO_ITEMS')
    const length = this.variable('l', slot, '0')
    return `${length}=${list} instanceof List${isOwned ? `&&${list}.owned` : ''}&&${list}.raw===null?(${items}=${list}.boxed,${list}.length):0${owned}`
  }

  /** Looks again at what is in `slot` now. */
  lookAgain(slot: number): string {
    return this.listOpenedViews()
      .filter((view) => view.slot === slot)
      .map((view) => `${this.look(view)};`)
      .join('')
  }

  /** After something may have got another owner. */
  lookForOwners(): string {
    if (this.host !== null) return this.host.lookForOwners()
    return this.listOpenedViews()
      .filter(({ isWritten }) => isWritten)
      .map((view) => `${this.look(view)};`)
      .join('')
  }

  // ---- what a chain of tests need not ask again

  /** An expression for the variant of what is in a slot, undefined for what has none: a `match` asks for it again and again. */
  writeVariant(slot: number): string {
    const name = this.variable('g', slot, 'null')
    if (this.tagged.has(slot)) return name
    this.tagged = new Set(this.tagged).add(slot)
    return `(${name}=${this.any(slot)}?.variant)`
  }

  /** Whether `i`, which compares, has to ask for fuel. */
  owesFor(i: Instr): boolean {
    if (this.paid.has(i.b)) return false
    if (keepsFuel(i, this.types)) this.paid = new Set(this.paid).add(i.b)
    return true
  }

  hasShape(slot: number, shape: Shape): boolean {
    return this.shapes.get(slot) === shape
  }

  noteShape(slot: number, shape: Shape): void {
    this.shapes = new Map(this.shapes).set(slot, shape)
  }

  private noteAfter(i: Instr): void {
    if (!keepsFuel(i, this.types)) this.paid = NO_SLOTS
    // What is there already is assigned to.
    const isKnown = i.op === LINKED.SET_PROP && i.cache !== null && this.shapes.get(i.b) === i.cache
    if (!isKnown && !keepsShapes(i)) this.shapes = NO_SHAPES
    const moved = isKnown || i.op === LINKED.MOVE || i.op === LINKED.SHARE ? this.shapes.get(i.b) : undefined
    this.forgetSlot(findWrite(i))
    if (moved !== undefined) this.noteShape(i.a, moved)
  }

  private forgetSlot(slot: number): void {
    if (this.tagged.has(slot)) this.tagged = new Set([...this.tagged].filter((each) => each !== slot))
    if (this.paid.has(slot)) this.paid = new Set([...this.paid].filter((each) => each !== slot))
    if (this.shapes.has(slot)) this.shapes = new Map([...this.shapes].filter(([each]) => each !== slot))
  }

  private forgetSlots(): void {
    this.tagged = NO_SLOTS
    this.shapes = NO_SHAPES
    this.paid = NO_SLOTS
  }

  isNumber(slot: number): boolean {
    return this.types[slot] === NUMBER
  }

  /** Whether `i`, which reads by index, is taken to give a float. */
  readsFloat(i: Instr): boolean {
    return this.guessed.floatReads.has(i)
  }

  isBool(slot: number): boolean {
    return this.types[slot] === BOOL
  }

  /** The text that stands for a constant that is no number, bool or nil. */
  constant(value: unknown): string {
    if (typeof value === 'string' && value.length < 80) return JSON.stringify(value)
    let text = this.shared.texts.get(value)
    if (text === undefined) {
      text = `k${this.constants.push(value) - 1}`
      this.shared.texts.set(value, text)
    }
    return text
  }

  /** A name for a statement to break out of. */
  makeLabel(): string {
    return `X${this.shared.labels++}`
  }

  /** A function of the unit's own; `write` is given its name, which is the answer. */
  writeInner(write: (name: string) => string): string {
    const { functions } = this.shared
    const name = `i${functions.length}`
    functions.push(write(name))
    return name
  }

  // ---- leaving

  private makeSite(i: Instr, before: boolean): string {
    const live = before ? this.graph.listLiveBefore(i) : this.graph.listLiveWhileWaiting(i)
    if (live === undefined) throw new Refusal('code that no path reaches')
    const { touched } = this
    const slots = touched === null ? live : live.filter((slot) => touched.has(slot))
    return `S[${this.sites.push(new Site(this.code, i, slots)) - 1}]`
  }

  private writeSaved(site: Site): string {
    return site.slots.map((slot) => this.value(slot)).join(',')
  }

  private leave(helper: string, i: Instr, before: boolean, more = ''): string {
    const site = this.makeSite(i, before)
    const saved = this.writeSaved(this.sites[this.sites.length - 1]!)
    const text = `${helper}(m,${site},${this.self}${more}${saved === '' ? '' : `,${saved}`});`
    const { host } = this
    return this.refill() + (host === null ? `return ${text}` : text + host.left())
  }

  /** The base tier goes on before `i`, of which nothing has happened. */
  exit(i: Instr): string {
    return this.leave('X', i, true)
  }

  /** As exit, because a guess was wrong. */
  guard(i: Instr): string {
    return this.leave('G', i, true)
  }

  /** As exit, from a call that may have taken the unit of fuel that was missing. */
  restart(i: Instr): string {
    return this.leave('XF', i, true)
  }

  /** A call or builtin stopped in the middle of `i`: its result comes later. */
  wait(i: Instr): string {
    return this.leave('X', i, false)
  }

  /** A call that a fault came out of, or that stopped. */
  writeAfterCall(i: Instr, block: Block, fromRun = false): string {
    return `{if(m.raised!==null){${fromRun ? 'leaveRun(m);' : ''}${this.passOn(i, block)}}${this.wait(i)}}`
  }

  /** A fault came out of the call `i`. */
  private passOn(i: Instr, block: Block): string {
    if (this.isCaught(block)) return this.catchWith(block, `passed(m,${this.place(i)})`)
    if (!this.isWhole) return this.leave('XP', i, true)
    return `${this.refill()}return P(m,${this.place(i)},c);`
  }

  // ---- callees that are part of the text

  /** The text of a call whose callee is taken in, null for every other. */
  writeInlined(i: Instr, block: Block): string | null {
    const found = this.guessed.inlined.get(i)
    if (found === undefined) return null
    const { call, origin } = found
    const { from, count } = locateArguments(i)
    const { states, result } = call.solve(this.types, from)
    const prefix = `p${this.shared.labels++}_`
    const label = this.makeLabel()
    const isMethod = i.op === LINKED.CALL_METHOD
    const isAsked = this.isQuiet && origin !== null
    const self = isMethod ? this.variable('s', this.numberMethod(i), 'null') : this.any(i.b)
    const isCallee = isMethod ? this.isMethod(i, call.code, self) : this.writeClosureTest(call.code, origin, self)
    const test = isAsked ? '' : `if(!${isCallee}){${this.guard(i)}}`
    // From here on the call itself is owed.
    if (this.isQuiet) this.owed++
    const host: Host = {
      shared: this.shared,
      call,
      states,
      prefix,
      self,
      isQuiet: this.isQuiet,
      fuel: this.fuel,
      calling: (text, isApart) => this.writeCalling(text, isApart),
      lookForOwners: () => this.lookForOwners(),
      left: () => this.wait(i),
      // The call of a method is a run of its own.
      raised: () => (isMethod ? 'leaveRun(m);' : '') + this.passOn(i, block),
      result: (value, raw) => `${result === FLOAT ? `${this.raw(i.a)}=${raw()}` : `${this.any(i.a)}=${value()}`};break ${label};`,
    }
    const inner = new UnitWriter({ ...this.options, graph: call.graph, kind: 'callee', entry: call.graph.entry }, host)
    const entry = states.get(call.graph.entry)!
    const args: string[] = []
    for (let slot = 0; slot < count; slot++) {
      if (entry[slot] === FLOAT) args.push(`${inner.raw(slot)}=${this.raw(from + slot)};`)
      else if (entry[slot] !== UNSET) args.push(`${inner.any(slot)}=${this.value(from + slot)};`)
    }
    const take = this.isQuiet ? '' : `if(d>=${isMethod ? 'm.limits.frames' : 'm.deepest'}||--m.fuel<0){${this.restart(i)}}`
    return `${test}${take}${args.join('')}${label}:{${inner.writeBody()}}`
  }

  /** Whether the receiver is a struct whose method runs `code`; the method is in `self` then. */
  private isMethod(i: Instr, code: FunctionCode, self: string): string {
    const receiver = this.value(i.b)
    const found =
      `${receiver}?.constructor===Struct&&(${self}=structMethod(m,${receiver},${this.constant(i.k)}))!==null` +
      `&&${self}.code===${this.constant(code)}`
    if (!this.isQuiet) return `(${found})`
    const last = this.writeLastReceiver(i)
    return `(${receiver}===${last}||${found}&&(${last}=${receiver},true))`
  }

  /** The variable of the receiver that a call in a quiet loop was made with last: no method is defined in there. No value is the class. */
  private writeLastReceiver(i: Instr): string {
    return this.variable('j', this.numberMethod(i), 'Struct')
  }

  /** Calls have variables of their own: one slot is the receiver of many. */
  private numberMethod(i: Instr): number {
    const number = this.methods.get(i) ?? this.methods.size
    this.methods.set(i, number)
    return number
  }

  /** Whether `callee` runs `code`: asked once where it cannot change. */
  private writeClosureTest(code: FunctionCode, origin: Origin, callee: string): string {
    const test = (value: string): string => `(${value} instanceof Closure&&${value}.code===${this.constant(code)})`
    if (origin === null) return test(callee)
    const steady = origin.kind === 'capture' ? this.capture(origin.at) : this.any(origin.at)
    const { tests } = this.shared
    const text = test(steady)
    const name = tests.get(text) ?? `h${tests.size}`
    tests.set(text, name)
    return name
  }

  /** A value that the closure took along; in a loop it is read where the unit is entered. */
  capture(at: number): string {
    if (this.host?.capture !== undefined) return this.host.capture(at)
    const text = `${this.self}.captures[${at}]`
    const isInLoop = this.at !== null && [...this.region.loops.values()].some((loop) => loop.has(this.at!))
    if (this.host !== null || !isInLoop) return text
    const { tests } = this.shared
    const name = tests.get(text) ?? `h${tests.size}`
    tests.set(text, name)
    return name
  }

  /** The function's result is in `slot`. */
  writeReturn(slot: number): string {
    const { host } = this
    if (host === null) return `${this.refill()}return ${this.value(slot)};`
    return host.result(
      () => this.value(slot),
      () => this.raw(slot),
    )
  }

  /** `text` is a fault of `i`. */
  writeFault(i: Instr, block: Block, text: string): string {
    const { host } = this
    // As from a call, which it is.
    if (host !== null) return `${this.refill()}R(m,${this.place(i)},${this.self},${text});${host.raised()}`
    if (this.isCaught(block)) return this.catchWith(block, `caught(${this.place(i)},${text})`)
    if (!this.isWhole) return this.leave('XR', i, true, `,${text}`)
    return `${this.refill()}return R(m,${this.place(i)},c,${text});`
  }

  private isCaught({ handler }: Block): boolean {
    return handler !== null && this.region.rank.has(handler)
  }

  private catchWith(block: Block, text: string): string {
    const { handler } = block
    this.paid = NO_SLOTS
    this.shapes = NO_SHAPES
    return `${this.any(handler!.faultSlot)}=${text};${this.go(block, handler!, handler!.faultSlot)}`
  }

  /** A site that is only asked for its place. */
  private place(i: Instr): string {
    return `S[${this.sites.push(new Site(this.code, i, [])) - 1}]`
  }
}

/** What a text begins with. */
export function makeShared(): Shared {
  return { sites: [], constants: [], texts: new Map(), slots: new Map(), functions: [], tests: new Map(), labels: 0 }
}

/** Slots that blocks read or write. */
function listTouchedSlots(blocks: readonly Block[]): Set<number> {
  const touched = new Set<number>()
  for (const { instrs, faultSlot } of blocks) {
    if (faultSlot >= 0) touched.add(faultSlot)
    for (const i of instrs) {
      for (const slot of listReads(i)) touched.add(slot)
      touched.add(findWrite(i))
      if (i.op === LINKED.NEXT) touched.add(i.d)
    }
  }
  touched.delete(-1)
  return touched
}

/** The instruction that runs first, of a block that may be an empty one in front of a loop. */
function findFirst(block: Block): Instr {
  return block.instrs.length > 0 ? block.first : block.successors[0]!.first
}

/**
 * An int that comes from elsewhere may have the form of a double, in which V8 would then keep all that is computed from it. The call
 * is for long ones; where it was never made, V8 knows them to be short.
 */
function writeShort(name: string): string {
  return `q=${name}|0;${name}=q===${name}?q:wide(${name});`
}
