// Lengths are in code points, whichever way the text is looked through.

import { expect, test } from 'vitest'
import { codePointLength, hasSurrogates, sliceText } from './text-order.js'

test.each([0, 1, 23, 24, 25, 100])('%i letters, and the same with a pair of surrogates at each end', (count) => {
  const plain = 'é'.repeat(count)
  expect(hasSurrogates(plain)).toBe(false)
  expect(codePointLength(plain)).toBe(count)
  for (const text of [`😀${plain}`, `${plain}😀`]) {
    expect(hasSurrogates(text)).toBe(true)
    expect(codePointLength(text)).toBe(count + 1)
    expect(sliceText(text, 0, count + 1)).toBe(text)
  }
  expect(codePointLength(`${plain}\ud800`)).toBe(count + 1)
})
