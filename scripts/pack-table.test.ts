// Packed tables return the original entries, and each value only once.

import { expect, test } from 'vitest'
import { packTable } from './pack-table.js'
import { packedJson, packedTexts } from '../packages/stdlib-tools/src/library/harn/packed.js'

const TEXTS = new Map([
  ['first', 'pub fn first() {\n  return "ä 😀 \u2028"\n}\n'],
  ['folder/second', 'pub fn second() {\n  return 2\n}\n'.repeat(3000)],
  ['empty', ''],
])

test('a packed table returns its strings by key', () => {
  const table = packedTexts(packTable([...TEXTS]))
  expect([...table.keys()]).toEqual([...TEXTS.keys()])
  for (const [key, text] of TEXTS) expect(table.get(key)).toBe(text)
  expect(table.get('third')).toBeUndefined()
})

test('a packed table of data returns the same object each time', () => {
  const table = packedJson<{ readonly code: string }>(packTable([['one', JSON.stringify({ code: 'x' })]]))
  expect(table.get('one')).toEqual({ code: 'x' })
  expect(table.get('one')).toBe(table.get('one'))
})

test('an empty table has no entries', () => {
  const table = packedTexts(packTable([]))
  expect([...table.keys()]).toEqual([])
  expect(table.get('')).toBeUndefined()
})

test('a truncated table is refused', () => {
  const packed = packTable([...TEXTS])
  expect(() => packedTexts({ ...packed, data: packed.data.slice(0, -3) }).keys()).toThrow('damaged')
})
