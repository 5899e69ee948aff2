// Immutable values that are not JavaScript primitives. Each class has one fixed shape; none holds a reference to a machine.

import type { Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnFloat: HarnFloat
    HarnDuration: HarnDuration
    HarnBytes: HarnBytes
    HarnRange: HarnRange
    HarnPair: HarnPair
    HarnEnum: HarnEnum
  }
}

/** A float in a generic slot. Ints are bare numbers, so that 1 and 1.0 stay distinct (docs/decisions, value representation). */
export class HarnFloat {
  readonly v: number
  constructor(v: number) {
    this.v = v
  }
}

/** Signed milliseconds, an exact int (number within ±2^53, else bigint). */
export class HarnDuration {
  readonly ms: number | bigint
  constructor(ms: number | bigint) {
    this.ms = ms
  }
}

export class HarnBytes {
  readonly data: Uint8Array
  constructor(data: Uint8Array) {
    this.data = data
  }
}

/** Lazy int interval. `end` is the bound as written; `exclusive` says whether it is excluded. Bounds are ints. */
export class HarnRange {
  readonly start: number | bigint
  readonly end: number | bigint
  readonly exclusive: boolean
  constructor(start: number | bigint, end: number | bigint, exclusive: boolean) {
    this.start = start
    this.end = end
    this.exclusive = exclusive
  }

  /** Number of ints in the range, 0 when it is empty. */
  get length(): number {
    const count = Number(this.end) - Number(this.start) + (this.exclusive ? 0 : 1)
    return count > 0 ? count : 0
  }
}

export class HarnPair {
  readonly first: Value
  readonly second: Value
  constructor(first: Value, second: Value) {
    this.first = first
    this.second = second
  }
}

export class HarnEnum {
  readonly enumName: string
  readonly variant: string
  readonly fields: readonly Value[]
  constructor(enumName: string, variant: string, fields: readonly Value[]) {
    this.enumName = enumName
    this.variant = variant
    this.fields = fields
  }
}

export function ok(value: Value): HarnEnum {
  return new HarnEnum('Result', 'Ok', [value])
}

export function err(value: Value): HarnEnum {
  return new HarnEnum('Result', 'Err', [value])
}
