// Front door of the strict passes: what the full strictness finds beyond the language's own checks. Each pass reports by itself and
// none stops another; a tree too deep for one of them keeps what was found until then.

import { resolveNames } from './names.js'
import { checkUses } from './uses.js'
import type { StrictWorld } from './world.js'

export function checkStrictly(world: StrictWorld): void {
  try {
    const names = resolveNames(world)
    checkUses(world, names)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}
