// Compiled program ⇄ bytes, for caches on disk and for shipping code without its source. Numbers are zigzag varints, strings are
// UTF-8 with a length before. A file says which format version and which opcode table it was written with; others are refused,
// because opcode numbers mean nothing without their table. A reader trusts nothing: its result must still pass the verifier.

import { isCeiling } from '../grants/ceilings.js'
import type { ImportCeiling } from '../grants/ceilings.js'
import { OPCODES } from './opcodes.js'
import type { CompiledProgram, Constant, FunctionChunk, ModuleChunk } from './chunk.js'
import type { OpcodeRow } from './opcodes.js'
import { FUNCTION_KINDS } from './chunk.js'

const MAGIC = 'BRDL'
/** Increased whenever the layout below or the meaning of an opcode row changes. */
export const FORMAT_VERSION = 4

/** The bytes are not a program of this version; `reason` says why. */
export class ChunkFormatError extends Error {
  readonly reason: 'format' | 'version' | 'opcodes' | 'damaged'
  constructor(reason: ChunkFormatError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** A number that changes when a row of the opcode table does: FNV-1a over names, numbers, operands and effects. */
export function opcodeFingerprint(): number {
  let hash = 0x811c9dc5
  for (const [name, row] of Object.entries(OPCODES) as [string, OpcodeRow][]) {
    const pops = typeof row.pops === 'number' ? String(row.pops) : row.pops([3, 5, 7]).toString()
    const text = `${name}:${row.code}:${row.operands.join(',')}:${pops}:${row.pushes}:${row.flow ?? ''};`
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}

// ---- writing

class Writer {
  private readonly bytes: number[] = []
  private readonly utf8 = new TextEncoder()

  int(value: number | bigint): void {
    const big = BigInt(value)
    let rest = big >= 0n ? big * 2n : -big * 2n - 1n
    do {
      const low = Number(rest & 0x7fn)
      rest >>= 7n
      this.bytes.push(rest > 0n ? low | 0x80 : low)
    } while (rest > 0n)
  }

  /** Small ints are the bulk of a program and need no bigint. */
  small(value: number): void {
    let rest = value >= 0 ? value * 2 : -value * 2 - 1
    while (rest > 127) {
      this.bytes.push((rest % 128) | 128)
      rest = Math.floor(rest / 128)
    }
    this.bytes.push(rest)
  }

  text(value: string): void {
    // Lone surrogates have no UTF-8 form, but script strings may contain them. Such a string is written as code units.
    const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)
    if (lone) {
      this.small(-value.length - 1)
      for (let at = 0; at < value.length; at++) this.small(value.charCodeAt(at))
      return
    }
    const encoded = this.utf8.encode(value)
    this.small(encoded.length)
    for (const byte of encoded) this.bytes.push(byte)
  }

  float(value: number): void {
    const view = new DataView(new ArrayBuffer(8))
    view.setFloat64(0, value)
    for (let at = 0; at < 8; at++) this.bytes.push(view.getUint8(at))
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.small(items.length)
    for (const item of items) write(item)
  }

  finish(): Uint8Array {
    return Uint8Array.from(this.bytes)
  }
}

export function serialize(program: CompiledProgram): Uint8Array {
  const out = new Writer()
  out.text(MAGIC)
  out.small(FORMAT_VERSION)
  out.small(opcodeFingerprint())
  out.text(program.main)
  out.list(program.modules, (module) => writeModule(out, module))
  return out.finish()
}

function writeModule(out: Writer, module: ModuleChunk): void {
  out.text(module.key)
  out.text(module.file ?? '')
  out.text(module.ceilings === undefined ? '' : JSON.stringify(module.ceilings))
  out.list(module.constants, (constant) => writeConstant(out, constant))
  for (const names of [module.names, module.builtins, module.units, module.moduleSlots]) out.list(names, (name) => out.text(name))
  out.list(Object.entries(module.exports), ([name, slot]) => {
    out.text(name)
    out.small(slot)
  })
  out.list(module.functions, (fn) => writeFunction(out, fn))
}

function writeFunction(out: Writer, fn: FunctionChunk): void {
  out.text(fn.name)
  out.small(FUNCTION_KINDS.indexOf(fn.kind))
  out.list(fn.params, (name) => out.text(name))
  for (const number of [fn.firstDefault, fn.rest, fn.slots, fn.stack]) out.small(number)
  out.list(fn.code, (word) => out.small(word))
  out.list(fn.handlers, (handler) => {
    for (const number of [handler.start, handler.end, handler.target, handler.depth]) out.small(number)
  })
  out.list(fn.captures, (name) => out.text(name))
  out.list(fn.lines, (number) => out.small(number))
  out.list(fn.locals, (local) => {
    out.text(local.name)
    for (const number of [local.slot, local.start, local.end]) out.small(number)
  })
}

const TAGS = { nil: 0, true: 1, false: 2, text: 3, int: 4, float: 5, duration: 6, data: 7, struct: 8, openStruct: 9 } as const

function writeConstant(out: Writer, constant: Constant): void {
  if (constant === null) return out.small(TAGS.nil)
  if (typeof constant === 'boolean') return out.small(constant ? TAGS.true : TAGS.false)
  if (typeof constant === 'string') {
    out.small(TAGS.text)
    return out.text(constant)
  }
  if (typeof constant !== 'object') {
    out.small(TAGS.int)
    return out.int(constant)
  }
  switch (constant.tag) {
    case 'float':
      out.small(TAGS.float)
      return out.float(constant.value)
    case 'duration':
      out.small(TAGS.duration)
      return out.int(constant.ms)
    case 'data':
      out.small(TAGS.data)
      return out.text(constant.json)
    case 'struct':
      out.small(constant.fields === null ? TAGS.openStruct : TAGS.struct)
      out.text(constant.name)
      if (constant.fields !== null) out.list(constant.fields, (name) => out.text(name))
  }
}

// ---- reading

class Reader {
  private readonly bytes: Uint8Array
  private at = 0
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true })

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  private byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new ChunkFormatError('damaged', 'the bytes end too early')
    return byte
  }

  int(): number | bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 128) break
      if (shift > 70n) throw new ChunkFormatError('damaged', 'a number is too long')
    }
    const signed = (value & 1n) === 0n ? value / 2n : -(value + 1n) / 2n
    return signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(signed) : signed
  }

  small(): number {
    // Small ints are the bulk of a program and need no bigint.
    let low = this.byte()
    if (low < 128) return low & 1 ? -((low + 1) / 2) : low / 2
    const start = this.at - 1
    low &= 127
    for (let scale = 128; scale < 2 ** 42; scale *= 128) {
      const byte = this.byte()
      low += (byte & 127) * scale
      if (byte < 128) return low % 2 === 1 ? -((low + 1) / 2) : low / 2
    }
    this.at = start
    const value = this.int()
    if (typeof value !== 'number') throw new ChunkFormatError('damaged', 'a number is out of range')
    return value
  }

  text(): string {
    const length = this.small()
    if (length < 0) {
      let text = ''
      for (let at = 0; at < -length - 1; at++) text += String.fromCharCode(this.small())
      return text
    }
    const end = this.at + length
    if (end > this.bytes.length) throw new ChunkFormatError('damaged', 'a text is longer than the bytes')
    const part = this.bytes.subarray(this.at, end)
    this.at = end
    try {
      return this.utf8.decode(part)
    } catch {
      throw new ChunkFormatError('damaged', 'a text is not UTF-8')
    }
  }

  float(): number {
    const view = new DataView(new ArrayBuffer(8))
    for (let at = 0; at < 8; at++) view.setUint8(at, this.byte())
    return view.getFloat64(0)
  }

  list<T>(read: () => T): T[] {
    const length = this.small()
    // Each item takes at least one byte.
    if (length < 0 || length > this.bytes.length - this.at)
      throw new ChunkFormatError('damaged', 'a list is longer than the bytes')
    return Array.from({ length }, read)
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }
}

/** Throws ChunkFormatError for bytes that are damaged or of another version. The result is not verified yet. */
export function deserialize(bytes: Uint8Array): CompiledProgram {
  const input = new Reader(bytes)
  let magic = ''
  try {
    magic = input.text()
  } catch {
    // Every failure means that the bytes are not a program of this version.
  }
  if (magic !== MAGIC) throw new ChunkFormatError('format', 'not a compiled program')
  const version = input.small()
  if (version !== FORMAT_VERSION)
    throw new ChunkFormatError('version', `format version ${version}; this build reads version ${FORMAT_VERSION}`)
  if (input.small() !== opcodeFingerprint()) throw new ChunkFormatError('opcodes', 'compiled with another set of opcodes')
  const main = input.text()
  const modules = input.list(() => readModule(input))
  if (!input.isAtEnd) throw new ChunkFormatError('damaged', 'there are bytes behind the program')
  return { main, modules }
}

function readModule(input: Reader): ModuleChunk {
  const key = input.text()
  const file = input.text()
  const ceilings = readCeilings(input.text())
  const constants = input.list(() => readConstant(input))
  const [names, builtins, units, moduleSlots] = [0, 1, 2, 3].map(() => input.list(() => input.text())) as [
    string[],
    string[],
    string[],
    string[],
  ]
  const exports = Object.fromEntries(input.list((): [string, number] => [input.text(), input.small()]))
  const functions = input.list(() => readFunction(input))
  return {
    key,
    ...(file === '' ? {} : { file }),
    ...(ceilings.length === 0 ? {} : { ceilings }),
    functions,
    constants,
    names,
    builtins,
    units,
    moduleSlots,
    exports,
  }
}

/** Damaged ceilings must not load as a module without ceilings. */
function readCeilings(text: string): readonly ImportCeiling[] {
  if (text === '') return []
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    // Refused below.
  }
  if (!Array.isArray(found) || found.length === 0 || !found.every(isCeiling))
    throw new ChunkFormatError('damaged', 'ceilings of a module that cannot be understood')
  return found
}

function readFunction(input: Reader): FunctionChunk {
  const name = input.text()
  const kind = FUNCTION_KINDS[input.small()]
  if (kind === undefined) throw new ChunkFormatError('damaged', 'an unknown kind of function')
  const params = input.list(() => input.text())
  const [firstDefault, rest, slots, stack] = [0, 1, 2, 3].map(() => input.small()) as [number, number, number, number]
  const code = input.list(() => input.small())
  const handlers = input.list(() => ({ start: input.small(), end: input.small(), target: input.small(), depth: input.small() }))
  const captures = input.list(() => input.text())
  const lines = input.list(() => input.small())
  const locals = input.list(() => ({ name: input.text(), slot: input.small(), start: input.small(), end: input.small() }))
  return { name, kind, params, firstDefault, rest, slots, stack, code, handlers, captures, lines, locals }
}

function readConstant(input: Reader): Constant {
  switch (input.small()) {
    case TAGS.nil:
      return null
    case TAGS.true:
      return true
    case TAGS.false:
      return false
    case TAGS.text:
      return input.text()
    case TAGS.int:
      return input.int()
    case TAGS.float:
      return { tag: 'float', value: input.float() }
    case TAGS.duration:
      return { tag: 'duration', ms: input.int() }
    case TAGS.data:
      return { tag: 'data', json: input.text() }
    case TAGS.struct:
      return { tag: 'struct', name: input.text(), fields: input.list(() => input.text()) }
    case TAGS.openStruct:
      return { tag: 'struct', name: input.text(), fields: null }
    default:
      throw new ChunkFormatError('damaged', 'an unknown kind of constant')
  }
}
