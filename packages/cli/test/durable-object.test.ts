// The Durable Object of examples/durable-object on a storage in memory: its process ends at every write, and the alarm or the next request begins another.

import { expect, test } from 'vitest'
import { createRuntime, defineTool, encodeAnswer, pending } from '@bridle/stdlib-tools'
import { RunObject } from '../../../examples/durable-object/run-object.js'
import type { ObjectStorage } from '../../../examples/durable-object/run-object.js'

class MemoryStorage implements ObjectStorage {
  private rows: Map<string, unknown>
  alarmAt: number | null = null
  /** So many more transactions are kept. */
  left = Infinity

  constructor(rows = new Map<string, unknown>()) {
    this.rows = rows
  }

  async get<T>(key: string): Promise<T | undefined> {
    return structuredClone(this.rows.get(key)) as T | undefined
  }

  async list<T>({ prefix }: { readonly prefix: string }): Promise<Map<string, T>> {
    const found = [...this.rows].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1))
    return new Map(structuredClone(found) as [string, T][])
  }

  async put(entries: { readonly [key: string]: unknown }): Promise<void> {
    for (const [key, value] of Object.entries(entries)) this.rows.set(key, structuredClone(value))
  }

  async delete(keys: string[]): Promise<number> {
    return keys.filter((key) => this.rows.delete(key)).length
  }

  async setAlarm(atMs: number): Promise<void> {
    this.alarmAt = atMs
  }

  async transaction<T>(work: (storage: ObjectStorage) => Promise<T>): Promise<T> {
    if (this.left-- <= 0) throw new Error('the process is dead')
    const before = new Map(this.rows)
    try {
      return await work(this)
    } catch (cause) {
      this.rows = before
      throw cause
    }
  }

  async sync(): Promise<void> {}
}

const SOURCE = `import { step, approve } from "host/w"
var sum = 0
for i in range(0, 5) { sum = sum + step({n: i}).n }
sleep(2h)
let by = approve({})
return {sum: sum, by: by}`

function makeRuntime(made: number[]) {
  return createRuntime({
    tools: [
      defineTool({
        name: 'w.step',
        recovery: { verify: (_key, given) => (made.includes(given['n'] as number) ? { done: given } : 'not_done') },
        execute: async (given) => {
          made.push((given as { readonly n: number }).n)
          return given
        },
      }),
      defineTool({ name: 'w.approve', recovery: 'idempotent', execute: () => pending('approval') }),
    ],
  })
}

test('killed at every transaction: each call is made once, and the run ends', async () => {
  for (let at = 1; ; at++) {
    let now = 1_000_000
    const made: number[] = []
    const storage = new MemoryStorage()
    storage.left = at
    // Each process has a runtime and its own object.
    const open = (): RunObject => {
      const runtime = makeRuntime(made)
      return new RunObject(storage, { runtime, module: runtime.compile(SOURCE), now: () => now })
    }
    const settle = (object: RunObject): Promise<boolean> =>
      object.idle().then(
        () => true,
        () => false,
      )
    let object = open()
    await object.start({ runId: 'r' })
    let isAlive = await settle(object)
    const goOn = async (work: (one: RunObject) => Promise<unknown>): Promise<void> => {
      if (!isAlive) {
        storage.left = Infinity
        object = open()
        await object.start({ runId: 'r' })
        isAlive = await settle(object)
      }
      await work(object).catch(() => {})
      if (!(await settle(object))) {
        storage.left = Infinity
        object = open()
        await object.start({ runId: 'r' })
        await settle(object)
      }
    }
    await goOn(async () => {})
    expect(storage.alarmAt, `killed at ${at}`).not.toBeNull()
    now = storage.alarmAt!
    await goOn((one) => one.alarm())
    await goOn((one) => one.signal('approval', encodeAnswer({ ok: 'Ada' })))
    expect(await object.state(), `killed at ${at}`).toMatchObject({
      state: 'ended',
      ended: { status: 'done', value: { sum: 10, by: 'Ada' } },
    })
    expect(made, `killed at ${at}`).toEqual([0, 1, 2, 3, 4])
    expect(await object.signal('approval', encodeAnswer({ ok: 'late' }))).toBe('gone')
    if (storage.left > 0 && storage.left !== Infinity) break
  }
})
