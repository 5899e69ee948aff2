// Strings, core functions, numbers, bytes: results and the language's messages.

import { describe, expect, test } from 'vitest'
import { bytesFamily } from './bytes.js'
import { coreFamily } from './core.js'
import { hashFnv1a } from './core-hash.js'
import { mathFamily } from './math.js'
import { randomFamily } from './random.js'
import { stringsFamily } from './strings.js'
import { callBuiltin, callMethod, makeFakeMachine, faultText } from './test-support/fake-machine.js'
import { iterateClusters } from './strings-case.js'
import { HarnBuiltin } from '../values/callable.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { HarnBytes, HarnFloat, HarnPair, HarnRange } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import type { Value } from '../values/value.js'

const machine = makeFakeMachine(coreFamily, stringsFamily, mathFamily, bytesFamily, randomFamily)
const m = (receiver: Value, name: string, ...args: Value[]): string => display(callMethod(machine, receiver, name, ...args))
const f = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
const fault = (name: string, ...args: Value[]): string => faultText(() => f(name, ...args))
const float = (v: number): HarnFloat => new HarnFloat(v)
const list = (...items: Value[]): HarnList => new HarnList(items)
const bytes = (...items: number[]): HarnBytes => new HarnBytes(Uint8Array.from(items))

describe('string methods', () => {
  test.each<[string, string, string, Value[]]>([
    ['5', 'héll😀', 'count', []],
    ['5', 'hello', 'len', []],
    ['true', '', 'empty', []],
    ['true', 'a1b', 'contains', [1]],
    ['true', 'ab', 'starts_with', ['a']],
    ['true', 'ab', 'ends_with', ['b']],
    ['x-x', 'a-a', 'replace', ['a', 'x']],
    ['$&b', 'ab', 'replace', ['a', '$&']],
    ['-a-😀-', 'a😀', 'replace', ['', '-']],
    ['nil', 'a', 'replace', ['a']],
    ['[a, b]', 'a,b', 'split', []],
    ['[, a, b, ]', 'ab', 'split', ['']],
    ['[a]', 'a', 'split', ['-']],
    ['[]', '', 'split', [',', 1]],
    ['a b', '\u3000 a b\u0085\n', 'trim', []],
    ['\uFEFFa', '\uFEFFa ', 'trim', []],
    ['a ', ' a ', 'trim_start', []],
    [' a', ' a ', 'trim_end', []],
    ['äb', 'ÄB', 'lower', []],
    ['SS', 'ß', 'to_upper', []],
    ['el', 'hello', 'substring', [1, 3]],
    ['ello', 'hello', 'substring', [1]],
    ['ello', 'hello', 'substring', [1, -1]],
    ['', 'hello', 'substring', [3, 1]],
    ['h', 'hello', 'substring', [-5, 1]],
    ['😀', 'a😀b', 'substring', [1, 2]],
    ['2', '😀ab', 'index_of', ['b']],
    ['-1', 'ab', 'index_of', ['x']],
    ['3', 'abab', 'last_index_of', ['b']],
    ['[a, 😀]', 'a😀', 'chars', []],
    ['abab', 'ab', 'repeat', [2]],
    ['ab', 'ab', 'repeat', []],
    ['', 'ab', 'repeat', [-1]],
    ['😀a', 'a😀', 'reverse', []],
    ['  a', 'a', 'pad_left', [3]],
    ['xxa', 'a', 'pad_left', [3, 'xy']],
    ['a  ', 'a', 'pad_right', [3, '']],
    ['abc', 'abc', 'pad_right', [2]],
    ['[a, b, , c]', 'a\r\nb\n\nc', 'lines', []],
    ['[a]', 'a\n', 'lines', []],
    ['[]', '', 'lines', []],
    ['😀', 'a😀', 'char_at', [1]],
    ['nil', 'a', 'char_at', [-1]],
    ['nil', 'a', 'char_at', [1]],
    ['nil', 'a', 'capitalize', []],
  ])('%s', (expected, receiver, name, args) => expect(m(receiver, name, ...args)).toBe(expected))
})

describe('string functions', () => {
  const d = HarnDict.of({ a: 1, b: '{a}' })
  test.each<[string, string, Value[]]>([
    ['1 {a} {x}', 'format', ['{a} {b} {x}', d]],
    ['1 {a', 'format', ['{a} {a', d]],
    ['1-2-{}', 'format', ['{}-{}-{}', 1, 2]],
    ['1', 'format', ['{}', 1, 2]],
    ['[a, b]', 'split', ['a b']],
    ['true', 'contains', [list(1, 2), float(2)]],
    ['false', 'contains', [HarnDict.of({ a: 1 }), 'a']],
    ['false', 'contains', [new HarnSet([1]), 1]],
    ['ello', 'substring', ['hello', 1]],
    ['ell', 'substring', ['hello', 1, 3]],
    ['he', 'substring', ['hello', -1, 2]],
    ['ab***', 'str_pad', ['ab', 5, '*-']],
    ['-ab--', 'str_pad', ['ab', 5, '-', 'both']],
    ['👨‍👩‍👧 ', 'str_pad', ['👨‍👩‍👧', 2]],
    ['3', 'len', ['ab😀']],
    ['[e\u0301, a]', 'unicode_graphemes', ['e\u0301a']],
    ['é', 'unicode_normalize', ['e\u0301', 'nfc']],
    ['fooBarBaz', 'snake_to_camel', ['foo_BAR__baz']],
    ['FooBar', 'snake_to_pascal', ['foo_bar']],
    ['foo-bar', 'snake_to_kebab', ['foo_bar']],
    ['fooBar', 'kebab_to_camel', ['foo-bar']],
    ['foo_bar', 'kebab_to_snake', ['foo-bar']],
    ['http_server', 'pascal_to_snake', ['HTTPServer']],
    ['parse_url2_path', 'camel_to_snake', ['parseURL2Path']],
    ['foo-bar', 'camel_to_kebab', ['fooBar']],
    ['fooBar', 'pascal_to_camel', ['FooBar']],
    ['FooBar', 'camel_to_pascal', ['fooBar']],
    ['hELLO', 'lowercase_first', ['HELLO']],
    ['Hello World  X', 'title_case', ['hELLO wORLD  x']],
    ['a', 'dirname', ['a/b/']],
    ['', 'dirname', ['a']],
    ['', 'dirname', ['/']],
    ['/', 'dirname', ['/a']],
    ['', 'basename', ['a/..']],
    ['b', 'basename', ['a/b/']],
    ['.gz', 'extname', ['x/a.tar.gz']],
    ['', 'extname', ['.env']],
    ['', 'trim', []],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test('messages', () => {
    expect(fault('str_pad', 'a', 3, ' ', 'top')).toBe('Runtime error: str_pad: side must be left, right, or both')
    expect(fault('unicode_normalize', 'a', 'x')).toBe('Runtime error: unicode_normalize: form must be NFC, NFD, NFKC, or NFKD')
  })
})

describe('core', () => {
  test('output', () => {
    machine.output = ''
    f('print', list(1, 'a'))
    f('println', float(2))
    f('println')
    f('log', null)
    expect(machine.output).toBe('[1, a]2.0\n\n[harn] nil\n')
  })

  test.each<[string, string, Value[]]>([
    ['float', 'type_of', [float(1)]],
    ['nil', 'to_string', [null]],
    ['7', 'to_int', ['+7']],
    ['nil', 'to_int', [' 7']],
    ['nil', 'to_int', ['7.0']],
    ['nil', 'to_int', ['0x1']],
    ['nil', 'to_int', ['']],
    ['9223372036854775807', 'to_int', ['9223372036854775807']],
    ['nil', 'to_int', ['9223372036854775808']],
    ['-3', 'to_int', [float(-3.9)]],
    ['9223372036854775807', 'to_int', [float(1e30)]],
    ['0', 'to_int', [float(NaN)]],
    ['nil', 'to_int', [true]],
    ['1000.0', 'to_float', ['1e3']],
    ['inf', 'to_float', ['inf']],
    ['-inf', 'to_float', ['-Infinity']],
    ['NaN', 'to_float', ['nan']],
    ['0.5', 'to_float', ['.5']],
    ['nil', 'to_float', [' 1']],
    ['nil', 'to_float', ['.']],
    ['3.0', 'to_float', [3]],
    ['[1]', 'to_list', [new HarnSet([1])]],
    ['[nil]', 'to_list', [null]],
    ['[0 to 2]', 'to_list', [new HarnRange(0, 2, false)]],
    ['0', 'len', [5]],
    ['3', 'len', [bytes(1, 2, 3)]],
    ['3', 'len', [new HarnRange(0, 2, false)]],
    ['0', 'len', [new HarnRange(3, 2, false)]],
    ['nil', 'assert', [1]],
    ['nil', 'assert_eq', [1, float(1)]],
    ['true', 'is_same', ['a', 'a']],
    ['false', 'is_same', [list(), list()]],
    ['int@42', 'addr_of', [42]],
    ['builtin@len', 'addr_of', [new HarnBuiltin('len')]],
    ['rate_limit', 'error_category', ['got HTTP 429 back']],
    ['generic', 'error_category', ['code 4290']],
    ['transient_network', 'error_category', ['Connection refused']],
    ['timeout', 'error_category', ['Deadline exceeded']],
    ['auth', 'error_category', [HarnDict.of({ category: 'auth' })]],
    ['generic', 'error_category', [5]],
    ['true', 'is_timeout', ['504 from gateway']],
    ['false', 'is_rate_limited', ['500']],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test.each<[string, string, Value[]]>([
    ['Assertion failed', 'assert', [0]],
    ['no', 'assert', [false, 'no']],
    ['Assertion failed: expected 2, got 1', 'assert_eq', [1, 2]],
    ['assert_eq requires at least 2 arguments', 'assert_eq', [1]],
    ['Assertion failed: values should not be equal: 1', 'assert_ne', [1, 1]],
    ['Runtime error: unreachable code was reached', 'unreachable', []],
    ['Runtime error: unreachable code was reached: x', 'unreachable', ['x']],
    ['{category: generic, message: m}', 'throw_error', ['m', 'weird']],
    ['{category: timeout, message: m}', 'throw_error', ['m', 'timeout']],
  ])('throws %s', (expected, name, args) => expect(fault(name, ...args)).toBe(expected))

  test('identity and hashes', () => {
    const one = list(1)
    expect(f('addr_of', one)).toBe(f('addr_of', one))
    expect(f('addr_of', one)).not.toBe(f('addr_of', list(1)))
    expect(f('addr_of', one)).toMatch(/^list@0x[0-9a-f]+$/)
    expect(f('hash_value', HarnDict.of({ a: 1, b: 2 }))).toBe(f('hash_value', HarnDict.of({ b: 2, a: 1 })))
    expect(f('hash_value', new HarnSet([1, 2]))).toBe(f('hash_value', new HarnSet([2, 1])))
    expect(new Set([1, float(1), '1', true].map((value) => f('hash_value', value))).size).toBe(4)
    // The published vector of FNV-1a for "foobar".
    expect(BigInt.asUintN(64, hashFnv1a(new TextEncoder().encode('foobar')))).toBe(0x85944171f73967e8n)
  })
})

describe('numbers', () => {
  test.each<[string, string, Value[]]>([
    ['3', 'abs', [-3]],
    ['9223372036854776000', 'abs', [-(2n ** 63n)]],
    ['nil', 'abs', ['x']],
    ['1', 'min', [1, 2]],
    ['1.0', 'min', [1, float(2)]],
    ['nil', 'max', [list(1, 2)]],
    ['1.0', 'max', [float(NaN), 1]],
    ['-2', 'floor', [float(-1.5)]],
    ['-1', 'ceil', [float(-1.5)]],
    ['-2', 'round', [float(-1.5)]],
    ['0', 'round', [float(0.49999999999999994)]],
    ['4.0', 'sqrt', [16]],
    ['NaN', 'sqrt', [-1]],
    ['1024', 'pow', [2, 10]],
    ['9223372036854776000', 'pow', [2, 63]],
    ['-9223372036854775808', 'pow', [-2, 63]],
    ['0.5', 'pow', [2, -1]],
    ['-1', 'pow', [-1, 1000001]],
    ['1', 'pow', [0, 0]],
    ['0', 'pow', [0, 5]],
    ['-1', 'sign', [float(-0.5)]],
    ['NaN', 'sign', [float(NaN)]],
    ['true', 'is_nan', [float(NaN)]],
    ['false', 'is_infinite', [1]],
    ['0.0', 'mean', [list()]],
    ['2.5', 'median', [list(4, 1, 2, 3)]],
    ['1.25', 'variance', [list(1, 2, 3, 4)]],
    ['1.0', 'stddev', [list(1, 3), false]],
    ['2.0', 'variance', [list(1, 3), true]],
    ['1.5', 'percentile', [list(1, 2, 3), 25]],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test.each<[string, string, Value[]]>([
    ['Runtime error: cannot convert non-finite float to int', 'floor', [float(Infinity)]],
    ['Runtime error: float is outside the representable int range', 'round', [float(1e19)]],
    ['Runtime error: median: items must not be empty', 'median', [list()]],
    ['Runtime error: percentile must be between 0 and 100', 'percentile', [list(1), 101]],
    ['Runtime error: sample variance requires at least 2 values', 'stddev', [list(1), true]],
    ['Type error: mean: items must be a list', 'mean', [1]],
    ['Type error: rng_seed(seed): seed must be an integer', 'rng_seed', ['x']],
    ['Type error: random_int: min must be an integer', 'random_int', ['a', 1]],
    ['Type error: random_int: max must be an integer', 'random_int', [1, 'a']],
  ])('%s', (expected, name, args) => expect(fault(name, ...args)).toBe(expected))
})

describe('randomness', () => {
  test('equal seeds give equal sequences', () => {
    const drawSequence = (seed: number): string[] => {
      const rng = callBuiltin(machine, 'rng_seed', seed)
      return [
        f('random', rng),
        f('random_int', rng, 1, 6),
        f('random_choice', rng, list('a', 'b', 'c')),
        f('random_shuffle', rng, list(1, 2, 3, 4)),
      ]
    }
    expect(drawSequence(42)).toEqual(drawSequence(42))
    expect(drawSequence(42)).not.toEqual(drawSequence(43))
  })

  test('results stay in range', () => {
    const rng = callBuiltin(machine, 'rng_seed', 1)
    for (let round = 0; round < 200; round++) {
      const drawn = callBuiltin(machine, 'random_int', rng, -2, 3) as number
      expect(drawn >= -2 && drawn <= 3).toBe(true)
      const unit = (callBuiltin(machine, 'random', rng) as HarnFloat).v
      expect(unit >= 0 && unit < 1).toBe(true)
    }
    expect(f('random_int', rng, 3, 1)).toBe('nil')
    expect(f('random_int', rng, 3)).toBe('nil')
    expect(f('random_choice', list())).toBe('nil')
  })

  test('without a generator, random bytes are requested as an effect', () => {
    machine.perform = (effect) => ({ ok: true, value: new Uint8Array(Number(effect.args['count'])).fill(7) })
    machine.effects.length = 0
    expect(f('random_int', 1, 100)).toBe(f('random_int', 1, 100))
    expect(machine.effects.map((effect) => effect.kind)).toEqual(['random.bytes', 'random.bytes'])
  })
})

describe('bytes', () => {
  test.each<[string, string, Value[]]>([
    ['b"61"', 'bytes_from_string', ['a']],
    ['a', 'bytes_to_string', [bytes(97)]],
    ['\uFFFD', 'bytes_to_string_lossy', [bytes(255)]],
    ['00ff', 'bytes_to_hex', [bytes(0, 255)]],
    ['b"0aff"', 'bytes_from_hex', ['0aFF']],
    ['AP8=', 'bytes_to_base64', [bytes(0, 255)]],
    ['b"00ff"', 'bytes_from_base64', ['AP8=']],
    ['b"0102"', 'bytes_concat', [bytes(1), bytes(2)]],
    ['b"02"', 'bytes_slice', [bytes(1, 2, 3), 1, 2]],
    ['b""', 'bytes_slice', [bytes(1, 2, 3), 2, 1]],
    ['b"01"', 'bytes_slice', [bytes(1), -4, 9]],
    ['true', 'bytes_eq', [bytes(1), bytes(1)]],
    ['2', 'bytes_len', [bytes(1, 2)]],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test('messages', () => {
    expect(fault('bytes_len', 'a')).toBe('Runtime error: bytes_len: expected bytes at argument 1, got string')
    expect(fault('bytes_concat', bytes(1))).toBe('Runtime error: bytes_concat: missing argument 2')
    expect(fault('bytes_slice', bytes(1), 'a', 1)).toBe('Runtime error: bytes_slice: expected int at argument 2, got string')
    expect(fault('bytes_from_hex', 'zz')).toContain('Runtime error: bytes_from_hex: ')
    expect(fault('bytes_to_string', bytes(255))).toContain('Runtime error: bytes_to_string: ')
  })
})

test('is_same compares pairs by identity, addr by content', () => {
  const pair = new HarnPair(1, 2)
  expect(f('is_same', pair, pair)).toBe('true')
  expect(f('is_same', pair, new HarnPair(1, 2))).toBe('false')
  expect(f('addr_of', pair)).toBe('pair@(1, 2)')
})

test('clusters do not depend on where the string is split for the segmenter', () => {
  const whole = new Intl.Segmenter('en', { granularity: 'grapheme' })
  const parts = 'a\u0301\r\n\u{1f44d}\u{1f3fd}👨\u200d👩\u200d👧🇩🇪🇫\ud83d\u0915\u094d\u0937' + '\u0301'.repeat(1500) + 'z'
  for (let before = 990; before < 1026; before++) {
    const text = 'y'.repeat(before) + parts
    const expected = Array.from(whole.segment(text), ({ segment }) => segment)
    expect(Array.from(iterateClusters(text), ({ segment }) => segment).join('|') === expected.join('|'), `${before}`).toBe(true)
  }
})
