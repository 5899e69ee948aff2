// Which families charge what they do themselves, and which are charged by what they are given.

import type { BuiltinFamily } from './registry.js'

/**
 * What scripts call in their inner loops: these builtins know what they cost and charge it themselves. All others, which talk to
 * the world or keep records, are charged by the size of their arguments before they see them (charging.ts).
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
