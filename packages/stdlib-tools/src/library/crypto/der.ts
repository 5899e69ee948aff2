// Keys in PEM armour: just enough of DER to find the numbers of an RSA key or the bytes of a P-256 key. Lengths are checked
// against what is there, so a broken key gives null and never reads past its end.

import { decodeBase64, encodeHex } from '@bridle/vm/families'

interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

const SEQUENCE = 0x30
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_ID = 0x06

/** The elements that lie behind each other in `bytes`, null when they do not fill it exactly. */
function readElements(bytes: Uint8Array): Element[] | null {
  const found: Element[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = bytes[at]!
    let length = bytes[at + 1] ?? -1
    at += 2
    if (length > 0x84 || length === 0x80) return null
    if (length > 0x80) {
      const digits = bytes.subarray(at, at + length - 0x80)
      at += digits.length
      length = digits.reduce((sum, byte) => sum * 256 + byte, 0)
    }
    if (length < 0 || at + length > bytes.length) return null
    found.push({ tag, content: bytes.subarray(at, at + length) })
    at += length
  }
  return found
}

/** The members of the one sequence that `bytes` is. */
function readSequence(bytes: Uint8Array): Element[] | null {
  const [only, ...more] = readElements(bytes) ?? []
  return only?.tag === SEQUENCE && more.length === 0 ? readElements(only.content) : null
}

/** Several times an RSA key of 16,384 bits, and text around it. */
const LONGEST_PEM = 1 << 16

/** Label and content of the first PEM block. */
function readPem(text: string): { readonly label: string; readonly bytes: Uint8Array } | null {
  if (text.length > LONGEST_PEM) return null
  // Neither label nor content has a dash, so that no part of the text is read twice.
  const block = /-----BEGIN ([A-Z ]+)-----([A-Za-z0-9+/=\s]+)-----END ([A-Z ]+)-----/g
  for (let found = block.exec(text); found !== null; found = block.exec(text)) {
    const [whole, label, content, end] = found as unknown as readonly [string, string, string, string]
    if (label !== end) {
      block.lastIndex = found.index + whole.length - '-----'.length
      continue
    }
    const bytes = decodeBase64(content.replaceAll(/\s/g, ''))
    return typeof bytes === 'string' ? null : { label, bytes }
  }
  return null
}

function toBigInt(bytes: Uint8Array): bigint {
  // Byte by byte it would take quadratic time.
  return BigInt(`0x0${encodeHex(bytes)}`)
}

function readIntegers(bytes: Uint8Array): bigint[] | null {
  const members = readSequence(bytes)
  return members !== null && members.every((member) => member.tag === INTEGER)
    ? members.map((member) => toBigInt(member.content))
    : null
}

// OBJECT IDENTIFIERs in hexadecimal: rsaEncryption, id-ecPublicKey, prime256v1.
const RSA_ID = '2a864886f70d010101'
const EC_ID = '2a8648ce3d0201'
const P256_ID = '2a8648ce3d030107'

function hasIds(algorithm: Element | undefined, ...ids: string[]): boolean {
  const members = algorithm?.tag === SEQUENCE ? readElements(algorithm.content) : null
  const found = (members ?? [])
    .filter((member) => member.tag === OBJECT_ID)
    .map((member) => toBigInt(member.content).toString(16))
  return ids.every((id, at) => found[at] === id)
}

/** The key inside a PKCS #8 private key of the named algorithm. */
function unwrapPrivate(bytes: Uint8Array, ...ids: string[]): Uint8Array | null {
  const [version, algorithm, key] = readSequence(bytes) ?? []
  return version?.tag === INTEGER && key?.tag === OCTET_STRING && hasIds(algorithm, ...ids) ? key.content : null
}

/** The key inside a SubjectPublicKeyInfo of the named algorithm; its bit string starts with the number of unused bits. */
function unwrapPublic(bytes: Uint8Array, ...ids: string[]): Uint8Array | null {
  const [algorithm, key] = readSequence(bytes) ?? []
  return key?.tag === BIT_STRING && key.content[0] === 0 && hasIds(algorithm, ...ids) ? key.content.subarray(1) : null
}

export interface RsaPublic {
  readonly modulus: bigint
  readonly exponent: bigint
}

export interface RsaPrivate extends RsaPublic {
  readonly secret: bigint
  /** Null where the key does not say them, or says others. */
  readonly primes: RsaPrimes | null
}

export interface RsaPrimes {
  readonly p: bigint
  readonly q: bigint
  /** The secret modulo p - 1 and q - 1. */
  readonly dp: bigint
  readonly dq: bigint
  /** Of q modulo p. */
  readonly inverse: bigint
}

/** The DER of a key: from a block with the general label, unwrapped, or from one whose label names the algorithm, as it is. */
function readKeyBytes(
  pem: string,
  general: string,
  specific: string,
  unwrap: (bytes: Uint8Array) => Uint8Array | null,
): Uint8Array | null {
  const block = readPem(pem)
  if (block?.label === general) return unwrap(block.bytes)
  return block?.label === specific ? block.bytes : null
}

/** PKCS #8 or PKCS #1. */
export function readRsaPrivateKey(pem: string): RsaPrivate | null {
  const bytes = readKeyBytes(pem, 'PRIVATE KEY', 'RSA PRIVATE KEY', (der) => unwrapPrivate(der, RSA_ID))
  const [, modulus, exponent, secret, p, q, dp, dq, inverse] = (bytes === null ? null : readIntegers(bytes)) ?? []
  if (modulus === undefined || exponent === undefined || secret === undefined || modulus < 2n) return null
  const isWhole = p !== undefined && q !== undefined && p > 1n && q > 1n && p * q === modulus
  const primes = isWhole && dp !== undefined && dq !== undefined && inverse !== undefined ? { p, q, dp, dq, inverse } : null
  return { modulus, exponent, secret, primes }
}

/** SubjectPublicKeyInfo or PKCS #1. */
export function readRsaPublicKey(pem: string): RsaPublic | null {
  const bytes = readKeyBytes(pem, 'PUBLIC KEY', 'RSA PUBLIC KEY', (der) => unwrapPublic(der, RSA_ID))
  const [modulus, exponent] = (bytes === null ? null : readIntegers(bytes)) ?? []
  return modulus === undefined || exponent === undefined || modulus < 2n ? null : { modulus, exponent }
}

/** The 32 bytes of a P-256 private key, from PKCS #8 or SEC 1. */
export function readP256PrivateKey(pem: string): Uint8Array | null {
  const bytes = readKeyBytes(pem, 'PRIVATE KEY', 'EC PRIVATE KEY', (der) => unwrapPrivate(der, EC_ID, P256_ID))
  const [, key] = (bytes === null ? null : readSequence(bytes)) ?? []
  return key?.tag === OCTET_STRING && key.content.length === 32 ? key.content : null
}

/** The point of a P-256 public key in its encoded form. */
export function readP256PublicKey(pem: string): Uint8Array | null {
  const block = readPem(pem)
  return block?.label === 'PUBLIC KEY' ? unwrapPublic(block.bytes, EC_ID, P256_ID) : null
}
