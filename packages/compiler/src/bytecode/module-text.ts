// A module chunk ⇄ JSON: the form in which library modules are part of Bridle's own program text. The engine's JSON parser
// takes a twentieth of the time of the binary reader (serialize.ts) while that is not optimised, and a library module is
// usually read once per process.
//
// The build wrote and verified this data, so it is as trusted as the surrounding code and is not verified again.
// Version and opcodes are still compared, because files of two builds may be mixed.

import { ChunkFormatError, FORMAT_VERSION, opcodeFingerprint } from './serialize.js'
import type { Constant, FunctionChunk, Handler, LocalName, ModuleChunk } from './chunk.js'

type FunctionRow = readonly [
  name: string,
  kind: FunctionChunk['kind'],
  params: readonly string[],
  numbers: readonly [firstDefault: number, rest: number, slots: number, stack: number],
  code: readonly number[],
  handlers: readonly (readonly [number, number, number, number])[],
  captures: readonly string[],
  lines: readonly number[],
  locals: readonly (readonly [string, number, number, number])[],
]

interface Written {
  readonly version: number
  readonly opcodes: number
  readonly key: string
  readonly fingerprint: string
  readonly constants: readonly unknown[]
  readonly names: readonly string[]
  readonly builtins: readonly string[]
  readonly units: readonly string[]
  readonly moduleSlots: readonly string[]
  readonly exports: { readonly [name: string]: number }
  readonly functions: readonly FunctionRow[]
}

/** The input of the hash that tells whether two modules behave the same: without comments, names of locals and line numbers. */
export function writeModuleIdentity(chunk: ModuleChunk): string {
  const identity = {
    functions: chunk.functions.map((fn) => [
      fn.kind,
      fn.params.length,
      fn.firstDefault,
      fn.rest,
      fn.slots,
      fn.stack,
      fn.code,
      fn.handlers,
      fn.captures.length,
    ]),
    constants: chunk.constants,
    names: chunk.names,
    builtins: chunk.builtins,
    units: chunk.units,
    slots: chunk.moduleSlots.length,
    // A program with other powers is a different program.
    ...(chunk.ceilings === undefined ? {} : { ceilings: chunk.ceilings }),
  }
  return JSON.stringify(identity, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/** `fingerprint`: hash of the behaviour, as snapshots name it. */
export function writeModule(chunk: ModuleChunk, fingerprint: string): string {
  if (chunk.file !== undefined || chunk.ceilings !== undefined) throw new Error(`${chunk.key} is an instance of a module`)
  const written: Written = {
    version: FORMAT_VERSION,
    opcodes: opcodeFingerprint(),
    key: chunk.key,
    fingerprint,
    constants: chunk.constants.map(writeConstant),
    names: chunk.names,
    builtins: chunk.builtins,
    units: chunk.units,
    moduleSlots: chunk.moduleSlots,
    exports: chunk.exports,
    functions: chunk.functions.map((fn): FunctionRow => [
      fn.name,
      fn.kind,
      fn.params,
      [fn.firstDefault, fn.rest, fn.slots, fn.stack],
      fn.code,
      fn.handlers.map(({ start, end, target, depth }) => [start, end, target, depth] as const),
      fn.captures,
      fn.lines,
      fn.locals.map(({ name, slot, start, end }) => [name, slot, start, end] as const),
    ]),
  }
  return JSON.stringify(written)
}

const KNOWN = { opcodes: -1 }

/** Throws ChunkFormatError for a module of another build. */
export function readModule(text: string): ModuleChunk {
  const written = JSON.parse(text) as Written
  if (written.version !== FORMAT_VERSION)
    throw new ChunkFormatError('version', `format version ${written.version}; this build reads version ${FORMAT_VERSION}`)
  if (KNOWN.opcodes < 0) KNOWN.opcodes = opcodeFingerprint()
  if (written.opcodes !== KNOWN.opcodes) throw new ChunkFormatError('opcodes', 'compiled with another set of opcodes')
  return {
    key: written.key,
    fingerprint: written.fingerprint,
    constants: written.constants.map(readConstant),
    names: written.names,
    builtins: written.builtins,
    units: written.units,
    moduleSlots: written.moduleSlots,
    exports: written.exports,
    functions: written.functions.map(readFunction),
  }
}

function readFunction([name, kind, params, numbers, code, handlers, captures, lines, locals]: FunctionRow): FunctionChunk {
  const [firstDefault, rest, slots, stack] = numbers
  return {
    name,
    kind,
    params,
    firstDefault,
    rest,
    slots,
    stack,
    code,
    handlers: handlers.map(([start, end, target, depth]): Handler => ({ start, end, target, depth })),
    captures,
    lines,
    locals: locals.map(([local, slot, start, end]): LocalName => ({ name: local, slot, start, end })),
  }
}

/** Numbers that JSON lacks stand as `{number}`, big ints as `{int}`; the tagged rows of chunks have a `tag`. */
function writeConstant(constant: Constant): unknown {
  if (typeof constant === 'bigint') return { int: String(constant) }
  if (constant === null || typeof constant !== 'object') return constant
  if (constant.tag === 'float') return { tag: 'float', value: writeNumber(constant.value) }
  if (constant.tag === 'duration') return { tag: 'duration', ms: writeConstant(constant.ms) }
  return constant
}

function writeNumber(value: number): unknown {
  return Number.isFinite(value) && !Object.is(value, -0) ? value : { number: Object.is(value, -0) ? '-0' : String(value) }
}

function readConstant(written: unknown): Constant {
  if (written === null || typeof written !== 'object') return written as Constant
  if ('int' in written) return BigInt(written.int as string)
  const row = written as { readonly tag: string; readonly value?: unknown; readonly ms?: unknown }
  if (row.tag === 'float')
    return {
      tag: 'float',
      value: typeof row.value === 'number' ? row.value : Number((row.value as { readonly number: string }).number),
    }
  if (row.tag === 'duration') return { tag: 'duration', ms: readConstant(row.ms) as number | bigint }
  return written as Constant
}
