// The global `stream` dict: builtins that make lazy combinators (their rows of the iterator table are in stream-rows.ts), and three
// sinks that drain a source in a native frame.

import { builtin, Control, CONTROL, frame } from './builtin.js'
import { advance, makeIter, failNotIterable } from './iter.js'
import { CALLED, PULLED, START } from './stream-rows.js'
import { parseMillis } from './time-amounts.js'
import { HarnBuiltin } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { END, HarnIter } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { isCallable, isInt, typeName } from '../values/value.js'
import type { BuiltinDef, Context, FrameState, Result } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import type { Value } from '../values/value.js'

/** The iterator over the first argument. */
function toSource(ctx: Context, value: Value): HarnIter | Control {
  return makeIter(value) ?? failNotIterable(ctx, value)
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
    const source = toSource(ctx, args[0]!)
    return source instanceof Control ? source : make(ctx, source, ...args.slice(1))
  }
}

/** A combinator of several sources. */
function onSources(op: string, least: number, tooFew: string) {
  return (ctx: Context, ...args: Value[]): Result => {
    if (args.length < least) return ctx.type(tooFew)
    const iters: Value[] = []
    for (const arg of args) {
      const iter = toSource(ctx, arg)
      if (iter instanceof Control) return iter
      iters.push(iter)
    }
    return new HarnIter(op, [new HarnList(iters), op === 'stream.race' ? false : 0])
  }
}

function zip(ctx: Context, ...args: Value[]): Result {
  if (args.length !== 2) return ctx.type(`stream.zip: expected 2 streams, got ${args.length}`)
  const left = toSource(ctx, args[0]!)
  if (left instanceof Control) return left
  const right = toSource(ctx, args[1]!)
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

/** Milliseconds between items at a rate; null when the rate is invalid. */
function computeInterval(perSecond: Value): number | null {
  const rate = perSecond instanceof HarnFloat ? perSecond.v : isInt(perSecond) ? Number(perSecond) : Number.NaN
  return rate > 0 ? Math.ceil(1000 / rate) : null
}

const LAZY = ['callback'] as const

function define(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  return builtin(`stream.${signature}`, { doc, effects: LAZY }, run)
}

const BUILTINS: readonly BuiltinDef[] = [
  define(
    'map(s: stream, f: closure) -> iter as ?',
    'Each item through a function.',
    onSource('map', 2, 2, (_ctx, source, fn = null) => new HarnIter('map', [source, fn])),
  ),
  define(
    'filter(s: stream, pred: closure) -> iter as ?',
    'The items that satisfy a predicate.',
    onSource('filter', 2, 2, (_ctx, source, fn = null) => new HarnIter('filter', [source, fn])),
  ),
  define(
    'take(s: stream, n: int) -> iter as ?',
    'The first n items.',
    onSource('take', 2, null, (ctx, source, n = null) =>
      isInt(n) && n >= 0 ? new HarnIter('take', [source, Number(n)]) : mustBe(ctx, 'take', 2, 'a non-negative int', n),
    ),
  ),
  define(
    'tap(s: stream, f: closure) -> iter as ?',
    'The same items; a function sees each as it passes.',
    onSource('tap', 2, 2, (_ctx, source, fn = null) => new HarnIter('stream.tap', [source, fn])),
  ),
  define(
    'scan(s: stream, seed: any, f: closure) -> iter as ?',
    'Each accumulator on the way of a fold.',
    onSource('scan', 3, 3, (_ctx, source, seed = null, fn = null) => new HarnIter('stream.scan', [source, seed, fn])),
  ),
  define(
    'take_until(s: stream, pred: closure) -> iter as ?',
    'The items before the first that satisfies a predicate.',
    onSource('take_until', 2, 2, (_ctx, source, fn = null) => new HarnIter('stream.take_until', [source, fn])),
  ),
  define('zip(...sources: stream) -> iter as ?', 'Pairs of two streams, as long as the shorter.', zip),
  define(
    'merge(...sources: stream) -> iter as ?',
    'The items of all sources as they come.',
    onSources('stream.merge', 1, 'stream.merge: expected at least one stream'),
  ),
  define(
    'interleave(...sources: stream) -> iter as ?',
    'One item of each source in turn.',
    onSources('stream.interleave', 2, 'stream.interleave: expected at least two streams'),
  ),
  define(
    'race(...sources: stream) -> iter as ?',
    'The source that has an item first.',
    onSources('stream.race', 1, 'stream.race: expected at least one stream'),
  ),
  define(
    'broadcast(s: stream, n: int) -> list',
    'n iterators that each see every item.',
    onSource('broadcast', 2, null, makeBroadcast),
  ),
  define(
    'throttle(s: stream, per_sec: number) -> iter as ?',
    'At most so many items a second.',
    onSource('throttle', 2, null, (ctx, source, rate = null) => {
      const interval = computeInterval(rate)
      return interval === null
        ? mustBe(ctx, 'throttle', 2, 'a positive number', rate)
        : new HarnIter('stream.throttle', [source, interval, null])
    }),
  ),
  define(
    'debounce(s: stream, window_ms: int) -> iter as ?',
    'The last item of each burst.',
    onSource('debounce', 2, null, (ctx, source, window = null) => {
      const ms = typeof window === 'string' ? null : parseMillis(window)
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
