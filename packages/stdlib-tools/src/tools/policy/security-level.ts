// How much a call may do (docs/tools/grants.md): `safe` needs no protection, `restricted` works within the limits that the host sets,
// `privileged` outside of them. The level follows from what is carried out; what an entry says about itself can only raise it. What
// without a declaration is `privileged`.

import { HarnDict } from '@bridle/vm/families'
import type { Effect, Value } from '@bridle/vm/families'
import { STANDARD_TOOLS } from '../definitions/standard-tools.js'
import { getOrNil } from '../definitions/registry.js'
import type { HostNames, ToolIdentity } from '../dispatch/identity.js'
import { isAbove, isSecurityLevel } from './level-order.js'
import type { SecurityLevel } from './level-order.js'
import { EFFECTS, listUses } from '../../library/effects/index.js'

function findHighest(levels: readonly SecurityLevel[]): SecurityLevel {
  return levels.reduce((high, level) => (isAbove(level, high) ? level : high), 'safe')
}

type EffectKind = Effect['kind']
type SideEffect = (typeof EFFECTS)[EffectKind]['sideEffect']

const STANDARD_LEVELS: ReadonlyMap<string, SecurityLevel> = new Map(STANDARD_TOOLS.map(({ id, security }) => [id, security]))

export function findIdentityLevel({ kind, id, server }: ToolIdentity, host: HostNames): SecurityLevel {
  switch (kind) {
    // What closures do outside of the machine is judged there.
    case 'script':
    case 'none':
      return 'safe'
    case 'builtin':
      return STANDARD_LEVELS.get(id) ?? 'privileged'
    case 'native':
      return 'restricted'
    case 'host':
      return host.levelOf?.(id) ?? 'privileged'
    case 'mcp':
      // A server that the script spelled out as a program is a program of its choice.
      return server === null || server.startsWith('program:') || server.startsWith('unknown:') ? 'privileged' : 'restricted'
  }
}

/** What an entry says about itself. */
export function findEntryLevel(entry: HarnDict): SecurityLevel {
  const annotations = getOrNil(entry, 'annotations')
  const said = annotations instanceof HarnDict ? annotations : new HarnDict()
  return findHighest([readLevel(said.get('security_level') ?? null), inferLevel(said)])
}

function readLevel(value: Value): SecurityLevel {
  return value === null ? 'safe' : isSecurityLevel(value) ? value : 'privileged'
}

function inferLevel(annotations: HarnDict): SecurityLevel {
  switch (annotations.get('side_effect_level') ?? null) {
    case null:
    case 'none':
      return 'safe'
    case 'read_only':
    case 'workspace_write':
    case 'network':
      return 'restricted'
    default:
      return 'privileged'
  }
}

/** The level of a builtin's effect. Calls of tools are judged by their identity. */
export function findEffectLevel(effect: Pick<Effect, 'kind' | 'args'>): SecurityLevel {
  const { kind } = effect
  const own = findKindLevel(kind)
  if (own === 'safe') return own
  const powers = listUses(effect).flatMap(({ power }) => (power === undefined ? [] : [EFFECTS[power].sideEffect]))
  return findHighest([own, ...powers.map(findSideEffectLevel)])
}

/** The level that every effect of the kind needs, with any arguments. */
export function findKindLevel(kind: EffectKind): SecurityLevel {
  const { sideEffect, needsGrant } = EFFECTS[kind]
  // To ask a person does nothing by itself.
  if (!needsGrant || kind === 'approval.ask') return 'safe'
  // The uses of a connection say whether it starts a program.
  return kind === 'mcp.connect' ? 'restricted' : findSideEffectLevel(sideEffect)
}

function findSideEffectLevel(sideEffect: SideEffect): SecurityLevel {
  return sideEffect === 'none' ? 'safe' : sideEffect === 'process_exec' ? 'privileged' : 'restricted'
}

/** Of a standard tool; null for any other name. */
export function findStandardLevel(id: string): SecurityLevel | null {
  return STANDARD_LEVELS.get(id) ?? null
}

/** Why a run of this level makes no such call. */
export function describeBeyondLevel(shown: string, needed: SecurityLevel, most: SecurityLevel): string {
  return `${shown} needs the security level ${needed}, and this run has ${most}: the host sets it with securityLevel`
}
