// The global `stream` dict: lazy combinators over anything `iter()` accepts, as rows of the iterator table, and three
// sinks that drain a source in a native frame. `map`, `filter`, `take` and `zip` are the rows that iterators have anyway.
//
// merge, race and debounce must look at a source without waiting for it. `poll` does: a source that rests on an empty open
// channel is not ready; any other source is pulled, which may wait if it is a generator that waits.

import { builtin, Control, CONTROL, frame } from './builtin.js'
import { ANY_CHANNEL, takeFrom } from './channels.js'
import { advance, makeIter, nextSimple, notIterable } from './iter.js'
import { timeOf } from './time-amounts.js'
import { HarnBuiltin } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { END, HarnChannel, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { isCallable, isInt, isTruthy, typeName } from '../values/value.js'
import type { BuiltinDef, Context, FrameState, Result } from './builtin.js'
import type { IterFrame, IterOp, IterOps } from './iter-op.js'
import type { BuiltinFamily } from './registry.js'
import type { Value } from '../values/value.js'

// Phases of the rows below.
const START = 0
const PULLED = 1
const CALLED = 2
const WAITED = 3

/** The item of `source`: asked for at the start, ctx.result after the wait for it. */
function pull(ctx: Context, frameState: IterFrame, source: Value): Result {
  if (frameState.phase === PULLED) {
    frameState.phase = START
    return ctx.result
  }
  const item = advance(ctx, source)
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
  step: (ctx, state) => {
    if (state.phase === CALLED) return state.item
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(ctx, state, source)
    if (!isItem(item)) return item
    state.item = item
    return call(ctx, state, fn, [item])
  },
}

// State: source, accumulator, function.
const scan: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    if (state.phase === CALLED) {
      own[1] = ctx.result
      return ctx.result
    }
    const item = pull(ctx, state, own[0]!)
    return isItem(item) ? call(ctx, state, own[2]!, [own[1]!, item]) : item
  },
}

// State: source, predicate.
const takeUntil: IterOp = {
  step: (ctx, state) => {
    if (state.phase === CALLED) return isTruthy(ctx.result) ? END : state.item
    const [source, fn] = state.iter.state as [Value, Value]
    const item = pull(ctx, state, source)
    if (!isItem(item)) return item
    state.item = item
    return call(ctx, state, fn, [item])
  },
}

/** True when the source rests on an open channel that holds nothing. `stopsAt` says what counts as never ready. */
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
function poll(ctx: Context, source: HarnIter, generatorsBlock = false): Result | undefined {
  const item = nextSimple(source)
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
function sourcesOf(state: Value[]): readonly HarnIter[] {
  return (state[0] as HarnList).view() as readonly HarnIter[] // made by `sources` below
}

// State: list of live sources, index at which the next look starts. While a source is pulled its index waits in the frame.
const merge: IterOp = {
  step: (ctx, state) => {
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
      const live = sourcesOf(own)
      if (live.length === 0) return END
      let ended = -1
      for (let n = 0; n < live.length && ended < 0; n++) {
        const at = ((own[1] as number) + n) % live.length
        const item = poll(ctx, live[at]!)
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

/** Takes source `at` out; the looking index stays at the source behind it. */
function drop(own: Value[], at: number): void {
  const rest = sourcesOf(own).filter((_, index) => index !== at)
  const start = own[1] as number
  own[0] = new HarnList(rest as Value[])
  own[1] = rest.length === 0 ? 0 : (start > at ? start - 1 : start) % rest.length
}

// State: list of live sources, index of the one whose turn it is.
const interleave: IterOp = {
  step: (ctx, state) => {
    const own = state.iter.state
    for (;;) {
      const live = sourcesOf(own)
      if (live.length === 0) return END
      const at = (own[1] as number) % live.length
      const item = pull(ctx, state, live[at]!)
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
  step: (ctx, state) => {
    const own = state.iter.state
    if (own[1] === true) return pull(ctx, state, sourcesOf(own)[0]!)
    let at = 0
    if (state.phase === PULLED) {
      state.phase = START
      at = state.item as number
      if (ctx.result !== END) return win(own, at, ctx.result)
      own[0] = new HarnList(sourcesOf(own).filter((_, index) => index !== at) as Value[])
    }
    while (at < sourcesOf(own).length) {
      const item = poll(ctx, sourcesOf(own)[at]!)
      if (item === CONTROL) {
        state.phase = PULLED
        state.item = at
        return item
      }
      if (item === undefined) at++
      else if (item === END) own[0] = new HarnList(sourcesOf(own).filter((_, index) => index !== at) as Value[])
      else return win(own, at, item)
    }
    return sourcesOf(own).length === 0 ? END : ctx.park(ANY_CHANNEL, null)
  },
}

function win(own: Value[], at: number, item: Result): Result {
  own[0] = new HarnList([sourcesOf(own)[at]!])
  own[1] = true
  return item
}

// State of a branch: the hub, its number, how many items of its buffer it has read. State of the hub, an iterator that nobody
// pulls: the source, then one buffer (a list) for each branch. A buffer that has been read to its end starts afresh.
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
  step: (ctx, state) => {
    const own = state.iter.state
    if (state.phase !== WAITED) {
      const item = pull(ctx, state, own[0]!)
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
  step: (ctx, state) => {
    const own = state.iter.state
    const source = own[0] as HarnIter
    if (state.phase === START || (state.phase === PULLED && state.items.length === 0)) {
      const item = pull(ctx, state, source)
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
      const item = poll(ctx, source, true)
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

// --- builtins -------------------------------------------------------------------------------------------------------------

/** The iterator over the first argument. */
function sourceOf(ctx: Context, value: Value): HarnIter | Control {
  return makeIter(value) ?? notIterable(ctx, value)
}

function requireArguments(ctx: Context, name: string, needed: number): Control | null {
  return ctx.argc < needed ? ctx.type(`stream.${name}: missing argument ${ctx.argc + 1}`) : null
}

function mustBe(ctx: Context, name: string, argument: number, what: string, value: Value): Control {
  return ctx.type(`stream.${name}: argument ${argument} must be ${what}, got ${typeName(value)}`)
}

type Make = (ctx: Context, source: HarnIter, ...rest: Value[]) => Result

/** A combinator or sink of one source and `needed - 1` further arguments, of which `callable` (from 1) must be a function. */
function onSource(name: string, needed: number, callable: number | null, make: Make) {
  return (ctx: Context, ...args: Value[]): Result => {
    const missing = requireArguments(ctx, name, needed)
    if (missing !== null) return missing
    if (callable !== null && !isCallable(args[callable - 1]!)) return mustBe(ctx, name, callable, 'callable', args[callable - 1]!)
    const source = sourceOf(ctx, args[0]!)
    return source instanceof Control ? source : make(ctx, source, ...args.slice(1))
  }
}

/** A combinator of several sources. */
function onSources(op: string, least: number, tooFew: string) {
  return (ctx: Context, ...args: Value[]): Result => {
    if (args.length < least) return ctx.type(tooFew)
    const iters: Value[] = []
    for (const arg of args) {
      const iter = sourceOf(ctx, arg)
      if (iter instanceof Control) return iter
      iters.push(iter)
    }
    return new HarnIter(op, [new HarnList(iters), op === 'stream.race' ? false : 0])
  }
}

function zip(ctx: Context, ...args: Value[]): Result {
  if (args.length !== 2) return ctx.type(`stream.zip: expected 2 streams, got ${args.length}`)
  const left = sourceOf(ctx, args[0]!)
  if (left instanceof Control) return left
  const right = sourceOf(ctx, args[1]!)
  return right instanceof Control ? right : new HarnIter('zip', [left, right])
}

const MAX_BRANCHES = 100_000

function makeBroadcast(ctx: Context, source: HarnIter, count: Value = null): Result {
  if (!isInt(count) || count <= 0 || count > MAX_BRANCHES) return mustBe(ctx, 'broadcast', 2, 'a positive int', count)
  const branches = Number(count)
  ctx.charge(branches, 64 * branches)
  const hub = new HarnIter('stream.broadcast_hub', [source, ...Array.from({ length: branches }, () => new HarnList([]))])
  return new HarnList(Array.from({ length: branches }, (_, at) => new HarnIter('stream.broadcast', [hub, at, 0])))
}

interface CollectState extends FrameState {
  readonly source: HarnIter
  readonly max: number
  readonly items: Value[]
  started: boolean
}

const collectFrame = frame<CollectState>({
  kind: 'stream.collect',
  output: 'drop',
  step: (ctx, state) => {
    let item: Result = state.started ? ctx.result : advance(ctx, state.source)
    state.started = true
    for (;;) {
      if (item === CONTROL) return item
      if (item === END) return new HarnList(state.items)
      if (state.items.length >= state.max) return ctx.runtime(`stream.collect: max cap ${state.max} exceeded`)
      ctx.charge(1, 16)
      state.items.push(item as Value)
      item = advance(ctx, state.source)
    }
  },
})

const DEFAULT_CAP = 10_000

function collect(ctx: Context, source: HarnIter, options: Value = null): Result {
  const max = options instanceof HarnDict ? (options.get('max') ?? null) : options
  if (max !== null && (!isInt(max) || max < 0)) return mustBe(ctx, 'collect', 2, 'a non-negative int', max)
  return ctx.frame('stream.collect', {
    source,
    max: max === null ? DEFAULT_CAP : Number(max),
    items: [],
    started: false,
  } satisfies CollectState)
}

interface FoldState extends FrameState {
  readonly source: HarnIter
  readonly fn: Value
  accumulator: Value
  phase: number
}

const foldFrame = frame<FoldState>({
  kind: 'stream.fold',
  output: 'drop',
  step: (ctx, state) => {
    if (state.phase === CALLED) state.accumulator = ctx.result
    const item = state.phase === PULLED ? ctx.result : advance(ctx, state.source)
    if (item === END) return state.accumulator
    state.phase = item === CONTROL ? PULLED : CALLED
    return item === CONTROL ? item : ctx.call(state.fn, [state.accumulator, item as Value])
  },
})

interface FirstState extends FrameState {
  readonly source: HarnIter
  started: boolean
}

const firstFrame = frame<FirstState>({
  kind: 'stream.first',
  output: 'drop',
  step: (ctx, state) => {
    const item = state.started ? ctx.result : advance(ctx, state.source)
    state.started = true
    return item === END ? null : item
  },
})

/** Milliseconds between items at a rate; null when the rate makes no sense. */
function intervalOf(perSecond: Value): number | null {
  const rate = perSecond instanceof HarnFloat ? perSecond.v : isInt(perSecond) ? Number(perSecond) : Number.NaN
  return rate > 0 ? Math.ceil(1000 / rate) : null
}

const LAZY = ['callback'] as const

function define(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  return builtin(`stream.${signature}`, { doc, effects: LAZY }, run)
}

const BUILTINS: readonly BuiltinDef[] = [
  define(
    'map(s: stream, f: closure) -> iter',
    'Each item through a function.',
    onSource('map', 2, 2, (_ctx, source, fn = null) => new HarnIter('map', [source, fn])),
  ),
  define(
    'filter(s: stream, pred: closure) -> iter',
    'The items that satisfy a predicate.',
    onSource('filter', 2, 2, (_ctx, source, fn = null) => new HarnIter('filter', [source, fn])),
  ),
  define(
    'take(s: stream, n: int) -> iter',
    'The first n items.',
    onSource('take', 2, null, (ctx, source, n = null) =>
      isInt(n) && n >= 0 ? new HarnIter('take', [source, Number(n)]) : mustBe(ctx, 'take', 2, 'a non-negative int', n),
    ),
  ),
  define(
    'tap(s: stream, f: closure) -> iter',
    'The same items; a function sees each as it passes.',
    onSource('tap', 2, 2, (_ctx, source, fn = null) => new HarnIter('stream.tap', [source, fn])),
  ),
  define(
    'scan(s: stream, seed: any, f: closure) -> iter',
    'Each accumulator on the way of a fold.',
    onSource('scan', 3, 3, (_ctx, source, seed = null, fn = null) => new HarnIter('stream.scan', [source, seed, fn])),
  ),
  define(
    'take_until(s: stream, pred: closure) -> iter',
    'The items before the first that satisfies a predicate.',
    onSource('take_until', 2, 2, (_ctx, source, fn = null) => new HarnIter('stream.take_until', [source, fn])),
  ),
  define('zip(...sources: stream) -> iter', 'Pairs of two streams, as long as the shorter.', zip),
  define(
    'merge(...sources: stream) -> iter',
    'The items of all sources as they come.',
    onSources('stream.merge', 1, 'stream.merge: expected at least one stream'),
  ),
  define(
    'interleave(...sources: stream) -> iter',
    'One item of each source in turn.',
    onSources('stream.interleave', 2, 'stream.interleave: expected at least two streams'),
  ),
  define(
    'race(...sources: stream) -> iter',
    'The source that has an item first.',
    onSources('stream.race', 1, 'stream.race: expected at least one stream'),
  ),
  define(
    'broadcast(s: stream, n: int) -> list',
    'n iterators that each see every item.',
    onSource('broadcast', 2, null, makeBroadcast),
  ),
  define(
    'throttle(s: stream, per_sec: number) -> iter',
    'At most so many items a second.',
    onSource('throttle', 2, null, (ctx, source, rate = null) => {
      const interval = intervalOf(rate)
      return interval === null
        ? mustBe(ctx, 'throttle', 2, 'a positive number', rate)
        : new HarnIter('stream.throttle', [source, interval, null])
    }),
  ),
  define(
    'debounce(s: stream, window_ms: int) -> iter',
    'The last item of each burst.',
    onSource('debounce', 2, null, (ctx, source, window = null) => {
      const ms = typeof window === 'string' ? null : timeOf(window)
      return ms === null || ms < 0
        ? mustBe(ctx, 'debounce', 2, 'a non-negative int', window)
        : new HarnIter('stream.debounce', [source, ms])
    }),
  ),
  define(
    'collect(s: stream, options?: {max: int}) -> list',
    'All items, at most `max` of them.',
    onSource('collect', 1, null, collect),
  ),
  define(
    'fold(s: stream, seed: any, f: closure)',
    'The accumulator after all items.',
    onSource('fold', 3, 3, (ctx, source, seed = null, fn = null) =>
      ctx.frame('stream.fold', { source, fn, accumulator: seed, phase: START } satisfies FoldState),
    ),
  ),
  define(
    'first(s: stream)',
    'The first item, nil without one.',
    onSource('first', 1, null, (ctx, source) => ctx.frame('stream.first', { source, started: false } satisfies FirstState)),
  ),
]

export const streamsFamily: BuiltinFamily = {
  name: 'streams',
  builtins: BUILTINS,
  frames: [collectFrame, foldFrame, firstFrame],
  constants: {
    stream: new HarnDict(
      new Map(BUILTINS.map((def): [string, Value] => [def.name.slice('stream.'.length), new HarnBuiltin(def.name)])),
    ),
  },
}
