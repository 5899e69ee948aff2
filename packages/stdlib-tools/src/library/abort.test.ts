import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { defineTool } from '../tools/host-tools/define.js'
import { listenForAbort } from './abort.js'

const warnings: string[] = []
const keep = (warning: Error): void => void warnings.push(warning.message)
beforeEach(() => {
  warnings.length = 0
  process.on('warning', keep)
})
afterEach(() => void process.off('warning', keep))

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('listeners are called once, in order, and not after they stopped', () => {
  const controller = new AbortController()
  const heard: number[] = []
  const stops = [0, 1, 2, 3].map((n) =>
    listenForAbort(controller.signal, () => {
      heard.push(n)
      if (n === 0) stops[3]!()
    }),
  )
  stops[1]!()
  controller.abort()
  listenForAbort(controller.signal, () => void heard.push(9))
  expect(heard).toEqual([0, 2, 9])
})

test('without a signal nothing happens', () => {
  expect(() => listenForAbort(undefined, () => expect.fail('never'))()).not.toThrow()
})

test('one signal for many: calls, batches, and runs give no warning of a leak', async () => {
  let open = (_value: number): void => {}
  const promise = new Promise<number>((resolve) => (open = resolve))
  const wait = defineTool({ name: 'shop.wait', input: z.object({}), execute: () => promise })
  const { signal } = new AbortController()
  const registry = createRegistry([wait])
  const calls = Array.from({ length: 20 }, () => registry.call('shop.wait', {}, { signal, timeoutMs: 10_000 }))
  const batches = Array.from({ length: 20 }, () => registry.batch([{ tool: 'shop.wait' }], { signal }))
  const runtime = createRuntime({ tools: [wait] })
  const module = runtime.compile('import { wait } from "host/shop"\npipeline main() { return wait({}) }')
  const runs = Array.from({ length: 20 }, () => runtime.start(module, { signal }).result)
  await nextTurn()
  open(7)
  await Promise.all([...calls, ...batches, ...runs])
  await nextTurn()
  expect(warnings).toEqual([])
})
