import { expect, test } from 'vitest'
import { makeCommandRuntime } from './host.js'
import { readFurtherLimits } from './further-limits.js'

test('limits of compiling and of servers', () => {
  expect(readFurtherLimits({})).toEqual({ compile: {}, mcp: {} })
  expect(readFurtherLimits({ limit: ['compile.tokens=5', 'mcp.maxTools=7', 'compile.tokens=6'] })).toEqual({
    compile: { tokens: 6 },
    mcp: { maxTools: 7 },
  })
})

test.each([
  ['compile.tokens', 'write NAME=NUMBER'],
  ['compile.token=5', 'did you mean compile.tokens?'],
  ['constructor=5', 'the names are compile.characters'],
  ['mcp.maxTools=0', 'must be a whole number'],
  ['mcp.maxTools=1e3', 'must be a whole number'],
  ['mcp.maxTools=', 'must be a whole number'],
])('%s is refused', (spec, said) => expect(() => readFurtherLimits({ limit: [spec] })).toThrow(said))

test('they apply to the runtime of a command', () => {
  const furtherLimits = readFurtherLimits({ limit: ['compile.tokens=5'] })
  expect(() => makeCommandRuntime({ terminal: false, furtherLimits }).compile('let a = 1 + 2\n')).toThrow('the limit is 5')
})
