import { expect, test } from 'vitest'
import { HarnStruct } from './callable.js'
import { HarnDict } from './dict.js'
import { equals } from './equality.js'
import { MAX_KEYS, makeLiteralShape, TABLE } from './shape.js'

/** A deterministic generator of numbers below `limit`. */
function makeNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % limit
  }
}

const NAMES = ['a', 'b', 'c', '__proto__', 'constructor', '0', '17', '', 'é', '\u{1f600}', '\uffff', 'x'.repeat(100)]

test.each([1, 2, 3, 4, 5, 6, 7, 8])('a keyed object behaves like a map in both forms (seed %i)', (seed) => {
  const next = makeNumbers(seed)
  let dict = new HarnDict()
  let map = new Map<string, number>()
  for (let step = 0; step < 600; step++) {
    const key = next(8) === 0 ? `k${next(60)}` : NAMES[next(NAMES.length)]!
    switch (next(8)) {
      case 0:
        dict.delete(key)
        map.delete(key)
        break
      case 1: {
        const before = dict
        dict = dict.copy()
        before.set('a', -1)
        break
      }
      case 2:
        if (map.size > 20) {
          dict = HarnDict.of({ b: 1, a: 2 })
          map = new Map([
            ['b', 1],
            ['a', 2],
          ])
        }
        break
      case 3: {
        const other = next(2) === 0 ? HarnDict.of({ c: step, a: step }) : new HarnDict(new Map([[key, step]]))
        for (const [name, value] of other.entries()) map.set(name, value as number)
        dict.setAll(other)
        break
      }
      case 4:
        dict.put(key, step)
        map.set(key, step)
        break
      default:
        dict.set(key, step)
        map.set(key, step)
    }
    expect([...dict.entries()]).toEqual([...map])
    expect(dict.size).toBe(map.size)
    expect([...dict.values()]).toEqual([...map.values()])
    expect(dict.get(key)).toBe(map.get(key))
    expect(dict.has(key)).toBe(map.has(key))
    expect(dict.members()).toEqual(dict.keys().map((name) => map.get(name)))
    expect(equals(dict, new HarnDict(new Map(map)))).toBe(true)
  }
})

test('keys come in code point order in both forms', () => {
  const shaped = HarnDict.of({ '\uffff': 1, '\u{1f600}': 2, z: 3, a: 4 })
  expect(shaped.shape).not.toBe(TABLE)
  expect(shaped.keys()).toEqual(['a', 'z', '\uffff', '\u{1f600}'])
  expect(new HarnDict(new Map(shaped.entries())).keys()).toEqual(shaped.keys())
})

test('the same keys in the same order share a shape; in another order they do not, but are equal', () => {
  const one = HarnDict.of({ a: 1, b: 2 })
  const other = new HarnDict()
  other.set('a', 1)
  other.set('b', 2)
  expect(other.shape).toBe(one.shape)
  expect(makeLiteralShape(['a', 'b'])).toBe(one.shape)
  expect(new HarnStruct('P', '', null, one.shape, [1, 2]).get('b')).toBe(2)
  const turned = HarnDict.of({ b: 2, a: 1 })
  expect(turned.shape).not.toBe(one.shape)
  expect(equals(one, turned)).toBe(true)
})

test('objects without a shape are tables: many keys, long keys, keys that are data', () => {
  const wide = new HarnDict()
  for (let at = 0; at < MAX_KEYS; at++) wide.set(`wide${at}`, at)
  expect(wide.shape).not.toBe(TABLE)
  wide.set('one more', 1)
  expect(wide.shape).toBe(TABLE)
  expect(HarnDict.of({ ['x'.repeat(65)]: 1 }).shape).toBe(TABLE)
  const data = new HarnDict()
  data.put('no program names this', 1)
  expect(data.shape).toBe(TABLE)
  const known = new HarnDict()
  known.put('wide0', 1)
  expect(known.shape).not.toBe(TABLE)
})

test('the tree of shapes is bounded: it is cut when it is full, and shapes in use keep working', () => {
  const kept = HarnDict.of({ before: 1, the: 2, flood: 3 })
  for (let at = 0; at < 10_000; at++) {
    const dict = HarnDict.of({ [`first${at % 1000}`]: 1, [`second${at}`]: 2 })
    if (dict.get(`second${at}`) !== 2) throw new Error('a key is lost')
  }
  expect(HarnDict.of({ before: 1, the: 2, flood: 3 }).shape).not.toBe(kept.shape)
  expect(kept.get('flood')).toBe(3)
  kept.set('after', 4)
  expect(kept.keys()).toEqual(['after', 'before', 'flood', 'the'])
})

test('a shape has a bounded number of transitions', () => {
  const dicts = Array.from({ length: 200 }, (_, at) => HarnDict.of({ one: 1, [`other${at}`]: 2 }))
  expect(dicts.filter((dict) => dict.shape !== TABLE)).toHaveLength(64)
})

test('a literal with a duplicate key has no shape', () => {
  expect(makeLiteralShape(['a', 'b', 'a'])).toBe(null)
})
