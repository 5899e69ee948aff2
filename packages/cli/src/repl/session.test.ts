// The session without a terminal: output of entries, what persists, and that no effect is performed twice.

import { answered, createRuntime, randomProvider, seededRandom } from '@bridle/stdlib-tools'
import type { Provider } from '@bridle/stdlib-tools'
import { expect, test } from 'vitest'
import { listCompletions } from '../commands/repl.js'
import { Memory } from './memory.js'
import { Session } from './session.js'

function talk(): {
  readonly session: Session
  readonly say: (...entries: string[]) => Promise<string>
  readonly writes: string[]
} {
  const memory = new Memory()
  const writes: string[] = []
  const files: Provider = {
    kinds: ['fs.write'],
    perform: (effect) => {
      writes.push(String(effect.args['path']))
      return answered(null)
    },
  }
  let heard = ''
  const runtime = createRuntime({
    strictness: 'language', // as in the command
    providers: [randomProvider(seededRandom(7)), files].map((provider) => memory.wrap(provider)),
    grants: ['*'],
    clock: memory.makeClock(),
  })
  const hear = (text: string): void => void (heard += text)
  const session = new Session({ runtime, memory, print: hear, complain: hear })
  const say = async (...entries: string[]): Promise<string> => {
    heard = ''
    for (const entry of entries) await session.run(entry)
    return heard
  }
  return { session, say, writes }
}

test('an expression prints its value, anything else only its output', async () => {
  const { say } = talk()
  expect(await say('1 + 2', '"a"', 'nil', 'let x = 4', 'x * 2', 'println(x)', '[x, "b"]')).toBe('3\n"a"\n8\n4\n[4, b]\n')
})

test('declarations persist, names may be bound again', async () => {
  const { say } = talk()
  expect(
    await say('fn f(a) {\n  return a + 1\n}', 'let x = 1', 'f(x)', 'let x = "s"', 'x', 'struct P { n: int }', 'P {n: 1}'),
  ).toBe('2\n"s"\nP {n: 1}\n')
})

test('outcomes of effects are remembered, output is not repeated', async () => {
  const { say, writes } = talk()
  const first = await say('let id = uuid()\nprintln("made")', 'id')
  expect(first).toMatch(/^made\n"[0-9a-f-]{36}"\n$/)
  expect(await say('id')).toBe(first.slice('made\n'.length))
  await say('write_file("a", "1")', 'write_file("a", "1")', '1')
  expect(writes).toEqual(['a', 'a'])
})

test('a failing entry leaves nothing behind', async () => {
  const { say } = talk()
  expect(await say('let a = 1\nthrow "boom"')).toBe('error: Thrown: boom\n')
  expect(await say('a')).toMatch(/Undefined variable: a/)
  expect(await say('1 - "x"')).toContain("error: can't use '-' on int and string (needs numeric operands)\n  --> <repl>:1:1")
  expect(await say('2')).toBe('2\n')
})

test('imports, types, bytecode, effects', async () => {
  const { session, say } = talk()
  await say('import { tool_call } from "std/tools"', 'let n = 1')
  expect(session.inferType('n + 1.5')).toBe('float')
  expect(session.inferType('[n, "a"]')).toBe('list<int | string>')
  expect(session.inferType('json_parse("1")')).toBe('unknown')
  expect(session.disassembleEntry('n + 1')).toMatch(/ADD/)
  expect(session.renderEffects('tool_call("search")')).toMatch(/tools {4}search\n/)
  expect(await say('pipeline p() { }')).toMatch(/a pipeline cannot be declared here/)
  session.reset()
  expect(await say('n')).toMatch(/Undefined variable: n/)
})

test.each([
  ['1 + 2', 'complete'],
  ['fn f() {', 'incomplete'],
  ['fn f() {\n  return 1', 'incomplete'],
  ['fn f() {\n  return 1\n}', 'complete'],
  ['[1,', 'incomplete'],
  ['1 +', 'incomplete'],
  ['let x =', 'incomplete'],
  ['"""\nabc', 'incomplete'],
  ['println("{")', 'complete'],
  [')', 'wrong'],
  ['"open', 'wrong'],
  ['import { a } from "std/math"', 'complete'],
])('%j is %s', (entry, standing) => {
  expect(talk().session.judgeEntry(entry)).toBe(standing)
})

test('completion', () => {
  const sources = { session: { names: () => ['total', 'tool_x'] }, builtins: ['to_int', 'len'], methods: ['trim', 'to_list'] }
  expect(listCompletions('let y = to', sources)).toEqual([['to_int', 'tool_x', 'total'], 'to'])
  expect(listCompletions('xs.t', sources)).toEqual([['to_list', 'trim'], 't'])
  expect(listCompletions('xs.', sources)).toEqual([['to_list', 'trim'], ''])
  expect(listCompletions(':ty', sources)).toEqual([[':type'], ':ty'])
  expect(listCompletions('', sources)).toEqual([[], ''])
})
