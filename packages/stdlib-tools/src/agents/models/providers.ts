// Providers and models as scripts see them: the table of providers, how a model's name names its
// provider and tier, the aliases, and the catalogue with prices. Data only; nothing here asks the world.

import { HarnDict, HarnFloat, HarnList, lookup } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export interface ProviderRow {
  readonly baseUrl: string
  /** A variable that replaces `baseUrl`. */
  readonly baseUrlEnv?: string
  /** How the key travels; services with a way of their own are named by it. */
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

type More = Partial<ProviderRow> & Pick<ProviderRow, 'costPer1k' | 'latencyMs'>

/** A service that speaks OpenAI's protocol. */
function openaiLike(baseUrl: string, authEnvs: readonly string[], more: More): ProviderRow {
  return {
    baseUrl,
    authStyle: 'bearer',
    authEnvs,
    chatEndpoint: '/chat/completions',
    completionEndpoint: '/completions',
    ...more,
  }
}

/** A server on this machine that speaks OpenAI's protocol and wants no key. */
function localServer(baseUrl: string, baseUrlEnv: string, latencyMs: number, more: Partial<ProviderRow> = {}): ProviderRow {
  return {
    baseUrl,
    baseUrlEnv,
    authStyle: 'none',
    authEnvs: [],
    chatEndpoint: '/v1/chat/completions',
    completionEndpoint: '/v1/completions',
    costPer1k: [0, 0],
    latencyMs,
    ...more,
  }
}

/** By name. Scripts may add rows (`provider_register`), which live in the machine. */
export const PROVIDERS: Readonly<Record<string, ProviderRow>> = lookup({
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    authStyle: 'header',
    authHeader: 'x-api-key',
    authEnvs: ['ANTHROPIC_API_KEY'],
    chatEndpoint: '/messages',
    extraHeaders: { 'anthropic-version': '2023-06-01' },
    features: ['prompt_caching', 'thinking'],
    costPer1k: [0.003, 0.015],
    latencyMs: 2500,
    qcModel: 'claude-3-5-haiku-20241022',
  },
  azure_openai: {
    baseUrl: 'https://{resource}.openai.azure.com',
    baseUrlEnv: 'AZURE_OPENAI_ENDPOINT',
    authStyle: 'azure_openai',
    authEnvs: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_AD_TOKEN', 'AZURE_OPENAI_BEARER_TOKEN'],
    chatEndpoint: '/openai/deployments/{deployment}/chat/completions?api-version={api_version}',
    features: ['native_tools'],
    costPer1k: [0.0025, 0.01],
    latencyMs: 1900,
  },
  bedrock: {
    baseUrl: '',
    baseUrlEnv: 'BEDROCK_BASE_URL',
    authStyle: 'aws_sigv4',
    authEnvs: [],
    chatEndpoint: '/model/{model}/converse',
    features: ['native_tools'],
    latencyMs: 2600,
  },
  dashscope: openaiLike('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', ['DASHSCOPE_API_KEY'], {
    baseUrlEnv: 'DASHSCOPE_BASE_URL',
    costPer1k: [0.0003, 0.0012],
    latencyMs: 1600,
  }),
  deepseek: openaiLike('https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], {
    baseUrlEnv: 'DEEPSEEK_BASE_URL',
    costPer1k: [0.00014, 0.00028],
    latencyMs: 1800,
  }),
  fireworks: openaiLike('https://api.fireworks.ai/inference/v1', ['FIREWORKS_API_KEY'], {
    baseUrlEnv: 'FIREWORKS_BASE_URL',
    costPer1k: [0.0002, 0.0006],
    latencyMs: 1400,
  }),
  gemini: {
    baseUrl: 'https://generativelanguage.googleapis.com',
    baseUrlEnv: 'GEMINI_BASE_URL',
    authStyle: 'header',
    authHeader: 'x-goog-api-key',
    authEnvs: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    chatEndpoint: '/v1beta/models',
    costPer1k: [0.00125, 0.005],
    latencyMs: 1800,
  },
  groq: openaiLike('https://api.groq.com/openai/v1', ['GROQ_API_KEY'], {
    baseUrlEnv: 'GROQ_BASE_URL',
    costPer1k: [0.0001, 0.0003],
    latencyMs: 450,
  }),
  huggingface: openaiLike('https://router.huggingface.co/v1', ['HF_TOKEN', 'HUGGINGFACE_API_KEY'], {
    costPer1k: [0.0002, 0.0006],
    latencyMs: 2400,
  }),
  local: localServer('http://localhost:8000', 'LOCAL_LLM_BASE_URL', 900, { model: 'gpt-4o', qcModel: 'gpt-4o' }),
  mlx: localServer('http://127.0.0.1:8002', 'MLX_BASE_URL', 900, { model: 'unsloth/Qwen3.6-27B-UD-MLX-4bit' }),
  ollama: localServer('http://localhost:11434', 'OLLAMA_HOST', 1200, {
    chatEndpoint: '/api/chat',
    completionEndpoint: '/api/generate',
    model: 'llama3.2',
    qcModel: 'llama3.2',
  }),
  openai: openaiLike('https://api.openai.com/v1', ['OPENAI_API_KEY'], {
    costPer1k: [0.0025, 0.01],
    latencyMs: 1800,
    model: 'gpt-4o',
    qcModel: 'gpt-4o-mini',
  }),
  openrouter: openaiLike('https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], {
    costPer1k: [0.003, 0.015],
    latencyMs: 2200,
    model: 'anthropic/claude-sonnet-4.6',
    qcModel: 'google/gemini-2.5-flash',
  }),
  tgi: localServer('http://localhost:8080', 'TGI_BASE_URL', 950),
  together: openaiLike('https://api.together.xyz/v1', ['TOGETHER_AI_API_KEY'], {
    baseUrlEnv: 'TOGETHER_AI_BASE_URL',
    costPer1k: [0.0002, 0.0006],
    latencyMs: 1600,
  }),
  vertex: {
    baseUrl: 'https://aiplatform.googleapis.com/v1',
    baseUrlEnv: 'VERTEX_AI_BASE_URL',
    authStyle: 'bearer',
    authEnvs: ['VERTEX_AI_ACCESS_TOKEN', 'GOOGLE_OAUTH_ACCESS_TOKEN', 'GOOGLE_APPLICATION_CREDENTIALS'],
    chatEndpoint: '/projects/{project}/locations/{location}/publishers/google/models/{model}:generateContent',
    features: ['native_tools'],
    costPer1k: [0.00125, 0.005],
    latencyMs: 2100,
  },
  vllm: localServer('http://localhost:8000', 'VLLM_BASE_URL', 800),
})

/** A row as scripts see it. */
export function providerDict(row: ProviderRow, authAvailable: boolean): HarnDict {
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

/** What any other provider runs when no model is named, the mock included. */
const DEFAULT_MODEL = 'claude-sonnet-4-20250514'

export function defaultModelOf(provider: string): string {
  return PROVIDERS[provider]?.model ?? DEFAULT_MODEL
}

// ------------------------------------------------------------------------------------------------------------------ names

interface Alias {
  readonly id: string
  readonly provider: string
}

export const ALIASES: Readonly<Record<string, Alias>> = lookup({
  frontier: { id: 'claude-sonnet-4-20250514', provider: 'anthropic' },
  'tier/frontier': { id: 'claude-sonnet-4-20250514', provider: 'anthropic' },
  mid: { id: 'gpt-4o-mini', provider: 'openai' },
  'tier/mid': { id: 'gpt-4o-mini', provider: 'openai' },
  small: { id: 'Qwen/Qwen3.5-9B', provider: 'openrouter' },
  'tier/small': { id: 'Qwen/Qwen3.5-9B', provider: 'openrouter' },
  'local-gemma4': { id: 'gemma-4-26b-a4b-it', provider: 'local' },
  'local-gemma4-26b': { id: 'gemma-4-26b-a4b-it', provider: 'local' },
  'local-gemma4-31b': { id: 'gemma-4-31b-it', provider: 'local' },
  'local-gemma4-e2b': { id: 'gemma-4-e2b-it', provider: 'local' },
  'local-gemma4-e4b': { id: 'gemma-4-e4b-it', provider: 'local' },
  'mlx-qwen36-27b': { id: 'unsloth/Qwen3.6-27B-UD-MLX-4bit', provider: 'mlx' },
})

const PROVIDER_PREFIXES: readonly (readonly [prefix: string, provider: string])[] = [
  ['local:', 'ollama'],
  ['ollama:', 'ollama'],
  ['huggingface:', 'huggingface'],
  ['hf:', 'huggingface'],
]

// In order; the first that fits decides.
const BY_NAME: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(?:gpt-|o1|o3|o4)/, 'openai'],
  [/^(?:anthropic\.claude-|meta\.llama|amazon\.|mistral\.|cohere\.)/, 'bedrock'],
  [/^gemini-/, 'gemini'],
  [/^[^/]*\/[^/]*$/, 'openrouter'],
  [/:/, 'ollama'],
]

/** The provider that a model's name speaks of; `fallback` when it speaks of none. */
export function inferProvider(model: string, fallback = 'anthropic'): string {
  for (const [prefix, provider] of PROVIDER_PREFIXES) if (model.startsWith(prefix)) return provider
  for (const [pattern, provider] of BY_NAME) if (pattern.test(model)) return provider
  return fallback
}

/**
 * What `PROVIDER/MODEL` says: a prompt goes to the provider that the script names and not to a router that knows models by such names.
 * Null when the part in front of the slash is no provider. Models of openrouter keep their two parts.
 */
export function namedPlace(model: string): { readonly provider: string; readonly id: string } | null {
  const at = model.indexOf('/')
  const provider = model.slice(0, Math.max(0, at))
  if (!Object.hasOwn(PROVIDERS, provider)) return null
  const id = model.slice(at + 1)
  if (id === '') return null
  return { provider, id: provider === 'openrouter' && !id.includes('/') ? model : id }
}

/** Whether a name has parts like an address and none of them says whose it is. */
export function namesNobody(model: string): boolean {
  return (
    ALIASES[model] === undefined && namedPlace(model) === null && model.split('/').length > 2 && inferProvider(model, '') === ''
  )
}

export function stripProviderPrefix(model: string): string {
  const prefix = PROVIDER_PREFIXES.find(([text]) => model.startsWith(text))?.[0] ?? ''
  return model.slice(prefix.length)
}

const TIER_MARKS: readonly (readonly [mark: string, tier: string])[] = [
  ['9b', 'small'],
  ['a3b', 'small'],
  ['gemma-4-e2b', 'small'],
  ['gemma-4-e4b', 'small'],
  ['gemma-4-26b', 'mid'],
  ['gemma4:26b', 'mid'],
  ['gemma-4-31b', 'frontier'],
  ['gemma4:31b', 'frontier'],
]

export function modelTier(model: string): string {
  for (const [mark, tier] of TIER_MARKS) if (model.includes(mark)) return tier
  if (model.startsWith('claude-') || model === 'gpt-4o') return 'frontier'
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
  const named = namedPlace(selector)
  if (named !== null) return { ...named, alias: null }
  return { id: stripProviderPrefix(selector), provider: inferProvider(selector, fallback), alias: null }
}

export function toolFormatOf(provider: string): string {
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

function price(input: number, output: number): Price {
  // Rounded, so that 3 · 0.1 shows as 0.3.
  const cents = (value: number): number => Math.round(value * 1e6) / 1e6
  return { input, output, cacheRead: cents(input * 0.1), cacheWrite: cents(input * 1.25) }
}

// In order; every text of a row must occur in the model's name.
const FALLBACK_PRICES: readonly (readonly [marks: readonly string[], price: Price])[] = [
  [['claude-3-5-haiku'], price(0.8, 4)],
  [['claude-haiku-4'], price(0.8, 4)],
  [['claude-3-5-sonnet'], price(3, 15)],
  [['claude-sonnet-4'], price(3, 15)],
  [['claude-3-opus'], price(15, 75)],
  [['claude-opus-4'], price(15, 75)],
  [['gpt-4o-mini'], price(0.15, 0.6)],
  [['gpt-4o'], price(2.5, 10)],
  [['gpt-4-turbo'], price(10, 30)],
  [['o1-mini'], price(3, 12)],
  [['o1'], price(15, 60)],
  [['o3'], price(15, 60)],
  [['llama', '70b'], price(0.59, 0.79)],
  [['llama', '8b'], price(0.05, 0.08)],
  [['mistral-large'], price(2, 6)],
  [['mistral', 'small'], price(0.2, 0.6)],
  [['gemini-2', 'flash'], price(0.1, 0.4)],
  [['gemini', 'pro'], price(1.25, 5)],
]

export function priceOf(model: string): Price | null {
  return FALLBACK_PRICES.find(([marks]) => marks.every((mark) => model.includes(mark)))?.[1] ?? null
}

/** By prices of a thousand tokens, in this order: scripts print all digits of the sum. */
function costAt(found: Price | null, inputTokens: number, outputTokens: number): number {
  return found === null ? 0 : (inputTokens * (found.input / 1000) + outputTokens * (found.output / 1000)) / 1000
}

/** Cost in dollars; 0 for a model without a price. */
export function costOf(model: string, inputTokens: number, outputTokens: number): number {
  return costAt(priceOf(model), inputTokens, outputTokens)
}

// Projections of models without a price take what the provider usually asks.
const PROVIDER_PRICES: Readonly<Record<string, Price>> = lookup({
  anthropic: price(3, 15),
  openai: price(2.5, 10),
  openrouter: price(3, 15),
  gemini: price(0.1, 0.4),
})

export function projectedCost(provider: string, model: string, inputTokens: number, outputTokens: number): number {
  return costAt(priceOf(model) ?? PROVIDER_PRICES[provider] ?? null, inputTokens, outputTokens)
}

/** Of one token in and out; null when nobody knows. */
export function tokenPrices(provider: string, model: string): { readonly input: number; readonly output: number } | null {
  const found = priceOf(model) ?? PROVIDER_PRICES[provider] ?? null
  return found === null ? null : { input: costAt(found, 1, 0), output: costAt(found, 0, 1) }
}

/** What reading cached tokens saved less what writing them cost, in dollars; 0 where the service has no prices for them. */
export function cacheSavings(model: string, readTokens: number, writeTokens: number): number {
  const found = priceOf(model)
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

const MODELS: Readonly<Record<string, CatalogueRow>> = lookup({
  'claude-sonnet-4-20250514': {
    name: 'Claude Sonnet 4',
    provider: 'anthropic',
    contextWindow: 200_000,
    streamTimeout: null,
    capabilities: ['tools', 'streaming', 'prompt_caching', 'thinking'],
    cachePriced: true,
  },
  'llama3.2': {
    name: 'Llama 3.2',
    provider: 'ollama',
    contextWindow: 32_000,
    streamTimeout: 300,
    capabilities: ['tools', 'streaming'],
  },
  'gpt-4o-mini': {
    name: 'GPT-4o Mini',
    provider: 'openai',
    contextWindow: 128_000,
    streamTimeout: null,
    capabilities: ['tools', 'streaming'],
  },
  'Qwen/Qwen3.5-9B': {
    name: 'Qwen3.5 9B',
    provider: 'openrouter',
    contextWindow: 131_072,
    streamTimeout: null,
    capabilities: ['tools', 'streaming'],
  },
})

export function contextWindowOf(model: string): number | null {
  return MODELS[model]?.contextWindow ?? null
}

export function modelDict(id: string): HarnDict | null {
  const row = MODELS[id]
  if (row === undefined) return null
  const found = priceOf(id)
  const cached = (value: number): Value => (row.cachePriced === true ? new HarnFloat(value) : null)
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
            cache_read_per_mtok: cached(found.cacheRead),
            cache_write_per_mtok: cached(found.cacheWrite),
          }),
  })
}

export function modelIds(): readonly string[] {
  return Object.keys(MODELS)
}
