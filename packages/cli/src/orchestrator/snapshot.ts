// `orchestrator-state.json` of the state folder: the state of a running orchestrator, for people and for other commands.

import { readFileSync } from 'node:fs'
import { writeWholeFile } from '@bridle/stdlib-tools/node'
import type { Binding, Desk } from './desk.js'
import { joinState } from './desk.js'
import { listSecretProviders } from './secrets.js'

export interface Snapshot {
  readonly status: 'running' | 'stopped'
  readonly role: string
  readonly bind: string
  readonly listener_url: string
  readonly manifest_path: string
  readonly state_dir: string
  readonly started_at: string
  readonly stopped_at: string | null
  readonly secret_provider_chain: string
  readonly event_log_backend: string
  readonly event_log_location: string
  readonly triggers: readonly SnapshotTrigger[]
  readonly connectors: readonly string[]
  readonly activations: readonly Activation[]
}

export interface SnapshotTrigger {
  readonly id: string
  readonly provider: string
  readonly kind: string
  readonly handler: string
  readonly version: number
  readonly state: string
  readonly received: number
  readonly dispatched: number
  readonly failed: number
  readonly in_flight: number
}

export interface Activation {
  readonly provider: string
  readonly binding_count: number
}

/** Outcomes of the dispatches of a binding (registry.harn). */
export function readMetrics(desk: Desk, { id, version }: Binding): { readonly [name: string]: number } {
  return (desk.log.get('trigger_metrics', `${id}@v${version}`).value ?? {}) as { readonly [name: string]: number }
}

export function describeTriggers(desk: Desk): readonly SnapshotTrigger[] {
  return desk.bindings.map((binding) => {
    const { received = 0, dispatched = 0, failed = 0, in_flight = 0 } = readMetrics(desk, binding)
    const { id, provider, kind, handler, version, state } = binding
    return { id, provider, kind, handler, version, state, received, dispatched, failed, in_flight }
  })
}

export function listActivations({ bindings }: Pick<Desk, 'bindings'>): readonly Activation[] {
  const counts = new Map<string, number>()
  for (const { provider } of bindings) counts.set(provider, (counts.get(provider) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([provider, count]) => ({ provider, binding_count: count }))
}

/** Written atomically: others read the file. */
export function writeSnapshot(
  desk: Desk,
  facts: Pick<Snapshot, 'status' | 'role' | 'bind' | 'listener_url' | 'started_at' | 'stopped_at'>,
): void {
  const activations = listActivations(desk)
  const snapshot: Snapshot = {
    ...facts,
    manifest_path: desk.project.path,
    state_dir: desk.stateDir,
    secret_provider_chain: listSecretProviders().join(' -> '),
    event_log_backend: desk.log.backend,
    event_log_location: desk.log.location,
    triggers: describeTriggers(desk),
    connectors: activations.map(({ provider }) => provider),
    activations,
  }
  writeWholeFile(joinState(desk, 'orchestrator-state.json'), `${JSON.stringify(snapshot, null, 2)}\n`)
}

/** Null when there is none. */
export function readSnapshot(desk: Pick<Desk, 'stateDir'>): Snapshot | null {
  try {
    return JSON.parse(readFileSync(joinState(desk, 'orchestrator-state.json'), 'utf8')) as Snapshot
  } catch {
    return null
  }
}
