// The rows of the iterator table for `stream.…`: lazy combinators over anything `iter()` accepts. `map`, `filter`, `take` and `zip` are
// the rows of iterators. The builtins that make them are in streams.ts.
//
// merge, race and debounce must test a source without waiting for it. `poll` does that: a source that reads from an empty open
// channel is not ready; any other source is pulled, which may wait if it is a generator that waits.

import { CONTROL } from './builtin.js'
import { ANY_CHANNEL, takeFrom } from './channels.js'
import { END, HarnChannel, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { isTruthy } from '../values/value.js'
import type { Context, Control, Result } from './builtin.js'
import type { IterFrame, IterOp, IterOps, Sources } from './iter-op.js'
import type { Value } from '../values/value.js'

// Where a row continues; `stream.fold` uses the first three as well.
export const START = 0
export const PULLED = 1
export const CALLED = 2
const WAITED = 3

/** The item of `source`: requested at the start, ctx.result after the wait for it. */
function pull(sources: Sources, ctx: Context, frameState: IterFrame, source: Value): Result {
  if (frameState.phase === PULLED) {
    frameState.phase = START
    return ctx.result
  }
  const item = sources.advance(ctx, source)
  if (item === CONTROL) frameState.phase = PULLED
  return item
}

function isItem(item: Result): item is Value {
  return item !== CONTROL && item !== END
}

function call(ctx: Context, state: IterFrame, fn: Value, args: readonly Value[]): Control {
  state.phase = CALLED
  return ctx.call(fn, args)
}

// State: source, function.
const tap: IterOp = {
  step: (ctx, state, sources) => {
    if (state.phase === CALLED) return state.item
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(sources, ctx, state, source)
    if (!isItem(item)) return item
    state.item = item
    return call(ctx, state, fn, [item])
  },
}

// State: source, accumulator, function.
const scan: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    if (state.phase === CALLED) {
      own[1] = ctx.result
      return ctx.result
    }
    const item = pull(sources, ctx, state, own[0]!)
    return isItem(item) ? call(ctx, state, own[2]!, [own[1]!, item]) : item
  },
}

// State: source, predicate.
const takeUntil: IterOp = {
  step: (ctx, state, sources) => {
    if (state.phase === CALLED) return isTruthy(ctx.result) ? END : state.item
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(sources, ctx, state, source)
    if (!isItem(item)) return item
    state.item = item
    return call(ctx, state, fn, [item])
  },
}

/** True when the source reads from an open, empty channel. `stopsAt` decides what is never ready. */
function isBlocked(source: Value, generatorsBlock: boolean): boolean {
  let iter: Value | undefined = source
  while (iter instanceof HarnIter && !iter.done) {
    const first: Value | undefined = iter.state[0]
    if (iter.op === 'channel') return first instanceof HarnChannel && first.buffer.length === 0 && !first.closed
    if (iter.op === 'generator') return generatorsBlock
    iter = first
  }
  return false
}

/** The next item if one is ready; undefined when the source would have to wait; CONTROL when it is being pulled. */
function poll(sources: Sources, ctx: Context, source: HarnIter, generatorsBlock = false): Result | undefined {
  const item = sources.takeNextSimple(source)
  if (item !== undefined) return item
  if (source.op !== 'channel') return isBlocked(source, generatorsBlock) ? undefined : ctx.pull(source)
  const channel = source.state[0] as HarnChannel
  const value = takeFrom(ctx, channel)
  if (value !== undefined) return value
  if (!channel.closed) return undefined
  source.done = true
  return END
}

/** The sources of a row, kept as a list value in its first place. */
function listSources(state: Value[]): readonly HarnIter[] {
  return (state[0] as HarnList).view() as readonly HarnIter[] // made by `sources` below
}

// State: list of live sources, index at which the next search starts. While a source is pulled, its index waits in the frame.
const merge: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    if (state.phase === PULLED) {
      state.phase = START
      const at = state.item as number
      if (ctx.result !== END) {
        own[1] = at + 1
        return ctx.result
      }
      drop(own, at)
    }
    for (;;) {
      const live = listSources(own)
      if (live.length === 0) return END
      let ended = -1
      for (let n = 0; n < live.length && ended < 0; n++) {
        const at = ((own[1] as number) + n) % live.length
        const item = poll(sources, ctx, live[at]!)
        if (item === CONTROL) {
          state.phase = PULLED
          state.item = at
          return item
        }
        if (item === END) ended = at
        else if (item !== undefined) {
          own[1] = at + 1
          return item
        }
      }
      if (ended < 0) return ctx.park(ANY_CHANNEL, null)
      drop(own, ended)
    }
  },
}

/** Removes source `at`; the index moves to the source after it. */
function drop(own: Value[], at: number): void {
  const rest = listSources(own).filter((_, index) => index !== at)
  const start = own[1] as number
  own[0] = new HarnList(rest as Value[])
  own[1] = rest.length === 0 ? 0 : (start > at ? start - 1 : start) % rest.length
}

// State: list of live sources, index of the next one.
const interleave: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    for (;;) {
      const live = listSources(own)
      if (live.length === 0) return END
      const at = (own[1] as number) % live.length
      const item = pull(sources, ctx, state, live[at]!)
      if (item === CONTROL) return item
      if (item !== END) {
        own[1] = at + 1
        return item
      }
      own[1] = at
      drop(own, at)
    }
  },
}

// State: list of live sources; once one has won, only that one.
const race: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    if (own[1] === true) return pull(sources, ctx, state, listSources(own)[0]!)
    let at = 0
    if (state.phase === PULLED) {
      state.phase = START
      at = state.item as number
      if (ctx.result !== END) return win(own, at, ctx.result)
      own[0] = new HarnList(listSources(own).filter((_, index) => index !== at) as Value[])
    }
    while (at < listSources(own).length) {
      const item = poll(sources, ctx, listSources(own)[at]!)
      if (item === CONTROL) {
        state.phase = PULLED
        state.item = at
        return item
      }
      if (item === undefined) at++
      else if (item === END) own[0] = new HarnList(listSources(own).filter((_, index) => index !== at) as Value[])
      else return win(own, at, item)
    }
    return listSources(own).length === 0 ? END : ctx.park(ANY_CHANNEL, null)
  },
}

function win(own: Value[], at: number, item: Result): Result {
  own[0] = new HarnList([listSources(own)[at]!])
  own[1] = true
  return item
}

// State of a branch: the hub, its number, how many items of its buffer it has read. State of the hub, an iterator that is never
// pulled: the source, then one buffer (a list) per branch. A buffer that was read to its end is cleared.
const broadcast: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    const hub = own[0] as HarnIter
    const at = (own[1] as number) + 1
    if (state.phase === PULLED) {
      state.phase = START
      if (ctx.result === END) hub.done = true
      else {
        ctx.charge(hub.state.length, 16 * hub.state.length)
        for (let branch = 1; branch < hub.state.length; branch++)
          hub.state[branch] = (hub.state[branch] as HarnList).append(ctx.result)
      }
    }
    const buffer = hub.state[at] as HarnList
    const read = own[2] as number
    const item = buffer.at(read)
    if (item !== undefined) {
      const isLast = read + 1 === buffer.length
      if (isLast) hub.state[at] = new HarnList([])
      own[2] = isLast ? 0 : read + 1
      return item
    }
    if (hub.done) return END
    state.phase = PULLED
    return ctx.pull(hub.state[0] as HarnIter)
  },
}

// State: source, least distance in milliseconds, time of the last item or nil.
const throttle: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    if (state.phase !== WAITED) {
      const item = pull(sources, ctx, state, own[0]!)
      if (!isItem(item)) return item
      state.item = item
      const last = own[2] as HarnFloat | null
      const due = last === null ? ctx.now : last.v + (own[1] as number)
      if (ctx.now < due) {
        state.phase = WAITED
        return ctx.park(null, due)
      }
    }
    own[2] = new HarnFloat(ctx.now)
    return state.item
  },
}

// State: source, milliseconds to wait for a later item.
const debounce: IterOp = {
  step: (ctx, state, sources) => {
    const own = state.iter.state
    const source = own[0] as HarnIter
    if (state.phase === START || (state.phase === PULLED && state.items.length === 0)) {
      const item = pull(sources, ctx, state, source)
      if (!isItem(item)) return item
      state.items = [item]
      state.phase = WAITED
      return ctx.park(null, ctx.now + (own[1] as number))
    }
    if (state.phase === PULLED) {
      if (ctx.result === END) return state.items[0]!
      state.items = [ctx.result]
    }
    for (;;) {
      const item = poll(sources, ctx, source, true)
      if (item === undefined || item === END) return state.items[0]!
      if (item === CONTROL) {
        state.phase = PULLED
        return item
      }
      state.items = [item as Value]
      ctx.charge(1)
    }
  },
}

export const STREAM_ITER_OPS: IterOps = {
  'stream.tap': tap,
  'stream.scan': scan,
  'stream.take_until': takeUntil,
  'stream.merge': merge,
  'stream.interleave': interleave,
  'stream.race': race,
  'stream.broadcast': broadcast,
  'stream.broadcast_hub': { simple: () => END },
  'stream.throttle': throttle,
  'stream.debounce': debounce,
}
