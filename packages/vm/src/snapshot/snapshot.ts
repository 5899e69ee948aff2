// A stopped machine ⇄ bytes. They hold the state of the run and name code by module and function. They fit any process with
// the same program; programs are the same if their code without debug information is.
//
// The state is preceded by the modules of the program, each with the first 8 bytes of its hash.

import { writeModuleIdentity } from '@bridle/compiler/bytecode'
import { getAdapter, isAdapterKey } from '../interpreter/adapter.js'
import { FewMap } from '../few-map.js'
import { isLibraryKey } from '../library-keys.js'
import { Task } from '../scheduler/task.js'
import { makeDamagedError, SnapshotError } from './error.js'
import { GraphReader } from './graph-read.js'
import { GraphWriter } from './graph-write.js'
import type { Module } from '../interpreter/module.js'
import type { Value } from '../values/value.js'
import type { Machine } from '../interpreter/machine.js'

/** Format version of `Machine.snapshot`. Version 1 was JSON. */
export const SNAPSHOT_VERSION = 4

/** The parts of a machine that a run consists of, in the order in which they are written; KEEP WITH: the state fields of Machine. */
const STATE = {
  now: isNumber,
  tasks: makeMapTest(Task),
  nextTask: isNumber,
  ready: makeListTest(Task),
  nextEffect: isNumber,
  nextOrder: isNumber,
  families: isMap,
  impls: isMap,
  fuelUsed: isNumber,
  heapCharged: isNumber,
  heapNext: isNumber,
  outputBytes: isNumber,
  input: isValue,
  pending: isMap,
  plainText: isText,
} as const

type StateName = keyof typeof STATE

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(value)
}

function isMap(value: unknown): boolean {
  return value instanceof Map
}

function makeMapTest(type: typeof Task): (value: unknown) => boolean {
  return (value) => value instanceof Map && [...value.values()].every((each) => each instanceof type)
}

function makeListTest(type: typeof Task): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.every((each) => each instanceof type)
}

function isValue(value: unknown): boolean {
  return value !== undefined
}

const NAMES = Object.keys(STATE) as StateName[]

const FINGERPRINT_BYTES = 8

const moduleHashes = new WeakMap<Module, Uint8Array>()

/** The beginning of the hash of what a module's code does. */
function computeFingerprint(module: Module, hashHex: (bytes: Uint8Array) => string): Uint8Array {
  const known = moduleHashes.get(module)
  if (known !== undefined) return known
  const hash = module.chunk.fingerprint ?? hashHex(new TextEncoder().encode(writeModuleIdentity(module.chunk)))
  const fingerprint = Uint8Array.from({ length: FINGERPRINT_BYTES }, (_, at) =>
    Number.parseInt(hash.slice(at * 2, at * 2 + 2), 16),
  )
  moduleHashes.set(module, fingerprint)
  return fingerprint
}

/** Internal modules that the run has called, in the order of their first calls. */
function listLoadedLibrary(machine: Machine): Module[] {
  return [...machine.modules.keys()].flatMap((key) => (isLibraryKey(key) ? [machine.findModule(key)!] : []))
}

/** The state of a machine that has just returned control to its host. */
export function writeSnapshot(machine: Machine): Uint8Array {
  if (!machine.tasks.has(0)) throw new Error('a machine that has not begun has no snapshot')
  const writer = new GraphWriter()
  const { program, options } = machine
  const modules = [...program.modules.values(), ...listLoadedLibrary(machine)]
  writer.writeCount(modules.length)
  for (const module of modules) {
    writer.writeText(module.key)
    writer.writeRaw(computeFingerprint(module, options.hashHex))
    // A module that was not imported yet has no state.
    const state = machine.modules.get(module.key)!
    writer.writeCount(state.started ? state.slots.length + 1 : 0)
    if (state.started) for (const slot of state.slots) writer.writeValue(slot)
  }
  for (const name of NAMES) writer.writeValue(machine[name])
  return writer.finish('machine', SNAPSHOT_VERSION)
}

/** Fills a fresh machine of the same program. Throws SnapshotError with the reason of a refusal. */
export function readSnapshot(bytes: Uint8Array, machine: Machine): void {
  try {
    fill(machine, bytes)
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause
    // The seal fits and the state does not: it was forged.
    throw new SnapshotError('damaged', `unreadable snapshot: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function fill(machine: Machine, bytes: Uint8Array): void {
  const reader = new GraphReader(bytes, 'machine', SNAPSHOT_VERSION, {
    code: (key, index) => {
      const module = isAdapterKey(key) ? getAdapter(machine, key) : machine.findModule(key)
      const code = module?.functions[index]
      if (code === undefined) throw new SnapshotError('program', `the program has no function ${index} in ${key}`)
      return code
    },
    frame: (kind) => {
      const def = machine.registry.frames.get(kind)
      if (def === undefined) throw new SnapshotError('registry', `native frame ${kind} is missing`)
      return def
    },
  })
  for (let left = reader.readCount(); left > 0; left--) readModule(reader, machine)
  for (const name of NAMES) {
    const value = reader.readValue()
    if (!STATE[name](value)) throw makeDamagedError(`${name} is not what it must be`)
    Reflect.set(machine, name, value instanceof Map ? new FewMap(value) : value)
  }
  reader.finish()
  const { tasks } = machine
  if (!tasks.has(0)) throw makeDamagedError('the root task is missing')
  for (const task of tasks.values()) {
    task.values = new FewMap(task.values)
    task.fields = new FewMap(task.fields)
  }
  for (const [id, task] of tasks) if (task.id !== id) throw makeDamagedError('a task has the number of another')
  for (const task of machine.ready) if (tasks.get(task.id) !== task) throw makeDamagedError('an unknown task is to run')
  // A host that restores with a lower limit must not inherit the allowance of the higher one.
  machine.heapNext = Math.min(machine.heapNext, machine.heapCharged + machine.limits.heap / 4)
  const waiting = [...tasks.values()].filter((task) => task.status === 'waiting')
  for (const task of waiting.sort((a, b) => a.waitOrder - b.waitOrder)) machine.waits.enter(task)
}

function readModule(reader: GraphReader, machine: Machine): void {
  const key = reader.readText()
  const fingerprint = reader.take(FINGERPRINT_BYTES)
  const module = machine.findModule(key)
  if (module === null)
    throw new SnapshotError(
      'program',
      isLibraryKey(key)
        ? `the snapshot stands in ${key} of Bridle's library, which this version lacks: resume it with the version that took it`
        : `the snapshot needs module ${key}, which this program lacks`,
    )
  const own = computeFingerprint(module, machine.options.hashHex)
  if (own.some((byte, at) => byte !== fingerprint[at]))
    throw new SnapshotError(
      'program',
      isLibraryKey(key)
        ? `the snapshot stands in ${key} of Bridle's library, which differs in this version: resume it with the version that took it`
        : `module ${key} has changed since the snapshot was taken`,
    )
  const state = machine.modules.get(key)!
  const count = reader.readCount()
  if (count === 0) return
  if (count !== state.slots.length + 1) throw makeDamagedError(`module ${key} has another number of variables`)
  state.started = true
  for (let at = 0; at < state.slots.length; at++) state.slots[at] = reader.readValue() as Value
}
