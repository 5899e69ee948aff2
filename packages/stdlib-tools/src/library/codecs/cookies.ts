// Cookies and signed sessions: Cookie and Set-Cookie headers after RFC 6265, and values signed with HMAC-SHA256.

import {
  HarnDict,
  HarnList,
  builtinTaking,
  count,
  decodeBase64Url,
  decodeUtf8Strict,
  display,
  encodeBase64Url,
  encodeUtf8,
  isTruthy,
  parseJson,
  stringifyJson,
  readTextArg,
  typeName,
  work,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Control, Demands, Result, Value } from '@bridle/vm/families'
import { hmacSha256, isSameText } from '../crypto/hashes.js'
import { parseHttpDate } from './http-date.js'

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e\x80-\u{10ffff}]*$/u
/** Readers are more lenient than the writer: what browsers send may hold commas and, in quotes, spaces. */
// eslint-disable-next-line no-control-regex -- what a value must not hold is exactly these
const BAD_VALUE = /[;\u0000-\u001f\u007f]/
// eslint-disable-next-line no-control-regex -- what an attribute must not hold is exactly these
const BAD_ATTRIBUTE = /[;\u0000-\u001f\u007f]/

function makeSignature(text: string, secret: string): string {
  return encodeBase64Url(hmacSha256(encodeUtf8(secret), encodeUtf8(text)))
}

/** Header texts from what scripts pass: a text, a list of texts, a header dict with `name` in any case, or nil. */
function readHeaderTexts(value: Value, name: string): string[] | null {
  if (value === null) return []
  if (typeof value === 'string') return [value]
  if (value instanceof HarnList) {
    const texts = value.view().filter((item) => typeof item === 'string')
    return texts.length === value.length ? texts : null
  }
  if (!(value instanceof HarnDict)) return null
  const texts: string[] = []
  for (const key of value.keys()) {
    const given = value.get(key)!
    const isHeader = key.toLowerCase() === name
    if (!isHeader && !(key === 'headers' && given instanceof HarnDict)) continue
    const inner = isHeader && (given === null || given instanceof HarnDict) ? null : readHeaderTexts(given, name)
    if (inner === null) return null
    texts.push(...inner)
  }
  return texts
}

interface Parsed {
  readonly pairs: { readonly name: string; readonly value: string }[]
  readonly invalid: { readonly segment: string; readonly reason: string }[]
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}

/** The text of headers is cut up and looked at by the character, and costs that before. */
function chargeTexts(texts: readonly string[]): void {
  work(texts.reduce((sum, text) => sum + text.length, 0))
}

function parseHeaders(texts: readonly string[]): Parsed {
  chargeTexts(texts)
  const parsed: Parsed = { pairs: [], invalid: [] }
  for (const segment of texts.flatMap((text) => text.split(';')).map((part) => part.trim())) {
    if (segment === '') continue
    const at = segment.indexOf('=')
    const name = segment.slice(0, at).trim()
    const value = unquote(segment.slice(at + 1).trim())
    const reason = at < 0 ? "missing '='" : !NAME.test(name) ? 'invalid name' : BAD_VALUE.test(value) ? 'invalid value' : null
    if (reason === null) parsed.pairs.push({ name, value })
    else parsed.invalid.push({ segment, reason })
  }
  return parsed
}

/** The first value of each name. */
function listFirstValues(pairs: Parsed['pairs']): Map<string, Value> {
  const cookies = new Map<string, Value>()
  for (const { name, value } of pairs) if (!cookies.has(name)) cookies.set(name, value)
  return cookies
}

/** The fault for headers that are none; `label` is what messages call them. */
function failBadHeaders(ctx: Context, value: Value, label: 'cookie' | 'Set-Cookie' = 'cookie'): Control {
  const isDict = value instanceof HarnDict
  const key = isDict ? value.keys().find((name) => name.toLowerCase() === label.toLowerCase()) : undefined
  const given = isDict ? (value.get(key ?? '') ?? null) : value
  const strange = given instanceof HarnList ? given.view().find((item) => typeof item !== 'string') : undefined
  if (label === 'Set-Cookie') {
    return strange === undefined
      ? ctx.runtime(`cookie: Set-Cookie headers must be a string, list, dict, or nil; got ${typeName(given)}`)
      : ctx.runtime(`cookie: Set-Cookie list entries must be strings, got ${typeName(strange)}`)
  }
  if (isDict && strange === undefined)
    return ctx.runtime(`cookie: Cookie header must be a string or list, got ${typeName(given)}`)
  if (isDict) return ctx.runtime(`cookie: Cookie header values must be strings, got ${typeName(strange!)}`)
  if (strange !== undefined) return ctx.runtime(`cookie: cookie header list entries must be strings, got ${typeName(strange)}`)
  return ctx.runtime(`cookie: ${label} headers must be a string, list, dict, or nil; got ${typeName(value)}`)
}

function parseCookies(ctx: Context, headers: Value = null): Result {
  const texts = readHeaderTexts(headers, 'cookie')
  if (texts === null) return failBadHeaders(ctx, headers)
  const { pairs, invalid } = parseHeaders(texts)
  const all = new Map<string, Value[]>()
  for (const { name, value } of pairs) {
    const values = all.get(name)
    if (values === undefined) all.set(name, [value])
    else values.push(value)
  }
  const duplicates = [...all]
    .filter(([, values]) => values.length > 1)
    .map(([name, values]): [string, Value] => [name, new HarnList(values)])
  return HarnDict.of({
    cookies: new HarnDict(listFirstValues(pairs)),
    pairs: new HarnList(pairs.map((pair) => HarnDict.of(pair))),
    duplicates: new HarnDict(new Map(duplicates)),
    invalid: new HarnList(invalid.map((each) => HarnDict.of(each))),
  })
}

/** Options by their name without case, `_` and `-`, so that `max_age`, `Max-Age` and `maxAge` are one. */
type Options = Map<string, Value>

function readOptions(ctx: Context, name: string, value: Value): Options | Control {
  if (value === null) return new Map()
  if (!(value instanceof HarnDict)) return ctx.runtime(`cookie: ${name}: options must be a dict, got ${typeName(value)}`)
  return new Map(value.keys().map((key) => [key.toLowerCase().replaceAll(/[_-]/g, ''), value.get(key)!]))
}

const SAME_SITE: ReadonlyMap<string, string> = new Map([
  ['lax', 'Lax'],
  ['strict', 'Strict'],
  ['none', 'None'],
])

function serialize(ctx: Context, name: string, value: string, options: Options): Result {
  if (!NAME.test(name)) return ctx.runtime('cookie: cookie name is empty or contains invalid characters')
  if (!VALUE.test(value)) {
    return ctx.runtime('cookie: cookie value contains spaces, quotes, separators, or control characters; encode it first')
  }
  let out = `${name}=${value}`
  const readAttribute = (option: string): Value => options.get(option) ?? null
  for (const label of ['Path', 'Domain', 'Max-Age', 'Expires']) {
    const given = readAttribute(label.toLowerCase().replace('-', ''))
    if (given === null) continue
    if (label === 'Max-Age' && count(given) === null)
      return ctx.runtime(`cookie: option max_age must be an int, got ${typeName(given)}`)
    const text = display(given)
    if (text === '' || BAD_ATTRIBUTE.test(text)) return ctx.runtime(`cookie: ${label} contains an invalid cookie attribute value`)
    out += `; ${label}=${text}`
  }
  const secure = isTruthy(readAttribute('secure'))
  if (isTruthy(readAttribute('httponly'))) out += '; HttpOnly'
  if (secure) out += '; Secure'
  const sameSite = readAttribute('samesite')
  if (sameSite === null) return out
  const policy = SAME_SITE.get(display(sameSite).toLowerCase())
  if (policy === undefined) return ctx.runtime('cookie: same_site must be one of Lax, Strict, or None')
  if (policy === 'None' && !secure) return ctx.runtime('cookie: SameSite=None requires Secure')
  return `${out}; SameSite=${policy}`
}

/** Serializes with defaults that the caller's options override. */
function withDefaults(
  ctx: Context,
  builtinName: string,
  name: string,
  value: string,
  given: Value,
  defaults: Readonly<Record<string, Value>>,
): Result {
  const options = readOptions(ctx, builtinName, given)
  return options instanceof Map ? serialize(ctx, name, value, new Map([...Object.entries(defaults), ...options])) : options
}

const SESSION_DEFAULTS = { path: '/', httponly: true, secure: true, samesite: 'Lax' }
const DELETE_DEFAULTS = { ...SESSION_DEFAULTS, maxage: 0, expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }

function makeVerified(ok: boolean, field: 'value' | 'payload', value: Value, error: string | null): HarnDict {
  return HarnDict.of({ ok, [field]: value, error })
}

function verifyCookie(signed: string, secret: string): HarnDict {
  const at = signed.lastIndexOf('.')
  if (at < 0) return makeVerified(false, 'value', null, 'malformed')
  const value = signed.slice(0, at)
  if (!isSameText(makeSignature(value, secret), signed.slice(at + 1)))
    return makeVerified(false, 'value', null, 'invalid_signature')
  return makeVerified(true, 'value', value, null)
}

function signSession(payload: Value, secret: string): string {
  const encoded = encodeBase64Url(encodeUtf8(stringifyJson(payload)))
  return `v1.${encoded}.${makeSignature(encoded, secret)}`
}

function verifySession(token: string, secret: string): HarnDict {
  const [version, encoded, given, more] = token.split('.')
  if (version !== 'v1' || !encoded || !given || more !== undefined) return makeVerified(false, 'payload', null, 'malformed')
  if (!isSameText(makeSignature(encoded, secret), given)) return makeVerified(false, 'payload', null, 'invalid_signature')
  const bytes = decodeBase64Url(encoded)
  const text = typeof bytes === 'string' ? null : decodeUtf8Strict(bytes)
  const parsed = text === null ? null : parseJson(text)
  return parsed?.ok === true
    ? makeVerified(true, 'payload', parsed.value, null)
    : makeVerified(false, 'payload', null, 'malformed_payload')
}

/** Applies one Set-Cookie text; `now` is milliseconds since 1970. */
function applySetCookie(cookies: Map<string, Value>, text: string, now: number): void {
  const [pair = '', ...attributes] = text.split(';').map((part) => part.trim())
  const at = pair.indexOf('=')
  const name = pair.slice(0, at).trim()
  if (at < 0 || !NAME.test(name)) return
  let maxAge: number | null = null
  let expires: number | null = null
  for (const attribute of attributes) {
    const [key = '', ...rest] = attribute.split('=')
    const value = rest.join('=').trim()
    if (key.toLowerCase() === 'max-age' && /^-?\d+$/.test(value)) maxAge = Number(value)
    if (key.toLowerCase() === 'expires') expires = parseHttpDate(value)
  }
  const gone = maxAge !== null ? maxAge <= 0 : expires !== null && expires <= now
  if (gone) cookies.delete(name)
  // A Set-Cookie value keeps its quotes, other than one in a request.
  else cookies.set(name, pair.slice(at + 1).trim())
}

function returnCookies(ctx: Context, first: Value = null, second: Value = null): Result {
  const [request, set] = ctx.argc < 2 ? [null, first] : [first, second]
  const requestTexts = readHeaderTexts(request, 'cookie')
  if (requestTexts === null) return failBadHeaders(ctx, request)
  const setTexts = readHeaderTexts(set, 'set-cookie')
  if (setTexts === null) return failBadHeaders(ctx, set, 'Set-Cookie')
  const cookies = listFirstValues(parseHeaders(requestTexts).pairs)
  chargeTexts(setTexts)
  for (const text of setTexts) applySetCookie(cookies, text, ctx.now)
  const dict = new HarnDict(cookies)
  return HarnDict.of({
    cookie_header: dict
      .keys()
      .map((name) => `${name}=${display(dict.get(name)!)}`)
      .join('; '),
    cookies: dict,
  })
}

/** A function of this family with `least` arguments that must be given. */
function define(signature: string, least: number, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  const demands: Demands = { raise: 'runtime', fewer: `cookie: {f} requires ${least} arguments`, least }
  return builtinTaking(signature, { doc }, demands, run)
}

export const cookieFunctions: readonly BuiltinDef[] = [
  define('cookie_parse(headers: string|list|dict|nil) -> dict', 1, 'The cookies of a Cookie header.', parseCookies),
  define(
    'cookie_serialize(name: string, value: string, options?: dict) -> string',
    2,
    'A Set-Cookie header.',
    (ctx, name, value, options = null) =>
      withDefaults(ctx, 'cookie_serialize', readTextArg(ctx, 0, name), readTextArg(ctx, 1, value), options, {}),
  ),
  define(
    'cookie_delete(name: string, options?: dict) -> string',
    1,
    'A Set-Cookie header that removes the cookie.',
    (ctx, name, options = null) => withDefaults(ctx, 'cookie_delete', readTextArg(ctx, 0, name), '', options, DELETE_DEFAULTS),
  ),
  define(
    'cookie_sign(value: string, secret: string) -> string',
    2,
    'The value with a signature behind its last dot.',
    (ctx, value, secret) => {
      const text = readTextArg(ctx, 0, value)
      // A semicolon would end the cookie, a control character the header.
      // oxlint-disable-next-line no-control-regex
      if (/[;\u0000-\u001f\u007f]/.test(text))
        return ctx.runtime('cookie: cookie_sign value must not contain separators or control characters')
      return `${text}.${makeSignature(text, readTextArg(ctx, 1, secret))}`
    },
  ),
  define(
    'cookie_verify(signed_value: string, secret: string) -> dict',
    2,
    '`{ok, value, error}` of a signed value.',
    (ctx, signed, secret) => verifyCookie(readTextArg(ctx, 0, signed), readTextArg(ctx, 1, secret)),
  ),
  define(
    'session_sign(payload: any, secret: string) -> string',
    2,
    'A signed token that carries the payload as JSON.',
    (ctx, payload = null, secret = null) => signSession(payload, readTextArg(ctx, 1, secret)),
  ),
  define(
    'session_verify(token: string, secret: string) -> dict',
    2,
    '`{ok, payload, error}` of a session token.',
    (ctx, token, secret) => verifySession(readTextArg(ctx, 0, token), readTextArg(ctx, 1, secret)),
  ),
  define(
    'session_cookie(name: string, payload: any, secret: string, options?: dict) -> string',
    3,
    'A Set-Cookie header with a session token.',
    (ctx, name, payload = null, secret = null, options = null) =>
      withDefaults(
        ctx,
        'session_cookie',
        readTextArg(ctx, 0, name),
        signSession(payload, readTextArg(ctx, 2, secret)),
        options,
        SESSION_DEFAULTS,
      ),
  ),
  define(
    'session_from_cookies(headers: string|list|dict, name: string, secret: string) -> dict',
    3,
    'The session in a Cookie header.',
    (ctx, headers = null, name = null, secret = null) => {
      const texts = readHeaderTexts(headers, 'cookie')
      if (texts === null) return failBadHeaders(ctx, headers)
      const token = listFirstValues(parseHeaders(texts).pairs).get(readTextArg(ctx, 1, name))
      return token === undefined
        ? makeVerified(false, 'payload', null, 'missing_cookie')
        : verifySession(display(token), readTextArg(ctx, 2, secret))
    },
  ),
  define(
    'cookie_round_trip(request_cookie: string|list|dict|nil, set_cookie: string|list|dict) -> dict',
    1,
    'The cookies a browser would send after these Set-Cookie headers.',
    returnCookies,
  ),
]
