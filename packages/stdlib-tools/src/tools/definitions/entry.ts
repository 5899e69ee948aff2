// What the dispatch asks of a registry entry on every call, read once. An entry is never changed in place (a value
// in a container or a registry is shared), so facts are kept by the identity of the dict; they are derived from it alone and belong
// to no run.

import { executorNamed, impliedExecutor, targetOf } from '@bridle/compiler/grants'
import type { CallTarget } from '@bridle/compiler/grants'
import { HarnDict, HarnFloat, fromPlain, defineHostSlot, toMillis } from '@bridle/vm/families'
import type { Plain, Value } from '@bridle/vm/families'
import { hasDefaults, listMarkedParameters, readParameters, listSecretParameters } from './arguments.js'
import { readCacheRule } from '../dispatch/cache.js'
import { readName, getOrNil, readText } from './registry.js'
import type { CacheRule } from '../dispatch/cache.js'

export interface EntryFacts {
  readonly parameters: HarnDict
  /** Whether a parameter has a default. */
  readonly hasDefaults: boolean
  /** As declared or implied: an ExecutorName, or an unknown name. */
  readonly executor: string
  /** Where its calls go. */
  readonly target: CallTarget
  readonly version: string | null
  readonly output: Value
  /** Limit of one attempt. */
  readonly timeoutMs: number | null
  readonly breaker: Value
  /** What each call costs, in US dollars. */
  readonly costUsd: number
  /** Whether its results are kept. */
  readonly cache: CacheRule | null
  /** How it reacts to drift; nil when it does not say. */
  readonly drift: string | null
  /** Grants of its own; nil without any. */
  readonly grants: Value
  /** Names of parameters that the schema marks. */
  readonly secrets: readonly string[]
  readonly paths: readonly string[]
  readonly urls: readonly string[]
}

/** Tools of the host by id, as registry entries; null if the host did not provide them. */
export const HOST_TOOLS = defineHostSlot<ReadonlyMap<string, Plain> | null>('host_tools', null)
/** Whether a tool that is not among them may be one of the host anyway. */
export const HAS_OTHER_HOST_TOOLS = defineHostSlot('has_other_host_tools', true)

const known = new WeakMap<HarnDict, EntryFacts>()

export function getEntryFacts(entry: HarnDict): EntryFacts {
  let facts = known.get(entry)
  if (facts === undefined) known.set(entry, (facts = readFacts(entry)))
  return facts
}

function readFacts(entry: HarnDict): EntryFacts {
  const parameters = readParameters(entry)
  const executor = chooseExecutor(entry)
  return {
    parameters,
    hasDefaults: hasDefaults(parameters),
    executor,
    target: targetOf(executor, (key) => (key === 'name' ? readName(entry) : readText(entry, key))),
    version: readText(entry, 'version'),
    output: getOrNil(entry, 'outputSchema'),
    timeoutMs: toMillis(entry.get('timeout_ms')),
    breaker: getOrNil(entry, 'circuit_breaker'),
    costUsd: readAmount(entry.get('cost_usd')),
    cache: readCacheRule(getOrNil(entry, 'cacheable')),
    drift: readText(entry, 'drift'),
    grants: getOrNil(entry, 'grants'),
    secrets: listSecretParameters(parameters),
    paths: listMarkedParameters(parameters, 'path'),
    urls: listMarkedParameters(parameters, 'url'),
  }
}

function readAmount(value: Value | undefined): number {
  return typeof value === 'number' ? value : value instanceof HarnFloat ? value.v : 0
}

function chooseExecutor(entry: HarnDict): string {
  const named = entry.get('executor')
  if (typeof named === 'string') return executorNamed(named) ?? named
  return impliedExecutor((key) => (key === 'handler' ? getOrNil(entry, key) !== null : readText(entry, key) !== null))
}

/** The server of a tool, as a script declares it or as a server's list was marked with it. */
export function readServer(entry: HarnDict): string | null {
  return getEntryFacts(entry).target.mcp_server
}

const converted = new WeakMap<object, HarnDict>()

/** An entry that a host gave, as scripts have them. */
export function toHostEntry(entry: Plain): HarnDict {
  if (typeof entry !== 'object' || entry === null) return new HarnDict()
  let dict = converted.get(entry)
  if (dict === undefined) converted.set(entry, (dict = fromPlain(entry) as HarnDict))
  return dict
}
