// List builtins that call a function for every element. Each is a *loop*: a native frame that calls `fn` with one element at
// a time and passes the results to a row of the table below. The methods keep the output of callbacks; the functions of the
// same name (`group_by(list, f)` …) drop it, because the reference runs those callbacks in a child machine.

import { builtin, frame, method } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, FrameState, Loop, LoopState, Result } from './builtin.js'
import { sorting } from './sorting.js'
import { compare } from '../values/equality.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { HarnSet } from '../values/set.js'
import { isCallable, isTruthy, typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

/** Builds the result in `out`, one element or none per visit. */
function makeCollectingLoop(visit: (state: LoopState, item: Value, answer: Value) => void): Loop {
  return {
    visit: (state, item, answer) => {
      visit(state, item, answer)
      return undefined
    },
    end: (state) => new HarnList(state.out),
  }
}

/** Ends with `found` at the first element whose result is `wanted`, otherwise with `otherwise`. */
function makeSearchLoop(wanted: boolean, found: (state: LoopState, item: Value) => Value, otherwise: Value): Loop {
  return { visit: (state, item, answer) => (isTruthy(answer) === wanted ? found(state, item) : undefined), end: () => otherwise }
}

// `out[0]` keeps the best element; `acc` its key.
function makeBestLoop(wanted: (order: number) => boolean): Loop {
  return {
    visit: (state, item, answer) => {
      if (state.out.length === 0 || wanted(compare(answer, state.acc))) {
        state.out[0] = item
        state.acc = answer
      }
      return undefined
    },
    end: (state) => state.out[0] ?? null,
  }
}

// `out` holds two lists of elements. The row made them and nothing else can see them, so they grow in place.
function split(state: LoopState): [HarnList, HarnList] {
  if (state.out.length === 0) state.out.push(new HarnList([]), new HarnList([]))
  return state.out as [HarnList, HarnList]
}

function partition(end: (matching: HarnList, rest: HarnList) => Value): Loop {
  return {
    visit: (state, item, answer) => {
      split(state)[isTruthy(answer) ? 0 : 1].add(item)
      return undefined
    },
    end: (state) => end(...split(state)),
  }
}

const LOOPS = {
  map: makeCollectingLoop((state, _item, answer) => state.out.push(answer)),
  filter: makeCollectingLoop((state, item, answer) => {
    if (isTruthy(answer)) state.out.push(item)
  }),
  flat_map: makeCollectingLoop((state, _item, answer) => {
    if (answer instanceof HarnList) for (let at = 0; at < answer.length; at++) state.out.push(answer.items[at]!)
    else state.out.push(answer)
  }),
  reduce: {
    count: 2,
    args: (state, item) => [state.acc, item],
    visit: (state, _item, answer) => {
      state.acc = answer
      return undefined
    },
    end: (state) => state.acc,
  },
  find: makeSearchLoop(true, (_state, item) => item, null),
  find_index: makeSearchLoop(true, (state) => state.at, -1),
  any: makeSearchLoop(true, () => true, false),
  all: makeSearchLoop(false, () => false, true),
  none: makeSearchLoop(true, () => false, true),
  sort_by: {
    visit: (state, _item, answer) => {
      state.out.push(answer)
      return undefined
    },
    end: (state, ctx) => sorting.run(ctx, state.list, new HarnList(state.out)),
  },
  min_by: makeBestLoop((order) => order < 0),
  max_by: makeBestLoop((order) => order > 0),
  partition: partition((matching, rest) => new HarnList([matching, rest])),
  partition_dict: partition((match, rest) => HarnDict.of({ match, no_match: rest })),
  // `acc` is the dict under construction, whose lists nothing else can see.
  group_by: {
    visit: (state, item, answer) => {
      const groups = (state.acc ??= new HarnDict()) as HarnDict
      const key = display(answer)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, new HarnList([item]))
      else (group as HarnList).add(item)
      return undefined
    },
    end: (state) => state.acc ?? new HarnDict(),
  },
  // `acc` is the set of answers seen.
  dedup_by: makeCollectingLoop((state, item, answer) => {
    const seen = (state.acc ??= new HarnSet()) as HarnSet
    const before = seen.size
    seen.add(answer)
    if (seen.size > before) state.out.push(item)
  }),
} as const satisfies Record<string, Loop>

export function defineLoopFrame(kind: string, loop: Loop, output: 'keep' | 'drop' = 'keep'): FrameDef {
  return frame<LoopState>({
    kind,
    output,
    loop,
    step: (ctx, state) => {
      const { list } = state
      // The effect or call that `end` requested has finished.
      if (state.at >= list.length) return ctx.result
      if (state.at >= 0) {
        const before = state.out.length
        const early = loop.visit(state, list.items[state.at]!, ctx.result)
        if (early !== undefined) return early
        ctx.charge(0, 16 * (state.out.length - before))
      }
      state.at++
      if (state.at >= list.length) return loop.end(state, ctx)
      const item = list.items[state.at]!
      return ctx.call(state.fn, loop.args === undefined ? [item] : loop.args(state, item))
    },
  })
}

/** Continues as the loop `kind` over `list`; `more` is added to the state for the row. */
export function runLoop(
  ctx: Context,
  kind: string,
  list: HarnList,
  fn: Value,
  acc: Value = null,
  more: FrameState | null = null,
): Result {
  const state: LoopState = { list, fn, at: -1, out: [], acc }
  return ctx.frame(kind, more === null ? state : { ...more, ...state })
}

const CALLS: readonly string[] = ['callback']

/** A method `name(f)` that runs a loop, or returns `missing` when `f` is not callable. */
function defineLoopMethod(
  name: string,
  loop: keyof typeof LOOPS,
  returns: string,
  doc: string,
  missing: (self: HarnList) => Value,
): BuiltinDef {
  const frame = `list.${loop}`
  const options = { doc, effects: CALLS, each: { frame, fn: 0 } } as const
  return method('list', `${name}(f: closure) -> ${returns}`, options, (ctx, self, fn = null) =>
    isCallable(fn) ? runLoop(ctx, frame, self as HarnList, fn) : missing(self as HarnList),
  )
}

const nil = (): null => null

export const listCallbackMethods: readonly BuiltinDef[] = [
  defineLoopMethod('map', 'map', 'list', 'What `f` gives for each element.', nil),
  defineLoopMethod('filter', 'filter', 'list', 'The elements for which `f` holds.', nil),
  defineLoopMethod('flat_map', 'flat_map', 'list', 'What `f` gives for each element; lists are spliced in.', nil),
  defineLoopMethod('find', 'find', 'any', 'The first element for which `f` holds, else nil.', nil),
  defineLoopMethod('find_index', 'find_index', 'int', 'Index of the first element for which `f` holds, or -1.', () => -1),
  defineLoopMethod('any', 'any', 'bool', 'Whether `f` holds for an element.', () => false),
  defineLoopMethod('all', 'all', 'bool', 'Whether `f` holds for every element.', () => true),
  defineLoopMethod('every', 'all', 'bool', 'Whether `f` holds for every element.', () => true),
  defineLoopMethod(
    'none',
    'none',
    'bool',
    'Whether `f` holds for no element; without `f`, whether the list is empty.',
    (self) => self.length === 0,
  ),
  defineLoopMethod('sort_by', 'sort_by', 'list', 'Ascending by what `f` gives; stable.', nil),
  defineLoopMethod('min_by', 'min_by', 'any', 'The first element with the least key.', nil),
  defineLoopMethod('max_by', 'max_by', 'any', 'The first element with the greatest key.', nil),
  defineLoopMethod('partition', 'partition', 'list', '`[matching, rest]`.', nil),
  defineLoopMethod('group_by', 'group_by', 'dict', 'Lists of elements by the display of what `f` gives.', nil),
  method(
    'list',
    'reduce(init: any, f: closure) -> any',
    { doc: 'Folds the elements with `f(acc, element)`.', effects: CALLS, each: { frame: 'list.reduce', fn: 1 } },
    (ctx, self, init = null, fn = null) => (isCallable(fn) ? runLoop(ctx, 'list.reduce', self as HarnList, fn, init) : null),
  ),
]

/** A function `name(list, f)`. Errors in the order list, callback. */
function defineLoopFunction(name: string, returns: string, doc: string): BuiltinDef {
  return builtin(`${name}(list: list, fn: closure) -> ${returns}`, { doc, effects: CALLS }, (ctx, list = null, fn = null) => {
    if (ctx.argc < 1) return ctx.runtime(`${name}: first argument must be a list`)
    if (!(list instanceof HarnList)) return ctx.type(`${name}: first argument must be a list, got ${typeName(list)}`)
    if (ctx.argc < 2) return ctx.runtime(`${name}: callback is required`)
    if (!isCallable(fn)) return ctx.type(`${name}: callback must be callable, got ${typeName(fn)}`)
    return runLoop(ctx, `collections.${name}`, list, fn)
  })
}

export const listFunctions: readonly BuiltinDef[] = [
  defineLoopFunction('group_by', 'dict', 'Lists of elements by the display of what `fn` gives.'),
  defineLoopFunction('partition', 'dict', '`{match, no_match}`.'),
  defineLoopFunction('dedup_by', 'list', 'The first element for each structurally distinct key.'),
  defineLoopFunction('flat_map', 'list', 'What `fn` gives for each element; lists are spliced in.'),
]

export const listCallbackFrames: readonly FrameDef[] = [
  ...Object.entries(LOOPS).map(([name, loop]) => defineLoopFrame(`list.${name}`, loop)),
  defineLoopFrame('collections.group_by', LOOPS.group_by, 'drop'),
  defineLoopFrame('collections.partition', LOOPS.partition_dict, 'drop'),
  defineLoopFrame('collections.dedup_by', LOOPS.dedup_by, 'drop'),
  defineLoopFrame('collections.flat_map', LOOPS.flat_map, 'drop'),
]
