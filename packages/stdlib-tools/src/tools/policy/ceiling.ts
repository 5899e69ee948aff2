// Nested capability policies: a requested policy must be within the active one, and the result is what
// both allow. Policies stay dicts, the form that scripts give and hosts read.

import { findInnermostScope, pushScope } from '../../library/task-scopes.js'
import { HarnDict, HarnList, isInt } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { matchesGlob, rankLevel, readPolicy } from './tool-policy.js'

/** A request that exceeds the policy in force; the message is what the runtime error says. */
export class CeilingError extends Error {
  override readonly name = 'CeilingError'
}

/** The default policy of delegated workflows. */
export const DEFAULT_CEILING: HarnDict = HarnDict.of({ side_effect_level: 'network', recursion_limit: 8 })

function listTexts(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().filter((item): item is string => typeof item === 'string') : []
}

const readDict = (policy: HarnDict, key: string): HarnDict => {
  const value = policy.get(key)
  return value instanceof HarnDict ? value : new HarnDict()
}

/** Tools that both sides list; an empty list does not restrict. */
function intersectTools(ceiling: HarnDict, requested: HarnDict): string[] {
  const outer = listTexts(ceiling.get('tools'))
  const inner = listTexts(requested.get('tools'))
  if (outer.length === 0) return inner
  const exceeding = inner.filter((tool) => !outer.includes(tool))
  if (exceeding.length > 0) throw new CeilingError(`requested tools exceed host ceiling: ${exceeding.join(', ')}`)
  return inner.length === 0 ? outer : inner
}

function intersectCapabilities(ceiling: HarnDict, requested: HarnDict): HarnDict {
  const outer = readDict(ceiling, 'capabilities')
  const inner = readDict(requested, 'capabilities')
  if (outer.size === 0) return inner
  if (inner.size === 0) return outer
  const result = new HarnDict()
  for (const capability of inner.keys()) {
    if (!outer.has(capability)) throw new CeilingError(`requested capability exceeds host ceiling: ${capability}`)
    const allowed = listTexts(outer.get(capability))
    const wanted = listTexts(inner.get(capability))
    const exceeding = wanted.filter((operation) => !allowed.includes(operation))
    if (exceeding.length > 0) {
      throw new CeilingError(`requested capability operations exceed host ceiling: ${capability}.${exceeding.join(',')}`)
    }
    result.set(capability, new HarnList(wanted.length === 0 ? allowed : wanted))
  }
  return result
}

function intersectRoots(ceiling: HarnDict, requested: HarnDict): string[] {
  const outer = listTexts(ceiling.get('workspace_roots'))
  const inner = listTexts(requested.get('workspace_roots'))
  if (outer.length === 0) return inner
  return inner.length === 0 ? outer : inner.filter((root) => outer.some((each) => root === each || root.startsWith(`${each}/`)))
}

function lowerLevel(a: Value | undefined, b: Value | undefined): string | null {
  const levels = [a, b].filter((level): level is string => typeof level === 'string')
  return levels.length === 0 ? null : levels.reduce((low, level) => (rankLevel(level) < rankLevel(low) ? level : low))
}

function chooseSmaller(a: Value | undefined, b: Value | undefined): Value {
  const limits = [a, b].filter((limit): limit is number | bigint => isInt(limit ?? null)).map(Number)
  return limits.length === 0 ? null : Math.min(...limits)
}

/** Raises CeilingError. A malformed side counts as the empty policy. */
export function intersectPolicies(ceiling: HarnDict, requested: HarnDict): HarnDict {
  const outer = readPolicy(ceiling) === null ? new HarnDict() : ceiling
  const inner = readPolicy(requested) === null ? new HarnDict() : requested
  const tools = intersectTools(outer, inner)
  const constraints = [outer, inner].flatMap((policy) => {
    const list = policy.get('tool_arg_constraints')
    return list instanceof HarnList ? [...list.view()] : []
  })
  const annotations = new HarnDict()
  for (const policy of [inner, outer]) {
    const described = readDict(policy, 'tool_annotations')
    for (const tool of described.keys()) {
      if (annotations.has(tool) || (tools.length > 0 && !tools.some((pattern) => matchesGlob(pattern, tool)))) continue
      annotations.set(tool, described.get(tool)!)
    }
  }
  return HarnDict.of({
    tools: new HarnList(tools),
    capabilities: intersectCapabilities(outer, inner),
    workspace_roots: new HarnList(intersectRoots(outer, inner)),
    side_effect_level: lowerLevel(outer.get('side_effect_level'), inner.get('side_effect_level')),
    recursion_limit: chooseSmaller(outer.get('recursion_limit'), inner.get('recursion_limit')),
    tool_arg_constraints: new HarnList(constraints),
    tool_annotations: annotations,
  })
}

/** Opens a scope under the one in force; popScope(ctx, 'ceilings') ends it. Raises CeilingError. */
export function pushCeiling(ctx: Context, requested: HarnDict): void {
  const current = findInnermostScope(ctx, 'ceilings')
  pushScope(ctx, 'ceilings', current instanceof HarnDict ? intersectPolicies(current, requested) : requested)
}
