// Compression builtins. gzip, zstd, tar and zip are pure; brotli is done by the host ('compress.run').
// Errors are runtime errors. What comes out of a decoder is limited, so that a small input cannot fill the memory.

import {
  Control,
  HarnBytes,
  HarnDict,
  HarnList,
  LimitReached,
  Problem,
  UNITS_A_THROW,
  builtinTaking,
  display,
  definePieces,
  makeStepWork,
  isInt,
  typeName,
  visit,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Cost, Result, Steps, Value } from '@bridle/vm/families'
import { Gunzip, gunzipSync } from 'fflate/browser'
import {
  ArchiveError,
  computeCrc32,
  createTar,
  createZip,
  deflateInSteps,
  extractTar,
  extractZip,
  sumInSteps,
} from './archive.js'
import type { ArchiveEntry } from './archive.js'
import { concat, measureZstdBound, decodeZstd, encodeZstd } from './zstd.js'
import { makeAsker, findRefusal } from '../files/ask.js'

/** Bytes that one call may unpack. */
const MAX_UNPACKED = 256 << 20

const brotli = makeAsker('compress.brotli', {
  result: (ctx, answer, [name]) => {
    const refused = findRefusal(answer)
    return refused === null ? answer : ctx.runtime(`${display(name!)}: ${refused.detail}`)
  },
})

const DATA = {
  raise: 'runtime',
  absent: { data: '{f}: missing argument {n}' },
  not: { data: '{f}: expected {type} at argument {n}, got {got}' },
} as const

/** The bytes of an argument, paid for. */
function readData(ctx: Context, value: HarnBytes | string): Uint8Array {
  const data = typeof value === 'string' ? new TextEncoder().encode(value) : value.data
  ctx.charge(data.length >> 3, data.length)
  return data
}

/** The level argument; `word` is what the error calls it. */
function readLevelArg(
  ctx: Context,
  name: string,
  word: string,
  value: Value,
  fallback: number,
  [min, max]: readonly [number, number],
): number | Control {
  if (value === null) return fallback
  if (!isInt(value)) return ctx.runtime(`${name}: ${word} must be an int, got ${typeName(value)}`)
  return value < min || value > max
    ? ctx.runtime(`${name}: ${word} must be between ${min} and ${max}, got ${value}`)
    : Number(value)
}

function makeResult(ctx: Context, data: Uint8Array): Value {
  ctx.charge(data.length >> 6, data.length)
  return new HarnBytes(data)
}

/** Unpacks; what the library throws about its input becomes the builtin's error, `atEnd` when the input is cut short. */
function decodeWith(ctx: Context, name: string, atEnd: string, unpack: () => Uint8Array): Result {
  try {
    return makeResult(ctx, unpack())
  } catch (error) {
    if (error instanceof LimitReached) throw error
    ctx.charge(UNITS_A_THROW)
    const text = error instanceof Error || error instanceof Problem ? error.message : 'invalid data'
    return ctx.runtime(`${name}: ${text === 'unexpected EOF' ? atEnd : text}`)
  }
}

/** Bytes that are unpacked for a unit, as a power of two. */
const UNPACKED_BITS = 3

/** What comes out may be a thousand times what goes in. */
function chargeUnpacked(ctx: Context, size: number): void {
  ctx.charge(size >> UNPACKED_BITS, size)
}

/** Ten bytes: magic, deflate, no flags, no time, what the level says, and no operating system, so that bytes do not tell where they were made. */
function gzipHeader(level: number): Uint8Array {
  return Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, level < 2 ? 4 : level === 9 ? 2 : 0, 255)
}

function* gzip(data: Uint8Array, level: number): Generator<Cost, Uint8Array, void> {
  const packed = yield* deflateInSteps(data, level)
  const trailer = new Uint8Array(8)
  const view = new DataView(trailer.buffer)
  view.setUint32(0, yield* sumInSteps(data), true)
  view.setUint32(4, data.length, true)
  return concat([gzipHeader(level), packed, trailer])
}

/** Units of tables and buffers, independent of the length. */
const UNITS_AN_ENCODING = 800

function* encodeInSteps(name: string, value: Value, level: number): Steps {
  const data = value instanceof HarnBytes ? value.data : new TextEncoder().encode(value as string)
  const packed = yield* name === 'gzip_encode' ? gzip(data, level) : encodeZstd(data)
  return () => new HarnBytes(packed)
}

const encoding = definePieces('compress.encode', ([name, value, level]) =>
  makeStepWork(encodeInSteps(name as string, value!, level as number)),
)

const countUtf8 = (text: string): number => new TextEncoder().encode(text).length

function defineEncoding(name: string, doc: string, fallback: number, levels: readonly [number, number]): BuiltinDef {
  return builtinTaking(
    `${name}(data: bytes | string, level?: int) -> bytes`,
    { doc, borrows: true, pays: true },
    DATA,
    (ctx, value, level) => {
      const size = typeof value === 'string' ? countUtf8(value) : value.data.length
      ctx.charge(UNITS_AN_ENCODING + (size >> 6))
      const chosen = readLevelArg(ctx, name, 'level', level, fallback, levels)
      return chosen instanceof Control ? chosen : encoding.run(ctx, name, value, chosen)
    },
  )
}

/** All members of a stream, as gunzip does; what follows the last and is not a member is ignored. */
function gunzip(ctx: Context, data: Uint8Array): Uint8Array {
  if (data.length >= 10 && (data[0] !== 0x1f || data[1] !== 0x8b)) throw new ArchiveError('invalid gzip header')
  if (data.length < 18) throw new ArchiveError('unexpected end of file')
  const tail = new DataView(data.buffer, data.byteOffset + data.length - 8, 8)
  const size = tail.getUint32(4, true)
  // Deflate packs at most 1032 to 1: a size beyond that is not a size, as in a stream that was cut short or continues; nor are zeros behind it.
  if (size === 0 || size > data.length * 1032 || mayHoldMembers(data)) return gunzipMembers(ctx, data)
  if (size > MAX_UNPACKED) throw new ArchiveError('content is too large')
  chargeUnpacked(ctx, size)
  const out = gunzipSync(data)
  return computeCrc32(out) === tail.getUint32(0, true) ? out : gunzipMembers(ctx, data)
}

/** Whether a member could begin behind the start. */
function mayHoldMembers(data: Uint8Array): boolean {
  for (let at = data.indexOf(0x1f, 18); at >= 0; at = data.indexOf(0x1f, at + 1)) {
    if (data[at + 1] === 0x8b && data[at + 2] === 8) return true
  }
  return false
}

/** Bytes that are unpacked at a time, so that what comes out is paid for before there is much more of it. */
const PACKED_PIECE = 1024

/** Units of a member, beside its content. */
const UNITS_A_MEMBER = 40

function gunzipMembers(ctx: Context, data: Uint8Array): Uint8Array {
  const whole: Uint8Array[] = []
  let member: Uint8Array[] = []
  let begin = 0
  let size = 0
  // All of it is one operation.
  let taken = 0
  const stream = new Gunzip((piece) => {
    size += piece.length
    if (size > MAX_UNPACKED) throw new ArchiveError('content is too large')
    taken = visit(taken, piece.length >> UNPACKED_BITS)
    ctx.charge(0, piece.length)
    if (piece.length > 0) member.push(piece)
  })
  stream.onmember = (offset) => {
    taken = visit(taken, UNITS_A_MEMBER)
    whole.push(unpackMember(data, begin, offset, member))
    member = []
    begin = offset
  }
  let fed = 0
  runTillNoMember(() => {
    do {
      const next = Math.min(data.length, fed + PACKED_PIECE)
      stream.push(data.subarray(fed, next), next === data.length)
      fed = next
    } while (fed < data.length)
  })
  whole.push(unpackMember(data, begin, -1, member))
  const out = new Uint8Array(size)
  let at = 0
  for (const each of whole) {
    out.set(each, at)
    at += each.length
  }
  return out
}

/** Unpacks up to the place where the library wants another header and finds none: the last member has ended. */
function runTillNoMember(unpack: () => void): void {
  try {
    unpack()
  } catch (error) {
    if (!(error instanceof Error) || error.message !== 'invalid gzip data') throw error
  }
}

/** The content of a member that begins at `begin`; its sum and size stand before `end`, or, with -1, somewhere behind. */
function unpackMember(data: Uint8Array, begin: number, end: number, pieces: readonly Uint8Array[]): Uint8Array {
  const content = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    content.set(piece, at)
    at += piece.length
  }
  const trailer = new Uint8Array(8)
  const view = new DataView(trailer.buffer)
  view.setUint32(0, computeCrc32(content), true)
  view.setUint32(4, content.length, true)
  const [first] = trailer
  const last = end < 0 ? data.length - 8 : end - 8
  for (let place = end < 0 ? begin + 10 : end - 8; place <= last; place++) {
    if (data[place] === first && trailer.every((byte, index) => data[place + index] === byte)) return content
  }
  // Without its last eight bytes a whole member still has its content; one that was cut short has not, which the library says.
  if (end < 0) runTillNoMember(() => new Gunzip(() => {}).push(data.subarray(begin, data.length - 8), true))
  throw new ArchiveError('corrupt gzip stream does not have a matching checksum')
}

function unzstd(ctx: Context, data: Uint8Array): Uint8Array {
  chargeUnpacked(ctx, Math.min(MAX_UNPACKED, measureZstdBound(data)))
  return decodeZstd(data, MAX_UNPACKED)
}

// ------------------------------------------------------------------------------------------------------------- archives

/** Why a path cannot stand in a tar archive, and what of it came before that. */
function describeTarPathProblem(path: string): string | null {
  if (path.startsWith('/')) return 'paths in archives must be relative when setting path for '
  const parts = splitPath(path)
  const climbs = parts.indexOf('..')
  if (climbs < 0) return null
  return `paths in archives must not have \`..\` when setting path for ${parts.slice(0, climbs).join('/')}`
}

/** Segments that count: neither empty nor `.`. */
function splitPath(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** One entry; `index` counts from 1 in the messages. Throws ArchiveError for what is none. */
function readEntry(name: string, index: number, entry: Value): ArchiveEntry {
  const fail = (text: string): never => {
    throw new ArchiveError(`entry ${index} ${text}`)
  }
  const readPart = (key: string): Value => (entry instanceof HarnDict ? (entry.get(key) ?? null) : null)
  const path = readPart('path')
  if (path === null) return fail('is missing path')
  if (typeof path !== 'string') return fail(`path must be a string, got ${typeName(path)}`)
  if (path === '') return fail('path must not be empty')
  const content = readPart('content')
  if (content === null && !(entry instanceof HarnDict && entry.get('content') === null)) return fail('is missing content')
  if (typeof content !== 'string' && !(content instanceof HarnBytes))
    return fail(`content must be bytes or string, got ${typeName(content)}`)
  const mode = readPart('mode') ?? 0o644
  if (!isInt(mode)) return fail(`mode must be an int, got ${typeName(mode)}`)
  if (mode < 0 || mode > 4095) return fail('mode must be between 0 and 4095')
  const problem = name === 'tar_create' ? describeTarPathProblem(path) : null
  if (problem !== null) return fail(`invalid path: ${problem}`)
  const data = content instanceof HarnBytes ? content.data : new TextEncoder().encode(content)
  const stored = name === 'tar_create' ? splitPath(path).join('/') + (path.endsWith('/') ? '/' : '') : path
  return { path: stored, content: data, mode: Number(mode) }
}

function* readEntries(name: string, list: HarnList): Generator<ArchiveEntry, void> {
  let index = 0
  for (const item of list.view()) yield readEntry(name, ++index, item)
}

type Archive = Generator<Cost, Value, void>

const ARCHIVES: { readonly [name: string]: (value: Value) => Archive } = {
  *tar_create(list) {
    return new HarnBytes(yield* createTar(readEntries('tar_create', list as HarnList)))
  },
  *zip_create(list) {
    return new HarnBytes(yield* createZip(readEntries('zip_create', list as HarnList)))
  },
  *tar_extract(data) {
    const entries = yield* extractTar((data as HarnBytes).data)
    return new HarnList(entries.map(({ path, content, mode }) => HarnDict.of({ path, content: new HarnBytes(content), mode })))
  },
  *zip_extract(data) {
    const entries = yield* extractZip((data as HarnBytes).data, MAX_UNPACKED)
    return new HarnList(entries.map(({ path, content }) => HarnDict.of({ path, content: new HarnBytes(content) })))
  },
}

function* archiveInSteps(name: string, value: Value): Steps {
  try {
    const made = yield* ARCHIVES[name]!(value)
    return () => made
  } catch (error) {
    if (error instanceof ArchiveError) return (ctx) => ctx.runtime(`${name}: ${error.message}`)
    throw error
  }
}

const archive = definePieces('compress.archive', ([name, value]) => makeStepWork(archiveInSteps(name as string, value!)))

function defineArchiving(name: string, doc: string): BuiltinDef {
  return builtinTaking(
    `${name}(entries: list) -> bytes`,
    { doc, borrows: true, pays: true },
    { raise: 'runtime', absent: '{f}: missing argument {n}', not: '{f}: {param} must be a {type}, got {got}' },
    (ctx, list) => {
      ctx.charge(list.length >> 3)
      return archive.run(ctx, name, list)
    },
  )
}

function defineExtracting(name: string, doc: string): BuiltinDef {
  return builtinTaking(`${name}(data: bytes) -> list`, { doc, borrows: true, pays: true }, DATA, (ctx, bytes) => {
    ctx.charge(bytes.data.length >> 9)
    return archive.run(ctx, name, bytes)
  })
}

// --------------------------------------------------------------------------------------------------------------- family

export const compressFamily: BuiltinFamily = {
  name: 'compress',
  frames: [brotli.frame, archive.frame, encoding.frame],
  builtins: [
    defineEncoding('gzip_encode', 'gzip with levels 0 to 9; the same input gives the same bytes.', 6, [0, 9]),
    builtinTaking(
      'gzip_decode(data: bytes) -> bytes',
      { doc: 'Unpacks gzip, all members of the stream; what follows the last one is left alone.', borrows: true },
      DATA,
      (ctx, bytes) => {
        const data = readData(ctx, bytes)
        return decodeWith(ctx, 'gzip_decode', 'unexpected end of file', () => gunzip(ctx, data))
      },
    ),
    defineEncoding('zstd_encode', 'Zstandard; the level is accepted and makes no difference.', 3, [-131072, 22]),
    builtinTaking('zstd_decode(data: bytes) -> bytes', { doc: 'Unpacks Zstandard.', borrows: true }, DATA, (ctx, bytes) => {
      const data = readData(ctx, bytes)
      return decodeWith(ctx, 'zstd_decode', 'incomplete frame', () => unzstd(ctx, data))
    }),
    builtinTaking(
      'brotli_encode(data: bytes | string, quality?: int) -> bytes',
      { doc: 'Brotli with qualities 0 to 11.', effects: ['compress.run'] },
      DATA,
      (ctx, value, quality) => {
        const data = readData(ctx, value)
        const level = readLevelArg(ctx, 'brotli_encode', 'quality', quality, 11, [0, 11])
        return level instanceof Control
          ? level
          : brotli.ask(ctx, { kind: 'compress.run', args: { op: 'brotli_encode', data, level } }, 'result', 'brotli_encode')
      },
    ),
    builtinTaking(
      'brotli_decode(data: bytes) -> bytes',
      { doc: 'Unpacks Brotli.', effects: ['compress.run'] },
      DATA,
      (ctx, bytes) =>
        brotli.ask(
          ctx,
          { kind: 'compress.run', args: { op: 'brotli_decode', data: readData(ctx, bytes), level: 0 } },
          'result',
          'brotli_decode',
        ),
    ),
    defineArchiving('tar_create', 'A tar archive of entries `{path, content, mode}`.'),
    defineExtracting('tar_extract', 'The files of a tar archive.'),
    defineArchiving('zip_create', 'A zip archive of entries `{path, content, mode}`.'),
    defineExtracting('zip_extract', 'The files of a zip archive.'),
  ],
}
