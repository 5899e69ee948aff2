import { expect, test } from 'vitest'
import { findJmespathProblem } from './jmespath.js'

test.each([
  'event.dedupe_key',
  'a.b[0].c',
  'a[*].b',
  'a[-1]',
  'a[1:3:2]',
  'a[::2]',
  'a[]',
  '*.a',
  '@',
  '"quoted name".b',
  "a[?b == 'c' && !d || e > `5`].f | [0]",
  'join(`","`, sort_by(a, &b))',
  'a.{x: b, "y": c[0]}',
  '[a, b.c]',
  'a.[b, c]',
  '(a || b).c',
  "a == 'it\\'s'",
])('%s is an expression', (text) => expect(findJmespathProblem(text)).toBeNull())

test.each([
  ['', 'the expression is empty'],
  ['a.', 'the expression ends where a name is expected'],
  ['a[', 'the expression ends where a number is expected'],
  ['a..b', 'unexpected "." at character 3'],
  ['a b', 'unexpected "b" at character 3'],
  ['a[?b', 'the expression ends where ] is expected'],
  ["a == 'x", "the ' at character 6 is not closed"],
  ['`{`', 'the literal at character 1 is no JSON'],
  ['f(a', 'the expression ends where ) is expected'],
  ['a #', 'unexpected "#" at character 3'],
  ['{a}', 'unexpected "}" at character 3'],
  ['('.repeat(100) + 'a' + ')'.repeat(100), 'the expression is nested deeper than 64'],
  ['a'.repeat(5000), 'the expression has more than 4096 characters'],
])('%s is none', (text, problem) => expect(findJmespathProblem(text)).toBe(problem))
