import { display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'
import { regexFamily } from './regex.js'

const call = (name: string, ...args: Value[]): string => display(callBuiltin(makeFakeMachine(regexFamily), name, ...args))

test('matches are full matches, nil when there is none', () => {
  expect(call('regex_match', '\\d+', 'a1 b22')).toBe('[1, 22]')
  expect(call('regex_match', 'z', 'abc')).toBe('nil')
  expect(call('regex_match', 'A.b', 'a\nb', 'is')).toBe('[a\nb]')
  expect(call('regex_match', ' a b # c\n+', 'abb', 'x')).toBe('[abb]')
  expect(call('regex_match', 'a')).toBe('nil')
})

test('words and digits are Unicode', () => {
  expect(call('regex_match', '\\w+', 'é٣_x y')).toBe('[é٣_x, y]')
  expect(call('regex_match', '\\d', '٣')).toBe('[٣]')
  expect(call('regex_match', '[^\\W\\d]+', 'ab1c')).toBe('[ab, c]')
  expect(call('regex_match', '(?-u:\\w)+', 'é')).toBe('nil')
})

test('classes know set operations and nesting', () => {
  expect(call('regex_match', '[a-z&&[^aeiou]]+', 'banana split')).toBe('[b, n, n, spl, t]')
  expect(call('regex_match', '[\\w--[0-4]]+', 'a35b2')).toBe('[a, 5b]')
  expect(call('regex_match', '[a[0-2]]+', 'a1b3')).toBe('[a1]')
  expect(call('regex_match', '[[:alpha:]-]+', 'a-b1')).toBe('[a-b]')
  expect(call('regex_match', '[]a]+', 'a]b')).toBe('[a]]')
  expect(call('regex_match', '\\p{Greek}+|\\p{Lowercase_Letter}', 'αβ x')).toBe('[αβ, x]')
})

test('empty matches advance by one and do not touch a match', () => {
  expect(call('regex_match', 'a*', 'baaac')).toBe('[, aaa, ]')
  expect(call('regex_replace', '', '-', 'a😀')).toBe('-a-😀-')
  expect(call('regex_split', 'abc', '')).toBe('[, a, b, c, ]')
})

test('replacements take the longest name', () => {
  expect(call('regex_replace', '(?P<y>\\d+)-(\\d+)', '$2/${y}$$', '10-20')).toBe('20/10$')
  expect(call('regex_replace', '(a)', '[$1x]', 'a')).toBe('[]')
  expect(call('regex_replace', '(a)', '$ $0', 'a')).toBe('$ a')
  expect(call('regex_replace_all', 'o', '0', 'foo')).toBe('f00')
})

test('captures', () => {
  expect(call('regex_captures', '(?<k>\\w+)=(?<v>\\w+)?', 'a=1 b=')).toBe(
    '[{groups: [a, 1], k: a, match: a=1, v: 1}, {groups: [b, nil], k: b, match: b=}]',
  )
  expect(call('regex_captures', 'x')).toBe('[]')
})

test('errors', () => {
  expect(faultText(() => call('regex_match', '(a', 'a'))).toBe(
    'Invalid regex: regex parse error:\n    (a\n    ^\nerror: unclosed group',
  )
  expect(faultText(() => call('regex_match', '[a', 'a'))).toContain(
    'Invalid regex: regex parse error:\n    [a\n    ^\nerror: unclosed character class',
  )
  expect(faultText(() => call('regex_match', '(?=a)', 'a'))).toContain('look-around')
  expect(faultText(() => call('regex_match', '(a)\\1', 'a'))).toContain('backreferences are not supported')
  expect(faultText(() => call('regex_match', 'a', 'a', 'z'))).toBe(
    "Invalid regex: unsupported regex flag 'z', expected one of i/m/s/x",
  )
  expect(faultText(() => call('regex_match', '*', 'a'))).toContain('repetition operator missing expression')
})

test('stacked repetitions, counts, escapes', () => {
  expect(call('regex_match', '(?:a*)*', 'aa')).toBe('[aa]')
  expect(call('regex_match', 'a**', 'aab')).toBe('[aa, ]')
  expect(call('regex_match', 'a{2,}|b{0,1}c', 'aaa bc')).toBe('[aaa, bc]')
  expect(call('regex_match', '\\u{1F600}\\x41\\-\\/', '😀A-/')).toBe('[😀A-/]')
  expect(call('regex_match', '(?i)STRASSE|[k]', 'straSSe K')).toBe('[straSSe, K]')
})

test('word boundaries know words of all scripts', () => {
  expect(call('regex_match', '\\b\\w+\\b', 'naïve café')).toBe('[naïve, café]')
  expect(call('regex_match', '\\bé', 'é xé éx')).toBe('[é, é]')
  expect(call('regex_match', '\\Bé', 'é xé éx')).toBe('[é]')
  expect(call('regex_replace', '(?i)\\b(Ä)(\\w*)', '<$1|$2>', 'ärger xä Ä 😀')).toBe('<ä|rger> xä <Ä|> 😀')
  expect(call('regex_match', '\\b(a|ab)(c|bcd)?\\b', 'é abcd ab')).toBe('[abcd, ab]')
  expect(call('regex_split', 'aé b', '\\b')).toBe('[, aé,  , b, ]')
  expect(call('regex_match', '(?m)^\\b.*?$', 'ñ1\nñ2')).toBe('[ñ1, ñ2]')
  expect(call('regex_match', '\\b(?:a+)+$', `é ${'a'.repeat(60)}b`)).toBe('nil')
})
