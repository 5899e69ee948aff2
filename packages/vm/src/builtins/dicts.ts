// Methods and functions of dicts. Keys are always strings (other keys are formatted), and every loop over a dict
// goes in key order. A dict entry that is callable can be called as a method; the interpreter does that.

import { builtin, method } from './builtin.js'
import type { BuiltinDef, Context, FrameDef, Result, Run } from './builtin.js'
import { chargeList, chargeMade, makeEntry } from './core-values.js'
import { defineLoopFrame, runLoop } from './lists-callbacks.js'
import type { Loop, LoopState } from './builtin.js'
import type { BuiltinFamily } from './registry.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { share } from '../interpreter/access.js'
import { HarnList } from '../values/list.js'
import { isCallable, isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

function listKeys(ctx: Context, dict: HarnDict): HarnList {
  chargeList(ctx, dict.size)
  return new HarnList(dict.keys().slice())
}

/** Copying the table of a dict copies each entry. */
function chargeEntries(ctx: Context, count: number): void {
  ctx.charge(count, 32 * count)
}

function listValues(ctx: Context, dict: HarnDict): HarnList {
  chargeList(ctx, dict.size)
  dict.nest = null
  return new HarnList(dict.members())
}

function listEntries(ctx: Context, dict: HarnDict): HarnList {
  chargeMade(ctx, 3 * dict.size, 3 * dict.size)
  dict.nest = null
  return new HarnList(dict.keys().map((key) => makeEntry(key, dict.get(key)!)))
}

// Loops go over the values in key order; `dict` is the receiver and `acc` the dict under construction.
function makeDictLoop(visit: (made: HarnDict, key: string, value: Value, answer: Value) => void): Loop {
  return {
    args: (state, item) => (state['byKey'] === true ? [readKeyAt(state)] : [item]),
    visit: (state, item, answer) => {
      visit(state.acc as HarnDict, readKeyAt(state), item, answer)
      return undefined
    },
    end: (state) => state.acc,
  }
}

function readKeyAt(state: LoopState): string {
  return (state['dict'] as HarnDict).keys()[state.at]!
}

const LOOPS: { readonly [name: string]: Loop } = {
  map_values: makeDictLoop((made, key, _value, answer) => made.set(key, answer)),
  map_keys: makeDictLoop((made, _key, value, answer) => made.set(display(answer), value)),
  filter: makeDictLoop((made, key, value, answer) => {
    if (isTruthy(answer)) made.set(key, value)
  }),
}

/** Charge of a loop over entries, however few: a list and a dict are made for it. */
const LOOP_UNITS = 4

function defineLoopMethod(name: string, loop: string, doc: string): BuiltinDef {
  return method('dict', `${name}(f: closure) -> dict`, { doc, effects: ['callback'] }, (ctx, self, fn = null) => {
    if (!isCallable(fn)) return null
    const dict = self as HarnDict
    ctx.charge(LOOP_UNITS)
    return runLoop(ctx, `dict.${loop}`, listValues(ctx, dict), fn, new HarnDict(), { dict, byKey: loop === 'map_keys' })
  })
}

function defineDictMethod(
  signature: string,
  doc: string,
  run: (ctx: Context, self: HarnDict, a: Value, b: Value) => Result,
  borrows = false,
): BuiltinDef {
  return method('dict', signature, { doc, borrows }, (ctx, self, a = null, b = null) => run(ctx, self as HarnDict, a, b))
}

const methods: readonly BuiltinDef[] = [
  defineDictMethod('keys() -> list<string>', 'The keys in order.', listKeys, true),
  defineDictMethod('values() -> list', 'The values in key order.', listValues, true),
  defineDictMethod('entries() -> list', '`{key, value}` dicts in key order.', listEntries, true),
  defineDictMethod('count() -> int', 'Number of entries.', (_ctx, self) => self.size, true),
  defineDictMethod(
    'has(key: string) -> bool',
    'Whether the key is present, even with nil.',
    (_ctx, self, key) => self.has(display(key)),
    true,
  ),
  defineDictMethod(
    'get(key: string, default?: any) -> any',
    'The value, or the default when the key is absent.',
    (_ctx, self, key, fallback) => {
      const value = self.get(display(key))
      return value === undefined ? fallback : share(value)
    },
    true,
  ),
  defineDictMethod('merge(other: dict) -> dict', 'Both; the other wins. Nested dicts are not merged.', (ctx, self, other) => {
    if (!(other instanceof HarnDict)) return self
    if (self.owned && other !== self) {
      // The receiver is a variable that the result overwrites (compiler, emitExtension).
      chargeEntries(ctx, other.size)
      self.setAll(other)
      return self
    }
    chargeEntries(ctx, self.size + other.size)
    ctx.noteCopy(16 + 32 * self.size)
    return self.merged(other)
  }),
  defineDictMethod('remove(key: string) -> dict', 'Without the key.', (ctx, self, key) => {
    const name = display(key)
    if (!self.has(name)) return self
    if (self.owned) {
      self.delete(name)
      return self
    }
    chargeEntries(ctx, self.size)
    ctx.noteCopy(16 + 32 * self.size)
    const copy = self.copy()
    copy.delete(name)
    return copy
  }),
  defineLoopMethod('map_values', 'map_values', 'The same keys with what `f` gives for each value.'),
  defineLoopMethod('map_keys', 'map_keys', 'The same values under what `f` gives for each key; the later key wins.'),
  defineLoopMethod('rekey', 'map_keys', 'The same values under what `f` gives for each key; the later key wins.'),
  defineLoopMethod('filter', 'filter', 'The entries for whose value `f` holds.'),
]

/** A function on a dict that gives an empty list for anything else. */
function defineDictFunction(signature: string, doc: string, body: (ctx: Context, dict: HarnDict) => HarnList): BuiltinDef {
  const run: Run = (ctx, dict = null) => (dict instanceof HarnDict ? body(ctx, dict) : new HarnList([]))
  return builtin(signature, { doc, borrows: true }, run)
}

const frames: readonly FrameDef[] = Object.entries(LOOPS).map(([name, loop]) => defineLoopFrame(`dict.${name}`, loop))

export const dictsFamily: BuiltinFamily = {
  name: 'dicts',
  builtins: [
    ...methods,
    defineDictFunction('keys(dict: dict) -> list<string> as list', 'The keys in order.', listKeys),
    defineDictFunction('values(dict: dict) -> list', 'The values in key order.', listValues),
    defineDictFunction('entries(dict: dict) -> list', '`{key, value}` dicts in key order.', listEntries),
  ],
  frames,
}
