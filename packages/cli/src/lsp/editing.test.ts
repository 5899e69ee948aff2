// Incremental findings of an edited file equal the findings of each version from scratch. A test name contains the seed of its
// edits.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { parse, SourceFile } from '@bridle/parser'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { describe, expect, test } from 'vitest'
import { randomEdits } from '../../../parser/src/test-support/random-edits.js'
import { CheckingRuntimes } from '../checking/runtimes.js'
import { makeHover, toDiagnostics } from './answers.js'
import { OpenDocument } from './document.js'
import { makeOutline } from './outline.js'

const library = new URL('../../../stdlib-tools/src/std/', import.meta.url)
const modules = readdirSync(library).filter((name) => name.endsWith('.harn') && statSync(new URL(name, library)).size < 8000)
const runtimes = new CheckingRuntimes()
const { registry } = runtimes.getRuntime(new OpenDocument(TextDocument.create('untitled:a', 'harn', 0, ''), runtimes).settings)

/** Everything that an editor receives for a version. */
function describeDocument(document: OpenDocument): unknown {
  const { text } = document
  const offsets = Array.from({ length: 12 }, (_, at) => Math.floor((text.getText().length * at) / 12))
  return {
    findings: toDiagnostics(document),
    outline: makeOutline(document),
    hovers: offsets.map((offset) => makeHover(document, registry, offset)),
  }
}

const isWhole = (text: string): boolean => parse(new SourceFile('edited', text)).program !== null

describe('versions of a document', () => {
  test.each([1, 2, 3, 4])('seed %i', (seed) => {
    const start = readFileSync(new URL(modules[(seed * 5) % modules.length]!, library), 'utf8')
    let last: OpenDocument | null = null
    let version = 0
    for (const text of randomEdits(start, { seed, count: 30, isWhole })) {
      const content = TextDocument.create('untitled:edited', 'harn', ++version, text)
      const alone = describeDocument(new OpenDocument(content, runtimes))
      last = new OpenDocument(content, runtimes, last)
      expect(describeDocument(last)).toEqual(alone)
    }
  })

  test.each<[string, readonly string[]]>([
    [
      'a variable that a function hides',
      ['fn f(a: int) -> int {\n  return a\n}\n', 'let a = 1\nfn f(a: int) -> int {\n  return a\n}\n'],
    ],
    ['documentation of a function', ['pub fn f() {}\n', '/** Does nothing. */\npub fn f() {}\n']],
    ['a use that goes away', ['fn f() -> int {\n  return 1\n}\nprintln(f())\n', 'fn f() -> int {\n  return 1\n}\nprintln(1)\n']],
    [
      'a signature',
      ['fn f(a: int) -> int {\n  return a\n}\nprintln(f(1))\n', 'fn f(a: string) -> string {\n  return a\n}\nprintln(f(1))\n'],
    ],
    ['an inferred result', ['fn f() {\n  return [1]\n}\nprintln(f().count)\n', 'fn f() {\n  return 1\n}\nprintln(f().cuont)\n']],
    [
      'lines above a finding',
      ['fn f() {\n  lett x = 1\n}\nundefined_name\n', '\n\n\nfn f() {\n  let x = 1\n}\nundefined_name\n'],
    ],
  ])('%s', (_name, versions) => {
    let last: OpenDocument | null = null
    for (const [version, text] of [...versions, ...versions.toReversed()].entries()) {
      const content = TextDocument.create('untitled:edited', 'harn', version, text)
      last = new OpenDocument(content, runtimes, last)
      expect(describeDocument(last)).toEqual(describeDocument(new OpenDocument(content, runtimes)))
    }
  })
})
