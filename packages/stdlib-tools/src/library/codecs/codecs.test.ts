// Codecs, crypto, cookies, URLs, multipart, JSON: published vectors, round trips and the language's messages.

import { createHash } from 'node:crypto'
import {
  HarnBytes,
  HarnDict,
  HarnDuration,
  HarnFloat,
  HarnList,
  HarnPair,
  HarnRange,
  HarnSet,
  bytesFamily,
  display,
  encodeAsciiBase64,
  jsonFamily,
  parseJson,
  stringifyJson,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { describe, expect, test } from 'vitest'
import { codecsFamily } from './codecs.js'
import { cryptoFamily } from '../crypto/crypto.js'
import { dataFormatsFamily } from '../formats/data-formats.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const machine = makeFakeMachine(codecsFamily, cryptoFamily, bytesFamily, dataFormatsFamily, jsonFamily)
machine.perform = (effect) =>
  effect.kind === 'clock.now'
    ? { ok: true, value: 1_700_000_000_123 }
    : { ok: true, value: Uint8Array.from({ length: Number(effect.args['count']) }, (_, at) => at + 1) }

const call = (name: string, ...args: Value[]): Value => callBuiltin(machine, name, ...args)
const f = (name: string, ...args: Value[]): string => display(call(name, ...args))
const fault = (name: string, ...args: Value[]): string => faultText(() => f(name, ...args))
const d = (entries: Record<string, Value>): HarnDict => HarnDict.of(entries)
const list = (...items: Value[]): HarnList => new HarnList(items)
const bytes = (...items: number[]): HarnBytes => new HarnBytes(Uint8Array.from(items))

describe('codecs', () => {
  test.each<[string, string, Value[]]>([
    ['Zm9v', 'base64_encode', ['foo']],
    ['Zm8=', 'base64_encode', ['fo']],
    ['/w==', 'base64_encode', [bytes(255)]],
    ['YiJmZiI', 'base64url_encode', [bytes(255)]],
    ['foob', 'base64_decode', ['Zm9vYg==']],
    ['fo', 'base64url_decode', ['Zm8']],
    ['MZXW6YQ=', 'base32_encode', ['foob']],
    ['foob', 'base32_decode', ['MZXW6YQ=']],
    ['666f', 'hex_encode', ['fo']],
    ['fo', 'hex_decode', ['666F']],
    ['a%20b%2F%C3%A9~', 'url_encode', ['a b/é~']],
    ['a b/é%zz%', 'url_decode', ['a+b%2f%C3%A9%zz%']],
    ['00000000-0000-0000-0000-000000000000', 'uuid_nil', []],
    ['886313e1-3b8a-5372-9b90-0c9aee199e5d', 'uuid_v5', ['dns', 'python.org']],
    ['886313e1-3b8a-5372-9b90-0c9aee199e5d', 'uuid_parse', ['{886313E1-3b8a-5372-9b90-0c9aee199e5d}']],
    ['nil', 'uuid_parse', ['nope']],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test.each<[string, string, Value[]]>([
    ['Runtime error: base64 decode error: Invalid symbol 33, offset 0.', 'base64_decode', ['!!!!']],
    ['Runtime error: base64 decode error: Invalid padding', 'base64_decode', ['Zm8']],
    ['Runtime error: base64url decode error: Invalid padding', 'base64url_decode', ['Zm8=']],
    ['Runtime error: base32 decode error: ', 'base32_decode', ['1']],
    ['Runtime error: hex decode error: Odd number of digits', 'hex_decode', ['abc']],
    ["Runtime error: hex decode error: Invalid character 'z' at position 1", 'hex_decode', ['az']],
    ['Runtime error: uuid_v5: namespace must be a UUID or one of dns/url/oid/x500', 'uuid_v5', ['x', 'y']],
  ])('%s', (expected, name, args) => expect(fault(name, ...args)).toContain(expected))

  test('generated UUIDs carry version and variant', () => {
    expect(f('uuid')).toBe('01020304-0506-4708-890a-0b0c0d0e0f10')
    expect(f('uuid_v7')).toBe('018bcfe5-687b-7708-890a-0b0c0d0e0f10')
  })
})

describe('crypto', () => {
  test.each<[string, string, Value[]]>([
    ['23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7', 'sha224', ['abc']],
    ['ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 'sha256', ['abc']],
    ['53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23', 'sha512_256', ['abc']],
    ['900150983cd24fb0d6963f7d28e17f72', 'md5', ['abc']],
    ['3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532', 'sha3_256', ['abc']],
    ['6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85', 'blake3', [bytes(97, 98, 99)]],
    [
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
      'hmac_sha256',
      ['key', 'The quick brown fox jumps over the lazy dog'],
    ],
    [
      '97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=',
      'hmac_sha256_base64',
      ['key', 'The quick brown fox jumps over the lazy dog'],
    ],
    ['true', 'constant_time_eq', [1, '1']],
    ['false', 'constant_time_eq', ['a', 'ab']],
  ])('%s', (expected, name, args) => expect(f(name, ...args)).toBe(expected))

  test('a bytes value is hashed as its display by the older digests', () =>
    expect(f('sha256', bytes(1))).toBe(f('sha256', 'b"01"')))

  test.each([8190, 8191, 8192, 8193, 16383])('a pair of surrogates behind %i characters is hashed whole', (length) => {
    const text = `${'a'.repeat(length)}😀\ud800b${'é'.repeat(9000)}`
    expect(f('sha256', text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'))
  })

  test('Ed25519 and X25519', () => {
    // RFC 8032, 7.1, test 1 (empty message).
    const secret = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
    const open = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
    const signature = f('ed25519_sign', secret, '')
    expect(signature.slice(0, 16)).toBe('e5564300c360ac72')
    expect(f('ed25519_verify', open, '', signature)).toBe('true')
    expect(f('ed25519_verify', open, 'x', signature)).toBe('false')
    expect(f('ed25519_verify', 'zz', '', signature)).toBe('false')
    expect(f('ed25519_verify', open, '', '00')).toBe('false')
    const alice = call('x25519_keypair') as HarnDict
    const bob = d({
      private: '22'.repeat(32),
      public: f('x25519_agree', '22'.repeat(32), '0900000000000000000000000000000000000000000000000000000000000000'),
    })
    expect(f('x25519_agree', alice.get('private')!, bob.get('public')!)).toBe(
      f('x25519_agree', bob.get('private')!, alice.get('public')!),
    )
    expect(fault('ed25519_sign', 'ab', 'm')).toBe('ed25519_sign: private key must be 32 bytes')
    expect(fault('ed25519_sign', 'zz', 'm')).toContain('ed25519_sign: invalid hex private key: ')
    expect(fault('x25519_agree', 'ab', open)).toBe('x25519_agree: private must be 32 bytes')
    expect(fault('x25519_agree', secret, 'ab')).toBe('x25519_agree: public must be 32 bytes')
  })
})

describe('tokens', () => {
  const EC_PRIVATE = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
-----END PRIVATE KEY-----`
  const EC_PUBLIC = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----`

  test('ES256 round trip', () => {
    const token = f('jwt_sign', 'ES256', d({ sub: 'a', n: 1 }), EC_PRIVATE)
    expect(token.startsWith('eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJuIjoxLCJzdWIiOiJhIn0.')).toBe(true)
    expect(f('jwt_verify', 'ES256', token, EC_PUBLIC)).toBe('{claims: {n: 1, sub: a}, valid: true}')
    expect(fault('jwt_verify', 'ES256', `${token.slice(0, -2)}AA`, EC_PUBLIC)).toBe('jwt_verify: InvalidSignature')
  })

  test('HS256 is verified', () => {
    const token =
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c'
    expect(f('jwt_verify', 'HS256', token, 'your-256-bit-secret')).toBe(
      '{claims: {iat: 1516239022, name: John Doe, sub: 1234567890}, valid: true}',
    )
    expect(fault('jwt_verify', 'HS256', token, 'other')).toBe('jwt_verify: InvalidSignature')
  })

  test('messages', () => {
    expect(fault('jwt_sign', 'ES256')).toBe('Runtime error: jwt_sign: requires 3 arguments: alg, claims, private_key')
    expect(fault('jwt_sign', 'HS256', d({}), 'k')).toBe(
      'Runtime error: jwt_sign: unsupported algorithm `HS256`; expected ES256 or RS256',
    )
    expect(fault('jwt_sign', 'ES256', 1, 'k')).toBe('Runtime error: jwt_sign: claims must be a dict, got int')
    expect(fault('jwt_sign', 'ES256', d({}), 1)).toBe('Runtime error: jwt_sign: private_key must be a PEM string, got int')
    expect(fault('jwt_sign', 'ES256', d({}), 'k')).toContain('jwt_sign: invalid ES256 PEM private key: ')
    expect(fault('jwt_verify', 'X', 'a', 'b')).toBe("jwt_verify: unsupported algorithm 'X'")
    expect(fault('jwt_verify', 'HS256')).toBe('jwt_verify: expected (alg, token, key)')
  })

  test('signed URLs', () => {
    const url = f('signed_url', 'https://h.example/p?z=1#frag', d({ user: 'a b' }), 's', 100, d({ kid: 'k1' }))
    expect(url).toMatch(/^https:\/\/h\.example\/p\?exp=100&kid=k1&sig=[\w-]+&user=a%20b&z=1$/)
    const good = call('verify_signed_url', url, d({ k1: 's' }), 100) as HarnDict
    expect(display(good)).toBe(
      '{claims: {user: a b, z: 1}, expired: false, expires_at: 100, kid: k1, reason: ok, signature_valid: true, valid: true}',
    )
    const reason = (...args: Value[]): string => display((call('verify_signed_url', ...args) as HarnDict).get('reason')!)
    expect(reason(url, d({ k1: 's' }), 101)).toBe('expired')
    expect(reason(url, d({ k1: 's' }), 101, d({ skew_seconds: 1 }))).toBe('ok')
    expect(reason(url, d({ k2: 's' }), 1)).toBe('unknown_key')
    expect(reason(url, d({ k1: 't' }), 1)).toBe('bad_signature')
    expect(reason(`${url}&kid=x`, 's', 1)).toBe('duplicate_kid')
    expect(reason('/p?exp=1', 's', 1)).toBe('missing_signature')
    expect(reason('/p?sig=1', 's', 1)).toBe('missing_expiry')
    expect(reason('/p?sig=1&exp=x', 's', 1)).toBe('invalid_expiry')
    expect(reason(f('signed_url', '/a b', d({}), 's', 5), 's', 5)).toBe('ok')
    expect(fault('signed_url', '/p', 1, 's', 5)).toBe('Runtime error: signed_url: claims must be a dict, got int')
    expect(fault('signed_url', '/p', d({ sig: 1 }), 's', 5)).toBe(
      'Runtime error: signed_url: claims cannot contain reserved parameter `sig`',
    )
    expect(fault('signed_url', '/p')).toBe(
      'Runtime error: signed_url: requires 4 or 5 arguments: base, claims, secret, expires_at, options?',
    )
    expect(fault('verify_signed_url', '/p', 's', 'x')).toBe('Runtime error: verify_signed_url: now must be an int, got string')
  })
})

describe('cookies', () => {
  test('parsing', () => {
    expect(f('cookie_parse', 'a=1; b="x"; a=2; bad; =v; c=a\tb')).toBe(
      '{cookies: {a: 1, b: x}, duplicates: {a: [1, 2]}, ' +
        "invalid: [{reason: missing '=', segment: bad}, {reason: invalid name, segment: =v}, {reason: invalid value, segment: c=a\tb}], " +
        'pairs: [{name: a, value: 1}, {name: b, value: x}, {name: a, value: 2}]}',
    )
    expect(f('cookie_parse', d({ Cookie: 'a=1' }))).toContain('cookies: {a: 1}')
    expect(f('cookie_parse', null)).toBe('{cookies: {}, duplicates: {}, invalid: [], pairs: []}')
  })

  test('serializing', () => {
    const options = d({ 'Max-Age': 60, path: '/', http_only: true, Secure: true, sameSite: 'strict', domain: 'x.y' })
    expect(f('cookie_serialize', 'a', 'b', options)).toBe(
      'a=b; Path=/; Domain=x.y; Max-Age=60; HttpOnly; Secure; SameSite=Strict',
    )
    expect(f('cookie_delete', 'a')).toBe(
      'a=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax',
    )
    expect(fault('cookie_serialize', '', 'b')).toBe('Runtime error: cookie: cookie name is empty or contains invalid characters')
    expect(fault('cookie_serialize', 'a', 'b c')).toContain(
      'cookie value contains spaces, quotes, separators, or control characters; encode it first',
    )
    expect(fault('cookie_serialize', 'a', 'b', d({ same_site: 'none' }))).toContain('SameSite=None requires Secure')
    expect(fault('cookie_serialize', 'a', 'b', d({ same_site: 'x' }))).toContain('same_site must be one of Lax, Strict, or None')
    expect(fault('cookie_serialize', 'a', 'b', d({ path: 'a;b' }))).toContain('Path contains an invalid cookie attribute value')
  })

  test('signing and sessions', () => {
    const signed = f('cookie_sign', 'a.b', 'k')
    expect(f('cookie_verify', signed, 'k')).toBe('{error: nil, ok: true, value: a.b}')
    expect(f('cookie_verify', signed, 'x')).toBe('{error: invalid_signature, ok: false, value: nil}')
    expect(f('cookie_verify', 'abc', 'k')).toBe('{error: malformed, ok: false, value: nil}')
    const token = f('session_sign', d({ id: 7 }), 'k')
    expect(token.startsWith('v1.eyJpZCI6N30.')).toBe(true)
    expect(f('session_verify', token, 'k')).toBe('{error: nil, ok: true, payload: {id: 7}}')
    expect(f('session_verify', 'v2.a.b', 'k')).toBe('{error: malformed, ok: false, payload: nil}')
    expect(f('session_cookie', 's', d({ id: 7 }), 'k')).toBe(`s=${token}; Path=/; HttpOnly; Secure; SameSite=Lax`)
    expect(f('session_from_cookies', `s=${token}`, 's', 'k')).toContain('ok: true')
    expect(f('session_from_cookies', null, 's', 'k')).toBe('{error: missing_cookie, ok: false, payload: nil}')
  })

  test('round trip', () => {
    const set = list(
      'b=2; Path=/',
      'a=9; Max-Age=0',
      'c=3; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      'd=4; Expires=Thu, 01 Jan 2099 00:00:00 GMT',
    )
    expect(f('cookie_round_trip', 'z=1; a=1; c=1', set)).toBe('{cookie_header: b=2; d=4; z=1, cookies: {b: 2, d: 4, z: 1}}')
    expect(f('cookie_round_trip', list('b=2'))).toBe('{cookie_header: b=2, cookies: {b: 2}}')
  })
})

describe('URLs', () => {
  test('parsing', () => {
    expect(f('url_parse', 'HTTPS://u:p@Example.com:8443/a/../b?x=1#f')).toBe(
      '{fragment: f, host: example.com, password: p, path: /b, port: 8443, query: x=1, scheme: https, username: u}',
    )
    expect(f('url_parse', 'http://h:80')).toBe(
      '{fragment: nil, host: h, password: nil, path: /, port: nil, query: nil, scheme: http, username: nil}',
    )
    expect(fault('url_parse', 'nope')).toBe('url_parse: relative URL without a base')
  })

  test('building', () => {
    expect(
      f('url_build', d({ scheme: 'https', host: 'h', port: 8080, path: '/a b', query: 'x=1', fragment: 'f', username: 'u' })),
    ).toBe('https://u@h:8080/a%20b?x=1#f')
    expect(f('url_build', d({ scheme: 'http', host: 'h', port: 80 }))).toBe('http://h/')
    expect(fault('url_build', 1)).toBe('url_build: expected a dict of url parts')
    expect(fault('url_build', d({}))).toBe("url_build: 'scheme' is required")
  })

  test('queries', () => {
    expect(f('query_parse', '?a=1&b=x+y&a=%C3%A9')).toBe('[{key: a, value: 1}, {key: b, value: x y}, {key: a, value: é}]')
    expect(f('query_stringify', list(d({ key: 'a b', value: 1 }), d({ key: 'c', value: 'é&' })))).toBe('a+b=1&c=%C3%A9%26')
    expect(fault('query_stringify', 1)).toBe('query_stringify: expected a list of {key, value} dicts')
    expect(fault('query_stringify', list(1))).toBe('query_stringify: each item must be a {key, value} dict')
  })
})

describe('multipart', () => {
  const fields = list(
    d({ name: 'a', content: 'text' }),
    d({ name: 'f', filename: 'x.bin', content: bytes(1, 255), content_type: 'application/x' }),
  )

  test('round trip', () => {
    const form = call('multipart_form_data', fields, d({ boundary: 'B' })) as HarnDict
    expect(f('bytes_to_string_lossy', form.get('body')!)).toBe(
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\ntext\r\n' +
        '--B\r\nContent-Disposition: form-data; name="f"; filename="x.bin"\r\nContent-Type: application/x\r\n\r\n\u0001\uFFFD\r\n--B--\r\n',
    )
    const parsed = call('multipart_parse', form.get('body')!, form.get('content_type')!) as HarnDict
    expect(display(parsed.get('field_count')!)).toBe('2')
    const [first, second] = (parsed.get('fields') as HarnList).view() as HarnDict[]
    expect(display(first!)).toBe(
      '{bytes: b"74657874", content_type: nil, filename: nil, ' +
        'headers: {content-disposition: form-data; name="a"}, name: a, text: text}',
    )
    expect(display(second!.get('text')!)).toBe('nil')
    expect(f('multipart_field_text', first!)).toBe('text')
    expect(f('multipart_field_bytes', second!)).toBe('b"01ff"')
    expect(display((call('multipart_form_data', fields) as HarnDict).get('boundary')!)).toMatch(
      /^----harn-boundary-[0-9a-f]{16}$/,
    )
  })

  test.each<[string, Value[]]>([
    ['expected multipart/form-data content type, got text/plain', ['', 'text/plain']],
    ['content type is missing boundary', ['', 'multipart/form-data']],
    ['boundary must not be empty', ['', 'multipart/form-data; boundary=""']],
    ['boundary must be at most 70 bytes', ['', `multipart/form-data; boundary=${'x'.repeat(71)}`]],
    ['total body size 5 exceeds max_total_bytes 4', ['12345', 'multipart/form-data; boundary=B', d({ max_total_bytes: 4 })]],
    ['body does not start with multipart boundary', ['x', 'multipart/form-data; boundary=B']],
    ['malformed boundary delimiter line', ['--Bx', 'multipart/form-data; boundary=B']],
    ['part is missing header terminator', ['--B\r\nx', 'multipart/form-data; boundary=B']],
    ['part is missing following boundary', ['--B\r\nx: y\r\n\r\nz', 'multipart/form-data; boundary=B']],
    ['part is missing Content-Disposition header', ['--B\r\nx: y\r\n\r\nz\r\n--B--', 'multipart/form-data; boundary=B']],
    [
      'part Content-Disposition is missing name',
      ['--B\r\nContent-Disposition: form-data\r\n\r\nz\r\n--B--', 'multipart/form-data; boundary=B'],
    ],
    [
      'expected form-data disposition, got attachment',
      ['--B\r\nContent-Disposition: attachment\r\n\r\nz\r\n--B--', 'multipart/form-data; boundary=B'],
    ],
    ['unexpected bytes after closing boundary', ['--B--\r\nx', 'multipart/form-data; boundary=B']],
  ])('%s', (expected, args) => expect(fault('multipart_parse', ...args)).toBe(`Runtime error: multipart_parse: ${expected}`))

  test('writer messages', () => {
    expect(fault('multipart_form_data', 1)).toContain('multipart_form_data: fields must be a list, got int')
    expect(fault('multipart_form_data', list(d({ content: 'x' })))).toContain('field is missing name')
    expect(fault('multipart_form_data', list(d({ name: 'x' })))).toContain('field is missing content')
    expect(fault('multipart_form_data', list(d({ name: 'x\n', content: '' })))).toContain('field name must be single-line')
    expect(fault('multipart_form_data', list(d({ name: 'x', content: 1 })))).toContain('content must be bytes or string, got int')
  })
})

describe('JSON', () => {
  const read = (text: string): string => {
    const result = parseJson(text)
    return result.ok ? display(result.value) : result.message
  }

  test.each([
    ['{"b": [1, 2.5, "x\\u00e9\\ud83d\\ude00\\n", null, true], "a": {}}', '{a: {}, b: [1, 2.5, xé😀\n, nil, true]}'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', '9223372036854776000'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['1.0', '1.0'],
    ['1e2', '100.0'],
    ['-0', '-0.0'],
    [' [ ] ', '[]'],
    ['{"a":1,"a":2}', '{a: 2}'],
    ['', 'EOF while parsing a value at line 1 column 0'],
    ['x', 'expected value at line 1 column 1'],
    ['[1,]', 'trailing comma at line 1 column 4'],
    ['{"a":1,}', 'trailing comma at line 1 column 8'],
    ['[1 2]', 'expected `,` or `]` at line 1 column 4'],
    ['[1', 'EOF while parsing a list at line 1 column 2'],
    ['{', 'EOF while parsing an object at line 1 column 1'],
    ['{a:1}', 'key must be a string at line 1 column 2'],
    ['{"a" 1}', 'expected `:` at line 1 column 6'],
    ['{"a":1 "b"}', 'expected `,` or `}` at line 1 column 8'],
    ['1 x', 'trailing characters at line 1 column 3'],
    ['"abc', 'EOF while parsing a string at line 1 column 4'],
    ['"\\x"', 'invalid escape at line 1 column 3'],
    ['nul', 'EOF while parsing a value at line 1 column 3'],
    ['nulx', 'expected ident at line 1 column 4'],
    ['01', 'invalid number at line 1 column 2'],
    ['1e999', 'number out of range at line 1 column 5'],
    ['\n\n  x', 'expected value at line 3 column 3'],
  ])('reads %s', (text, expected) => expect(read(text)).toBe(expected))

  test.each<[string, Value]>([
    ['{"a":[1,0.5,1],"b":null}', d({ b: null, a: list(1, new HarnFloat(0.5), new HarnFloat(1)) })],
    ['"\\"\\\\\\n\\r\\t\\u001b/é"', '"\\\n\r\t\u001b/é'],
    ['[1,2]', new HarnSet([1, 2])],
    ['{"$bytes_b64":"AQ=="}', bytes(1)],
    ['"1 to 3"', new HarnRange(1, 3, false)],
    ['null', new HarnPair(1, 2)],
    ['null', new HarnDuration(5)],
    ['NaN', new HarnFloat(NaN)],
    ['-inf', new HarnFloat(-Infinity)],
    ['1000000000000000000000', new HarnFloat(1e21)],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['{}', d({})],
  ])('writes %s', (expected, value) => expect(stringifyJson(value)).toBe(expected))

  test('pretty and decimal forms', () => {
    expect(stringifyJson(d({ a: list(1, new HarnFloat(2)), b: d({}) }), { indent: 2, interchange: true })).toBe(
      '{\n  "a": [\n    1,\n    2.0\n  ],\n  "b": {}\n}',
    )
  })

  test('depth is unlimited', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const parsed = parseJson(deep)
    expect(parsed.ok && stringifyJson(parsed.value) === deep).toBe(true)
  })

  test('messages', () =>
    expect(fault('json_parse', '{')).toBe('JSON parse error: EOF while parsing an object at line 1 column 1'))

  test('extraction', () => {
    expect(f('json_extract', 'Sure:\n```json\n{"a": 1}\n```\n{"b": 2}')).toBe('{a: 1}')
    expect(f('json_extract', 'it is {"a": "}"} ok?', 'a')).toBe('}')
    expect(f('json_extract', 'list [1, [2]] end')).toBe('[1, [2]]')
    expect(f('json_extract', ' 5 ')).toBe('5')
    expect(fault('json_extract', 'no')).toBe('json_extract: failed to parse JSON: expected ident at line 1 column 2')
    expect(fault('json_extract', '{"a":1}', 'b')).toBe("json_extract: key 'b' not found")
    expect(fault('json_extract', '[1]', 'b')).toBe('json_extract: parsed value is not a dict, cannot extract key')
  })

  test('pointers', () => {
    const value = d({ a: list(1, d({ 'x/y': 2, 'm~n': 3 })) })
    expect(f('json_pointer', value, '')).toBe(display(value))
    expect(f('json_pointer', value, '/a/1/x~1y')).toBe('2')
    expect(f('json_pointer', value, '/a/1/m~0n')).toBe('3')
    expect(f('json_pointer', value, '/a/01')).toBe('nil')
    expect(f('json_pointer', value, '/b/c')).toBe('nil')
    expect(f('json_pointer_set', value, '/a/0', 9)).toBe('{a: [9, {m~n: 3, x/y: 2}]}')
    expect(f('json_pointer_set', value, '/a/-', 9)).toBe('{a: [1, {m~n: 3, x/y: 2}, 9]}')
    expect(f('json_pointer_set', value, '/a/7', 9)).toBe(display(value))
    expect(f('json_pointer_set', value, '/b/c', 9)).toBe(display(value))
    expect(f('json_pointer_set', value, '/b', 9)).toBe('{a: [1, {m~n: 3, x/y: 2}], b: 9}')
    expect(f('json_pointer_set', value, '', 9)).toBe('9')
    expect(f('json_pointer_delete', value, '/a/1')).toBe('{a: [1]}')
    expect(f('json_pointer_delete', value, '/a/5')).toBe(display(value))
    expect(f('json_pointer_delete', value, '')).toBe('nil')
    expect(fault('json_pointer', value, 'a')).toBe("json_pointer: pointer must be empty or start with '/'")
    expect(fault('json_pointer', value, '/~2')).toBe("json_pointer: invalid escape '~2' in pointer")
  })
})

test('a text of one byte a character is found out piece by piece', () => {
  for (const length of [63, 64, 65, 8191, 8192, 8193, 16_384, 20_000]) {
    const plain = 'abcdefg~'.repeat(2500).slice(0, length)
    expect(encodeAsciiBase64(plain)).toBe(Buffer.from(plain).toString('base64'))
    for (const at of [0, 62, 8190, 8191, 8192, length - 1])
      for (const other of ['\x80', 'é', '€', '😀', '\ud83d'])
        if (at < length) expect(encodeAsciiBase64(plain.slice(0, at) + other + plain.slice(at + 1))).toBeNull()
  }
})
