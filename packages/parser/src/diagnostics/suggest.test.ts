import { expect, test } from 'vitest'
import fc from 'fast-check'
import { editDistance, leastEdits, suggest } from './suggest.js'

test.each<[string, string[], string | null]>([
  ['reponse', ['response', 'request'], 'response'],
  ['printl', ['print', 'println', 'printf'], 'printf'], // equal distance and length gap but for `print`
  ['x', ['y', 'xy'], 'y'],
  ['x', ['abc'], null],
  ['ab', ['cd'], null],
  ['abcde', ['abxye'], 'abxye'],
  ['abcde', ['xxxde'], null],
  ['abcdef', ['xxxdef'], 'xxxdef'],
  ['foo', ['__foo'], null],
  ['foo', ['foo'], null],
  ['total', ['totals', 'tota', 'totel'], 'totel'],
])('%s among %j', (name, candidates, expected) => {
  expect(suggest(name, candidates)).toBe(expected)
})

test('distance counts code points', () => {
  expect(editDistance('a😀', 'a')).toBe(1)
  expect(editDistance('kitten', 'sitting')).toBe(3)
})

test('the bound from the letters of two names never exceeds the distance', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdeABé_😀'), maxLength: 9 })
  fc.assert(fc.property(word, word, (one, other) => leastEdits(one, other) <= editDistance(one, other)))
})
