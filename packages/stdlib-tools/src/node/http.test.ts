import { effectOfData } from '../test-support/effect-of-data.js'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Effect, EffectOutcome, Plain } from '@bridle/vm'
import type { Provider } from '../tools/executors/provider.js'
import { makeEffectCall as call } from '../test-support/effect-call.js'
import { createRuntime } from '../host/runtime.js'
import { httpProvider } from './http.js'
import type { HttpOptions } from './http.js'
import { EgressBlocked, checkUrl, isPublic } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'
import { FileSandbox } from './sandbox.js'
import { Workspace } from './workspace.js'

let server: Server
let base: string
let folder: string
const providers: Provider[] = []

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-http-')))
  server = createServer((request, response) => respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  for (const provider of providers) await provider.close?.()
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

function respond(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    switch (request.url) {
      case '/echo':
        return void response
          .writeHead(201, { 'X-Twice': ['a', 'b'] })
          .end(`${request.method} ${Buffer.concat(chunks).toString()} ${request.headers['x-a'] ?? ''}`)
      case '/gzip':
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'))
      case '/redirect':
        return void response.writeHead(302, { location: '/echo' }).end()
      case '/inwards':
        return void response.writeHead(302, { location: 'http://127.0.0.1:1/secret' }).end()
      case '/hang':
        return
      case '/reset':
        return void request.socket.destroy()
      case '/big':
        return void response.end('x'.repeat(5000))
      default:
        return void response
          .writeHead(200)
          .end(`proxied ${request.url} ${request.headers['proxy-authorization'] ?? ''} ${request.headers.host}`)
    }
  })
}

const OPEN: NetworkPolicy = { denyPrivate: false }

function makeProvider(options: HttpOptions = { policy: OPEN }): Provider {
  const made = httpProvider(new Workspace({ root: folder, sandbox: new FileSandbox({ roots: [folder] }) }), options)
  providers.push(made)
  return made
}

const makeArgs = (url: string, more: { readonly [key: string]: Plain } = {}): Effect['args'] => ({
  method: 'GET',
  url,
  headers: {},
  body: null,
  saveTo: null,
  timeoutMs: null,
  connectTimeoutMs: null,
  readTimeoutMs: null,
  proxy: null,
  tls: null,
  decompress: true,
  ...more,
})
const send = async (
  made: Provider,
  url: string,
  more: { readonly [key: string]: Plain } = {},
  signal?: AbortSignal,
): Promise<EffectOutcome> => made.perform(effectOfData('http.request', makeArgs(url, more)), call(signal))
const readBody = (outcome: EffectOutcome): string =>
  outcome.ok ? new TextDecoder().decode((outcome.value as { readonly body: Uint8Array }).body) : outcome.error.message

describe('requests', () => {
  test('method, headers, body; repeated headers are joined', async () => {
    const outcome = await send(makeProvider(), `${base}/echo`, { method: 'POST', headers: { 'x-a': 'h' }, body: 'text' })
    expect(outcome).toMatchObject({ ok: true, value: { status: 201, headers: { 'x-twice': 'a, b' }, bytesWritten: 0 } })
    expect(readBody(outcome)).toBe('POST text h')
  })

  test('packed bodies are unpacked, or left alone', async () => {
    expect(readBody(await send(makeProvider(), `${base}/gzip`))).toBe('packed')
    expect(readBody(await send(makeProvider(), `${base}/gzip`, { decompress: false }))).not.toBe('packed')
  })

  test('redirects are answers', async () => {
    expect(await send(makeProvider(), `${base}/redirect`)).toMatchObject({
      value: { status: 302, headers: { location: '/echo' } },
    })
  })

  test('a redirect to an address that may not be reached is refused', async () => {
    const allowed = makeProvider({ policy: { allow: [base.replace('http://', '')] } })
    const runtime = createRuntime({ providers: [allowed], grants: ['http'] })
    const makeSource = (path: string): string =>
      `return try { http_get("${base}${path}").body } catch (e) { error_category(e) + ": " + to_string(e) }`
    expect(await runtime.run(makeSource('/redirect'))).toContain('GET')
    expect(await runtime.run(makeSource('/inwards'))).toMatch(/egress_blocked.*egress blocked: .*127\.0\.0\.1:1/)
  })

  test('a body into a file, within the sandbox', async () => {
    expect(await send(makeProvider(), `${base}/big`, { saveTo: 'out.txt' })).toMatchObject({
      ok: true,
      value: { bytesWritten: 5000 },
    })
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('x'.repeat(5000))
    expect(await send(makeProvider(), `${base}/big`, { saveTo: '../out.txt' })).toMatchObject({
      ok: false,
      error: { category: 'tool_rejected' },
    })
  })

  test('what the network refuses is a result', async () => {
    expect(await send(makeProvider(), `${base}/hang`, { timeoutMs: 50 })).toMatchObject({
      ok: true,
      value: { refused: true, code: 'ETIMEDOUT', detail: 'operation timed out' },
    })
    expect(await send(makeProvider(), `${base}/reset`)).toMatchObject({ ok: true, value: { refused: true } })
    expect(await send(makeProvider(), 'http://127.0.0.1:1/')).toMatchObject({
      ok: true,
      value: { refused: true, code: 'ECONNREFUSED', detail: 'Connection refused (os error 111)' },
    })
    expect(await send(makeProvider({ policy: OPEN, maxBodyBytes: 100 }), `${base}/big`)).toMatchObject({
      ok: true,
      value: { refused: true, code: 'EMSGSIZE' },
    })
  })

  test('cancelling', async () => {
    const abort = new AbortController()
    const outcome = send(makeProvider(), `${base}/hang`, {}, abort.signal)
    setImmediate(() => abort.abort())
    expect(await outcome).toMatchObject({ ok: false, error: { message: 'http: the run was cancelled' } })
  })

  test('plain HTTP through a proxy asks it for the whole URL', async () => {
    const proxy = { url: base, noProxy: 'direct.test', user: 'u', password: 'p' }
    expect(readBody(await send(makeProvider(), 'http://example.test/x?y=1', { proxy }))).toBe(
      'proxied http://example.test/x?y=1 Basic dTpw example.test',
    )
  })

  test('a body in pieces', async () => {
    const made = makeProvider()
    const performStream = async (op: string, more: { readonly [key: string]: Plain } = {}): Promise<EffectOutcome> =>
      made.perform(effectOfData('net.stream', { ...more, op, id: 's' }), call())
    expect(await performStream('http_open', makeArgs(`${base}/big`))).toMatchObject({ ok: true, value: { status: 200 } })
    let size = 0
    for (;;) {
      const outcome = await performStream('http_read', { maxBytes: 1000 })
      if (!outcome.ok || outcome.value === null) break
      expect((outcome.value as Uint8Array).length).toBeLessThanOrEqual(1000)
      size += (outcome.value as Uint8Array).length
    }
    expect(size).toBe(5000)
    expect(await performStream('http_close')).toEqual({ ok: true, value: null })
  })
})

describe('network policy', () => {
  const judgeUrl = (url: string, policy: NetworkPolicy = {}): string => {
    try {
      checkUrl(new URL(url), policy)
      return 'ok'
    } catch (cause) {
      return cause instanceof EgressBlocked ? cause.rule : String(cause)
    }
  }

  test.each<[string, NetworkPolicy, string]>([
    ['http://127.0.0.1/', {}, 'private_address'],
    ['http://[::1]/', {}, 'private_address'],
    ['http://[::ffff:10.0.0.1]/', {}, 'private_address'],
    ['http://[64:ff9b::a00:1]/', {}, 'private_address'],
    ['http://[fd00:ec2::254]/', {}, 'private_address'],
    ['http://169.254.169.254/latest', {}, 'private_address'],
    ['http://2130706433/', {}, 'private_address'],
    ['http://0x7f.1/', {}, 'private_address'],
    ['http://0177.0.0.1/', {}, 'private_address'],
    ['http://127.1/', {}, 'private_address'],
    ['http://[::ffff:7f00:1]/', {}, 'private_address'],
    // What stands before an @ is a user, and no host; the host is what counts.
    ['http://api.example.com@127.0.0.1/', { allow: ['*.example.com'] }, 'domain'],
    ['http://api.example.com:80@10.0.0.1/', {}, 'private_address'],
    ['http://127.0.0.1@example.com/', {}, 'ok'],
    // The host ends at the first of / ? # and backslash.
    ['http://evil.test?.example.com/', { allow: ['*.example.com'] }, 'domain'],
    ['http://evil.test#.example.com/', { allow: ['*.example.com'] }, 'domain'],
    ['http://evil.test\\.example.com/', { allow: ['*.example.com'] }, 'domain'],
    ['http://evil.test/.example.com/', { allow: ['*.example.com'] }, 'domain'],
    ['http://127.0.0.1./', {}, 'private_address'],
    ['http://API.Example.COM./', { allow: ['*.example.com'] }, 'ok'],
    ['http://metadata.google.internal/', {}, 'private_address'],
    ['http://example.com:22/', {}, 'port'],
    ['ftp://example.com/', {}, 'scheme'],
    ['https://example.com/', {}, 'ok'],
    ['https://93.184.216.34/', {}, 'ok'],
    ['https://[::ffff:93.184.216.34]/', {}, 'ok'],
    ['https://api.example.com/', { allow: ['*.example.com'] }, 'ok'],
    ['https://example.com/', { allow: ['*.example.com'] }, 'domain'],
    ['https://notexample.com/', { allow: ['*.example.com', 'example.com'] }, 'domain'],
    ['https://example.com/', { allow: ['example.com:8443'] }, 'domain'],
    ['https://bad.example.com/', { allow: ['*.example.com'], deny: ['bad.example.com'] }, 'domain'],
    ['http://127.0.0.1:8080/', { allow: ['127.0.0.1:8080'] }, 'ok'],
    ['http://10.1.2.3/', { allow: ['10.0.0.0/8'] }, 'ok'],
    ['http://127.0.0.1/', { denyPrivate: false }, 'ok'],
    ['http://[::127.0.0.1]/', {}, 'private_address'],
    ['https://a.test/', { allow: ['a.test'], alsoWithin: { deny: ['*.test', 'a.test'] } }, 'domain'],
    ['https://a.test/', { alsoWithin: { allow: [] } }, 'domain'],
    ['https://a.test/', { alsoWithin: { allow: ['a.test:443'] } }, 'ok'],
    // They only take away.
    ['http://127.0.0.1/', { alsoWithin: { allow: ['127.0.0.1'] } }, 'private_address'],
    ['http://127.0.0.1/', { denyPrivate: false, deny: ['127.0.0.0/8'] }, 'domain'],
  ])('%s under %j: %s', (url, policy, expected) => expect(judgeUrl(url, policy)).toBe(expected))

  test.each([
    '10.0.0.1',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    'fe80::1',
    'fc00::1',
    '::',
    '2002:a00:1::',
    '::127.0.0.1',
    '::a9fe:a9fe',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    'fec0::1',
    '4000::1',
  ])('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  test('a name that resolves to a private address is refused when connecting', async () => {
    expect(await send(makeProvider({}), 'http://localhost/')).toMatchObject({ ok: false, error: { category: 'egress_blocked' } })
    expect(await send(makeProvider({}), base)).toMatchObject({ ok: false, error: { category: 'egress_blocked' } })
  })
})
