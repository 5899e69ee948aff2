import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expandTokenNames, generateGrammarModule, generateParserModule } from '../scripts/grammar-source.js'
import { KEYWORDS, TOKEN, TOKEN_SPELLINGS } from '../src/tokens.js'

const read = (name: string): string => readFileSync(new URL(`../src/${name}`, import.meta.url), 'utf8')

test('the generated grammar and parser match harn.ohm', () => {
  expect(generateGrammarModule(read('harn.ohm'))).toBe(read('grammar.generated.ts'))
  expect(generateParserModule(read('harn.ohm'))).toBe(read('parser.generated.ts'))
})

test('every token is used by the grammar', () => {
  const expanded = expandTokenNames(read('harn.ohm'))
  const ranges = [...expanded.matchAll(/"\\u\{([0-9a-f]+)\}"(?:\.\."\\u\{([0-9a-f]+)\}")?/g)].map(([, from, to]) => {
    return [Number.parseInt(from!, 16), Number.parseInt(to ?? from!, 16)] as const
  })
  const unused = TOKEN_SPELLINGS.filter((name) => !ranges.some(([from, to]) => TOKEN[name] >= from && TOKEN[name] <= to))
  expect(unused).toEqual([])
})

test('an unknown token in the grammar is refused', () => {
  expect(() => expandTokenNames('x = "nonsense"')).toThrow('unknown token')
})

test('keywords', () => {
  expect(KEYWORDS.join(' ')).toBe(
    'break catch continue deadline defer else emit enum eval_pack exclusive extends false finally fn for from guard if impl import in ' +
      'interface let match mutex nil override parallel pipeline pub require retry return select skill spawn struct throw to tool true ' +
      'try type var while yield',
  )
})
