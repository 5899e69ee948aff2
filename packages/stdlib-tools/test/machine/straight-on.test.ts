// Code without loops and calls must give the host its thread back too: each operation that takes as long as what it is given is a place
// where a slice may end. Told by counting slices; each script does one such operation forty times in a row.

import { describe, expect, test } from 'vitest'
import { Machine } from '@bridle/vm'
import { link, options } from './support.js'

const LIST = 'var xs = []\nfor i in 1 to 20000 { xs = xs.push(i) }\n'
// With a character of two units, before which characters have to be counted.
const TEXT = 'let text = "é" * 2000000 + "😀"\n'
const DICT = 'var d = {}\nfor i in 1 to 3000 { d["k${i}"] = i }\n'

const TIMES = 40

const OPERATIONS: Readonly<Record<string, readonly [string, string]>> = {
  'comparing lists': [`${LIST}let ys = xs.reverse().reverse()\n`, 'xs == ys'],
  'joining lists': [LIST, 'let NAME = xs + [1, 2] + xs'],
  'joining dicts': [DICT, 'let NAME = d + {a: 1}'],
  'repeating a text': ['let a = "ab"\n', 'let NAME = a * 200000'],
  'repeating a text, by a number': ['let a = "ab"\nvar n = 200000\n', 'let NAME = n * a'],
  'part of a list': [LIST, 'let NAME = xs[1:19000]'],
  'an element of a text': [TEXT, 'let NAME = text[1000000]'],
  'the length of a text': [TEXT, 'let NAME = text.count'],
  'a key that is shown': [LIST, 'let NAME = {[xs]: 1}'],
  'a key that is looked for': [`${LIST}let d = {a: 1}\n`, 'let NAME = d[xs]'],
  'an element of a copy': [LIST, 'var NAME = xs\nNAME[0] = 2'],
  'an entry of a copy': [DICT, 'var NAME = d\nNAME["k1"] = 2'],
  'a field of a copy': [DICT, 'var NAME = d\nNAME.k1 = 2'],
  'a list in a list': [LIST, 'let NAME = [0, ...xs]'],
  'a dict in a dict': [DICT, 'let NAME = {a: 0, ...d}'],
  'the rest of a list': [LIST, 'let [NAME, ...r_NAME] = xs'],
  'the rest of a dict': [DICT, 'let {k1: NAME, ...r_NAME} = d'],
  'a value that is thrown': [LIST, 'try { throw xs } catch (e) { }'],
  'a text with values': [LIST, 'let NAME = "${xs}"'],
  membership: [LIST, 'let NAME = "none" in xs'],
}

function countSlices(text: string): number {
  const machine = new Machine(link(text), { ...options, limits: { sliceFuel: 500 } })
  let exit = machine.start(null, 0)
  let count = 1
  for (; exit.kind === 'yielded'; count++) exit = machine.resume(null, 0)
  expect(exit.kind).toBe('done')
  return count
}

describe('straight on', () => {
  test.each(Object.entries(OPERATIONS))('%s', (_, [before, operation]) => {
    const lines = Array.from({ length: TIMES }, (_each, at) => operation.replaceAll('NAME', `n${at}`))
    expect(countSlices(`${before}${lines.join('\n')}\n`) - countSlices(before)).toBeGreaterThanOrEqual(TIMES - 2)
  })
})
