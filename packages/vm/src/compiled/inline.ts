// Calls that are inlined: small callees without loops, handlers or further calls. Inlining saves not the
// call, which V8 does well, but the boxes: arguments and result stay raw, and what is known of them is known inside.
//
// A call is inlined if the callee can be determined from the code: a closure in a capture or a module's slot when the code is
// generated, or the struct method that the call found last. The generated code checks that it is still that function.
// When the inlined part leaves, it leaves as two activations, like the call that it replaces.

import { HarnCell, HarnClosure } from '../values/callable.js'
import { LINKED, OPERATION_BY_CODE } from '../interpreter/linked.js'
import { getGraph } from './graph.js'
import { Region } from './region.js'
import { locateArguments, findWrite } from './operands.js'
import { findLastMethod } from '../interpreter/calls.js'
import { leavesCode } from './templates.js'
import { ANY } from './entry-types.js'
import { applyAfter, applyBefore, findFloatReads, SAW_OTHERS, solveTypes } from './types.js'
import type { Instr, MethodSite } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { Value } from '../values/value.js'
import type { Machine } from '../interpreter/machine.js'
import type { Block, FlowGraph } from './graph.js'
import type { Callee, Guesses, Origin, TakenIn, Types } from './types.js'

/** Maximum instructions of an inlined callee, and of all inlined callees of one unit. */
const MOST_INSTRS = 48
const MOST_IN_ALL = 240

const L = LINKED

/** A callee inlined into its caller. */
class InlinedCall implements Callee {
  readonly code: FunctionCode
  readonly graph: FlowGraph
  readonly region: Region
  readonly guessed: Guesses
  private readonly solved = new Map<string, { readonly states: Map<Block, Types>; readonly result: number }>()

  constructor(code: FunctionCode, graph: FlowGraph, region: Region) {
    this.code = code
    this.graph = graph
    this.region = region
    const allowed = code.compiled.guesses
    this.guessed = { allowed, floatReads: allowed ? findFloatReads(region.order) : new Set(), inlined: new Map() }
  }

  /** Types inside, and of the result, for arguments whose types are at `from` in the caller. */
  solve(types: Types, from: number): { readonly states: Map<Block, Types>; readonly result: number } {
    const entry = new Uint8Array(this.code.frameSize)
    for (let slot = 0; slot < this.code.paramCount; slot++)
      if (this.graph.entry.live[slot] === 1) entry[slot] = types[from + slot]!
    const name = entry.join()
    let known = this.solved.get(name)
    if (known === undefined) {
      const states = solveTypes(this.region, entry, this.guessed, leavesCode)
      known = { states, result: this.inferResult(states) }
      this.solved.set(name, known)
    }
    return known
  }

  private inferResult(states: Map<Block, Types>): number {
    let result = -1
    for (const [block, state] of states) {
      const types = state.slice()
      for (const i of block.instrs) {
        if (leavesCode(i)) break
        applyBefore(i, types)
        if (i.op === L.RETURN) result = result < 0 || result === types[i.b] ? types[i.b]! : ANY
        if (i !== block.last || block.successors.length === 1) applyAfter(i, types, this.guessed)
      }
    }
    return result < 0 ? ANY : result
  }
}

/** The function if it can be inlined. */
export function findInlinable(code: FunctionCode): Callee | null {
  if (code.exactCount < 0 || !code.plain || code.takes !== 0) return null
  const graph = getGraph(code)
  if (graph === null) return null
  let size = 0
  for (const { instrs, handler } of graph.listBlocks()) {
    size += instrs.length
    // Its result would need a check.
    if (instrs.some((i) => i.op === L.RETURN && i.c === 1)) return null
    if (handler !== null || size > MOST_INSTRS || !instrs.every((i) => OPERATION_BY_CODE[i.op]!.inlined && !leavesCode(i)))
      return null
  }
  const region = new Region(graph.entry, (block) => block.successors)
  return region.loops.size > 0 ? null : new InlinedCall(code, graph, region)
}

interface Known {
  readonly value: Value
  readonly origin: Origin
}

/**
 * The calls in `blocks` that are inlined. `closure` is one that runs them; `steady` returns the value of a slot that they do not
 * write to.
 */
export function chooseInlinedCalls(
  m: Machine,
  closure: HarnClosure,
  blocks: readonly Block[],
  steady: (slot: number) => unknown,
): Map<Instr, TakenIn> {
  const calls = new Map<Instr, TakenIn>()
  const known = new Map<FunctionCode, Callee | null>()
  let left = MOST_IN_ALL
  for (const { instrs } of blocks) {
    const values = new Map<number, Known>()
    const read = (slot: number): Known | undefined => {
      const found = values.get(slot)
      if (found !== undefined) return found
      const value = steady(slot)
      return value === undefined ? undefined : { value: value as Value, origin: { kind: 'slot', at: slot } }
    }
    for (const i of instrs) {
      const isCall = (i.op === L.CALL || i.op === L.CALL_NAMED) && i.kind !== SAW_OTHERS
      const { value: callee, origin = null } =
        (isCall ? read(i.b) : i.op === L.CALL_METHOD ? findSeenMethod(m, i) : undefined) ?? {}
      if (callee instanceof HarnClosure && callee.code !== closure.code && callee.code.exactCount === locateArguments(i).count) {
        const { code } = callee
        if (!known.has(code)) known.set(code, findInlinable(code))
        const call = known.get(code)!
        left -= call === null ? 0 : MOST_INSTRS
        if (call !== null && left >= 0) calls.set(i, { call, origin })
      }
      const found = findLoaded(m, closure, i, read)
      const result = findWrite(i)
      if (found !== undefined) values.set(result, found)
      else values.delete(result)
    }
  }
  return calls
}

/** The struct method that a call found last, if it found no other. */
function findSeenMethod(m: Machine, i: Instr): Known | undefined {
  if (i.d !== 0 || i.kind !== 0 || i.cache !== null) return undefined
  const value = findLastMethod(m, i.k as MethodSite)
  return value === null ? undefined : { value, origin: null }
}

/** The value that `i` loads, if it is known now; without an origin it may change later. */
function findLoaded(m: Machine, closure: HarnClosure, i: Instr, read: (slot: number) => Known | undefined): Known | undefined {
  const toKnown = (value: Value | undefined): Known | undefined => (value === undefined ? undefined : { value, origin: null })
  switch (i.op) {
    case L.LOAD_CAPTURE:
      return { value: closure.captures[i.b]!, origin: { kind: 'capture', at: i.b } }
    case L.LOAD_MODULE:
    case L.LOAD_MODULE_SHARED:
      return toKnown(m.moduleSlots(closure.code.module)[i.b])
    case L.CELL_CALLABLE:
    case L.CELL_VARIABLE: {
      const cell = read(i.b)?.value
      return toKnown(cell instanceof HarnCell ? cell.value : undefined)
    }
    case L.MOVE:
    case L.SHARE:
      return read(i.b)
    default:
      return undefined
  }
}
