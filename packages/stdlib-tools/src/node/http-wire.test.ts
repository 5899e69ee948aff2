// What real servers do to a client: packed bodies, broken ones, redirects, proxies, slow and rude peers. Scripts make the requests.

import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provider } from '../tools/executors/provider.js'
import { createRuntime } from '../host/runtime.js'
import { unpackBody } from './content-encoding.js'
import { httpProvider } from './http.js'
import type { HttpOptions } from './http.js'
import { EgressBlocked, checkUrl, makeJudgingLookup } from './network-policy.js'
import type { NetworkPolicy } from './network-policy.js'
import { Workspace } from './workspace.js'

let server: Server
let other: Server
let base: string
let elsewhere: string
const providers: Provider[] = []
/** Paths that were asked for, in order, with their method and body. */
let seen: string[] = []
let attempts = 0

const listen = async (made: Server): Promise<string> => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`
}

beforeAll(async () => {
  server = createServer(gather)
  // Tunnels lead to the requested target.
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`)
    const [host, port] = request.url!.split(':')
    const behind = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      behind.pipe(socket)
      socket.pipe(behind)
    })
    behind.on('error', () => socket.destroy())
    socket.on('error', () => behind.destroy())
  })
  other = createServer(gather)
  base = await listen(server)
  elsewhere = await listen(other)
})

afterAll(async () => {
  for (const provider of providers) await provider.close?.()
  for (const each of [server, other]) {
    each.closeAllConnections()
    each.close()
  }
})

function gather(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => respond(request, response, Buffer.concat(chunks)))
}

const PACKED: { readonly [name: string]: readonly [encoding: string | string[], body: Buffer] } = {
  gzip: ['gzip', gzipSync('packed')],
  loud: ['GZIP', gzipSync('packed')],
  old: ['x-gzip', gzipSync('packed')],
  members: ['gzip', Buffer.concat([gzipSync('pack'), gzipSync('ed')])],
  deflate: ['deflate', deflateSync('packed')],
  bare: ['deflate', deflateRawSync('packed')],
  br: ['br', brotliCompressSync('packed')],
  // One block as it is, behind a header that says its size.
  zstd: ['zstd', Buffer.from('28b52ffd2006310000706163' + '6b6564', 'hex')],
  twice: ['gzip, br', brotliCompressSync(gzipSync('packed'))],
  lines: [['gzip', 'br'], brotliCompressSync(gzipSync('packed'))],
  nothing: ['identity', Buffer.from('packed')],
  unknown: ['snappy', Buffer.from('packed')],
  empty: ['gzip', Buffer.alloc(0)],
  wrong: ['gzip', Buffer.from('this is not gzip')],
  cut: ['gzip', gzipSync('packed'.repeat(100)).subarray(0, 20)],
  bomb: ['gzip', gzipSync(Buffer.alloc(4 << 20))],
  twofold: ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(4 << 20)))],
  // 30 bytes that ask for two gigabytes.
  asks: ['zstd', Buffer.from('28b52ffda0000000800b0000' + '61'.repeat(18), 'hex')],
}

function respond(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { pathname: path, searchParams: query } = new URL(request.url!, 'http://x')
  seen.push(`${request.method} ${path}${body.length > 0 ? ` ${body.toString('latin1')}` : ''}`)
  const packed = PACKED[path.slice(1)]
  if (packed !== undefined) return void response.setHeader('content-encoding', packed[0]).end(packed[1])
  switch (path) {
    case '/headers':
      return void response.end(JSON.stringify(request.headers))
    case '/to':
      return void response.writeHead(Number(query.get('status')), { location: query.get('to')! }).end('moved')
    case '/status':
      return void response.writeHead(Number(query.get('status')), { 'content-encoding': 'gzip' }).end()
    case '/busy':
      attempts++
      return void response
        .writeHead(attempts > 1 ? 200 : 503, { 'retry-after': query.get('after') ?? '0' })
        .end(`attempt ${attempts}`)
    case '/short':
      response.writeHead(200, { 'content-length': '100' }).write('only')
      return void setImmediate(() => request.socket.destroy())
    case '/chunks':
      request.socket.end(
        'HTTP/1.1 200 OK\r\nConnection: close\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX-T: v\r\n\r\n',
      )
      return
    case '/half-a-chunk':
      request.socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello')
      return
    case '/early':
      request.socket.end(
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate',
      )
      return
    case '/garbage':
      return void request.socket.end('this is no HTTP\r\n\r\n')
    case '/stalls':
      return void response.writeHead(200).write('begun')
    case '/many-headers':
      return void response.writeHead(200, { 'x-long': 'y'.repeat(50_000) }).end('fine')
    case '/bytes':
      return void response.end(Buffer.from([0xef, 0xbb, 0xbf, 0x68, 0xff, 0x21]))
    case '/no-json':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{oops')
    case '/repeated':
      return void response
        .writeHead(
          200,
          [
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
            ['link', '<x>'],
            ['Link', '<y>'],
          ].flat(),
        )
        .end()
    case '/large':
      return void response.end(Buffer.alloc(10 << 20, 'x'))
    case '/where':
      return void response.end(`${request.socket.remotePort}`)
    default:
      return void response.end(`reached ${path}`)
  }
}

/** An environment without a policy in it. */
const NO_VARIABLES: Provider = { kinds: ['process.info'], perform: () => ({ ok: true, value: null }) }
const OPEN: NetworkPolicy = { denyPrivate: false }

async function runScript(source: string, options: HttpOptions = { policy: OPEN }): Promise<unknown> {
  const provider = httpProvider(new Workspace({ root: '/' }), options)
  providers.push(provider)
  seen = []
  attempts = 0
  return createRuntime({ providers: [provider, NO_VARIABLES], grants: ['http', 'net', 'process.info', 'fs.read'] }).run(
    source.replaceAll('BASE', base).replaceAll('ELSEWHERE', elsewhere),
  )
}

/** The text of what a request gives, or of its error. */
const askExpression = async (expression: string, options?: HttpOptions): Promise<string> =>
  String(await runScript(`return try { to_string(${expression}) } catch (e) { "error: " + to_string(e) }`, options))

describe('packed bodies', () => {
  test.each(['gzip', 'loud', 'old', 'members', 'deflate', 'bare', 'br', 'zstd', 'twice', 'lines'])('%s', async (name) => {
    expect(await askExpression(`http_get("BASE/${name}").body`)).toBe('packed')
    // The headers describe a body that no longer exists.
    expect(await askExpression(`http_get("BASE/${name}").headers.has("content-encoding")`)).toBe('false')
    expect(await askExpression(`http_get("BASE/${name}").headers.has("content-length")`)).toBe('false')
  })

  test.each(['nothing', 'unknown'])('%s is left as it came', async (name) => {
    expect(await askExpression(`http_get("BASE/${name}").body`)).toBe('packed')
    expect(await askExpression(`http_get("BASE/${name}").headers.has("content-encoding")`)).toBe('true')
  })

  test('what is asked for, and that nothing is on request', async () => {
    expect(await askExpression('http_get("BASE/headers").body')).toContain('"accept-encoding":"zstd, gzip, deflate, br"')
    expect(await askExpression('http_get("BASE/headers", {decompress: false}).body')).not.toContain('accept-encoding')
    expect(await askExpression('http_get("BASE/headers", {headers: {"Accept-Encoding": "br"}}).body')).toContain(
      '"accept-encoding":"br"',
    )
    expect(await askExpression('http_get("BASE/gzip", {decompress: false}).headers["content-encoding"]')).toBe('gzip')
  })

  test.each([204, 304])('status %i has no body to unpack', async (status) => {
    expect(await askExpression(`http_get("BASE/status?status=${status}").status`)).toBe(String(status))
  })

  test('nor has an answer to HEAD, nor an empty one', async () => {
    expect(await askExpression('http_request("HEAD", "BASE/gzip").status')).toBe('200')
    expect(await askExpression('http_get("BASE/empty")')).toContain('body: , ')
  })

  test.each([
    ['wrong', 'error: http: failed to read response body: incorrect header check'],
    ['cut', 'error: http: failed to read response body: unexpected end of file'],
    ['bomb', 'error: http: failed to read response body: response body is larger than 1048576 bytes'],
    ['twofold', 'error: http: failed to read response body: response body is larger than 1048576 bytes'],
    ['asks', 'error: http: failed to read response body: content is too large'],
  ])('%s: %s', async (name, expected) => {
    expect(await askExpression(`http_get("BASE/${name}").body`, { policy: OPEN, maxBodyBytes: 1 << 20 })).toBe(expected)
  })

  test('in pieces', async () => {
    const source =
      'let s = http_stream_open("BASE/PATH")\nvar text = ""\nwhile true {\n  let piece = http_stream_read(s, 4)\n  if piece == nil { break }\n  text = text + bytes_to_string(piece) + "|"\n}\nreturn text'
    for (const path of ['gzip', 'br', 'zstd']) expect(await runScript(source.replace('PATH', path))).toBe('pack|ed|')
  })

  test('a body with an unknown encoding is passed on unchanged', () => {
    const body = {} as never
    expect(unpackBody(body, 'gzip, snappy', 1)).toBeNull()
    expect(unpackBody(body, undefined, 1)).toBeNull()
  })
})

describe('bodies', () => {
  test.each([
    ['/chunks', 'hello world'],
    ['/early', 'late'],
    ['/many-headers', 'fine'],
    ['/bytes', '\ufeffh\ufffd!'],
    ['/no-json', '{oops'],
    ['/short', 'error: http: failed to read response body: other side closed'],
    ['/half-a-chunk', 'error: http: failed to read response body: other side closed'],
  ])('%s: %s', async (path, expected) => expect(await askExpression(`http_get("BASE${path}").body`)).toBe(expected))

  test('10 MiB come whole, and no more than the host allows', async () => {
    expect(await askExpression('len(http_get("BASE/large").body)')).toBe(String(10 << 20))
    expect(await askExpression('http_get("BASE/large").body', { policy: OPEN, maxBodyBytes: (10 << 20) - 1 })).toMatch(
      /larger than \d+ bytes$/,
    )
  })

  test('headers that come twice are joined', async () => {
    expect(await askExpression('http_get("BASE/repeated").headers')).toMatch(/link: <x>, <y>, set-cookie: a=1, b=2/)
  })

  test('a peer that does not speak HTTP, and no peer', async () => {
    expect(await askExpression('http_get("BASE/garbage?token=secret")')).toMatch(
      /^error: http: request failed: error sending request for url \(http:\/\/127\.0\.0\.1:\d+\/garbage\?token=%5Bredacted%5D\): /,
    )
    expect(await askExpression('http_get("http://127.0.0.1:1/")')).toBe(
      'error: http: request failed: error sending request for url (http://127.0.0.1:1/): Connection refused (os error 111)',
    )
  })

  test('a file of certificates that is not there', async () => {
    expect(await askExpression('http_get("https://127.0.0.1:1/", {tls: {ca_bundle_path: "/none"}})')).toContain(
      'failed to read CA bundle /none: No such file or directory (os error 2)',
    )
  })

  test('a body that stalls ends with its time, whichever it is', async () => {
    for (const option of ['timeout_ms', 'total_timeout_ms', 'read_timeout_ms'])
      expect(await askExpression(`http_get("BASE/stalls", {${option}: 60})`)).toBe(
        'error: http: failed to read response body: operation timed out',
      )
  })

  test('a deadline of the script ends it too', async () => {
    expect(await runScript('return try { deadline 60 { http_get("BASE/stalls") } } catch (e) { e }')).toBe('Deadline exceeded')
  })

  test('bytes are sent as they are; credentials of the URL are a header', async () => {
    await runScript('http_post("BASE/x", bytes_from_hex("00ff"))\nreturn nil')
    expect(seen).toEqual(['POST /x \0\xff'])
    expect(
      await askExpression(`http_get("${'BASE'.replace('BASE', base).replace('://', '://u:p%40@')}/headers").body`),
    ).toContain(`"authorization":"Basic ${Buffer.from('u:p@').toString('base64')}"`)
  })

  test('one connection serves many requests', async () => {
    const ports = String(
      await runScript('return range(0, 6).map({ _ -> http_get("BASE/where").body }).to_list().join(" ")'),
    ).split(' ')
    expect(new Set(ports).size).toBeLessThan(3)
  })
})

describe('redirects', () => {
  test.each([
    [301, 'POST', 'GET /end'],
    [302, 'POST', 'GET /end'],
    [303, 'PUT', 'GET /end'],
    [303, 'HEAD', 'HEAD /end'],
    [307, 'POST', 'POST /end b'],
    [308, 'PUT', 'PUT /end b'],
    [301, 'PUT', 'PUT /end b'],
  ])('%i of %s becomes %s', async (status, method, last) => {
    const body = method === 'HEAD' ? '' : 'body: "b", '
    await askExpression(
      `http_request("${method}", "BASE/to?status=${status}&to=/end", {${body}headers: {"Content-Type": "a/b"}})`,
    )
    expect(seen.at(-1)).toBe(last)
  })

  test.each([
    ['end?a', 'reached /end'],
    ['../end', 'reached /end'],
    ['?status=200&to=', 'moved'],
    ['http://[', 'moved'],
  ])('location %s', async (to, expected) => {
    expect(await askExpression(`http_get("BASE/to?status=302&to=${encodeURIComponent(to)}").body`)).toBe(expected)
  })

  test('credentials stay with their origin', async () => {
    const headers = '{headers: {Authorization: "a", Cookie: "c", "X-Api-Key": "k", "Proxy-Authorization": "p", "X-Other": "o"}}'
    const kept = await askExpression(`http_get("BASE/to?status=302&to=/headers", ${headers}).body`)
    for (const name of ['authorization', 'cookie', 'x-api-key']) expect(kept).toContain(`"${name}"`)
    const left = await askExpression(`http_get("BASE/to?status=302&to=ELSEWHERE/headers", ${headers}).body`)
    expect(left).toContain('"x-other":"o"')
    for (const name of ['authorization', 'cookie', 'x-api-key']) expect(left).not.toContain(`"${name}"`)
  })

  test('redirect loops, and the redirect limit', async () => {
    const circle = encodeURIComponent('/to?status=302&to=')
    expect(await askExpression(`http_get("BASE/to?status=302&to=")`)).toMatch(
      /^error: http: request failed: error following redirect for url \(.*\): too many redirects$/,
    )
    expect(seen).toHaveLength(11)
    expect(await askExpression(`http_get("BASE/to?status=302&to=${circle}", {max_redirects: 1})`)).toContain('too many redirects')
    expect(await askExpression(`http_get("BASE/to?status=302&to=/end", {follow_redirects: false}).status`)).toBe('302')
  })

  test('out of HTTP, and to what is refused', async () => {
    expect(await askExpression('http_get("BASE/to?status=302&to=file:///etc/passwd")')).toMatch(/egress_blocked.*\(scheme\)$/)
    const policy = { privateHosts: [base.slice(7)] }
    expect(await askExpression('http_get("BASE/end").body', { policy })).toBe('reached /end')
    expect(await askExpression('http_get("BASE/to?status=302&to=ELSEWHERE/end")', { policy })).toMatch(
      /egress_blocked.*\(private_address\)$/,
    )
    expect(seen).toEqual(['GET /to'])
  })
})

describe('retries', () => {
  test.each(['0', 'Thu, 01 Jan 1970 00:00:01 GMT', 'soon', '-5'])('Retry-After: %s', async (after) => {
    const request = `http_get("BASE/busy?after=${encodeURIComponent(after)}", {retry: {max: 1, backoff_ms: 1}}).body`
    expect(await askExpression(request)).toBe('attempt 2')
  })

  test('of a method that may be repeated only', async () => {
    expect(await askExpression('http_post("BASE/busy", "x", {retry: {max: 1, backoff_ms: 1}}).status')).toBe('503')
    expect(
      await askExpression('http_post("BASE/busy", "x", {retry: {max: 1, backoff_ms: 1}, retry_methods: ["post"]}).status'),
    ).toBe('200')
  })
})

describe('proxies', () => {
  test('obey the rules of the network themselves', async () => {
    const target = '"http://93.184.216.34/x"'
    expect(await askExpression(`http_get(${target}, {proxy: "BASE"}).body`)).toBe('reached /x')
    for (const proxy of ['"BASE"', '{url: "http://localhost:1"}', '"http://2130706433:8080"'])
      expect(await askExpression(`http_get(${target}, {proxy: ${proxy}})`, { policy: {} })).toMatch(
        /egress_blocked.*\(private_address\)/,
      )
    expect(await askExpression(`http_get("https://93.184.216.34/", {proxy: "BASE"})`, { policy: {} })).toMatch(/egress_blocked/)
    expect(seen).toEqual([])
    expect(await askExpression(`http_get(${target}, {proxy: "nowhere"})`)).toContain("http: invalid proxy 'nowhere'")
  })

  test('and those of the script', async () => {
    const makeSource = (proxy: string): string =>
      `egress_policy({allow: ["93.184.216.34", "127.0.0.1:${base.split(':')[2]}"], default: "deny"})\nreturn try { http_get("http://93.184.216.34/x", {proxy: "${proxy}"}).body } catch (e) { e.reason }`
    expect(await runScript(makeSource('BASE'))).toBe('reached /x')
    expect(await runScript(makeSource('ELSEWHERE'))).toBe('no allow rule matched')
  })

  test('a host that goes around them', async () => {
    expect(await askExpression('http_get("BASE/end", {proxy: {url: "http://127.0.0.1:1", no_proxy: "127.0.0.1"}}).body')).toBe(
      'reached /end',
    )
  })

  test('HTTPS goes through a tunnel', async () => {
    const tls = elsewhere.replace('http:', 'https:')
    expect(await askExpression(`http_get("${tls}/", {proxy: "BASE", timeout_ms: 2000})`)).toContain('error sending request')
    expect(seen).toEqual([`CONNECT ${elsewhere.slice(7)}`])
  })
})

describe('names that are resolved again', () => {
  const makeAnswers = (...given: readonly string[][]) => {
    let at = 0
    return makeJudgingLookup((_host, _options, callback) =>
      callback(
        null,
        given[Math.min(at++, given.length - 1)]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    )
  }
  const resolveLookup = (lookup: ReturnType<typeof makeJudgingLookup>): Promise<unknown> =>
    new Promise((resolve) => lookup('rebound.test', {}, (error, address) => resolve(error ?? address)))

  test('to a public address first, then to a private one', async () => {
    const lookup = makeAnswers(['93.184.216.34'], ['127.0.0.1'])
    expect(await resolveLookup(lookup)).toBe('93.184.216.34')
    expect(await resolveLookup(lookup)).toBeInstanceOf(EgressBlocked)
  })

  test('to a private address among public ones', async () => {
    expect(await resolveLookup(makeAnswers(['93.184.216.34', '::ffff:10.0.0.1']))).toBeInstanceOf(EgressBlocked)
    expect(await resolveLookup(makeAnswers([]))).toBeInstanceOf(EgressBlocked)
  })
})

test.each<[string, NetworkPolicy, boolean]>([
  ['http://bücher.example/', { allow: ['bücher.example'] }, true],
  ['http://xn--bcher-kva.example/', { allow: ['*.example'] }, true],
  ['http://xn--bcher-kva.example/', { allow: ['BÜCHER.example.'] }, true],
  ['http://a.bücher.example/', { allow: ['*.bücher.example'] }, true],
  ['http://evil.test./', { deny: ['evil.test'] }, false],
  ['http://[::ffff:93.184.216.34]/', { deny: ['93.184.216.34'] }, false],
  ['http://[0:0::1]:81/', { privateHosts: ['[::1]:81'] }, true],
  ['http://[::1]:82/', { privateHosts: ['[::1]:81'] }, false],
  ['http://127.0.0.1/', { privateHosts: ['*'] }, false],
  ['http://10.0.0.1/', { privateHosts: ['localhost'] }, false],
])('%s under %j: %s', (url, policy, allowed) => {
  const checkVerdict = (): void => checkUrl(new URL(url), policy)
  if (allowed) expect(checkVerdict).not.toThrow()
  else expect(checkVerdict).toThrow(EgressBlocked)
})
