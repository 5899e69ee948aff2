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
  here,
  isInt,
  isTruthy,
  scripts,
} from '@bridle/vm/families'
import type { BuiltinDef, Value } from '@bridle/vm/families'
import { selfSigned } from '../crypto/certificate.js'
import { dictOf } from './response.js'
import { pathExists } from '../files/state-files.js'
import { wallMs } from '../time/identity.js'

const ONE_YEAR_SECONDS = 31_536_000

/** Units of a certificate: a key, a signature and their texts. */
const CERTIFICATE_UNITS = 5000

function settings(
  mode: string,
  terminates: boolean,
  scheme: string,
  hsts: boolean,
  more: Readonly<Record<string, Value>> = {},
): HarnDict {
  return HarnDict.of({ mode, terminate_tls: terminates, scheme, hsts, ...more })
}

function edge(given: Value): HarnDict {
  const options = dictOf(given)
  const seconds = options.get('hsts_max_age_seconds') ?? null
  const flag = (name: string): boolean => isTruthy(options.get(name) ?? false)
  return settings('edge', false, 'https', options.has('hsts') ? flag('hsts') : true, {
    hsts_max_age_seconds: isInt(seconds) ? seconds : ONE_YEAR_SECONDS,
    hsts_include_subdomains: flag('hsts_include_subdomains'),
    hsts_preload: flag('hsts_preload'),
  })
}

function securityHeaders(given: Value): HarnDict {
  const config = dictOf(given)
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
function hostNames(hosts: Value): string[] | string {
  if (hosts === null) return ['localhost', '127.0.0.1']
  const isList = hosts instanceof HarnList
  const names = isList ? hosts.view().map((host) => display(host)) : [display(hosts)]
  if (names.length === 0) return 'host list must not be empty'
  return names.includes('') ? `host ${isList ? 'names' : 'name'} must be non-empty` : names
}

const machine = scripts('http_server.tls', {
  *pem(certificate, key) {
    const [certPath, keyPath] = [display(certificate ?? ''), display(key ?? '')]
    if (!(yield* pathExists(certPath))) return failWith(`http_server_tls_pem: certificate not found: ${certPath}`)
    if (!(yield* pathExists(keyPath))) return failWith(`http_server_tls_pem: private key not found: ${keyPath}`)
    return settings('pem', true, 'https', true, { cert_path: certPath, key_path: keyPath })
  },
  *self_signed(hosts) {
    const names = hostNames(hosts ?? null)
    if (typeof names === 'string') return failWith(`http_server_tls_self_signed_dev: ${names}`)
    const random = yield* ask({ kind: 'random.bytes', args: { count: 48 } })
    yield* here((ctx) => ctx.charge(CERTIFICATE_UNITS, 4096))
    const made = selfSigned(names, random instanceof HarnBytes ? random.data : new Uint8Array(48), yield* wallMs())
    return settings('self_signed_dev', true, 'https', false, {
      hosts: new HarnList(names),
      cert_pem: made.certificate,
      key_pem: made.key,
    })
  },
})

export const tlsFrame = machine.frame

export const tlsBuiltins: readonly BuiltinDef[] = [
  builtin('http_server_tls_plain() -> dict', { doc: 'Settings of a server without TLS.' }, () =>
    settings('plain', false, 'http', false),
  ),
  builtin(
    'http_server_tls_edge(options?: dict) -> dict',
    { doc: 'Settings of a server behind something that ends TLS. Options: hsts and its parts.' },
    (_ctx, options) => edge(options ?? null),
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
        ? securityHeaders(config)
        : ctx.throw('http_server_security_headers: requires a TLS config dict'),
  ),
]
