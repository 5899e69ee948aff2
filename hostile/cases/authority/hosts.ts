// Addresses that look granted but are not: spellings of private addresses, hosts similar to the granted one.

import { rows } from '../../rows.js'

const BESIDE_EXAMPLE: readonly string[] = [
  'https://example.com.evil.test/',
  'https://evilexample.com/',
  'https://evil.test/?.example.com',
  'https://evil.test/#.example.com',
  'https://evil.test/.example.com',
  'https://api.example.com@evil.test/',
  'https://api.example.com:443@evil.test/',
  'https://user:api.example.com@evil.test/',
  'https://evil.test\\\\.example.com/',
  'https://evil.test\\\\@api.example.com.evil.test/',
  'https://evil.test%2f.example.com.evil.test/',
  'https://api.example.com。evil.test/',
  'https://api.example.com．evil.test/',
  'https://api.example.com%2eevil.test/',
  'https://api.example.com..evil.test/',
  'https://bücher.invalid/',
  'https://xn--bcher-kva.invalid/',
  'https://api\u{ad}.example.com.evil.test/',
  'https://ａpi.example.com.evil.test/',
  'https://api.example.com\u{2024}evil.test/',
  'https:evil.test/.example.com',
  'https:///evil.test/.example.com',
  'https:/\\\\evil.test/.example.com',
  '//evil.test/.example.com',
  'http://[::ffff:7f00:1]/.example.com',
  'http://0x7f000001/.example.com',
  'ftp://api.example.com/',
  'file:///etc/passwd#.example.com',
  'javascript:.example.com',
  'data:text/plain,.example.com',
  ' https://evil.test/.example.com',
  'https://evil.test/\\t.example.com',
  'ht\\ntps://evil.test/.example.com',
  '',
  'https://',
  'https://*.example.com.evil.test/',
  'api.example.com',
  'https://example.comevil.test/',
  'https://api.example.com\u{1}.evil.test/',
]

const PRIVATE: readonly string[] = [
  'http://127.0.0.1:1/',
  'http://127.1:1/',
  'http://0177.0.0.1:1/',
  'http://0x7f.1:1/',
  'http://2130706433:1/',
  'http://0:1/',
  'http://0.0.0.0:1/',
  'http://[::1]:1/',
  'http://[::]:1/',
  'http://[::ffff:127.0.0.1]:1/',
  'http://[::ffff:7f00:1]:1/',
  'http://[64:ff9b::7f00:1]:1/',
  'http://[fe80::1]:1/',
  'http://[fc00::1]:1/',
  'http://localhost:1/',
  'http://LOCALHOST:1/',
  'http://localhost.:1/',
  'http://a.localhost:1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://10.0.0.1:1/',
  'http://172.16.0.1:1/',
  'http://192.168.0.1:1/',
  'http://100.64.0.1:1/',
  'http://①②⑦.0.0.1:1/',
  'http://127。0。0。1:1/',
  'http://user@127.0.0.1:1/',
  'http://127.0.0.1.:1/',
]

const tell = (url: string, call: string): string =>
  `try {\n  println("reached \${${call.replace('$U', JSON.stringify(url).replaceAll('\\u0001', '\u{1}'))}}")\n} catch (e) {\n  println("refused")\n}\n`

const CALLS: readonly string[] = ['http_get($U)', 'http_post($U, "x")', 'http_request("PUT", $U)', 'http_stream_open($U)']

export const cases = [
  ...rows(
    'grants-are-exact',
    BESIDE_EXAMPLE.flatMap((url) =>
      ['http_get($U)', 'http_post($U, "x")'].map((call) => ({
        name: `${call} of ${url} with a grant of *.example.com`,
        source: tell(url, call),
        runtime: {
          grants: ['http', 'net'],
          toolGrants: { 'http.*': { domain: '*.example.com' } },
          defaultDeny: 'effects' as const,
        },
      })),
    ),
  ),
  ...rows(
    'network-stays-named',
    PRIVATE.flatMap((url, at) =>
      [CALLS[0]!, CALLS[1 + (at % (CALLS.length - 1))]!].map((call) => ({
        name: `${call} of ${url}`,
        source: tell(url, call),
        runtime: { grants: ['http', 'net'], world: 'private' as const },
        lacks: ['reached'],
        verdict: 'done' as const,
      })),
    ),
  ),
]
