// The source position of a task, for messages: the innermost position in a file of the script itself. Modules without a file
// (`<stdlib>/…`, `<host>/…`, adapters) count as part of their caller.

import type { Ceiling } from '../builtins/builtin.js'
import { HarnClosure } from '../values/callable.js'
import { isAdapterKey } from './adapter.js'
import { IMPORT_SCOPES } from '../builtins/import-scopes.js'
import { HarnList } from '../values/list.js'
import { isLibraryKey } from '../library-keys.js'
import type { Module } from './module.js'
import type { Coroutine, Task } from '../scheduler/task.js'
import type { Machine } from './machine.js'
import type { ScriptPlace } from './script-place.js'

/** Null when no frame of the script is on the stacks. */
export function findScriptPlace(innermost: Coroutine): ScriptPlace | null {
  for (let co: Coroutine | null = innermost; co !== null; co = co.resumer) {
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]
      if (!(frame instanceof HarnClosure) || !isOfScript(frame.code.module.file)) continue
      const { pc } = fp === co.fp ? co.instr : co.returns[fp + 1]!
      return { file: frame.code.module.file, ...frame.code.findPlace(pc) }
    }
  }
  return null
}

/**
 * The module making the running call, if it has ceilings: that of the innermost function. Closures that call a
 * builtin (adapters) and internal modules count as part of their caller.
 */
export function findNarrowedCaller(task: Task): Module | null {
  for (let co: Coroutine | null = task.current; co !== null; co = co.resumer) {
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]
      if (!(frame instanceof HarnClosure) || isAdapterKey(frame.code.module.key) || frame.code.module.isLibrary) continue
      return frame.code.module.ceilings === null ? null : frame.code.module
    }
  }
  return null
}

/** The ceilings of the calling module, and of those on whose behalf it runs: handlers of tools, tasks that only run a builtin. */
export function listCallingCeilings(machine: Machine, task: Task): readonly Ceiling[] | null {
  const own = findNarrowedCaller(task)?.ceilings ?? null
  const scopes = task.fields.get(IMPORT_SCOPES)
  if (!(scopes instanceof HarnList) || scopes.length === 0) return own
  const outer = scopes.view().flatMap((key) => machine.program.modules.get(String(key))?.ceilings ?? [])
  return outer.length === 0 ? own : [...outer, ...(own ?? [])]
}

function isOfScript(key: string): boolean {
  return !key.startsWith('<stdlib>/') && !key.startsWith('<host>/') && !isLibraryKey(key) && !isAdapterKey(key)
}
