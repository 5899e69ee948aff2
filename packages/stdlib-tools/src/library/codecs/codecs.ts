// Text codecs: base64, base32, hex, percent encoding, UUIDs; and the families of URLs, cookies and multipart bodies that build
// on them. Encoders take the display of a value (`base64_encode`: bytes as they are); decoders give text.

import {
  HarnBytes,
  HarnFloat,
  builtin,
  builtinTaking,
  decodeBase32,
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  decodeUtf8,
  display,
  encodeAsciiBase64,
  encodeBase32,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
  encodeUtf8,
  frame,
  readTextArg,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, FrameState, Value } from '@bridle/vm/families'
import { cookieFunctions } from './cookies.js'
import { multipartFunctions } from './multipart.js'
import { decodePercent, encodePercent } from './percent.js'
import { urlFunctions } from './urls.js'
import { formatUuid, makeNameUuid, readNamespace, parseUuid, makeTimeUuid, makeRandomUuid } from './uuid.js'

/** Bytes as they are, anything else as the UTF-8 of its display. */
export function toRawBytes(value: Value): Uint8Array {
  return value instanceof HarnBytes ? value.data : encodeUtf8(display(value))
}

/** The UTF-8 of the display, also of bytes; nothing when there is no argument. */
/** Bytes that are coded for a unit, as a power of two. */
const CODED_BITS = 3

function defineEncoder(name: string, doc: string, encode: (bytes: Uint8Array) => string): BuiltinDef {
  return builtinTaking(`${name}(s: string) -> string`, { doc, borrows: true }, { text: { s: null } }, (ctx, text) => {
    const bytes = encodeUtf8(text)
    ctx.charge(bytes.length >> CODED_BITS, 2 * bytes.length)
    return encode(bytes)
  })
}

function defineDecoder(name: string, kind: string, doc: string, decode: (text: string) => Uint8Array | string): BuiltinDef {
  return builtin(`${name}(s: string) -> string as ?`, { doc, borrows: true }, (ctx, value) => {
    const text = readTextArg(ctx, 0, value)
    ctx.charge(text.length >> CODED_BITS, text.length)
    const bytes = decode(text)
    return typeof bytes === 'string' ? ctx.runtime(`${kind} decode error: ${bytes}`) : decodeUtf8(bytes)
  })
}

function mapText(ctx: Context, value: Value | undefined, map: (text: string) => string): string {
  const text = readTextArg(ctx, 0, value)
  ctx.charge(text.length >> 1, 3 * text.length)
  return map(text)
}

const base64Encoder = builtinTaking(
  'base64_encode(s: string) -> string',
  { doc: 'Base64 with padding; bytes are encoded as they are.', borrows: true },
  { missing: { s: '' } },
  (ctx, value) => {
    if (typeof value === 'string') {
      const encoded = encodeAsciiBase64(value)
      if (encoded !== null) {
        ctx.charge(value.length >> CODED_BITS, 2 * value.length)
        return encoded
      }
    }
    const bytes = toRawBytes(value)
    ctx.charge(bytes.length >> CODED_BITS, 2 * bytes.length)
    return encodeBase64(bytes)
  },
)

const codecs: readonly BuiltinDef[] = [
  base64Encoder,
  defineEncoder('base64url_encode', 'Base64 for URLs, without padding.', encodeBase64Url),
  defineEncoder('base32_encode', 'Base32 in upper case with padding.', encodeBase32),
  defineEncoder('hex_encode', 'Lower-case hexadecimal digits.', encodeHex),
  defineDecoder('base64_decode', 'base64', 'The text behind base64.', decodeBase64),
  defineDecoder('base64url_decode', 'base64url', 'The text behind base64 for URLs, which has no padding.', decodeBase64Url),
  defineDecoder('base32_decode', 'base32', 'The text behind base32.', decodeBase32),
  defineDecoder('hex_decode', 'hex', 'The text behind hexadecimal digits.', decodeHex),
  builtin(
    'url_encode(s: string) -> string',
    { doc: 'Percent-encodes all but unreserved characters.', borrows: true },
    (ctx, value) => mapText(ctx, value, encodePercent),
  ),
  builtin(
    'url_decode(s: string) -> string as ?',
    { doc: 'Decodes percent escapes and `+`; bad escapes stay.', borrows: true },
    (ctx, value) => mapText(ctx, value, decodePercent),
  ),
]

/** Asks for 16 random bytes, for version 7 for the wall clock before. */
interface UuidState extends FrameState {
  stage: 'start' | 'clock' | 'random'
  version: 4 | 7
  millis: number
}

const uuidFrame = frame<UuidState>({
  kind: 'codecs.uuid',
  step: (ctx, state) => {
    if (state.stage === 'start' && state.version === 7) {
      state.stage = 'clock'
      return ctx.request({ kind: 'clock.now', args: {} })
    }
    if (state.stage !== 'random') {
      const { result } = ctx
      if (state.stage === 'clock') state.millis = Math.floor(result instanceof HarnFloat ? result.v : Number(result))
      state.stage = 'random'
      return ctx.request({ kind: 'random.bytes', args: { count: 16 } })
    }
    const bytes = ctx.result instanceof HarnBytes ? ctx.result.data : new Uint8Array(16)
    return formatUuid(state.version === 4 ? makeRandomUuid(bytes) : makeTimeUuid(bytes, state.millis))
  },
})

function defineGenerated(name: string, version: 4 | 7, doc: string, effects: readonly string[]): BuiltinDef {
  return builtin(`${name}() -> string`, { doc, effects }, (ctx) => {
    const state: UuidState = { stage: 'start', version, millis: 0 }
    return ctx.frame('codecs.uuid', state)
  })
}

const uuids: readonly BuiltinDef[] = [
  defineGenerated('uuid', 4, 'A random UUID.', ['random.bytes']),
  defineGenerated('uuid_v7', 7, 'A UUID whose order is that of time.', ['random.bytes', 'clock.now']),
  builtinTaking(
    'uuid_v5(namespace: string, name: string) -> string',
    { doc: 'The UUID of a name within a namespace.' },
    {
      raise: 'runtime',
      fewer: '{f}(namespace, name): requires namespace and name',
      text: { namespace: null, name: null },
    },
    (ctx, namespace, name) => {
      const bytes = readNamespace(namespace)
      if (bytes === null) return ctx.runtime('uuid_v5: namespace must be a UUID or one of dns/url/oid/x500')
      return formatUuid(makeNameUuid(bytes, encodeUtf8(name)))
    },
  ),
  builtin('uuid_nil() -> string', { doc: 'The UUID of zeros.' }, () => formatUuid(new Uint8Array(16))),
  builtin(
    'uuid_parse(str: string) -> string | nil',
    { doc: 'A UUID in its usual form, nil when the text is none.' },
    (ctx, value) => {
      const bytes = parseUuid(readTextArg(ctx, 0, value))
      return bytes === null ? null : formatUuid(bytes)
    },
  ),
]

export const codecsFamily: BuiltinFamily = {
  name: 'codecs',
  builtins: [...codecs, ...uuids, ...urlFunctions, ...cookieFunctions, ...multipartFunctions],
  frames: [uuidFrame],
  primitives: [
    builtin(
      '__time_uuid(random: bytes, ms: int) -> string',
      { doc: 'The UUID of 16 random bytes and a time since 1970.' },
      (_ctx, random, ms) => formatUuid(makeTimeUuid(random instanceof HarnBytes ? random.data : new Uint8Array(16), Number(ms))),
    ),
  ],
}
