// JSON Web Tokens: signing with ES256 and RS256, verifying these and HS256. Expiry is not enforced; scripts look at the claims.

import {
  HarnDict,
  builtinTaking,
  decodeBase64Url,
  decodeUtf8Strict,
  encodeBase64Url,
  encodeHex,
  encodeUtf8,
  parseJson,
  hasSameBytes,
  stringifyJson,
  work,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Fit, Result } from '@bridle/vm/families'
import { p256 } from '@noble/curves/nist.js'
import { readP256PrivateKey, readP256PublicKey, readRsaPrivateKey, readRsaPublicKey } from './der.js'
import type { RsaPrivate, RsaPublic } from './der.js'
import { hmacSha256, sha256 } from './hashes.js'

/** Bits of the exponent times pairs of words of the modulus, for a unit. */
const BITS_A_UNIT = 32

function measureBits(value: bigint): number {
  return value.toString(16).length << 2
}

function computePowerMod(base: bigint, exponent: bigint, modulus: bigint): bigint {
  // Divided, not shifted: a shift is of 32 bits, and large keys would cost nothing.
  work(Math.floor((measureBits(exponent) * (measureBits(modulus) / 64) ** 2) / BITS_A_UNIT))
  let result = 1n
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** The private operation; quicker where the key has its primes: powers of half the length. */
function signRsa(message: bigint, { modulus, exponent, secret, primes }: RsaPrivate): bigint {
  if (primes !== null) {
    const { p, q, dp, dq, inverse } = primes
    const second = computePowerMod(message, dq, q)
    const difference = (((computePowerMod(message, dp, p) - second) * inverse) % p) + p
    const signed = second + (difference % p) * q
    // Numbers of a key that do not belong together must not be found out from what they give.
    if (signed < modulus && computePowerMod(signed, exponent, modulus) === message) return signed
  }
  return computePowerMod(message, secret, modulus)
}

/** Big-endian bytes of a fixed length; the number must fit. */
function toBytes(value: bigint, length: number): Uint8Array {
  const hex = value.toString(16).padStart(2 * length, '0')
  return Uint8Array.from({ length }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16))
}

function measureModulus(key: RsaPublic): number {
  return Math.ceil(key.modulus.toString(16).length / 2)
}

// DigestInfo of SHA-256 up to the digest itself (RFC 8017, 9.2).
const DIGEST_INFO = Uint8Array.from([
  0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
])

/** EMSA-PKCS1-v1_5 of a message, null when the key is too short for it. */
function padDigest(message: Uint8Array, size: number): Uint8Array | null {
  const filler = size - DIGEST_INFO.length - 32 - 3
  if (filler < 8) return null
  const padded = new Uint8Array(size).fill(0xff)
  padded[0] = 0
  padded[1] = 1
  padded[2 + filler] = 0
  padded.set(DIGEST_INFO, 3 + filler)
  padded.set(sha256(message), 3 + filler + DIGEST_INFO.length)
  return padded
}

/** A signature, or null when the key is no key of the algorithm. */
type Sign = (message: Uint8Array, pem: string) => Uint8Array | null
/** Whether the signature fits, or null when the key is no key of the algorithm. */
type Verify = (message: Uint8Array, signature: Uint8Array, key: string) => boolean | null

function attempt<T>(run: () => T): T | null {
  try {
    return run()
  } catch {
    // The library throws for keys out of range and points off the curve.
    return null
  }
}

const signers: ReadonlyMap<string, Sign> = new Map<string, Sign>([
  [
    'ES256',
    (message, pem) => {
      const key = readP256PrivateKey(pem)
      return key === null ? null : attempt(() => p256.sign(message, key))
    },
  ],
  [
    'RS256',
    (message, pem) => {
      const key = readRsaPrivateKey(pem)
      const padded = key === null ? null : padDigest(message, measureModulus(key))
      if (key === null || padded === null) return null
      return toBytes(signRsa(BigInt(`0x${encodeHex(padded)}`), key), measureModulus(key))
    },
  ],
])

const verifiers: ReadonlyMap<string, Verify> = new Map<string, Verify>([
  ['HS256', (message, signature, secret) => hasSameBytes(hmacSha256(encodeUtf8(secret), message), signature)],
  [
    'ES256',
    (message, signature, pem) => {
      const key = readP256PublicKey(pem)
      return key === null ? null : (attempt(() => p256.verify(signature, message, key, { lowS: false })) ?? false)
    },
  ],
  [
    'RS256',
    (message, signature, pem) => {
      const key = readRsaPublicKey(pem)
      const padded = key === null ? null : padDigest(message, measureModulus(key))
      if (key === null || padded === null) return null
      const value = signature.length === padded.length ? BigInt(`0x${encodeHex(signature)}`) : key.modulus
      return (
        value < key.modulus && hasSameBytes(toBytes(computePowerMod(value, key.exponent, key.modulus), padded.length), padded)
      )
    },
  ],
])

/** Characters that are decoded and hashed for a unit, as a power of two. */
const HASHED_BITS = 2

/** Of a signature on P-256: about a millisecond. RSA pays by the size of the key beside it. */
const SIGNATURE_UNITS = 3000

function sign(ctx: Context, name: string, claims: HarnDict, pem: string): Result {
  const fail = (message: string): Result => ctx.runtime(`jwt_sign: ${message}`)
  const signer = signers.get(name)! // the unpacker has looked
  ctx.charge(SIGNATURE_UNITS + (pem.length >> HASHED_BITS))
  const encode = (text: string): string => encodeBase64Url(encodeUtf8(text))
  const content = `${encode(`{"typ":"JWT","alg":"${name}"}`)}.${encode(stringifyJson(claims))}`
  ctx.charge(content.length >> HASHED_BITS)
  const signature = signer(encodeUtf8(content), pem)
  return signature === null
    ? fail(`invalid ${name} PEM private key: InvalidKeyFormat`)
    : `${content}.${encodeBase64Url(signature)}`
}

/** The dict behind a part of a token, or what is wrong with it. */
function decodePart(part: string): HarnDict | string {
  const bytes = decodeBase64Url(part)
  if (typeof bytes === 'string') return `Base64 error: ${bytes}`
  const text = decodeUtf8Strict(bytes)
  const parsed = text === null ? null : parseJson(text)
  if (parsed?.ok === false) return `JSON error: ${parsed.message}`
  return parsed?.ok === true && parsed.value instanceof HarnDict ? parsed.value : 'InvalidToken'
}

function verify(ctx: Context, name: string, token: string, key: string): Result {
  const fail = (message: string): Result => ctx.throw(`jwt_verify: ${message}`)
  const verifier = verifiers.get(name)
  if (verifier === undefined) return fail(`unsupported algorithm '${name}'`)
  // Both are used twice, and for more than they are long.
  ctx.charge(SIGNATURE_UNITS + ((key.length + token.length) >> HASHED_BITS))
  // The key comes first: an unreadable key is reported before the token is checked.
  const nothing = new Uint8Array()
  if (verifier(nothing, nothing, key) === null) return fail(`invalid ${name} public key: InvalidKeyFormat`)
  const [header = '', payload = '', signature, more] = token.split('.', 4)
  if (signature === undefined || more !== undefined) return fail('InvalidToken')
  const head = decodePart(header)
  if (typeof head === 'string') return fail(head)
  if (!head.has('alg')) return fail('JSON error: missing field `alg`')
  if (head.get('alg') !== name) return fail('InvalidAlgorithm')
  const bytes = decodeBase64Url(signature)
  const valid = typeof bytes === 'string' ? false : verifier(encodeUtf8(`${header}.${payload}`), bytes, key)
  if (valid !== true) return fail('InvalidSignature')
  const claims = decodePart(payload)
  return typeof claims === 'string' ? fail(claims) : HarnDict.of({ valid: true, claims })
}

const knowsAlgorithm: Fit = (algorithm, { name }) =>
  signers.has(algorithm as string) ? null : `${name}: unsupported algorithm \`${algorithm as string}\`; expected ES256 or RS256`

export const jwtFunctions: readonly BuiltinDef[] = [
  builtinTaking(
    'jwt_sign(alg: string, claims: dict, private_key: string) -> string',
    { doc: 'A signed JSON Web Token (ES256, RS256).' },
    {
      raise: 'runtime',
      fewer: '{f}: requires 3 arguments: alg, claims, private_key',
      most: 3,
      not: {
        alg: '{f}: {param} must be a {type}, got {got}',
        claims: '{f}: {param} must be a {type}, got {got}',
        private_key: '{f}: {param} must be a PEM {type}, got {got}',
      },
      fits: { alg: knowsAlgorithm },
    },
    sign,
  ),
  builtinTaking(
    'jwt_verify(alg: string, token: string, key: string) -> dict',
    { doc: 'The claims of a token whose signature fits (HS256, ES256, RS256).' },
    { fewer: '{f}: expected (alg, token, key)', text: { alg: null, token: null, key: null } },
    verify,
  ),
]
