// Which builtins compiled code may call while activations of its callers have no frames.

import type { BuiltinDef } from '../builtins/builtin.js'

/** Whether a builtin may run while its callers' frames are not on the stack: it neither looks at them nor at the whole heap. */
export function isDirect(def: BuiltinDef): boolean {
  return def.effects === 'pure' || (def.effects.length === 1 && def.effects[0] === 'callback')
}
