// All builtins that scripts have: the machine's own and those that belong to this layer.

import { CORE_FAMILIES } from '@bridle/vm'
import { LATER_FAMILIES } from './later.js'
import type { BuiltinFamily, LaterFamilies } from '@bridle/vm'
import { makeMcpFamilies } from './mcp.js'
import { MCP_NAMES } from './mcp-names.generated.js'

/** Those that every registry has from the start, and those that come with the first name that is looked up in them. */
export const coreFamilies: readonly BuiltinFamily[] = CORE_FAMILIES
export const laterFamilies: readonly LaterFamilies[] = [...LATER_FAMILIES, { ...MCP_NAMES, load: makeMcpFamilies }]

/** All families with their documentation. */
export function allFamilies(): readonly BuiltinFamily[] {
  return [...coreFamilies, ...laterFamilies.flatMap(({ load }) => load())].map(describeShapes)
}

/** With the keys of options in the definitions, which a registry looks up by builtin. */
function describeShapes(family: BuiltinFamily): BuiltinFamily {
  const { findShapes } = family
  if (findShapes === undefined) return family
  return { ...family, builtins: family.builtins.map((def) => ({ ...def, shapes: findShapes(def) })) }
}
