// Request options: what scripts write → a plain record that a native frame can hold. An error is a text.

import {
  HarnBytes,
  HarnDict,
  HarnDuration,
  HarnFloat,
  HarnList,
  decodeBase64,
  display,
  encodeBase64,
  isInt,
  isTruthy,
} from '@bridle/vm/families'
import type { EffectArgs, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import type { RequestDefaults } from './request-defaults.js'

export interface RequestPlan {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Uint8Array | null
  /** Parts whose files are still to be read; null when there are none. */
  readonly parts: readonly PlannedPart[] | null
  readonly timeoutMs: number
  readonly connectTimeoutMs: number | null
  readonly readTimeoutMs: number | null
  readonly retries: number
  readonly backoffMs: number
  readonly respectRetryAfter: boolean
  readonly retryStatuses: readonly number[]
  readonly retryMethods: readonly string[]
  readonly redirects: number
  readonly proxy: EffectArgs['http.request']['proxy']
  readonly tls: EffectArgs['http.request']['tls']
  readonly decompress: boolean
  /** Headers that the host fills in, by name: its own secret, and what stands in front of it. */
  readonly secrets: { readonly [header: string]: SecretRef } | null
}

/** A secret of the host, by its name, and what stands in front of it (library/effects/effects.ts). */
export type SecretRef = NonNullable<EffectArgs['http.request']['secrets']>[string]

export interface PlannedPart {
  readonly name: string
  readonly filename: string | null
  readonly contentType: string | null
  /** Set for content that the script gave; the file at `path` otherwise. */
  content: Uint8Array | null
  readonly path: string | null
}

const encoder = new TextEncoder()

function readText(options: HarnDict, key: string): string | null {
  const value = options.get(key) ?? null
  return value === null ? null : display(value)
}

/** Milliseconds or a count: int, float or duration; the first key that has one. */
function readNumber(options: HarnDict, ...keys: string[]): number | null {
  for (const key of keys) {
    const value = options.get(key) ?? null
    if (value !== null && isInt(value)) return Math.max(0, Number(value))
    if (value instanceof HarnFloat) return Math.max(0, value.v)
    if (value instanceof HarnDuration) return Math.max(0, Number(value.ms))
  }
  return null
}

function readFlag(options: HarnDict, key: string, fallback: boolean): boolean {
  const value = options.get(key)
  return value === undefined || value === null ? fallback : isTruthy(value)
}

function list(value: Value | undefined): readonly Value[] | null {
  return value instanceof HarnList ? value.view() : null
}

/** A method is a token (RFC 9110 §5.6.2). */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

export function planRequest(
  method: string,
  url: string,
  options: HarnDict,
  /** `mostMs`: what grants allow. */
  defaults: NonNullable<RequestDefaults['http']> & { readonly mostMs?: number } = {},
): RequestPlan | string {
  if (!METHOD.test(method)) return `http: invalid method '${method}': invalid HTTP method`
  if (!isHttpUrl(url)) return `http: URL must start with http:// or https://, got '${url}'`
  const headers = requestHeaders(options)
  if (typeof headers === 'string') return headers
  const parts = readMultipart(options.get('multipart') ?? null)
  if (typeof parts === 'string') return parts
  const body = options.get('body') ?? null
  if (parts !== null && body !== null) return 'http: body and multipart options are mutually exclusive'
  const proxy = readProxy(options)
  if (proxy !== null && !isProxyUrl(proxy.url)) return `http: invalid proxy '${proxy.url}': it is no http:// or https:// URL`
  const retry = options.get('retry')
  const retries = retry instanceof HarnDict ? retry : new HarnDict()
  return {
    method: method.toUpperCase(),
    url: withQuery(url, options.get('query') ?? null),
    headers: Object.fromEntries(headers),
    body: body === null ? null : body instanceof HarnBytes ? body.data : display(body),
    parts,
    timeoutMs:
      readNumber(options, 'total_timeout_ms', 'timeout_ms', 'timeout') ??
      Math.min(defaults.timeoutMs ?? 30_000, defaults.mostMs ?? Infinity),
    connectTimeoutMs: readNumber(options, 'connect_timeout_ms'),
    readTimeoutMs: readNumber(options, 'read_timeout_ms'),
    retries: Math.trunc(readNumber(retries, 'max') ?? readNumber(options, 'retries') ?? 0),
    backoffMs: readNumber(retries, 'backoff_ms') ?? readNumber(options, 'backoff') ?? 1000,
    respectRetryAfter: readFlag(options, 'respect_retry_after', true),
    retryStatuses: list(options.get('retry_on'))?.map((status) => Number(isInt(status) ? status : Number.NaN)) ?? [
      408, 429, 500, 502, 503, 504,
    ],
    retryMethods: list(options.get('retry_methods'))?.map((each) => display(each).toUpperCase()) ?? [
      'GET',
      'HEAD',
      'PUT',
      'DELETE',
      'OPTIONS',
    ],
    redirects: readFlag(options, 'follow_redirects', true)
      ? Math.trunc(readNumber(options, 'max_redirects') ?? defaults.maxRedirects ?? 10)
      : -1,
    proxy,
    tls: readTls(options.get('tls')),
    decompress: readFlag(options, 'decompress', true),
    secrets: readSecretHeaders(options),
  }
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

function requestHeaders(options: HarnDict): [string, string][] | string {
  const headers: [string, string][] = []
  const given = options.get('headers')
  if (given instanceof HarnDict) {
    for (const name of given.keys()) {
      if (readSecret(given.get(name)!) !== null && HEADER_NAME.test(name)) continue
      const value = display(given.get(name)!)
      if (!HEADER_NAME.test(name)) return `http: invalid header name '${name}': invalid HTTP header name`
      // eslint-disable-next-line no-control-regex -- control characters would end the header
      if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
        return `http: invalid header value for '${name}': failed to parse header value`
      headers.push([name, value])
    }
  }
  const authorization = makeAuthorization(options.get('auth') ?? null)
  if (authorization !== null && !headers.some(([name]) => name.toLowerCase() === 'authorization'))
    headers.push(['Authorization', authorization])
  return headers
}

/** `{secret: "NAME"}`, with `prefix` or without: a secret that the host holds, which no script sees. */
export function readSecret(value: Value, prefix = ''): SecretRef | null {
  if (!(value instanceof HarnDict)) return null
  const name = value.get('secret')
  return typeof name === 'string' ? { secret: name, prefix: readText(value, 'prefix') ?? prefix } : null
}

export function readSecretHeaders(options: HarnDict): RequestPlan['secrets'] {
  const found: { [header: string]: SecretRef } = {}
  const given = options.get('headers')
  if (given instanceof HarnDict)
    for (const name of given.keys()) {
      const ref = readSecret(given.get(name)!)
      if (ref !== null) found[name] = ref
    }
  const auth = options.get('auth') ?? null
  const ref = readSecret(auth, 'Bearer ') ?? (auth instanceof HarnDict ? readSecret(auth.get('bearer') ?? null, 'Bearer ') : null)
  if (ref !== null) found['Authorization'] = ref
  const basic = readBasicSecret(auth)
  if (basic !== null) found['Authorization'] = basic
  return Object.keys(found).length === 0 ? null : found
}

/** `{basic: {user: "ada", password: {secret: "NAME"}}}` */
function readBasicSecret(auth: Value): SecretRef | null {
  const basic = auth instanceof HarnDict ? auth.get('basic') : null
  const ref = basic instanceof HarnDict ? readSecret(basic.get('password') ?? null) : null
  return ref === null ? null : { ...ref, user: readText(basic as HarnDict, 'user') ?? '' }
}

function makeAuthorization(auth: Value): string | null {
  if (!(auth instanceof HarnDict)) return auth === null ? null : display(auth)
  if (readSecret(auth) !== null || readSecret(auth.get('bearer') ?? null) !== null || readBasicSecret(auth) !== null) return null
  const bearer = auth.get('bearer') ?? null
  if (bearer !== null) return `Bearer ${display(bearer)}`
  const basic = auth.get('basic')
  if (!(basic instanceof HarnDict)) return null
  return `Basic ${encodeBase64(encoder.encode(`${readText(basic, 'user') ?? ''}:${readText(basic, 'password') ?? ''}`))}`
}

/** Query members in key order, form-encoded, behind what the URL already has; nil members are left out. */
function withQuery(url: string, query: Value): string {
  if (!(query instanceof HarnDict)) return url
  const pairs = query
    .keys()
    .filter((key) => query.get(key) !== null)
    .map((key): [string, string] => [key, display(query.get(key)!)])
  if (pairs.length === 0) return url
  const hash = url.indexOf('#')
  const base = hash < 0 ? url : url.slice(0, hash)
  const joint = !base.includes('?') ? '?' : base.endsWith('?') || base.endsWith('&') ? '' : '&'
  return base + joint + new URLSearchParams(pairs).toString() + (hash < 0 ? '' : url.slice(hash))
}

function readMultipart(value: Value): PlannedPart[] | null | string {
  if (value === null) return null
  const fields = list(value)
  if (fields === null) return 'http: multipart must be a list'
  const parts: PlannedPart[] = []
  for (const field of fields) {
    if (!(field instanceof HarnDict)) return 'http: multipart entries must be dicts'
    const name = readText(field, 'name')
    if (name === null) return 'http: multipart entry requires name'
    const part = { name, filename: readText(field, 'filename'), contentType: readText(field, 'content_type') }
    const content = field.get('value') ?? null
    const encoded = readText(field, 'value_base64')
    const path = readText(field, 'path')
    if (content !== null)
      parts.push({ ...part, content: content instanceof HarnBytes ? content.data : encoder.encode(display(content)), path: null })
    else if (encoded !== null) {
      const bytes = decodeBase64(encoded)
      if (typeof bytes === 'string') return `http: invalid multipart base64 value: ${bytes}`
      parts.push({ ...part, content: bytes, path: null })
    } else if (path === null) return 'http: multipart entry requires value, value_base64, or path'
    else
      parts.push({
        ...part,
        filename: part.filename ?? path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1),
        content: null,
        path,
      })
  }
  return parts
}

const BOUNDARY = 'harn-boundary'

/** The body of parts whose content is there. */
export function encodeParts(parts: readonly PlannedPart[]): { readonly body: Uint8Array; readonly contentType: string } {
  const decoder = new TextDecoder()
  let boundary = BOUNDARY
  while (parts.some((part) => decoder.decode(part.content!).includes(boundary))) boundary += '-x'
  const escapeQuoted = (value: string): string => value.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const chunks: Uint8Array[] = []
  for (const part of parts) {
    const file = part.filename === null ? '' : `; filename="${escapeQuoted(part.filename)}"`
    const type = part.contentType === null ? '' : `Content-Type: ${part.contentType.replace(/[\r\n]/g, '')}\r\n`
    chunks.push(
      encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeQuoted(part.name)}"${file}\r\n${type}\r\n`),
      part.content!,
      encoder.encode('\r\n'),
    )
  }
  chunks.push(encoder.encode(`--${boundary}--\r\n`))
  const body = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return { body, contentType: `multipart/form-data; boundary=${boundary}` }
}

function readProxy(options: HarnDict): RequestPlan['proxy'] {
  const proxy = options.get('proxy') ?? null
  if (proxy === null) return null
  const auth = options.get('proxy_auth')
  const credentials =
    auth instanceof HarnDict ? { user: readText(auth, 'user'), password: readText(auth, 'pass') } : { user: null, password: null }
  if (!(proxy instanceof HarnDict)) return { url: display(proxy), noProxy: null, ...credentials }
  return { url: readText(proxy, 'url') ?? '', noProxy: readText(proxy, 'no_proxy'), ...credentials }
}

function isProxyUrl(url: string): boolean {
  return isHttpUrl(url) && parseUrl(url) !== null
}

function readTls(tls: Value | undefined): RequestPlan['tls'] {
  if (!(tls instanceof HarnDict)) return null
  const pinned = tls.get('pinned_sha256') ?? null
  return {
    caBundlePath: readText(tls, 'ca_bundle_path'),
    clientCertPath: readText(tls, 'client_cert_path'),
    clientKeyPath: readText(tls, 'client_key_path'),
    clientIdentityPath: readText(tls, 'client_identity_path'),
    pinnedSha256: pinned === null ? [] : (list(pinned) ?? [pinned]).map((pin) => display(pin)),
  }
}
