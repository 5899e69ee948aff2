// The grammar of the VS Code extension knows the keywords of the language.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KEYWORDS, parse, SourceFile } from '@bridle/parser'
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

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../editors/vscode/${name}`, import.meta.url)), 'utf8'))

const all = [...Object.values(grammar.repository), ...grammar.patterns].flatMap(listRules)

test('every keyword has a colour', () => {
  const words = listRules(grammar.repository['keywords']!).flatMap(({ match }) =>
    match === undefined ? [] : [new RegExp(match, 'u')],
  )
  const missing = KEYWORDS.filter((keyword) => !words.some((pattern) => pattern.exec(keyword)?.[0] === keyword))
  expect(missing).toEqual([])
})

test('patterns compile, and their includes exist', () => {
  for (const { match, begin, end, include } of all) {
    for (const pattern of [match, begin, end]) {
      if (pattern !== undefined) expect(() => new RegExp(pattern.replace('\\A', '^'), 'u'), pattern).not.toThrow()
    }
    if (include !== undefined) expect(grammar.repository, include).toHaveProperty(include.slice(1))
  }
})

test('the archive has few files, the licence, and every file that it names', () => {
  const files = listVsixFiles('code')
  expect(Object.keys(files)).toHaveLength(10)
  expect(files['extension/LICENSE.txt']).toContain('MIT')
  const manifest = JSON.parse(files['extension/package.json']!) as {
    readonly main: string
    readonly license: string
    readonly contributes: {
      readonly languages: readonly { readonly configuration?: string }[]
      readonly grammars: readonly { readonly path: string }[]
      readonly snippets: readonly { readonly path: string }[]
    }
  }
  expect(manifest).toMatchObject({ license: 'MIT', publisher: 'bridle' })
  expect(manifest).not.toHaveProperty('dependencies')
  const named = [
    manifest.main,
    ...manifest.contributes.languages.flatMap(({ configuration }) => configuration ?? []),
    ...manifest.contributes.grammars.map((each) => each.path),
    ...manifest.contributes.snippets.map((each) => each.path),
  ].map((path) => path.replace('./', 'extension/'))
  const assets = [...files['extension.vsixmanifest']!.matchAll(/Path="([^"]+)"/g)].map((match) => match[1]!)
  for (const path of [...named, ...assets]) expect(Object.keys(files)).toContain(path)
})

/** The scope that a rule of the grammar gives the first group, or the whole match, in a text. */
function findScope(rules: string, text: string): string | null {
  type Scoped = Rule & { readonly name?: string; readonly captures?: { readonly 1?: { readonly name: string } } }
  const found = (grammar.repository[rules]!.patterns as readonly Scoped[]).flatMap((rule) => {
    const match = new RegExp((rule.match ?? rule.begin!).replace('\\A', '^(?!)'), 'mu').exec(text)
    return match === null ? [] : [{ at: match.index, scope: rule.captures?.[1]?.name ?? rule.name ?? null }]
  })
  // Of the rules that match at the earliest position, the first one.
  return found.toSorted((one, other) => one.at - other.at)[0]?.scope ?? null
}

test('documentation and keys have scopes of their own', () => {
  expect(findScope('comments', '/// Adds.')).toBe('comment.line.documentation.harn')
  expect(findScope('comments', '/** Adds. */')).toBe('comment.block.documentation.harn')
  expect(findScope('comments', '/* no documentation */')).toBe('comment.block.harn')
  expect(findScope('comments', '//// a line')).toBe('comment.line.double-slash.harn')
  expect(findScope('keys', '{name: 1}')).toBe('variable.other.property.key.harn')
  expect(findScope('keys', 'order.cents')).toBe('variable.other.property.harn')
  expect(findScope('keys', 'order.total()')).toBeNull()
})

test('templates have a grammar', () => {
  const prompt = readJson('syntaxes/harn-prompt.tmLanguage.json') as { readonly repository: Record<string, Rule> }
  for (const { match, begin, end, include } of Object.values(prompt.repository).flatMap(listRules)) {
    for (const pattern of [match, begin, end])
      if (pattern !== undefined) expect(() => new RegExp(pattern, 'u'), pattern).not.toThrow()
    if (include?.startsWith('#') === true) expect(prompt.repository).toHaveProperty(include.slice(1))
  }
  const [word] = ['if', 'include'].filter(
    (each) => !new RegExp(prompt.repository['directive']!.patterns![2]!.match!, 'u').test(each),
  )
  expect(word).toBeUndefined()
})

test('snippets are scripts', () => {
  const snippets = readJson('snippets.json') as Record<string, { readonly prefix: string; readonly body: readonly string[] }>
  for (const [name, { body }] of Object.entries(snippets)) {
    const text = body
      .join('\n')
      .replaceAll(/\$\{\d+:([^}]*)\}/g, '$1')
      .replaceAll(/\$\d+/g, '')
    expect(parse(new SourceFile(name, `${text}\n`)).diagnostics, name).toEqual([])
  }
  const prefixes = Object.values(snippets).map(({ prefix }) => prefix)
  expect(new Set(prefixes).size).toBe(prefixes.length)
})
