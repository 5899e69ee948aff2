// Where a task stands, for people: the innermost place in a file of the script itself. Modules without a place on disk
// (`<stdlib>/…`, `<host>/…`, adapters) count as part of whoever called them.

import { HarnClosure } from '../values/callable.js'
import { isAdapterKey } from './adapter.js'
import type { Coroutine } from '../scheduler/task.js'

export interface ScriptPlace {
  readonly file: string
  /** Counts from 1; 0 when unknown. */
  readonly line: number
  readonly column: number
}

/** Null when no frame of the script is on the stacks. */
export function scriptPlace(innermost: Coroutine): ScriptPlace | null {
  for (let co: Coroutine | null = innermost; co !== null; co = co.resumer) {
    for (let fp = co.fp; fp >= 0; fp--) {
      const frame = co.frames[fp]
      if (!(frame instanceof HarnClosure) || !isOfScript(frame.code.module.key)) continue
      const { pc } = fp === co.fp ? co.instr : co.returns[fp + 1]!
      return { file: frame.code.module.key, ...frame.code.placeOf(pc) }
    }
  }
  return null
}

function isOfScript(key: string): boolean {
  return !key.startsWith('<stdlib>/') && !key.startsWith('<host>/') && !isAdapterKey(key)
}
