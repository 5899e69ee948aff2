// After random edits, each version parses incrementally to the same tree as from scratch. The name of a test contains its
// seed.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { print } from './format/format.js'
import { parse } from './parse.js'
import { Reparser } from './reparse.js'
import { SourceFile } from './source.js'
import { randomEdits } from './test-support/random-edits.js'
import { randomProgram } from './test-support/random-program.js'

const library = new URL('../../stdlib-tools/src/std/', import.meta.url)
const modules = readdirSync(library).filter((name) => name.endsWith('.harn') && statSync(new URL(name, library)).size < 6000)

function sameAsAlone(reparser: Reparser, text: string): void {
  const { program, diagnostics } = reparser.parse(new SourceFile('edited', text))
  const alone = parse(new SourceFile('edited', text))
  expect(JSON.stringify(program, writeBigints)).toBe(JSON.stringify(alone.program, writeBigints))
  expect(diagnostics).toEqual(alone.diagnostics)
}

const writeBigints = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)

describe('versions of a file', () => {
  test.each(Array.from({ length: 8 }, (_, seed) => seed))('seed %i', (seed) => {
    const reparser = new Reparser()
    const isWhole = (text: string): boolean => parse(new SourceFile('edited', text)).program !== null
    const generated = [1, 2, 3, 4].map((part) => print(randomProgram(seed * 10 + part))).join('\n')
    const start = seed % 2 === 0 ? readFileSync(new URL(modules[seed]!, library), 'utf8') : generated
    let parsed = 0
    for (const text of randomEdits(start, { seed, count: 30, isWhole })) {
      sameAsAlone(reparser, text)
      if (isWhole(text)) parsed++
    }
    expect(parsed).toBeGreaterThan(10)
  })

  test('items before and after an edit keep their trees', () => {
    const reparser = new Reparser()
    const text = (body: string): string => `fn a() { 1 }\nfn b() { 2 }\nfn c() { ${body} }\nfn d() { 4 }\nfn e() { 5 }\n`
    const first = reparser.parse(new SourceFile('edited', text('3'))).program!
    const second = reparser.parse(new SourceFile('edited', text('3 + 3'))).program!
    expect(second.items.map((item) => first.items.includes(item))).toEqual([true, false, false, true, true])
  })

  test.each<[string, readonly string[]]>([
    ['an operator on the next line', ['let a = 1\nlet b = 2\nfoo()\n', 'let a = 1\nlet b = 2\n  |> foo()\n']],
    ['a comment that opens', ['fn a() {}\nfn b() {}\nfn c() {}\n', '/* fn a() {}\nfn b() {}\nfn c() {}\n']],
    ['a string that opens', ['let a = "x"\nlet b = """y"""\nlet c = 1\n', 'let a = """x"\nlet b = """y"""\nlet c = 1\n']],
    ['an arrow that makes a closure', ['let a = {\nb: 1 }\nlet c = { d: 2 }\n', 'let a = {\nb -> 1 }\nlet c = { d: 2 }\n']],
    ['documentation', ['/** One. */\nfn a() {}\n/** Two. */\nfn b() {}\n', '/** One. */\nfn a() {}\n/** 2. */\nfn b() {}\n']],
    ['an extension', ['fn a() {}\nfn b() {}\nfn c() {}\n', '// @bridle grants\nfn a() {}\nfn b() {}\nfn c() {}\n']],
    ['nothing', ['fn a() {}\n', '', 'fn a() {}\n']],
  ])('%s', (_name, versions) => {
    const reparser = new Reparser()
    for (const text of [...versions, ...versions.toReversed()]) sameAsAlone(reparser, text)
  })
})
