// multipart/form-data bodies, written and read. Sizes are bytes; the reader refuses what is malformed or over its limits and
// says which rule it broke.

import {
  Control,
  HarnBytes,
  HarnDict,
  HarnList,
  builtinTaking,
  count,
  decodeUtf8,
  decodeUtf8Strict,
  display,
  encodeHex,
  encodeUtf8,
  typeName,
  describeUtf8Problem,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'
import { sha256 } from '../crypto/hashes.js'

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** First place of `needle` in `hay` from `from` on, or -1. */
function find(hay: Uint8Array, needle: Uint8Array, from = 0): number {
  const first = needle[0]!
  for (let at = hay.indexOf(first, from); at >= 0 && at + needle.length <= hay.length; at = hay.indexOf(first, at + 1)) {
    let same = 1
    while (same < needle.length && hay[at + same] === needle[same]) same++
    if (same === needle.length) return at
  }
  return -1
}

interface Part {
  readonly head: string
  readonly content: Uint8Array
}

const quoteText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')

/** A text of one line under `key` of a field; null when there is none. */
function readLine(field: HarnDict, key: string, label: string, fail: (message: string) => Control): string | null | Control {
  const value = field.get(key) ?? null
  if (value === null) return null
  if (typeof value !== 'string') return fail(`${key} must be a string, got ${typeName(value)}`)
  return /[\r\n]/.test(value) ? fail(`${label} must be single-line`) : value
}

/** One field as its header lines and content, or the error that it is. */
function readField(field: HarnDict, fail: (message: string) => Control): Part | Control {
  if (!field.has('name')) return fail('field is missing name')
  const name = readLine(field, 'name', 'field name', fail)
  if (name instanceof Control) return name
  if (name === null) return fail('name must be a string, got nil')
  if (name === '') return fail('name must not be empty')
  const content = field.has('content') ? field.get('content')! : field.get('value')
  if (content === undefined) return fail('field is missing content')
  if (typeof content !== 'string' && !(content instanceof HarnBytes)) {
    return fail(`content must be bytes or string, got ${typeName(content)}`)
  }
  const filename = readLine(field, 'filename', 'filename', fail)
  if (filename instanceof Control) return filename
  const type = readLine(field, 'content_type', 'content_type', fail)
  if (type instanceof Control) return type
  const headers = field.get('headers') ?? null
  if (headers !== null && !(headers instanceof HarnDict)) return fail(`headers must be a dict, got ${typeName(headers)}`)
  const file = filename === null ? '' : `; filename="${quoteText(filename)}"`
  const lines = [`Content-Disposition: form-data; name="${quoteText(name)}"${file}`]
  if (type !== null) lines.push(`Content-Type: ${type}`)
  for (const key of headers?.keys() ?? []) {
    const value = headers!.get(key)!
    if (key === '' || /[\r\n]/.test(key)) return fail('header names must be single-line')
    if (typeof value !== 'string') return fail(`header ${key} must be a string, got ${typeName(value)}`)
    if (/[\r\n]/.test(value)) return fail('header values must be single-line')
    lines.push(`${key}: ${value}`)
  }
  return { head: lines.join('\r\n'), content: typeof content === 'string' ? encodeUtf8(content) : content.data }
}

const UNITS_A_FIELD = 30

function makeFormData(ctx: Context, fields: HarnList, options: HarnDict | null): Result {
  const fail = (message: string): Control => ctx.runtime(`multipart_form_data: ${message}`)
  ctx.charge(UNITS_A_FIELD * fields.length)
  const parts: Part[] = []
  for (const [index, field] of fields.view().entries()) {
    if (!(field instanceof HarnDict)) return fail(`field ${index + 1} must be a dict, got ${typeName(field)}`)
    const part = readField(field, fail)
    if (!('head' in part)) return part
    parts.push(part)
  }
  const size = parts.reduce((sum, part) => sum + part.content.length, 0)
  ctx.charge(size >> 5, 2 * size)
  const given = options?.get('boundary') ?? null
  if (given !== null && typeof given !== 'string') return fail(`boundary must be a string, got ${typeName(given)}`)
  const boundary = given === null ? makeDefaultBoundary(fields, parts) : given
  const problem = describeBoundaryProblem(boundary)
  if (problem !== null) return fail(problem)
  const pieces = parts.flatMap((part) => [encodeUtf8(`--${boundary}\r\n${part.head}\r\n\r\n`), part.content, encodeUtf8('\r\n')])
  const body = joinBytes([...pieces, encodeUtf8(`--${boundary}--\r\n`)])
  return HarnDict.of({ boundary, content_type: `multipart/form-data; boundary=${boundary}`, body: new HarnBytes(body) })
}

/** A boundary that the fields decide and that none of them contains. */
function makeDefaultBoundary(fields: HarnList, parts: readonly Part[]): string {
  const text = fields
    .view()
    .map((field) => `${display(field)}\0`)
    .join('')
  const stem = `----harn-boundary-${encodeHex(sha256(encodeUtf8(text)).subarray(0, 8))}`
  for (let suffix = 0; ; suffix++) {
    const boundary = suffix === 0 ? stem : `${stem}-${suffix}`
    const needle = encodeUtf8(boundary)
    if (!parts.some((part) => find(part.content, needle) >= 0)) return boundary
  }
}

const PARAMETER = /;\s*([^=;\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g

/** Parameters of a header such as `form-data; name="a"`, by lower-case name; the value before them is under ''. */
function parseParameters(header: string): Map<string, string> {
  const found = new Map<string, string>()
  const [first = ''] = header.split(';', 1)
  found.set('', first.trim().toLowerCase())
  for (const [, name, text, plain] of header.slice(first.length).matchAll(PARAMETER)) {
    found.set(name!.toLowerCase(), text === undefined ? plain!.trim() : text.replaceAll(/\\(.)/g, '$1'))
  }
  return found
}

const LIMITS = { max_total_bytes: 8388608, max_field_bytes: 8388608, max_fields: 128 } as const

/** Characters of RFC 2046 without the space, which would need quoting. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=?]*$/

function describeBoundaryProblem(boundary: string): string | null {
  if (boundary === '') return 'boundary must not be empty'
  if (encodeUtf8(boundary).length > 70) return 'boundary must be at most 70 bytes'
  return BOUNDARY.test(boundary) ? null : 'boundary contains a character that is not valid in multipart/form-data'
}

function readBoundary(type: string): { readonly boundary: string } | string {
  const params = parseParameters(type)
  const media = params.get('') ?? ''
  if (media !== 'multipart/form-data') return `expected multipart/form-data content type, got ${media}`
  const boundary = params.get('boundary')
  if (boundary === undefined) return 'content type is missing boundary'
  return describeBoundaryProblem(boundary) ?? { boundary }
}

/** Header lines as lower-case names to values, or what is wrong with one. */
function readHeaders(text: string): Map<string, string> | string {
  const headers = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    const at = line.indexOf(':')
    if (at < 0) return `malformed part header line \`${line}\``
    headers.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim())
  }
  return headers
}

/** One part between delimiters, or what is wrong with it. */
function readPart(part: Uint8Array, maxBytes: number): HarnDict | string {
  const end = find(part, encodeUtf8('\r\n\r\n'))
  if (end < 0) return 'part is missing header terminator'
  const headers = readHeaders(decodeUtf8(part.subarray(0, end)))
  if (typeof headers === 'string') return headers
  const content = part.slice(end + 4)
  if (content.length > maxBytes) return `field size ${content.length} exceeds max_field_bytes ${maxBytes}`
  const disposition = headers.get('content-disposition')
  if (disposition === undefined) return 'part is missing Content-Disposition header'
  const params = parseParameters(disposition)
  if (params.get('') !== 'form-data') return `expected form-data disposition, got ${params.get('') ?? ''}`
  const name = params.get('name')
  if (name === undefined || name === '') return 'part Content-Disposition is missing name'
  return HarnDict.of({
    name,
    filename: params.get('filename') ?? null,
    content_type: headers.get('content-type') ?? null,
    headers: new HarnDict(new Map<string, Value>(headers)),
    bytes: new HarnBytes(content),
    text: decodeUtf8Strict(content),
  })
}

type Limits = { readonly [K in keyof typeof LIMITS]: number }

/** The fields of a body, or what is wrong with it. */
function readBody(body: Uint8Array, boundary: string, limits: Limits): HarnDict[] | string {
  if (body.length > limits.max_total_bytes) {
    return `total body size ${body.length} exceeds max_total_bytes ${limits.max_total_bytes}`
  }
  const delimiter = encodeUtf8(`--${boundary}`)
  const between = encodeUtf8(`\r\n--${boundary}`)
  const fields: HarnDict[] = []
  if (find(body.subarray(0, delimiter.length), delimiter) !== 0) return 'body does not start with multipart boundary'
  let at = delimiter.length
  for (;;) {
    const mark = decodeUtf8(body.subarray(at, at + 2))
    if (mark === '--') {
      const rest = decodeUtf8(body.subarray(at + 2))
      return rest === '' || rest === '\r\n' ? fields : 'unexpected bytes after closing boundary'
    }
    if (mark !== '\r\n') return 'malformed boundary delimiter line'
    if (fields.length >= limits.max_fields) return `field count exceeds max_fields ${limits.max_fields}`
    const start = at + 2
    const end = find(body, between, start)
    if (end < 0) {
      return find(body, encodeUtf8('\r\n\r\n'), start) < 0
        ? 'part is missing header terminator'
        : 'part is missing following boundary'
    }
    const field = readPart(body.subarray(start, end), limits.max_field_bytes)
    if (typeof field === 'string') return field
    fields.push(field)
    at = end + between.length
  }
}

function parse(ctx: Context, body: Value, type: string, options: HarnDict | null): Result {
  const fail = (message: string): Control => ctx.runtime(`multipart_parse: ${message}`)
  const bytes = body instanceof HarnBytes ? body.data : encodeUtf8(body as string)
  ctx.charge(bytes.length >> 5, 2 * bytes.length)
  const limits: { -readonly [K in keyof typeof LIMITS]: number } = { ...LIMITS }
  for (const name of ['max_total_bytes', 'max_field_bytes', 'max_fields'] as const) {
    const given = options?.get(name)
    if (given === undefined) continue
    const limit = count(given)
    if (limit === null) return fail(`${name} must be an int, got ${typeName(given)}`)
    if (limit < 0) return fail(`${name} must be non-negative, got ${limit}`)
    limits[name] = limit
  }
  const head = readBoundary(type)
  if (typeof head === 'string') return fail(head)
  const fields = readBody(bytes, head.boundary, limits)
  if (typeof fields === 'string') return fail(fields)
  return HarnDict.of({
    boundary: head.boundary,
    fields: new HarnList(fields),
    field_count: fields.length,
    total_bytes: bytes.length,
  })
}

const MISSING = '{f}: missing argument {n}'

function defineFieldReader(
  name: string,
  returns: string,
  doc: string,
  read: (ctx: Context, bytes: Uint8Array) => Result,
): BuiltinDef {
  const demands = { raise: 'runtime', absent: MISSING, not: '{f}: {param} must be a {type}, got {got}' } as const
  return builtinTaking(`${name}(field: dict) -> ${returns}`, { doc }, demands, (ctx, field) => {
    const bytes = field.get('bytes')
    return bytes instanceof HarnBytes ? read(ctx, bytes.data) : ctx.runtime(`${name}: field is missing bytes`)
  })
}

export const multipartFunctions: readonly BuiltinDef[] = [
  builtinTaking(
    'multipart_form_data(fields: list, options?: dict) -> dict',
    { doc: 'A form as `{boundary, content_type, body}`.' },
    {
      raise: 'runtime',
      absent: MISSING,
      not: {
        fields: '{f}: {param} must be a {type}, got {got}',
        options: '{f}: expected options {type} at argument {n}, got {got}',
      },
    },
    makeFormData,
  ),
  builtinTaking(
    'multipart_parse(body: bytes|string, content_type: string, options?: dict) -> dict',
    { doc: 'The fields of a form body.' },
    {
      raise: 'runtime',
      absent: MISSING,
      not: {
        body: '{f}: expected {type} at argument {n}, got {got}',
        content_type: '{f}: expected {type} at argument {n}, got {got}',
        options: '{f}: expected options {type} at argument {n}, got {got}',
      },
    },
    parse,
  ),
  defineFieldReader('multipart_field_bytes', 'bytes', 'The content of a parsed field.', (_ctx, bytes) => new HarnBytes(bytes)),
  defineFieldReader(
    'multipart_field_text',
    'string',
    'The content of a parsed field as text.',
    (ctx, bytes) => decodeUtf8Strict(bytes) ?? ctx.runtime(`multipart_field_text: ${describeUtf8Problem(bytes)}`),
  ),
]
