// TLS settings of servers as plain dicts, the security headers that follow from them, and self-signed
// certificates for development.

import { HarnBytes, HarnDict, HarnList, builtin, builtinTaking, display, isInt, isTruthy } from '@bridle/vm/families'
import type { BuiltinDef, Context, LibraryCall, Result, Value } from '@bridle/vm/families'
import { makeSelfSigned } from '../crypto/certificate.js'
import { toDict } from './response.js'
import { definePrimitive } from '../harn/primitive.js'

const ONE_YEAR_SECONDS = 31_536_000

/** Units of a certificate: a key, a signature and their texts. */
const CERTIFICATE_UNITS = 5000

function makeSettings(
  mode: string,
  terminates: boolean,
  scheme: string,
  hsts: boolean,
  more: Readonly<Record<string, Value>> = {},
): HarnDict {
  return HarnDict.of({ mode, terminate_tls: terminates, scheme, hsts, ...more })
}

function makeEdge(given: Value): HarnDict {
  const options = toDict(given)
  const seconds = options.get('hsts_max_age_seconds') ?? null
  const readFlag = (name: string): boolean => isTruthy(options.get(name) ?? false)
  return makeSettings('edge', false, 'https', options.has('hsts') ? readFlag('hsts') : true, {
    hsts_max_age_seconds: isInt(seconds) ? seconds : ONE_YEAR_SECONDS,
    hsts_include_subdomains: readFlag('hsts_include_subdomains'),
    hsts_preload: readFlag('hsts_preload'),
  })
}

function makeSecurityHeaders(given: Value): HarnDict {
  const config = toDict(given)
  const mode = config.get('mode')
  if ((mode !== 'edge' && mode !== 'pem') || !isTruthy(config.get('hsts') ?? false)) return new HarnDict()
  const parts = [
    `max-age=${display(config.get('hsts_max_age_seconds') ?? ONE_YEAR_SECONDS)}`,
    ...(isTruthy(config.get('hsts_include_subdomains') ?? false) ? ['includeSubDomains'] : []),
    ...(isTruthy(config.get('hsts_preload') ?? false) ? ['preload'] : []),
  ]
  return HarnDict.of({ 'strict-transport-security': parts.join('; ') })
}

/** The hosts of a certificate, from a list or one name; a text says what is wrong with them. */
/** Of a certificate for development. */
const MOST_HOSTS = 1000
/** RFC 1035, section 2.3.4, as text. */
const MOST_IN_A_NAME = 253

function readHostNames(hosts: Value): string[] | string {
  if (hosts === null) return ['localhost', '127.0.0.1']
  const isList = hosts instanceof HarnList
  const names = isList ? hosts.view().map((host) => display(host)) : [display(hosts)]
  if (names.length === 0) return 'host list must not be empty'
  if (names.length > MOST_HOSTS) return `${names.length} host names are too many, the most is ${MOST_HOSTS}`
  if (names.some((name) => name.length > MOST_IN_A_NAME)) return `a host name has at most ${MOST_IN_A_NAME} characters`
  return names.includes('') ? `host ${isList ? 'names' : 'name'} must be non-empty` : names
}

/** What server.harn asks. */
export const tlsPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__pem_settings(cert_path: string, key_path: string) -> dict',
    'Settings of a server with certificate and key in files.',
    (_ctx, certPath, keyPath) => makeSettings('pem', true, 'https', true, { cert_path: certPath!, key_path: keyPath! }),
  ),
  definePrimitive(
    '__self_signed_settings(hosts: list<string>, random: bytes, now_ms: int) -> dict',
    'Settings with a self-signed certificate, made of random bytes.',
    (ctx, hosts, random, nowMs) => {
      ctx.charge(CERTIFICATE_UNITS, 4096)
      const names = (hosts as HarnList).view() as readonly string[]
      const seed = random instanceof HarnBytes ? random.data : new Uint8Array(48)
      const made = makeSelfSigned(names, seed, Number(nowMs))
      return makeSettings('self_signed_dev', true, 'https', false, {
        hosts: hosts!,
        cert_pem: made.certificate,
        key_pem: made.key,
      })
    },
  ),
]

const defineCall = (name: string): LibraryCall => ({ module: 'library/http/server', function: name, output: 'keep' })
const PEM = defineCall('tls_pem')
const SELF_SIGNED = defineCall('self_signed')

function startSelfSigned(ctx: Context, hosts: Value): Result {
  const names = readHostNames(hosts)
  if (typeof names === 'string') return ctx.throw(`http_server_tls_self_signed_dev: ${names}`)
  return ctx.library(SELF_SIGNED, [new HarnList(names)])
}

export const tlsBuiltins: readonly BuiltinDef[] = [
  builtin('http_server_tls_plain() -> dict', { doc: 'Settings of a server without TLS.' }, () =>
    makeSettings('plain', false, 'http', false),
  ),
  builtin(
    'http_server_tls_edge(options?: dict) -> dict',
    { doc: 'Settings of a server behind something that ends TLS. Options: hsts and its parts.' },
    (_ctx, options) => makeEdge(options ?? null),
  ),
  builtinTaking(
    'http_server_tls_pem(cert_path: string, key_path: string) -> dict',
    { doc: 'Settings of a server with certificate and key in files.', effects: ['fs.query'] },
    { fewer: '{f}: requires cert path and key path' },
    (ctx, certificate, key) => ctx.library(PEM, [display(certificate ?? ''), display(key ?? '')]),
  ),
  builtin(
    'http_server_tls_self_signed_dev(hosts?: string | list) -> dict',
    { doc: 'Settings with a fresh self-signed certificate.', effects: ['random.bytes', 'clock.now'] },
    (ctx, hosts = null) => startSelfSigned(ctx, hosts),
  ),
  builtin(
    'http_server_security_headers(config: dict) -> dict',
    { doc: 'Headers that follow from TLS settings.' },
    (ctx, config) =>
      config instanceof HarnDict
        ? makeSecurityHeaders(config)
        : ctx.throw('http_server_security_headers: requires a TLS config dict'),
  ),
]
