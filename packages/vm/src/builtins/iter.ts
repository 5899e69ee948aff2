// Lazy iterators: THE table of iterator operations, how an iterator is made from a value, and how it advances by one item.
// A HarnIter holds the name of its row and plain data, so a half-drained chain of combinators is part of a snapshot.
// Combinators share their source: pulling from a derived iterator advances the original. Iterators are fused: after END the
// `done` flag answers without calling the row again. Methods and sinks are in iter-methods.ts.

import { CONTROL, frame } from './builtin.js'
import type { Context, Control, FrameDef, Result } from './builtin.js'
import { CHANNEL_ITER_OPS } from './channels.js'
import { addInts, makeEntry } from './core-values.js'
import type { IterFrame, IterOp, IterOps, Sources } from './iter-op.js'
import { STREAM_ITER_OPS } from './stream-rows.js'
import { HarnDict } from '../values/dict.js'
import { END, HarnChannel, HarnGenerator, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { work } from '../values/meter.js'
import { HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { isTruthy, typeName } from '../values/value.js'
import type { Int, Value } from '../values/value.js'

/** Elements copied per unit of fuel, as a power of two. */
const COPIED_BITS = 3

/** The iterator that `iter(value)` returns (dicts yield pairs), null when the value is not iterable. */
export function makeIter(value: Value): HarnIter | null {
  if (value instanceof HarnIter) return value
  if (value instanceof HarnList) return new HarnIter('list', [value, 0])
  if (value instanceof HarnRange) return new HarnIter('range', [value, value.start])
  if (value instanceof HarnDict) return new HarnIter('dict', [value, 0])
  if (value instanceof HarnSet) {
    work(value.map.size >> COPIED_BITS)
    return new HarnIter('list', [new HarnList(value.values()), 0])
  }
  if (typeof value === 'string') return new HarnIter('chars', [value, 0])
  if (value instanceof HarnGenerator) return new HarnIter('generator', [value])
  if (value instanceof HarnChannel) return new HarnIter('channel', [value])
  return null
}

/** The iterator a `for` loop runs on: dicts yield `{key, value}` dicts, and strings have no items. */
export function makeLoopIter(value: Value): HarnIter | null {
  if (value instanceof HarnDict) return new HarnIter('entries', [value, 0])
  return typeof value === 'string' ? null : makeIter(value)
}

export function failNotIterable(ctx: Context, value: Value): Control {
  return ctx.type(`iter: value of type ${typeName(value)} is not iterable`)
}

/** The next item or END if that needs neither script code nor waiting; otherwise undefined, with nothing changed. */
export function takeNextSimple(iter: HarnIter): Value | undefined {
  if (iter.done) return END
  const item = getRow(iter.op).simple?.(iter.state)
  if (item === END) iter.done = true
  return item
}

/** In a step: the next item of a source, or CONTROL when the machine must pull it; then `step` runs again with ctx.result. */
export function advance(ctx: Context, source: Value): Value | Control {
  const item = takeNextSimple(source as HarnIter)
  return item === undefined ? ctx.pull(source as HarnIter) : item
}

/** The frame that advances an iterator by one item. ctx.pull(iter) runs it when `takeNextSimple` returns undefined. */
export const iterNextFrame: FrameDef = frame<IterFrame>({
  kind: 'iter.next',
  // Output of a `for` over an iterator is kept; the callback is a separate run, as in any builtin.
  step: (ctx, state) => {
    const { iter } = state
    if (iter.done) return END
    const row = getRow(iter.op)
    const item = row.step === undefined ? (row.simple?.(iter.state) ?? END) : row.step(ctx, state, MOVING)
    if (item === END) iter.done = true
    return item
  },
})

/** State for a fresh `iter.next` frame. */
export function makeIterFrame(iter: HarnIter): IterFrame {
  return { iter, phase: 0, item: null, items: [] }
}

// Phases that the combinators below share.
const START = 0
const PULLED = 1
const CALLED = 2
const PULLED_SECOND = 3

/** The item of `source`. At the start it is requested, with `phase` stored for later; after a pull it is ctx.result. */
function pull(ctx: Context, state: IterFrame, source: Value, phase: number): Value | Control {
  if (state.phase === phase) {
    state.phase = START
    return ctx.result
  }
  const item = advance(ctx, source)
  if (item === CONTROL) state.phase = phase
  return item
}

/** True when the item decides the step: CONTROL (wait for it) or END (no more items). */
function stops(item: Result): boolean {
  return item === CONTROL || item === END
}

function call(ctx: Context, state: IterFrame, fn: Value, item: Value): Control {
  state.item = item
  state.phase = CALLED
  return ctx.call(fn, [item])
}

const map: IterOp = {
  step: (ctx, state) => {
    if (state.phase === CALLED) return ctx.result
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(ctx, state, source, PULLED)
    return stops(item) ? item : call(ctx, state, fn, item as Value)
  },
}

const filter: IterOp = {
  step: (ctx, state) => {
    const [source, fn] = state.iter.state as [Value, Value]
    if (state.phase === CALLED) {
      if (isTruthy(ctx.result)) return state.item
      state.phase = START
    }
    const item = pull(ctx, state, source, PULLED)
    return stops(item) ? item : call(ctx, state, fn, item as Value)
  },
}

// State: source, function, the inner iterator being drained or nil.
const flatMap: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    for (;;) {
      if (state.phase === CALLED) {
        state.phase = START
        const inner = makeIter(ctx.result)
        if (inner === null) return failNotIterable(ctx, ctx.result)
        own[2] = inner
      }
      if (own[2] instanceof HarnIter && state.phase !== PULLED) {
        const item = pull(ctx, state, own[2], PULLED_SECOND)
        if (item !== END) return item
        own[2] = null
      }
      const item = pull(ctx, state, own[0]!, PULLED)
      return stops(item) ? item : call(ctx, state, own[1]!, item as Value)
    }
  },
}

// State: source, items left. The last item ends the iterator without another pull.
const take: IterOp = {
  simple: (state) => {
    if (state[1] === 0) return END
    const item = takeNextSimple(state[0] as HarnIter)
    if (item !== undefined && item !== END) state[1] = (state[1] as number) - 1
    return item
  },
  step: (ctx, state) => {
    const own = state.iter.state
    if (own[1] === 0) return END
    const item = pull(ctx, state, own[0]!, PULLED)
    if (!stops(item)) own[1] = (own[1] as number) - 1
    return item
  },
}

// State: source, items still to drop. A drop that needs a frame must not be half done, so `simple` advances item by item only
// when nothing remains to be dropped.
const skip: IterOp = {
  simple: (state) => (state[1] === 0 ? takeNextSimple(state[0] as HarnIter) : undefined),
  step: (ctx, state) => {
    const own = state.iter.state
    for (;;) {
      const item = pull(ctx, state, own[0]!, PULLED)
      if (stops(item) || own[1] === 0) return item
      own[1] = (own[1] as number) - 1
      ctx.charge(1)
    }
  },
}

// The first item that fails is consumed and lost.
const takeWhile: IterOp = {
  step: (ctx, state) => {
    if (state.phase === CALLED) return isTruthy(ctx.result) ? state.item : END
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(ctx, state, source, PULLED)
    return stops(item) ? item : call(ctx, state, fn, item as Value)
  },
}

// State: source, function, whether the first kept item was seen.
const skipWhile: IterOp = {
  simple: (state) => (state[2] === true ? takeNextSimple(state[0] as HarnIter) : undefined),
  step: (ctx, state) => {
    const own = state.iter.state
    if (state.phase === CALLED) {
      state.phase = START
      if (!isTruthy(ctx.result)) {
        own[2] = true
        return state.item
      }
    }
    const item = pull(ctx, state, own[0]!, PULLED)
    return stops(item) || own[2] === true ? item : call(ctx, state, own[1]!, item as Value)
  },
}

const zip: IterOp = {
  step: (ctx, state) => {
    const [left, right] = state.iter.state as [Value, Value]
    if (state.phase !== PULLED_SECOND) {
      const first = pull(ctx, state, left, PULLED)
      if (stops(first)) return first
      state.item = first as Value
    }
    const second = pull(ctx, state, right, PULLED_SECOND)
    return stops(second) ? second : new HarnPair(state.item, second as Value)
  },
}

// State: source, index of the next item.
const enumerate: IterOp = {
  simple: (state) => {
    const item = takeNextSimple(state[0] as HarnIter)
    return item === undefined || item === END ? item : numberItem(state, item)
  },
  step: (ctx, state) => {
    const item = pull(ctx, state, state.iter.state[0]!, PULLED)
    return stops(item) ? item : numberItem(state.iter.state, item as Value)
  },
}

function numberItem(state: Value[], item: Value): HarnPair {
  const index = state[1] as number
  state[1] = index + 1
  return new HarnPair(index, item)
}

// State: first source, second source, whether the first is exhausted.
const chain: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    if (own[2] !== true) {
      const item = pull(ctx, state, own[0]!, PULLED)
      if (item !== END) return item
      own[2] = true
    }
    return pull(ctx, state, own[1]!, PULLED_SECOND)
  },
}

// State: source, size.
const chunks: IterOp = {
  step: (ctx, state) => {
    const [source, size] = state.iter.state as [Value, number]
    while (state.items.length < size) {
      const item = pull(ctx, state, source, PULLED)
      if (item === CONTROL) return item
      if (item === END) break
      state.items.push(item as Value)
      ctx.charge(1, 16)
    }
    return state.items.length === 0 ? END : new HarnList(state.items)
  },
}

// State: source, size, the items of the window before (a list, empty at first).
const windows: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    const size = own[1] as number
    if (state.phase === START) state.items = (own[2] as HarnList).view().slice(1)
    while (state.items.length < size) {
      const item = pull(ctx, state, own[0]!, PULLED)
      if (stops(item)) return item
      state.items.push(item as Value)
      ctx.charge(1, 16)
    }
    const window = new HarnList(state.items)
    own[2] = window
    return window
  },
}

function takeNextInRange(state: Value[]): Value {
  const range = state[0] as HarnRange
  const next = state[1] as Int
  if (range.exclusive ? next >= range.end : next > range.end) return END
  // After the last element the largest int would overflow, so the range becomes empty there.
  if (next === range.end) state.splice(0, 2, new HarnRange(0, 0, true), 0)
  else state[1] = addInts(next, 1)
  return next
}

function takeIndexed(state: Value[], length: number, item: (at: number) => Value): Value {
  const at = state[1] as number
  if (at >= length) return END
  state[1] = at + 1
  return item(at)
}

const SOURCES: IterOps = {
  list: {
    simple: (state) => {
      const at = state[1] as number
      const item = (state[0] as HarnList).at(at)
      if (item === undefined) return END
      state[1] = at + 1
      return item
    },
  },
  range: { simple: takeNextInRange },
  dict: {
    simple: (state) => {
      const dict = state[0] as HarnDict
      const keys = dict.keys()
      return takeIndexed(state, keys.length, (at) => new HarnPair(keys[at]!, dict.get(keys[at]!)!))
    },
  },
  entries: {
    simple: (state) => {
      const dict = state[0] as HarnDict
      const keys = dict.keys()
      return takeIndexed(state, keys.length, (at) => makeEntry(keys[at]!, dict.get(keys[at]!)!))
    },
  },
  // State: text, offset in UTF-16 units.
  chars: {
    simple: (state) => {
      const point = (state[0] as string).codePointAt(state[1] as number)
      if (point === undefined) return END
      state[1] = (state[1] as number) + (point > 0xffff ? 2 : 1)
      return String.fromCodePoint(point)
    },
  },
  generator: {
    simple: (state) => ((state[0] as HarnGenerator).done ? END : undefined),
    step: (ctx, state) => {
      if (state.phase === PULLED) return ctx.result
      state.phase = PULLED
      return ctx.pull(state.iter.state[0] as HarnGenerator)
    },
  },
}

const COMBINATORS: IterOps = {
  map,
  filter,
  flat_map: flatMap,
  take,
  skip,
  take_while: takeWhile,
  skip_while: skipWhile,
  zip,
  enumerate,
  chain,
  chunks,
  windows,
}

/** All rows; names must differ, those of stream-rows.ts begin with `stream.`. */
const ROWS: ReadonlyMap<string, IterOp> = new Map(
  [SOURCES, COMBINATORS, CHANNEL_ITER_OPS, STREAM_ITER_OPS].flatMap((table) => Object.entries(table)),
)

const MOVING: Sources = { takeNextSimple, advance }

/** The row of an operation. Names come from our own code and snapshots, so an unknown one is a bug. */
function getRow(op: string): IterOp {
  const row = ROWS.get(op)
  if (row === undefined) throw new Error(`no iterator operation ${op}`)
  return row
}
