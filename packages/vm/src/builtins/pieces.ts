// Bulk work in pieces, so that one call on much data does not keep the host's thread: the machine may end its slice between two
// pieces. The work must be pure. What is half done lives outside the frame's state and is in no snapshot; a run that is restored in
// the middle does the pieces again that were done, from the same arguments, and does not pay for them twice. It has slices for
// them, too: a host that takes a snapshot now and then must not wait for all of them at once.

import { frame } from './builtin.js'
import { countUnitsDone, countUnitsPaid, runUnmetered, visit, work } from '../values/meter.js'
import type { Context, FrameDef, FrameState, Result } from './builtin.js'
import type { Value } from '../values/value.js'

/** Units of work between two chances to end the slice. */
export const PIECE = 20_000

/** What a piece may do. The work counts `left` down, and may overdraw it by its last step. */
export interface Budget {
  left: number
  /** What of it was paid when it was done: scans, and walks that are not small (values/meter.ts). */
  paid: number
  /** Heap units of what the piece made. */
  heap: number
}

export interface Work {
  /** Goes on until the budget is spent or all is done; the result, or undefined when there is more to do. */
  step(ctx: Context, budget: Budget): Result | undefined
}

/** Elements between two looks at what walks have cost. */
const AT_ONCE = 16

/** Takes off what was metered since `before` and `paidBefore`. */
function takeMetered(budget: Budget, before: number, paidBefore: number): void {
  budget.left -= countUnitsDone() - before
  budget.paid += countUnitsPaid() - paidBefore
}

/**
 * The usual work: `visit` does one element after the other and counts the budget down, `end` has the result; `visit` may have it
 * before. What is metered meanwhile (display, keys, equality, scans of texts) counts too, also where it is else part of an operation.
 */
export function makeEachWork(
  length: number,
  visit: (at: number, budget: Budget) => Result | undefined,
  end: (ctx: Context) => Result,
): Work {
  let at = 0
  return {
    step: (ctx, budget) => {
      while (at < length) {
        if (budget.left <= 0) return undefined
        const before = countUnitsDone()
        const paidBefore = countUnitsPaid()
        const to = Math.min(length, at + AT_ONCE)
        let early: Result | undefined
        while (at < to && early === undefined && budget.left > 0) early = visit(at++, budget)
        takeMetered(budget, before, paidBefore)
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
export function makeStepWork(steps: Steps): Work {
  return {
    step: (ctx, budget) => {
      while (budget.left > 0) {
        const before = countUnitsDone()
        const paidBefore = countUnitsPaid()
        const next = steps.next()
        takeMetered(budget, before, paidBefore)
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

/** Pays for work of any size that has been done, or is one of its kind: by as many steps as that takes. */
export function* spread(units: number, heap: number): Generator<Cost, void, void> {
  for (; units > PIECE; units -= PIECE) yield { units: PIECE, heap: 0 }
  yield { units, heap }
}

/** Does the work of `makeStepWork` at once, for who cannot be interrupted: it must fit into one operation. */
export function runAtOnce<T>(steps: Generator<Cost, T, void>): T {
  for (let total = 0; ;) {
    const next = steps.next()
    if (next.done === true) return next.value
    total = visit(total, next.value.units)
  }
}

interface PiecesState extends FrameState {
  args: readonly Value[]
  /** Pieces that were done and paid for. */
  done: number
  /** How often the work was begun again; absent in snapshots of before. */
  restored?: number
  /** Heap units of what is half done (interpreter/heap.ts). */
  heldHeap: number
}

export interface Pieces {
  readonly frame: FrameDef
  /** Does the work at once when it is little, else as a frame. */
  readonly run: (ctx: Context, ...args: Value[]) => Result
}

interface Begun {
  readonly work: Work
  /** Pieces that this machine did, less than `done` of the state where another one began. */
  done: number
}

/** The most pieces that a step does again, as a power of two. */
const MOST_AGAIN_BITS = 20

/**
 * Twice as many pieces in a step each time the work is begun again: a host that restores the run after every slice would never see its
 * end else.
 */
function doAgain(ctx: Context, begun: Begun, state: PiecesState): Result | undefined {
  const to = Math.min(state.done, begun.done + (1 << Math.min(state.restored ?? 0, MOST_AGAIN_BITS)))
  return runUnmetered(() => {
    let early: Result | undefined
    while (begun.done < to && early === undefined) {
      early = begun.work.step(ctx, makeBudget())
      begun.done += 1
    }
    return early
  })
}

const makeBudget = (): Budget => ({ left: PIECE, paid: 0, heap: 0 })

/** `begin` prepares the work for arguments; it must be quick, or charge. */
export function definePieces(kind: string, begin: (args: readonly Value[]) => Work): Pieces {
  const halfDone = new WeakMap<readonly Value[], Begun>()
  return {
    frame: frame<PiecesState>({
      kind,
      // Nothing is called, so that it is no run of its own.
      runBoundary: false,
      step: (ctx, state) => {
        let begun = halfDone.get(state.args)
        if (begun === undefined) {
          state.restored = (state.restored ?? 0) + 1
          begun = runUnmetered(() => ({ work: begin(state.args), done: 0 }))
          halfDone.set(state.args, begun)
        }
        if (begun.done < state.done) {
          const before = begun.done
          const early = doAgain(ctx, begun, state)
          if (early !== undefined) return early
          if (begun.done < state.done) {
            ctx.machine.repeated?.((begun.done - before) * PIECE)
            return ctx.again()
          }
        }
        const budget = makeBudget()
        const result = begun.work.step(ctx, budget)
        begun.done += 1
        state.done += 1
        state.heldHeap += budget.heap
        ctx.charge(PIECE - budget.left - budget.paid, budget.heap)
        return result === undefined ? ctx.again() : result
      },
    }),
    run: (ctx, ...args) => {
      const begun = begin(args)
      const budget = makeBudget()
      const result = begun.step(ctx, budget)
      ctx.charge(PIECE - budget.left - budget.paid, budget.heap)
      if (result !== undefined) return result
      halfDone.set(args, { work: begun, done: 1 })
      const state: PiecesState = { args, done: 1, heldHeap: budget.heap }
      return ctx.frame(kind, state)
    },
  }
}
