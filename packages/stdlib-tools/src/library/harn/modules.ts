// Internal modules as the build compiled them: what a family names in its `modules`, so that builtins with a body in Harn find it.

import { HARN_MODULES } from './modules.generated.js'

/** Null for a module that there is not. */
export function findHarnModule(name: string): string | null {
  return HARN_MODULES.get(name) ?? null
}
