// Methods of iterators: lazy combinators, sinks, and how other types get these methods by conversion to an iterator (`v.iter()`,
// every range method that ranges do not define). Sinks drain synchronously while the source needs no script code. Otherwise they
// continue in the frame `iter.sink`, which also calls the callbacks of sinks.

import { CONTROL, builtin, frame, method, withRun } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, FrameState, Result } from './builtin.js'
import { addInts, count as intOf, readNumber } from './core-values.js'
import { advance, iterNextFrame, makeIter, failNotIterable } from './iter.js'
import { makeEachWork, definePieces } from './pieces.js'
import type { BuiltinFamily } from './registry.js'
import { distinct } from './sets.js'
import { builtinTaking } from './unpack.js'
import { compare } from '../values/equality.js'
import { HarnDict } from '../values/dict.js'
import { END, HarnIter } from '../values/handles.js'
import type { HarnGenerator } from '../values/handles.js'
import { HarnList } from '../values/list.js'
import { HarnFloat, HarnPair } from '../values/scalars.js'
import { isCallable, isInt, isTruthy, typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

interface SinkState extends FrameState {
  source: HarnIter
  sink: string
  fn: Value
  /** The accumulator: a list's items, a sum, the best so far. Its meaning depends on the sink. */
  acc: Value
  items: Value[]
  item: Value
  /** 0 at the start, 1 after a pull, 2 after a call of `fn`, 3 while `end` is working. */
  phase: number
}

/**
 * One row per sink. `take` is given every item and returns a result that ends the sink early, an error, or null to
 * continue. With `calls`, the item goes to `fn` first and `answered` gets the result of that. `end` makes the result.
 */
interface Sink {
  readonly calls?: (state: SinkState) => readonly Value[]
  readonly answered?: (state: SinkState, answer: Value) => { readonly result: Value } | null
  readonly take?: (ctx: Context, state: SinkState) => { readonly result: Result } | null
  readonly end: (ctx: Context, state: SinkState) => Result
}

/** Items between two checks of fuel and time while a sink drains a source that needs no frame. */
const BLOCK = 1024

const makeItemArgs = (state: SinkState): readonly Value[] => [state.item]

function collect(_ctx: Context, state: SinkState): null {
  state.items.push(state.item)
  return null
}

function makeBestSink(wanted: (order: number) => boolean): Sink {
  return {
    take: (_ctx, state) => {
      if (state.items.length === 0 || wanted(compare(state.item, state.acc))) state.acc = state.item
      state.items[0] = true
      return null
    },
    end: (_ctx, state) => state.acc,
  }
}

/** Units of a key and its value. */
const UNITS_A_KEY = 3

const dictOfPairs = definePieces('iter.to_dict', ([list]) => {
  const pairs = (list as HarnList).view() as readonly HarnPair[]
  const dict = new HarnDict()
  return makeEachWork(
    pairs.length,
    (at, budget) => {
      const { first, second } = pairs[at]!
      dict.put(first as string, second)
      budget.left -= UNITS_A_KEY
      budget.heap += 48
      return undefined
    },
    () => dict,
  )
})

const SINKS: { readonly [name: string]: Sink } = {
  to_list: { take: collect, end: (_ctx, state) => new HarnList(state.items) },
  to_set: { take: collect, end: (ctx, state) => distinct.run(ctx, new HarnList(state.items)) },
  to_dict: {
    take: (ctx, state) => {
      const { item } = state
      if (!(item instanceof HarnPair)) return { result: ctx.type(`iter.to_dict: expected pair, got ${typeName(item)}`) }
      if (typeof item.first !== 'string') {
        return { result: ctx.type(`iter.to_dict: expected string key, got ${typeName(item.first)}`) }
      }
      return collect(ctx, state)
    },
    end: (ctx, state) => dictOfPairs.run(ctx, new HarnList(state.items)),
  },
  count: {
    take: (_ctx, state) => {
      state.acc = (state.acc as number) + 1
      return null
    },
    end: (_ctx, state) => state.acc,
  },
  sum: {
    take: (ctx, state) => {
      if (readNumber(state.item) === null) return { result: ctx.type(`iter.sum: expected number, got ${typeName(state.item)}`) }
      state.acc = addNumbers(state.acc, state.item)
      return null
    },
    end: (_ctx, state) => state.acc,
  },
  min: makeBestSink((order) => order < 0),
  max: makeBestSink((order) => order > 0),
  last: {
    take: (_ctx, state) => {
      state.acc = state.item
      return null
    },
    end: (_ctx, state) => state.acc,
  },
  first: { take: (_ctx, state) => ({ result: state.item }), end: () => null },
  reduce: {
    calls: (state) => [state.acc, state.item],
    answered: (state, answer) => {
      state.acc = answer
      return null
    },
    end: (_ctx, state) => state.acc,
  },
  any: { calls: makeItemArgs, answered: (_state, answer) => (isTruthy(answer) ? { result: true } : null), end: () => false },
  all: { calls: makeItemArgs, answered: (_state, answer) => (isTruthy(answer) ? null : { result: false }), end: () => true },
  find: { calls: makeItemArgs, answered: (state, answer) => (isTruthy(answer) ? { result: state.item } : null), end: () => null },
  for_each: { calls: makeItemArgs, answered: () => null, end: () => null },
}

/** Sum of two numbers: int while both are ints, wrapping; float otherwise. */
export function addNumbers(left: Value, right: Value): Value {
  if (isInt(left) && isInt(right)) return addInts(left, right)
  return new HarnFloat(readNumber(left)! + readNumber(right)!)
}

const sinkFrame: FrameDef = frame<SinkState>({
  kind: 'iter.sink',
  step: (ctx, state) => {
    const sink = SINKS[state.sink]!
    if (state.phase === 3) return ctx.result
    if (state.phase === 2) {
      const early = sink.answered!(state, ctx.result)
      if (early !== null) return early.result
    }
    let pulled = state.phase === 1
    let left = BLOCK
    for (; left > 0; left--) {
      // The last item of a block is pulled by the machine, so that an endless source meets fuel and deadline checks.
      const item = pulled ? ctx.result : left === 1 ? ctx.pull(state.source) : advance(ctx, state.source)
      pulled = false
      state.phase = 1
      if (item === CONTROL) break
      if (item === END) {
        ctx.charge(BLOCK - left)
        state.phase = 3
        return sink.end(ctx, state)
      }
      state.item = item as Value
      if (sink.calls !== undefined) {
        state.phase = 2
        return ctx.call(state.fn, sink.calls(state))
      }
      const early = sink.take!(ctx, state)
      if (early !== null) return early.result
    }
    ctx.charge(BLOCK - left + 1, sink.take === undefined ? 0 : 16 * (BLOCK - left))
    return CONTROL
  },
})

function drain(ctx: Context, source: HarnIter, sink: string, fn: Value = null, acc: Value = null): Result {
  const state: SinkState = { source, sink, fn, acc, items: [], item: null, phase: 0 }
  return ctx.frame('iter.sink', state)
}

const CALLS: readonly string[] = ['callback']

function defineLazy(
  name: string,
  signature: string,
  doc: string,
  make: (ctx: Context, source: HarnIter, arg: Value) => Result,
): BuiltinDef {
  return method('iter', `${name}${signature} -> iter`, { doc }, (ctx, self, arg = null) => make(ctx, self as HarnIter, arg))
}

function withCallback(name: string, doc: string, extra: readonly Value[] = []): BuiltinDef {
  return defineLazy(name, '(f: closure)', doc, (ctx, source, fn) =>
    isCallable(fn) ? new HarnIter(name, [source, fn, ...extra]) : ctx.type(`iter.${name}: expected callable`),
  )
}

function withCount(name: string, doc: string): BuiltinDef {
  return defineLazy(name, '(n: int)', doc, (ctx, source, arg) => {
    const n = intOf(arg)
    return n === null || n < 0 ? ctx.type(`iter.${name}: expected non-negative int`) : new HarnIter(name, [source, n])
  })
}

function withSize(name: string, doc: string, what: string, extra: readonly Value[] = []): BuiltinDef {
  return defineLazy(name, '(n: int)', doc, (ctx, source, arg) => {
    const n = intOf(arg)
    return n === null || n < 1 ? ctx.type(`iter.${name}: ${what} must be positive`) : new HarnIter(name, [source, n, ...extra])
  })
}

function withOther(name: string, doc: string): BuiltinDef {
  return defineLazy(name, '(other: any)', doc, (ctx, source, other) => {
    if (ctx.argc < 1) return ctx.type(`iter.${name}: expected iterable argument`)
    const second = makeIter(other)
    return second === null ? failNotIterable(ctx, other) : new HarnIter(name, [source, second, false])
  })
}

function defineSink(name: string, returns: string, doc: string, start: Value = null): BuiltinDef {
  return method('iter', `${name}() -> ${returns}`, { doc, effects: CALLS, borrows: true }, (ctx, self) =>
    drain(ctx, self as HarnIter, name, null, start),
  )
}

function defineCallingSink(name: string, returns: string, doc: string): BuiltinDef {
  return method('iter', `${name}(f: closure) -> ${returns}`, { doc, effects: CALLS }, (ctx, self, fn = null) =>
    isCallable(fn) ? drain(ctx, self as HarnIter, name, fn) : ctx.type(`iter.${name}: expected callable`),
  )
}

const iterMethods: readonly BuiltinDef[] = [
  withCallback('map', 'Each item through `f`, when pulled.'),
  withCallback('filter', 'The items for which `f` is true.'),
  withCallback('flat_map', 'The items of what `f` gives for each item, which must be iterable.', [null]),
  withCallback('take_while', 'Items up to the first for which `f` fails; that one is consumed.'),
  withCallback('skip_while', 'Drops items while `f` holds.', [false]),
  withCount('take', 'At most `n` items; the source is not pulled further.'),
  withCount('skip', 'Drops the first `n` items.'),
  withSize('chunks', 'Lists of `n` items; the last may be shorter.', 'chunk size'),
  withSize('windows', 'Overlapping lists of exactly `n` items.', 'window size', [new HarnList([])]),
  withOther('zip', 'Pairs of items of both; ends with the shorter.'),
  withOther('chain', 'The items of this, then those of the other.'),
  defineLazy('enumerate', '()', 'Pairs of index and item.', (_ctx, source) => new HarnIter('enumerate', [source, 0])),
  defineLazy('iter', '()', 'The iterator itself.', (_ctx, source) => source),
  defineSink('to_list', 'list', 'All remaining items.'),
  defineSink('to_set', 'set', 'The distinct remaining items.'),
  defineSink('to_dict', 'dict', 'A dict of the remaining pairs, whose first members must be strings.'),
  defineSink('count', 'int', 'Number of remaining items.', 0),
  defineSink('sum', 'int | float', 'Sum of the remaining numbers.', 0),
  defineSink('min', 'any', 'The first least item, nil when there is none.'),
  defineSink('max', 'any', 'The first greatest item, nil when there is none.'),
  defineSink('first', 'any', 'Pulls one item; nil at the end.'),
  defineSink('last', 'any', 'The last item, nil when there is none.'),
  defineCallingSink('any', 'bool', 'Whether `f` holds for an item; stops at the first.'),
  defineCallingSink('all', 'bool', 'Whether `f` holds for every item; stops at the first failure.'),
  defineCallingSink('find', 'any', 'The first item for which `f` holds, else nil.'),
  defineCallingSink('for_each', 'nil', 'Calls `f` with every item.'),
  method(
    'iter',
    'reduce(init: any, f: closure) -> any',
    { doc: 'Folds the items with `f(acc, item)`.', effects: CALLS },
    (ctx, self, init = null, fn = null) => {
      if (ctx.argc < 2) return ctx.type('iter.reduce: expected (init, fn)')
      return isCallable(fn)
        ? drain(ctx, self as HarnIter, 'reduce', fn, init)
        : ctx.type('iter.reduce: second arg must be callable')
    },
  ),
]

/** Methods that ranges define themselves (ranges.ts); for all others they are converted to an iterator. */
const RANGE_OWN: ReadonlySet<string> = new Set(['len', 'count', 'empty', 'contains', 'first', 'last', 'to_string'])

const rangeMethods = iterMethods
  .filter((def) => !RANGE_OWN.has(def.name))
  .map((def): BuiltinDef => ({
    ...withRun(def, (ctx, self, ...args) => def.run(ctx, makeIter(self!), ...args)),
    receiver: 'range',
  }))

const defineIterMethod = (type: string): BuiltinDef =>
  method(type, 'iter() -> iter', { doc: `A lazy iterator over the ${type}.` }, (_ctx, self) => makeIter(self!))

// Steps of generator.next: the first asks for a value, the second wraps it.
interface NextState extends FrameState {
  source: HarnGenerator
  asked: boolean
}

const generatorNextFrame = frame<NextState>({
  kind: 'generator.next',
  step: (ctx, state) => {
    if (!state.asked) {
      state.asked = true
      return ctx.pull(state.source)
    }
    return makeStep(ctx.result === END, ctx.result === END ? null : ctx.result)
  },
})

function makeStep(done: boolean, value: Value): HarnDict {
  return HarnDict.of({ done, value })
}

const defineNextMethod = (type: string): BuiltinDef =>
  method(type, 'next() -> dict', { doc: 'The next value as `{value, done}`.', effects: CALLS }, (ctx, self) => {
    const source = self as HarnGenerator
    return source.done ? makeStep(true, null) : ctx.frame('generator.next', { source, asked: false })
  })

export const iterFamily: BuiltinFamily = {
  name: 'iter',
  builtins: [
    builtinTaking(
      'iter(source: list|dict|set|string|range|generator|channel|iter) -> iter',
      { doc: 'A lazy, single-pass iterator over `source`; dicts yield (key, value) pairs.' },
      { raise: 'type', fewer: '{f}: expected 1 argument' },
      (ctx, source) => makeIter(source) ?? failNotIterable(ctx, source),
    ),
    builtin('pair(a: any, b: any) -> pair', { doc: 'A pair with `.first` and `.second`.' }, (ctx, a = null, b = null) =>
      ctx.argc === 2 ? new HarnPair(a, b) : ctx.type(`pair: expected 2 arguments, got ${ctx.argc}`),
    ),
    ...iterMethods,
    ...rangeMethods,
    ...['list', 'dict', 'set', 'string', 'generator', 'stream', 'channel'].map(defineIterMethod),
    ...['generator', 'stream'].map(defineNextMethod),
  ],
  frames: [iterNextFrame, sinkFrame, dictOfPairs.frame, generatorNextFrame],
}
