// Small pure helpers behind larger builtins: reading server-sent events in chunks, diffs by lines, ignore patterns.

import { HarnDict, toUtf8 } from '@bridle/vm/families'
import { describe, expect, test } from 'vitest'
import { diffLines } from './formats/line-diff.js'
import { ignoreRules } from './project/ignore.js'
import { EventReader, formatEvent, parseFrame } from './http/sse-format.js'

describe('server-sent events', () => {
  test('events are whole for any chunks', () => {
    const text = ': hello\n\nevent: a\ndata: 1\ndata: 2\nid: x\n\ndata: last\r\n\r\n'
    for (const size of [1, 3, 1000]) {
      const reader = new EventReader('')
      const found: unknown[] = []
      for (let at = 0; at < text.length; at += size) {
        reader.append(toUtf8(text.slice(at, at + size)))
        for (let event = reader.next(); event !== null; event = reader.next())
          found.push([event.get('event'), event.get('data'), event.get('id')])
      }
      expect(found).toEqual([
        ['a', '1\n2', 'x'],
        ['message', 'last', null],
      ])
    }
  })

  test('what is written is read back', () => {
    const frame = formatEvent(HarnDict.of({ event: 'e', data: 'a\nb', id: '1', retry: 5 }), null)
    expect(typeof frame).toBe('string')
    const event = parseFrame(String(frame))
    expect([event.get('event'), event.get('data'), event.get('id'), event.get('retry_ms')]).toEqual(['e', 'a\nb', '1', 5])
  })
})

describe('line diff', () => {
  test.each([
    ['a\nb\nc\n', 'a\nx\nc\n', ' a|-b|+x| c'],
    ['a\n', 'a\nb\n', ' a|+b'],
    ['a\nb\n', '', '-a|-b'],
    ['same', 'same', ' same'],
    ['1\n2\n3\n4', '2\n4\n5', '-1| 2|-3| 4|+5'],
  ])('%j → %j', (before, after, expected) => {
    expect(diffLines(before, after)).toBe(expected.replaceAll('|', '\n'))
  })

  test('texts without a common line in the middle do not take quadratic space', () => {
    const repeatMany = (prefix: string): string => Array.from({ length: 5000 }, (_, at) => `${prefix}${at}`).join('\n')
    expect(diffLines(repeatMany('a'), repeatMany('b')).split('\n')).toHaveLength(10_000)
  })
})

test.each([
  ['build/', 'build', true],
  ['build/', 'deep/build', true],
  ['/build', 'deep/build', false],
  ['src/*/gen', 'src/a/gen', true],
  ['src/*/gen', 'src/a/b/gen', false],
  ['src/**/gen', 'src/a/b/gen', true],
  ['*\n!keep', 'keep', false],
  ['# note\n\nx', 'y', false],
])('ignore %j: %s', (rules, path, ignored) => {
  expect(ignoreRules(rules)(path)).toBe(ignored)
})
