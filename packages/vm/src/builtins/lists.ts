// Methods of lists that take no callback, and the functions on lists and dicts that share their code. Lists are immutable
// values: every method returns a new one. Methods with callbacks are in lists-callbacks.ts.

import { builtin, method } from './builtin.js'
import type { BuiltinDef, Context, Result, Run } from './builtin.js'
import { addNumbers } from './iter-methods.js'
import {
  MAX_TEXT,
  UNITS_A_MEMBER,
  chargeList,
  chargeMade,
  clampIndex,
  count,
  countOr,
  readNumber,
  refuseItems,
  refuseText,
  readTextArg,
} from './core-values.js'
import { listCallbackFrames, listCallbackMethods, listFunctions } from './lists-callbacks.js'
import { makeEachWork, definePieces } from './pieces.js'
import type { BuiltinFamily } from './registry.js'
import { sorting } from './sorting.js'
import { compare, equals } from '../values/equality.js'
import { HarnDict } from '../values/dict.js'
import { share } from '../interpreter/access.js'
import { display } from '../values/display.js'
import { makeBlankSlots } from '../values/keyed.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

/** A list method whose `run` gets a typed receiver. */
function listMethod(
  signature: string,
  doc: string,
  run: (ctx: Context, self: HarnList, a: Value, b: Value) => Result,
  borrows = false,
): BuiltinDef {
  const body: Run = (ctx, self, a = null, b = null) => run(ctx, self as HarnList, a, b)
  return method('list', signature, { doc, borrows }, body)
}

function viewAll(ctx: Context, self: HarnList): readonly Value[] {
  chargeList(ctx, self.length)
  return self.view()
}

/** As `viewAll`, for methods that do more work per element. */
function viewAllSlowly(ctx: Context, self: HarnList): readonly Value[] {
  ctx.charge(self.length >> 1)
  return self.view()
}

/** Index of the first element equal to `wanted`, -1 without one. */
export function findIndex(list: HarnList, wanted: Value): number {
  // The buffer may be longer than the list, so the index is checked against the length.
  if (typeof wanted === 'string') {
    const at = list.items.indexOf(wanted)
    return at < list.length ? at : -1
  }
  for (let at = 0; at < list.length; at++) if (equals(list.items[at]!, wanted)) return at
  return -1
}

/** Searches for a container: each comparison may take long. */
const searching = definePieces('list.index_of', ([list, wanted]) => {
  const items = (list as HarnList).view()
  return makeEachWork(
    items.length,
    (at, budget) => {
      budget.left -= 1
      return equals(items[at]!, wanted!) ? at : undefined
    },
    () => -1,
  )
})

const containing = definePieces('list.contains', ([list, wanted]) => {
  const items = (list as HarnList).view()
  return makeEachWork(
    items.length,
    (at, budget) => {
      budget.left -= 1
      return equals(items[at]!, wanted!) ? true : undefined
    },
    () => false,
  )
})

/** `list.contains(value)`, as a function too. */
export function containsValue(ctx: Context, list: HarnList, value: Value): Result {
  if (isContainer(value)) return containing.run(ctx, list, value)
  ctx.charge(list.length >> 3)
  return findIndex(list, value) >= 0
}

function isContainer(value: Value): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof HarnFloat)
}

export function splitIntoChunks(ctx: Context, items: readonly Value[], size: number): HarnList {
  chargeMade(ctx, Math.ceil(items.length / size), items.length)
  const chunks: Value[] = []
  for (let at = 0; at < items.length; at += size) chunks.push(new HarnList(items.slice(at, at + size)))
  return new HarnList(chunks)
}

/** Every full window of `size` elements, `step` apart. */
export function listWindows(ctx: Context, items: readonly Value[], size: number, step: number): Result {
  const count = Math.max(0, Math.floor((items.length - size) / step) + 1)
  const refusal = refuseItems(ctx, size * count)
  if (refusal !== null) return refusal
  chargeMade(ctx, count, 0)
  const windows: Value[] = []
  for (let at = 0; at + size <= items.length; at += step) windows.push(new HarnList(items.slice(at, at + size)))
  return new HarnList(windows)
}

function sum(items: readonly Value[]): Value {
  let total: Value = 0
  for (const item of items) if (readNumber(item) !== null) total = addNumbers(total, item)
  return total
}

function findBest(items: readonly Value[], wanted: (order: number) => boolean): Value {
  let found: Value = items[0] ?? null
  for (const item of items) if (wanted(compare(item, found))) found = item
  return found
}

/** Up to this many elements, a method is not split into pieces. */
const FEW = 16

function removeDuplicates(ctx: Context, self: HarnList): Result {
  if (self.length > FEW) return distinct.run(ctx, self)
  ctx.charge(UNITS_A_MEMBER * self.length, 16 * self.length)
  return new HarnList(new HarnSet(self.view()).values())
}

function join(ctx: Context, list: HarnList, separator: string): Result {
  if (list.length > FEW) return joining.run(ctx, list, separator)
  ctx.charge(list.length)
  const texts = list.view().map(display)
  let size = separator.length * Math.max(0, texts.length - 1)
  for (const text of texts) size += text.length
  return refuseText(ctx, size) ?? texts.join(separator)
}

const distinct = definePieces('list.unique', ([list]) => {
  const items = (list as HarnList).view()
  const found = new HarnSet()
  return makeEachWork(
    items.length,
    (at, budget) => {
      budget.left -= UNITS_A_MEMBER
      budget.heap += 16
      found.add(items[at]!)
      return undefined
    },
    () => new HarnList(found.values()),
  )
})

const tallying = definePieces('list.tally', ([list]) => {
  const items = (list as HarnList).view()
  const places = new Map<string, number>()
  // As the slots of all dicts: an array of any values, not of small ints.
  const counts = makeBlankSlots(1)
  counts.pop()
  return makeEachWork(
    items.length,
    (at, budget) => {
      const key = display(items[at]!)
      budget.left -= UNITS_A_MEMBER + (key.length >> 6)
      budget.heap += 32
      const place = places.get(key)
      if (place === undefined) {
        places.set(key, counts.length)
        counts.push(1)
      } else counts[place] = (counts[place] as number) + 1
      return undefined
    },
    () => HarnDict.ofTable(places, counts),
  )
})

/** Strings that are joined first, before the results are joined. */
const JOINED = 1024

/** Joins formatted values. If the result would be too long, it is still measured for the message, but not built. */
const joining = definePieces('list.join', ([list, separator]) => {
  const items = (list as HarnList).view()
  const between = separator as string
  const parts: string[] = []
  let texts: string[] = []
  let size = between.length * Math.max(0, items.length - 1)
  return makeEachWork(
    items.length,
    (at, budget) => {
      const text = display(items[at]!)
      size += text.length
      const length = text.length + between.length
      budget.left -= 1 + (length >> 6)
      if (size > MAX_TEXT) return undefined
      budget.heap += length
      texts.push(text)
      if (texts.length === JOINED) {
        parts.push(texts.join(between))
        texts = []
      }
      return undefined
    },
    (ctx) => {
      const refusal = size > MAX_TEXT ? refuseText(ctx, size) : null
      if (texts.length > 0) parts.push(texts.join(between))
      return refusal ?? parts.join(between)
    },
  )
})

function flatten(ctx: Context, items: readonly Value[]): Result {
  const refusal = refuseItems(
    ctx,
    items.reduce<number>((size, item) => size + (item instanceof HarnList ? item.length : 1), 0),
  )
  if (refusal !== null) return refusal
  const flat: Value[] = []
  for (const item of items) {
    if (item instanceof HarnList) for (const inner of item.view()) flat.push(inner)
    else flat.push(item)
  }
  return new HarnList(flat)
}

function slice(ctx: Context, self: HarnList, start: Value, end: Value): HarnList {
  const from = clampIndex(count(start) ?? 0, self.length)
  const to = clampIndex(count(end) ?? self.length, self.length)
  const items = from < to ? self.items.slice(from, to) : []
  chargeList(ctx, items.length)
  self.nest = null
  return new HarnList(items)
}

function takeSome(ctx: Context, self: HarnList, n: Value): HarnList {
  const taken = Math.min(countOr(n, 0), self.length)
  chargeList(ctx, taken)
  self.nest = null
  return new HarnList(self.items.slice(0, taken))
}

function skipSome(ctx: Context, self: HarnList, n: Value): HarnList {
  const items = self.items.slice(Math.min(countOr(n, 0), self.length), self.length)
  chargeList(ctx, items.length)
  self.nest = null
  return new HarnList(items)
}

/** `first` and `last`: one element without an int argument, otherwise a list of up to that many. */
function makeEdgeMethod(one: (self: HarnList) => Value, some: (self: HarnList, n: number) => Value[]) {
  return (ctx: Context, self: HarnList, n: Value): Value => {
    if (count(n) === null) return share(one(self))
    self.nest = null
    const items = some(self, Math.min(countOr(n, 0), self.length))
    chargeList(ctx, items.length)
    return new HarnList(items)
  }
}

const first = makeEdgeMethod(
  (self) => self.at(0) ?? null,
  (self, n) => self.items.slice(0, n),
)
const last = makeEdgeMethod(
  (self) => self.at(self.length - 1) ?? null,
  (self, n) => self.items.slice(self.length - n, self.length),
)

const defineEachSlice = (name: string): BuiltinDef =>
  listMethod(`${name}(n: int) -> list`, 'Lists of `n` elements; the last may be shorter.', (ctx, self, n) =>
    splitIntoChunks(ctx, self.view(), Math.max(1, count(n) ?? 1)),
  )

const defineWindowMethod = (name: string): BuiltinDef =>
  listMethod(
    `${name}(size?: int, step?: int) -> list`,
    'Every full window of `size` elements, `step` apart.',
    (ctx, self, size, step) => listWindows(ctx, self.view(), Math.max(1, count(size) ?? 2), Math.max(1, count(step) ?? 1)),
  )

const methods: readonly BuiltinDef[] = [
  listMethod('count() -> int', 'Number of elements.', (_ctx, self) => self.length, true),
  listMethod('empty() -> bool', 'Whether there is no element.', (_ctx, self) => self.length === 0, true),
  listMethod('sort() -> list', 'Ascending; stable.', (ctx, self) => {
    ctx.charge(self.length >> 3, 16 * self.length)
    return sorting.run(ctx, self)
  }),
  listMethod('reverse() -> list', 'Last element first.', (ctx, self) => new HarnList(viewAll(ctx, self).toReversed())),
  listMethod('flatten() -> list', 'Elements that are lists are spliced in, one level.', (ctx, self) => flatten(ctx, self.view())),
  listMethod(
    'compact() -> list',
    'Without nil.',
    (ctx, self) => new HarnList(viewAll(ctx, self).filter((item) => item !== null)),
  ),
  listMethod('unique() -> list', 'First occurrence of each structurally distinct element.', removeDuplicates),
  listMethod(
    'join(separator?: string) -> string',
    'Displays of the elements, joined.',
    (ctx, self, separator) => join(ctx, self, readTextArg(ctx, 0, separator)),
    true,
  ),
  listMethod('contains(value: any) -> bool', 'Whether an element equals `value`.', containsValue, true),
  listMethod(
    'index_of(value: any) -> int',
    'Index of the first element equal to `value`, or -1.',
    (ctx, self, value) => {
      if (isContainer(value)) return searching.run(ctx, self, value)
      ctx.charge(self.length >> 3)
      return findIndex(self, value)
    },
    true,
  ),
  listMethod('enumerate() -> list', '`{index, value}` dicts.', (ctx, self) => {
    // Making a dict costs as much as making several lists.
    chargeMade(ctx, 3 * self.length, 3 * self.length)
    return new HarnList(self.view().map((value, index) => HarnDict.of({ index, value })))
  }),
  listMethod('zip(other: list) -> list', 'Two-element lists; as long as the shorter.', (ctx, self, other) => {
    if (!(other instanceof HarnList)) return new HarnList([])
    const length = Math.min(self.length, other.length)
    chargeMade(ctx, length, 2 * length)
    return new HarnList(self.items.slice(0, length).map((item, at) => new HarnList([item, other.items[at]!])))
  }),
  listMethod(
    'slice(start: int, end?: int) -> list',
    'Elements from `start` up to `end`; negatives count from the end.',
    slice,
    true,
  ),
  listMethod('take(n: int) -> list', 'The first `n` elements.', takeSome, true),
  listMethod('skip(n: int) -> list', 'All but the first `n` elements.', skipSome, true),
  listMethod('first(n?: int) -> any', 'The first element or nil; with `n` a list of the first ones.', first, true),
  listMethod('last(n?: int) -> any', 'The last element or nil; with `n` a list of the last ones.', last, true),
  listMethod(
    'sum() -> int | float',
    'Sum of the numbers; others are ignored.',
    (ctx, self) => sum(viewAllSlowly(ctx, self)),
    true,
  ),
  listMethod(
    'min() -> any',
    'The first least element, nil when empty.',
    (ctx, self) => share(findBest(viewAllSlowly(ctx, self), (order) => order < 0)),
    true,
  ),
  listMethod(
    'max() -> any',
    'The first greatest element, nil when empty.',
    (ctx, self) => share(findBest(viewAllSlowly(ctx, self), (order) => order > 0)),
    true,
  ),
  listMethod('push(value: any) -> list', 'With `value` behind the last element.', (ctx, self, value) => {
    if (ctx.argc === 0) return self
    if (self.owned || self.items.length === self.length) ctx.charge(0, 32)
    else {
      chargeList(ctx, self.length)
      ctx.noteCopy(16 + 16 * self.length)
    }
    if (self.owned) {
      // The receiver is a variable that the result overwrites (compiler, emitExtension).
      self.items.push(value)
      self.length = self.items.length
      return self
    }
    return self.append(value)
  }),
  listMethod('pop() -> list', 'Without the last element.', (ctx, self) => {
    if (self.owned) {
      self.items.pop()
      self.length = self.items.length
      return self
    }
    chargeList(ctx, self.length)
    ctx.noteCopy(16 + 16 * self.length)
    return new HarnList(self.items.slice(0, Math.max(0, self.length - 1)))
  }),
  listMethod('tally() -> dict', 'How often each display occurs.', (ctx, self) => tallying.run(ctx, self), true),
  ...['chunk', 'each_slice'].map(defineEachSlice),
  ...['window', 'each_cons', 'sliding_window'].map(defineWindowMethod),
]

/** Runs `body` on the list that is the first argument, or raises the errors that these functions share. */
export function onList(name: string, body: (ctx: Context, list: HarnList, ...rest: Value[]) => Result): Run {
  return (ctx, list = null, ...rest) => {
    if (ctx.argc < 1) return ctx.runtime(`${name}: first argument must be a list`)
    if (!(list instanceof HarnList)) return ctx.type(`${name}: first argument must be a list, got ${typeName(list)}`)
    return body(ctx, list, ...rest)
  }
}

const functions: readonly BuiltinDef[] = [
  builtin(
    'chunk(list: list, size?: int) -> list',
    { doc: 'Lists of `size` elements; the last may be shorter.' },
    onList('chunk', (ctx, list, size) => splitIntoChunks(ctx, list.view(), Math.max(1, count(size) ?? 1))),
  ),
  builtin(
    'window(list: list, size?: int, step?: int) -> list',
    { doc: 'Every full window of `size` elements, `step` apart.' },
    onList('window', (ctx, list, size, step) =>
      listWindows(ctx, list.view(), Math.max(1, count(size) ?? 2), Math.max(1, count(step) ?? 1)),
    ),
  ),
  builtin(
    'join(list: list, separator?: string) -> string',
    { doc: 'Displays of the elements, joined.', borrows: true },
    (ctx, list = null, separator = null) => (list instanceof HarnList ? join(ctx, list, readTextArg(ctx, 1, separator)) : ''),
  ),
]

export const listsFamily: BuiltinFamily = {
  name: 'lists',
  builtins: [...methods, ...listCallbackMethods, ...functions, ...listFunctions],
  frames: [
    ...listCallbackFrames,
    sorting.frame,
    distinct.frame,
    tallying.frame,
    joining.frame,
    searching.frame,
    containing.frame,
  ],
}
