// BLAKE3 through WebAssembly: synchronous, and an order of magnitude faster than JavaScript from 1 KB on.

import { hash } from 'blake3-wasm'

/** Lower-case hex of the 32-byte digest. */
export function hashHex(bytes: Uint8Array): string {
  return Buffer.from(hash(bytes) as Buffer).toString('hex')
}
