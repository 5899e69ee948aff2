// BLAKE3 for Node: synchronous, and for large inputs through WebAssembly, which is an order of magnitude faster than JavaScript
// there. It takes longer to load than a small script takes to compile and run, so small inputs do without it; both give the same.

import { hash } from 'blake3-wasm'
import { hashHex as hashHexInScript } from '../host/hash.js'

/** Bytes from which on WebAssembly is worth loading. */
const LARGE = 16 * 1024

/** Lower-case hex of the 32-byte digest. */
export function hashHex(bytes: Uint8Array): string {
  return bytes.length < LARGE ? hashHexInScript(bytes) : hashHexInWasm(bytes)
}

export function hashHexInWasm(bytes: Uint8Array): string {
  return Buffer.from(hash(bytes) as Buffer).toString('hex')
}
