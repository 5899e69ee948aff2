// The order of side effects: what a call may change, as policies rank it.

import { SIDE_EFFECTS } from '../../library/effects/effects.js'
import type { SideEffect } from '../../library/effects/effects.js'

export const rankSideEffect = (name: SideEffect): number => SIDE_EFFECTS.indexOf(name)

export function isSideEffect(value: unknown): value is SideEffect {
  return SIDE_EFFECTS.includes(value as SideEffect)
}
