// BLAKE3 for places without WebAssembly files: ids of tools, schemas and modules. Node hosts use the ten times faster twin
// in node/hash.ts; one test runs the same published vectors through both.

import { blake3 } from '@noble/hashes/blake3.js'

/** Lower-case hex of the 32-byte digest. */
export function hashHex(bytes: Uint8Array): string {
  return toHex(blake3(bytes))
}

export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

/** Hash of several texts as one: lengths go in, so that moving a boundary changes the result. */
export function hashTexts(hash: (bytes: Uint8Array) => string, texts: readonly string[]): string {
  const encoder = new TextEncoder()
  const parts = texts.map((text) => encoder.encode(text))
  const joined = encoder.encode(parts.map((part) => part.length).join(','))
  const size = parts.reduce((sum, part) => sum + part.length, joined.length)
  const all = new Uint8Array(size)
  all.set(joined)
  let at = joined.length
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return hash(all)
}
