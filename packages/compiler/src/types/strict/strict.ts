// Entry point of the strict passes: findings of the full strictness beyond the language's own checks. The passes are independent;
// if a tree is too deep for one of them, earlier findings are kept.

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
