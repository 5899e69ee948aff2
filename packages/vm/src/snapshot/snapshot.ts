// A stopped machine ⇄ text. The text holds the state of the run and names code by module and function; it fits any process that
// has the same program. What counts as the same is the code without debug information (design §8.10).
//
// Two lines of JSON: a header with format, version and the hash of the second line, then the state. The hash tells damage from a
// snapshot, so that a damaged one is refused as a whole instead of going on with a state that no program can reach. It is no
// signature: who can write snapshots can write any state, and a host keeps them as it keeps code.

import { adapterByKey, isAdapterKey } from '../interpreter/adapter.js'
import { Task } from '../scheduler/task.js'
import { readGraph, SnapshotError, writeGraph } from './graph.js'
import type { LinkedProgram, Module } from '../interpreter/module.js'
import type { Machine } from '../vm.js'
import type { ObjectRow } from './graph.js'

export const SNAPSHOT_FORMAT = 'bridle-snapshot'
export const SNAPSHOT_VERSION = 1

interface Header {
  readonly format: string
  readonly version: number
  /** Hash of the text behind the header's line break. */
  readonly seal: string
}

interface Document {
  /** Module key → hash of its code. */
  readonly modules: { readonly [key: string]: string }
  readonly objects: readonly ObjectRow[]
}

/** The parts of a machine that a run consists of, and what each has to be; KEEP WITH: the state fields of Machine. */
const STATE = {
  now: isNumber,
  tasks: isMapOf(Task),
  nextTask: isNumber,
  ready: isListOf(Task),
  nextEffect: isNumber,
  nextOrder: isNumber,
  modules: isMap,
  families: isMap,
  impls: isMap,
  fuelUsed: isNumber,
  heapCharged: isNumber,
  outputBytes: isNumber,
  input: isValue,
  pending: isMap,
} as const

type StateName = keyof typeof STATE

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function isMap(value: unknown): boolean {
  return value instanceof Map
}

function isMapOf(type: typeof Task): (value: unknown) => boolean {
  return (value) => value instanceof Map && [...value.values()].every((each) => each instanceof type)
}

function isListOf(type: typeof Task): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.every((each) => each instanceof type)
}

function isValue(value: unknown): boolean {
  return value !== undefined
}

const moduleHashes = new WeakMap<Module, string>()

/** Hash of what a module's code does; comments, names of locals and line numbers do not count. */
export function moduleHash(module: Module, hashHex: (bytes: Uint8Array) => string): string {
  const known = moduleHashes.get(module)
  if (known !== undefined) return known
  const { chunk } = module
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
  }
  const text = JSON.stringify(identity, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  const hash = hashHex(new TextEncoder().encode(text))
  moduleHashes.set(module, hash)
  return hash
}

/** The state of a machine that has just handed the thread back. */
export function writeSnapshot(machine: Machine): string {
  const state: Record<string, unknown> = {}
  for (const name of Object.keys(STATE) as StateName[]) state[name] = machine[name]
  const modules: Record<string, string> = {}
  for (const module of machine.program.modules.values()) modules[module.key] = moduleHash(module, machine.options.hashHex)
  const document: Document = { modules, objects: writeGraph(state) }
  const text = JSON.stringify(document)
  const header: Header = { format: SNAPSHOT_FORMAT, version: SNAPSHOT_VERSION, seal: sealOf(text, machine.options.hashHex) }
  return `${JSON.stringify(header)}\n${text}`
}

/** Fills a fresh machine of the same program. Raises SnapshotError with the reason of a refusal. */
export function readSnapshot(text: string, machine: Machine): void {
  const document = parseDocument(text, machine.options.hashHex)
  checkProgram(document, machine.program, machine.options.hashHex)
  try {
    fill(machine, document)
  } catch (error) {
    if (error instanceof SnapshotError) throw error
    // The seal fits and the state does not: it was made up, or by another version that forgot to count itself up.
    throw new SnapshotError('damaged', `unreadable snapshot: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function fill(machine: Machine, document: Document): void {
  const state = readGraph(document.objects, {
    code: (key, index) => {
      const module = machine.program.modules.get(key) ?? (isAdapterKey(key) ? adapterByKey(machine, key) : undefined)
      const code = module?.functions[index]
      if (code === undefined) throw new SnapshotError('program', `the program has no function ${index} in ${key}`)
      return code
    },
    frame: (kind) => {
      const def = machine.registry.frames.get(kind)
      if (def === undefined) throw new SnapshotError('registry', `native frame ${kind} is missing`)
      return def
    },
  }) as Record<string, unknown>
  for (const [name, fits] of Object.entries(STATE)) {
    if (!fits(state[name])) throw new SnapshotError('damaged', `the snapshot lacks ${name}`)
    Reflect.set(machine, name, state[name])
  }
  const waiting = [...machine.tasks.values()].filter((task) => task.status === 'waiting')
  for (const task of waiting.sort((a, b) => a.waitOrder - b.waitOrder)) machine.waits.enter(task)
}

function sealOf(text: string, hashHex: (bytes: Uint8Array) => string): string {
  return hashHex(new TextEncoder().encode(text))
}

function parseDocument(text: string, hashHex: (bytes: Uint8Array) => string): Document {
  const lineEnd = text.indexOf('\n')
  const header = parseJson(lineEnd < 0 ? text : text.slice(0, lineEnd)) as Partial<Header> | null
  if (header === null || typeof header !== 'object' || header.format !== SNAPSHOT_FORMAT)
    throw new SnapshotError('format', 'not a snapshot')
  if (header.version !== SNAPSHOT_VERSION) {
    throw new SnapshotError(
      'version',
      `snapshot version ${String(header.version)}; this machine reads version ${SNAPSHOT_VERSION}`,
    )
  }
  const body = text.slice(lineEnd + 1)
  if (header.seal !== sealOf(body, hashHex))
    throw new SnapshotError('damaged', 'the snapshot is damaged: its contents do not fit its seal')
  const document = parseJson(body) as Partial<Document> | null
  const sound =
    document !== null &&
    typeof document === 'object' &&
    Array.isArray(document.objects) &&
    document.objects.every(Array.isArray) &&
    typeof document.modules === 'object' &&
    document.modules !== null
  if (!sound) throw new SnapshotError('damaged', 'a part of the snapshot is missing')
  return document as Document
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new SnapshotError('format', 'not a snapshot')
  }
}

function checkProgram(document: Document, program: LinkedProgram, hashHex: (bytes: Uint8Array) => string): void {
  for (const [key, hash] of Object.entries(document.modules)) {
    const module = program.modules.get(key)
    if (module === undefined) throw new SnapshotError('program', `the snapshot needs module ${key}, which this program lacks`)
    if (moduleHash(module, hashHex) !== hash)
      throw new SnapshotError('program', `module ${key} has changed since the snapshot was taken`)
  }
}
