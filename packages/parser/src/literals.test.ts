import { describe, expect, test } from 'vitest'
import { escape, plainDecimal, readDuration, readInt, unescape, writeFloat } from './literals.js'

describe('integers', () => {
  test.each<[string, unknown]>([
    ['007', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', { float: 9223372036854775808 }],
    ['9'.repeat(400), { float: Number.POSITIVE_INFINITY }],
  ])('%s', (text, expected) => {
    expect(readInt(text)).toEqual(expected)
  })
})

describe('durations', () => {
  test.each<[string, number | bigint]>([
    ['0ms', 0],
    ['500ms', 500],
    ['2s', 2_000],
    ['3m', 180_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['2w', 1_209_600_000],
    ['99999999999999999999w', 99999999999999999999n * 604_800_000n],
  ])('%s', (text, expected) => {
    expect(readDuration(text)).toBe(expected)
  })
})

describe('floats in plain decimal', () => {
  test.each<[number, string]>([
    [1, '1.0'],
    [1.5, '1.5'],
    [1e21, '1000000000000000000000.0'],
    [1.25e22, '12500000000000000000000.0'],
    [1e-7, '0.0000001'],
    [1.5e-10, '0.00000000015'],
  ])('%d', (value, expected) => {
    expect(writeFloat(value)).toBe(expected)
    expect(Number(plainDecimal(value))).toBe(value)
  })
})

test.each(['', 'a', '"', '\\', '\n', '\t', '${x}', '$', '\\n', '$\\{', '\\${', '\r', '\\"'])(
  'escape is undone by unescape: %j',
  (text) => {
    expect(unescape(escape(text))).toBe(text)
  },
)
