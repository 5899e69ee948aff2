// What the services of models take today (data/services.json, with the date when it was last held against their documents). The first row of a
// service that fits decides. The last row fits every name: a request to a model that is newer than the table has all parameters of the script, and
// its service reports unsupported ones. data/capabilities.json is a different table: the capabilities that scripts see.

import { lookup } from '@bridle/vm/families'
import { findOwnRule, findCapabilities, isFittingRule } from './capabilities.js'
import type { Capabilities, UserRules } from './capabilities.js'
import facts from './data/services.json' with { type: 'json' }

interface ServiceRow {
  readonly match: string
  readonly least?: readonly [number, number]
  /** Modes of thinking; left out: an effort. */
  readonly thinking?: readonly string[]
  readonly vision?: boolean
  readonly caching?: boolean
  /** Whether temperature and its like are taken; left out: yes. */
  readonly sampling?: boolean
  /** Whether the service holds an answer to a JSON Schema; left out: yes. */
  readonly structured?: boolean
  /** The name of the limit of the answer. */
  readonly tokens?: 'max_tokens' | 'max_completion_tokens'
  /** How the amount of reasoning is specified. */
  readonly style?: 'budget' | 'level'
  /** The API used for the model, if a service has two. */
  readonly api?: 'responses'
}

const SERVICES: Readonly<Record<string, readonly ServiceRow[]>> = lookup(
  facts.services as unknown as Record<string, readonly ServiceRow[]>,
)
const OTHERS = facts.others as unknown as readonly ServiceRow[]

function findRow(provider: string, model: string): ServiceRow {
  const rows = SERVICES[provider] ?? OTHERS
  return rows.find((row) => isFittingRule(row, model.toLowerCase())) ?? { match: '*' }
}

/** Facts about the model that a request needs; plain data, because they are part of the effect. */
export interface ModelFacts {
  readonly thinking: readonly string[]
  readonly sampling: boolean
  readonly structured: boolean
  readonly tokens: 'max_tokens' | 'max_completion_tokens'
  readonly style: 'budget' | 'level' | null
  readonly api: 'responses' | null
}

const EFFORT: readonly string[] = ['effort']

export function findModelFacts(provider: string, model: string, user: UserRules): ModelFacts {
  const row = findRow(provider, model)
  const own = findOwnRule(provider, model, user)
  return {
    thinking: own?.thinking_modes ?? row.thinking ?? EFFORT,
    sampling: row.sampling ?? true,
    structured: row.structured ?? true,
    tokens: own?.requires_completion_tokens === true ? 'max_completion_tokens' : (row.tokens ?? 'max_completion_tokens'),
    style: row.style ?? null,
    api: row.api ?? null,
  }
}

/**
 * What a call may ask for. A rule of the script decides alone; so does the table for the mocked provider, which has no service. Otherwise
 * what either knows is allowed.
 */
export function findSupport(provider: string, model: string, user: UserRules): Capabilities {
  const known = findCapabilities(provider, model, user)
  if (provider === 'mock' || findOwnRule(provider, model, user) !== null) return known
  const row = findRow(provider, model)
  return {
    ...known,
    native_tools: true,
    vision_supported: row.vision ?? true,
    audio: known.audio ?? false,
    pdf: known.pdf ?? (provider === 'anthropic' || provider === 'gemini' || provider === 'vertex'),
    prompt_caching: known.prompt_caching ?? (provider === 'anthropic' && (row.caching ?? true)),
    thinking_modes: [...new Set([...(known.thinking_modes ?? []), ...(row.thinking ?? EFFORT)])],
    interleaved_thinking_supported: known.interleaved_thinking_supported ?? provider === 'anthropic',
  }
}
