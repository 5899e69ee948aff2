// Providers and models as scripts see them: how a model's name names its provider and tier, aliases, prices and the catalogue. The facts, which
// age, are in data/; nothing here asks the world.

import { HarnDict, HarnFloat, HarnList, lookup } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import modelFacts from './data/models.json' with { type: 'json' }
import providerFacts from './data/providers.json' with { type: 'json' }

export interface ProviderRow {
  readonly baseUrl: string
  /** A variable that replaces `baseUrl`. */
  readonly baseUrlEnv?: string
  /** Equivalent variables of the service's own clients; scripts do not see them. */
  readonly baseUrlEnvs?: readonly string[]
  /** How the key travels; services with their own way are named by it. */
  readonly authStyle: 'header' | 'bearer' | 'none' | 'aws_sigv4' | 'azure_openai'
  readonly authHeader?: string
  /** Environment variables that may hold the key, in order. */
  readonly authEnvs: readonly string[]
  readonly chatEndpoint: string
  readonly completionEndpoint?: string
  readonly extraHeaders?: Readonly<Record<string, string>>
  readonly features?: readonly string[]
  /** Dollars per thousand tokens, in and out. */
  readonly costPer1k?: readonly [input: number, output: number]
  readonly latencyMs: number
  /** The model when none is named. */
  readonly model?: string
  /** The model for quick quality checks. */
  readonly qcModel?: string
}

/** By name. Scripts may add rows (`provider_register`), which live in the machine. */
export const PROVIDERS: Readonly<Record<string, ProviderRow>> = lookup(providerFacts as unknown as Record<string, ProviderRow>)

/** A row as scripts see it. */
export function makeProviderDict(row: ProviderRow, authAvailable: boolean): HarnDict {
  const dict = HarnDict.of({
    base_url: row.baseUrl,
    auth_style: row.authStyle,
    auth_envs: new HarnList([...row.authEnvs]),
    auth_available: authAvailable,
    chat_endpoint: row.chatEndpoint,
    latency_p50_ms: row.latencyMs,
  })
  if (row.baseUrlEnv !== undefined) dict.set('base_url_env', row.baseUrlEnv)
  if (row.authHeader !== undefined) dict.set('auth_header', row.authHeader)
  if (row.completionEndpoint !== undefined) dict.set('completion_endpoint', row.completionEndpoint)
  if (row.extraHeaders !== undefined) dict.set('extra_headers', HarnDict.of(row.extraHeaders))
  if (row.features !== undefined) dict.set('features', new HarnList([...row.features]))
  if (row.costPer1k !== undefined) {
    dict.set('cost_per_1k_in', new HarnFloat(row.costPer1k[0]))
    dict.set('cost_per_1k_out', new HarnFloat(row.costPer1k[1]))
  }
  return dict
}

/** data/models.json. */
interface ModelFacts {
  readonly default: string
  readonly aliases: Readonly<Record<string, Alias>>
  /** Whose the models are whose names begin so. In order; the first that fits decides, here and in the next two. */
  readonly families: readonly { readonly prefix: string; readonly provider: string }[]
  readonly tiers: readonly { readonly contains?: string; readonly prefix?: string; readonly is?: string; readonly tier: string }[]
  /** All texts of `contains` must occur in the name. */
  readonly prices: readonly (PriceFacts & { readonly contains: readonly string[] })[]
  readonly providerPrices: Readonly<Record<string, PriceFacts>>
  readonly catalogue: Readonly<Record<string, CatalogueRow>>
}

/** Dollars per million tokens. */
interface PriceFacts {
  readonly input: number
  readonly output: number
}

const MODEL_FACTS = modelFacts as unknown as ModelFacts

/** What any other provider than those that name one runs when no model is named, the mock included. */
export function findDefaultModel(provider: string): string {
  return PROVIDERS[provider]?.model ?? MODEL_FACTS.default
}

// ------------------------------------------------------------------------------------------------------------------ names

interface Alias {
  readonly id: string
  readonly provider: string
}

export const ALIASES: Readonly<Record<string, Alias>> = lookup(MODEL_FACTS.aliases)

const PROVIDER_PREFIXES: readonly (readonly [prefix: string, provider: string])[] = [
  ['local:', 'ollama'],
  ['ollama:', 'ollama'],
  ['huggingface:', 'huggingface'],
  ['hf:', 'huggingface'],
]

/** The provider whose models begin as this name does; null when there is none. */
function findFamily(model: string): string | null {
  for (const [prefix, provider] of PROVIDER_PREFIXES) if (model.startsWith(prefix)) return provider
  return MODEL_FACTS.families.find(({ prefix }) => model.startsWith(prefix))?.provider ?? null
}

/** The provider in a model's name; `fallback` without one. */
export function inferProvider(model: string, fallback = 'anthropic'): string {
  const family = findFamily(model)
  if (family !== null) return family
  if (model.split('/').length === 2) return 'openrouter'
  return model.includes(':') ? 'ollama' : fallback
}

/**
 * What `PROVIDER/MODEL` says: a prompt goes to the provider that the script names and not to a router that knows models by such names.
 * Null when the part in front of the slash is no provider. Models of openrouter keep their two parts.
 */
export function parseNamedPlace(model: string): { readonly provider: string; readonly id: string } | null {
  const at = model.indexOf('/')
  const provider = model.slice(0, Math.max(0, at))
  if (!Object.hasOwn(PROVIDERS, provider)) return null
  const id = model.slice(at + 1)
  if (id === '') return null
  return { provider, id: provider === 'openrouter' && !id.includes('/') ? model : id }
}

/** Whether a name has parts like an address and nothing says whose it is: `acme/gpt-9` may be anybody's. */
export function namesNobody(model: string): boolean {
  const isKnown = ALIASES[model] !== undefined || MODELS[model] !== undefined
  if (isKnown || parseNamedPlace(model) !== null || findFamily(model) !== null) return false
  const parts = model.split('/').length
  return parts === 2 || (parts > 2 && !model.includes(':'))
}

export function stripProviderPrefix(model: string): string {
  const prefix = PROVIDER_PREFIXES.find(([text]) => model.startsWith(text))?.[0] ?? ''
  return model.slice(prefix.length)
}

export function classifyModelTier(model: string): string {
  const row = MODEL_FACTS.tiers.find(({ contains, prefix, is }) =>
    contains === undefined ? model === is || (prefix !== undefined && model.startsWith(prefix)) : model.includes(contains),
  )
  if (row !== undefined) return row.tier
  return /9b|a3b/i.test(model) ? 'small' : 'mid'
}

export interface ResolvedModel {
  readonly id: string
  readonly provider: string
  readonly alias: string | null
}

/** What a selector (an alias or a model's name) means. */
export function resolveModel(selector: string, fallback?: string): ResolvedModel {
  const alias = ALIASES[selector]
  if (alias !== undefined) return { ...alias, alias: selector }
  const named = parseNamedPlace(selector)
  if (named !== null) return { ...named, alias: null }
  return { id: stripProviderPrefix(selector), provider: inferProvider(selector, fallback), alias: null }
}

export function findToolFormat(provider: string): string {
  return PROVIDERS[provider]?.features?.includes('native_tools') === true ? 'native' : 'text'
}

// ------------------------------------------------------------------------------------------------------------------ prices

/** Dollars per million tokens. */
interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

function makePrice(input: number, output: number): Price {
  // Rounded, so that 3 · 0.1 shows as 0.3.
  const roundCents = (value: number): number => Math.round(value * 1e6) / 1e6
  return { input, output, cacheRead: roundCents(input * 0.1), cacheWrite: roundCents(input * 1.25) }
}

function readPrice({ input, output }: PriceFacts): Price {
  return makePrice(input, output)
}

const PRICES = MODEL_FACTS.prices.map((row) => ({ marks: row.contains, price: readPrice(row) }))

export function findPrice(model: string): Price | null {
  return PRICES.find(({ marks }) => marks.every((mark) => model.includes(mark)))?.price ?? null
}

/** By prices of a thousand tokens, in this order: scripts print all digits of the sum. */
function computeCost(found: Price | null, inputTokens: number, outputTokens: number): number {
  return found === null ? 0 : (inputTokens * (found.input / 1000) + outputTokens * (found.output / 1000)) / 1000
}

/** Cost in dollars; 0 for a model without a price. */
export function estimateCost(model: string, inputTokens: number, outputTokens: number): number {
  return computeCost(findPrice(model), inputTokens, outputTokens)
}

// Projections of models without a price take what the provider usually asks.
const PROVIDER_PRICES: Readonly<Record<string, Price>> = lookup(
  Object.fromEntries(Object.entries(MODEL_FACTS.providerPrices).map(([name, facts]) => [name, readPrice(facts)])),
)

export function projectCost(provider: string, model: string, inputTokens: number, outputTokens: number): number {
  return computeCost(findPrice(model) ?? PROVIDER_PRICES[provider] ?? null, inputTokens, outputTokens)
}

/** Price of one token in and out in dollars; null if unknown. */
export function findTokenPrices(provider: string, model: string): { readonly input: number; readonly output: number } | null {
  const found = findPrice(model) ?? PROVIDER_PRICES[provider] ?? null
  return found === null ? null : { input: computeCost(found, 1, 0), output: computeCost(found, 0, 1) }
}

/** What reading cached tokens saved less what writing them cost, in dollars; 0 where the service has no prices for them. */
export function computeCacheSavings(model: string, readTokens: number, writeTokens: number): number {
  const found = findPrice(model)
  if (found === null || MODELS[model]?.cachePriced !== true) return 0
  const [input, read, write] = [found.input / 1000, found.cacheRead / 1000, found.cacheWrite / 1000]
  return (readTokens * (input - read)) / 1000 - (writeTokens * (write - input)) / 1000
}

// --------------------------------------------------------------------------------------------------------------- catalogue

interface CatalogueRow {
  readonly name: string
  readonly provider: string
  readonly contextWindow: number
  readonly streamTimeout: number | null
  readonly capabilities: readonly string[]
  /** Whether the service has prices for cached tokens. */
  readonly cachePriced?: true
}

const MODELS: Readonly<Record<string, CatalogueRow>> = lookup(MODEL_FACTS.catalogue)

export function findContextWindow(model: string): number | null {
  return MODELS[model]?.contextWindow ?? null
}

export function makeModelDict(id: string): HarnDict | null {
  const row = MODELS[id]
  if (row === undefined) return null
  const found = findPrice(id)
  const priceCached = (value: number): Value => (row.cachePriced === true ? new HarnFloat(value) : null)
  return HarnDict.of({
    id,
    name: row.name,
    provider: row.provider,
    context_window: row.contextWindow,
    stream_timeout: row.streamTimeout === null ? null : new HarnFloat(row.streamTimeout),
    capabilities: new HarnList([...row.capabilities]),
    pricing:
      found === null
        ? null
        : HarnDict.of({
            input_per_mtok: new HarnFloat(found.input),
            output_per_mtok: new HarnFloat(found.output),
            cache_read_per_mtok: priceCached(found.cacheRead),
            cache_write_per_mtok: priceCached(found.cacheWrite),
          }),
  })
}

export function listModelIds(): readonly string[] {
  return Object.keys(MODELS)
}
