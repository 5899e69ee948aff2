// Refuses a program before its first instruction where its manifest shows what the security level of the run does not allow. The check at
// the call stays: a manifest does not contain what is known only at run time.

import type { EffectManifest, ToolUse } from '@bridle/compiler'
import type { EffectKind } from '@bridle/vm'
import { makeBridgedIdentity, makeMcpIdentity } from '../tools/dispatch/identity.js'
import type { HostNames } from '../tools/dispatch/identity.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { isAbove } from '../tools/policy/level-order.js'
import { findIdentityLevel, findKindLevel, findStandardLevel } from '../tools/policy/security-level.js'
import type { SecurityLevel } from '../tools/policy/level-order.js'
import { EFFECTS } from '../library/effects/index.js'

/** Raises ToolError `security_violation` with what the program can reach above the level. */
export function checkLevel(manifest: EffectManifest, most: SecurityLevel, names: HostNames): void {
  const { kinds, tools } = manifest.script
  // Where a name is known to the run only, the manifest has the effects of every standard tool: those are known at the call.
  const isOpen = tools.some(({ via, name }) => via === 'tool' && name === '*')
  const needs: (readonly [what: string, level: SecurityLevel])[] = [
    ...(isOpen ? [] : kinds.filter(isEffectKind).map((kind) => [kind, findKindLevel(kind)] as const)),
    ...tools.flatMap((use) => findLevels(use, names)),
  ]
  const above = needs.filter(([, level]) => isAbove(level, most))
  if (above.length === 0) return
  const shown = above.map(([what, level]) => `${what} (${level})`).join(', ')
  throw new ToolError(
    'security_violation',
    `the program can reach ${shown}, and this run has the security level ${most}: the host sets it with securityLevel`,
    { details: { violation: 'level', required: above[0]![1], granted: most, reaches: above.map(([what]) => what) } },
  )
}

function isEffectKind(kind: string): kind is EffectKind {
  return Object.hasOwn(EFFECTS, kind)
}

function findLevels({ via, name, reaches }: ToolUse, names: HostNames): (readonly [string, SecurityLevel])[] {
  if (name === '*') return []
  if (reaches !== undefined) return reaches.flatMap((reach) => findReachLevels(reach, names))
  // The effects of a server's tools are among the kinds.
  if (via === 'mcp') return []
  const standard = via === 'tool' && !isOfHost(name, names) ? findStandardLevel(name) : null
  return standard === null ? findHostLevels(name, names) : [[name, standard]]
}

function findReachLevels(reach: string, names: HostNames): (readonly [string, SecurityLevel])[] {
  if (reach.includes('*')) return []
  if (reach.startsWith('host:')) return findHostLevels(reach.slice('host:'.length), names)
  const slash = reach.lastIndexOf('/')
  if (!reach.startsWith('mcp:') || slash < 0) return []
  return [[reach, findIdentityLevel(makeMcpIdentity(reach.slice('mcp:'.length, slash), reach.slice(slash + 1)), names)]]
}

/** Names that the host does not have are handled by a builtin, by another host or not at all; the call decides. */
function findHostLevels(name: string, names: HostNames): (readonly [string, SecurityLevel])[] {
  if (!isOfHost(name, names)) return []
  return [[name, findIdentityLevel(makeBridgedIdentity(names, { tool: name, capability: name }), names)]]
}

function isOfHost(name: string, names: HostNames): boolean {
  const level = names.levelOf?.(names.aliases?.get(name) ?? name) ?? null
  return level !== null || names.hasOperation(name)
}
