// Which families charge for their own work, and which are charged by the size of their arguments.

import type { BuiltinFamily } from './registry.js'

/**
 * Families of inner loops: these builtins know their cost and charge it themselves. All others, which talk to
 * the world or keep records, are charged by the size of their arguments before they run (charging.ts).
 */
const CHARGE_THEMSELVES: ReadonlySet<string> = new Set([
  'atomics',
  'channels',
  'core',
  'dicts',
  'iter',
  'json',
  'library',
  'lists',
  'math',
  'random',
  'ranges',
  'results',
  'sets',
  'shared',
  'streams',
  'strings',
  'sync',
  'tasks',
])

export function withCharges(families: readonly BuiltinFamily[]): readonly BuiltinFamily[] {
  return families.map((family) =>
    family.charges !== undefined || CHARGE_THEMSELVES.has(family.name) ? family : { ...family, charges: 'arguments' },
  )
}
