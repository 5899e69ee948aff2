// Replaces node:crypto inside the other engine, as far as engine.ts uses it.

import { encodeHex } from '../packages/vm/src/builtins/codecs-alphabets.js'
import { sha256 } from '../packages/stdlib-tools/src/library/crypto/hashes.js'

interface Hash {
  readonly update: (bytes: Uint8Array) => { readonly digest: (form: 'hex') => string }
}

export function createHash(_name: 'sha256'): Hash {
  return { update: (bytes) => ({ digest: () => encodeHex(sha256(bytes)) }) }
}
