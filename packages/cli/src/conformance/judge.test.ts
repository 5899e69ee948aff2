import { describe, expect, test } from 'vitest'
import { parseFilter } from './filter.js'
import { judge, normalise } from './judge.js'

const makeFinished = (output: string) => ({ kind: 'finished', output }) as const
const makeFailed = (error: string) => ({ kind: 'failed', output: 'x\n', error }) as const

describe('a positive test', () => {
  test.each([
    ['equal text', 'a\nb\n', 'a\nb\n', true],
    ['trailing white space of the whole text is ignored', 'a\n', 'a \n\n\t\n', true],
    ['trailing white space inside is not', 'a\nb', 'a \nb', false],
    ['line ends are equal', 'a\r\nb\r\n', 'a\nb\n', true],
    ['timer lines lose their times', '[timer] work: 12ms', '[timer] work: 903ms', true],
    ['timer lines with another name differ', '[timer] work: 12ms', '[timer] other: 12ms', false],
    ['only timer lines are normalised', 'work: 12ms', 'work: 13ms', false],
    ['a missing line', 'a\nb', 'a', false],
    ['nothing at all', '', '\n', true],
  ])('%s', (_name, wanted, output, passes) => {
    expect(judge('positive', wanted, makeFinished(output)) === null).toBe(passes)
  })

  test('an error fails it and is shown with the output', () => {
    expect(judge('positive', 'x', makeFailed('Thrown: no'))).toBe('the program failed: Thrown: no\noutput before it:\n  x')
  })

  test('the difference names the line', () => {
    expect(judge('positive', 'a\nb\nc', makeFinished('a\nB\nc'))).toContain('>    2 | b')
  })
})

describe('a negative test', () => {
  test.each([
    ['substring', 'bad thing', 'Thrown: a bad thing happened', true],
    ['another text', 'bad thing', 'Thrown: fine', false],
    ['any line may match', 'nope\n  Thrown: fine  \n', 'Thrown: fine', true],
    ['a regular expression searches', 're: add \\w+ and int$', 'Type error: Cannot add string and int', true],
    ['it is case-sensitive', 're:cannot add', 'Type error: Cannot add string and int', false],
    ['blank lines between patterns match nothing', 'nope\n\nneither', 'Thrown: fine', false],
    ['an empty file matches every error', '', 'anything', true],
    ['a broken expression does not match', 're:(', 'anything (', false],
  ])('%s', (_name, wanted, error, passes) => {
    expect(judge('negative', wanted, makeFailed(error)) === null).toBe(passes)
  })

  test('finishing fails it', () => {
    expect(judge('negative', 'x', makeFinished('done'))).toContain('the program finished')
  })
})

test('a timer line keeps what precedes the last colon', () => {
  expect(normalise('[timer] a: b: 5ms\n[timer] c: 5s')).toBe('[timer] a: b: <ms>\n[timer] c: 5s')
})

test.each([
  ['match', 'control/match_enum', true],
  ['loops|match', 'control/match_enum', true],
  ['loops', 'control/match_enum', false],
  ['control/*_enum', 'control/match_enum', true],
  ['match*', 'control/match_enum', false],
  ['*match*.harn', 'control/match_enum', true],
  ['control/match_enu?', 'control/match_enum', true],
  ['re:^control/.*_(enum|list)$', 'control/match_enum', true],
  ['re:^match', 'control/match_enum', false],
  ['a.b', 'a/b', false],
])('filter %s on %s: %s', (filter, name, selected) => {
  expect(parseFilter(filter)(name)).toBe(selected)
})
