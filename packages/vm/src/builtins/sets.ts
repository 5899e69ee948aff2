// Sets: the functions `set`, `set_*` and the methods. The functions compare by structural key, where 1 and 1.0 differ; the
// methods compare by `==`, where they are the same. Sets keep insertion order: what an operation takes from the right
// operand comes after what stays of the left.

import { builtin, method } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, Result } from './builtin.js'
import { UNITS_A_MEMBER } from './core-values.js'
import { loopFrame, runLoop } from './lists-callbacks.js'
import type { BuiltinFamily } from './registry.js'
import { equals, structuralKey } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { isCallable, isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

/** Which members are the same: structural key, or `==`. */
type Has = (set: HarnSet, value: Value) => boolean

const hasKey: Has = (set, value) => set.map.has(structuralKey(value))

/** By `==`. A scalar can equal another key only as a number of the other type; containers are searched. */
const hasEqual: Has = (set, value) => {
  // Closures and the like are never equal, not even to themselves, so a hit on the key needs the check too.
  const kept = set.map.get(structuralKey(value))
  if (kept !== undefined && equals(kept, value)) return true
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return false
  if (typeof value === 'number' && !Number.isNaN(value)) return set.map.has(structuralKey(new HarnFloat(value)))
  for (const member of set.map.values()) if (equals(member, value)) return true
  return false
}

function fromValues(values: Iterable<Value>): HarnSet {
  return new HarnSet(values)
}

function keep(set: HarnSet, test: (value: Value) => boolean): HarnSet {
  return fromValues(set.values().filter(test))
}

interface Algebra {
  readonly union: (a: HarnSet, b: HarnSet) => HarnSet
  readonly intersect: (a: HarnSet, b: HarnSet) => HarnSet
  readonly difference: (a: HarnSet, b: HarnSet) => HarnSet
  readonly symmetric: (a: HarnSet, b: HarnSet) => HarnSet
  readonly subset: (a: HarnSet, b: HarnSet) => boolean
  readonly disjoint: (a: HarnSet, b: HarnSet) => boolean
}

function algebra(has: Has): Algebra {
  const without = (a: HarnSet, b: HarnSet): Value[] => a.values().filter((value) => !has(b, value))
  return {
    union: (a, b) => fromValues([...a.values(), ...without(b, a)]),
    intersect: (a, b) => keep(a, (value) => has(b, value)),
    difference: (a, b) => fromValues(without(a, b)),
    symmetric: (a, b) => fromValues([...without(a, b), ...without(b, a)]),
    subset: (a, b) => a.values().every((value) => has(b, value)),
    disjoint: (a, b) => !a.values().some((value) => has(b, value)),
  }
}

const byKey = algebra(hasKey)
const byEquality = algebra(hasEqual)

function added(set: HarnSet, value: Value, has: Has): HarnSet {
  return has(set, value) ? set : fromValues([...set.values(), value])
}

function removed(set: HarnSet, same: (member: Value) => boolean): HarnSet {
  return keep(set, (member) => !same(member))
}

function charge(ctx: Context, ...sets: Value[]): void {
  for (const set of sets) if (set instanceof HarnSet) ctx.charge(UNITS_A_MEMBER * set.size, 32 * set.size)
}

function setMethod(
  signature: string,
  doc: string,
  run: (ctx: Context, self: HarnSet, arg: Value) => Result,
  borrows = false,
): BuiltinDef {
  return method('set', signature, { doc, borrows }, (ctx, self, arg = null) => {
    charge(ctx, self!, arg)
    return run(ctx, self as HarnSet, arg)
  })
}

/** A method of two sets; `otherwise` is its result for an argument that is no set. */
function binaryMethod(
  name: string,
  returns: string,
  doc: string,
  op: (a: HarnSet, b: HarnSet) => Value,
  otherwise: (self: HarnSet) => Value,
): BuiltinDef {
  return setMethod(`${name}(other: set) -> ${returns}`, doc, (_ctx, self, other) =>
    other instanceof HarnSet ? op(self, other) : otherwise(self),
  )
}

const itself = (self: HarnSet): Value => self

const LOOPS = {
  map: loopFrame('set.map', {
    visit: (state, _item, answer) => {
      state.out.push(answer)
      return undefined
    },
    end: (state) => HarnSet.distinct(state.out),
  }),
  filter: loopFrame('set.filter', {
    visit: (state, item, answer) => {
      if (isTruthy(answer)) state.out.push(item)
      return undefined
    },
    end: (state) => fromValues(state.out),
  }),
} as const satisfies Record<string, FrameDef>

function loopMethod(name: string, frameKind: string, returns: string, doc: string, missing: Value): BuiltinDef {
  return method('set', `${name}(f: closure) -> ${returns}`, { doc, effects: ['callback'] }, (ctx, self, fn = null) =>
    isCallable(fn) ? runLoop(ctx, frameKind, new HarnList((self as HarnSet).values()), fn) : missing,
  )
}

const sizeMethod = (name: string): BuiltinDef =>
  method('set', `${name}() -> int`, { doc: 'Number of members.', borrows: true }, (_ctx, self) => (self as HarnSet).size)

const removeMethod = (name: string): BuiltinDef =>
  setMethod(`${name}(value: any) -> set`, 'Without the member.', (_ctx, self, value) =>
    removed(self, (member) => equals(member, value)),
  )

const methods: readonly BuiltinDef[] = [
  ...['count', 'len'].map(sizeMethod),
  method(
    'set',
    'empty() -> bool',
    { doc: 'Whether there is no member.', borrows: true },
    (_ctx, self) => (self as HarnSet).size === 0,
  ),
  setMethod('contains(value: any) -> bool', 'Whether `value` is a member.', (_ctx, self, value) => hasEqual(self, value), true),
  setMethod('add(value: any) -> set', 'With the member.', (_ctx, self, value) => added(self, value, hasEqual)),
  ...['remove', 'delete'].map(removeMethod),
  binaryMethod('union', 'set', 'Members of either.', byEquality.union, itself),
  ...['intersect', 'intersection'].map((name) =>
    binaryMethod(name, 'set', 'Members of both.', byEquality.intersect, () => new HarnSet()),
  ),
  binaryMethod('difference', 'set', 'Members of this one only.', byEquality.difference, itself),
  binaryMethod('symmetric_difference', 'set', 'Members of exactly one.', byEquality.symmetric, itself),
  binaryMethod('is_subset', 'bool', 'Whether the other has every member.', byEquality.subset, () => false),
  binaryMethod(
    'is_superset',
    'bool',
    'Whether this has every member of the other.',
    (a, b) => byEquality.subset(b, a),
    () => false,
  ),
  binaryMethod('is_disjoint', 'bool', 'Whether there is no common member.', byEquality.disjoint, () => true),
  setMethod('to_list() -> list', 'The members in insertion order.', (_ctx, self) => new HarnList(self.values())),
  loopMethod('map', 'set.map', 'set', 'The distinct values that `f` gives.', null),
  loopMethod('filter', 'set.filter', 'set', 'The members for which `f` holds.', null),
  loopMethod('any', 'list.any', 'bool', 'Whether `f` holds for a member.', false),
  loopMethod('all', 'list.all', 'bool', 'Whether `f` holds for every member.', true),
  loopMethod('every', 'list.all', 'bool', 'Whether `f` holds for every member.', true),
]

/** A function whose first argument must be a set. */
function onSet(name: string, returns: string, doc: string, op: (set: HarnSet, value: Value) => Value): BuiltinDef {
  return builtin(`${name}(s: set, value: any) -> ${returns}`, { doc }, (ctx, set = null, value = null) => {
    if (!(set instanceof HarnSet)) return ctx.throw(`${name}: first argument must be a set`)
    charge(ctx, set)
    return op(set, value)
  })
}

/** A function of two sets; without `otherwise`, arguments of another type are an error. */
function onSets(
  name: string,
  returns: string,
  doc: string,
  op: (a: HarnSet, b: HarnSet) => Value,
  otherwise?: boolean,
): BuiltinDef {
  return builtin(`${name}(a: set, b: set) -> ${returns}`, { doc }, (ctx, a = null, b = null) => {
    if (!(a instanceof HarnSet) || !(b instanceof HarnSet)) return otherwise ?? ctx.throw(`${name}: arguments must be sets`)
    charge(ctx, a, b)
    return op(a, b)
  })
}

const functions: readonly BuiltinDef[] = [
  builtin('set(...items: any) -> set', { doc: 'The arguments; lists and sets contribute their members.' }, (ctx, ...items) => {
    const made = new HarnSet()
    for (const item of items) {
      const members = item instanceof HarnList ? item.view() : item instanceof HarnSet ? item.values() : [item]
      ctx.charge(UNITS_A_MEMBER * members.length, 32 * members.length)
      for (const member of members) made.add(member)
    }
    return made
  }),
  onSet('set_add', 'set', 'With the member.', (set, value) => added(set, value, hasKey)),
  onSet('set_remove', 'set', 'Without the member.', (set, value) => {
    const key = structuralKey(value)
    return removed(set, (member) => structuralKey(member) === key)
  }),
  builtin(
    'set_contains(s: set, value: any) -> bool',
    { doc: 'Whether `value` is a member; false for anything but a set.', borrows: true },
    (_ctx, set = null, value = null) => set instanceof HarnSet && hasKey(set, value),
  ),
  onSets('set_union', 'set', 'Members of either.', byKey.union),
  onSets('set_intersect', 'set', 'Members of both.', byKey.intersect),
  onSets('set_difference', 'set', 'Members of the first only.', byKey.difference),
  onSets('set_symmetric_difference', 'set', 'Members of exactly one.', byKey.symmetric),
  onSets('set_is_subset', 'bool', 'Whether the second has every member of the first.', byKey.subset, false),
  onSets('set_is_superset', 'bool', 'Whether the first has every member of the second.', (a, b) => byKey.subset(b, a), false),
  onSets('set_is_disjoint', 'bool', 'Whether there is no common member.', byKey.disjoint, true),
]

export const setsFamily: BuiltinFamily = { name: 'sets', builtins: [...methods, ...functions], frames: Object.values(LOOPS) }
