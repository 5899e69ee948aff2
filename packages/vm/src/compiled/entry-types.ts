// The types that compiled code distinguishes (types.ts infers them), and which values have them: needed where the base tier
// enters compiled code. Separate from types.ts, because an entry needs no other part of the compiler.

import { HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat, HarnRange } from '../values/scalars.js'

/** 0: no value or a dead one. */
export const UNSET = 0
/** Any value, in the representation of lists and fields. */
export const ANY = 1
/** A float, raw. */
export const FLOAT = 2
/** An int that is a JavaScript number. */
export const NUMBER = 3
export const BOOL = 4
/** A list; its element type is unknown. */
export const LIST = 5
/** A range whose bounds are numbers, kept in variables: no object exists. */
export const RANGE = 6
/** An iterator over such a range, at a number. */
export const RANGE_ITER = 7
/** An iterator over a list. */
export const LIST_ITER = 8
/** As RANGE_ITER, in variables; only the loop references it. */
export const COUNTER = 9
/** A string literal of the code, short and without surrogates. */
export const TEXT = 10
export const NIL = 11

/** Whether a value has `type`: the guards at an entry. */
export function fits(type: number, value: unknown): boolean {
  switch (type) {
    case FLOAT:
      return value instanceof HarnFloat
    case NUMBER:
      return typeof value === 'number'
    case LIST:
      return value instanceof HarnList
    case RANGE_ITER:
    case COUNTER:
      return (
        value instanceof HarnIter && value.op === 'range' && typeof value.state[1] === 'number' && isNumberRange(value.state[0])
      )
    case LIST_ITER:
      return value instanceof HarnIter && value.op === 'list'
    default:
      return type === ANY
  }
}

function isNumberRange(value: unknown): boolean {
  return value instanceof HarnRange && typeof value.end === 'number'
}
