// Raises faults from functions that read or judge values for a builtin and return no Result. The builtin that runs them
// catches the Fault and passes it to `ctx.fail`.

import { makeCategorized, makeRuntimeFault, makeThrown } from '../interpreter/fault.js'
import type { Value } from '../values/value.js'

/** Raises a thrown value. */
export function failWith(value: Value): never {
  throw makeThrown(value)
}

export function failRuntime(message: string): never {
  throw makeRuntimeFault(message)
}

export function failCategorized(category: string, message: string): never {
  throw makeCategorized(category, message)
}
