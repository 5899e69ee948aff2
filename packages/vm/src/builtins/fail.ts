// Raising faults from functions that read or judge values for a builtin and have no Result to give. Whoever runs them for the builtin
// catches the Fault and hands it to `ctx.fail`.

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
