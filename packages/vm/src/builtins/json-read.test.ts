// The reader against JSON.parse, on documents whose records have almost the same keys: duplicate keys, keys with
// escapes, too many keys for a shape, and lists of every length.

import { expect, test } from 'vitest'
import { parseJson } from './json-read.js'
import { toPlain } from '../values/plain.js'
import { makeDice } from '../test-support/dice.js'
import type { Dice } from '../test-support/dice.js'

const KEYS = ['id', 'name', 'a"b', 'a\\b', 'tab\t', 'é', '', 'id2', 'na', 'x'.repeat(70)]

function makeDocument(roll: Dice, depth: number): string {
  const space = ['', '', ' ', '\n  '][roll(4)]!
  switch (depth === 0 ? roll(5) : roll(8)) {
    case 0:
      return String(roll(1000) - 500)
    case 1:
      return JSON.stringify(['', 'text', 'quote "', '\u0001', '😀'][roll(5)])
    case 2:
      return ['true', 'false', 'null'][roll(3)]!
    case 3:
      return ['0.5', '1e3', '-2.25'][roll(3)]!
    case 4:
      return ['[]', '{}', '[ ]', '{ }'][roll(4)]!
    case 5: {
      const items = Array.from({ length: 1 + roll(roll(9) === 0 ? 140 : 4) }, () => makeDocument(roll, depth - 1))
      return `[${space}${items.join(`${space},`)}${space}]`
    }
    default: {
      const alike = roll(3) > 0
      const fields = Array.from({ length: 1 + roll(roll(9) === 0 ? 80 : 5) }, (_unused, at) => {
        const key = alike && at < 3 ? KEYS[at]! : roll(3) === 0 ? `k${roll(60)}` : KEYS[roll(KEYS.length)]!
        const written = roll(8) === 0 ? `"${Array.from(key, (char) => `\\u${formatHex(char)}`).join('')}"` : JSON.stringify(key)
        return `${written}${roll(6) === 0 ? ' ' : ''}:${space}${makeDocument(roll, depth - 1)}`
      })
      return `{${space}${fields.join(`,${space}`)}}`
    }
  }
}

const formatHex = (char: string): string => char.charCodeAt(0).toString(16).padStart(4, '0')

test('reads every document as JSON.parse does', () => {
  const roll = makeDice(20)
  for (let round = 0; round < 800; round++) {
    const text = makeDocument(roll, 4)
    const read = parseJson(text)
    if (!read.ok) throw new Error(`${read.message}: ${text}`)
    expect(toPlain(read.value), text).toEqual(JSON.parse(text))
  }
})
