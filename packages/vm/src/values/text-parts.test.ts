// Substrings equal their originals, and do not keep the whole string alive.

import { expect, test } from 'vitest'
import { detachPart, detachParts } from './text-parts.js'

const LINES = Array.from({ length: 400 }, (_, at) => 'line '.repeat(at % 90) + String(at))

test.each(['\n', '', '--'])('substrings between %j are unchanged', (between) => {
  const text = LINES.join(between)
  const starts: string[] = []
  let from = 0
  for (const line of LINES) {
    starts.push(text.slice(from, from + line.length))
    from += line.length + between.length
  }
  expect(detachParts(text, starts, between.length)).toEqual(LINES)
  for (const line of LINES) expect(detachPart(line, text.length)).toBe(line)
})

test('short texts, empty parts and no parts', () => {
  expect(detachParts('a,b', ['a', 'b'], 1)).toEqual(['a', 'b'])
  expect(detachParts(','.repeat(300), ','.repeat(300).split(','), 1)).toEqual(Array.from({ length: 301 }, () => ''))
  expect(detachParts('x'.repeat(300), [], 1)).toEqual([])
})
