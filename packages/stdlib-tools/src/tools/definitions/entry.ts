// What the dispatch asks of a registry entry on every call, read once. An entry is never changed in place (a value
// in a container or a registry is shared), so facts are kept by the identity of the dict; they are derived from it alone and belong
// to no run.

import { executorNamed, impliedExecutor, targetOf } from '@bridle/compiler/grants'
import type { CallTarget } from '@bridle/compiler/grants'
import { HarnDict, HarnFloat, fromPlain, hostSlot, millisOf } from '@bridle/vm/families'
import type { Plain, Value } from '@bridle/vm/families'
import { markedParameters, parametersOf, secretParameters } from './arguments.js'
import { cacheRule } from '../dispatch/cache.js'
import { nameOf, present, textAt } from './registry.js'
import type { CacheRule } from '../dispatch/cache.js'

export interface EntryFacts {
  readonly parameters: HarnDict
  /** As declared or implied: an ExecutorName, or what nobody knows. */
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

/** Tools of the host by id, as registry entries; null when the machine was not told. */
export const HOST_TOOLS = hostSlot<ReadonlyMap<string, Plain> | null>('host_tools', null)
/** Whether a tool that is not among them may be one of the host all the same. */
export const HAS_OTHER_HOST_TOOLS = hostSlot('has_other_host_tools', true)

const known = new WeakMap<HarnDict, EntryFacts>()

export function factsOfEntry(entry: HarnDict): EntryFacts {
  let facts = known.get(entry)
  if (facts === undefined) known.set(entry, (facts = readFacts(entry)))
  return facts
}

function readFacts(entry: HarnDict): EntryFacts {
  const parameters = parametersOf(entry)
  const executor = executorOf(entry)
  return {
    parameters,
    executor,
    target: targetOf(executor, (key) => (key === 'name' ? nameOf(entry) : textAt(entry, key))),
    version: textAt(entry, 'version'),
    output: present(entry, 'outputSchema'),
    timeoutMs: millisOf(entry.get('timeout_ms')),
    breaker: present(entry, 'circuit_breaker'),
    costUsd: amountOf(entry.get('cost_usd')),
    cache: cacheRule(present(entry, 'cacheable')),
    drift: textAt(entry, 'drift'),
    grants: present(entry, 'grants'),
    secrets: secretParameters(parameters),
    paths: markedParameters(parameters, 'path'),
    urls: markedParameters(parameters, 'url'),
  }
}

function amountOf(value: Value | undefined): number {
  return typeof value === 'number' ? value : value instanceof HarnFloat ? value.v : 0
}

function executorOf(entry: HarnDict): string {
  const named = entry.get('executor')
  if (typeof named === 'string') return executorNamed(named) ?? named
  return impliedExecutor((key) => (key === 'handler' ? present(entry, key) !== null : textAt(entry, key) !== null))
}

/** The server of a tool, as a script declares it or as a server's list was marked with it. */
export function serverOfEntry(entry: HarnDict): string | null {
  return factsOfEntry(entry).target.mcp_server
}

const converted = new WeakMap<object, HarnDict>()

/** An entry that a host gave, as scripts have them. */
export function hostEntry(entry: Plain): HarnDict {
  if (typeof entry !== 'object' || entry === null) return new HarnDict()
  let dict = converted.get(entry)
  if (dict === undefined) converted.set(entry, (dict = fromPlain(entry) as HarnDict))
  return dict
}
