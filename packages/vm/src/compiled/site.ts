// A point at which compiled code can hand over to the base tier: the instruction to continue with and the slots that it needs.

import type { FrameState } from '../builtins/builtin.js'
import type { Instr } from '../interpreter/linked.js'
import type { FunctionCode } from '../interpreter/module.js'
import type { HarnClosure } from '../values/callable.js'
import type { Value } from '../values/value.js'

export class Site {
  readonly code: FunctionCode
  readonly instr: Instr
  /** Where the values that this site hands over are stored. */
  readonly slots: readonly number[]
  constructor(code: FunctionCode, instr: Instr, slots: readonly number[]) {
    this.code = code
    this.instr = instr
    this.slots = slots
  }
}

/** One activation that compiled code left, which becomes a frame. Inner ones come first. */
export type Leaving =
  | { readonly site: Site; readonly closure: HarnClosure; readonly values: readonly Value[] }
  /** A native frame: a builtin that ran in compiled code. `result` is the result of its last call. */
  | { readonly site: null; readonly frame: string; readonly state: FrameState; readonly result: Value }
