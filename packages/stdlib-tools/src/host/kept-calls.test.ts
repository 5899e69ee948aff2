// Calls of tools carry a hash of their arguments wherever they are recorded or observed, and an unobserved run costs the same.

import { expect, test } from 'vitest'
import { MemoryJournal } from './journal.js'
import { createRuntime } from './runtime.js'
import type { StartOptions } from './runtime-options.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Provider } from '../tools/executors/provider.js'

const HASH = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862'
const SOURCE = 'import { look } from "host/tools"\nlook({a: 1})\nlook({a: 1})\nreturn 1'
const tools = [defineTool({ name: 'look', execute: () => null })]

async function run(options: StartOptions, providers: readonly Provider[] = []): Promise<unknown> {
  const runtime = createRuntime({ tools, providers, enforceManifest: false })
  return (await runtime.start(runtime.compile(SOURCE), options).result).status
}

test('in a journal', async () => {
  const journal = new MemoryJournal()
  await run({ journal })
  const hashes = journal.entries.flatMap((entry) =>
    entry.type === 'effect' ? [(entry.args as { arg_hash: string }).arg_hash] : [],
  )
  expect(hashes).toEqual([HASH, HASH])
})

test('in events', async () => {
  const hashes: unknown[] = []
  await run({ onEvent: (event) => event.type === 'effect' && hashes.push((event.args as { arg_hash?: string }).arg_hash) })
  expect(hashes).toEqual([HASH, HASH])
})

test('for a provider that answers calls of tools itself', async () => {
  const hashes: unknown[] = []
  const own: Provider = {
    kinds: ['tool.call'],
    perform: ({ args }) => (hashes.push((args as { arg_hash?: string }).arg_hash), { ok: true, value: null }),
  }
  await run({}, [own])
  expect(hashes).toEqual([HASH, HASH])
})

test.each([100, 400, 700, 1000])('a limit of %i units of fuel ends a run that is watched where it ends another', async (fuel) => {
  const end = await run({ limits: { fuel } })
  expect(await run({ limits: { fuel }, onEvent: () => {} })).toBe(end)
})
