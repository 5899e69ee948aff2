// Mutable handles that scripts hold: iterators, generators, channels, tasks, atomics, permits, handles to outside resources.
// They are plain data reachable from the machine; a function needed to advance one is named, never stored.

import type { Stack, Value } from './types.js'

declare module './types.js' {
  interface ValueClasses {
    HarnIter: HarnIter
    HarnGenerator: HarnGenerator
    HarnChannel: HarnChannel
    HarnTask: HarnTask
    HarnAtomic: HarnAtomic
    HarnRng: HarnRng
    HarnPermit: HarnPermit
    HarnHandle: HarnHandle
    EndOfIteration: EndOfIteration
  }
}

/**
 * A lazy single-pass iterator. `op` names a row of the iterator table (builtins/iter.ts) that knows how to advance it, and
 * `state` is its plain data: values, numbers, nested HarnIter sources.
 */
export class HarnIter {
  readonly op: string
  readonly state: Value[]
  done = false
  constructor(op: string, state: Value[]) {
    this.op = op
    this.state = state
  }
}

/** A running coroutine: `generator` made by `yield`, `stream` by `gen fn`. */
export class HarnGenerator {
  readonly kind: 'generator' | 'stream'
  coroutine: Stack | null
  done = false
  constructor(kind: 'generator' | 'stream', coroutine: Stack | null) {
    this.kind = kind
    this.coroutine = coroutine
  }
}

/** `id` counts within the machine; it names the queues of waiting tasks (builtins/channels.ts). */
export class HarnChannel {
  readonly name: string
  readonly capacity: number
  readonly id: number
  readonly buffer: Value[] = []
  closed = false
  constructor(name: string, capacity: number, id: number) {
    this.name = name
    this.capacity = capacity
    this.id = id
  }
}

export class HarnTask {
  readonly id: number
  /** Number of tasks that its parent had spawned by then, including this one: part of its id for scripts. */
  readonly number: number
  constructor(id: number, number: number) {
    this.id = id
    this.number = number
  }
}

export class HarnAtomic {
  value: number | bigint
  constructor(value: number | bigint) {
    this.value = value
  }
}

/** State of a seeded generator: four 32-bit words of xoshiro128**, as plain numbers. */
export class HarnRng {
  readonly words: number[]
  constructor(words: number[]) {
    this.words = words
  }
}

export class HarnPermit {
  readonly kind: string
  readonly key: string
  readonly id: number
  released = false
  constructor(kind: string, key: string, id: number) {
    this.kind = kind
    this.key = key
    this.id = id
  }
}

/** A key of a resource outside the machine. `descriptor` is plain JSON that says how to open it again. */
export class HarnHandle {
  readonly kind: string
  readonly id: string
  readonly descriptor: Value
  constructor(kind: string, id: string, descriptor: Value) {
    this.kind = kind
    this.id = id
    this.descriptor = descriptor
  }
}

/** The result of pulling an exhausted iterator. A single instance, never visible to scripts; snapshots restore it as the same instance. */
export class EndOfIteration {
  readonly name = 'end'
}
export const END = new EndOfIteration()
/** Returned by compiled code when a generator stopped before it had an item (compiled/tier.ts). Never stored. */
export const LEFT = new EndOfIteration()
