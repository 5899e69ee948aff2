// A Zstandard encoder (RFC 8878) that is small and deterministic: greedy matching within blocks of 128 KiB, literals stored
// as they are, sequences coded with the predefined tables. Decoding is fzstd's, behind a look at what the headers ask for.

import { spread } from '@bridle/vm/families'
import type { Cost } from '@bridle/vm/families'
import { decompress } from 'fzstd'
import { hashXxh64Low } from './xxh64.js'

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]
const BLOCK_SIZE = 128 << 10
const MIN_MATCH = 4
const HASH_BITS = 15

/** Base and extra bits of the codes past the direct ones: literal lengths from 16, match lengths from 35. */
const LITERAL_CODES: readonly (readonly [number, number])[] = [
  ...Array.from({ length: 16 }, (_unused, base) => [base, 0] as const),
  [16, 1],
  [18, 1],
  [20, 1],
  [22, 1],
  [24, 2],
  [28, 2],
  [32, 3],
  [40, 3],
  [48, 4],
  [64, 6],
  [128, 7],
  [256, 8],
  [512, 9],
  [1024, 10],
  [2048, 11],
  [4096, 12],
  [8192, 13],
  [16384, 14],
  [32768, 15],
  [65536, 16],
]
const MATCH_CODES: readonly (readonly [number, number])[] = [
  ...Array.from({ length: 32 }, (_unused, index) => [index + 3, 0] as const),
  [35, 1],
  [37, 1],
  [39, 1],
  [41, 1],
  [43, 2],
  [47, 2],
  [51, 3],
  [59, 3],
  [67, 4],
  [83, 4],
  [99, 5],
  [131, 7],
  [259, 8],
  [515, 9],
  [1027, 10],
  [2051, 11],
  [4099, 12],
  [8195, 13],
  [16387, 14],
  [32771, 15],
  [65539, 16],
]

/** Predefined distributions; -1 stands for "less than one". */
const LITERAL_COUNTS = [
  4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
]
const MATCH_COUNTS = [1, 4, 3, 2, 2, 2, 2, 2, 2, ...Array.from({ length: 37 }, () => 1), -1, -1, -1, -1, -1, -1, -1]
const OFFSET_COUNTS = [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]

interface FseTable {
  readonly log: number
  readonly states: Uint16Array
  /** By symbol: added to the state, the upper 16 bits tell how many bits to write. */
  readonly deltaBits: Int32Array
  readonly deltaState: Int32Array
}

function buildTable(counts: readonly number[], log: number): FseTable {
  const size = 1 << log
  const symbols = new Uint8Array(size)
  let high = size - 1
  for (const [symbol, count] of counts.entries()) if (count === -1) symbols[high--] = symbol
  const step = (size >> 1) + (size >> 3) + 3
  let at = 0
  for (const [symbol, count] of counts.entries()) {
    for (let n = 0; n < count; n++) {
      symbols[at] = symbol
      do at = (at + step) & (size - 1)
      while (at > high)
    }
  }
  const next: number[] = []
  let total = 0
  for (const count of counts) {
    next.push(total)
    total += Math.abs(count)
  }
  const states = new Uint16Array(size)
  for (let cell = 0; cell < size; cell++) states[next[symbols[cell]!]!++] = size + cell
  const deltaBits = new Int32Array(counts.length)
  const deltaState = new Int32Array(counts.length)
  total = 0
  for (const [symbol, raw] of counts.entries()) {
    const count = Math.abs(raw)
    const maxBits = count === 1 ? log : log - (31 - Math.clz32(count - 1))
    deltaBits[symbol] = (maxBits << 16) - (count << maxBits)
    deltaState[symbol] = total - count
    total += count
  }
  return { log, states, deltaBits, deltaState }
}

const literalTable = buildTable(LITERAL_COUNTS, 6)
const matchTable = buildTable(MATCH_COUNTS, 6)
const offsetTable = buildTable(OFFSET_COUNTS, 5)

/** Bits from the lowest up; the decoder reads them from the end. */
class BitWriter {
  readonly bytes: number[] = []
  private held = 0
  private count = 0

  add(value: number, bits: number): void {
    // At most 16 bits at a time beside at most 7 held ones stay within 32.
    if (bits > 16) {
      this.add(value & 0xffff, 16)
      this.add(value >>> 16, bits - 16)
      return
    }
    this.held |= (value & ((1 << bits) - 1)) << this.count
    this.count += bits
    while (this.count >= 8) {
      this.bytes.push(this.held & 0xff)
      this.held >>>= 8
      this.count -= 8
    }
  }

  /** The mark behind the last bit, which the decoder looks for. */
  close(): readonly number[] {
    this.add(1, 1)
    if (this.count > 0) this.bytes.push(this.held & 0xff)
    return this.bytes
  }
}

class FseState {
  private readonly table: FseTable
  private state: number

  constructor(table: FseTable, symbol: number) {
    this.table = table
    const bits = (table.deltaBits[symbol]! + (1 << 15)) >> 16
    const value = (bits << 16) - table.deltaBits[symbol]!
    this.state = table.states[(value >> bits) + table.deltaState[symbol]!]!
  }

  encode(writer: BitWriter, symbol: number): void {
    const bits = (this.state + this.table.deltaBits[symbol]!) >> 16
    writer.add(this.state, bits)
    this.state = this.table.states[(this.state >> bits) + this.table.deltaState[symbol]!]!
  }

  flush(writer: BitWriter): void {
    writer.add(this.state, this.table.log)
  }
}

interface Sequence {
  readonly literals: number
  readonly match: number
  readonly offset: number
}

function findCode(codes: readonly (readonly [number, number])[], value: number): number {
  let low = 0
  let high = codes.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (codes[middle]![0] <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** Cuts a block into literals and matches inside it. The last literals belong to no sequence. */
function findSequences(block: Uint8Array): { sequences: Sequence[]; literals: number[] } {
  const heads = new Int32Array(1 << HASH_BITS).fill(-1)
  const sequences: Sequence[] = []
  const literals: number[] = []
  let anchor = 0
  let at = 0
  while (at + MIN_MATCH <= block.length) {
    const word = block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16) | (block[at + 3]! << 24)
    const hash = Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS)
    const candidate = heads[hash]!
    heads[hash] = at
    let length = 0
    if (candidate >= 0) while (at + length < block.length && block[candidate + length] === block[at + length]) length++
    if (length < MIN_MATCH) {
      at++
      continue
    }
    for (let copy = anchor; copy < at; copy++) literals.push(block[copy]!)
    sequences.push({ literals: at - anchor, match: length, offset: at - candidate })
    at += length
    anchor = at
  }
  for (let copy = anchor; copy < block.length; copy++) literals.push(block[copy]!)
  return { sequences, literals }
}

function encodeSequences(sequences: readonly Sequence[]): readonly number[] {
  const writer = new BitWriter()
  const coded = sequences.map(({ literals, match, offset }) => {
    const offsetCode = 31 - Math.clz32(offset + 3)
    return {
      literals,
      match,
      offset: offset + 3,
      literalCode: findCode(LITERAL_CODES, literals),
      matchCode: findCode(MATCH_CODES, match),
      offsetCode,
    }
  })
  const addExtras = (each: (typeof coded)[number]): void => {
    writer.add(each.literals - LITERAL_CODES[each.literalCode]![0], LITERAL_CODES[each.literalCode]![1])
    writer.add(each.match - MATCH_CODES[each.matchCode]![0], MATCH_CODES[each.matchCode]![1])
    writer.add(each.offset - 2 ** each.offsetCode, each.offsetCode)
  }
  const last = coded.at(-1)!
  const match = new FseState(matchTable, last.matchCode)
  const offset = new FseState(offsetTable, last.offsetCode)
  const literal = new FseState(literalTable, last.literalCode)
  addExtras(last)
  for (let at = coded.length - 2; at >= 0; at--) {
    const each = coded[at]!
    offset.encode(writer, each.offsetCode)
    match.encode(writer, each.matchCode)
    literal.encode(writer, each.literalCode)
    addExtras(each)
  }
  match.flush(writer)
  offset.flush(writer)
  literal.flush(writer)
  return writer.close()
}

/** A block's content in compressed form; null when that is not smaller. */
function compressBlock(block: Uint8Array): readonly number[] | null {
  const { sequences, literals } = findSequences(block)
  if (sequences.length === 0) return null
  const out: number[] = []
  const size = literals.length
  // Raw literals, the size in 5, 12 or 20 bits.
  if (size < 32) out.push(size << 3)
  else if (size < 4096) out.push(((size & 0xf) << 4) | 0b0100, size >> 4)
  else out.push(((size & 0xf) << 4) | 0b1100, (size >> 4) & 0xff, size >> 12)
  for (const byte of literals) out.push(byte)
  const count = sequences.length
  if (count < 128) out.push(count)
  else if (count < 0x7f00) out.push((count >> 8) + 128, count & 0xff)
  else out.push(255, (count - 0x7f00) & 0xff, (count - 0x7f00) >> 8)
  out.push(0)
  for (const byte of encodeSequences(sequences)) out.push(byte)
  return out.length < block.length ? out : null
}

/** In steps of a block; a byte takes a unit. */
export function* encodeZstd(data: Uint8Array): Generator<Cost, Uint8Array, void> {
  const chunks: Uint8Array[] = [makeFrameHeader(data.length)]
  let at = 0
  do {
    const block = data.subarray(at, at + BLOCK_SIZE)
    yield* spread(block.length, block.length)
    at += block.length
    const last = at >= data.length ? 1 : 0
    const makeHeader = (type: number, size: number): Uint8Array => {
      const word = (size << 3) | (type << 1) | last
      return Uint8Array.of(word & 0xff, (word >> 8) & 0xff, word >> 16)
    }
    if (block.length > 1 && block.every((byte) => byte === block[0])) {
      chunks.push(makeHeader(1, block.length), Uint8Array.of(block[0]!))
      continue
    }
    const compressed = compressBlock(block)
    if (compressed === null) chunks.push(makeHeader(0, block.length), block)
    else chunks.push(makeHeader(2, compressed.length), Uint8Array.from(compressed))
  } while (at < data.length)
  return concat(chunks)
}

/** One segment, with the size of the content in as few bytes as hold it. */
function makeFrameHeader(size: number): Uint8Array {
  if (size < 256) return Uint8Array.of(...MAGIC, 0x20, size)
  if (size < 65_792) return Uint8Array.of(...MAGIC, 0x60, (size - 256) & 0xff, (size - 256) >> 8)
  return Uint8Array.of(...MAGIC, 0xa0, size & 0xff, (size >>> 8) & 0xff, (size >>> 16) & 0xff, size >>> 24)
}

export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    out.set(chunk, at)
    at += chunk.length
  }
  return out
}

/** What the headers of one frame say, and its blocks. */
interface Frame {
  /** Most bytes that its blocks can make, by their headers; blocks that are cut short count as far as they go. */
  readonly bound: number
  /** What it says of its size; null when it does not. It may be a lie. */
  readonly contentSize: number | null
  /** Bytes behind that a block may refer to. */
  readonly windowSize: number
  /** Where it begins and ends in the data. */
  readonly begin: number
  readonly end: number
  /** Low half of the XXH64 of its content. */
  readonly checksum: number | null
}

function* listFrames(data: Uint8Array): Generator<Frame, void> {
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  for (let at = 0; at + 8 < data.length;) {
    if ((view.getUint32(at, true) & 0xfffffff0) >>> 0 === SKIPPABLE) {
      at += 8 + view.getUint32(at + 4, true)
      continue
    }
    const begin = at
    const descriptor = data[at + 4]!
    const isSingle = (descriptor & 0x20) !== 0
    const window = isSingle ? 0 : readWindowSize(data[at + 5]!)
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!
    at += 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!
    let contentSize: number | null = sizeBytes === 0 ? null : sizeBytes === 2 ? 256 : 0
    for (let place = sizeBytes - 1; place >= 0; place--) contentSize! += (data[at + place] ?? 0) * 256 ** place
    at += sizeBytes
    let bound = 0
    for (let isLast = false; !isLast && at + 3 <= data.length;) {
      const header = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16)
      const kind = (header >> 1) & 3
      const size = header >> 3
      isLast = (header & 1) !== 0
      bound += kind === COMPRESSED_BLOCK ? BLOCK_SIZE : size
      at += 3 + (kind === RUN_BLOCK ? 1 : size)
    }
    const hasSum = (descriptor & 4) !== 0
    const checksum = hasSum && at + 4 <= data.length ? view.getUint32(at, true) : null
    at += hasSum ? 4 : 0
    yield { bound, contentSize, windowSize: isSingle ? contentSize! : window, begin, end: at, checksum }
  }
}

/** By the window descriptor (RFC 8878 §3.1.1.1.2): an exponent and eighths. */
function readWindowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

/** Most bytes that unpacking takes, by the headers of frames and blocks. */
export function measureZstdBound(data: Uint8Array): number {
  let bound = 0
  for (const frame of listFrames(data)) bound += frame.bound
  return bound
}

/** Largest window of a frame that does not say its size: what the zstd command allows too. */
const MOST_WINDOW = 128 << 20

/**
 * Unpacks all frames. The library makes room for what a frame says of itself before it looks at a block, so headers that ask for more
 * than their blocks can fill are refused first. Throws an Error with the wording of the format's own library.
 */
export function decodeZstd(data: Uint8Array, mostBytes: number): Uint8Array {
  const contents: Uint8Array[] = []
  let size = 0
  let end = 0
  for (const frame of listFrames(data)) {
    end = frame.end
    const content = decodeFrame(data.subarray(frame.begin, end), frame, mostBytes - size)
    size += content.length
    contents.push(content)
  }
  // What is too short to be a frame with a block.
  if (contents.length === 0 && !isSkipped(data))
    throw new Error(beginsFrame(data) ? 'incomplete frame' : 'Unknown frame descriptor')
  if (contents.length > 0 && end < data.length && !isSkipped(data.subarray(end))) throw new Error('Unknown frame descriptor')
  return contents.length === 1 ? contents[0]! : concat(contents)
}

function decodeFrame(packed: Uint8Array, { bound, contentSize, windowSize, checksum }: Frame, mostBytes: number): Uint8Array {
  if (!beginsFrame(packed)) throw new Error('Unknown frame descriptor')
  if (contentSize !== null && contentSize > mostBytes) throw new Error('content is too large')
  if (contentSize !== null && contentSize > bound) throw new Error('incomplete frame')
  if (contentSize === null && windowSize > MOST_WINDOW) throw new Error('Frame requires too much memory for decoding')
  let content: Uint8Array
  try {
    content = decompress(packed)
  } catch (error) {
    const text = error instanceof Error ? error.message : ''
    throw new Error(text === 'unexpected EOF' ? 'incomplete frame' : 'Data corruption detected')
  }
  if (content.length > mostBytes) throw new Error('content is too large')
  if (checksum !== null && checksum !== hashXxh64Low(content)) throw new Error("Restored data doesn't match checksum")
  return content
}

/** Data that is cut short may still be the beginning of one. */
function beginsFrame(data: Uint8Array): boolean {
  return MAGIC.every((byte, at) => at >= data.length || data[at] === byte)
}

function isSkipped(data: Uint8Array): boolean {
  return data.length >= 8 && data[0]! >> 4 === 5 && data[1] === 0x2a && data[2] === 0x4d && data[3] === 0x18
}

const SKIPPABLE = 0x184d2a50
const RUN_BLOCK = 1
const COMPRESSED_BLOCK = 2
