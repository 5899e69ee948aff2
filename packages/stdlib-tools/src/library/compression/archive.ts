// tar and zip containers, written without times, owners or anything else that would differ between two runs.

import { Problem, spread } from '@bridle/vm/families'
import type { Cost } from '@bridle/vm/families'
import { Deflate, deflateSync, inflateSync } from 'fflate/browser'
import { concat } from './zstd.js'

export interface ArchiveEntry {
  readonly path: string
  readonly content: Uint8Array
  /** Permission bits, 0…0o7777. */
  readonly mode: number
}

/** A damaged archive; the message has no prefix yet. */
export class ArchiveError extends Problem {}

/** Units for an entry, beside its content; and bytes that are packed or unpacked for a unit, as a power of two. */
const UNITS_TAR = 60
const UNITS_PACKED = 500
const UNITS_UNPACKED = 250
const CONTENT_BITS = 3

function estimateCost(units: number, size: number): Cost {
  return { units: units + (size >> CONTENT_BITS), heap: size }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

// ------------------------------------------------------------------------------------------------------------------ tar

const RECORD = 512
/** Entries are padded to whole records, the archive ends with two empty ones. */
function makePadding(size: number): Uint8Array {
  return new Uint8Array((RECORD - (size % RECORD)) % RECORD)
}

function encodeOctal(value: number, width: number): Uint8Array {
  return encoder.encode(`${value.toString(8).padStart(width - 1, '0')}\0`)
}

/** A header in the format of GNU tar. */
function makeTarHeader(name: Uint8Array, type: string, size: number, mode: number): Uint8Array {
  const header = new Uint8Array(RECORD)
  header.set(name.subarray(0, 100), 0)
  header.set(encodeOctal(mode, 8), 100)
  header.set(encodeOctal(0, 8), 108)
  header.set(encodeOctal(0, 8), 116)
  header.set(encodeOctal(size, 12), 124)
  header.set(encodeOctal(0, 12), 136)
  header.set(encoder.encode('        '), 148)
  header.set(encoder.encode(type), 156)
  header.set(encoder.encode('ustar  \0'), 257)
  let sum = 0
  for (const byte of header) sum += byte
  header.set(encodeOctal(sum, 8), 148)
  return header
}

/** Like all of these in steps, which say beforehand what they take. */
export function* createTar(entries: Iterable<ArchiveEntry>): Generator<Cost, Uint8Array, void> {
  const chunks: Uint8Array[] = []
  for (const { path, content, mode } of entries) {
    yield estimateCost(UNITS_TAR, content.length)
    const bytes = encoder.encode(path)
    if (bytes.length > 100) {
      // A record of its own carries names that are too long, as GNU tar does it.
      chunks.push(
        makeTarHeader(encoder.encode('././@LongLink'), 'L', bytes.length + 1, 0o644),
        bytes,
        new Uint8Array(1),
        makePadding(bytes.length + 1),
      )
    }
    chunks.push(makeTarHeader(bytes, '\0', content.length, mode), content, makePadding(content.length))
  }
  chunks.push(new Uint8Array(2 * RECORD))
  return concat(chunks)
}

function readFieldText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function readFieldNumber(bytes: Uint8Array): number {
  // The high bit marks a big-endian binary number.
  if ((bytes[0]! & 0x80) !== 0) return bytes.reduce((value, byte, at) => (at === 0 ? byte & 0x7f : value * 256 + byte), 0)
  const text = readFieldText(bytes).trim()
  if (text !== '' && !/^[0-7]+$/.test(text)) throw new ArchiveError('invalid tar header')
  return text === '' ? 0 : Number.parseInt(text, 8)
}

export function* extractTar(data: Uint8Array): Generator<Cost, ArchiveEntry[], void> {
  const entries: ArchiveEntry[] = []
  let longName: string | null = null
  let at = 0
  while (at + RECORD <= data.length) {
    const header = data.subarray(at, at + RECORD)
    if (header.every((byte) => byte === 0)) break
    let sum = 0
    for (let index = 0; index < RECORD; index++) sum += index >= 148 && index < 156 ? 32 : header[index]!
    if (sum !== readFieldNumber(header.subarray(148, 156))) throw new ArchiveError('archive header checksum mismatch')
    const size = readFieldNumber(header.subarray(124, 136))
    yield estimateCost(UNITS_TAR, Math.min(size, data.length))
    const content = data.slice(at + RECORD, at + RECORD + size)
    if (content.length < size) throw new ArchiveError('unexpected end of archive')
    at += RECORD + size + ((RECORD - (size % RECORD)) % RECORD)
    if (at > data.length) throw new ArchiveError('unexpected EOF during skip')
    const type = String.fromCharCode(header[156]!)
    const isUstar = readFieldText(header.subarray(257, 263)) === 'ustar'
    const prefix = isUstar ? readFieldText(header.subarray(345, 500)) : ''
    const name = readFieldText(header.subarray(0, 100))
    if (type === 'L') longName = readFieldText(content)
    else if (type === 'x') longName = findPaxPath(content) ?? longName
    else {
      const path: string = longName ?? (prefix === '' ? name : `${prefix}/${name}`)
      // Links and devices are entries too, with nothing in them.
      if (type !== '5' && type !== 'g') entries.push({ path, content, mode: readFieldNumber(header.subarray(100, 108)) })
      longName = null
    }
  }
  if (at < data.length && at + RECORD > data.length) throw new ArchiveError('failed to read entire block')
  return entries
}

/** The `path` of an extended header: records `LENGTH key=value\n`. */
function findPaxPath(content: Uint8Array): string | null {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(decoder.decode(content))?.[1] ?? null
}

// ------------------------------------------------------------------------------------------------------------------ zip

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_unused, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value >>> 0
})

/** `before` is the sum of what stands in front of `data`. */
export function computeCrc32(data: Uint8Array, before = 0): number {
  let crc = ~before
  for (const byte of data) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 0xff]!
  return ~crc >>> 0
}

/** Bytes that are summed for a unit, as a power of two, and between two steps. */
const SUMMED_BITS = 4
const SUMMED_AT_ONCE = 1 << 17

/** The same in steps. */
export function* sumInSteps(data: Uint8Array): Generator<Cost, number, void> {
  let sum = 0
  for (let at = 0; at < data.length; at += SUMMED_AT_ONCE) {
    const part = data.subarray(at, at + SUMMED_AT_ONCE)
    yield { units: part.length >> SUMMED_BITS, heap: 0 }
    sum = computeCrc32(part, sum)
  }
  return sum
}

/** Bytes that are packed for a unit, as a power of two, and between two steps. Texts that hardly repeat take longest. */
const PACKED_BITS = 1
const PACKED_AT_ONCE = 1 << 15

/** Raw deflate data of `content`, in steps. */
export function* deflateInSteps(content: Uint8Array, level: number): Generator<Cost, Uint8Array, void> {
  const options = { level: level as 6 }
  const { length } = content
  if (length <= PACKED_AT_ONCE) {
    yield* spread(length >> PACKED_BITS, length)
    return deflateSync(content, options)
  }
  const packed: Uint8Array[] = []
  const stream = new Deflate(options, (part) => packed.push(part))
  for (let at = 0; at < length; at += PACKED_AT_ONCE) {
    const part = content.subarray(at, at + PACKED_AT_ONCE)
    yield* spread(part.length >> PACKED_BITS, part.length)
    stream.push(part, at + PACKED_AT_ONCE >= length)
  }
  return concat(packed)
}

/** A little-endian record of 16-bit (`2`) and 32-bit (`4`) fields. */
function record(fields: readonly (readonly [2 | 4, number])[]): Uint8Array {
  const out: number[] = []
  for (const [width, value] of fields) for (let at = 0; at < width; at++) out.push((value >>> (8 * at)) & 0xff)
  return Uint8Array.from(out)
}

/** 1980-01-01, the earliest date of the format. */
const ZIP_DATE = 0x21
const UTF8_NAMES = 0x800

/** Throws ArchiveError when two entries have one path. */
export function* createZip(entries: Iterable<ArchiveEntry>): Generator<Cost, Uint8Array, void> {
  const chunks: Uint8Array[] = []
  const directory: Uint8Array[] = []
  const names = new Set<string>()
  let offset = 0
  for (const { path, content, mode } of entries) {
    if (names.has(path)) throw new ArchiveError('invalid Zip archive: Duplicate filename')
    names.add(path)
    yield { units: UNITS_PACKED, heap: 0 }
    const name = encoder.encode(path)
    const packed = yield* deflateInSteps(content, 6)
    const sum = yield* sumInSteps(content)
    const shared: readonly (readonly [2 | 4, number])[] = [
      [2, 20],
      [2, name.length === path.length ? 0 : UTF8_NAMES],
      [2, 8],
      [2, 0],
      [2, ZIP_DATE],
      [4, sum],
      [4, packed.length],
      [4, content.length],
      [2, name.length],
      [2, 0],
    ]
    const local = [record([[4, 0x04034b50], ...shared]), name, packed]
    // Made on Unix: the upper half of the attributes is the file mode.
    directory.push(
      record([
        [4, 0x02014b50],
        [2, (3 << 8) | 20],
        ...shared,
        [2, 0],
        [2, 0],
        [2, 0],
        [4, ((0o100000 | mode) << 16) >>> 0],
        [4, offset],
      ]),
      name,
    )
    chunks.push(...local)
    offset += local.reduce((sum, chunk) => sum + chunk.length, 0)
  }
  const size = directory.reduce((sum, chunk) => sum + chunk.length, 0)
  const end = record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, names.size],
    [2, names.size],
    [4, size],
    [4, offset],
    [2, 0],
  ])
  return concat([...chunks, ...directory, end])
}

class ZipReader {
  private readonly data: Uint8Array
  private readonly view: DataView

  constructor(data: Uint8Array) {
    this.data = data
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  }

  readU16(at: number): number {
    this.need(at, 2)
    return this.view.getUint16(at, true)
  }

  readU32(at: number): number {
    this.need(at, 4)
    return this.view.getUint32(at, true)
  }

  readBytes(at: number, size: number): Uint8Array {
    this.need(at, size)
    return this.data.subarray(at, at + size)
  }

  private need(at: number, size: number): void {
    if (at < 0 || at + size > this.data.length) throw new ArchiveError('unexpected end of archive')
  }

  /** Where the record at the end of the archive begins; a comment may follow it. */
  endRecord(): number {
    for (let at = this.data.length - 22; at >= 0 && at > this.data.length - 22 - 65_536; at--)
      if (this.readU32(at) === 0x06054b50) return at
    throw new ArchiveError('invalid Zip archive: Could not find EOCD')
  }
}

export function* extractZip(data: Uint8Array, maxBytes: number): Generator<Cost, ArchiveEntry[], void> {
  const reader = new ZipReader(data)
  const end = reader.endRecord()
  const count = reader.readU16(end + 10)
  const directory = reader.readU32(end + 16)
  // The directory ends where the end record begins: anything before the archive, such as a program that unpacks it, moves all places.
  const moved = directory === 0xffffffff ? 0 : Math.max(0, end - reader.readU32(end + 12) - directory)
  let at = directory + moved
  let total = 0
  const entries: ArchiveEntry[] = []
  for (let index = 0; index < count; index++) {
    if (reader.readU32(at) !== 0x02014b50) throw new ArchiveError('invalid Zip archive: Invalid Central Directory header')
    if ((reader.readU16(at + 8) & 1) !== 0) throw new ArchiveError('unsupported Zip archive: Password required to decrypt file')
    const method = reader.readU16(at + 10)
    const packedSize = reader.readU32(at + 20)
    const size = reader.readU32(at + 24)
    const nameSize = reader.readU16(at + 28)
    const path = decoder.decode(reader.readBytes(at + 46, nameSize))
    const local = reader.readU32(at + 42) + moved
    total += size
    if (total > maxBytes) throw new ArchiveError('archive content is too large')
    if (!path.endsWith('/')) {
      const start = local + 30 + reader.readU16(local + 26) + reader.readU16(local + 28)
      yield estimateCost(UNITS_UNPACKED, size)
      const content = unpack(reader.readBytes(start, packedSize), method, size)
      if (computeCrc32(content) !== reader.readU32(at + 16)) throw new ArchiveError('Invalid checksum')
      entries.push({ path, content, mode: (reader.readU32(at + 38) >>> 16) & 0o7777 })
    }
    at += 46 + nameSize + reader.readU16(at + 30) + reader.readU16(at + 32)
  }
  return entries
}

function unpack(packed: Uint8Array, method: number, size: number): Uint8Array {
  if (method === 0) {
    // Their sizes are what is paid for: an archive must not have the same bytes many times for nothing.
    if (packed.length !== size) throw new ArchiveError('invalid Zip archive: sizes of a stored file differ')
    return packed.slice()
  }
  if (method !== 8) throw new ArchiveError('unsupported Zip archive: Compression method not supported')
  let content: Uint8Array
  try {
    content = inflateSync(packed, { out: new Uint8Array(size) })
  } catch (error) {
    throw new ArchiveError(error instanceof Error ? error.message : 'corrupt deflate stream')
  }
  if (content.length !== size) throw new ArchiveError('unexpected end of archive')
  return content
}
