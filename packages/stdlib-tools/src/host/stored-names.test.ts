// Names that every JavaScript object has are names like any others in what is stored: a snapshot, a journal and the entries of one give
// them back as they were, or refuse them. None of them reaches an object of JavaScript.

import { afterEach, expect, test } from 'vitest'
import { toPlain } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { encodePlain } from './journal-codec.js'
import { JournalFormatError, MemoryJournal, decodeEntry, encodeEntry } from './journal.js'
import { createRuntime } from './runtime.js'
import { defineTool } from '../tools/host-tools/define.js'

const WORDS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  'toJSON',
  '__defineGetter__',
]
const ROWS = WORDS.map((word) => [word] as const)

const names = (object: object): string => Reflect.ownKeys(object).map(String).join()
const before = names(Object.prototype)

afterEach(() => {
  expect(names(Object.prototype)).toBe(before)
  expect(({} as { readonly polluted?: unknown }).polluted).toBe(undefined)
})

/** Data with the word as a key; one that is computed is the object's own. */
const hold = (word: string): { readonly [key: string]: Plain } => ({ [word]: { polluted: 1, [word]: 'x' } })

const write = (word: string): string => `import { runtime_pipeline_input } from "std/runtime"
struct Held { ${word}: int }
fn read_${word}(d) { return d["${word}"] }
let given = runtime_pipeline_input()
let kept = {"${word}": {polluted: 1}, list: [{"${word}": 2}], held: Held { ${word}: 3 }.${word}}
let names = set(["${word}"])
let got = host_tool_call("t", {"${word}": kept})
return {
  given: given, kept: kept, got: got, "${word}": 4, text: json_stringify(kept), keys: keys(kept), names: to_list(names),
  read: read_${word}(kept), global: a_global,
}`

test.each(ROWS)('a snapshot and a journal give %s back as it was', async (word) => {
  const seen: unknown[] = []
  let answer = (): void => {}
  const makeRuntime = (waits: boolean): ReturnType<typeof createRuntime> =>
    createRuntime({
      grants: ['*'],
      globals: ['a_global'],
      tools: [
        defineTool({
          name: 't',
          response: 'direct',
          execute: async (args) => {
            seen.push(args)
            if (waits) await new Promise<void>((resolve) => (answer = resolve))
            return hold(word)
          },
        }),
      ],
    })
  const runtime = makeRuntime(true)
  const module = runtime.compile(write(word), { strict: false })
  const journal = new MemoryJournal()
  const run = runtime.start(module, { input: hold(word), journal, globals: { a_global: word } })
  const bytes = await run.snapshot()
  answer()
  const result = await run.result
  expect(result).toMatchObject({ status: 'done' })
  const value = (result as unknown as { readonly value: { readonly [key: string]: Plain } }).value
  expect(Object.hasOwn(value, word)).toBe(true)
  expect(value['given']).toEqual(hold(word))
  expect(value['got']).toEqual(hold(word))
  expect(value).toMatchObject({ names: [word], global: word, keys: [word, 'held', 'list'].sort() })

  const resumed = await makeRuntime(false).resume(bytes).result
  expect(resumed).toEqual(result)
  for (const args of seen) expect(Object.hasOwn(args as object, word)).toBe(true)
  expect(seen).toHaveLength(2)

  const entries = journal.entries.map((entry) => decodeEntry(encodeEntry(entry)))
  expect(entries.map(encodeEntry)).toEqual(journal.entries.map(encodeEntry))
  const replayed = runtime.replay(module, entries)
  expect(replayed).toMatchObject({ end: { kind: 'done' } })
  const { value: again } = (replayed as unknown as { readonly end: { readonly value: Value } }).end
  expect(encodePlain(toPlain(again))).toBe(encodePlain(value))
})

test.each(ROWS)('an entry of a journal in which %s stands for a kind is refused', (word) => {
  const refused = [
    { type: word },
    { type: 'outcome', id: 1, outcome: { ok: false, error: { kind: word, message: 'm' } } },
    { type: 'outcome', id: 1, outcome: { ok: word } },
    { type: 'run', format: word, runId: 'r', program: 'p', label: 'l' },
    { [word]: { type: 'end', kind: 'done' } },
  ]
  for (const entry of refused) expect(() => decodeEntry(JSON.stringify(entry))).toThrow(JournalFormatError)
})

test.each(ROWS)('limits of a journal have no field %s', (word) => {
  const entry = decodeEntry(JSON.stringify({ type: 'start', now: 0, input: null, limits: { [word]: 5, fuel: 7 } }))
  const { limits } = entry as { readonly limits?: object }
  expect(limits).toMatchObject({ fuel: 7 })
  expect(Object.hasOwn(limits!, word)).toBe(false)
})

test.each(ROWS)('a replay does not follow an effect of the kind %s', async (word) => {
  const runtime = createRuntime({
    grants: ['*'],
    providers: [{ kinds: ['process.info'], perform: () => ({ ok: true, value: '/' }) }],
  })
  const module = runtime.compile('return cwd()', { strict: false })
  const journal = new MemoryJournal()
  expect(await runtime.start(module, { journal }).result).toMatchObject({ status: 'done' })
  const entries = journal.entries.map((entry) => (entry.type === 'effect' ? { ...entry, kind: word } : entry))
  expect(entries).not.toEqual(journal.entries)
  expect(runtime.replay(module, entries)).toMatchObject({ kind: 'diverged' })
})
