// Tables of strings that are part of the package: modules in Harn, compiled or as sources. As literals they would be two fifths of what a
// page loads, of which a run reads a few entries; so they are stored compressed, each entry by itself, and read when they are asked for.
// `scripts/pack-table.ts` writes them.

import { decodeBase64, decodeUtf8 } from '@bridle/vm/families'
import { inflateSync } from 'fflate/browser'

export interface Packed {
  /** Separated by spaces. */
  readonly keys: string
  /** Lengths of the compressed dictionary and of each compressed entry, in bytes, separated by spaces. */
  readonly lengths: string
  /** Base64 of the compressed parts, one after the other. The dictionary has what many entries share. */
  readonly data: string
}

export class PackedTable<T = string> implements Pick<ReadonlyMap<string, T>, 'get' | 'keys'> {
  private readonly packed: Packed
  private readonly read: (text: string) => T
  private readonly values = new Map<string, T>()
  private parts: ReadonlyMap<string, Uint8Array> | null = null
  private dictionary: Uint8Array | null = null

  constructor(packed: Packed, read: (text: string) => T) {
    this.packed = packed
    this.read = read
  }

  keys(): MapIterator<string> {
    return this.listParts().keys()
  }

  /** The same value each time. */
  get(key: string): T | undefined {
    const known = this.values.get(key)
    if (known !== undefined) return known
    const part = this.listParts().get(key)
    if (part === undefined) return undefined
    const value = this.read(decodeUtf8(inflateSync(part, { dictionary: this.dictionary! })))
    this.values.set(key, value)
    return value
  }

  private listParts(): ReadonlyMap<string, Uint8Array> {
    if (this.parts !== null) return this.parts
    const { keys, lengths, data } = this.packed
    const bytes = decodeBase64(data)
    if (typeof bytes === 'string') throw new Error(`a table of modules is damaged: ${bytes}`)
    const [dictionaryLength = 0, ...partLengths] = lengths.split(' ').map(Number)
    this.dictionary = inflateSync(bytes.subarray(0, dictionaryLength))
    const parts = new Map<string, Uint8Array>()
    let at = dictionaryLength
    for (const [index, key] of (keys === '' ? [] : keys.split(' ')).entries()) {
      const end = at + partLengths[index]!
      parts.set(key, bytes.subarray(at, end))
      at = end
    }
    return (this.parts = parts)
  }
}

export function packedTexts(packed: Packed): PackedTable {
  return new PackedTable(packed, (text) => text)
}

/** `T` is what the script that wrote the table put into it. */
export function packedJson<T>(packed: Packed): PackedTable<T> {
  return new PackedTable(packed, (text) => JSON.parse(text) as T)
}
