// Compiled programs that are kept between processes, so that a script which did not change is run without being compiled.
//
// An entry says what it was made of: the engine, the name and text of the script, the settings, and every import with the text that
// it gave. It is used when all of that is still so, its checksum fits and the verifier passes it; anything else is compiled as usual
// and replaces it. Programs with findings are not cached, so that the findings are shown each time.
//
// Layout: the checksum (4 bytes, little-endian, FNV-1a of what follows), the length of the facts (4 bytes), the facts as JSON in
// UTF-8, the program (compiler, bytecode/serialize.ts).

import { deserialize, serialize } from '@bridle/compiler/bytecode'
import type { CompiledProgram, ModuleChunk } from '@bridle/compiler/bytecode'
import type { ModuleSource, ProgramSources } from './modules.js'

/** Where entries are kept, by names that are good for files. It may lose any of them, and none of its failures matters. */
export interface ProgramCache {
  /** The writer of the entries: those of another build or version are unusable. */
  readonly engine: string
  readonly read: (name: string) => Uint8Array | null
  readonly write: (name: string, bytes: Uint8Array) => void
}

/** What a program was compiled from. */
export interface KeptFacts {
  readonly engine: string
  readonly entry: ModuleSource
  /** Everything else that the result depends on. */
  readonly settings: string
  /** As ProgramSources has them; texts of the standard library come with the engine and are empty here. */
  readonly modules: readonly ModuleSource[]
  readonly imports: ProgramSources['imports']
}

const HEADER = 8

export function encodeKept(facts: KeptFacts, program: CompiledProgram): Uint8Array {
  const order = program.modules.map(({ key }) => key)
  const json = new TextEncoder().encode(JSON.stringify({ ...facts, order }))
  // Modules that come with the engine are kept by their keys.
  const code = serialize({ ...program, modules: program.modules.filter(({ fingerprint }) => fingerprint === undefined) })
  const bytes = new Uint8Array(HEADER + json.length + code.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(4, json.length, true)
  bytes.set(json, HEADER)
  bytes.set(code, HEADER + json.length)
  view.setUint32(0, computeChecksum(bytes), true)
  return bytes
}

/** `order`: keys of all modules; those that come with the engine are not in `program`. */
export interface Kept {
  readonly facts: KeptFacts
  readonly order: readonly string[]
  readonly program: CompiledProgram
}

/** Null for bytes that are damaged, or were made by another engine, of another text or with other settings. */
export function decodeKept(bytes: Uint8Array, wanted: Pick<KeptFacts, 'engine' | 'entry' | 'settings'>): Kept | null {
  if (bytes.length < HEADER) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = HEADER + view.getUint32(4, true)
  if (end > bytes.length || view.getUint32(0, true) !== computeChecksum(bytes)) return null
  try {
    const { order, ...facts } = JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER, end))) as KeptFacts &
      Pick<Kept, 'order'>
    const { engine, entry, settings } = facts
    const isWanted =
      engine === wanted.engine &&
      settings === wanted.settings &&
      entry.key === wanted.entry.key &&
      entry.text === wanted.entry.text
    return isWanted ? { facts, order, program: deserialize(bytes.subarray(end)) } : null
  } catch {
    // The checksum fits and the bytes do not: they were made up.
    return null
  }
}

/** The whole program; null where the engine has none of a module. `library` finds those that come with it. */
export function completeKept({ order, program }: Kept, library: (key: string) => ModuleChunk | null): CompiledProgram | null {
  const own = new Map(program.modules.map((chunk) => [chunk.key, chunk]))
  const modules = order.map((key) => own.get(key) ?? library(key))
  return modules.every((chunk) => chunk !== null) ? { main: program.main, modules } : null
}

/** A name for the entry of a script, 16 hex digits. Scripts that share one replace each other's entries. */
export function makeKeptName(key: string, settings: string): string {
  const text = `${key}\0${settings}`
  let low = 0x811c9dc5
  let high = 0xcbf29ce4
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b)
  }
  return formatHex(high) + formatHex(low)
}

function formatHex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}

/** Of everything behind the checksum itself. */
function computeChecksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (let at = 4; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
  return hash >>> 0
}
