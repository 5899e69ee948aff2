// Repairs never make a source worse, and cost little for any source.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { applyFixes } from '../diagnostics/fixes.js'
import { parse } from '../parse.js'
import { SourceFile } from '../source.js'

const CORPUS = resolve(import.meta.dirname, '../../../../conformance/mistakes')

const corpus = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.harn'))
  .sort()

function listErrors(text: string): ReturnType<typeof parse>['diagnostics'] {
  return parse(new SourceFile('x', text)).diagnostics
}

test('the repairs of a corpus leave fewer errors, or later ones', () => {
  for (const name of corpus) {
    const text = readFileSync(join(CORPUS, name), 'utf8')
    const before = listErrors(text)
    const { text: fixed, count } = applyFixes(text, before)
    if (count === 0) continue
    const after = listErrors(fixed)
    const distance = (length: number, at: number | undefined): number => (at === undefined ? -1 : length - at)
    expect(distance(fixed.length, after[0]?.span.start), name).toBeLessThan(distance(text.length, before[0]!.span.start))
  }
})

const TOKEN_ERRORS: ReadonlySet<string> = new Set(['P003', 'P004', 'P005'])

/** Cuts, duplicates and swaps words, like unfinished edits. */
function* mutate(text: string): Generator<string> {
  const words = [...text.matchAll(/\w+|[^\s\w]/g)]
  for (const [at, word] of words.entries()) {
    const { index } = word
    const end = index + word[0].length
    if (at % 3 === 0) yield text.slice(0, index) + text.slice(end)
    else if (at % 3 === 1) yield `${text.slice(0, end)} ${word[0]}${text.slice(end)}`
    else yield `${text.slice(0, index)}=> ${text.slice(index)}`
  }
}

test('no repair of a broken source makes the first error come earlier', () => {
  for (const name of corpus.filter((_, at) => at % 17 === 0)) {
    for (const text of mutate(readFileSync(join(CORPUS, name), 'utf8'))) {
      const [first, ...more] = listErrors(text)
      if (first === undefined) continue
      const { text: fixed, count } = applyFixes(text, [first])
      if (count === 0) continue
      // A lexical error hides earlier syntax errors, which its repair reveals.
      const isToken = TOKEN_ERRORS.has(first.code)
      const next = listErrors(fixed).find(({ code }) => !isToken || TOKEN_ERRORS.has(code))
      if (next !== undefined && more.length === 0)
        expect(fixed.length - next.span.start, text).toBeLessThan(text.length - first.span.start)
    }
  }
})

test.each([
  ['brackets', '['.repeat(20_000)],
  ['brackets of a call', `f(${'['.repeat(150)}`.repeat(100)],
  ['arrows', 'x => '.repeat(20_000)],
  ['quotes', "'".repeat(20_001)],
  ['interpolations without end', '"${'.repeat(20_000)],
  ['lines of them', '"${\n'.repeat(20_000)],
  ['words', 'not a and '.repeat(10_000)],
  ['bars', '|x'.repeat(20_000)],
])('%s are read in a few steps', (_, text) => {
  expect(listErrors(text).length).toBeGreaterThan(0)
})
