// Tools of databases over clients that the host brings: parameters stay parameters, failures have their codes, grants hold.

import { expect, test } from 'vitest'
import { createRuntime } from '../runtime.js'
import { createRegistry } from '../../tools/host-tools/registry.js'
import { postgresTools, redisTools } from './databases.js'

test('statements and their parameters reach the client as they are', async () => {
  const asked: unknown[] = []
  const client = {
    query: (sql: string, params: readonly unknown[]) => {
      asked.push([sql, params])
      return Promise.resolve({ rows: [{ n: 1 }], rowCount: 2 })
    },
  }
  const registry = createRegistry(postgresTools(client))
  const evil = "'; DROP TABLE teas; --"
  expect(await registry.call('postgres.query', { sql: 'SELECT $1', params: [evil] })).toEqual([{ n: 1 }])
  expect(await registry.call('postgres.execute', { sql: 'DELETE FROM teas' })).toBe(2)
  expect(asked).toEqual([
    ['SELECT $1', [evil]],
    ['DELETE FROM teas', []],
  ])
  expect(await registry.tryCall('postgres.query', { params: [] })).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
})

test.each([
  [{ code: 'ECONNREFUSED', message: 'refused' }, 'connection'],
  [{ code: '57P01', message: 'shut down' }, 'connection'],
  [{ code: '42601', message: 'syntax error at or near "x"' }, 'execution_failed'],
  ['odd', 'execution_failed'],
])('a failure such as %j has the code %s', async (cause, code) => {
  const registry = createRegistry(postgresTools({ query: () => Promise.reject(cause as unknown as Error) }))
  const message = typeof cause === 'string' ? cause : cause.message
  expect(await registry.tryCall('postgres.query', { sql: 'x' })).toMatchObject({ ok: false, error: { code, message } })
})

test('texts under keys, from a script', async () => {
  const kept = new Map<string, string>()
  const client = {
    get: (key: string) => Promise.resolve(kept.get(key) ?? null),
    set: (key: string, value: string) => Promise.resolve(kept.set(key, value)),
  }
  const source = `
import { get, set } from "host/redis"
return [get({key: "tea"}), set({key: "tea", value: "green"}), get({key: "tea"})]`
  expect(await createRuntime({ tools: redisTools(client) }).run(source)).toEqual([null, null, 'green'])
})
