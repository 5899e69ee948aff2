// Responses as scripts make them: dicts with status, headers and body in two forms, text and bytes.

import {
  HarnBytes,
  HarnDict,
  builtin,
  builtinTaking,
  decodeUtf8,
  display,
  isInt,
  stringifyJson,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'

type BodyKind = 'text' | 'json' | 'bytes'

/** What a body is without its own content type, for the kinds that imply one. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['text', 'text/plain; charset=utf-8'],
  ['json', 'application/json; charset=utf-8'],
])

export function toDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

/** A status that no response can have is an error of the server; other values are ignored. */
function readStatus(value: Value | undefined): number {
  if (value === undefined || !isInt(value)) return 200
  return value >= 100 && value <= 999 ? Number(value) : 500
}

function readBodyText(body: Value): string {
  return body instanceof HarnBytes ? decodeUtf8(body.data) : display(body)
}

function withContentType(headers: HarnDict, kind: string): HarnDict {
  const type = CONTENT_TYPES.get(kind)
  return type === undefined || findHeader(headers, 'content-type') !== null ? headers : headers.with('content-type', type)
}

function assemble(status: number, headers: HarnDict, body: string, raw: HarnBytes, kind: string): HarnDict {
  return HarnDict.of({
    status,
    headers: withContentType(headers, kind),
    ok: status >= 200 && status < 300,
    body_kind: kind,
    body,
    raw_body: raw,
  })
}

export function makeResponse(status: number, headers: HarnDict, body: Value, kind: BodyKind): HarnDict {
  const text = kind === 'json' ? stringifyJson(body) : readBodyText(body)
  const isRaw = body instanceof HarnBytes && kind !== 'json'
  return assemble(status, headers, text, isRaw ? body : new HarnBytes(toUtf8(text)), kind)
}

export function makeTextResponse(status: number, text: string, headers: HarnDict = new HarnDict()): HarnDict {
  return makeResponse(status, headers, text, 'text')
}

/**
 * What a handler returned as a response: a dict with a status is one, nil is empty, everything else is text. Of the two forms of a
 * body the bytes count, so that a response that passes through hooks stays what it is.
 */
export function toResponse(value: Value): HarnDict {
  if (value === null) return makeTextResponse(204, 'nil')
  // Bytes that are not text stay what they are.
  if (value instanceof HarnBytes) return makeResponse(200, new HarnDict(), value, 'text')
  if (!(value instanceof HarnDict) || !value.has('status')) return makeTextResponse(200, readBodyText(value))
  const body = value.get('body') ?? null
  const given = value.get('raw_body') ?? null
  const raw = given instanceof HarnBytes ? given : body instanceof HarnBytes ? body : new HarnBytes(toUtf8(display(body)))
  const kind = display(value.get('body_kind') ?? 'text')
  return assemble(readStatus(value.get('status')), toDict(value.get('headers')), decodeUtf8(raw.data), raw, kind)
}

/** A header of any case; `source` is a headers dict, a request or a response. */
export function findHeader(source: Value, name: string): Value {
  if (!(source instanceof HarnDict)) return null
  const inner = source.get('headers')
  const headers = inner instanceof HarnDict ? inner : source
  const wanted = name.toLowerCase()
  for (const key of headers.keys()) if (key.toLowerCase() === wanted) return headers.get(key) ?? null
  return null
}

function makeShaped(kind: BodyKind): (ctx: Context, body?: Value, options?: Value) => HarnDict {
  return (_ctx, body = null, options = null) => {
    const given = toDict(options)
    return makeResponse(readStatus(given.get('status')), toDict(given.get('headers')), body, kind)
  }
}

const RESPONSE_OPTIONS = `
  status: int = 200 -- The status.
  headers: dict -- Header fields.
`

export const responseBuiltins: readonly BuiltinDef[] = [
  builtin(
    'http_response(status?: int, body?: any, headers?: dict) -> dict',
    { doc: 'A response with a text body.' },
    (_ctx, status, body, headers) => makeResponse(readStatus(status), toDict(headers), body ?? null, 'text'),
  ),
  builtin(
    'http_response_text(text: any, options?: dict) -> dict',
    { doc: 'A response with a text body.', shapes: { options: RESPONSE_OPTIONS } },
    makeShaped('text'),
  ),
  builtin(
    'http_response_json(value: any, options?: dict) -> dict',
    { doc: 'A response with a value as JSON.', shapes: { options: RESPONSE_OPTIONS } },
    makeShaped('json'),
  ),
  builtinTaking(
    'http_response_bytes(bytes: bytes | string, options?: dict) -> dict',
    { doc: 'A response with bytes.', shapes: { options: RESPONSE_OPTIONS } },
    { missing: { bytes: '' } },
    makeShaped('bytes'),
  ),
  builtinTaking(
    'http_header(headers_or_message: dict, name: string) -> string | nil',
    { doc: 'A header by name, in any case, of headers, a request or a response.' },
    { fewer: '{f}: requires headers/request/response and name', text: { name: null } },
    (_ctx, source, name) => {
      const value = findHeader(source, name)
      return value === null ? null : display(value)
    },
  ),
]
