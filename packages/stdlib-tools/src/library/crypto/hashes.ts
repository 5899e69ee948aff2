// Digests and message authentication, from @noble/hashes: synchronous and the same in Node and browsers.

import { blake3 } from '@noble/hashes/blake3.js'
import { hmac } from '@noble/hashes/hmac.js'
import { md5 } from '@noble/hashes/legacy.js'
import { sha224, sha256, sha384, sha512, sha512_256 } from '@noble/hashes/sha2.js'
import { sha3_256, sha3_512 } from '@noble/hashes/sha3.js'
import { work } from '@bridle/vm/families'

/** Bytes that are hashed for a unit, as a power of two. */
export const HASHED_BITS = 3

/** Takes bytes piece by piece. */
export interface Digesting {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

type Digest = () => Digesting

/** Digests of the display of a value, bytes too (so a bytes value is hashed as its `b"…"`). */
export const TEXT_DIGESTS: Readonly<Record<string, Digest>> = {
  sha224: () => sha224.create(),
  sha256: () => sha256.create(),
  sha384: () => sha384.create(),
  sha512: () => sha512.create(),
  sha512_256: () => sha512_256.create(),
  md5: () => md5.create(),
}

/** Digests that take bytes as they are. */
export const RAW_DIGESTS: Readonly<Record<string, Digest>> = {
  sha3_256: () => sha3_256.create(),
  sha3_512: () => sha3_512.create(),
  blake3: () => blake3.create(),
}

export function hmacDigesting(key: Uint8Array): Digesting {
  return hmac.create(sha256, key)
}

/** In one go, which is paid before. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  work((key.length + message.length) >> HASHED_BITS)
  return hmac(sha256, key, message)
}

/** Whether two texts are the same, in a time that does not tell where they differ. */
export function isSameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ (b.charCodeAt(at) || 0)
  return difference === 0
}

export { sha256 }
