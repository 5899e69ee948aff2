// Writes the JavaScript of one unit: a whole function, or one loop that is entered in mid-run. Blocks become structured
// code along the dominator tree (Ramsey, "Beyond Relooper"): a block with several predecessors gets a label, and they break
// to it; what follows a loop goes after it, not inside.
//
// Slots are variables: `r3` holds any value, `f3` a raw float. Where a fact ends (a join, a call, an exit), the value is converted to
// its general form. Script text gets into the code only as JSON.

import { LINKED } from '../interpreter/linked.js'
import { HarnList } from '../values/list.js'
import { chooseRegion } from './choose-region.js'
import { ANY, BOOL, COUNTER, fits, FLOAT, LIST, LIST_ITER, NUMBER, RANGE, RANGE_ITER, UNSET } from './entry-types.js'
import { FuelWriter } from './fuel-writer.js'
import { chooseInlinedCalls } from './inline.js'
import { InlinedCalls } from './inlined-calls.js'
import { KnownValues } from './known-values.js'
import { Layout } from './layout.js'
import { findWrite, listReads, mayFault } from './operands.js'
import { findQuietBlocks, listViews } from './quiet.js'
import { Refusal } from './region.js'
import { Site } from './site.js'
import { leavesCode, writeInstr } from './templates.js'
import { applyAfter, applyBefore, findFloatReads, isRaw, solveTypes, usesAsContainer, usesAsNumber } from './types.js'
import { makeShared } from './unit.js'
import { ViewWriter } from './view-writer.js'
import type { Instr } from '../interpreter/linked.js'
import type { Machine } from '../interpreter/machine.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Shape } from '../values/shape.js'
import type { Block, FlowGraph } from './graph.js'
import type { ViewNames } from './instr-writer.js'
import type { View } from './quiet.js'
import type { Region } from './region.js'
import type { Expectation } from './state.js'
import type { Guesses, Types } from './types.js'
import type { Host, Shared, UnitBody, UnitKind, UnitOptions, UnitText, WholeWriter } from './unit.js'

/** Beyond this length V8 would not optimise the result. */
const MAX_SLOTS = 120

export class UnitWriter implements WholeWriter {
  readonly code: FunctionCode
  readonly machine: Machine
  readonly sites: Site[]
  readonly constants: unknown[]
  /** The context of an inlined callee; null for everything else. */
  readonly host: Host | null
  readonly shared: Shared
  /** Prefix of the names of variables and labels. */
  private readonly prefix: string = ''
  /** The closure that runs. */
  readonly self: string = 'c'
  private readonly options: UnitOptions
  private readonly graph: FlowGraph
  readonly region: Region
  private readonly states: Map<Block, Types>
  private readonly kind: UnitKind
  /** Whether to assume ints where no other type was seen, and to take current values as a hint. */
  readonly guesses: boolean
  readonly guessed: Guesses
  /** What slots must hold at the entry of the unit. */
  private readonly expects: readonly Expectation[]
  private readonly layout: Layout
  private readonly fuelWriter: FuelWriter
  private readonly viewWriter: ViewWriter
  private readonly inlinedCalls: InlinedCalls
  private readonly known = new KnownValues()
  private readonly written: ReadonlySet<number>
  /**
   * Slots that the code reads or writes, null for all. The others stay in the frame that the base tier has; a function that is
   * called has no such frame.
   */
  private readonly touched: ReadonlySet<number> | null = null
  private changing: ReadonlySet<number> | null = null
  /** Blocks of quiet loops (quiet.ts). */
  readonly quiet: ReadonlySet<Block>
  /** Facts at the instruction being written. */
  types: Types = new Uint8Array(0)
  /** Whether it is in a quiet loop. */
  isQuiet = false
  /** The block being written. */
  at: Block | null = null
  private asksWanted = false

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
      this.layout = new Layout(this.region, this.quiet)
      this.inlinedCalls = new InlinedCalls(this)
      this.fuelWriter = new FuelWriter(this, this.inlinedCalls)
      this.viewWriter = new ViewWriter(this, [])
      return
    }
    this.shared = makeShared()
    this.sites = this.shared.sites
    this.constants = this.shared.constants
    this.region = chooseRegion(graph, kind === 'loop', entry, (block) => this.listEdges(block))
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
    const views = listViews(this.region, this.quiet, this.states, this.guessed, leaves)
    this.chooseOwners(views)
    // A guess that does not hold on every iteration is dropped.
    const atEntry = this.states.get(this.region.entry)!
    this.expects = [...types.keys()]
      .filter((slot) => types[slot]! > ANY && atEntry[slot] === types[slot])
      .map((slot) => ({ slot, type: types[slot]!, reals: types[slot] === LIST && this.holdsFloats(slot) }))
    this.written = kind === 'part' ? this.listWrittenSlots() : new Set()
    this.layout = new Layout(this.region, this.quiet)
    this.inlinedCalls = new InlinedCalls(this)
    this.fuelWriter = new FuelWriter(this, this.inlinedCalls)
    this.viewWriter = new ViewWriter(this, views)
  }

  /** The value of a slot that is constant while a loop runs, undefined if it may change. */
  private findSteady(slot: number): unknown {
    const { kind, entry, sample } = this.options
    if (kind !== 'loop' || entry.live[slot] === 0) return undefined
    this.changing ??= this.listWrittenSlots()
    return this.changing.has(slot) ? undefined : sample(slot)
  }

  /** Which views are of owned lists only: those that are assigned to, unless the current value shows that this is rare. */
  private chooseOwners(views: readonly View[]): void {
    const { compiled } = this.code
    const written = views.filter(({ isWritten }) => isWritten)
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

  /** Whether the unit is a function, which can call itself by name. */
  get isWhole(): boolean {
    return this.kind === 'function'
  }

  /** Whether the code ends at `i`. */
  private leaves(i: Instr): boolean {
    return leavesCode(i) || (this.kind === 'part' && (i.op === LINKED.RETURN || i.op === LINKED.TAIL_NAMED))
  }

  /** The code of an instruction that leaves. */
  private writeLeaving(i: Instr): string {
    if (this.kind !== 'part' || (i.op !== LINKED.YIELD && i.op !== LINKED.RETURN)) return this.exit(i)
    if (i.op === LINKED.RETURN) return `${this.fuelWriter.refill()}m.yieldedAt=null;return END;`
    const kept = this.graph.listLiveWhileWaiting(i)
    if (kept === undefined) throw new Refusal('code that no path reaches')
    // The iterator that a counter represents has not been updated yet.
    const isStale = (slot: number): boolean => this.written.has(slot) || this.types[slot] === COUNTER
    const stores = kept.filter(isStale).map((slot) => `regs[b+${slot}]=${this.value(slot)};`)
    return `${this.fuelWriter.refill()}${stores.join('')}m.yieldedAt=${this.place(i)};return ${this.value(i.b)};`
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
    // In a function the first access checks; in a loop every iteration would check again.
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
      begins = this.fuelWriter.enter(entry) + this.viewWriter.open(entry, null)
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

  /** The code of an inlined callee. */
  writeBody(): string {
    return this.writeTree(this.region.entry)
  }

  // ---- structure

  private writeTree(block: Block): string {
    const children = this.layout.children.get(block)
    const sortByRank = (blocks: readonly Block[]): Block[] =>
      [...blocks].sort((one, other) => this.region.rank.get(one)! - this.region.rank.get(other)!)
    if (this.region.loops.has(block)) this.known.forgetAll()
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

  /** A block that is the target of a break. */
  private writeJoined(block: Block): string {
    this.fuelWriter.owed = 0
    this.known.forgetAll()
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
        this.known.noteLast(i, this.types)
        parts.push(this.switch(block) ?? writeInstr(this, i, block))
        return parts.join('')
      }
      parts.push(writeInstr(this, i, block))
      this.known.noteAfter(i, this.types)
      applyAfter(i, this.types, this.guessed)
    }
    parts.push(this.go(block, block.successors[0]!))
    return parts.join('')
  }

  /** The code of a chain of tests that begins at the end of a block. A float with an integer value equals the int; otherwise only numbers do. */
  private switch(head: Block): string | null {
    const chain = this.layout.chains.get(head)
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

  /** Control continues at `to`; a block with one predecessor is written right here. `written` is a slot that was just set. */
  go(from: Block, to: Block, written = -1, type = ANY): string {
    const before = this.types
    const wasQuiet = this.isQuiet
    const { at } = this
    const { owed } = this.fuelWriter
    const known = this.known.save()
    if (written >= 0) {
      this.types = before.slice()
      this.types[written] = type
      this.known.forgetSlot(written)
    }
    const text = this.goOn(from, to)
    this.known.restore(known)
    this.types = before
    this.isQuiet = wasQuiet
    this.at = at
    this.fuelWriter.owed = owed
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
    text += this.fuelWriter.move(from, to)
    text += this.viewWriter.open(to, from)
    if (region.loops.has(to) && region.rank.get(to)! <= region.rank.get(from)!) return `${text}continue L${to.index};`
    if (this.isLabelled(to)) return `${text}break ${this.prefix}B${to.index};`
    return text + this.writeTree(to)
  }

  isLabelled(block: Block): boolean {
    return this.layout.labelled.has(block)
  }

  /** Known at the entry of the unit, where the machine forgets it: the calls that it makes must not see it. */
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

  variable(letter: string, slot: number, start: string): string {
    const name = `${this.prefix}${letter}${slot}`
    this.shared.slots.set(name, start)
    return name
  }

  /** Start, last item and whether the end is exclusive, of a range in variables. */
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

  /** The variables of a range iterator: its next item, the last one, and the object that it represents or null. */
  counter(slot: number): { readonly at: string; readonly last: string; readonly shared: string } {
    return { at: this.variable('n', slot, '0'), last: this.variable('e', slot, '0'), shared: this.any(slot) }
  }

  /** Starts iterating over a range in variables. */
  startCounter(i: Instr): string {
    const { at, shared } = this.counter(i.a)
    const [start] = this.bounds(i.b).split(',')
    return `${i.a === i.b ? '' : this.copyRange(i)}${at}=${start!};${shared}=null;`
  }

  /** Continues an existing iterator. */
  private resumeCounter(slot: number): string {
    const { at, last, shared } = this.counter(slot)
    return `${at}=${shared}.state[1];${writeShort(at)}${last}=lastOf(${shared}.state[0]);${writeShort(last)}`
  }

  /** Makes the objects that `i` needs. */
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
  // ---- fuel (fuel-writer.ts) and views (view-writer.ts)

  get fuel(): string {
    return this.fuelWriter.left
  }

  oweCall(): void {
    this.fuelWriter.owed++
  }

  writeTurn(i: Instr, block: Block): string {
    return this.fuelWriter.writeTurn(i, block)
  }

  /** An expression that may use fuel, also within a quiet loop. It may change lists, unless `isApart`. */
  writeCalling(text: string, isApart = false): string {
    if (!this.isQuiet) return text
    if (this.host !== null) return this.host.calling(text, isApart)
    const views = isApart ? [] : this.viewWriter.listLooks().map((look) => `,${look}`)
    const { owed } = this.fuelWriter
    return `(m.fuel=${this.fuel},t=${text},u=m.fuel${owed === 0 ? '' : `+${owed}`}|0${views.join('')},t)`
  }

  // ---- views (quiet.ts)

  getView(slot: number, isReal: boolean): ViewNames | null {
    return this.viewWriter.find(slot, isReal)
  }

  lookAgain(slot: number): string {
    return this.viewWriter.lookAgain(slot)
  }

  lookForOwners(): string {
    return this.viewWriter.lookForOwners()
  }

  // ---- what is known here (known-values.ts)

  /** An expression for the variant of the value in a slot, undefined if it has none: a `match` needs it repeatedly. */
  writeVariant(slot: number): string {
    const name = this.variable('g', slot, 'null')
    return this.known.noteVariant(slot) ? name : `(${name}=${this.any(slot)}?.variant)`
  }

  owesFor(i: Instr): boolean {
    return this.known.owesFor(i, this.types)
  }

  hasShape(slot: number, shape: Shape): boolean {
    return this.known.hasShape(slot, shape)
  }

  noteShape(slot: number, shape: Shape): void {
    this.known.noteShape(slot, shape)
  }

  isNumber(slot: number): boolean {
    return this.types[slot] === NUMBER
  }

  /** Whether `i`, which reads by index, is assumed to give a float. */
  readsFloat(i: Instr): boolean {
    return this.guessed.floatReads.has(i)
  }

  isBool(slot: number): boolean {
    return this.types[slot] === BOOL
  }

  /** An expression for a constant that is not a number, bool or nil. */
  constant(value: unknown): string {
    if (typeof value === 'string' && value.length < 80) return JSON.stringify(value)
    let text = this.shared.texts.get(value)
    if (text === undefined) {
      text = `k${this.constants.push(value) - 1}`
      this.shared.texts.set(value, text)
    }
    return text
  }

  /** A label for a statement to break out of. */
  makeLabel(): string {
    return `X${this.shared.labels++}`
  }

  /** A nested function of the unit; `write` is given its name, which is returned. */
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
    return this.fuelWriter.refill() + (host === null ? `return ${text}` : text + host.left())
  }

  /** The base tier continues before `i`, which has had no effect yet. */
  exit(i: Instr): string {
    return this.leave('X', i, true)
  }

  /** As exit, because a guess was wrong. */
  guard(i: Instr): string {
    return this.leave('G', i, true)
  }

  /** As exit, from a call that may have used the last unit of fuel. */
  restart(i: Instr): string {
    return this.leave('XF', i, true)
  }

  /** A call or builtin stopped in the middle of `i`: its result comes later. */
  wait(i: Instr): string {
    return this.leave('X', i, false)
  }

  /** A call that returned because of a fault or a stop. */
  writeAfterCall(i: Instr, block: Block, fromRun = false): string {
    return `{if(m.raised!==null){${fromRun ? 'leaveRun(m);' : ''}${this.passOn(i, block)}}${this.wait(i)}}`
  }

  /** A fault was raised by the callee of `i`. */
  passOn(i: Instr, block: Block): string {
    if (this.isCaught(block)) return this.catchWith(block, `passed(m,${this.place(i)})`)
    if (!this.isWhole) return this.leave('XP', i, true)
    return `${this.fuelWriter.refill()}return P(m,${this.place(i)},c);`
  }

  // ---- inlined callees (inlined-calls.ts)

  writeInlined(i: Instr, block: Block): string | null {
    return this.inlinedCalls.write(i, block)
  }

  makeInner(host: Host): UnitBody {
    const { graph } = host.call
    return new UnitWriter({ ...this.options, graph, kind: 'callee', entry: graph.entry }, host)
  }

  /** A captured value; in a loop it is read where the unit is entered. */
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
    if (host === null) return `${this.fuelWriter.refill()}return ${this.value(slot)};`
    return host.result(
      () => this.value(slot),
      () => this.raw(slot),
    )
  }

  /** `text` is an expression for a fault of `i`. */
  writeFault(i: Instr, block: Block, text: string): string {
    const { host } = this
    // Reported as a fault from a call.
    if (host !== null) return `${this.fuelWriter.refill()}R(m,${this.place(i)},${this.self},${text});${host.raised()}`
    if (this.isCaught(block)) return this.catchWith(block, `caught(${this.place(i)},${text})`)
    if (!this.isWhole) return this.leave('XR', i, true, `,${text}`)
    return `${this.fuelWriter.refill()}return R(m,${this.place(i)},c,${text});`
  }

  private isCaught({ handler }: Block): boolean {
    return handler !== null && this.region.rank.has(handler)
  }

  private catchWith(block: Block, text: string): string {
    const { handler } = block
    this.known.forgetUnstable()
    return `${this.any(handler!.faultSlot)}=${text};${this.go(block, handler!, handler!.faultSlot)}`
  }

  /** A site that is needed only for its position. */
  place(i: Instr): string {
    return `S[${this.sites.push(new Site(this.code, i, [])) - 1}]`
  }
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

/**
 * An int from elsewhere may be represented as a double, and V8 would then keep everything computed from it as doubles. Large ints
 * go through the call; if it was never made, V8 knows that all ints are small.
 */
function writeShort(name: string): string {
  return `q=${name}|0;${name}=q===${name}?q:wide(${name});`
}
