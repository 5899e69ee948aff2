// BLAKE3 for places without WebAssembly files: ids of tools, schemas and modules. Node hosts use the ten times faster twin
// in node/hash.ts; one test runs the same published vectors through both. SHA-256 of texts, for arguments and traces: there are
// several of them in every traced call, so the platform's own is used where it answers at once.

import { blake3 } from '@noble/hashes/blake3.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** Lower-case hex of the 32-byte digest. */
export function hashHex(bytes: Uint8Array): string {
  return toHex(blake3(bytes))
}

type HashText = (text: string) => string

/** Lower-case hex of the digest of the text's UTF-8 bytes. */
export function hashSha256Hex(text: string): string {
  hashText ??= findPlatformSha256() ?? hashSha256InScript
  return hashText(text)
}

let hashText: HashText | null = null

/** Lower-case hex of the digest. */
export function hashSha256Bytes(bytes: Uint8Array): string {
  return toHex(sha256(bytes))
}

export function hashSha256InScript(text: string): string {
  return hashSha256Bytes(new TextEncoder().encode(text))
}

interface Platform {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown }
}

/** Node's, found without an import, because this file is loaded by browsers too: theirs answers later only. Null elsewhere. */
export function findPlatformSha256(): HashText | null {
  const crypto = (globalThis as Platform).process?.getBuiltinModule?.('node:crypto') as
    | { readonly hash?: (algorithm: string, data: string, encoding: 'hex') => string }
    | undefined
  const hash = crypto?.hash
  return hash === undefined ? null : (text) => hash('sha256', text, 'hex')
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
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
