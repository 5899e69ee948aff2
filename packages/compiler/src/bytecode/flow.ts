// Data flow: follows every path through a function with the *kinds* of the values on the operand stack and in the slots,
// to a fixpoint. Most instructions take and give script values. A few need more (a list under construction,
// a fault, an iteration, a cell); these are listed below, and code that gives them another kind is refused. The interpreter then
// needs no test for what the compiler guarantees.
//
// A kind is a set of bits: the possible contents of a slot or stack entry. `value` is any script value; the other bits are values of
// which more is known, or objects that scripts never see.

import { OPCODE_BY_CODE } from './opcodes.js'
import type { FunctionChunk, ModuleChunk } from './chunk.js'
import type { OpcodeName, OpcodeRow } from './opcodes.js'

const NIL = 1
const LIST = 2
const DICT = 4
const ENUM = 8
const CLOSURE = 16
/** Made by the previous instruction and not shared: may be filled. */
const NEW_LIST = 32
const NEW_DICT = 64
const VALUE = 128
const CELL = 256
const FAULT = 512
const ITERATION = 1024
/** The result of NEXT at the end. */
const END = 2048
/** A missing argument, or an empty slot. */
const UNSET = 4096

const ANY_VALUE = NIL | LIST | DICT | ENUM | CLOSURE | NEW_LIST | NEW_DICT | VALUE
const ANY_LIST = LIST | NEW_LIST
const ANY_DICT = DICT | NEW_DICT
const ANYTHING = ANY_VALUE | CELL | FAULT | ITERATION | END

const NAMES: readonly (readonly [number, string])[] = [
  [CELL, 'a cell'],
  [FAULT, 'a fault'],
  [ITERATION, 'an iteration'],
  [END, 'the end mark'],
  [UNSET, 'an unset slot'],
  [ANY_VALUE, 'a value'],
]

interface Needs {
  /** Kinds of popped values, bottom first; default: any value. */
  readonly takes?: readonly number[]
  /** Kinds of pushed values; default: any value. */
  readonly gives?: readonly number[]
}

/** Instructions that take or give more than plain values. Those with cases of their own in `step` are not listed. */
const NEEDS: Partial<Record<OpcodeName, Needs>> = {
  NIL: { gives: [NIL] },
  POP: { takes: [ANYTHING] },
  CELL_CALLABLE: { takes: [CELL] },
  CELL_VARIABLE: { takes: [CELL] },
  SELF: { gives: [CLOSURE] },
  BUILD_LIST: { gives: [NEW_LIST] },
  LIST_PUSH: { takes: [NEW_LIST, ANY_VALUE], gives: [NEW_LIST] },
  LIST_EXTEND: { takes: [NEW_LIST, ANY_VALUE], gives: [NEW_LIST] },
  BUILD_DICT: { gives: [NEW_DICT] },
  DICT_PUT: { takes: [NEW_DICT, ANY_VALUE, ANY_VALUE], gives: [NEW_DICT] },
  DICT_EXTEND: { takes: [NEW_DICT, ANY_VALUE], gives: [NEW_DICT] },
  BUILD_ENUM: { gives: [ENUM] },
  BUILD_ENUM_LIST: { takes: [ANY_LIST], gives: [ENUM] },
  CHECK_DICT: { gives: [DICT] },
  CHECK_LIST: { gives: [LIST] },
  FIELD: { takes: [ANY_DICT] },
  DICT_REST: { takes: [ANY_DICT] },
  ITEM: { takes: [ANY_LIST] },
  LIST_REST: { takes: [ANY_LIST] },
  ENUM_FIELD: { takes: [ENUM] },
  CALL_SPREAD: { takes: [ANY_VALUE, ANY_LIST] },
  CALL_NAMED_SPREAD: { takes: [ANY_VALUE, ANY_LIST] },
  CALL_BUILTIN_SPREAD: { takes: [ANY_LIST] },
  CALL_METHOD_SPREAD: { takes: [ANY_VALUE, ANY_LIST] },
  CATCH_VALUE: { takes: [FAULT] },
  CATCH_IS: { takes: [FAULT], gives: [FAULT, VALUE] },
  RETHROW: { takes: [FAULT] },
  ITERATE: { gives: [ITERATION] },
  NEXT: { takes: [ITERATION], gives: [ITERATION, VALUE | END] },
}

/** What an instruction proves about the value that it tests. */
const TESTS: Partial<Record<OpcodeName, number>> = { IS_DICT: DICT, IS_LIST: LIST, IS_ENUM: ENUM }

interface Entry {
  readonly kind: number
  /** The slot it was loaded from; -1 when the slot has changed. */
  readonly slot: number
  /** If this value is true, the slot holds this kind. */
  readonly test: { readonly slot: number; readonly kind: number } | null
}

interface State {
  readonly stack: Entry[]
  readonly slots: number[]
}

type Report = (functionIndex: number, at: number, text: string) => void

/** Checks all functions of a chunk whose instructions and operands are already verified. */
export function checkFlow(chunk: ModuleChunk, report: Report): void {
  const captures = chunk.functions.map((fn) => fn.captures.map(() => 0))
  if (chunk.functions[0]!.captures.length > 0) report(0, 0, 'the main function cannot have captures')
  // The captures of a function are known where its closure is made, so functions are analysed to a fixpoint.
  const work = new Set(chunk.functions.keys())
  let problems = 0
  for (const index of work) {
    work.delete(index)
    const flow = new Flow(chunk, index, captures, (at, text) => {
      problems++
      report(index, at, text)
    })
    flow.run()
    if (problems > 0) return
    for (const made of flow.madeClosures) if (made !== index || flow.capturesChanged) work.add(made)
  }
}

class Flow {
  readonly madeClosures = new Set<number>()
  capturesChanged = false
  private readonly chunk: ModuleChunk
  private readonly index: number
  private readonly fn: FunctionChunk
  private readonly captures: number[][]
  private readonly report: (at: number, text: string) => void
  /** States at the positions where paths meet: the start, targets, handlers. */
  private readonly states = new Map<number, State>()
  private readonly targets = new Set<number>([0])
  private readonly work: number[] = []
  private deepest = 0
  private broken = false

  constructor(chunk: ModuleChunk, index: number, captures: number[][], report: (at: number, text: string) => void) {
    this.chunk = chunk
    this.index = index
    this.fn = chunk.functions[index]!
    this.captures = captures
    this.report = report
  }

  run(): void {
    const { fn } = this
    for (let at = 0; at < fn.code.length;) {
      const { row } = instructionAt(fn, at)
      row.operands.forEach((kind, which) => {
        if (kind === 'label') this.targets.add(fn.code[at + 1 + which]!)
      })
      at += 1 + row.operands.length
    }
    for (const handler of fn.handlers) this.targets.add(handler.target)
    const slots = Array.from({ length: fn.slots }, (_, slot) => {
      if (slot >= fn.params.length) return UNSET
      return slot < fn.firstDefault || slot === fn.rest ? VALUE : VALUE | UNSET
    })
    this.meet(0, { stack: [], slots })
    while (this.work.length > 0 && !this.broken) this.follow(this.work.pop()!)
    // Otherwise a chunk could request frames that its code does not need.
    if (!this.broken && fn.stack > this.deepest) this.fail(0, `declares ${fn.stack} operands and uses ${this.deepest}`)
  }

  private fail(at: number, text: string): void {
    this.broken = true
    this.report(at, text)
  }

  /** Joins a state into the state of a position, and follows the position again if it changed. */
  private meet(at: number, state: State): void {
    const known = this.states.get(at)
    if (known === undefined) {
      this.states.set(at, { stack: state.stack.map(settleEntry), slots: [...state.slots] })
      this.work.push(at)
      return
    }
    let news = false
    state.stack.forEach((entry, depth) => {
      const before = known.stack[depth]!
      const kind = joinKinds(before.kind, entry.kind)
      if (kind === before.kind) return
      known.stack[depth] = { kind, slot: -1, test: null }
      news = true
    })
    state.slots.forEach((kind, slot) => {
      const both = joinKinds(known.slots[slot]!, kind)
      if (both === known.slots[slot]) return
      known.slots[slot] = both
      news = true
    })
    if (news) this.work.push(at)
  }

  /** Follows the path from a join position until it ends or joins another. */
  private follow(from: number): void {
    const { fn } = this
    const known = this.states.get(from)!
    const state: State = { stack: [...known.stack], slots: [...known.slots] }
    for (let at = from; ;) {
      const { name, row, operands } = instructionAt(fn, at)
      for (const handler of fn.handlers) {
        if (at < handler.start || at >= handler.end) continue
        const pops = typeof row.pops === 'number' ? row.pops : row.pops(operands)
        if (state.stack.length - (name === 'DUP' ? 0 : pops) < handler.depth)
          return this.fail(at, 'takes operands from below its handler')
        this.meet(handler.target, { stack: [...state.stack.slice(0, handler.depth), plain(FAULT)], slots: state.slots })
      }
      if (!this.step(at, name, row, operands, state)) return
      this.deepest = Math.max(this.deepest, state.stack.length)
      if (row.flow === 'end' || row.flow === 'jump') return
      at += 1 + operands.length
      if (this.targets.has(at)) return this.meet(at, state)
    }
  }

  /** Executes one instruction on kinds; false when the path is refused. Jumps join their targets here. */
  private step(at: number, name: OpcodeName, row: OpcodeRow, operands: readonly number[], state: State): boolean {
    const { stack, slots } = state
    const target = operands[row.operands.indexOf('label')] ?? -1
    const isAllowed = (entry: Entry, kinds: number): boolean => {
      const wrong = entry.kind & ~kinds
      if (wrong === 0) return true
      this.fail(at, `${name} meets ${NAMES.find(([kind]) => (wrong & kind) !== 0)?.[1] ?? 'nothing'}`)
      return false
    }
    const pop = (kinds: number): Entry | null => {
      const entry = stack.pop()!
      return isAllowed(entry, kinds) ? entry : null
    }
    switch (name) {
      case 'DUP': {
        const top = stack.at(-1)!
        // It is shared now.
        const kind = markShared(top.kind)
        stack[stack.length - 1] = { ...top, kind }
        stack.push({ ...top, kind })
        return true
      }
      case 'LOAD':
      case 'LOAD_SHARED': {
        const slot = operands[0]!
        if (!isAllowed(plain(slots[slot]!), ANYTHING)) return false
        stack.push({ kind: slots[slot]!, slot, test: null })
        return true
      }
      case 'STORE': {
        const entry = pop(ANYTHING)
        if (entry === null) return false
        this.write(state, operands[0]!, markShared(entry.kind))
        return true
      }
      case 'OWN':
      case 'OWN_PROP':
      case 'OWN_INDEX': {
        const read = name === 'OWN_PROP' ? operands.slice(0, 2) : operands
        for (const slot of read) if (!isAllowed(plain(slots[slot]!), ANY_VALUE)) return false
        this.write(state, operands[0]!, VALUE)
        return true
      }
      case 'PUT_PROP':
      case 'PUT_INDEX':
        if (pop(ANY_VALUE) === null || (name === 'PUT_INDEX' && pop(ANY_VALUE) === null)) return false
        return isAllowed(plain(slots[operands[0]!]!), ANY_VALUE)
      case 'NEW_CELL':
        this.write(state, operands[0]!, CELL)
        return true
      case 'SET_CELL': {
        const entry = pop(ANY_VALUE)
        if (entry === null || !isAllowed(plain(slots[operands[0]!]!), CELL)) return false
        stack.push(plain(markShared(entry.kind)))
        return true
      }
      case 'LOAD_CAPTURE': {
        // 0 until a closure of this function is made: before that it cannot run.
        stack.push(plain(this.captures[this.index]![operands[0]!]! || VALUE))
        return true
      }
      case 'CLOSURE':
        return this.closure(at, operands, state, isAllowed)
      case 'DEFINE_IMPL':
        for (let count = operands[2]!; count > 0; count--) if (pop(CLOSURE) === null) return false
        return true
      case 'CHECK_PARAM':
        return isAllowed(plain(slots[operands[0]!]!), ANY_VALUE)
      case 'JUMP_IF_PASSED': {
        const slot = operands[0]!
        this.meet(target, { stack, slots: slots.with(slot, slots[slot]! & ~UNSET || VALUE) })
        return true
      }
      case 'JUMP_IF_NOT_NIL': {
        const top = pop(ANY_VALUE | FAULT)
        if (top === null) return false
        this.meet(target, { stack: [...stack, plain(top.kind & ~NIL)], slots })
        stack.push(plain(NIL))
        return true
      }
      case 'JUMP_IF_END': {
        const top = pop(ANY_VALUE | END)
        if (top === null) return false
        this.meet(target, { stack: [...stack, plain(END)], slots })
        stack.push(plain(top.kind & ~END))
        return true
      }
      case 'JUMP_IF_FALSE':
      case 'JUMP_IF_TRUE': {
        const condition = pop(ANY_VALUE)
        if (condition === null) return false
        const { test } = condition
        const proven = test === null ? slots : slots.with(test.slot, test.kind)
        this.meet(target, { stack, slots: name === 'JUMP_IF_TRUE' ? proven : slots })
        if (test !== null && name === 'JUMP_IF_FALSE') slots[test.slot] = test.kind
        return true
      }
    }
    const { takes, gives } = NEEDS[name] ?? {}
    const pops = typeof row.pops === 'number' ? row.pops : row.pops(operands)
    let tested: Entry | null = null
    for (let which = pops - 1; which >= 0; which--) {
      tested = pop(takes?.[which] ?? ANY_VALUE)
      if (tested === null) return false
    }
    const test = TESTS[name]
    for (let which = 0; which < row.pushes; which++) {
      stack.push({
        kind: gives?.[which] ?? VALUE,
        slot: -1,
        test: test !== undefined && tested !== null && tested.slot >= 0 ? { slot: tested.slot, kind: test } : null,
      })
    }
    if (target >= 0) this.meet(target, state)
    return true
  }

  private closure(
    at: number,
    operands: readonly number[],
    { stack }: State,
    allowed: (entry: Entry, kinds: number) => boolean,
  ): boolean {
    const [made = 0, count = 0] = operands
    const known = this.captures[made]!
    if (count !== known.length) {
      this.fail(at, `CLOSURE of function ${made} brings ${count} captures, which has ${known.length}`)
      return false
    }
    for (let which = count - 1; which >= 0; which--) {
      const entry = stack.pop()!
      if (!allowed(entry, ANY_VALUE | CELL)) return false
      const kind = joinKinds(known[which]!, markShared(entry.kind))
      if (kind === known[which]) continue
      known[which] = kind
      this.madeClosures.add(made)
      if (made === this.index) this.capturesChanged = true
    }
    stack.push(plain(CLOSURE))
    return true
  }

  /** Facts about the slot's old content no longer hold. */
  private write({ stack, slots }: State, slot: number, kind: number): void {
    slots[slot] = kind
    stack.forEach((entry, depth) => {
      if (entry.slot === slot || entry.test?.slot === slot) stack[depth] = plain(entry.kind)
    })
  }
}

function plain(kind: number): Entry {
  return { kind, slot: -1, test: null }
}

function settleEntry(entry: Entry): Entry {
  return plain(entry.kind)
}

/** A new container may now be shared. */
function markShared(kind: number): number {
  return (kind & ~(NEW_LIST | NEW_DICT)) | ((kind & NEW_LIST) === 0 ? 0 : LIST) | ((kind & NEW_DICT) === 0 ? 0 : DICT)
}

/** A list on one path and a dict on the other join to an unknown value. NIL stays separate, because a test can remove it again. */
function joinKinds(x: number, y: number): number {
  if (x === y) return x
  const both = x | y
  const known = both & (LIST | DICT | ENUM | CLOSURE | NEW_LIST | NEW_DICT)
  if (x === 0 || y === 0 || known === 0) return both
  return (x & known) === known && (y & known) === known ? both : (both & ~known) | VALUE
}

function instructionAt(
  fn: FunctionChunk,
  at: number,
): { readonly name: OpcodeName; readonly row: OpcodeRow; readonly operands: readonly number[] } {
  const { name, row } = OPCODE_BY_CODE[fn.code[at]!]!
  return { name, row, operands: fn.code.slice(at + 1, at + 1 + row.operands.length) }
}
