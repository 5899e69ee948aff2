// Arguments that the schema of a tool marks as secret, by the effect that reaches the tool: for records of what is about to happen, which
// are written where no dispatch is.

import type { Effect } from '@bridle/vm'
import { getEntryFacts, toHostEntry } from '../tools/definitions/entry.js'
import { identifyEffect } from '../tools/dispatch/identity.js'
import type { Host } from '../tools/host-tools/host.js'

/** By the host's own word about its tool. */
export function listToolSecrets(host: Host, name: string): readonly string[] {
  const entry = host.entries.get(name)
  return entry === undefined ? [] : getEntryFacts(toHostEntry(entry)).secrets
}

/** Also those that the entry of the call marks, which the effect carries. */
export function listEffectSecrets(host: Host, effect: Effect): readonly string[] {
  const { secrets } = effect.args
  const carried = Array.isArray(secrets) ? secrets.filter((name) => typeof name === 'string') : []
  const identity = identifyEffect(effect, host.names)
  return identity?.kind === 'host' ? [...carried, ...listToolSecrets(host, identity.id)] : carried
}
