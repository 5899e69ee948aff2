// Functions on bytes. They are strict: a missing argument or one of another type is a run-time error that names the argument.

import { withRun } from './builtin.js'
import type { BuiltinDef, Context, Result } from './builtin.js'
import { decodeBase64, decodeHex, encodeBase64, encodeHex } from './codecs-alphabets.js'
import type { BuiltinFamily } from './registry.js'
import { builtinTaking } from './unpack.js'
import type { TakingRun } from './unpack.js'
import { HarnBytes } from '../values/scalars.js'

const encoder = new TextEncoder()
// ignoreBOM: a leading U+FEFF is a character like any other.
const lossy = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Invalid sequences become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return lossy.decode(bytes)
}

/** null when the bytes are not UTF-8. */
export function decodeUtf8Strict(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes)
  } catch {
    return null
  }
}

/** Why bytes are not UTF-8, with the offset of the first invalid byte. */
export function describeUtf8Problem(bytes: Uint8Array): string {
  let at = 0
  while (at < bytes.length) {
    const lead = bytes[at]!
    const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
    // Overlong forms, surrogates and code points past U+10FFFF are recognised by the second byte.
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    let good = 1
    while (good < size && at + good < bytes.length) {
      const next = bytes[at + good]!
      if (next < (good === 1 ? low : 0x80) || next > (good === 1 ? high : 0xbf)) break
      good++
    }
    if (good < size && at + good === bytes.length) return `incomplete utf-8 byte sequence from index ${at}`
    if (good !== size) return `invalid utf-8 sequence of ${good} bytes from index ${at}`
    at += size
  }
  return 'invalid utf-8'
}

export function hasSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

const DEMANDS = {
  raise: 'runtime',
  absent: '{f}: missing argument {n}',
  not: '{f}: expected {type} at argument {n}, got {got}',
} as const

/** Charges for a result as large as the argument. */
function define<const S extends string>(signature: S, doc: string, run: TakingRun<S, typeof DEMANDS>): BuiltinDef {
  const def = builtinTaking(signature, { doc }, DEMANDS, run)
  return withRun(def, (ctx, ...args) => {
    for (const arg of args) {
      const size = arg instanceof HarnBytes ? arg.data.length : typeof arg === 'string' ? arg.length : 0
      ctx.charge(size >> 6, size)
    }
    return def.run(ctx, ...args)
  })
}

function toBytes(ctx: Context, name: string, decoded: Uint8Array | string): Result {
  return typeof decoded === 'string' ? ctx.runtime(`${name}: ${decoded}`) : new HarnBytes(decoded)
}

function concat(a: Uint8Array, b: Uint8Array): HarnBytes {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return new HarnBytes(joined)
}

function slice(bytes: Uint8Array, start: number, end: number): HarnBytes {
  const from = Math.min(Math.max(0, start), bytes.length)
  const to = Math.min(Math.max(0, end), bytes.length)
  return new HarnBytes(bytes.slice(from, Math.max(from, to)))
}

export const bytesFamily: BuiltinFamily = {
  name: 'bytes',
  builtins: [
    define('bytes_from_string(s: string) -> bytes', 'The UTF-8 form of a text.', (_ctx, text) => new HarnBytes(encodeUtf8(text))),
    define(
      'bytes_to_string(b: bytes) -> string',
      'The text; bytes that are not UTF-8 are an error.',
      (ctx, bytes) => decodeUtf8Strict(bytes.data) ?? ctx.runtime(`bytes_to_string: ${describeUtf8Problem(bytes.data)}`),
    ),
    define('bytes_to_string_lossy(b: bytes) -> string', 'The text; invalid parts become U+FFFD.', (_ctx, bytes) =>
      decodeUtf8(bytes.data),
    ),
    define('bytes_to_hex(b: bytes) -> string', 'Lower-case hexadecimal digits.', (_ctx, bytes) => encodeHex(bytes.data)),
    define('bytes_from_hex(s: string) -> bytes', 'From hexadecimal digits.', (ctx, text) =>
      toBytes(ctx, 'bytes_from_hex', decodeHex(text)),
    ),
    define('bytes_to_base64(b: bytes) -> string', 'Base64 with padding.', (_ctx, bytes) => encodeBase64(bytes.data)),
    define('bytes_from_base64(s: string) -> bytes', 'From base64 with padding.', (ctx, text) =>
      toBytes(ctx, 'bytes_from_base64', decodeBase64(text)),
    ),
    define('bytes_len(b: bytes) -> int', 'Number of bytes.', (_ctx, bytes) => bytes.data.length),
    define('bytes_concat(a: bytes, b: bytes) -> bytes', 'Both, one behind the other.', (_ctx, a, b) => concat(a.data, b.data)),
    define(
      'bytes_slice(b: bytes, start: int, end: int) -> bytes',
      'The bytes from `start` up to `end`.',
      (_ctx, bytes, start, end) => slice(bytes.data, Number(start), Number(end)),
    ),
    define('bytes_eq(a: bytes, b: bytes) -> bool', 'Whether both hold the same bytes.', (_ctx, a, b) =>
      hasSameBytes(a.data, b.data),
    ),
  ],
}
