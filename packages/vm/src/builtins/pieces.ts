// Splits bulk work into pieces, so that one call on much data does not block the host's thread: the machine may end its slice
// between two pieces. The work must be pure. Unfinished work lives outside the frame's state and is in no snapshot. A run that is
// restored in the middle repeats the finished pieces from the same arguments, and is not charged twice. The repeated pieces are also
// spread over slices: a host that takes regular snapshots must not wait for all of them at once.

import { frame } from './builtin.js'
import { countUnitsDone, countUnitsPaid, runUnmetered, visit, work } from '../values/meter.js'
import type { Context, FrameDef, FrameState, Result } from './builtin.js'
import type { Value } from '../values/value.js'

/** Units of work between two chances to end the slice. */
export const PIECE = 20_000

/** What a piece may use. The work counts `left` down; its last step may make it negative. */
export interface Budget {
  left: number
  /** The part that was charged while it was done: scans, and walks that are not small (values/meter.ts). */
  paid: number
  /** Heap units of what the piece allocated. */
  heap: number
}

export interface Work {
  /** Continues until the budget is spent or the work is done; returns the result, or undefined when there is more to do. */
  step(ctx: Context, budget: Budget): Result | undefined
}

/** Elements between two checks of what walks have cost. */
const AT_ONCE = 16

/** Subtracts what was metered since `before` and `paidBefore`. */
function takeMetered(budget: Budget, before: number, paidBefore: number): void {
  budget.left -= countUnitsDone() - before
  budget.paid += countUnitsPaid() - paidBefore
}

/**
 * The usual form: `visit` handles one element after the other and counts the budget down, `end` returns the result; `visit` may return
 * it earlier. Metered work (formatting, keys, equality, scans of strings) counts too, even where it is otherwise part of an operation.
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

/** Units of the next step. */
export interface Cost {
  readonly units: number
  readonly heap: number
}

/** A generator that yields the cost of each step before doing it. A step that costs more than a piece must fit into one operation. */
export type Steps = Generator<Cost, (ctx: Context) => Result, void>

/** Work written as one generator function, with a `yield` wherever it may be interrupted. */
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
          // It is charged, and is the first step of the next piece.
          work(units)
          return undefined
        }
        budget.left -= units
      }
      return undefined
    },
  }
}

/** Charges for work of any size, in as many steps as that takes. */
export function* spread(units: number, heap: number): Generator<Cost, void, void> {
  for (; units > PIECE; units -= PIECE) yield { units: PIECE, heap: 0 }
  yield { units, heap }
}

/** Does the work of `makeStepWork` at once, for callers that cannot be interrupted. It must fit into one operation. */
export function runAtOnce<T>(steps: Generator<Cost, T, void>): T {
  for (let total = 0; ;) {
    const next = steps.next()
    if (next.done === true) return next.value
    total = visit(total, next.value.units)
  }
}

interface PiecesState extends FrameState {
  args: readonly Value[]
  /** Pieces that were done and charged. */
  done: number
  /** How often the work was started again; absent in older snapshots. */
  restored?: number
  /** Heap units of the unfinished result (interpreter/heap.ts). */
  heldHeap: number
}

export interface Pieces {
  readonly frame: FrameDef
  /** Does little work at once, more work in a frame. */
  readonly run: (ctx: Context, ...args: Value[]) => Result
}

interface Begun {
  readonly work: Work
  /** Pieces done by this machine; less than `done` of the state if another machine started the work. */
  done: number
}

/** The most pieces that one step repeats, as a power of two. */
const MOST_AGAIN_BITS = 20

/**
 * Doubles the pieces per step each time the work is started again. Otherwise a host that restores after every slice makes no
 * progress.
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

/** `begin` prepares the work for the arguments. It must be fast, or charge. */
export function definePieces(kind: string, begin: (args: readonly Value[]) => Work): Pieces {
  const halfDone = new WeakMap<readonly Value[], Begun>()
  return {
    frame: frame<PiecesState>({
      kind,
      // It calls nothing, so it is not a separate run.
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
