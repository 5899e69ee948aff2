// The shape of a capability policy where a wrong one is an error: a child whose limits got lost in a
// spelling must not run without them.

import { HarnDict, HarnFloat, HarnList, display, isInt } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

/** A value as the reports of a policy name it. */
function describeValue(value: Value): string {
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (isInt(value)) return `integer \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${display(value)}\``
  if (typeof value === 'string') return `string "${value}"`
  return value instanceof HarnList ? 'sequence' : value instanceof HarnDict ? 'map' : display(value)
}

/** What keeps a value from being a policy, or null. */
export function findPolicyMisfit(policy: Value): string | null {
  if (policy === null) return null
  const describeWrong = (value: Value, expected: string): string => `invalid type: ${describeValue(value)}, expected ${expected}`
  if (!(policy instanceof HarnDict)) return describeWrong(policy, 'struct CapabilityPolicy')
  const findTextsMisfit = (value: Value): string | null => {
    if (value === null) return null
    if (!(value instanceof HarnList)) return describeWrong(value, 'a sequence')
    const other = value.view().find((item) => typeof item !== 'string')
    return other === undefined ? null : describeWrong(other, 'a string')
  }
  const readField = (key: string): Value => policy.get(key) ?? null
  const capabilities = readField('capabilities')
  if (capabilities !== null) {
    if (!(capabilities instanceof HarnDict)) return describeWrong(capabilities, 'a map')
    for (const key of capabilities.keys()) {
      const misfit = findTextsMisfit(capabilities.get(key)!)
      if (misfit !== null) return misfit
    }
  }
  const limit = readField('recursion_limit')
  if (limit !== null && !isInt(limit)) return describeWrong(limit, 'usize')
  const level = readField('side_effect_level')
  if (level !== null && typeof level !== 'string') return describeWrong(level, 'a string')
  const constraints = readField('tool_arg_constraints')
  if (constraints !== null) {
    if (!(constraints instanceof HarnList)) return describeWrong(constraints, 'a sequence')
    const other = constraints.view().find((item) => !(item instanceof HarnDict))
    if (other !== undefined) return describeWrong(other, 'struct ToolArgConstraint')
  }
  return findTextsMisfit(readField('tools')) ?? findTextsMisfit(readField('workspace_roots'))
}
