// The gate in front of tools is in the machine, where the policies are (packages/stdlib-tools/src/tools/dispatch/gate.ts). This is the same question
// asked once more where a tool is reached: does the effect lead to what was judged, and does the host allow that at all? It relies on
// nothing that the script or an entry says, only on the definitions of the host. A refusal means a way around the gate: a bug of ours, or
// a snapshot of a version without it.

import { describeBeyondLevel } from '../tools/policy/security-level.js'
import { identifyEffect } from '../tools/dispatch/identity.js'
import { isAbove } from '../tools/policy/level-order.js'
import { isOwnOperation } from '../tools/dispatch/host-call.js'
import { findEffectLevel } from '../tools/policy/security-level.js'
import { findIdentityLevel } from '../tools/policy/security-level.js'
import { findRunLevel } from '../tools/policy/level-order.js'
import { refuseByDefault } from '../tools/policy/grants.js'
import type { Effect, EffectOutcome } from '@bridle/vm'
import type { GrantCeiling } from '../tools/policy/grant-ceiling.js'
import type { HostNames } from '../tools/dispatch/identity.js'
import type { SecurityLevel } from '../tools/policy/level-order.js'
import { categorizedError } from '../tools/executors/provider.js'
import type { PerformEffect } from '../tools/executors/provider.js'

export interface IdentityGuard {
  readonly names: HostNames
  /** Whether this host defines a tool or operation of the name. */
  readonly serves: (name: string) => boolean
  /** Whether a host in another process handles the rest. */
  readonly hasBridge: boolean
  readonly ceiling: GrantCeiling
}

export function withIdentityGuard(guard: IdentityGuard, perform: PerformEffect): PerformEffect {
  const level = findRunLevel(guard.ceiling)
  return (effect, call) =>
    findRefusal(guard, effect) ?? (level === null ? null : refuseByLevel(guard, effect, level)) ?? perform(effect, call)
}

function refuseByLevel(guard: IdentityGuard, effect: Effect, most: SecurityLevel): EffectOutcome | null {
  const ofEffect = findEffectLevel(effect)
  if (isAbove(ofEffect, most))
    return categorizedError('tool_rejected', describeBeyondLevel(effect.kind, ofEffect, most), 'security_violation')
  const identity = identifyEffect(effect, guard.names)
  if (identity === null || isAnsweredByTheRun(guard, effect)) return null
  const needed = findIdentityLevel(identity, guard.names)
  if (!isAbove(needed, most)) return null
  return categorizedError('tool_rejected', describeBeyondLevel(`tool '${identity.id}'`, needed, most), 'security_violation')
}

function findRefusal(guard: IdentityGuard, effect: Effect): EffectOutcome | null {
  const identity = identifyEffect(effect, guard.names)
  if (identity === null || isAnsweredByTheRun(guard, effect)) return null
  if (effect.args.identity !== identity.key)
    return categorizedError('tool_rejected', `${effect.kind} of '${identity.id}' was not judged: it leads to ${identity.key}`)
  const denied = refuseByDefault(guard.ceiling, identity, false)
  return denied === null ? null : categorizedError('tool_rejected', `policy violation for '${identity.id}': ${denied}`)
}

/** Operations of which the host says that it does not have them, or that are facts of the run; builtins take over then. */
function isAnsweredByTheRun({ serves, hasBridge }: IdentityGuard, { kind, args }: Effect): boolean {
  if (kind !== 'host.call') return false
  const name = String(args.name ?? '')
  return !serves(name) && (!hasBridge || isOwnOperation(name))
}
