import { Fault, HarnDict, makeTypeFault } from '@bridle/vm'
import { expect, test } from 'vitest'
import { renderFault } from './fault-report.js'
import { measureIdentifier } from './source-excerpt.js'

const source = ['a', 'b', 'c', '    return x.foo', 'e', 'f', '    let r = inner(x)', 'h', 'i', '  outer(5)'].join('\n')
const sources = { show: (file: string) => file, text: (file: string) => (file === 'app.harn' ? source : null) }
const makePlace = (name: string, line: number, column: number) => ({ file: 'app.harn', function: name, line, column })

test('innermost position with carets, then one note per caller', () => {
  const fault = makeTypeFault('cannot access property `foo` on int (line 4)')
  fault.trace = [makePlace('inner', 4, 12), makePlace('outer', 7, 13), makePlace('main', 10, 3)]
  expect(renderFault(fault, sources)).toBe(`error: Type error: cannot access property \`foo\` on int (line 4)
  --> app.harn:4:12
   |
 4 |     return x.foo
   |            ^
  = note: called from outer at app.harn:7
  = note: called from pipeline at app.harn:10
`)
})

test('the gutter grows with the line number, carets cover the identifier', () => {
  const fault = makeTypeFault('no')
  fault.trace = [makePlace('main', 10, 3)]
  expect(renderFault(fault, sources)).toBe(`error: Type error: no
   --> app.harn:10:3
    |
 10 |   outer(5)
    |   ^^^^^
`)
})

test('without a source only the position is shown, without a trace only the message', () => {
  const fault = makeTypeFault('no')
  fault.trace = [{ file: 'other.harn', function: 'f', line: 3, column: 1 }]
  expect(renderFault(fault, sources)).toBe('error: Type error: no\n  --> other.harn:3:1\n   |\n')
  expect(renderFault(makeTypeFault('bare'), sources)).toBe('error: Type error: bare\n')
})

test.each([
  ['a + größe', 5, 5],
  ['a + 1', 5, 1],
  ['x', 9, 1],
  ['😀 + ab', 5, 2],
])('measureIdentifier(%j, %d) is %d', (text, column, width) => {
  expect(measureIdentifier(text, column)).toBe(width)
})

test('a failed tool shows the reason, and a mismatch with the lock file', () => {
  const renderFailed = (code: string, details: HarnDict | null): string => {
    const value = HarnDict.of({ name: 'ToolError', code, message: `no ${code}`, details, attempt: 0 })
    const fault = new Fault('thrown', 'a long dict', value)
    fault.trace = [makePlace('main', 10, 3)]
    return renderFault(fault, sources)
  }
  const place = '   --> app.harn:10:3\n    |\n 10 |   outer(5)\n    |   ^^^^^\n'
  expect(renderFailed('timeout', null)).toBe(
    `error: Error [timeout]: no timeout\n${place}   = code: timeout, explained by \`bridle explain timeout\`\n`,
  )
  expect(renderFailed('schema_drift', HarnDict.of({ key: 'script:x', pinned: 'blake3:1', found: 'blake3:2' }))).toBe(
    `error: Error [schema_drift]: no schema_drift\n${place}` +
      '   = note: locked as blake3:1\n   = note: it is now blake3:2\n' +
      '   = help: `bridle tools diff` says what changed; `bridle tools lock` writes down the tools as they are now\n' +
      '   = code: schema_drift, explained by `bridle explain schema_drift`\n',
  )
  expect(renderFailed('schema_drift', HarnDict.of({ key: 'script:x', pinned: null, found: 'blake3:2' }))).toContain(
    '   = help: `bridle tools lock` writes down the tools as they are now\n',
  )
  const thrown = new Fault('thrown', '{code: x, name: other}', HarnDict.of({ name: 'other', code: 'x' }))
  expect(renderFault(thrown, sources)).toBe('error: Thrown: {code: x, name: other}\n')
})

test('a question that cannot be answered says what to do, without the fields for scripts', () => {
  const value = HarnDict.of({
    name: 'HumanUnavailableError',
    category: 'tool_rejected',
    message: 'nobody is here',
    request_id: 'q1',
  })
  expect(renderFault(new Fault('thrown', 'a long dict', value), sources)).toBe(
    'error: Error [tool_rejected]: nobody is here\n  = code: tool_rejected, explained by `bridle explain tool_rejected`\n',
  )
})
