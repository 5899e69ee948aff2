// Secrets that a host lends by name: where they go, and where they never show.

import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RunEvent } from '../host/events.js'
import { MemoryJournal, encodeEntry } from '../host/journal.js'
import { createRuntime } from '../host/runtime.js'
import { nodeProviders } from './providers.js'

const VALUE = 'sk-live-0123456789'
let servers: readonly Server[] = []
let [here, elsewhere] = ['', '']
let seen: { readonly host: string; readonly headers: string }[] = []

beforeAll(async () => {
  const open = async (): Promise<Server> => {
    const server: Server = createServer((request, response) => {
      seen.push({ host: request.headers.host ?? '', headers: JSON.stringify(request.headers) })
      if (request.url === '/away') response.writeHead(302, { location: `${elsewhere}/` }).end()
      else response.end(`you sent ${request.headers.authorization ?? request.headers['x-key'] ?? 'nothing'}`)
    })
    server.on('upgrade', (request, socket) => {
      seen.push({ host: request.headers.host ?? '', headers: JSON.stringify(request.headers) })
      socket.destroy()
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return server
  }
  servers = [await open(), await open()]
  ;[here, elsewhere] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as [string, string]
})
afterAll(() => servers.forEach((server) => server.close()))
beforeEach(() => (seen = []))

async function run(source: string, options: { toolGrants?: { [tool: string]: { [key: string]: string } } } = {}) {
  const journal = new MemoryJournal()
  const runtime = createRuntime({
    ...options,
    grants: ['*'],
    providers: () =>
      nodeProviders({ http: { policy: { denyPrivate: false } }, secrets: { KEY: { value: VALUE, origins: [here] } } }),
  })
  const events: RunEvent[] = []
  const onEvent = (event: RunEvent): void => void events.push(event)
  const program = runtime.compile(`println(try { ${source} } catch (e) { e?.message ?? e })`)
  const result = await runtime.start(program, { journal, onEvent }).result
  // Events for the host must be as clean as records of the run.
  expect(events).not.toEqual([])
  const written = [
    ...journal.entries.map((entry) => encodeEntry(entry)),
    JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ]
  return { output: result.output, journal: written.join('\n') }
}

test.each([
  ['{auth: {secret: "KEY"}}', `Bearer ${VALUE}`],
  ['{auth: {bearer: {secret: "KEY"}}}', `Bearer ${VALUE}`],
  ['{headers: {"X-Key": {secret: "KEY"}}}', VALUE],
  ['{auth: {basic: {user: "ada", password: {secret: "KEY"}}}}', `Basic ${btoa(`ada:${VALUE}`)}`],
  ['{auth: {basic: {user: "adam", password: {secret: "KEY"}}}}', `Basic ${btoa(`adam:${VALUE}`)}`],
  ['{auth: {basic: {user: "adams", password: {secret: "KEY"}}}}', `Basic ${btoa(`adams:${VALUE}`)}`],
  ['{headers: {Authorization: {secret: "KEY", prefix: "token "}}}', `token ${VALUE}`],
])('%s is sent, and what comes back names it only', async (options, sent) => {
  const { output, journal } = await run(`http_get("${here}/", ${options}).body`)
  expect(seen[0]!.headers).toContain(sent)
  expect(output).toContain('[secret KEY]')
  expect(output + journal).not.toContain(VALUE)
  expect(output + journal).not.toContain(sent.slice(-9))
})

const WAYS: readonly (readonly [string, (place: string) => string])[] = [
  ['a socket', (place) => `websocket_connect("${place.replace('http', 'ws')}/", {headers: {"X-Key": {secret: "KEY"}}})`],
  ['a bearer of a socket', (place) => `websocket_connect("${place.replace('http', 'ws')}/", {auth: {bearer: {secret: "KEY"}}})`],
  ['events', (place) => `sse_receive(sse_connect("GET", "${place}/", {headers: {"X-Key": {secret: "KEY"}}}), 1000)`],
  [
    'events, basic',
    (place) => `sse_receive(sse_connect("GET", "${place}/", {auth: {basic: {user: "a", password: {secret: "KEY"}}}}), 1000)`,
  ],
  [
    'a model service',
    (place) =>
      `llm_call("hi", nil, {provider: provider_register("mine", {base_url: "${place}", auth_style: "none", extra_headers: {"X-Key": {secret: "KEY"}}}) ? "mine" : "", model: "m"})`,
  ],
]

test.each(WAYS)('%s carries it to its origin and nowhere else', async (_name, way) => {
  const sent = await run(way(here))
  expect(seen.length).toBe(1)
  expect(seen[0]!.headers).toMatch(new RegExp(`${VALUE}|${btoa(`a:${VALUE}`)}`))
  expect(sent.output + sent.journal).not.toContain(VALUE)
  seen = []
  expect((await run(way(elsewhere))).output).toContain('did not bind the secret "KEY"')
  expect((await run(way(here), { toolGrants: { 'secret.use': { name: 'NONE' } } })).output).toContain('violates required "NONE"')
  expect(seen).toEqual([])
})

test('to another origin it is not sent, also along a redirect', async () => {
  const { output } = await run(`http_get("${elsewhere}/", {auth: {secret: "KEY"}})`)
  expect([output, seen]).toEqual([`Error [tool_rejected]: the host did not bind the secret "KEY" to ${elsewhere}\n`, []])
  expect((await run(`http_get("${here}/away", {auth: {secret: "KEY"}}).body`)).output).toBe('you sent nothing\n')
})

test('one that the host does not have, and one that grants leave out', async () => {
  expect((await run(`http_get("${here}/", {auth: {secret: "OTHER"}})`)).output).toBe(
    'Error [tool_rejected]: this host has no secret "OTHER"\n',
  )
  const { output } = await run(`http_get("${here}/", {auth: {secret: "KEY"}})`, {
    toolGrants: { 'secret.use': { name: 'NONE' } },
  })
  expect([output, seen]).toEqual([
    `policy violation for 'secret.use': argument 'name' value "KEY" violates required "NONE"\n`,
    [],
  ])
})

test('it is not a variable of the run', async () => {
  expect((await run('[env("KEY"), env_or("KEY", "none")]')).output).toBe('[nil, none]\n')
})

test('models are held to the network policy, and a script names no private address', async () => {
  const runtime = createRuntime({ grants: ['*'], providers: () => nodeProviders({}) })
  const ask = 'return try { llm_call("hi", nil, {provider: "mine", model: "m"}).text } catch (e) { e?.message ?? e }'
  expect(await runtime.run(`provider_register("mine", {base_url: "${here}"})\n${ask}`)).toContain('egress blocked')
  expect(
    await runtime.run('return try { llm_call("hi", nil, {provider: "ollama", model: "m"}).text } catch (e) { e?.message ?? e }'),
  ).toContain('egress blocked')
  expect(seen).toEqual([])
  const placed = createRuntime({ grants: ['*'], providers: () => nodeProviders({ env: { OLLAMA_HOST: here } }) })
  await placed.run('return try { llm_call("hi", nil, {provider: "ollama", model: "m"}).text } catch (e) { 1 }')
  expect(seen.length).toBe(1)
})
