// Signed URLs: claims and an expiry in the query, with an HMAC-SHA256 over resource and canonical query. Pairs are encoded
// after RFC 3986 and sorted by their encoded text, so that signer and verifier agree even if a proxy reorders them.

import {
  HarnDict,
  builtinTaking,
  count,
  display,
  encodeBase64Url,
  encodeUtf8,
  parseInt64,
  sortTexts,
  typeName,
  work,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Control, Int, Result, Value } from '@bridle/vm/families'
import { parseQuery, encodePercent } from '../codecs/percent.js'
import { readUrl } from '../codecs/urls.js'
import { hmacSha256, isSameText } from './hashes.js'

interface Resource {
  /** Origin and path, or the encoded path alone. */
  readonly name: string
  readonly pairs: readonly (readonly [key: string, value: string])[]
}

/** Reads an absolute URL with a host or an absolute path; a text says what is wrong. */
function readResource(base: string): Resource | string {
  const isPath = base.startsWith('/')
  const url = readUrl(isPath ? `http://path${base}` : base)
  if (typeof url === 'string') {
    return url === 'relative URL without a base'
      ? 'expected an absolute URL or an absolute path starting with `/`'
      : `invalid URL: ${url}`
  }
  if (url.hostname === '') return 'expected an absolute URL with a host or an absolute path starting with `/`'
  const origin = isPath ? '' : `${url.protocol}//${url.host}`
  return { name: origin + url.pathname, pairs: parseQuery(url.search) }
}

interface Names {
  readonly signature: string
  readonly expires: string
  readonly kid: string
}

/** The three names, or what is wrong with them. */
function readNames(options: HarnDict): Names | string {
  const readName = (key: string, fallback: string): string => {
    const given = options.get(key) ?? null
    return given === null ? fallback : display(given)
  }
  const names = {
    signature: readName('signature_param', 'sig'),
    expires: readName('expires_param', 'exp'),
    kid: readName('kid_param', 'kid'),
  }
  for (const part of ['signature', 'expires', 'kid'] as const) {
    if (names[part] === '') return `option \`${part}_param\` cannot be empty`
  }
  return new Set(Object.values(names)).size === 3 ? names : 'signature_param, expires_param, and kid_param must be distinct'
}

function isReserved(names: Names, key: string): boolean {
  return key === names.signature || key === names.expires || key === names.kid
}

/** Of a pair that is encoded and put in its place. */
const PAIR_UNITS = 4

function canonicalizePairs(pairs: readonly (readonly [string, string])[]): string {
  work(PAIR_UNITS * pairs.length)
  return sortTexts(pairs.map(([key, value]) => `${encodePercent(key)}=${encodePercent(value)}`)).join('&')
}

function makeSignature(resource: string, query: string, secret: string): string {
  return encodeBase64Url(hmacSha256(encodeUtf8(secret), encodeUtf8(`harn-signed-url-v1\n${resource}\n${query}`)))
}

type Fail = (message: string) => Control

function readOptions(value: HarnDict | null, fail: Fail): HarnDict | Control {
  if (value === null) return new HarnDict()
  for (const key of ['signature_param', 'expires_param', 'kid_param', 'kid']) {
    const option = value.get(key) ?? null
    if (option !== null && typeof option !== 'string') return fail(`option \`${key}\` must be a string, got ${typeName(option)}`)
  }
  return value
}

function sign(ctx: Context, base: string, claims: HarnDict, secret: string, expiresAt: Int, given: HarnDict | null): Result {
  const fail: Fail = (message) => ctx.runtime(`signed_url: ${message}`)
  const options = readOptions(given, fail)
  if (!(options instanceof HarnDict)) return options
  const names = readNames(options)
  if (typeof names === 'string') return fail(names)
  const resource = readResource(base)
  if (typeof resource === 'string') return fail(resource)
  const pairs: (readonly [string, string])[] = resource.pairs.filter(([key]) => !isReserved(names, key))
  for (const key of claims.keys()) {
    if (isReserved(names, key)) return fail(`claims cannot contain reserved parameter \`${key}\``)
    pairs.push([key, display(claims.get(key)!)])
  }
  pairs.push([names.expires, String(expiresAt)])
  const kid = options.get('kid') ?? null
  if (kid !== null) pairs.push([names.kid, display(kid)])
  const signature = makeSignature(resource.name, canonicalizePairs(pairs), secret)
  return `${resource.name}?${canonicalizePairs([...pairs, [names.signature, signature]])}`
}

interface Verdict {
  readonly reason: string
  readonly signature_valid?: boolean
  readonly expired?: boolean
  readonly expires_at?: Value
  readonly kid?: Value
  readonly claims?: HarnDict
}

/** The checks in the order in which their reasons win. */
function judge(resource: Resource, names: Names, secrets: Value, now: number, skew: number): Verdict {
  const listValues = (key: string): string[] => resource.pairs.filter(([name]) => name === key).map(([, value]) => value)
  const [signature, ...moreSignatures] = listValues(names.signature)
  if (signature === undefined || moreSignatures.length > 0) return { reason: 'missing_signature' }
  const [expiry, ...moreExpiries] = listValues(names.expires)
  if (expiry === undefined || moreExpiries.length > 0) return { reason: 'missing_expiry' }
  const expiresAt = parseInt64(expiry)
  if (expiresAt === null) return { reason: 'invalid_expiry' }
  const [kid = null, ...moreKids] = listValues(names.kid)
  if (moreKids.length > 0) return { reason: 'duplicate_kid', expires_at: expiresAt }
  const secret = secrets instanceof HarnDict ? (kid === null ? undefined : secrets.get(kid)) : secrets
  const claims = new HarnDict(new Map(resource.pairs.filter(([key]) => !isReserved(names, key))))
  if (secret === undefined) return { reason: 'unknown_key', expires_at: expiresAt, kid, claims }
  const signed = canonicalizePairs(resource.pairs.filter(([key]) => key !== names.signature))
  const valid = isSameText(makeSignature(resource.name, signed, display(secret)), signature)
  const expired = now > Number(expiresAt) + skew
  const reason = !valid ? 'bad_signature' : expired ? 'expired' : 'ok'
  return { reason, signature_valid: valid, expired, expires_at: expiresAt, kid, claims }
}

function verify(ctx: Context, url: string, secrets: Value, now: Int, given: HarnDict | null): Result {
  const fail: Fail = (message) => ctx.runtime(`verify_signed_url: ${message}`)
  const options = readOptions(given, fail)
  if (!(options instanceof HarnDict)) return options
  const resource = readResource(url)
  if (typeof resource === 'string') return fail(resource)
  if (typeof secrets !== 'string' && !(secrets instanceof HarnDict)) {
    return fail(`secret_or_keys must be a string or dict, got ${typeName(secrets)}`)
  }
  const slack = options.get('skew_seconds') ?? 0
  const skew = count(slack)
  if (skew === null) return fail(`option \`skew_seconds\` must be an int, got ${typeName(slack)}`)
  if (skew < 0) return fail('skew_seconds must be greater than or equal to 0')
  const names = readNames(options)
  if (typeof names === 'string') return fail(names)
  const verdict = judge(resource, names, secrets, Number(now), skew)
  return HarnDict.of({
    valid: verdict.reason === 'ok',
    reason: verdict.reason,
    signature_valid: verdict.signature_valid ?? false,
    expired: verdict.expired ?? false,
    expires_at: verdict.expires_at ?? null,
    kid: verdict.kid ?? null,
    claims: verdict.claims ?? new HarnDict(),
  })
}

const MUST_BE = { options: '{f}: {param} must be a {type}, got {got}' } as const

export const signedUrlFunctions: readonly BuiltinDef[] = [
  builtinTaking(
    'signed_url(base: string, claims: dict, secret: string, expires_at: int, options?: dict) -> string',
    { doc: 'A URL whose claims and expiry are signed.' },
    {
      raise: 'runtime',
      fewer: '{f}: requires 4 or 5 arguments: base, claims, secret, expires_at, options?',
      most: 5,
      not: {
        ...MUST_BE,
        base: '{f}: {param} must be a {type}, got {got}',
        claims: '{f}: {param} must be a {type}, got {got}',
        secret: '{f}: {param} must be a {type}, got {got}',
        expires_at: '{f}: {param} must be an {type}, got {got}',
      },
    },
    sign,
  ),
  builtinTaking(
    'verify_signed_url(url: string, secret_or_keys: string|dict, now: int, options?: dict) -> dict',
    { doc: 'What a signed URL claims, and whether to believe it.' },
    {
      raise: 'runtime',
      fewer: '{f}: requires 3 or 4 arguments: url, secret_or_keys, now, options?',
      most: 4,
      not: {
        ...MUST_BE,
        url: '{f}: {param} must be a {type}, got {got}',
        now: '{f}: {param} must be an {type}, got {got}',
      },
    },
    verify,
  ),
]
