// Which slots a linked instruction reads and writes, and how control leaves it, by the columns of OPERATIONS: the input of
// data-flow analysis.

import { LINKED, OPERATION_BY_CODE } from '../interpreter/linked.js'
import type { Instr } from '../interpreter/linked.js'

/** Slots that `i` reads. */
export function listReads(i: Instr): number[] {
  switch (OPERATION_BY_CODE[i.op]!.reads) {
    case '':
      return []
    case 'b':
      return [i.b]
    case 'c':
      return [i.c]
    case 'bc':
      return [i.b, i.c]
    case 'bcd':
      return [i.b, i.c, i.d]
    case 'pair':
      return [i.b, i.b + 1]
    case 'run':
      return run(i.b, i.c)
    case 'values':
      return Array.from({ length: i.c / 2 }, (_, at) => i.b + 2 * at + 1)
    case 'run+':
      return run(i.b, i.c + 1)
    case 'args':
      return run(i.d, i.c)
    case 'b args':
      return [i.b, ...run(i.d, i.c)]
    case 'b c? d?':
      return [i.b, i.c, i.d].filter((slot) => slot >= 0)
  }
}

/** First slot of the arguments of a call; for a method, the receiver is the first. */
export function locateArguments(i: Instr): { readonly from: number; readonly count: number } {
  return i.op === LINKED.CALL_METHOD ? { from: i.b, count: i.c + 1 } : { from: i.d, count: i.c }
}

function run(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + at)
}

/** The slot that `i` writes when control continues at `next`, -1 for none. */
export function findWrite(i: Instr): number {
  return OPERATION_BY_CODE[i.op]!.writes ? i.a : -1
}

/** Successors, the jump's target last; null when `i` just falls through. A tail call leaves the function. */
export function listSuccessors(i: Instr): Instr[] | null {
  switch (OPERATION_BY_CODE[i.op]!.flow) {
    case 'end':
      return []
    case 'jump':
      return [i.target]
    case 'branch':
      return [i.next, i.target]
    case null:
      return null
  }
}

/** Whether a handler around `i` can be entered from it. */
export function mayFault(i: Instr): boolean {
  return OPERATION_BY_CODE[i.op]!.faults
}
