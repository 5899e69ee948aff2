// Internal modules: the bodies of builtins that are written in Harn. A registry has them compiled (BuiltinFamily.modules); they are
// linked at the first call, once for all machines that share the registry. Scripts cannot see them: their keys cannot be
// imported, their frames are in no trace, and they act with the authority of the builtin's caller.
//
// A call crosses the border if exactly one side is an internal module. Callbacks cross it outwards and are separate runs,
// as callbacks of native frames are: with a fresh recursion bound, and the line suffix for faults that leave them.

import { ChunkFormatError, readModule } from '@bridle/compiler/bytecode'
import type { ModuleChunk } from '@bridle/compiler/bytecode'
import { linkModule } from './module.js'
import type { Module } from './module.js'
import { isLibraryKey, makeModuleKey, parseModuleKey } from '../library-keys.js'
import { Fault } from './fault.js'
import { builtin } from '../builtins/builtin.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import { HarnClosure } from '../values/callable.js'
import type { LibrarySource } from '../builtins/registry.js'
import type { Value } from '../values/value.js'
import type { Machine } from './machine.js'

/** Keyed by the source of the modules, because restricted registries share it. */
const linked = new WeakMap<LibrarySource, Map<string, Module>>()

/** The module of a key; null for a key that is not one of an internal module, or of one that this build lacks. */
export function findLibraryModule(source: LibrarySource, key: string): Module | null {
  if (!isLibraryKey(key)) return null
  let modules = linked.get(source)
  if (modules === undefined) linked.set(source, (modules = new Map()))
  const known = modules.get(key)
  if (known !== undefined) return known
  const text = source.moduleText(parseModuleKey(key))
  if (text === null) return null
  const module = linkModule(readChunk(key, text), (name) => source.inner(name) ?? makeMissingBuiltin(name))
  modules.set(key, module)
  return module
}

/**
 * Placeholder for a builtin of a family that the registry lacks. A module may have branches that such a registry never reaches, so the
 * error is raised at the call; the compiler checks that every name exists.
 */
function makeMissingBuiltin(name: string): BuiltinDef {
  return builtin(`${name}(...args: any) -> any`, { doc: 'Not in this registry.' }, (ctx) =>
    ctx.fail(new Fault('undefined_builtin', `Undefined builtin: ${name}`)),
  )
}

function readChunk(key: string, text: string): ModuleChunk {
  try {
    const chunk = readModule(text)
    if (chunk.key === key) return chunk
  } catch (cause) {
    if (!(cause instanceof ChunkFormatError)) throw cause
    throw new Error(`internal module ${key} is of another build: ${cause.message}. Run \`npm run setup\``, { cause })
  }
  throw new Error(`internal module ${key}: its text is that of another`)
}

/** The module with its state in this machine, and its imports; null if the build lacks it. */
export function ensureModule(machine: Machine, key: string): Module | null {
  const module = findLibraryModule(machine.registry.library, key)
  if (module === null || machine.modules.has(key)) return module
  machine.modules.set(key, { slots: new Array<Value>(module.chunk.moduleSlots.length).fill(null), started: false })
  for (const unit of module.chunk.units) {
    if (ensureModule(machine, unit) === null) throw new Error(`internal module ${unit} is missing (imported by ${key})`)
  }
  return module
}

/** A function of an internal module. `starts`: the module's own code instead, which has just begun and must finish first. */
export function getLibraryEntry(
  machine: Machine,
  name: string,
  exported: string,
): { readonly callee: HarnClosure; readonly starts: boolean } {
  const key = makeModuleKey(name)
  const module = ensureModule(machine, key)
  if (module === null) throw new Error(`internal module ${name} is missing`)
  const state = machine.modules.get(key)!
  if (!state.started) {
    state.started = true
    return { callee: new HarnClosure(module.functions[0]!, []), starts: true }
  }
  const callee = state.slots[findExportedSlot(module, exported)]
  if (!(callee instanceof HarnClosure)) throw new Error(`${exported} of internal module ${name} is no function`)
  return { callee, starts: false }
}

function findExportedSlot(module: Module, name: string): number {
  const slot = Object.hasOwn(module.chunk.exports, name) ? module.chunk.exports[name] : undefined
  if (slot === undefined) throw new Error(`internal module ${module.key} exports no ${name}`)
  return slot
}

/** Whether a call by the frame of `caller` leaves an internal module for code of scripts. */
export function leavesLibrary(caller: unknown, callee: HarnClosure): boolean {
  return caller instanceof HarnClosure && caller.code.module.isLibrary && !callee.code.module.isLibrary
}
