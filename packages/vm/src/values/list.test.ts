// The two forms of a list of floats: a change in one form is visible in the other.

import { describe, expect, test } from 'vitest'
import { HarnList } from './list.js'
import { HarnFloat } from './scalars.js'
import type { Value } from './value.js'

const makeFloats = (...values: number[]): Value[] => values.map((each) => new HarnFloat(each))

function makeUnboxed(owned: boolean, ...values: number[]): HarnList {
  const list = new HarnList(makeFloats(...values))
  list.owned = owned
  list.unbox()
  expect(list.raw).not.toBeNull()
  return list
}

describe('a list of doubles', () => {
  test('has no boxes while it is owned, and drops them when elements may change', () => {
    const list = makeUnboxed(true, 1, -0)
    expect(list.boxed).toHaveLength(0)
    expect(list.at(1)).toEqual(new HarnFloat(-0))
    expect(list.items).toEqual(makeFloats(1, -0))
    expect(list.raw).toBeNull()
  })

  test('keeps a shared buffer, so that appending costs the same', () => {
    const buffer = makeFloats(1, 2)
    const list = new HarnList(buffer)
    list.unbox()
    expect(list.append(new HarnFloat(3)).items).toBe(buffer)
    expect(list.view()).toEqual(makeFloats(1, 2))
  })

  test('is converted back to boxes for any value but a float', () => {
    const list = makeUnboxed(true, 1, 2)
    list.put(0, new HarnFloat(5))
    expect([...list.raw!]).toEqual([5, 2])
    list.put(1, 7)
    expect(list.items).toEqual([new HarnFloat(5), 7])
  })

  test.each([[[]], [[1]], [[new HarnFloat(1), null]]])('is not made of %j', (items) => {
    const list = new HarnList(items)
    list.unbox()
    expect(list.raw).toBeNull()
    expect(list.copyUnboxed().items).toEqual(items)
  })

  test('is not made from an older view, whose buffer has elements past its end', () => {
    const list = new HarnList(makeFloats(1, 2))
    list.append(new HarnFloat(3))
    list.unbox()
    expect(list.raw).toBeNull()
  })

  test('is copied as a list of doubles', () => {
    const list = makeUnboxed(false, 1, 2)
    const copy = list.copyUnboxed()
    copy.put(0, new HarnFloat(9))
    expect(list.items).toEqual(makeFloats(1, 2))
    expect(copy.items).toEqual(makeFloats(9, 2))
  })
})
