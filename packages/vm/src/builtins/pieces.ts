// Bulk work in pieces, so that one call on much data does not keep the host's thread: the machine may end its slice between two
// pieces. The work must be pure. What is half done lives outside the frame's state and is in no snapshot; a run that is restored in
// the middle does the pieces again that were done, from the same arguments, and does not pay for them twice.

import { frame } from './builtin.js'
import { payBy, smallVisits, work } from '../values/meter.js'
import type { Context, FrameDef, FrameState, Result } from './builtin.js'
import type { Value } from '../values/value.js'

/** Units of work between two chances to end the slice. */
export const PIECE = 20_000

/** What a piece may do. The work counts `left` down, and may overdraw it by its last step. */
export interface Budget {
  left: number
  /** Heap units of what the piece made. */
  heap: number
}

export interface Work {
  /** Goes on until the budget is spent or all is done; the result, or undefined when there is more to do. */
  step(ctx: Context, budget: Budget): Result | undefined
}

/** Elements between two looks at what walks have cost. */
const AT_ONCE = 16

/**
 * The usual work: `visit` does one element after the other and counts the budget down, `end` has the result; `visit` may have it
 * before. Small walks over what lies in an element (display, keys, equality), which are otherwise part of the operation, count here.
 */
export function eachOf(
  length: number,
  visit: (at: number, budget: Budget) => Result | undefined,
  end: (ctx: Context) => Result,
): Work {
  let at = 0
  return {
    step: (ctx, budget) => {
      while (at < length) {
        if (budget.left <= 0) return undefined
        const before = smallVisits()
        const to = Math.min(length, at + AT_ONCE)
        let early: Result | undefined
        while (at < to && early === undefined && budget.left > 0) early = visit(at++, budget)
        budget.left -= smallVisits() - before
        if (early !== undefined) return early
      }
      return end(ctx)
    },
  }
}

/** What a step that is about to be done takes. */
export interface Cost {
  readonly units: number
  readonly heap: number
}

/** A generator that says before each step what it takes; what takes longer than a piece must fit into one operation. */
export type Steps = Generator<Cost, (ctx: Context) => Result, void>

/** Work that is written as one function, with a `yield` wherever it may be interrupted. */
export function inSteps(steps: Steps): Work {
  return {
    step: (ctx, budget) => {
      while (budget.left > 0) {
        const next = steps.next()
        if (next.done === true) return next.value(ctx)
        const { units, heap } = next.value
        budget.heap += heap
        if (units > PIECE) {
          // It is paid for, and is the first of the next piece.
          work(units)
          return undefined
        }
        budget.left -= units
      }
      return undefined
    },
  }
}

interface PiecesState extends FrameState {
  args: readonly Value[]
  /** Pieces that were done and paid for. */
  done: number
  /** Heap units of what is half done (interpreter/heap.ts). */
  heldHeap: number
}

export interface Pieces {
  readonly frame: FrameDef
  /** Does the work at once when it is little, else as a frame. */
  readonly run: (ctx: Context, ...args: Value[]) => Result
}

/** `begin` prepares the work for arguments; it must be quick, or charge. */
export function inPieces(kind: string, begin: (args: readonly Value[]) => Work): Pieces {
  const halfDone = new WeakMap<readonly Value[], Work>()
  return {
    frame: frame<PiecesState>({
      kind,
      // Nothing is called, so that it is no run of its own.
      runBoundary: false,
      step: (ctx, state) => {
        let begun = halfDone.get(state.args)
        if (begun === undefined) {
          const payer = payBy(null)
          begun = begin(state.args)
          for (let at = 0; at < state.done; at++) begun.step(ctx, { left: PIECE, heap: 0 })
          payBy(payer)
          halfDone.set(state.args, begun)
        }
        const budget: Budget = { left: PIECE, heap: 0 }
        const result = begun.step(ctx, budget)
        state.done += 1
        state.heldHeap += budget.heap
        ctx.charge(PIECE - budget.left, budget.heap)
        return result === undefined ? ctx.again() : result
      },
    }),
    run: (ctx, ...args) => {
      const begun = begin(args)
      const budget: Budget = { left: PIECE, heap: 0 }
      const result = begun.step(ctx, budget)
      ctx.charge(PIECE - budget.left, budget.heap)
      if (result !== undefined) return result
      halfDone.set(args, begun)
      const state: PiecesState = { args, done: 1, heldHeap: budget.heap }
      return ctx.frame(kind, state)
    },
  }
}
