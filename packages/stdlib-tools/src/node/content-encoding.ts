// Packed response bodies (RFC 9110 §8.4): gzip, deflate, Brotli and Zstandard, one behind the other as often as the header says.
// Accepts a common mistake: deflate without its zlib frame. An empty body is empty in any encoding, so that answers to HEAD, 204 and 304 need no case of their own.

import { Readable, pipeline } from 'node:stream'
import type { Duplex } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { decodeZstd } from '../library/compression/zstd.js'

/** What requests say that they understand, best first. */
export const ACCEPTED_ENCODINGS = 'zstd, gzip, deflate, br'

type Pieces = AsyncIterable<Uint8Array>
type Unpack = (pieces: Pieces, mostBytes: number) => Pieces

const UNPACKERS: ReadonlyMap<string, Unpack | null> = new Map<string, Unpack | null>([
  ['gzip', (pieces) => pipeThrough(pieces, () => createGunzip())],
  ['x-gzip', (pieces) => pipeThrough(pieces, () => createGunzip())],
  // Its first byte shows whether there is a zlib frame: 8 is the only method.
  ['deflate', (pieces) => pipeThrough(pieces, (first) => ((first[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw()))],
  ['br', (pieces) => pipeThrough(pieces, () => createBrotliDecompress())],
  ['zstd', unzstd],
  ['identity', null],
  ['', null],
])

/**
 * The content of a body by its `content-encoding`; null when that is nothing, or names something that is not known, and the body
 * stays as it came. Errors of the decoder are errors of the stream. `mostBytes` is what a decoder may keep that cannot work in pieces.
 */
export function unpackBody(body: Readable, encoding: string | undefined, mostBytes: number): Readable | null {
  const names = (encoding ?? '').toLowerCase().split(',')
  const unpackers = names.map((name) => UNPACKERS.get(name.trim()))
  if (unpackers.includes(undefined) || unpackers.every((each) => each === null)) return null
  let pieces: Pieces = body as AsyncIterable<Uint8Array>
  for (const unpack of unpackers.reverse()) if (unpack) pieces = unpack(pieces, mostBytes)
  const content = Readable.from(pieces, { objectMode: false })
  // Cancelling the content cancels the body.
  content.once('close', () => body.on('error', () => {}).destroy())
  return content
}

async function* pipeThrough(pieces: Pieces, decoderFor: (first: Uint8Array) => Duplex): Pieces {
  const source = pieces[Symbol.asyncIterator]()
  let next = await source.next()
  while (next.done !== true && next.value.length === 0) next = await source.next()
  if (next.done === true) return
  const decoder = decoderFor(next.value)
  const packed = (async function* () {
    for (; next.done !== true; next = await source.next()) yield next.value
  })()
  // An error of either end destroys the decoder with it, and reading on raises it here.
  pipeline(packed, decoder, () => {})
  yield* decoder as AsyncIterable<Uint8Array>
}

async function* unzstd(pieces: Pieces, mostBytes: number): Pieces {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > mostBytes) throw Object.assign(new Error(`response body is larger than ${mostBytes} bytes`), { code: 'EMSGSIZE' })
    chunks.push(piece)
  }
  if (size > 0) yield decodeZstd(Buffer.concat(chunks), mostBytes)
}
