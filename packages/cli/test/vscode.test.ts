// The colours of the VS Code extension know the words of the language.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { KEYWORDS } from '@bridle/parser'
import { expect, test } from 'vitest'

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
