// The walks of ARCHITECTURE.md: what leaves the machine is one object on its way to the provider, and so is what comes back.

import type { Effect, EffectOutcome } from '@bridle/vm'
import { expect, test } from 'vitest'
import { MemoryJournal, createRuntime, defineTool } from '../index.js'
import type { Provider } from '../index.js'

test('an effect and its outcome are handed on, not converted again', async () => {
  const asked: Effect[] = []
  const outcome: EffectOutcome = { ok: true, value: { path: '/notes.txt', data: 'hello' } }
  const files: Provider<'fs.read'> = {
    kinds: ['fs.read'],
    perform: (effect) => {
      asked.push(effect)
      return outcome
    },
  }
  const journal = new MemoryJournal()
  const runtime = createRuntime({ providers: [files], grants: ['fs'], toolGrants: { 'fs.read': { path: 'notes.txt' } } })
  const result = await runtime.start(runtime.compile('println(read_file("notes.txt"))'), { journal }).result
  expect(result.output).toBe('hello\n')
  const written = journal.entries.filter((entry) => entry.type === 'effect')
  expect(written.map(({ args }) => args)).toEqual([{ path: 'notes.txt', encoding: 'utf8' }])
  expect(written[0]!.args).toBe(asked[0]!.args)
  const answers = journal.entries.filter((entry) => entry.type === 'answer')
  expect(answers.map((entry) => entry.outcome)).toEqual([outcome])
  expect(answers[0]!.outcome).toBe(outcome)
})

test('what a tool of the host gives is read once', async () => {
  let reads = 0
  const order = defineTool({
    name: 'order',
    execute: () => ({
      get amount(): number {
        reads++
        return 2.5
      },
    }),
  })
  const journal = new MemoryJournal()
  const runtime = createRuntime({ tools: [order] })
  const script = 'import { order } from "host/tools"\nprintln(order({}).amount)'
  const result = await runtime.start(runtime.compile(script), { journal }).result
  expect(result.output).toBe('2.5\n')
  expect(reads).toBe(1)
})
