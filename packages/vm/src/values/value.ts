// The Value union and its representation. nil, bool and string are JavaScript primitives; an int is a JavaScript integer
// within ±2^53 (never -0) or, beyond, a bigint within signed 64 bits, always normalised; everything else is an instance of one
// class with a fixed shape. Why: docs/decisions, value representation.

import { HarnBuiltin, HarnCell, HarnClosure, HarnStruct } from './callable.js'
import { HarnDict } from './dict.js'
import { EndOfIteration, HarnAtomic, HarnChannel, HarnGenerator, HarnIter, HarnPermit, HarnRng, HarnTask } from './handles.js'
import { HarnList } from './list.js'
import { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange } from './scalars.js'
import { HarnSet } from './set.js'
import type { Int, Value } from './types.js'

export type { Int, Value } from './types.js'

/** Largest int that is a JavaScript number. */
export const EXACT = Number.MAX_SAFE_INTEGER

/** Wraps to signed 64 bits and normalises. */
export function wrapInt(value: bigint): Int {
  const wrapped = BigInt.asIntN(64, value)
  return wrapped >= -9007199254740991n && wrapped <= 9007199254740991n ? Number(wrapped) : wrapped
}

export function isInt(value: Value): value is Int {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function isCallable(value: Value): value is HarnClosure | HarnBuiltin {
  return value instanceof HarnClosure || value instanceof HarnBuiltin
}

/** The name that `type_of` returns. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
    case 'bigint':
      return 'int'
    case 'boolean':
      return 'bool'
  }
  if (value === null) return 'nil'
  if (value instanceof HarnList) return 'list'
  if (value instanceof HarnDict) return 'dict'
  if (value instanceof HarnFloat) return 'float'
  if (value instanceof HarnClosure) return 'closure'
  if (value instanceof HarnBuiltin) return 'builtin'
  if (value instanceof HarnStruct) return 'struct'
  if (value instanceof HarnEnum) return 'enum'
  if (value instanceof HarnSet) return 'set'
  if (value instanceof HarnRange) return 'range'
  if (value instanceof HarnPair) return 'pair'
  if (value instanceof HarnDuration) return 'duration'
  if (value instanceof HarnBytes) return 'bytes'
  if (value instanceof HarnIter) return 'iter'
  if (value instanceof HarnGenerator) return value.kind
  if (value instanceof HarnChannel) return 'channel'
  if (value instanceof HarnTask) return 'task_handle'
  if (value instanceof HarnAtomic) return 'atomic'
  if (value instanceof HarnRng) return 'rng'
  if (value instanceof HarnPermit) return 'sync_permit'
  if (value instanceof HarnCell) return typeName(value.value)
  if (value instanceof EndOfIteration) return 'nil'
  return value.kind
}

export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value
    case 'number':
      return value !== 0
    case 'string':
      return value !== ''
    case 'bigint':
      return true
  }
  if (value === null) return false
  if (value instanceof HarnList) return value.length > 0
  if (value instanceof HarnDict) return value.size > 0
  if (value instanceof HarnFloat) return value.v !== 0
  if (value instanceof HarnSet) return value.size > 0
  if (value instanceof HarnDuration) return value.ms !== 0
  if (value instanceof HarnBytes) return value.data.length > 0
  return true
}
