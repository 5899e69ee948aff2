import { display, parseJson } from '@bridle/vm/families'
import type { Plain, Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { matchesRule } from './egress.js'
import { matchesPattern } from './state.js'
import { httpFamily } from './http.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const readJson = (text: string): Value => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

function setUp(
  network: (url: string, args: Readonly<Record<string, Plain>>) => Plain = () => ({
    refused: true,
    code: 'X',
    detail: 'no network',
  }),
) {
  const machine = makeFakeMachine(httpFamily)
  machine.perform = (effect) => ({
    ok: true,
    value:
      effect.kind === 'http.request'
        ? network(String(effect.args['url']), effect.args)
        : effect.kind === 'fs.write'
          ? { path: 'x' }
          : null,
  })
  const call = (name: string, ...args: Value[]): string => display(callBuiltin(machine, name, ...args))
  return { machine, call, fault: (name: string, ...args: Value[]) => faultText(() => call(name, ...args)) }
}

const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text)

test('mocked requests and their record', () => {
  const { call } = setUp()
  call('http_mock', 'POST', 'https://x.test/a*', readJson('{"status":201,"body":"made","headers":{"X-Y":"1"}}'))
  expect(
    call(
      'http_post',
      'https://x.test/a',
      'text',
      readJson('{"headers":{"Authorization":"s3","X-A":"1"},"query":{"b":"c d","a":1,"token":"t","n":null}}'),
    ),
  ).toBe('{body: made, headers: {X-Y: 1}, ok: true, status: 201}')
  expect(call('http_mock_calls')).toBe(
    '[{body: text, headers: {authorization: [redacted], x-a: 1}, method: POST, url: https://x.test/a?a=1&b=c+d&token=%5Bredacted%5D}]',
  )
  expect(call('http_mock_calls', readJson('{"include_sensitive":true}'))).toContain('authorization: s3')
  call('http_mock_clear')
  expect(call('http_mock_calls')).toBe('[]')
})

test('a dict alone is options, responses come in order', () => {
  const { call } = setUp()
  call('http_mock', '*', 'http://x/', readJson('{"responses":[{"status":503},{"status":200,"body":"ok"}]}'))
  expect(call('http_get', 'http://x/', readJson('{"retry":{"max":2,"backoff_ms":1}}'))).toContain('status: 200')
  expect(call('http_post', 'http://x/', readJson('{"body":"b"}'))).toContain('status: 200')
  expect(call('http_mock_calls')).toBe(
    '[{body: nil, headers: {}, method: GET, url: http://x/}, {body: nil, headers: {}, method: GET, url: http://x/}, {body: b, headers: {}, method: POST, url: http://x/}]',
  )
  call('http_mock', '*', 'http://x/', readJson('{"status":500}'))
  expect(call('http_post', 'http://x/', 'b', readJson('{"retry":{"max":2,"backoff_ms":1}}'))).toContain('status: 500')
  expect(call('http_get', 'http://x/', readJson('{"retries":1,"backoff":1}'))).toContain('status: 500')
})

test.each<[target: string, isCarried: boolean]>([
  ['https://x.test/b', true],
  ['https://x.test:443/b', true],
  ['http://x.test/b', false],
  ['https://x.test:8443/b', false],
  ['https://y.test/b', false],
  ['https://x.test.evil.test/b', false],
  ['//y.test/b', false],
  ['/b', true],
])('a redirect to %s carries credentials: %s', (target, isCarried) => {
  const seen: unknown[] = []
  const { call } = setUp((url, args) => {
    seen.push((args['headers'] as { readonly [name: string]: string })['authorization'] ?? null)
    return url === 'https://x.test/a'
      ? { status: 302, headers: { location: target }, body: encodeText('') }
      : { status: 200, headers: {}, body: encodeText('') }
  })
  call('http_get', 'https://x.test/a', readJson('{"headers":{"authorization":"Bearer secret"}}'))
  expect(seen).toEqual(['Bearer secret', isCarried ? 'Bearer secret' : null])
})

test('every header that looks like a credential stays with its origin', () => {
  const credentials = [
    'Authorization',
    'PROXY-AUTHORIZATION',
    'Cookie',
    'X-Api-Key',
    'x-goog-api-key',
    'Private-Token',
    'X-Amz-Security-Token',
    'X-Hub-Signature-256',
    'X-Session-Id',
    'X-Vault-Secret',
    'X-Passwd',
  ]
  const seen: string[][] = []
  const { call } = setUp((url, args) => {
    seen.push(Object.keys(args['headers'] as object).map((name) => name.toLowerCase()))
    return url === 'https://x.test/a'
      ? { status: 307, headers: { location: 'https://y.test/b' }, body: encodeText('') }
      : { status: 200, headers: {}, body: encodeText('') }
  })
  const headers = Object.fromEntries([...credentials, 'X-Other', 'Accept', '__proto__'].map((name) => [name, 'v']))
  call('http_post', 'https://x.test/a', readJson(JSON.stringify({ headers })))
  const [first, second] = seen
  for (const name of credentials) expect(first).toContain(name.toLowerCase())
  expect(second).toEqual(expect.arrayContaining(['accept', 'x-other']))
  for (const name of credentials) expect(second).not.toContain(name.toLowerCase())
})

test('the network, redirects and failures', () => {
  const seen: string[] = []
  const { call, fault } = setUp((url, args) => {
    seen.push(`${String(args['method'])} ${url} ${Object.keys(args['headers'] as object).join()}`)
    if (url.endsWith('/from'))
      return { status: 302, headers: { location: 'https://other.test/to' }, body: encodeText(''), bytesWritten: 0 }
    if (url.endsWith('/loop')) return { status: 302, headers: { location: '/loop' }, body: encodeText(''), bytesWritten: 0 }
    if (url.endsWith('/down')) return { refused: true, code: 'ECONNREFUSED', detail: 'connection refused' }
    return { status: 200, headers: { a: 'b' }, body: encodeText('hé'), bytesWritten: 0 }
  })
  expect(call('http_post', 'https://x.test/from', 'body', readJson('{"auth":{"bearer":"t"},"headers":{"X-A":"1"}}'))).toBe(
    '{body: hé, headers: {a: b}, ok: true, status: 200}',
  )
  expect(seen).toEqual(['POST https://x.test/from X-A,Authorization', 'GET https://other.test/to X-A'])
  expect(fault('http_get', 'https://x.test/loop')).toBe(
    'http: request failed: error following redirect for url (https://x.test/loop): too many redirects',
  )
  expect(call('http_get', 'https://x.test/loop', readJson('{"follow_redirects":false}'))).toContain('status: 302')
  expect(fault('http_get', 'https://x.test/down')).toBe(
    'http: request failed: error sending request for url (https://x.test/down): connection refused',
  )
})

test('bad requests', () => {
  const { fault } = setUp()
  expect(fault('http_get')).toBe('http_get: URL is required')
  expect(fault('http_request')).toBe('http_request: method is required')
  expect(fault('http_get', 'ftp://x')).toBe("http: URL must start with http:// or https://, got 'ftp://x'")
  expect(fault('http_get', 'http://x/', readJson('{"headers":{"a b":"1"}}'))).toMatch(/^http: invalid header name 'a b': /)
  expect(fault('http_post', 'http://x/', 'b', readJson('{"multipart":[]}'))).toBe(
    'http: body and multipart options are mutually exclusive',
  )
  expect(fault('http_session_request', 'h', 'GET', 'http://x/')).toBe("http_session_request: unknown HTTP session 'h'")
})

test('multipart bodies', () => {
  const { call } = setUp()
  call('http_mock', 'POST', '*', readJson('{}'))
  call(
    'http_post',
    'http://x/',
    readJson(
      '{"multipart":[{"name":"a","value":"1"},{"name":"f","value_base64":"aGk=","filename":"h.txt","content_type":"text/plain"}]}',
    ),
  )
  expect(call('http_mock_calls')).toBe(
    '[{body: --harn-boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--harn-boundary\r\nContent-Disposition: form-data; name="f"; filename="h.txt"\r\nContent-Type: text/plain\r\n\r\nhi\r\n--harn-boundary--\r\n, ' +
      'headers: {content-type: multipart/form-data; boundary=harn-boundary}, method: POST, url: http://x/}]',
  )
})

test('sessions, downloads, streams', () => {
  const { call, machine, fault } = setUp()
  call('http_mock', 'GET', 'http://x/*', readJson('{"body":"abcdef"}'))
  const session = call('http_session', readJson('{"headers":{"A":"1","B":"1"}}'))
  expect(session).toBe('http-session-1')
  call('http_session_request', session, 'GET', 'http://x/s', readJson('{"headers":{"B":"2"}}'))
  expect(call('http_mock_calls')).toContain('headers: {b: 2}')
  expect([call('http_session_close', session), call('http_session_close', session)]).toEqual(['true', 'false'])
  expect(call('http_download', 'http://x/f', 'out.bin')).toBe('{bytes_written: 6, headers: {}, ok: true, status: 200}')
  expect(machine.effects.at(-1)).toEqual({ kind: 'fs.write', args: { op: 'write', path: 'out.bin', data: encodeText('abcdef') } })
  const stream = call('http_stream_open', 'http://x/f')
  expect(stream).toBe('http-stream-2')
  expect(call('http_stream_info', stream)).toBe('{headers: {}, ok: true, status: 200}')
  expect([call('http_stream_read', stream, 4), call('http_stream_read', stream), call('http_stream_read', stream)]).toEqual([
    'b"61626364"',
    'b"6566"',
    'nil',
  ])
  expect([call('http_stream_close', stream), call('http_stream_close', stream)]).toEqual(['true', 'false'])
  expect(fault('http_stream_info', stream)).toBe("http_stream_info: unknown stream 'http-stream-2'")
})

test('egress policy', () => {
  const { call, fault, machine } = setUp()
  call('http_mock', '*', '*', readJson('{"body":"ok"}'))
  expect(
    call('egress_policy', readJson('{"allow":["*.ok.test","10.0.0.0/8:8080"],"deny":["bad.ok.test"],"default":"deny"}')),
  ).toBe('{allow: [*.ok.test, 10.0.0.0/8:8080], configured: true, default: deny, deny: [bad.ok.test], source: stdlib}')
  expect(fault('egress_policy', readJson('{}'))).toBe('egress_policy: policy already configured from stdlib')
  expect(call('http_get', 'https://a.ok.test/')).toContain('ok: true')
  expect(call('http_get', 'http://10.1.2.3:8080/')).toContain('ok: true')
  expect(fault('http_get', 'https://bad.ok.test/?api_key=1')).toMatch(
    /^\{category: egress_blocked, host: bad\.ok\.test, message: .*, port: 443, reason: matched deny rule `bad\.ok\.test`, surface: http_request, type: EgressBlocked, url: https:\/\/bad\.ok\.test\/\?api_key=%5Bredacted%5D\}$/,
  )
  expect(fault('http_get', 'http://10.1.2.3/')).toContain('reason: no allow rule matched')
  expect(call('http_download', 'http://elsewhere.test/', 'f')).toContain('ok: true')
  expect(machine.effects.filter((effect) => effect.kind === 'process.info').length).toBe(3)
})

test('rules and patterns', () => {
  expect(matchesRule('::1', { host: '0:0:0:0:0:0:0:1', port: 80 })).toBe(true)
  expect(matchesRule('[fd00::/8]:443', { host: 'fd12::9', port: 443 })).toBe(true)
  expect(matchesRule('*.x.test', { host: 'x.test', port: 80 })).toBe(false)
  // An address is what it stands for, a name what URLs make of it.
  expect(matchesRule('10.0.0.0/8', { host: '::ffff:a00:1', port: 80 })).toBe(true)
  expect(matchesRule('10.0.0.1', { host: '::ffff:a00:1', port: 80 })).toBe(true)
  expect(matchesRule('::ffff:10.0.0.1', { host: '10.0.0.1', port: 80 })).toBe(true)
  expect(matchesRule('::/0', { host: '10.0.0.1', port: 80 })).toBe(false)
  expect(matchesRule('BÜCHER.example', { host: 'xn--bcher-kva.example', port: 80 })).toBe(true)
  expect(matchesRule('*.bücher.example.', { host: 'a.xn--bcher-kva.example', port: 80 })).toBe(true)
  expect(matchesRule('X.test:81', { host: 'x.test', port: 80 })).toBe(false)
  expect(matchesPattern('http://*/a*c', 'http://h/abcc')).toBe(true)
  expect(matchesPattern('a*b*b', 'ab')).toBe(false)
  expect(matchesPattern('a*', 'ba')).toBe(false)
})

test('an egress policy refuses what it cannot read, and names with Latin-1 letters every time', () => {
  const { call, fault, machine } = setUp(() => ({ status: 200, headers: {}, body: encodeText('out') }))
  const asked: string[] = []
  const { perform } = machine
  machine.perform = (effect, ...rest) => {
    if (effect.kind === 'http.request') asked.push(String(effect.args['url']))
    return perform(effect, ...rest)
  }
  call('egress_policy', readJson('{"allow":["ok.test"],"default":"deny"}'))
  for (let round = 0; round < 3_000; round++) fault('http_get', 'http://b\u00fccher.invalid/')
  fault('http_get', 'http://[::1')
  fault('http_get', 'http:///\\')
  expect(asked).toEqual([])
})
