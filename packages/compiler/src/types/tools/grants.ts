// Constraints of aliases that no argument of their tool meets: they look like a limit and are none.

import type { Diagnostic } from '@bridle/parser'
import { report } from '@bridle/parser'
import { type ConstraintRules, keyKind } from '../../grants/constraints.js'
import type { GrantDeclarations } from '../../grants/lower.js'
import { TOOL_CATALOG } from './catalog.js'
import { listParameters, type ToolType, type ToolTypes } from './declaration.js'

/** Grants stay as they are: a pattern may cover tools with and without the argument. */
export function checkGrantedKeys(
  { aliases }: GrantDeclarations,
  tools: ToolTypes,
  rules: ConstraintRules | undefined,
): readonly Diagnostic[] {
  return aliases.flatMap(({ name, tool: id, server, grant, span }) => {
    const tool = server ? null : tools.find(id)
    if (tool === null || !namesItsArguments(tool)) return []
    const known = listParameters(tool).map((parameter) => parameter.name)
    return Object.keys(grant)
      .filter((key) => isOfArgument(key) && rules?.has(key) !== true && !known.includes(key))
      .map((key) => report(TOOL_CATALOG, 'A008', span, { alias: name, tool: id, key, known }))
  })
}

function isOfArgument(key: string): boolean {
  const kind = keyKind(key)
  return kind === 'pin' || (kind === 'limit' && key !== 'timeout_ms')
}

function namesItsArguments({ schema, args }: ToolType): boolean {
  return schema !== null && args.kind === 'shape'
}
