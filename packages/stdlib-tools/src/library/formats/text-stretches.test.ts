import { describe, expect, test } from 'vitest'
import { parseTagged, cutToVisible } from './tagged-response.js'
import { Heredocs, findStretches, withoutStretches } from './text-stretches.js'

describe('stretches', () => {
  test('end at the nearest mark and do not overlap', () => {
    expect(withoutStretches('a<x>b<x>c</x>d</x>e<x>f</x>', '<x>', '</x>')).toBe('ad</x>e')
    expect([...findStretches('[r a][e b] [r c', '[r ', ']', '[e ', ']')].map(({ start, end }) => [start, end])).toEqual([[0, 10]])
    expect(Array.from(findStretches('<x>1</x><x>2</x>', '<x>', '</x>'), ({ inner }) => inner)).toEqual(['1', '2'])
  })
})

test('heredocs end at a line that begins with their whole tag', () => {
  const heredocs = new Heredocs('x <<EOF\nEOFs\n EOF;\nEOF\n')
  expect(heredocs.findClosing('EOF', 8)).toEqual({ start: 13, end: 17 })
  expect(heredocs.findClosing('EOF', 14)).toEqual({ start: 19, end: 22 })
  expect(heredocs.findClosing('EOF', 23)).toBeNull()
})

// Each takes minutes when every opening mark is tried to the end of the text.
describe('answers of models that begin much and end nothing', () => {
  const many = 20_000
  test.each([
    '<think>',
    '<tool_call>',
    '<tool_call>f({"a": ',
    '<done>',
    '<user_response>',
    '<tool_result ',
    '[result of x]',
    '```json\n',
    '{"mode": "ask_user", ',
    'f({a: "\n',
    '\nf({"a": \n',
    '\nf({a: <<EOF\n',
    '\ng(/*',
    '<f({a: "',
    '<<EOF\n',
    '\n   \n',
    '"\'`\\',
  ])('%j', (piece) => {
    const text = piece.repeat(many)
    expect(typeof cutToVisible(text)).toBe('string')
    expect(parseTagged(text, ['f']).calls.length).toBeLessThan(many)
  })
})
