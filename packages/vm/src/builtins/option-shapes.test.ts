// The notation of option shapes, and that every shape of a definition can be parsed.

import { expect, test } from 'vitest'
import { readShape } from './option-shapes.js'

test('rows of a shape', () => {
  expect(
    readShape(`
      timeout_ms: int | duration (ms) = 30000 -- Time: all of it.
      proxy: string | {url: string} -- Where to -- or through.
      *: any -- Others.
    `),
  ).toEqual([
    { name: 'timeout_ms', type: 'int | duration', unit: 'ms', default: '30000', doc: 'Time: all of it.' },
    { name: 'proxy', type: 'string | {url: string}', unit: null, default: null, doc: 'Where to -- or through.' },
    { name: '*', type: 'any', unit: null, default: null, doc: 'Others.' },
  ])
  expect(() => readShape('timeout_ms: int')).toThrow('unreadable option')
})
