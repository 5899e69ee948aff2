// JSON is its own group: too common to load all others with it, and too large to be part of every start.
// Loaded when a script names one of its builtins (later-families.ts).

import { withCharges } from './family-charges.js'
import { jsonFamily } from './json.js'
import type { BuiltinFamily } from './registry.js'

export function makeJsonFamilies(): readonly BuiltinFamily[] {
  return withCharges([jsonFamily])
}
