// What the store says to a Restate server and makes of its answers; runs on a real server are in chaos/ (`npm run test:durable -- --on restate`).

import { expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { DurableWorker } from '../host/durable/worker.js'
import { RestateStore, parseRestateUrl } from './restate-store.js'

interface Asked {
  readonly path: string
  readonly body: unknown
}

function openStore(answer: (asked: Asked) => unknown): { readonly store: RestateStore; readonly asked: Asked[] } {
  const asked: Asked[] = []
  const send: typeof fetch = (url, init) => {
    const one = { path: new URL(String(url)).pathname, body: JSON.parse(String(init?.body ?? 'null')) as unknown }
    asked.push(one)
    const given = answer(one)
    if (given instanceof Response) return Promise.resolve(given)
    return Promise.resolve(new Response(given === undefined ? '' : JSON.stringify(given)))
  }
  return { store: new RestateStore({ ingress: 'http://restate.test/', admin: 'http://admin.test', fetch: send }), asked }
}

const parked = {
  state: 'parked',
  program: { hash: 'ab', label: 'order.harn' },
  startedAt: 5,
  wakeAt: 7,
  waitsFor: ['approval'],
  reason: null,
  result: null,
  sizeBytes: 100,
}

test('a run is submitted by its id, and its program goes along', async () => {
  const { store, asked } = openStore(() => ({ isNew: true }))
  const runtime = createRuntime()
  const worker = new DurableWorker({ store, runtime })
  expect(await worker.submit(runtime.compile('return 1', { file: 'a.harn' }), { runId: 'order 7/b' })).toEqual({
    runId: 'order 7/b',
    isNew: true,
  })
  expect(asked[0]?.path).toBe('/BridleRun/order%207%2Fb/submit')
  expect(asked[0]?.body).toMatchObject({ program: { label: 'a.harn' }, head: [expect.any(String), expect.any(String)] })
})

test('answers go to the inbox of the run; a cancelled one is an answer, too', async () => {
  const { store, asked } = openStore(({ body }) => ((body as { token: string }).token === 'late' ? 'known' : 'kept'))
  const worker = new DurableWorker({ store, runtime: createRuntime() })
  expect(await worker.signal('r', 'approval', { ok: { by: 'Ada' } })).toBe('kept')
  expect(await worker.signal('r', 'late', { ok: 1 })).toBe('known')
  expect(await store.cancel('r', 'no longer wanted')).toBe(true)
  expect(asked.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/BridleInbox/r/put'))
  expect(asked[2]?.body).toEqual({ token: 'bridle:cancel', line: 'no longer wanted' })
})

test('rows are those of other stores; pages come from the state of the server', async () => {
  const { store, asked } = openStore(({ path, body }) => {
    if (path.endsWith('/get')) return path.includes('/b/') ? { ...parked, state: 'ended', result: { status: 'done' } } : parked
    return {
      rows: String((body as { query: string }).query).includes("> ''") ? [{ service_key: 'a' }, { service_key: 'b' }] : [],
    }
  })
  expect(await store.get('a')).toMatchObject({ runId: 'a', state: 'parked', waitsFor: ['approval'], status: null })
  expect((await store.list({ most: 2, state: 'ended' })).map(({ runId, status }) => [runId, status])).toEqual([['b', 'done']])
  expect(asked.filter(({ path }) => path === '/query')).toHaveLength(2)
})

test('an id cannot leave the query', async () => {
  const { store, asked } = openStore(() => ({ rows: [] }))
  await store.list({ most: 1, after: "x' OR '1'='1" })
  expect((asked[0]!.body as { query: string }).query).toContain("service_key > 'x'' OR ''1''=''1'")
})

test('what the server does not do, and what it refuses, is an error that says so', async () => {
  const { store } = openStore(() => new Response('service not found', { status: 404 }))
  await expect(store.get('a')).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'Restate answered 404: service not found',
  })
  await expect(store.fork()).rejects.toThrow('fork is not available for runs on Restate')
  const away = new RestateStore({ ingress: 'http://restate.test', fetch: () => Promise.reject(new Error('refused')) })
  await expect(away.get('a')).rejects.toThrow('the Restate server cannot be reached at http://restate.test')
  await expect(away.list({ most: 1 })).rejects.toThrow('give the URL of the admin API')
})

test.each([
  ['restate+http://127.0.0.1:8080', { ingress: 'http://127.0.0.1:8080', admin: 'http://127.0.0.1:9070' }],
  [
    'restate+https://runs.example/?admin=https://admin.example',
    { ingress: 'https://runs.example', admin: 'https://admin.example' },
  ],
  ['runs.db', null],
  ['http://127.0.0.1:8080', null],
])('%s names a server or does not', (text, wanted) => {
  expect(parseRestateUrl(text)).toEqual(wanted)
})
