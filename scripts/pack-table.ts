// Writes tables of strings in the format of `packages/stdlib-tools/src/library/harn/packed.ts`. Deterministic: the compressor is JavaScript,
// the same on every machine.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Packed } from '../packages/stdlib-tools/src/library/harn/packed.js'
import { root } from './workspace.mjs'

interface Compressor {
  readonly deflateSync: (bytes: Uint8Array, options: { readonly level: 9; readonly dictionary?: Uint8Array }) => Uint8Array
}

/** The library of the package that reads the tables: this folder has no dependencies of its own. */
const { deflateSync } = createRequire(join(root, 'packages', 'stdlib-tools', 'package.json'))('fflate') as Compressor

/** How far back the compressor looks. */
const DICTIONARY_BYTES = 32_768

export function packTable(entries: readonly (readonly [key: string, text: string])[]): Packed {
  const texts = entries.map(([, text]) => new TextEncoder().encode(text))
  // The beginnings of all entries come first: they contain shared names and constants.
  const share = Math.floor(DICTIONARY_BYTES / Math.max(texts.length, 1))
  const dictionary = Buffer.concat(texts.map((bytes) => bytes.subarray(0, share)))
  const parts = [deflateSync(dictionary, { level: 9 }), ...texts.map((bytes) => deflateSync(bytes, { level: 9, dictionary }))]
  return {
    keys: entries.map(([key]) => key).join(' '),
    lengths: parts.map((part) => part.length).join(' '),
    data: Buffer.concat(parts).toString('base64'),
  }
}
