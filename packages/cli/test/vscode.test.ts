// The colours of the VS Code extension know the words of the language.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KEYWORDS } from '@bridle/parser'
import { expect, test } from 'vitest'
import { listVsixFiles } from '../../../scripts/build-vsix.js'

interface Rule {
  readonly match?: string
  readonly begin?: string
  readonly end?: string
  readonly include?: string
  readonly patterns?: readonly Rule[]
}

const path = fileURLToPath(new URL('../../../editors/vscode/syntaxes/harn.tmLanguage.json', import.meta.url))
const grammar = JSON.parse(readFileSync(path, 'utf8')) as { repository: Record<string, Rule>; patterns: readonly Rule[] }

function listRules(rule: Rule): readonly Rule[] {
  return [rule, ...(rule.patterns ?? []).flatMap(listRules)]
}

const all = [...Object.values(grammar.repository), ...grammar.patterns].flatMap(listRules)

test('every keyword has a colour', () => {
  const words = listRules(grammar.repository['keywords']!).flatMap(({ match }) =>
    match === undefined ? [] : [new RegExp(match, 'u')],
  )
  const missing = KEYWORDS.filter((keyword) => !words.some((pattern) => pattern.exec(keyword)?.[0] === keyword))
  expect(missing).toEqual([])
})

test('patterns compile, and what they include is there', () => {
  for (const { match, begin, end, include } of all) {
    for (const pattern of [match, begin, end]) {
      if (pattern !== undefined) expect(() => new RegExp(pattern.replace('\\A', '^'), 'u'), pattern).not.toThrow()
    }
    if (include !== undefined) expect(grammar.repository, include).toHaveProperty(include.slice(1))
  }
})

test('the archive has few files, the licence, and every file that it names', () => {
  const files = listVsixFiles('code')
  expect(Object.keys(files)).toHaveLength(8)
  expect(files['extension/LICENSE.txt']).toContain('MIT')
  const manifest = JSON.parse(files['extension/package.json']!) as {
    readonly main: string
    readonly license: string
    readonly contributes: {
      readonly languages: readonly { readonly configuration: string }[]
      readonly grammars: readonly { readonly path: string }[]
    }
  }
  expect(manifest).toMatchObject({ license: 'MIT', publisher: 'bridle' })
  expect(manifest).not.toHaveProperty('dependencies')
  const named = [
    manifest.main,
    ...manifest.contributes.languages.map(({ configuration }) => configuration),
    ...manifest.contributes.grammars.map((each) => each.path),
  ].map((path) => path.replace('./', 'extension/'))
  const assets = [...files['extension.vsixmanifest']!.matchAll(/Path="([^"]+)"/g)].map((match) => match[1]!)
  for (const path of [...named, ...assets]) expect(Object.keys(files)).toContain(path)
})
