// UUIDs as 16 bytes: reading, writing and the versions 4 (random), 5 (name) and 7 (time).

import { decodeHex, encodeHex } from '@bridle/vm/families'
import { sha1 } from '@noble/hashes/legacy.js'

export function formatUuid(bytes: Uint8Array): string {
  const hex = encodeHex(bytes)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const FORMS = [
  /^([0-9a-f]{32})$/i,
  /^(?:urn:uuid:)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i,
  /^\{([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}$/i,
]

/** Plain, hyphenated, braced and URN forms; null for any other text. */
export function parseUuid(text: string): Uint8Array | null {
  for (const form of FORMS) {
    const digits = form.exec(text)?.[1]
    if (digits !== undefined) return decodeHex(digits.replaceAll('-', '')) as Uint8Array
  }
  return null
}

/** RFC 9562: the four namespaces differ in one digit. */
const NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['dns', '0'],
  ['url', '1'],
  ['oid', '2'],
  ['x500', '4'],
])

export function readNamespace(text: string): Uint8Array | null {
  const digit = NAMESPACES.get(text.toLowerCase())
  return parseUuid(digit === undefined ? text : `6ba7b81${digit}-9dad-11d1-80b4-00c04fd430c8`)
}

function stampVersion(bytes: Uint8Array, version: number): Uint8Array {
  const uuid = bytes.slice(0, 16)
  uuid[6] = (uuid[6]! & 0x0f) | (version << 4)
  uuid[8] = (uuid[8]! & 0x3f) | 0x80
  return uuid
}

export function makeRandomUuid(random: Uint8Array): Uint8Array {
  return stampVersion(random, 4)
}

export function makeNameUuid(namespace: Uint8Array, name: Uint8Array): Uint8Array {
  const text = new Uint8Array(namespace.length + name.length)
  text.set(namespace)
  text.set(name, namespace.length)
  return stampVersion(sha1(text), 5)
}

/** The first 48 bits are milliseconds since 1970. */
export function makeTimeUuid(random: Uint8Array, millis: number): Uint8Array {
  const bytes = random.slice(0, 16)
  for (let at = 5, rest = Math.max(0, millis); at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256
  return stampVersion(bytes, 7)
}
