// Primitives of the internal modules whose parts raise by thrown Faults (vm: builtins/fail.ts).

import { Fault, builtin } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'

/**
 * A primitive that sees the machine, and may raise by a thrown Fault. It is not charged by the size of its arguments: internal modules
 * hand over whole conversations to those that look at a part of them. One that looks at all charges for it. It may look at its callers:
 * compiled code lays their frames out for it (`world`).
 */
export function definePrimitive(signature: string, doc: string, run: (ctx: Context, ...args: Value[]) => Result): BuiltinDef {
  return builtin(signature, { doc, effects: ['world'], pays: true }, (ctx, ...args) => {
    try {
      return run(ctx, ...args)
    } catch (error) {
      if (error instanceof Fault) return ctx.fail(error)
      throw error
    }
  })
}
