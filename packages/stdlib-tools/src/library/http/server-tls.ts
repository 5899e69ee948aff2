// TLS settings of servers as plain dicts, the security headers that follow from them, and self-signed
// certificates for development.

import {
  HarnBytes,
  HarnDict,
  HarnList,
  ask,
  builtin,
  builtinTaking,
  display,
  failWith,
  runHere,
  isInt,
  isTruthy,
  makeScripts,
} from '@bridle/vm/families'
import type { BuiltinDef, Value } from '@bridle/vm/families'
import { makeSelfSigned } from '../crypto/certificate.js'
import { toDict } from './response.js'
import { hasPath } from '../files/state-files.js'
import { readWallMs } from '../time/identity.js'

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
function readHostNames(hosts: Value): string[] | string {
  if (hosts === null) return ['localhost', '127.0.0.1']
  const isList = hosts instanceof HarnList
  const names = isList ? hosts.view().map((host) => display(host)) : [display(hosts)]
  if (names.length === 0) return 'host list must not be empty'
  return names.includes('') ? `host ${isList ? 'names' : 'name'} must be non-empty` : names
}

const machine = makeScripts('http_server.tls', {
  *pem(certificate, key) {
    const [certPath, keyPath] = [display(certificate ?? ''), display(key ?? '')]
    if (!(yield* hasPath(certPath))) return failWith(`http_server_tls_pem: certificate not found: ${certPath}`)
    if (!(yield* hasPath(keyPath))) return failWith(`http_server_tls_pem: private key not found: ${keyPath}`)
    return makeSettings('pem', true, 'https', true, { cert_path: certPath, key_path: keyPath })
  },
  *self_signed(hosts) {
    const names = readHostNames(hosts ?? null)
    if (typeof names === 'string') return failWith(`http_server_tls_self_signed_dev: ${names}`)
    const random = yield* ask({ kind: 'random.bytes', args: { count: 48 } })
    yield* runHere((ctx) => ctx.charge(CERTIFICATE_UNITS, 4096))
    const made = makeSelfSigned(names, random instanceof HarnBytes ? random.data : new Uint8Array(48), yield* readWallMs())
    return makeSettings('self_signed_dev', true, 'https', false, {
      hosts: new HarnList(names),
      cert_pem: made.certificate,
      key_pem: made.key,
    })
  },
})

export const tlsFrame = machine.frame

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
    (ctx, certificate, key) => machine.start(ctx, 'pem', certificate, key),
  ),
  builtin(
    'http_server_tls_self_signed_dev(hosts?: string | list) -> dict',
    { doc: 'Settings with a fresh self-signed certificate.', effects: ['random.bytes', 'clock.now'] },
    (ctx, hosts) => machine.start(ctx, 'self_signed', hosts ?? null),
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
