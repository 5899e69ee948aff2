// Digests, HMAC, key pairs and signatures as scripts see them; tokens and signed URLs are in crypto-jwt.ts and
// crypto-signed-url.ts. Keys, signatures and digests are hexadecimal texts.

import {
  HarnBytes,
  HarnDict,
  builtin,
  builtinTaking,
  decodeHex,
  makeEachWork,
  encodeBase64,
  encodeHex,
  encodeUtf8,
  frame,
  definePieces,
  readTextArg,
  work,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Control, FrameState, Result, Value } from '@bridle/vm/families'
import { ed25519, x25519 } from '@noble/curves/ed25519.js'
import { toRawBytes } from '../codecs/codecs.js'
import { HASHED_BITS, RAW_DIGESTS, TEXT_DIGESTS, hmacDigesting, isSameText } from './hashes.js'
import type { Digesting } from './hashes.js'
import { jwtFunctions } from './jwt.js'
import { signedUrlFunctions } from './signed-url.js'
import { KEY_UNITS, cryptoToolFrames, cryptoToolFunctions } from './standard-crypto.js'

/** Bytes that are hashed for a unit, as a power of two: digests of wide words in JavaScript are slow. */
const SLOWLY_HASHED_BITS: Readonly<Record<string, number>> = {
  blake3: 2,
  sha3_256: 1,
  sha3_512: 0,
  sha384: 2,
  sha512: 2,
  sha512_256: 2,
}
/** Bytes that are hashed between two looks at the budget. */
const BLOCK = 1 << 13

/** UTF-8 of a part of a text; of a pair of surrogates on its border, the whole belongs to the block where it begins. */
function encodeBlock(text: string, from: number, to: number): Uint8Array {
  const isSplit = (at: number): boolean => isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at))
  return encodeUtf8(text.slice(from + (isSplit(from) ? 1 : 0), to + (isSplit(to) ? 1 : 0)))
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** The digest of `data` (bytes as they are, of anything else the display) by name of the digest, in pieces; `key` for hmac. */
const digesting = definePieces('crypto.digest', ([name, data, key]) => {
  if (typeof key === 'string') work(key.length >> HASHED_BITS)
  const hash = (DIGESTS[name as string] ?? (() => hmacDigesting(encodeUtf8(key as string))))()
  const { length } = data instanceof HarnBytes ? data.data : (data as string)
  const bits = SLOWLY_HASHED_BITS[name as string] ?? HASHED_BITS
  return makeEachWork(
    Math.ceil(length / BLOCK),
    (at, budget) => {
      const from = at * BLOCK
      const block =
        data instanceof HarnBytes ? data.data.subarray(from, from + BLOCK) : encodeBlock(data as string, from, from + BLOCK)
      hash.update(block)
      budget.left -= block.length >> bits
      budget.heap += block.length
      return undefined
    },
    () => (name === 'hmac_sha256_base64' ? encodeBase64 : encodeHex)(hash.digest()),
  )
})

/** Characters that are compared between two looks at the budget, and for a unit, as a power of two. */
const COMPARED = 1 << 14
const COMPARED_BITS = 5

/** Whether two texts are the same, in a time that does not tell where they differ; in pieces. */
const comparing = definePieces('crypto.same', ([one, other]) => {
  const [a, b] = [one as string, other as string]
  let isSame = a.length === b.length
  return makeEachWork(
    Math.ceil(a.length / COMPARED),
    (at, budget) => {
      const [from, to] = [at * COMPARED, (at + 1) * COMPARED]
      // Compared also where blocks before it differ.
      const isBlockSame = isSameText(a.slice(from, to), b.slice(from, to))
      isSame = isBlockSame && isSame
      budget.left -= COMPARED >> COMPARED_BITS
      return undefined
    },
    () => isSame,
  )
})

const DIGESTS: Readonly<Record<string, () => Digesting>> = { ...TEXT_DIGESTS, ...RAW_DIGESTS }

function defineDigest(name: string, read: (ctx: Context, value: Value) => Value): BuiltinDef {
  return builtin(
    `${name}(data: string|bytes) -> string`,
    { doc: `The ${name} digest in hexadecimal.`, borrows: true, pays: true },
    (ctx, value = null) => digesting.run(ctx, name, read(ctx, value)),
  )
}

const asText = (ctx: Context, value: Value): Value => readTextArg(ctx, 0, value)

const asBytes = (ctx: Context, value: Value): Value => (value instanceof HarnBytes ? value : readTextArg(ctx, 0, value))

function defineAuthenticator(name: string, doc: string): BuiltinDef {
  return builtin(`${name}(key: string, message: string) -> string`, { doc, pays: true }, (ctx, key, message) =>
    digesting.run(ctx, name, readTextArg(ctx, 1, message), readTextArg(ctx, 0, key)),
  )
}

const CURVES = {
  ed25519: (secret: Uint8Array) => ed25519.getPublicKey(secret),
  x25519: (secret: Uint8Array) => x25519.getPublicKey(secret),
} as const

interface KeypairState extends FrameState {
  curve: keyof typeof CURVES
  asked: boolean
}

const keypairFrame = frame<KeypairState>({
  kind: 'crypto.keypair',
  step: (ctx, state) => {
    if (!state.asked) {
      state.asked = true
      return ctx.request({ kind: 'random.bytes', args: { count: 32 } })
    }
    if (!(ctx.result instanceof HarnBytes) || ctx.result.data.length !== 32) {
      return ctx.runtime(`${state.curve}_keypair: no random bytes`)
    }
    const secret = ctx.result.data
    ctx.charge(KEY_UNITS)
    return HarnDict.of({ private: encodeHex(secret), public: encodeHex(CURVES[state.curve](secret)) })
  },
})

function defineKeypair(curve: keyof typeof CURVES): BuiltinDef {
  return builtin(
    `${curve}_keypair() -> dict`,
    { doc: 'A fresh `{private, public}` key pair.', effects: ['random.bytes'] },
    (ctx) => {
      const state: KeypairState = { curve, asked: false }
      return ctx.frame('crypto.keypair', state)
    },
  )
}

/** A key of 32 bytes, or the error that says what it is instead. */
function readKey(ctx: Context, name: string, what: string, hex: string, text: string): Uint8Array | Control {
  const bytes = decodeKey(ctx, name, hex, text)
  return !(bytes instanceof Uint8Array) || bytes.length === 32 ? bytes : ctx.throw(`${name}: ${what} must be 32 bytes`)
}

function decodeKey(ctx: Context, name: string, hex: string, text: string): Uint8Array | Control {
  const bytes = decodeHex(text)
  return typeof bytes === 'string' ? ctx.throw(`${name}: invalid ${hex}: ${bytes}`) : bytes
}

function sign(ctx: Context, secret: string, message: Value): Result {
  const bytes = readKey(ctx, 'ed25519_sign', 'private key', 'hex private key', secret)
  if (!(bytes instanceof Uint8Array)) return bytes
  ctx.charge(500)
  return encodeHex(ed25519.sign(toRawBytes(message), bytes))
}

function verify(ctx: Context, publicKey: string, message: Value, signature: string): Result {
  const keyBytes = decodeHex(publicKey)
  const signatureBytes = decodeHex(signature)
  if (typeof keyBytes === 'string' || typeof signatureBytes === 'string') return false
  ctx.charge(1000)
  try {
    return ed25519.verify(signatureBytes, toRawBytes(message), keyBytes)
  } catch {
    // Wrong lengths and points off the curve: no signature, so not a valid one.
    return false
  }
}

function agree(ctx: Context, secret: string, peer: string): Result {
  // Both have to be hexadecimal before the length of either is looked at.
  const own = decodeKey(ctx, 'x25519_agree', 'private hex', secret)
  if (!(own instanceof Uint8Array)) return own
  const other = decodeKey(ctx, 'x25519_agree', 'public hex', peer)
  if (!(other instanceof Uint8Array)) return other
  if (own.length !== 32) return ctx.throw('x25519_agree: private must be 32 bytes')
  if (other.length !== 32) return ctx.throw('x25519_agree: public must be 32 bytes')
  ctx.charge(500)
  try {
    return encodeHex(x25519.getSharedSecret(own, other))
  } catch {
    return ctx.throw('x25519_agree: the public key gives no shared secret')
  }
}

export const cryptoFamily: BuiltinFamily = {
  name: 'crypto',
  builtins: [
    ...Object.keys(TEXT_DIGESTS).map((name) => defineDigest(name, asText)),
    ...Object.keys(RAW_DIGESTS).map((name) => defineDigest(name, asBytes)),
    defineAuthenticator('hmac_sha256', 'HMAC-SHA256 in hexadecimal.'),
    defineAuthenticator('hmac_sha256_base64', 'HMAC-SHA256 in base64.'),
    builtin(
      'constant_time_eq(a: string|bytes, b: string|bytes) -> bool',
      { doc: 'Whether both displays are the same.' },
      (ctx, a, b) => comparing.run(ctx, readTextArg(ctx, 0, a), readTextArg(ctx, 1, b)),
    ),
    defineKeypair('ed25519'),
    defineKeypair('x25519'),
    builtinTaking(
      'ed25519_sign(private_key: string, message: string) -> string',
      { doc: 'An Ed25519 signature in hexadecimal.' },
      { fewer: '{f}: expected (private_hex, message)', text: { private_key: null } },
      sign,
    ),
    builtinTaking(
      'ed25519_verify(public_key: string, message: string, signature: string) -> bool',
      { doc: 'Whether an Ed25519 signature fits.' },
      { fewer: '{f}: expected (public_hex, message, signature_hex)', text: { public_key: null, signature: null } },
      verify,
    ),
    builtinTaking(
      'x25519_agree(private_key: string, peer_public_key: string) -> string',
      { doc: 'The shared secret of two key pairs.' },
      { fewer: '{f}: expected (private_hex, peer_public_hex)', text: { private_key: null, peer_public_key: null } },
      agree,
    ),
    ...jwtFunctions,
    ...signedUrlFunctions,
    ...cryptoToolFunctions,
  ],
  frames: [keypairFrame, digesting.frame, comparing.frame, ...cryptoToolFrames],
}
