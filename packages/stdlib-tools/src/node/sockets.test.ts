// WebSockets and server-sent events between scripts and real servers and clients on this machine: what arrives in which order,
// limits, refusals, timeouts, and what is closed when a run ends.

import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import WebSocket, { WebSocketServer } from 'ws'
import { createRuntime } from '../host/runtime.js'
import { nodeProviders } from './index.js'
import { WebSockets } from './websocket.js'

const open: { close: () => void }[] = []

afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

function run(source: string, policy: { readonly denyPrivate?: boolean } = { denyPrivate: false }): Promise<unknown> {
  const runtime = createRuntime({ providers: nodeProviders({ root: '/tmp', http: { policy } }), grants: ['*'] })
  return runtime.run(source)
}

function readPort(server: Server | WebSocketServer): number {
  return (server.address() as AddressInfo).port
}

async function startSocketServer(onSocket: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', onSocket)
  await new Promise((resolve) => server.once('listening', resolve))
  open.push({
    close: () => {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  })
  return `ws://127.0.0.1:${readPort(server)}/x`
}

async function startEventServer(pieces: readonly (string | Uint8Array | (() => Promise<void>))[]): Promise<string> {
  const answer = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces) {
      if (typeof piece === 'function') await piece()
      // Each piece is its own packet.
      else await new Promise<void>((resolve) => response.write(piece, () => setImmediate(resolve)))
    }
    response.end()
  }
  const server = createServer((_request, response) => void answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return `http://127.0.0.1:${readPort(server)}/events`
}

describe('a client', () => {
  test('text, binary, ping with its pong, close with code and reason; then nil', async () => {
    const pongs: string[] = []
    const url = await startSocketServer((socket) => {
      socket.on('pong', (data) => {
        pongs.push(String(data))
        socket.close(4001, 'enough')
      })
      socket.on('message', (data, isBinary) => {
        socket.send(data, { binary: isBinary })
        if (isBinary) socket.ping('are you there')
      })
    })
    expect(
      await run(`
        let s = websocket_connect("${url}", {headers: {"x-a": "1"}})
        websocket_send(s, "hé")
        let first = websocket_receive(s, 5000)
        websocket_send(s, bytes_from_hex("00ff"))
        let seen = [first, websocket_receive(s, 5000), websocket_receive(s, 5000), websocket_receive(s, 5000), websocket_receive(s, 5000)]
        return seen + [websocket_send(s, "late"), websocket_close(s), websocket_close(s)]`),
    ).toEqual([
      { type: 'text', data: 'hé' },
      { type: 'binary', data_base64: 'AP8=' },
      { type: 'ping', data_base64: Buffer.from('are you there').toString('base64') },
      { type: 'close', code: 4001, reason: 'enough' },
      null,
      false,
      true,
      false,
    ])
    expect(pongs).toEqual(['are you there'])
  })

  test('a receive that times out, or is abandoned at a deadline, loses nothing', async () => {
    const url = await startSocketServer((socket) => {
      socket.on('message', () => {
        socket.send('one')
        socket.send('two')
      })
    })
    expect(
      await run(`
        let s = websocket_connect("${url}")
        let none = websocket_receive(s, 1)
        let late = try { deadline 5ms { websocket_receive(s, 5000) } }
        websocket_send(s, "go")
        return [none, is_err(late), websocket_receive(s, 5000).data, websocket_receive(s, 5000).data]`),
    ).toEqual([{ type: 'timeout' }, true, 'one', 'two'])
  })

  test('a message that is too long ends the socket', async () => {
    const url = await startSocketServer((socket) => socket.send('x'.repeat(100)))
    expect(
      await run(`
        let s = websocket_connect("${url}", {max_message_bytes: 10})
        let long = try { websocket_receive(s, 5000) }
        return [unwrap_err(long), try { websocket_send(s, "12345678901") }.fields[0]]`),
    ).toEqual(['websocket_receive: message exceeded max_message_bytes (10)', false])
  })

  test('what cannot be reached, and what may not be', async () => {
    const closed = await startSocketServer(() => {})
    open.splice(0).forEach((each) => each.close())
    const plain = createServer((_request, response) => response.end('no socket here'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    open.push(plain)
    const runReason = (source: string, policy?: { denyPrivate?: boolean }): Promise<unknown> =>
      run(`try { websocket_connect("${source}") } catch (e) { return to_string(e) }`, policy)
    expect(await runReason(closed)).toBe('websocket_connect: failed: IO error: Connection refused (os error 111)')
    expect(await runReason(`ws://127.0.0.1:${readPort(plain)}/`)).toContain('websocket_connect: failed: HTTP error: 200')
    expect(await runReason(closed, {})).toContain('egress blocked')
    expect(await runReason('ws://localhost:9/', {})).toContain('egress blocked')
  })
})

describe('a server', () => {
  const makeServing = (body: string): string => `
    let server = websocket_server()
    websocket_route(server, "/a", {auth: {bearer: "k"}, max_message_bytes: 10})
    ${body}`

  test('takes clients from outside; paths and bearers are checked at the upgrade', async () => {
    // The script reports its address by connecting to a server of the test, as a client.
    const seen: unknown[] = []
    const told = await startSocketServer((socket) => {
      socket.on('message', (data) => {
        const url = String(data)
        const noteOutcome = (path: string, headers: { [name: string]: string }): void => {
          const client = new WebSocket(url + path, { headers })
          client.on('unexpected-response', (request, response) => {
            seen.push(response.statusCode)
            request.destroy()
          })
          client.on('error', () => {})
          client.on('open', () => client.send('hello'))
          client.on('message', (message) => {
            seen.push(String(message))
            client.close(1000, 'bye')
          })
        }
        noteOutcome('/b', {})
        noteOutcome('/a', {})
        noteOutcome('/a', { authorization: 'Bearer k', 'x-from': 'outside' })
      })
    })
    expect(
      await run(
        makeServing(`
          let out = websocket_connect("${told}")
          websocket_send(out, server.url)
          let s = websocket_accept(server, 5000)
          let got = websocket_receive(s, 5000)
          websocket_send(s, "back")
          return [s.path, s.headers["x-from"], got, websocket_receive(s, 5000), websocket_receive(s, 5000), websocket_accept(server, 1)]`),
      ),
    ).toEqual([
      '/a',
      'outside',
      { type: 'text', data: 'hello' },
      { type: 'close', code: 1000, reason: 'bye' },
      null,
      { type: 'timeout' },
    ])
    expect(new Set(seen)).toEqual(new Set([401, 404, 'back']))
  })

  test('a client of the same run; a send buffer of none; two servers on one port', async () => {
    expect(
      await run(
        makeServing(`
          websocket_route(server, "/none", {send_buffer_messages: 0})
          let c = websocket_connect(server.url + "/none")
          let s = websocket_accept(server, 5000)
          let full = try { websocket_send(s, "x") }
          let twice = try { websocket_server(server.addr) }
          return [unwrap_err(full), unwrap_err(twice).starts_with("websocket_server: bind failed: "), websocket_server_close(server)]`),
      ),
    ).toEqual(['websocket_send: send buffer full', true, true])
  })

  test.each(['127.evil.example', '127.0.0.1.evil.example', '0.0.0.0', '::', '::ffff:8.8.8.8', ''])(
    'a confined run does not serve at %s',
    async (host) => {
      const sockets = new WebSockets({})
      expect(await sockets.perform('ws_listen', { op: 'ws_listen', host, port: 0 }, new AbortController().signal)).toMatchObject({
        ok: true,
        value: { refused: true, code: 'EACCES' },
      })
      sockets.close()
    },
  )

  test('without a network it is reached within the run', async () => {
    const makeSource = makeServing(`
      let c = websocket_connect(server.url + "/a", {auth: {bearer: "k"}})
      let s = websocket_accept(server, 1000)
      websocket_send(c, "hi")
      return websocket_receive(s, 1000)`)
    expect(await createRuntime().run(makeSource)).toEqual({ type: 'text', data: 'hi' })
  })
})

describe('server-sent events', () => {
  test('events in pieces, characters too; comments are passed over; nil at the end', async () => {
    const [before, behind] = [Buffer.from('data: gr').values(), Buffer.from('üße\n\n').values()].map((bytes) =>
      Uint8Array.from(bytes),
    )
    const url = await startEventServer([
      ': hi\n\nid: 1\nevent: a\nda',
      'ta: x\ndata: y\n\nretry: 5\n',
      before!,
      behind!.subarray(0, 1),
      behind!.subarray(1),
    ])
    expect(
      await run(`
        let s = sse_connect("GET", "${url}")
        return [sse_receive(s), sse_receive(s), sse_receive(s), sse_receive(s), sse_receive(s), sse_close(s), sse_close(s)]`),
    ).toEqual([
      { type: 'open' },
      { type: 'event', event: 'a', data: 'x\ny', id: '1', retry_ms: null },
      { type: 'event', event: 'message', data: 'grüße', id: null, retry_ms: 5 },
      null,
      null,
      true,
      false,
    ])
  })

  test('a receive that times out leaves the event for the next', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const url = await startEventServer(['data: half', () => held, '\n\n'])
    const trigger = createServer((_request, response) => {
      release()
      response.end('ok')
    })
    await new Promise<void>((resolve) => trigger.listen(0, '127.0.0.1', resolve))
    open.push(trigger)
    expect(
      await run(`
        let s = sse_connect("GET", "${url}")
        let seen = [sse_receive(s).type, sse_receive(s, 20).type]
        http_get("http://127.0.0.1:${readPort(trigger)}/")
        return seen + [sse_receive(s, 5000).data]`),
    ).toEqual(['open', 'timeout', 'half'])
  })

  test('redirects are followed, as many as the script or else the host says', async () => {
    const url = await startEventServer(['data: there\n\n'])
    const server = createServer((_request, response) => void response.writeHead(302, { location: url }).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    open.push(server)
    const makeSource = (options: string): string => `
      let s = sse_connect("GET", "http://127.0.0.1:${readPort(server)}/", ${options})
      return try { [sse_receive(s).type, sse_receive(s).data] } catch (e) { e }`
    expect(await run(makeSource('{}'))).toEqual(['open', 'there'])
    const runtime = createRuntime({
      providers: nodeProviders({ root: '/tmp', http: { policy: { denyPrivate: false } } }),
      grants: ['*'],
      requestDefaults: { http: { maxRedirects: 0 } },
    })
    expect(await runtime.run(makeSource('{}'))).toBe('sse_receive: stream error: too many redirects')
    expect(await runtime.run(makeSource('{max_redirects: 1}'))).toEqual(['open', 'there'])
  })

  test('a redirect to another origin takes no credentials along', async () => {
    const seen: (string | undefined)[] = []
    const there = createServer((request, response) => {
      seen.push(request.headers.authorization, request.headers['x-api-key'] as string | undefined, request.headers.accept)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: there\n\n')
    })
    await new Promise<void>((resolve) => there.listen(0, '127.0.0.1', resolve))
    const here = createServer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${readPort(there)}/` }).end()
    })
    await new Promise<void>((resolve) => here.listen(0, '127.0.0.1', resolve))
    open.push(here, there)
    const headers = '{Authorization: "Bearer secret", "X-Api-Key": "secret"}'
    const source = `
      let s = sse_connect("GET", "http://127.0.0.1:${readPort(here)}/", {headers: ${headers}})
      return [sse_receive(s).type, sse_receive(s).data]`
    expect(await run(source)).toEqual(['open', 'there'])
    expect(seen).toEqual([undefined, undefined, 'text/event-stream'])
  })

  test('an event that never ends is refused at the limit', async () => {
    const url = await startEventServer([`data: ${'x'.repeat(100)}`, () => new Promise(() => {})])
    expect(
      await run(`
        let s = sse_connect("GET", "${url}", {max_message_bytes: 50})
        sse_receive(s)
        try { sse_receive(s, 5000) } catch (e) { return e }`),
    ).toBe('sse_receive: message exceeded max_message_bytes (50)')
  })
})

test('sockets and servers of a run end with it', async () => {
  const ended = new Promise<number>((resolve) => {
    void startSocketServer((socket) => socket.on('close', (code) => resolve(code))).then((url) =>
      run(`let s = websocket_connect("${url}")\nreturn websocket_server().addr`),
    )
  })
  expect(await ended).toBeGreaterThan(0)
})

describe('HARN_EGRESS_… of the starting process', () => {
  const narrow = (source: string): Promise<unknown> =>
    createRuntime({
      providers: nodeProviders({
        root: '/tmp',
        env: { HARN_EGRESS_DEFAULT: 'deny', HARN_EGRESS_ALLOW: 'allowed.test', OPENAI_API_KEY: 'k' },
        http: { policy: { denyPrivate: false } },
      }),
      grants: ['*'],
    }).run(source)

  test.each([
    ['a socket', (url: string) => `websocket_connect("${url}")`],
    ['events', (url: string) => `sse_receive(sse_connect("GET", "${url.replace('ws', 'http')}"), 5000)`],
    ['a request', (url: string) => `http_get("${url.replace('ws', 'http')}")`],
    ['a download', (url: string) => `http_download("${url.replace('ws', 'http')}", "bridle-none")`],
    [
      'a variable set before',
      (url: string) => `[__env_set("HARN_EGRESS_DEFAULT", "allow"), http_get("${url.replace('ws', 'http')}")]`,
    ],
  ])('holds for %s, and no script widens it', async (_, work) => {
    const asked: string[] = []
    const url = await startSocketServer(() => asked.push('socket'))
    const result = await narrow(`let f = { -> ${work(url)} }
      return try { f() } catch (e) { to_string(e) }`)
    expect(String(JSON.stringify(result))).toMatch(/egress blocked|EgressBlocked/)
    expect(asked).toEqual([])
  })
})

describe('unread messages and unaccepted connections', () => {
  const never = new AbortController().signal

  /** What the provider answered, as data. */
  async function performToValue(sockets: WebSockets, op: string, args: { readonly [name: string]: unknown }): Promise<never> {
    const outcome = await sockets.perform(op, args as never, never)
    if (outcome?.ok !== true) throw new Error(JSON.stringify(outcome))
    return outcome.value as never
  }

  test('messages: the socket is not read any further, and nothing is lost', async () => {
    const COUNT = 20_000
    let sent = 0
    const url = await startSocketServer((socket) => {
      const sendMore = (): void => {
        if (sent < COUNT) socket.send(`${sent++} ${'x'.repeat(4000)}`, sendMore)
      }
      sendMore()
    })
    const sockets = new WebSockets({ denyPrivate: false })
    open.push(sockets)
    const { key } = await performToValue(sockets, 'ws_connect', { url })
    // The server stops when the buffers between are full: a callback of \`send\` comes when the system has taken the bytes.
    for (let [before, still] = [-1, 0]; still < 200; still = sent === before ? still + 1 : 0) {
      before = sent
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sent).toBeLessThan(COUNT)
    for (let seq = 1; seq <= COUNT; seq++) {
      const message: { readonly seq: number; readonly data: string } = await performToValue(sockets, 'ws_receive', {
        key,
        after: seq - 1,
      })
      if (message.seq !== seq || !message.data.startsWith(`${seq - 1} `))
        throw new Error(`message ${seq}: ${message.data.slice(0, 20)}`)
    }
    expect(sent).toBe(COUNT)
  })

  test('connections: further ones are refused', async () => {
    const sockets = new WebSockets({ denyPrivate: false })
    open.push(sockets)
    const { key, address } = await performToValue(sockets, 'ws_listen', { host: '127.0.0.1', port: 0 })
    await performToValue(sockets, 'ws_route', { key, path: '/' })
    const connect = (): Promise<string> =>
      new Promise((resolve) => {
        const client = new WebSocket(`ws://${String(address)}/`)
        open.push({ close: () => client.terminate() })
        client.once('open', () => resolve('open'))
        client.once('error', (cause) => resolve(cause.message))
      })
    const first: string[] = []
    for (let at = 0; at < 128; at++) first.push(await connect())
    expect(new Set(first)).toEqual(new Set(['open']))
    expect(await connect()).toBe('Unexpected server response: 503')
    await performToValue(sockets, 'ws_accept', { key })
    expect(await connect()).toBe('open')
  })
})
