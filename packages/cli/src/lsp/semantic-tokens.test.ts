import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SemanticTokens, SemanticTokensDelta } from 'vscode-languageserver/node'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { TOKEN_MODIFIERS, TOKEN_TYPES } from './semantic-tokens.js'
import { TestClient } from './test-support/client.js'

let client: TestClient
beforeAll(async () => {
  client = new TestClient()
  await client.start()
})
afterAll(() => client.stop())

/** Each token with its type and modifiers. */
function readTokens(document: TextDocument, data: readonly number[]): string[] {
  let line = 0
  let character = 0
  const lines = document.getText().split('\n')
  const shown: string[] = []
  for (let at = 0; at < data.length; at += 5) {
    const [down, right, length, type, bits] = data.slice(at, at + 5) as [number, number, number, number, number]
    line += down
    character = down === 0 ? character + right : right
    const word = lines[line]!.slice(character, character + length)
    const modifiers = TOKEN_MODIFIERS.filter((_, bit) => (bits & (1 << bit)) !== 0)
    shown.push(`${word} ${[TOKEN_TYPES[type], ...modifiers].join('.')}`)
  }
  return shown
}

const SCRIPT = `/// Doubles.
fn twice(n: int) -> int {
  return n * 2
}
enum Colour { Red }
struct Box { side: int }
@test
pipeline main() {
  var count = twice(2)
  count = count + 1
  println("is \${twice(count)}!", Box({side: 1}).side, Colour.Red, [1].push(2))
}
`

test('words have the type of their declaration', async () => {
  const document = await client.open('a.harn', SCRIPT)
  const { data } = await client.ask<SemanticTokens>('semanticTokens/full', document)
  const found = readTokens(document, data)
  for (const each of [
    '/// Doubles. comment.documentation',
    'fn keyword',
    'twice function.declaration',
    'n parameter.declaration',
    'int type.defaultLibrary',
    'n parameter',
    '* operator',
    '2 number',
    'Colour enum.declaration',
    'Red enumMember.declaration',
    'Box struct.declaration',
    'side property.declaration',
    'test decorator',
    'count variable.declaration',
    'count variable.modification',
    'println function.defaultLibrary',
    '"is ${ string',
    'twice function',
    'count variable',
    '}!" string',
    'side property',
    'Red enumMember',
    'push method',
  ])
    expect(found).toContain(each)
})

test('a string of several lines is one token per line', async () => {
  const document = await client.open('b.harn', 'println("""\n  one\n  two\n""")\n')
  const { data } = await client.ask<SemanticTokens>('semanticTokens/full', document)
  expect(readTokens(document, data).filter((each) => each.endsWith('string'))).toEqual([
    '""" string',
    '  one string',
    '  two string',
    '""" string',
  ])
})

test('a range has the tokens of its lines', async () => {
  const document = await client.open('c.harn', SCRIPT)
  const range = { start: { line: 2, character: 0 }, end: { line: 2, character: 14 } }
  const { data } = await client.ask<SemanticTokens>('semanticTokens/range', document, null, { range })
  expect(readTokens(document, data)).toEqual(['return keyword', 'n parameter', '* operator', '2 number'])
})

test('after an edit the client gets the difference', async () => {
  const document = await client.open('d.harn', SCRIPT)
  const first = await client.ask<SemanticTokens>('semanticTokens/full', document)
  const next = await client.change(document, SCRIPT.replace('count + 1', 'count + n2'))
  const delta = await client.ask<SemanticTokensDelta>('semanticTokens/full/delta', next, null, {
    previousResultId: first.resultId,
  })
  expect(delta.edits).toHaveLength(1)
  const [{ start, deleteCount, data = [] }] = delta.edits as [SemanticTokensDelta['edits'][number]]
  const patched = first.data.toSpliced(start, deleteCount, ...data)
  const whole = await client.ask<SemanticTokens>('semanticTokens/full', next)
  expect(patched).toEqual(whole.data)
  expect(deleteCount).toBeLessThan(10)
  const unknown = await client.ask<SemanticTokens>('semanticTokens/full/delta', next, null, { previousResultId: 'other' })
  expect(unknown.data).toEqual(whole.data)
})

test('while the text does not parse, names keep their types', async () => {
  const document = await client.open('e.harn', SCRIPT)
  await client.ask('semanticTokens/full', document)
  const broken = await client.change(document, SCRIPT.replace('twice(2)', 'twice(2'))
  const { data } = await client.ask<SemanticTokens>('semanticTokens/full', broken)
  expect(readTokens(broken, data)).toEqual(expect.arrayContaining(['twice function', 'count variable', 'fn keyword']))
})
