// The hash behind `hash_value`: FNV-1a of 64 bits over the structural key of a value, so that values which are structurally
// the same hash alike, in this run and in every other.

import { structuralKey } from '../values/equality.js'
import { display } from '../values/display.js'
import { typeName } from '../values/value.js'
import type { Value } from '../values/value.js'

const OFFSET = 0xcbf29ce484222325n
const PRIME_LOW = 0x1b3
const encoder = new TextEncoder()

/** FNV-1a, 64 bits, as a signed bigint. The prime is 2^40 + 0x1b3, so a product takes two 32-bit halves and a shift. */
export function fnv1a(bytes: Uint8Array): bigint {
  let low = Number(OFFSET & 0xffffffffn)
  let high = Number(OFFSET >> 32n)
  for (let at = 0; at < bytes.length; at++) {
    low = (low ^ bytes[at]!) >>> 0
    const product = low * PRIME_LOW
    // High half: high * 0x1b3 + carry of the low half + low << 8 (the 2^40 of the prime).
    high = (Math.imul(high, PRIME_LOW) + Math.floor(product / 0x100000000) + ((low << 8) >>> 0)) >>> 0
    low = product >>> 0
  }
  return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low))
}

export function fingerprint(value: Value): bigint {
  const key = structuralKey(value)
  // Values with identity only have no content to hash but their display.
  const text = typeof key === 'object' && key !== null ? `o${typeName(value)}:${display(value)}` : `${typeof key}:${String(key)}`
  return fnv1a(encoder.encode(text))
}
