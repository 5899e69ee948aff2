// The shape of a capability policy where a wrong one is an error: a child whose limits got lost in a
// spelling must not run without them.

import { HarnDict, HarnFloat, HarnList, display, isInt } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

/** A value as the reports of a policy name it. */
function described(value: Value): string {
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (isInt(value)) return `integer \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${display(value)}\``
  if (typeof value === 'string') return `string "${value}"`
  return value instanceof HarnList ? 'sequence' : value instanceof HarnDict ? 'map' : display(value)
}

/** What keeps a value from being a policy, or null. */
export function policyMisfit(policy: Value): string | null {
  if (policy === null) return null
  const wrong = (value: Value, expected: string): string => `invalid type: ${described(value)}, expected ${expected}`
  if (!(policy instanceof HarnDict)) return wrong(policy, 'struct CapabilityPolicy')
  const texts = (value: Value): string | null => {
    if (value === null) return null
    if (!(value instanceof HarnList)) return wrong(value, 'a sequence')
    const other = value.view().find((item) => typeof item !== 'string')
    return other === undefined ? null : wrong(other, 'a string')
  }
  const at = (key: string): Value => policy.get(key) ?? null
  const capabilities = at('capabilities')
  if (capabilities !== null) {
    if (!(capabilities instanceof HarnDict)) return wrong(capabilities, 'a map')
    for (const key of capabilities.keys()) {
      const misfit = texts(capabilities.get(key)!)
      if (misfit !== null) return misfit
    }
  }
  const limit = at('recursion_limit')
  if (limit !== null && !isInt(limit)) return wrong(limit, 'usize')
  const level = at('side_effect_level')
  if (level !== null && typeof level !== 'string') return wrong(level, 'a string')
  const constraints = at('tool_arg_constraints')
  if (constraints !== null) {
    if (!(constraints instanceof HarnList)) return wrong(constraints, 'a sequence')
    const other = constraints.view().find((item) => !(item instanceof HarnDict))
    if (other !== undefined) return wrong(other, 'struct ToolArgConstraint')
  }
  return texts(at('tools')) ?? texts(at('workspace_roots'))
}
