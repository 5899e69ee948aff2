// What models can do: rules per provider (data/capabilities.json), matched against the model's name and generation. The first rule
// that fits decides alone; what it leaves out is false, empty or nil. Scripts may put rules of their own in front.

import { HarnDict, HarnList, lookup } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import ruleFacts from './data/capabilities.json' with { type: 'json' }

/** Fields of a rule by the names that scripts and TOML rules use. */
export interface Capabilities {
  readonly native_tools?: boolean
  readonly defer_loading?: boolean
  readonly tool_search?: readonly string[]
  readonly max_tools?: number
  readonly prompt_caching?: boolean
  readonly thinking_modes?: readonly string[]
  readonly interleaved_thinking_supported?: boolean
  readonly anthropic_beta_features?: readonly string[]
  readonly vision_supported?: boolean
  readonly audio?: boolean
  readonly pdf?: boolean
  readonly preserve_thinking?: boolean
  readonly requires_completion_tokens?: boolean
  readonly reasoning_effort_supported?: boolean
}

export interface Rule extends Capabilities {
  /** Glob over the lower-cased name: `x*`, `*x`, `*x*` or exact. */
  readonly match: string
  /** Least generation, [major, minor]. */
  readonly least?: readonly [number, number]
}

const RULES: Readonly<Record<string, readonly Rule[]>> = lookup(ruleFacts as unknown as Record<string, readonly Rule[]>)

const OPENAI_FAMILY = new Set([
  'openrouter',
  'together',
  'groq',
  'deepseek',
  'fireworks',
  'huggingface',
  'local',
  'dashscope',
  'llamacpp',
  'mlx',
])

/** Rules that a script installed, by provider. */
export type UserRules = ReadonlyMap<string, readonly Rule[]>

export function findCapabilities(provider: string, model: string, user: UserRules): Capabilities {
  const layers = provider === 'mock' ? ['anthropic', 'openai'] : [provider]
  if (OPENAI_FAMILY.has(provider)) layers.push('openai')
  const name = model.toLowerCase()
  for (const layer of layers) {
    const rule = [...(user.get(layer) ?? []), ...(RULES[layer] ?? [])].find((each) => isFittingRule(each, name))
    if (rule !== undefined) return rule
  }
  return {}
}

/** The rule of the script that decides; null where it has none. */
export function findOwnRule(provider: string, model: string, user: UserRules): Rule | null {
  const name = model.toLowerCase()
  return user.get(provider)?.find((each) => isFittingRule(each, name)) ?? null
}

/** `name` in lower case. */
export function isFittingRule(rule: Pick<Rule, 'match' | 'least'>, name: string): boolean {
  if (!matchesGlob(rule.match.toLowerCase(), name)) return false
  if (rule.least === undefined) return true
  const generation = readGeneration(name)
  if (generation === null) return false
  const [major, minor] = rule.least
  return generation[0] > major || (generation[0] === major && generation[1] >= minor)
}

function matchesGlob(pattern: string, name: string): boolean {
  if (pattern === '*') return true
  if (pattern.startsWith('*') && pattern.endsWith('*')) return name.includes(pattern.slice(1, -1))
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1))
  if (pattern.startsWith('*')) return name.endsWith(pattern.slice(1))
  return pattern === name
}

/** `claude-opus-4-7`, `gpt-5.4`: [major, minor]; a second number of 1000 or more is a date. */
function readGeneration(name: string): readonly [number, number] | null {
  const found = /(?:^|\/)(?:claude-(?:opus|sonnet|haiku)|gpt)-(\d+)(?:[-.](\d+))?/.exec(name)
  if (found === null) return null
  const minor = Number(found[2] ?? 0)
  return [Number(found[1]), minor >= 1000 ? 0 : minor]
}

export function makeCapabilityDict(provider: string, model: string, found: Capabilities): HarnDict {
  const modes = found.thinking_modes ?? []
  return HarnDict.of({
    provider,
    model,
    native_tools: found.native_tools ?? false,
    defer_loading: found.defer_loading ?? false,
    tool_search: new HarnList([...(found.tool_search ?? [])]),
    max_tools: found.max_tools ?? null,
    prompt_caching: found.prompt_caching ?? false,
    thinking: modes.length > 0,
    thinking_modes: new HarnList([...modes]),
    interleaved_thinking_supported: found.interleaved_thinking_supported ?? false,
    anthropic_beta_features: new HarnList([...(found.anthropic_beta_features ?? [])]),
    vision_supported: found.vision_supported ?? false,
    audio: found.audio ?? false,
    pdf: found.pdf ?? false,
    preserve_thinking: found.preserve_thinking ?? false,
    requires_completion_tokens: found.requires_completion_tokens ?? false,
    reasoning_effort_supported: found.reasoning_effort_supported ?? false,
  })
}

const FLAGS = [
  'native_tools',
  'defer_loading',
  'prompt_caching',
  'interleaved_thinking_supported',
  'vision_supported',
  'audio',
  'pdf',
  'preserve_thinking',
  'requires_completion_tokens',
  'reasoning_effort_supported',
] as const
const LISTS = ['tool_search', 'thinking_modes', 'anthropic_beta_features'] as const

/** Rules of a parsed TOML text with `[[provider.NAME]]` tables; a text says what is wrong with them. */
export function readRules(root: Value): Map<string, Rule[]> | string {
  const rules = new Map<string, Rule[]>()
  const providers = root instanceof HarnDict ? (root.get('provider') ?? null) : null
  if (providers === null) return rules
  if (!(providers instanceof HarnDict)) return '`provider` must be a table of arrays'
  for (const name of providers.keys()) {
    const rows = providers.get(name)
    if (!(rows instanceof HarnList)) return `\`provider.${name}\` must be an array of tables`
    const read: Rule[] = []
    for (const row of rows.view()) {
      const rule = row instanceof HarnDict ? readRule(row) : 'a rule must be a table'
      if (typeof rule === 'string') return `provider.${name}: ${rule}`
      read.push(rule)
    }
    rules.set(name, read)
  }
  return rules
}

function readRule(row: HarnDict): Rule | string {
  const match = row.get('model_match')
  if (typeof match !== 'string') return 'missing field `model_match`'
  const rule: Record<string, unknown> = { match }
  const least = row.get('version_min')
  if (least instanceof HarnList) rule['least'] = least.view().map(Number)
  for (const flag of FLAGS) {
    const value = row.get(flag)
    if (typeof value === 'boolean') rule[flag] = value
  }
  for (const list of LISTS) {
    const value = row.get(list)
    if (value instanceof HarnList) rule[list] = value.view().filter((item): item is string => typeof item === 'string')
  }
  if (row.get('thinking') === true && rule['thinking_modes'] === undefined) rule['thinking_modes'] = ['enabled']
  const most = row.get('max_tools')
  if (typeof most === 'number') rule['max_tools'] = most
  return rule as unknown as Rule
}
