import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allowsPath } from './paths.js'
import { compileWildcards, matchComponents, matchStars } from './wildcards.js'
import type { WildcardRules } from './wildcards.js'

const quote = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The meaning of the rules as a regular expression: for short strings only. */
function makeExpected(pattern: string, { separator, one = false, deep, anywhere = false }: WildcardRules): RegExp {
  const any = separator === null ? '.' : `[^${separator}]`
  const source = pattern.replace(deep === undefined ? /[*?]|[^*?]+/g : /\*\*\/|\*\*|[*?]|[^*?]+/g, (part) => {
    if (part === '**/' && deep === 'folders') return '(?:.*/)?'
    if (part === '**' || part === '**/') return `.*${quote(part.slice(2))}`
    if (part === '*') return `${any}*`
    return part === '?' && one ? any : quote(part)
  })
  return new RegExp(`${anywhere ? '^(?:.*/)?' : '^'}${source}$`, 'su')
}

const dialects: WildcardRules[] = [
  { separator: null },
  { separator: null, one: true },
  { separator: '/', one: true },
  { separator: '/', one: true, deep: 'text' },
  { separator: '/', one: true, deep: 'folders' },
  { separator: '/', one: true, deep: 'folders', anywhere: true },
]

describe.each(dialects)('%j', (rules) => {
  test('matches as the definition says', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '/', '*', '**', '**/', '?'), { maxLength: 8 })
    const text = fc.array(fc.constantFrom('a', 'b', '/', '😀'), { maxLength: 10 })
    fc.assert(
      fc.property(letters, text, (pattern, characters) => {
        const [wanted, found] = [pattern.join(''), characters.join('')]
        expect(compileWildcards(wanted, rules)(found)).toBe(makeExpected(wanted, rules).test(found))
      }),
      { numRuns: 3000, seed: 16 },
    )
  })
})

test('components match as the definition says', () => {
  const fits = (pattern: readonly string[], path: readonly string[]): boolean => {
    const [first, ...rest] = pattern
    if (first === undefined) return true
    if (first === '**') return path.some((_, at) => fits(rest, path.slice(at))) || fits(rest, [])
    return path.length > 0 && matchStars(first, path[0]!) && fits(rest, path.slice(1))
  }
  const pattern = fc.array(fc.constantFrom('a', 'b', '**', '*', 'a*'), { maxLength: 7 })
  const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 9 })
  fc.assert(
    fc.property(pattern, path, (wanted, found) => matchComponents(wanted, found) === fits(wanted, found)),
    { numRuns: 5000, seed: 16 },
  )
})

describe('sets', () => {
  const fits = (pattern: string, text: string): boolean =>
    compileWildcards(pattern, { separator: '/', one: true, deep: 'folders', sets: true })(text)
  test.each<[string, string, boolean]>([
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[!a]', '/', false],
    ['[]a]', ']', true],
    ['[z-a]', 'm', false],
    ['[ab', '[ab', true],
    ['[a-]', '-', true],
  ])('%s and %s: %s', (pattern, text, fit) => expect(fits(pattern, text)).toBe(fit))
})

// Each of these took minutes or never ended with a regular expression or by backtracking.
describe('hostile patterns', () => {
  const many = 20_000
  test('stars within a component', () => {
    expect(allowsPath(`/${'*a'.repeat(many)}*b`, `/${'a'.repeat(2 * many)}`, null)).toBe(false)
    expect(allowsPath(`/${'*a'.repeat(many)}*`, `/${'a'.repeat(2 * many)}/x`, null)).toBe(true)
  })

  test('stars over components', () => {
    expect(allowsPath(`${'/**/a'.repeat(30)}/b`, '/a'.repeat(200), null)).toBe(false)
    expect(allowsPath('/**/a'.repeat(30), '/a'.repeat(200), null)).toBe(true)
  })

  test('patterns beyond the limit match nothing', () => {
    expect(allowsPath(`/**${'/a'.repeat(many)}/b`, '/a'.repeat(2 * many), null)).toBe(false)
  })

  test('stars in a string', () => {
    const rules: WildcardRules = { separator: '/', one: true, deep: 'folders', anywhere: true }
    expect(compileWildcards(`${'*a?'.repeat(200)}b`, rules)('a'.repeat(2000))).toBe(false)
    expect(compileWildcards(`${'**/a'.repeat(200)}b`, rules)('a/'.repeat(1000))).toBe(false)
  })
})
