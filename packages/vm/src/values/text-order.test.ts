// Lengths are in code points, whichever way the string is scanned.

import { expect, test } from 'vitest'
import { countCodePoints, hasSurrogates, sliceText } from './text-order.js'

test.each([0, 1, 23, 24, 25, 100])('%i letters, and the same with a pair of surrogates at each end', (count) => {
  const plain = 'é'.repeat(count)
  expect(hasSurrogates(plain)).toBe(false)
  expect(countCodePoints(plain)).toBe(count)
  for (const text of [`😀${plain}`, `${plain}😀`]) {
    expect(hasSurrogates(text)).toBe(true)
    expect(countCodePoints(text)).toBe(count + 1)
    expect(sliceText(text, 0, count + 1)).toBe(text)
  }
  expect(countCodePoints(`${plain}\ud800`)).toBe(count + 1)
})

test('a pair at any position of a short string counts as one', () => {
  for (let before = 0; before < 30; before++) {
    for (let behind = 0; behind < 5; behind++) {
      const text = `${'a'.repeat(before)}😀${'b'.repeat(behind)}`
      expect(countCodePoints(text)).toBe(before + 1 + behind)
      expect(sliceText(text, before + 1, text.length)).toBe('b'.repeat(behind))
      // Half of a pair counts as one too.
      expect(countCodePoints(`${'a'.repeat(before)}\udc00${'b'.repeat(behind)}\ud800`)).toBe(before + behind + 2)
    }
  }
})
