// Sets: the functions `set`, `set_*` and the methods. The functions compare by structural key, where 1 and 1.0 differ; the
// methods compare by `==`, where they are the same. Sets keep insertion order: members from the right
// operand come after those of the left.

import { builtin, method } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, Result } from './builtin.js'
import { UNITS_A_MEMBER, chargeList } from './core-values.js'
import { defineLoopFrame, runLoop } from './lists-callbacks.js'
import { makeEachWork, definePieces } from './pieces.js'
import type { Budget, Pieces, Work } from './pieces.js'
import type { BuiltinFamily } from './registry.js'
import { Alike, equals } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { countSmallVisits, work } from '../values/meter.js'
import { HarnFloat } from '../values/scalars.js'
import { HarnSet, makeStructuralKey } from '../values/set.js'
import { isCallable, isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

/** Fuel for copying a member whose key is known. */
const UNITS_A_COPY = 2

/** Whether a member of another set, with its key there, is in `set`; undefined if only a search can tell. */
type Finds = (set: HarnSet, key: unknown, value: Value) => boolean | undefined

/** By structural key. */
const hasByKey: Finds = (set, key) => set.map.has(key)

/** By `==`. A scalar can equal another key only as a number of the other type; containers are searched. */
const hasByEquality: Finds = (set, key, value) => {
  // Closures and the like are never equal, not even to themselves, so a key that is found must be compared too.
  const kept = set.map.get(key)
  if (kept !== undefined && equals(kept, value)) return true
  const other = findOtherKey(value)
  return other === undefined ? undefined : other !== null && set.map.has(other)
}

/** The other key under which a scalar may equal a member; null for none, undefined if only a search can tell. */
function findOtherKey(value: Value): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return null
  if (typeof value === 'number') return Number.isNaN(value) ? null : makeStructuralKey(new HarnFloat(value))
  if (value instanceof HarnFloat && !Number.isInteger(value.v)) return null
  return value instanceof HarnFloat && Number.isSafeInteger(value.v) ? value.v + 0 : undefined
}

/** Searches a set by `==`; its index is built in pieces when first needed. */
class Search {
  private readonly alike = new Alike()
  private readonly left: Iterator<Value>
  private isReady = false

  constructor(set: HarnSet) {
    this.left = set.map.values()
  }

  /** Whether the index is ready; if not, the budget is spent. */
  prepare(budget: Budget): boolean {
    while (!this.isReady) {
      if (budget.left <= 0) return false
      const before = countSmallVisits()
      const next = this.left.next()
      if (next.done === true) this.isReady = true
      else this.alike.add(next.value)
      budget.left -= UNITS_A_MEMBER + countSmallVisits() - before
      budget.heap += 32
    }
    return true
  }

  has(value: Value): boolean {
    return this.alike.of(value).some((other) => equals(other, value))
  }
}

/** Walks a set: its members that are in `other`, or with `wanted` false those that are not; without `other`, all. */
interface Pass {
  readonly from: HarnSet
  readonly other: HarnSet | null
  readonly wanted: boolean
}

/** Members selected by the passes, in order, mapped by each pass. */
function makeMeetingWork(
  passes: readonly Pass[],
  same: Finds,
  meet: (key: unknown, value: Value, budget: Budget) => void,
  end: () => Result,
  /** The result if a member that is not selected settles it. */
  otherwise?: Value,
): Work {
  let at = 0
  let cursor: Iterator<[unknown, Value]> | null = null
  let search: Search | null = null
  let waiting: [unknown, Value] | null = null
  return {
    step: (_ctx, budget) => {
      for (; at < passes.length; at++) {
        const { from, other, wanted } = passes[at]!
        cursor ??= from.map.entries()
        for (;;) {
          if (budget.left <= 0) return undefined
          const next: [unknown, Value] | undefined = waiting ?? cursor.next().value
          if (next === undefined) break
          const [key, value] = next
          const before = countSmallVisits()
          let found = other === null ? wanted : same(other, key, value)
          if (found === undefined) {
            search ??= new Search(other!)
            waiting = next
            if (!search.prepare(budget)) return undefined
            waiting = null
            found = search.has(value)
          }
          budget.left -= UNITS_A_COPY + countSmallVisits() - before
          if (found === wanted) meet(key, value, budget)
          else if (otherwise !== undefined) return otherwise
        }
        cursor = null
        search = null
      }
      return end()
    },
  }
}

/** A set of the selected members, followed by `more`. */
function collectMembers(passes: readonly Pass[], same: Finds, more: readonly Value[] = []): Work {
  const made = new HarnSet()
  return makeMeetingWork(
    passes,
    same,
    (key, value, budget) => {
      budget.heap += 32
      made.addUnder(key, value)
    },
    () => {
      for (const value of more) made.add(value)
      return made
    },
  )
}

/** The passes of an operation; with `otherwise` it tests whether all members are selected. */
interface Plan {
  readonly passes: readonly Pass[]
  readonly otherwise?: boolean
}

type Op = (a: HarnSet, b: HarnSet) => Plan

/** Up to this many members, an operation is not split into pieces. */
const FEW = 16

/** For few members; undefined if one must be searched for. */
function combineAtOnce({ passes, otherwise }: Plan, same: Finds): Value | undefined {
  const made = new HarnSet()
  for (const { from, other, wanted } of passes) {
    for (const [key, value] of from.map) {
      const found = other === null ? wanted : same(other, key, value)
      if (found === undefined) return undefined
      if (found !== wanted) {
        if (otherwise !== undefined) return otherwise
      } else if (otherwise === undefined) made.addUnder(key, value)
    }
  }
  return otherwise === undefined ? made : !otherwise
}

const makeSharedPass = (from: HarnSet, other: HarnSet): Pass => ({ from, other, wanted: true })
const without = (from: HarnSet, other: HarnSet): Pass => ({ from, other, wanted: false })
const makeWholePass = (from: HarnSet): Pass => ({ from, other: null, wanted: true })

const OPERATIONS = {
  union: (a, b) => ({ passes: [makeWholePass(a), without(b, a)] }),
  intersect: (a, b) => ({ passes: [makeSharedPass(a, b)] }),
  difference: (a, b) => ({ passes: [without(a, b)] }),
  symmetric: (a, b) => ({ passes: [without(a, b), without(b, a)] }),
  subset: (a, b) => ({ passes: [makeSharedPass(a, b)], otherwise: false }),
  superset: (a, b) => ({ passes: [makeSharedPass(b, a)], otherwise: false }),
  disjoint: (a, b) => ({ passes: [without(a, b)], otherwise: false }),
} as const satisfies Record<string, Op>

/** Each operation in pieces, by key (`set.key.union`) and by `==` (`set.union`). */
function defineOperations(prefix: string, same: Finds): Record<keyof typeof OPERATIONS, Pieces> {
  const made = Object.entries(OPERATIONS).map(([name, op]: [string, Op]): [string, Pieces] => {
    const pieces = definePieces(`${prefix}${name}`, ([a, b]) => {
      const { passes, otherwise } = op(a as HarnSet, b as HarnSet)
      return otherwise === undefined
        ? collectMembers(passes, same)
        : makeMeetingWork(
            passes,
            same,
            () => {},
            () => true,
            otherwise,
          )
    })
    const run: Pieces['run'] = (ctx, a, b) => {
      const size = (a as HarnSet).size + (b as HarnSet).size
      if (size > FEW) return pieces.run(ctx, a!, b!)
      ctx.charge(UNITS_A_COPY * size, 32 * size)
      return combineAtOnce(op(a as HarnSet, b as HarnSet), same) ?? pieces.run(ctx, a!, b!)
    }
    return [name, { frame: pieces.frame, run }]
  })
  return Object.fromEntries(made) as Record<keyof typeof OPERATIONS, Pieces>
}

const keyed = defineOperations('set.key.', hasByKey)
const equal = defineOperations('set.', hasByEquality)

/** Heap units of a set that `add` copies, in addition to its members. */
const adding = definePieces('set.add', ([set, value]) => collectMembers([makeWholePass(set as HarnSet)], hasByKey, [value!]))

/** Without the members for which `isGone` holds. */
function defineRemoval(kind: string, test: (value: Value) => (key: unknown, member: Value) => boolean): Pieces {
  return definePieces(kind, ([set, value]) => {
    const made = new HarnSet()
    const isGone = test(value!)
    const passes = [makeWholePass(set as HarnSet)]
    return makeMeetingWork(
      passes,
      hasByKey,
      (key, member, budget) => {
        const before = countSmallVisits()
        const gone = isGone(key, member)
        budget.left -= countSmallVisits() - before
        if (gone) return
        budget.heap += 32
        made.addUnder(key, member)
      },
      () => made,
    )
  })
}

const removingEqual = defineRemoval('set.remove', (value) => (_key, member) => equals(member, value))
const removingKey = defineRemoval('set.key.remove', (value) => {
  const gone = makeStructuralKey(value)
  return (key) => key === gone
})

/** The distinct members of lists and sets, and of single values. */
const making = definePieces('set.of', (args) => {
  const made = new HarnSet()
  const items = args.length === 1 ? listMembers(args[0]!) : args.flatMap(listMembers)
  return makeEachWork(
    items.length,
    (at, budget) => {
      budget.left -= UNITS_A_MEMBER
      budget.heap += 32
      made.add(items[at]!)
      return undefined
    },
    () => made,
  )
})

function listMembers(value: Value): readonly Value[] {
  if (!(value instanceof HarnList) && !(value instanceof HarnSet)) return [value]
  work((value instanceof HarnList ? value.length : value.size) >> 3)
  return value instanceof HarnList ? value.view() : value.values()
}

/** Keeps the first of values that scripts find equal: 1.0 equals 1. Inside containers only exact keys count. */
export const distinct = definePieces('set.distinct', ([list]) => {
  const items = (list as HarnList).view()
  const made = new HarnSet()
  const seen = new Set<unknown>()
  return makeEachWork(
    items.length,
    (at, budget) => {
      const value = items[at]!
      const key = makeStructuralKey(value)
      const isWhole = value instanceof HarnFloat && Number.isSafeInteger(value.v)
      const number = isWhole ? value.v + 0 : key
      budget.left -= UNITS_A_MEMBER
      if (seen.has(number)) return undefined
      budget.heap += 32
      seen.add(number)
      made.addUnder(key, value)
      return undefined
    },
    () => made,
  )
})

/** Whether a value is in a set; undefined if only a search can tell. */
function isHeld(set: HarnSet, value: Value): boolean | undefined {
  return hasByEquality(set, makeStructuralKey(value), value)
}

/** Compares with each member: returns `found` for an equal one, otherwise continues with `missing`. */
function searchMembers(set: HarnSet, value: Value, found: Value, missing: () => Work): Work {
  const members = set.values()
  const search = makeEachWork(
    members.length,
    (at, budget) => {
      budget.left -= 1
      return equals(members[at]!, value) ? true : undefined
    },
    () => false,
  )
  let next: Work | null = null
  return {
    step: (ctx, budget) => {
      if (next === null) {
        const result = search.step(ctx, budget)
        if (result === undefined) return undefined
        if (result === true) return found
        next = missing()
      }
      return next.step(ctx, budget)
    },
  }
}

const NOT_FOUND: Work = { step: () => false }

const containing = definePieces('set.contains', ([set, value]) => searchMembers(set as HarnSet, value!, true, () => NOT_FOUND))

const addingMissing = definePieces('set.add.missing', ([set, value]) =>
  searchMembers(set as HarnSet, value!, set!, () => collectMembers([makeWholePass(set as HarnSet)], hasByKey, [value!])),
)

function setMethod(
  signature: string,
  doc: string,
  run: (ctx: Context, self: HarnSet, arg: Value) => Result,
  borrows = false,
): BuiltinDef {
  return method('set', signature, { doc, borrows }, (ctx, self, arg = null) => run(ctx, self as HarnSet, arg))
}

/** A method of two sets; `otherwise` is its result for an argument that is not a set. */
function defineBinaryMethod(
  name: string,
  returns: string,
  doc: string,
  op: Pieces,
  otherwise: (self: HarnSet) => Value,
): BuiltinDef {
  return setMethod(`${name}(other: set) -> ${returns}`, doc, (ctx, self, other) =>
    other instanceof HarnSet ? op.run(ctx, self, other) : otherwise(self),
  )
}

const returnSelf = (self: HarnSet): Value => self

const LOOPS = {
  map: defineLoopFrame('set.map', {
    visit: (state, _item, answer) => {
      state.out.push(answer)
      return undefined
    },
    end: (state, ctx) => distinct.run(ctx, new HarnList(state.out)),
  }),
  filter: defineLoopFrame('set.filter', {
    visit: (state, item, answer) => {
      if (isTruthy(answer)) state.out.push(item)
      return undefined
    },
    end: (state, ctx) => making.run(ctx, new HarnList(state.out)),
  }),
} as const satisfies Record<string, FrameDef>

function defineLoopMethod(name: string, frameKind: string, returns: string, doc: string, missing: Value): BuiltinDef {
  return method('set', `${name}(f: closure) -> ${returns}`, { doc, effects: ['callback'] }, (ctx, self, fn = null) => {
    if (!isCallable(fn)) return missing
    const set = self as HarnSet
    chargeList(ctx, UNITS_A_COPY * set.size, set.size)
    return runLoop(ctx, frameKind, new HarnList(set.values()), fn)
  })
}

const defineSizeMethod = (name: string): BuiltinDef =>
  method('set', `${name}() -> int`, { doc: 'Number of members.', borrows: true }, (_ctx, self) => (self as HarnSet).size)

const removeMethod = (name: string): BuiltinDef =>
  setMethod(`${name}(value: any) -> set`, 'Without the member.', (ctx, self, value) => removingEqual.run(ctx, self, value))

const methods: readonly BuiltinDef[] = [
  ...['count', 'len'].map(defineSizeMethod),
  method(
    'set',
    'empty() -> bool',
    { doc: 'Whether there is no member.', borrows: true },
    (_ctx, self) => (self as HarnSet).size === 0,
  ),
  setMethod(
    'contains(value: any) -> bool',
    'Whether `value` is a member.',
    (ctx, self, value) => isHeld(self, value) ?? containing.run(ctx, self, value),
    true,
  ),
  setMethod('add(value: any) -> set', 'With the member.', (ctx, self, value) => {
    const held = isHeld(self, value)
    if (held === true) return self
    return (held === undefined ? addingMissing : adding).run(ctx, self, value)
  }),
  ...['remove', 'delete'].map(removeMethod),
  defineBinaryMethod('union', 'set', 'Members of either.', equal.union, returnSelf),
  ...['intersect', 'intersection'].map((name) =>
    defineBinaryMethod(name, 'set', 'Members of both.', equal.intersect, () => new HarnSet()),
  ),
  defineBinaryMethod('difference', 'set', 'Members of this one only.', equal.difference, returnSelf),
  defineBinaryMethod('symmetric_difference', 'set', 'Members of exactly one.', equal.symmetric, returnSelf),
  defineBinaryMethod('is_subset', 'bool', 'Whether the other has every member.', equal.subset, () => false),
  defineBinaryMethod('is_superset', 'bool', 'Whether this has every member of the other.', equal.superset, () => false),
  defineBinaryMethod('is_disjoint', 'bool', 'Whether there is no common member.', equal.disjoint, () => true),
  setMethod('to_list() -> list', 'The members in insertion order.', (ctx, self) => {
    chargeList(ctx, UNITS_A_COPY * self.size, self.size)
    return new HarnList(self.values())
  }),
  defineLoopMethod('map', 'set.map', 'set', 'The distinct values that `f` gives.', null),
  defineLoopMethod('filter', 'set.filter', 'set', 'The members for which `f` holds.', null),
  defineLoopMethod('any', 'list.any', 'bool', 'Whether `f` holds for a member.', false),
  defineLoopMethod('all', 'list.all', 'bool', 'Whether `f` holds for every member.', true),
  defineLoopMethod('every', 'list.all', 'bool', 'Whether `f` holds for every member.', true),
]

/** A function whose first argument must be a set. */
function onSet(name: string, returns: string, doc: string, op: (ctx: Context, set: HarnSet, value: Value) => Result): BuiltinDef {
  return builtin(`${name}(s: set, value: any) -> ${returns}`, { doc }, (ctx, set = null, value = null) => {
    if (!(set instanceof HarnSet)) return ctx.throw(`${name}: first argument must be a set`)
    return op(ctx, set, value)
  })
}

/** A function of two sets; without `otherwise`, arguments of another type are an error. */
function onSets(name: string, returns: string, doc: string, op: Pieces, otherwise?: boolean): BuiltinDef {
  return builtin(`${name}(a: set, b: set) -> ${returns}`, { doc }, (ctx, a = null, b = null) => {
    if (!(a instanceof HarnSet) || !(b instanceof HarnSet)) return otherwise ?? ctx.throw(`${name}: arguments must be sets`)
    return op.run(ctx, a, b)
  })
}

const functions: readonly BuiltinDef[] = [
  builtin('set(...items: any) -> set as ?', { doc: 'The arguments; lists and sets contribute their members.' }, (ctx, ...items) =>
    making.run(ctx, ...items),
  ),
  onSet('set_add', 'set as ?', 'With the member.', (ctx, set, value) =>
    set.map.has(makeStructuralKey(value)) ? set : adding.run(ctx, set, value),
  ),
  onSet('set_remove', 'set as ?', 'Without the member.', (ctx, set, value) => removingKey.run(ctx, set, value)),
  builtin(
    'set_contains(s: set, value: any) -> bool',
    { doc: 'Whether `value` is a member; false for anything but a set.', borrows: true },
    (_ctx, set = null, value = null) => set instanceof HarnSet && set.map.has(makeStructuralKey(value)),
  ),
  onSets('set_union', 'set as ?', 'Members of either.', keyed.union),
  onSets('set_intersect', 'set as ?', 'Members of both.', keyed.intersect),
  onSets('set_difference', 'set as ?', 'Members of the first only.', keyed.difference),
  onSets('set_symmetric_difference', 'set as ?', 'Members of exactly one.', keyed.symmetric),
  onSets('set_is_subset', 'bool', 'Whether the second has every member of the first.', keyed.subset, false),
  onSets('set_is_superset', 'bool', 'Whether the first has every member of the second.', keyed.superset, false),
  onSets('set_is_disjoint', 'bool', 'Whether there is no common member.', keyed.disjoint, true),
]

export const setsFamily: BuiltinFamily = {
  name: 'sets',
  builtins: [...methods, ...functions],
  frames: [
    ...Object.values(LOOPS),
    ...[
      ...Object.values(keyed),
      ...Object.values(equal),
      adding,
      removingEqual,
      removingKey,
      making,
      distinct,
      containing,
      addingMissing,
    ].map((pieces) => pieces.frame),
  ],
}
