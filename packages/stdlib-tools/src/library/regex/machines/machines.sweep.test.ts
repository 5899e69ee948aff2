// The machines against a plain one that does everything at every place, and against JavaScript where the two languages agree; with
// tables of any size. What they cost is counted in steps, never in time.

import { expect, test } from 'vitest'
import { RE2JS } from 're2js'
import { translateRegex } from '../syntax.js'
import { DONE, FOUND, PAUSED, Regex, Search } from './search.js'
import { searchPlainly } from './test-support/plain-machine.js'
import { makeDice } from '../../../../../vm/src/test-support/dice.js'
import { makeRandomPattern, makeRandomText } from './test-support/random-patterns.js'
import type { Bounds } from './search.js'

interface Pattern {
  readonly engine: RE2JS
  readonly names: readonly (string | null)[]
}

function parse(pattern: string, flags = ''): Pattern {
  const { source, groupNames } = translateRegex(pattern, flags)
  return { engine: RE2JS.compile(source), names: groupNames }
}

/** Places of all matches and their groups. */
function searchAllPlainly({ engine }: Pattern, text: string): number[][] {
  const found: number[][] = []
  let from = 0
  let lastEnd = -1
  while (from <= text.length) {
    const slots = searchPlainly(engine, text, from)
    if (slots === null) break
    const [start, end] = slots as [number, number]
    if (start !== end || end !== lastEnd) found.push([...slots])
    lastEnd = end
    from = start === end ? end + (text.codePointAt(end)! > 0xffff ? 2 : 1) : end
  }
  return found
}

function searchAll(regex: Regex, text: string, groups: boolean): number[][] {
  const search = new Search(regex, text, groups)
  const found: number[][] = []
  while (search.next()) found.push(groups ? [...search.slots] : [search.start, search.end])
  return found
}

/** expect() tens of thousands of times takes longer than all of the searches. */
function expectSame(found: unknown, wanted: unknown, place: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) expect(found, place).toEqual(wanted)
}

const SIZES: Readonly<Record<string, Bounds | undefined>> = {
  'as it is': undefined,
  'with tables that are full at once': { states: 60, marks: 1 << 18 },
  'with small tables and long spans': { states: 200, marks: 0 },
  'without tables': { states: 0, marks: 8 },
}

test.each(Object.keys(SIZES))('%s, every machine finds what the plain one finds', { timeout: 60_000 }, (name) => {
  const roll = makeDice(2026)
  for (let round = 0; round < 500; round++) {
    const source = makeRandomPattern(roll, { common: false })
    const pattern = parse(source, ['', 'i', 's', 'm', 'im'][roll(5)])
    const regex = new Regex(pattern.engine, pattern.names, SIZES[name])
    for (let each = 0; each < 6; each++) {
      const text = makeRandomText(roll, { plain: each < 2 })
      const wanted = searchAllPlainly(pattern, text)
      const place = `${JSON.stringify(source)} in ${JSON.stringify(text)}`
      expectSame(searchAll(regex, text, true), wanted, place)
      expectSame(
        searchAll(regex, text, false),
        wanted.map((slots) => slots.slice(0, 2)),
        place,
      )
      expectSame(new Search(regex, text, false).exists(), wanted.length > 0, place)
    }
  }
})

test('JavaScript agrees where the languages do', { timeout: 60_000 }, () => {
  const roll = makeDice(7)
  for (let round = 0; round < 2_000; round++) {
    const source = makeRandomPattern(roll, { common: true })
    const { engine, names } = parse(source)
    const regex = new Regex(engine, names)
    const peer = new RegExp(source, 'dgu')
    for (let each = 0; each < 4; each++) {
      const text = makeRandomText(roll, { plain: false })
      const wanted: number[][] = []
      let lastEnd = -1
      for (const match of text.matchAll(peer)) {
        const places = match.indices!.flatMap((pair) => pair ?? [-1, -1])
        // An empty match right behind another is none here.
        if (places[0] !== places[1] || places[1] !== lastEnd) wanted.push(places)
        lastEnd = places[1]!
      }
      expectSame(searchAll(regex, text, true), wanted, `${source} in ${JSON.stringify(text)}`)
    }
  }
})

test('texts with long runs, which are looked through instead of stepped through, give the same', { timeout: 60_000 }, () => {
  const roll = makeDice(31)
  const runs = [
    'a'.repeat(40),
    'é'.repeat(30),
    '😀'.repeat(20),
    ' '.repeat(50),
    'A1b c'.repeat(9),
    '\n',
    ';',
    'ab',
    '"',
    '😀',
    'q',
    'c.',
  ]
  const atoms = [
    '.',
    '[^;]',
    '[^"]',
    '[^a]',
    '\\s',
    '(?s:.)',
    '[^;q"]',
    ';',
    'q',
    '"',
    '(?i:q)',
    '[;q]',
    'a',
    '(?m:$)',
    '(?m:^)',
    '\\b',
    '\\n',
  ]
  for (let round = 0; round < 400; round++) {
    const source = Array.from(
      { length: 1 + roll(4) },
      () => atoms[roll(atoms.length)]! + ['', '', '*', '+', '*?', '?'][roll(6)]!,
    ).join('')
    const pattern = parse(source.replaceAll(/(\(\?m:[$^]\)|\\b)[*+?]+/g, '$1'))
    const bounds = SIZES[Object.keys(SIZES)[roll(3)]!]
    const regex = new Regex(pattern.engine, pattern.names, bounds)
    for (let each = 0; each < 4; each++) {
      const text = Array.from({ length: roll(9) }, () => runs[roll(runs.length)]!).join('')
      expectSame(
        searchAll(regex, text, true),
        searchAllPlainly(pattern, text),
        `${JSON.stringify(source)} in ${JSON.stringify(text)}`,
      )
    }
  }
})

test('a search that may only spend a little at a time finds the same', () => {
  const roll = makeDice(11)
  for (let round = 0; round < 300; round++) {
    const source = makeRandomPattern(roll, { common: false })
    const { engine, names } = parse(source)
    const regex = new Regex(engine, names, SIZES[Object.keys(SIZES)[roll(4)]!])
    const text = makeRandomText(roll, { plain: false })
    const wanted = searchAll(regex, text, true)
    const search = new Search(regex, text, true)
    const found: number[][] = []
    for (let came = PAUSED as number; came !== DONE;) {
      search.allowed = search.spent + 1
      came = search.advance()
      if (came === FOUND) found.push([...search.slots])
    }
    expectSame(found, wanted, `${source} in ${JSON.stringify(text)}`)
  }
})

function measurePrice(regex: Regex, text: string): number {
  const search = new Search(regex, text, true)
  while (search.next());
  return search.spent
}

test('the charge of a search does not depend on earlier searches', () => {
  const roll = makeDice(5)
  for (let round = 0; round < 200; round++) {
    const source = makeRandomPattern(roll, { common: false })
    const { engine, names } = parse(source)
    const used = new Regex(engine, names, SIZES['with small tables and long spans'])
    for (let each = 0; each < 8; each++) {
      const text = makeRandomText(roll, { plain: false })
      const unused = new Regex(engine, names, SIZES['with small tables and long spans'])
      expectSame(measurePrice(used, text), measurePrice(unused, text), `${source} in ${JSON.stringify(text)}`)
    }
  }
})

test.each(['a.*z|b', '[ae][^;]*;;|b', '(\\w+)@(\\w+)'])(
  'the price of %s is the same after a search that tried too many places in vain',
  (source) => {
    const { engine, names } = parse(source)
    const unused = new Regex(engine, names)
    const used = new Regex(engine, names)
    const text = `ab1@${'.'.repeat(40)}\n`
    measurePrice(used, `${'a'.repeat(3_000)}b${'x1'.repeat(2_000)}`)
    expect(measurePrice(used, text)).toBe(measurePrice(unused, text))
  },
)

const drawText = (letters: string, size: number): string => {
  const roll = makeDice(3)
  return Array.from({ length: size }, () => letters[roll(letters.length)]).join('')
}

test.each<[pattern: string, text: (size: number) => string]>([
  ['(a+)+$', (size) => `${'a'.repeat(size)}b`],
  ['(a|a)*b', (size) => 'a'.repeat(size)],
  ['(x+x+)+y', (size) => 'x'.repeat(size)],
  ['(?:a?){30}a{30}', (size) => 'a'.repeat(size)],
  ['.*.*.*=.*', (size) => 'x'.repeat(size)],
  ['(?:(?:x{0,30}){0,30}y)', (size) => 'x'.repeat(size)],
  ['(a|b)*a(a|b){20}$', (size) => `${drawText('ab', size)}c`],
  ['[ab]*a[ab]{200}c', (size) => drawText('ab', size)],
  ['([a-z]+)*\\d', (size) => drawText('abc', size)],
  ['w[a-z]+5', (size) => 'w'.repeat(size)],
  ['\\b\\w+\\b.*z', (size) => 'é '.repeat(size / 2)],
  ['(?:(a)|(b)|b)*(x|y)?$', (size) => drawText('ab', size)],
  [Array.from({ length: 200 }, (_unused, at) => `word${at * 7}x`).join('|'), (size) => 'word1'.repeat(size / 5)],
])('one search for %s takes steps in proportion to the text', (source, text) => {
  const { engine, names } = parse(source)
  for (const size of [1_000, 8_000, 16_000]) {
    const regex = new Regex(engine, names)
    const search = new Search(regex, text(size), true)
    search.next()
    // Each character at every node some times over; and once what tables cost that were made for nothing.
    expect(search.spent).toBeLessThan(20_100 + (8 * size * (regex.size + 8)) / 32)
  }
})
