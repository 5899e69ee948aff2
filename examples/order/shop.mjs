// A shop whose orders are durable runs: `node examples/order/shop.mjs STORE [PORT] [--fast]`. See README.md.
//
// In a program of your own the imports are `@bridle/stdlib-tools` and `@bridle/stdlib-tools/node`.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { DurableWorker, VirtualClock, createRuntime, defineTool, pending } from '../../packages/stdlib-tools/dist/index.js'
import { hashHex, openDurableStore } from '../../packages/stdlib-tools/dist/node/index.js'

const MAX_BODY_BYTES = 64 << 10
const PRICES = new Map([
  ['tea', 350],
  ['coffee', 520],
])

/** In a real shop these ask the warehouse, the bank and the carrier. The key is the same for all attempts of one call. */
const tools = [
  defineTool({
    name: 'shop.reserve',
    recovery: 'idempotent',
    input: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
    execute(input) {
      const { article } = /** @type {{ article: string }} */ (input)
      const cents = PRICES.get(article)
      if (cents === undefined) throw new Error(`there is no ${article}`)
      return { cents }
    },
  }),
  // Whoever answers POST /orders/ID/approval decides.
  defineTool({ name: 'shop.approve', recovery: 'idempotent', execute: () => pending('approval') }),
  defineTool({
    name: 'shop.charge',
    recovery: 'once',
    execute: (_, { idempotencyKey }) => ({ id: `receipt ${idempotencyKey}` }),
  }),
  defineTool({
    name: 'shop.ship',
    recovery: 'idempotent',
    execute: (_, { idempotencyKey }) => ({ id: `parcel ${idempotencyKey}` }),
  }),
]

const [storeFile, port = '8080', speed] = process.argv.slice(2)
if (storeFile === undefined) {
  process.stderr.write('usage: node examples/order/shop.mjs STORE [PORT] [--fast]\n')
  process.exit(2)
}
// A file, or a Restate server: restate+http://127.0.0.1:8080.
const restate = storeFile.startsWith('restate+') ? await import('../../packages/stdlib-tools/dist/restate/index.js') : null
const place = restate?.parseRestateUrl(storeFile) ?? null
const store = restate === null || place === null ? await openDurableStore(storeFile) : new restate.RestateStore(place)
const runtime = createRuntime({ tools, hashHex })
const worker = new DurableWorker({
  store,
  runtime,
  ...(speed === '--fast' ? { clock: new VirtualClock(Date.now()) } : {}),
  onError: (cause) => process.stderr.write(`${String(cause)}\n`),
  onStuck: (id, reason) => process.stderr.write(`${id} is stuck: ${reason}\n`),
})
const script = readFileSync(new URL('order.harn', import.meta.url), 'utf8')
const order = runtime.compile(script, { file: 'order.harn' })

/** @typedef {{ status: number, document: object }} Answer */

/** @param {string} id @returns {Promise<Answer>} */
async function show(id) {
  const row = await store.get(id)
  if (row === null) return { status: 404, document: { error: `there is no order ${id}` } }
  const ended = row.result === null ? null : JSON.parse(row.result)
  return {
    status: 200,
    document: { id, state: row.state, waits_for: row.waitsFor, wakes_at: row.wakeAt, value: ended?.value, error: ended?.error },
  }
}

/** @param {string} method @param {string} path @param {string} body @returns {Promise<Answer>} */
async function answer(method, path, body) {
  const [, id, what] = /^\/orders\/([\w-]+)(\/approval)?$/.exec(path) ?? []
  if (id === undefined) return { status: 404, document: { error: 'there are /orders/ID and /orders/ID/approval' } }
  if (method === 'GET' && what === undefined) return show(id)
  if (method !== 'POST') return { status: 405, document: { error: `${method} is not for ${path}` } }
  /** @type {unknown} */
  let given
  try {
    given = JSON.parse(body)
  } catch {
    return { status: 400, document: { error: 'the body is not JSON' } }
  }
  if (what === undefined) {
    const { article } = /** @type {{ article?: unknown }} */ (given ?? {})
    if (typeof article !== 'string') return { status: 400, document: { error: 'article must be a text' } }
    // Kept when it resolves. The same order sent twice is one order.
    const { isNew } = await worker.submit(order, { runId: id, input: { article } })
    return { status: isNew ? 201 : 200, document: { id } }
  }
  const { approved, by } = /** @type {{ approved?: unknown, by?: unknown }} */ (given ?? {})
  if (typeof approved !== 'boolean' || typeof by !== 'string')
    return { status: 400, document: { error: 'approved must be true or false, and by a name' } }
  const outcome = await worker.signal(id, 'approval', { ok: { approved, by } })
  return { status: outcome === 'kept' ? 200 : 409, document: { id, outcome } }
}

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
    if (body.length > MAX_BODY_BYTES) request.destroy()
  })
  request.on('end', () => {
    void answer(request.method ?? 'GET', request.url ?? '/', body)
      .catch((/** @type {unknown} */ cause) => ({ status: 503, document: { error: String(cause) } }))
      .then(({ status, document }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(`${JSON.stringify(document)}\n`)
      })
  })
})
// Restate calls an endpoint of ours when an order can continue; with a file this process polls for such orders itself.
const endpoint =
  restate === null || place === null
    ? null
    : await restate.startRestateWorker({ runtime, admin: place.admin, port: Number(process.env['WORKER_PORT'] ?? 9080) })
if (endpoint === null) worker.start()
server.listen(Number(port), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.stdout.write(`the shop is open: http://127.0.0.1:${address.port}\n`)
})

/** Every order stays where it is in the store. */
async function close() {
  server.close()
  await worker.stop()
  await endpoint?.close()
  await store.close()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close())
