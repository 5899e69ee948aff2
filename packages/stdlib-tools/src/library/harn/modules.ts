// Internal modules as their bytes: what a family names in its `modules`, so that builtins with a body in Harn find it.

import { decodeBase64 } from '@bridle/vm/families'
import { HARN_MODULES } from './modules.generated.js'

/** Null for a module that there is not. */
export function harnModules(name: string): Uint8Array | null {
  const text = HARN_MODULES.get(name)
  if (text === undefined) return null
  const bytes = decodeBase64(text)
  if (typeof bytes === 'string') throw new Error(`internal module ${name}: ${bytes}`)
  return bytes
}
