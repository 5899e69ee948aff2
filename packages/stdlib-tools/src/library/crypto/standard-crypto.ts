// Key pairs and signatures in base64, for the standard tools `crypto.ed25519_*`; the builtins for scripts
// (crypto.ts) have them in hexadecimal.

import {
  HarnBytes,
  HarnDict,
  builtin,
  countOr,
  decodeBase64,
  display,
  encodeBase64,
  encodeHex,
  encodeUtf8,
  frame,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Control, FrameState, Value } from '@bridle/vm/families'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { HASHED_BITS } from './hashes.js'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** The bytes of a base64 text, or the error that says what it is instead. */
function decodeBytes(ctx: Context, what: string, value: Value, length: number): Uint8Array | Control {
  const bytes = decodeBase64(display(value))
  if (typeof bytes === 'string') return ctx.throw(`invalid ${what}: ${bytes}`)
  return bytes.length === length ? bytes : ctx.throw(`invalid ${what}: ${length} bytes are needed, got ${bytes.length}`)
}

interface KeygenState extends FrameState {
  asked: boolean
}

/** Units of one multiplication of a point, which is what making a key takes. */
export const KEY_UNITS = 500

const keygenFrame = frame<KeygenState>({
  kind: 'crypto.keygen',
  step: (ctx, state) => {
    if (!state.asked) {
      state.asked = true
      return ctx.request({ kind: 'random.bytes', args: { count: KEY_BYTES } })
    }
    if (!(ctx.result instanceof HarnBytes) || ctx.result.data.length !== KEY_BYTES) return ctx.runtime('no random bytes')
    const secret = ctx.result.data
    ctx.charge(KEY_UNITS)
    return HarnDict.of({ public_key: encodeBase64(ed25519.getPublicKey(secret)), secret_key: encodeBase64(secret) })
  },
})

/** Maximum output of RFC 5869 for one secret. */
const DIGEST_BYTES = 32
const MOST_DERIVED = 255 * DIGEST_BYTES

export const cryptoToolFunctions: readonly BuiltinDef[] = [
  builtin(
    '__ed25519_keygen() -> dict',
    { doc: 'A fresh key pair, `{public_key, secret_key}` in base64.', effects: ['random.bytes'] },
    (ctx) => ctx.frame('crypto.keygen', { asked: false } satisfies KeygenState),
  ),
  builtin(
    '__ed25519_sign(message: string, secret_key: string) -> string',
    { doc: 'A signature in base64.' },
    (ctx, message, secret) => {
      const key = decodeBytes(ctx, 'secret_key', secret!, KEY_BYTES)
      if (!(key instanceof Uint8Array)) return key
      ctx.charge(500)
      return encodeBase64(ed25519.sign(encodeUtf8(display(message!)), key))
    },
  ),
  builtin(
    '__ed25519_verify(message: string, signature: string, public_key: string) -> bool',
    { doc: 'Whether a signature in base64 fits.' },
    (ctx, message, signature, publicKey) => {
      const key = decodeBytes(ctx, 'public_key', publicKey!, KEY_BYTES)
      if (!(key instanceof Uint8Array)) return key
      const signed = decodeBytes(ctx, 'signature', signature!, SIGNATURE_BYTES)
      if (!(signed instanceof Uint8Array)) return signed
      ctx.charge(1000)
      try {
        return ed25519.verify(signed, encodeUtf8(display(message!)), key)
      } catch {
        // A point off the curve signs nothing.
        return false
      }
    },
  ),
  builtin('__sha1(data: string) -> string', { doc: 'SHA-1 in hexadecimal, for what still asks for it.' }, (ctx, data) => {
    const bytes = encodeUtf8(display(data!))
    ctx.charge(bytes.length >> 3, bytes.length)
    return encodeHex(sha1(bytes))
  }),
  builtin(
    '__sha256_bytes(data: bytes) -> string',
    { doc: 'SHA-256 of the bytes themselves, in hexadecimal; `sha256` hashes how they print.' },
    (ctx, value) => {
      if (!(value instanceof HarnBytes)) return ctx.throw('__sha256_bytes: the argument must be bytes')
      ctx.charge(value.data.length >> HASHED_BITS, 2 * DIGEST_BYTES)
      return encodeHex(sha256(value.data))
    },
  ),
  builtin(
    '__hkdf_sha256(key: string, salt: string, info: string, length: int) -> string',
    { doc: 'A key that is derived from another one (RFC 5869), in hexadecimal.' },
    (ctx, key, salt, info, length) => {
      const bytes = countOr(length!, 0)
      if (bytes < 1 || bytes > MOST_DERIVED) return ctx.throw(`length must be from 1 to ${MOST_DERIVED} bytes`)
      const [secret, salted, context] = [key, salt, info].map((value) => encodeUtf8(display(value ?? '')))
      // The context is hashed again for each block that is derived.
      const hashed = secret!.length + salted!.length + Math.ceil(bytes / DIGEST_BYTES) * (context!.length + 2 * DIGEST_BYTES)
      ctx.charge(hashed >> HASHED_BITS, 2 * bytes)
      return encodeHex(hkdf(sha256, secret!, salted!, context!, bytes))
    },
  ),
]

export const cryptoToolFrames = [keygenFrame]
