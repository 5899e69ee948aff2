// The generated parser against Ohm: on every script and every script in the documents, on random programs, and on token strings
// that make a parser backtrack as often as possible.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from '../src/parse.js'
import { parseTokens } from '../src/parser.generated.js'
import { print } from '../src/format/format.js'
import { SourceFile } from '../src/source.js'
import { randomProgram } from '../src/test-support/random-program.js'
import { lex, MAX_NESTING } from '../src/lexer.js'
import { compareParsers, compareUnits, type Verdict } from './compare.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

function listFiles(folder: string, ending: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
}

const scripts = ['conformance', 'examples', 'bench', 'packages'].flatMap((folder) => listFiles(folder, '.harn'))
const documents = [...listFiles('docs', '.md'), join(root, 'README.md'), join(root, 'CHANGELOG.md')]
const blocks = documents.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/^```harn[^\n]*\n([\s\S]*?)^```/gm)].map(([, text = '']) => text),
)

function verdicts(texts: readonly string[]): Record<Verdict, number> {
  const count = { accepted: 0, refused: 0, 'not compared': 0 }
  for (const text of texts) count[compareParsers(text)] += 1
  return count
}

test('every script', () => {
  const { accepted, refused } = verdicts(scripts.map((path) => readFileSync(path, 'utf8')))
  expect(accepted).toBeGreaterThan(900)
  expect(refused).toBeGreaterThan(10)
})

test('every script in the documents', () => {
  expect(verdicts(blocks).accepted).toBeGreaterThan(30)
})

test('random programs, complete and truncated', () => {
  const texts = Array.from({ length: 150 }, (_, seed) => print(randomProgram(seed)))
  expect(verdicts(texts).refused).toBe(0)
  verdicts(texts.map((text, at) => text.slice(0, (text.length * ((at * 37) % 100)) / 100)))
})

test('one token in place of another', () => {
  const { units } = lex(
    'pub fn f<T>(a: list<T> = [1, 2,], ...b) -> {x: int | nil} {\n if A {x: 1}.y { g<T>(a?[1])? } else { a[:b] }\n}',
  )
  const others = lex('fn ( ) { x -> } a A 1 "s" , : ? . < > [ ] + ! ; \n |').units
  for (let at = 0; at < units.length; at += 1) {
    for (const other of others) compareUnits(units.slice(0, at) + other + units.slice(at + 1), 'program')
  }
})

const deep = (opening: string, core: string, closing: string, times = MAX_NESTING - 5): string =>
  opening.repeat(times) + core + closing.repeat(times)

test.each([
  ['slices in slices', deep('a[', '1', ':]')],
  ['broken slices', deep('a[', '1', ':')],
  ['broken conditions', deep('if a { ', 'x y', '')],
  ['broken matches', deep('match a { b -> { ', 'x y', '', 90)],
  ['broken generic calls', deep('f<T>(a, ', 'x y z =', '')],
  ['generic calls with several arguments', deep('f<T>(', 'x', ', y)')],
  ['broken parentheses', deep('(', 'a b', '')],
  ['parentheses that could be a callee', `${deep('(', 'f', ')')}(1)`],
  ['struct literals', deep('A { x: ', '1', ' }')],
  ['broken dicts', deep('{ [a]: ', '1 2', '')],
  ['comparisons that could be type arguments', `a${' < a'.repeat(150)}`],
  ['blocks of words', deep('try { retry 2 { parallel each a { b -> ', 'x y', '', 60)],
])('%s take time in proportion, and mean what Ohm makes of them', (_name, text) => {
  const { units } = lex(text)
  compareUnits(units, 'program')
  parseTokens(units, 'program', MAX_NESTING)
})

test.each([
  ['(', '1', ')'],
  ['[', '1', ']'],
  ['{a: ', '1', '}'],
  ['f(', '1', ')'],
  ['a[', '1', ']'],
  ['{ x -> ', '1', '}'],
  ['!', 'a', ''],
  ['- ', 'a', ''],
  ['try* ', 'a', ''],
  ['if a { ', '1', ' }'],
  ['if ', 'a', ' { 1 }'],
  ['while a { ', '1', ' }'],
  ['fn f() { ', '1', ' }'],
  ['match a { b -> { ', '1', ' } }'],
  ['retry ', '1', ' { 1 }'],
  ['let x: ', 'int', ''],
  ['let x: list<', 'int', '>'],
  ['let x: fn() -> ', 'int', ''],
  ['let x: ' + 'fn() -> '.repeat(9999), 'int', ''],
  ['let x: ' + 'list<'.repeat(9999), 'int', '>'.repeat(9999)],
  ['let x: ' + '{a: '.repeat(9999), 'int', '}'.repeat(9999)],
  ['type T = ' + '['.repeat(9999), 'int', ']'.repeat(9999)],
  ['a < ', 'a', ''],
  ['"${', 'a', '}"'],
  ['@a(' + '['.repeat(9999), '1', ']'],
  ['a ? ', 'b', ' : c'],
])('%s ten thousand deep is a diagnostic or fine, never an overflow', (opening, core, closing) => {
  const { diagnostics } = parse(new SourceFile('deep', deep(opening, core, closing, opening.length > 1000 ? 1 : 10_000)))
  expect(diagnostics.length).toBeLessThanOrEqual(1)
})
