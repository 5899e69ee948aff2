// The substring search agrees with JavaScript's, also where it uses another algorithm.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findLastText, findText, splitAt } from './text-search.js'

// Long parts that nearly match everywhere, and strings long enough not to be left to JavaScript.
const parts = fc
  .tuple(fc.constantFrom('a', 'ab', 'aab'), fc.integer({ min: 60, max: 400 }), fc.constantFrom('', 'b', 'c'))
  .map(([unit, times, end]) => unit.repeat(times) + end)
const texts = fc
  .array(fc.oneof(parts, fc.constantFrom('a', 'b', 'c', 'ab')), { minLength: 1, maxLength: 40 })
  .map((pieces) => pieces.join('') + 'a'.repeat(20_000))

test('first, next, last and split', () => {
  fc.assert(
    fc.property(texts, parts, fc.nat(2000), (text, part, from) => {
      expect(findText(text, part, from)).toBe(text.indexOf(part, from))
      expect(findLastText(text, part)).toBe(text.lastIndexOf(part))
      expect(splitAt(text, part, 1e9)).toEqual(text.split(part))
      expect(splitAt(text, part, 2)).toEqual(text.split(part, 2))
    }),
    { numRuns: 60 },
  )
})

test('a part that nearly matches everywhere is found in time proportional to the string', () => {
  // By comparing everywhere this takes minutes.
  const text = 'a'.repeat(4_000_000)
  expect(findText(text, `${'a'.repeat(100_000)}b`)).toBe(-1)
  expect(findText(`${text}b`, `${'a'.repeat(100_000)}b`)).toBe(3_900_000)
  expect(findLastText(text, `b${'a'.repeat(100_000)}`)).toBe(-1)
})
