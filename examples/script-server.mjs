// An HTTP server that runs scripts which it did not write: a model's, a customer's. POST /run {script, input} answers with how the
// run ended. A script has the powers that are listed here, within limits, and no others; none of it needs a container.
// `node examples/script-server.mjs [PORT]`, then
//
//   curl -d '{"script": "import { find } from \"host/people\"\nreturn find({name: \"Ada\"})"}' localhost:8080/run
//
// In a program of your own the imports are `@bridle/stdlib-tools` and `@bridle/stdlib-tools/node`.

import { createServer } from 'node:http'
import { CompileError, createRuntime, defineTool } from '../packages/stdlib-tools/dist/index.js'
import { hashHex } from '../packages/stdlib-tools/dist/node/index.js'

const people = [
  { name: 'Ada', born: 1815 },
  { name: 'Grace', born: 1906 },
]

const find = defineTool({
  name: 'people.find',
  description: 'A person by name',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  sideEffect: 'read_only',
  execute: (input) => people.find((person) => person.name === /** @type {{ name: string }} */ (input).name) ?? null,
})

const runtime = createRuntime({
  tools: [find],
  // No providers and no grants: no files, no network, no processes, no clock but the run's own.
  grants: [],
  limits: { fuel: 5_000_000, heap: 32 << 20, output: 64 << 10 },
  hashHex,
})
const RUN_LIMIT_MS = 2_000
const MAX_BODY_BYTES = 256 << 10

/** @param {string} body */
async function answer(body) {
  /** @type {unknown} */
  let request
  try {
    request = JSON.parse(body)
  } catch {
    return { status: 400, document: { error: 'the body is not JSON' } }
  }
  const { script, input } = /** @type {{ script?: unknown, input?: unknown }} */ (request ?? {})
  if (typeof script !== 'string') return { status: 400, document: { error: 'script must be a text' } }
  let module
  try {
    module = runtime.compile(script, { file: 'request.harn' })
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause
    return { status: 422, document: { error: 'the script does not compile', findings: cause.render() } }
  }
  const result = await runtime.start(module, { input, signal: AbortSignal.timeout(RUN_LIMIT_MS) }).result
  const { status, output } = result
  switch (result.status) {
    case 'done':
      return { status: 200, document: { status, output, value: result.value } }
    case 'failed':
      return { status: 200, document: { status, output, error: result.error.message } }
    case 'limit':
      return { status: 200, document: { status, output, error: result.message } }
    default:
      return { status: 200, document: { status, output } }
  }
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  let size = 0
  request.on('data', (/** @type {Buffer} */ chunk) => {
    size += chunk.length
    if (size > MAX_BODY_BYTES) request.destroy()
    else chunks.push(chunk)
  })
  request.on('end', () => void respond(Buffer.concat(chunks).toString('utf8')))

  /** @param {string} body */
  async function respond(body) {
    const isRun = request.method === 'POST' && request.url === '/run'
    const { status, document } = isRun ? await answer(body) : { status: 404, document: { error: 'POST /run {script, input}' } }
    response.writeHead(status, { 'content-type': 'application/json' })
    // Exact large ints are bigints.
    response.end(`${JSON.stringify(document, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`)
  }
})

server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${address.port}/run`)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
