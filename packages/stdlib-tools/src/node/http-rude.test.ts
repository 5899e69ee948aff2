// Servers that do not keep to the protocol, never end or answer too much: each request ends, with an answer or the documented error.
// And how long a client waits that is told to come back later, on a clock that stands still until a wait begins.

import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClock } from '../library/time/host-clock.js'
import type { Provider } from '../tools/executors/provider.js'
import { createRuntime } from '../host/runtime.js'
import { httpProvider } from './http.js'
import { Workspace } from './workspace.js'

const OK = 'HTTP/1.1 200 OK\r\n'
const bomb = gzipSync(Buffer.alloc(8 << 20))

/** Writes the same chunk until the reader is gone. */
const withoutEnd =
  (begin: string, piece: string | Buffer) =>
  (socket: Socket): void => {
    const writeMore = (): void => {
      if (!socket.destroyed) socket.write(piece, () => setImmediate(writeMore))
    }
    socket.write(begin, writeMore)
  }

/** What a server sends, and what becomes of it: `status body`, or the error without what they all begin with. */
const SENT: Record<string, readonly [sent: string | ((socket: Socket) => void), outcome: string]> = {
  'HTTP/1.0 without a length': ['HTTP/1.0 200 OK\r\n\r\nold', '200 old'],
  'no length, and the end is the end': [`${OK}\r\nall`, '200 all'],
  'no reason': ['HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', '200 ok'],
  'more than the length': [`${OK}Content-Length: 2\r\n\r\nokMORE`, '200 ok'],
  'less than the length': [`${OK}Content-Length: 20\r\n\r\nok`, 'body: other side closed'],
  'hints first': ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', '200 ok'],
  'go on, which nobody asked': ['HTTP/1.1 100 Continue\r\n\r\n', 'request: bad response'],
  'another protocol': ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'request: bad upgrade'],
  'two lengths': [
    `${OK}Content-Length: 2\r\nContent-Length: 5\r\n\r\nokMORE`,
    'request: Response body length does not match content-length header',
  ],
  'a negative length': [
    `${OK}Content-Length: -2\r\n\r\nok`,
    'request: Response does not match the HTTP/1.1 protocol (Invalid character in Content-Length)',
  ],
  'a length beyond all numbers': [
    `${OK}Content-Length: 99999999999999999999999\r\n\r\nok`,
    'request: Response body length does not match content-length header',
  ],
  'a length, and chunks': [
    `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    'request: Response body length does not match content-length header',
  ],
  'chunks of no size': [
    `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`,
    'body: Response does not match the HTTP/1.1 protocol (Invalid character in chunk size)',
  ],
  'chunks beyond all numbers': [
    `${OK}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nhello`,
    'body: Response does not match the HTTP/1.1 protocol (Chunk size overflow)',
  ],
  'chunks that stop': [`${OK}Transfer-Encoding: chunked\r\n\r\n50\r\nhello`, 'body: other side closed'],
  'half a header': [`${OK}Content-Le`, 'request: other side closed'],
  nothing: ['', 'request: other side closed'],
  'a reset': [(socket) => void socket.resetAndDestroy(), 'request: Connection reset by peer (os error 104)'],
  'a status of letters': [
    'HTTP/1.1 abc OK\r\n\r\n',
    'request: Response does not match the HTTP/1.1 protocol (Invalid status code)',
  ],
  'a status that is none': [
    'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n',
    'request: Response does not match the HTTP/1.1 protocol (Invalid status code)',
  ],
  'a status of another kind': ['HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n', '999 '],
  'hints without end': [withoutEnd('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'request: operation timed out'],
  'headers that stall': [(socket) => void socket.write(OK), 'request: operation timed out'],
  'headers without end': [withoutEnd(OK, `X-A: ${'b'.repeat(9000)}\r\n`), 'request: Headers Overflow Error'],
  'a body without end': [withoutEnd(`${OK}\r\n`, Buffer.alloc(65536)), 'body: response body is larger than 1048576 bytes'],
  'a body that says it is larger than a disk': [
    withoutEnd(`${OK}Content-Length: 1099511627776\r\n\r\n`, Buffer.alloc(65536)),
    'body: response body is larger than 1048576 bytes',
  ],
  'a body that unpacks without end': [
    (socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    },
    'body: response body is larger than 1048576 bytes',
  ],
  'redirects without end': [
    'HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n',
    'following redirect: too many redirects',
  ],
}

let server: Server
let base: string
let sent: string | ((socket: Socket) => void) = ''

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {})
    let asked = ''
    socket.on('data', (data) => {
      asked += data.toString()
      if (!asked.endsWith('\r\n\r\n')) return
      asked = ''
      if (typeof sent === 'string') socket.end(sent)
      else sent(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

const NO_VARIABLES: Provider = { kinds: ['process.info'], perform: () => ({ ok: true, value: null }) }

test.each(Object.entries(SENT))('%s', async (_name, [bytes, outcome]) => {
  sent = bytes
  // Requests that must time out have a short limit; for others it only guards against a hang.
  const timeoutMs = outcome.endsWith('timed out') ? 100 : 20_000
  const provider = httpProvider(new Workspace({ root: '/' }), { policy: { denyPrivate: false }, maxBodyBytes: 1 << 20 })
  const runtime = createRuntime({ providers: [provider, NO_VARIABLES], grants: ['http', 'net', 'process.info'] })
  const source = `
try { let answer = http_get("${base}/x", {timeout_ms: ${timeoutMs}})
  return "\${answer.status} \${answer.body}"
} catch (e) { return e }`
  const text = String(await runtime.run(source))
    .replace(/^http: request failed: error sending request for url \(.*?\): /, 'request: ')
    .replace(/^http: request failed: error following redirect for url \(.*?\): /, 'following redirect: ')
    .replace(/^http: failed to read response body: /, 'body: ')
  expect(text).toBe(outcome)
  await provider.close?.()
})

describe('waiting before the next attempt', () => {
  const START = Date.UTC(2026, 0, 1)

  /** Milliseconds that a run lasts. */
  async function measureWait(source: string): Promise<number> {
    const clock = new VirtualClock(START)
    const runtime = createRuntime({ providers: [NO_VARIABLES], grants: ['http', 'process.info', 'clock'], clock })
    const result = await runtime.start(runtime.compile(source)).result
    expect(result.status === 'failed' ? result.error.message : result.output).toBe('ok\n')
    return clock.now() - START
  }
  const makeBusy = (after: string, status = 503): string =>
    `http_mock("*", "http://x/", {responses: [{status: ${status}, headers: {"Retry-After": "${after}"}}, {body: "ok"}]})`

  test.each([
    ['2', 2000],
    ['0.5', 500],
    ['0', 7],
    ['-5', 7],
    ['soon', 7],
    ['', 7],
    ['1e3', 7],
    ['0x10', 7],
    ['99999999999999999999999', 60_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
    ['Thu Jan  1 00:00:30 2026', 30_000],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:59:59 GMT', 7],
    ['Thu, 01 Foo 2026 00:00:30 GMT', 7],
    ['2026-01-01T00:00:30Z', 7],
  ])('Retry-After: %s', async (after, expected) => {
    for (const status of [429, 503])
      expect(
        await measureWait(`${makeBusy(after, status)}\nprintln(http_get("http://x/", {retry: {max: 1, backoff_ms: 7}}).body)`),
      ).toBe(expected)
  })

  test('only on 429 and 503, and only where it is respected', async () => {
    expect(
      await measureWait(`${makeBusy('9', 500)}\nprintln(http_get("http://x/", {retry: {max: 1, backoff_ms: 7}}).body)`),
    ).toBe(7)
    const options = '{retry: {max: 1, backoff_ms: 7}, respect_retry_after: false}'
    expect(await measureWait(`${makeBusy('9')}\nprintln(http_get("http://x/", ${options}).body)`)).toBe(7)
  })

  test('a date is one of the clock that the script sees', async () => {
    const mocked = `mock_time(${START + 20_000})\n${makeBusy('Thu, 01 Jan 2026 00:00:30 GMT')}`
    expect(await measureWait(`${mocked}\nprintln(http_get("http://x/", {retry: {max: 1, backoff_ms: 7}}).body)`)).toBe(10_000)
  })

  test('doubles from attempt to attempt, up to a minute each', async () => {
    const makeFailing = (count: number): string =>
      `http_mock("*", "http://x/", {responses: [${'{status: 500}, '.repeat(count)}{body: "ok"}]})`
    const get = (max: number, backoff: number): string =>
      `println(http_get("http://x/", {retry: {max: ${max}, backoff_ms: ${backoff}}}).body)`
    expect(await measureWait(`${makeFailing(5)}\n${get(5, 100)}`)).toBe(100 + 200 + 400 + 800 + 1600)
    expect(await measureWait(`${makeFailing(4)}\n${get(4, 20_000)}`)).toBe(20_000 + 40_000 + 60_000 + 60_000)
    expect(await measureWait(`${makeFailing(70)}\n${get(70, 1)}`)).toBe(2 ** 16 - 1 + 54 * 60_000)
    expect(await measureWait(`${makeFailing(1)}\n${get(1, 0)}`)).toBe(0)
    expect(await measureWait(`${makeFailing(1)}\n${get(1, -100)}`)).toBe(0)
  })
})
