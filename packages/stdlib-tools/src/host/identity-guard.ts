// The gate in front of tools is in the machine, where the policies are (packages/stdlib-tools/src/tools/dispatch/gate.ts). This is the same question
// asked once more where a tool is reached: does the effect lead to what was judged, and does the host allow that at all? It relies on
// nothing that the script or an entry says, only on the definitions of the host. A refusal means a way around the gate: a bug of ours, or
// a snapshot of a version without it.

import { beyondLevel } from '../tools/policy/security-level.js'
import { identityOfEffect } from '../tools/dispatch/identity.js'
import { isAbove } from '../tools/policy/security-level.js'
import { isOwnOperation } from '../tools/dispatch/host-call.js'
import { levelOfEffect } from '../tools/policy/security-level.js'
import { levelOfIdentity } from '../tools/policy/security-level.js'
import { levelOfRun } from '../tools/policy/security-level.js'
import { refusedByDefault } from '../tools/policy/grants.js'
import type { Effect, EffectOutcome } from '@bridle/vm'
import type { GrantCeiling } from '../tools/policy/grant-ceiling.js'
import type { HostNames } from '../tools/dispatch/identity.js'
import type { SecurityLevel } from '../tools/policy/security-level.js'
import { categorizedError } from '../tools/executors/provider.js'
import type { PerformEffect } from '../tools/executors/provider.js'

export interface IdentityGuard {
  readonly names: HostNames
  /** Whether this host defines a tool or operation of the name. */
  readonly serves: (name: string) => boolean
  /** Whether a host in another process is asked for the rest. */
  readonly hasBridge: boolean
  readonly ceiling: GrantCeiling
}

export function withinIdentity(guard: IdentityGuard, perform: PerformEffect): PerformEffect {
  const level = levelOfRun(guard.ceiling)
  return (effect, call) =>
    refusalOf(guard, effect) ?? (level === null ? null : refusalByLevel(guard, effect, level)) ?? perform(effect, call)
}

function refusalByLevel(guard: IdentityGuard, effect: Effect, most: SecurityLevel): EffectOutcome | null {
  const ofEffect = levelOfEffect(effect)
  if (isAbove(ofEffect, most))
    return categorizedError('tool_rejected', beyondLevel(effect.kind, ofEffect, most), 'security_violation')
  const identity = identityOfEffect(effect, guard.names)
  if (identity === null || isAnsweredByTheRun(guard, effect)) return null
  const needed = levelOfIdentity(identity, guard.names)
  if (!isAbove(needed, most)) return null
  return categorizedError('tool_rejected', beyondLevel(`tool '${identity.id}'`, needed, most), 'security_violation')
}

function refusalOf(guard: IdentityGuard, effect: Effect): EffectOutcome | null {
  const identity = identityOfEffect(effect, guard.names)
  if (identity === null || isAnsweredByTheRun(guard, effect)) return null
  if (effect.args.identity !== identity.key)
    return categorizedError('tool_rejected', `${effect.kind} of '${identity.id}' was not judged: it leads to ${identity.key}`)
  const denied = refusedByDefault(guard.ceiling, identity, false)
  return denied === null ? null : categorizedError('tool_rejected', `policy violation for '${identity.id}': ${denied}`)
}

/** Operations of which the host says that it does not have them, or that are facts of the run; builtins take over then. */
function isAnsweredByTheRun({ serves, hasBridge }: IdentityGuard, { kind, args }: Effect): boolean {
  if (kind !== 'host.call') return false
  const name = String(args.name ?? '')
  return !serves(name) && (!hasBridge || isOwnOperation(name))
}
