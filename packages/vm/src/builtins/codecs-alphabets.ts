// Base64, base32 and hexadecimal. A decoder returns bytes, or a message that says what is wrong and where.

const HEX = '0123456789abcdef'
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE64URL = `${BASE64.slice(0, 62)}-_`
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

let ascii: TextDecoder | null = null

/** Characters of an alphabet by digit; and digits by character code, 255 for other characters. */
function makeTables(alphabet: string): Tables {
  const codes = Uint8Array.from(alphabet, (char) => char.charCodeAt(0))
  const digits = new Uint8Array(256).fill(NO_DIGIT)
  codes.forEach((code, digit) => {
    digits[code] = digit
  })
  return { codes, digits }
}

const NO_DIGIT = 255

interface Tables {
  readonly codes: Uint8Array
  readonly digits: Uint8Array
}

/** Tables of the alphabets that were used. */
const known = new Map<string, Tables>()

function getTables(alphabet: string): Tables {
  let tables = known.get(alphabet)
  if (tables === undefined) known.set(alphabet, (tables = makeTables(alphabet)))
  return tables
}

export function encodeHex(bytes: Uint8Array): string {
  const { codes } = getTables(HEX)
  const out = new Uint8Array(2 * bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    out[2 * at] = codes[byte >> 4]!
    out[2 * at + 1] = codes[byte & 15]!
  }
  return (ascii ??= new TextDecoder()).decode(out)
}

const CHUNK = 4096

/** Messages count and show bytes: a character beyond ASCII counts as its UTF-8 bytes. */
function toByteText(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text
  const bytes = new TextEncoder().encode(text)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) parts.push(decodeLatin1(bytes.subarray(at, at + CHUNK)))
  return parts.join('')
}

export function decodeHex(given: string): Uint8Array | string {
  const text = toByteText(given)
  if (text.length % 2 !== 0) return 'Odd number of digits'
  const bytes = new Uint8Array(text.length / 2)
  const { digits } = getTables(HEX)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // Codes of lower-case letters are 32 above those of upper-case letters.
    const digit = digits[code >= 0x41 && code <= 0x46 ? code + 32 : code]!
    if (digit === NO_DIGIT) return `Invalid character '${text[at]!}' at position ${at}`
    bytes[at >> 1] = bytes[at >> 1]! * 16 + digit
  }
  return bytes
}

/** Splits bytes into digits of `bits` bits, most significant first; the last is padded with zero bits. */
function encodeDigits(bytes: Uint8Array, alphabet: string, bits: number): string {
  const { codes } = getTables(alphabet)
  const out = new Uint8Array(Math.ceil((bytes.length * 8) / bits))
  const mask = (1 << bits) - 1
  let filled = 0
  let buffer = 0
  let held = 0
  for (let at = 0; at < bytes.length; at++) {
    buffer = (buffer << 8) | bytes[at]!
    held += 8
    while (held >= bits) {
      held -= bits
      out[filled++] = codes[(buffer >> held) & mask]!
    }
    buffer &= (1 << held) - 1
  }
  if (held > 0) out[filled] = codes[(buffer << (bits - held)) & mask]!
  return (ascii ??= new TextDecoder()).decode(out)
}

function pad(text: string, group: number): string {
  return text + '='.repeat((group - (text.length % group)) % group)
}

function describeBadSymbol(text: string, at: number): string {
  return `Invalid symbol ${text.charCodeAt(at)}, offset ${at}.`
}

/** Digits back to bytes. Left-over bits must be zero, so that every byte sequence has exactly one encoding. */
function decodeDigits(text: string, alphabet: string, bits: number): Uint8Array | string {
  const { digits } = getTables(alphabet)
  const bytes = new Uint8Array(Math.floor((text.length * bits) / 8))
  let buffer = 0
  let held = 0
  let filled = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code < 256 ? digits[code]! : NO_DIGIT
    if (digit === NO_DIGIT) return describeBadSymbol(text, at)
    buffer = (buffer << bits) | digit
    held += bits
    if (held >= 8) {
      held -= 8
      bytes[filled++] = (buffer >> held) & 0xff
    }
    buffer &= (1 << held) - 1
  }
  if (held >= bits) return `Invalid input length: ${text.length}`
  return buffer === 0 ? bytes : `Invalid last symbol ${text.charCodeAt(text.length - 1)}, offset ${text.length - 1}.`
}

function decodePadded(text: string, alphabet: string, bits: number, group: number): Uint8Array | string {
  let end = text.length
  while (end > 0 && text[end - 1] === '=') end--
  // An incomplete last group is reported by its last symbol; padding must not start at the first or second position of a group.
  if (text.length % group === 1 && !`${alphabet}=`.includes(text.at(-1)!)) return describeBadSymbol(text, text.length - 1)
  const decoded = decodeDigits(text.slice(0, end), alphabet, bits)
  if (end < text.length && end % group < 2) {
    const foreign = [...text.slice(0, end)].findIndex((char) => !alphabet.includes(char))
    return describeBadSymbol(text, foreign < 0 ? end : foreign)
  }
  if (typeof decoded === 'string' && !decoded.startsWith('Invalid last')) return decoded
  return text.length % group !== 0 ? 'Invalid padding' : decoded
}

/** With padding. The platform's encoder, if there is one, takes a fiftieth of the time. */
export function encodeBase64(bytes: Uint8Array): string {
  if (typeof btoa !== 'function') return pad(encodeDigits(bytes, BASE64, 6), 4)
  if (bytes.length <= WHOLE) return btoa(decodeLatin1(bytes))
  // A piece whose length is a multiple of three bytes has no padding.
  let out = ''
  for (let at = 0; at < bytes.length; at += WHOLE) out += btoa(decodeLatin1(bytes.subarray(at, at + WHOLE)))
  return out
}

/** Bytes encoded in one call. */
const WHOLE = 3 * 2048

/** Up to this length, a loop over characters is faster than starting an encoder. */
const SHORT = 64

/** Base64 of a string in which every character is one byte; null for other strings. */
export function encodeAsciiBase64(text: string): string | null {
  if (typeof btoa !== 'function') return null
  if (text.length > SHORT) return isAscii(text) ? btoa(text) : null
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return null
  return btoa(text)
}

let utf8: TextEncoder | null = null
/** Write-only buffer. */
let scratch: Uint8Array | null = null

/**
 * Checks by the length of the UTF-8, in pieces. Searching for a non-ASCII character takes 8 to 15 times as long as `btoa` for strings of up to
 * 10,000 characters, and an encoder that allocates its output 9 times; this takes half as long as `btoa`.
 */
function isAscii(text: string): boolean {
  utf8 ??= new TextEncoder()
  scratch ??= new Uint8Array(8192)
  for (let at = 0; at < text.length; at += scratch.length) {
    const piece = text.length <= scratch.length ? text : text.slice(at, at + scratch.length)
    const { read, written } = utf8.encodeInto(piece, scratch)
    // If the buffer is full, the piece was only partly encoded although the lengths agree.
    if (read !== piece.length || written !== read) return false
  }
  return true
}

/** A string with one unit per byte. */
function decodeLatin1(bytes: Uint8Array): string {
  return String.fromCharCode.apply(null, bytes as unknown as number[])
}

export function decodeBase64(text: string): Uint8Array | string {
  return decodePadded(toByteText(text), BASE64, 6, 4)
}

/** Without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeDigits(bytes, BASE64URL, 6)
}

export function decodeBase64Url(given: string): Uint8Array | string {
  const text = toByteText(given)
  if (text.length % 4 === 1 && !BASE64URL.includes(text.at(-1)!)) return describeBadSymbol(text, text.length - 1)
  return text.endsWith('=') ? 'Invalid padding' : decodeDigits(text, BASE64URL, 6)
}

export function encodeBase32(bytes: Uint8Array): string {
  return pad(encodeDigits(bytes, BASE32, 5), 8)
}

/** Positions in the messages count characters from 0; the rules are checked in the order of these messages. */
export function decodeBase32(text: string): Uint8Array | string {
  if (text.length % 8 !== 0) return `invalid length at ${text.length - (text.length % 8)}`
  let end = text.length
  while (end > 0 && text[end - 1] === '=') end--
  for (let at = 0; at < end; at++) if (!BASE32.includes(text[at]!)) return `invalid symbol at ${at}`
  // A last group of 1, 3 or 6 digits holds no whole number of bytes; a group of padding alone holds nothing.
  if (text.length - end >= 8 || [1, 3, 6].includes(end % 8)) return `invalid padding length at ${end}`
  const decoded = decodeDigits(text.slice(0, end), BASE32, 5)
  return typeof decoded === 'string' ? `non-zero trailing bits at ${end - 1}` : decoded
}
