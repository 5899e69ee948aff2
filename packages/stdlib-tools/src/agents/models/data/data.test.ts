// The facts about providers and models have the shape that their readers take them for, name each other rightly, and are read whole.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { estimateCost, inferProvider, classifyModelTier, PROVIDERS } from '../providers.js'
import capabilities from './capabilities.json' with { type: 'json' }
import models from './models.json' with { type: 'json' }
import providers from './providers.json' with { type: 'json' }
import services from './services.json' with { type: 'json' }

const amount = z.number().nonnegative()
const price = { input: amount, output: amount }

const Providers = z.record(
  z.string(),
  z.strictObject({
    baseUrl: z.union([z.url(), z.literal(''), z.string().regex(/^https:\/\/\{resource\}\./)]),
    baseUrlEnv: z.string().optional(),
    baseUrlEnvs: z.array(z.string().regex(/^[A-Z_]+$/)).optional(),
    authStyle: z.enum(['header', 'bearer', 'none', 'aws_sigv4', 'azure_openai']),
    authHeader: z.string().optional(),
    authEnvs: z.array(z.string().regex(/^[A-Z_]+$/)),
    chatEndpoint: z.string().startsWith('/'),
    completionEndpoint: z.string().startsWith('/').optional(),
    extraHeaders: z.record(z.string(), z.string()).optional(),
    features: z.array(z.string()).optional(),
    costPer1k: z.tuple([amount, amount]).optional(),
    latencyMs: z.int().positive(),
    model: z.string().optional(),
    qcModel: z.string().optional(),
  }),
)

const Models = z.strictObject({
  default: z.string(),
  aliases: z.record(z.string(), z.strictObject({ id: z.string(), provider: z.string() })),
  /** First words of names of models that there are. */
  words: z.array(z.string().regex(/^[a-z]+$/)),
  families: z.array(z.strictObject({ prefix: z.string().min(1), provider: z.string() })),
  tiers: z.array(
    z.union([
      z.strictObject({ contains: z.string(), tier: z.enum(['small', 'mid', 'frontier']) }),
      z.strictObject({ prefix: z.string(), tier: z.enum(['small', 'mid', 'frontier']) }),
      z.strictObject({ is: z.string(), tier: z.enum(['small', 'mid', 'frontier']) }),
    ]),
  ),
  prices: z.array(z.strictObject({ contains: z.array(z.string()).min(1), ...price })),
  providerPrices: z.record(z.string(), z.strictObject(price)),
  catalogue: z.record(
    z.string(),
    z.strictObject({
      name: z.string(),
      provider: z.string(),
      contextWindow: z.int().positive(),
      streamTimeout: amount.nullable(),
      capabilities: z.array(z.string()),
      cachePriced: z.literal(true).optional(),
    }),
  ),
})

const flag = z.boolean().optional()
const Capabilities = z.record(
  z.string(),
  z.array(
    z.strictObject({
      match: z.string().min(1),
      least: z.tuple([z.int(), z.int()]).optional(),
      native_tools: flag,
      defer_loading: flag,
      tool_search: z.array(z.string()).optional(),
      max_tools: z.int().optional(),
      prompt_caching: flag,
      thinking_modes: z.array(z.enum(['enabled', 'adaptive', 'effort'])).optional(),
      interleaved_thinking_supported: flag,
      anthropic_beta_features: z.array(z.string()).optional(),
      vision_supported: flag,
      audio: flag,
      pdf: flag,
      preserve_thinking: flag,
      requires_completion_tokens: flag,
      reasoning_effort_supported: flag,
    }),
  ),
)

const Row = z.strictObject({
  match: z.string().min(1),
  least: z.tuple([z.int(), z.int()]).optional(),
  thinking: z.array(z.enum(['enabled', 'adaptive', 'effort'])).optional(),
  vision: flag,
  caching: flag,
  sampling: flag,
  structured: flag,
  tokens: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  style: z.enum(['budget', 'level']).optional(),
  api: z.literal('responses').optional(),
})
const Services = z.strictObject({
  date: z.iso.date(),
  services: z.record(z.string(), z.array(Row).min(1)),
  others: z.array(Row).min(1),
})

test.each([
  ['services', Services, services],
  ['providers', Providers, providers],
  ['models', Models, models],
  ['capabilities', Capabilities, capabilities],
])('%s.json has its shape', (_name, shape, facts) => {
  expect(shape.safeParse(facts).error?.issues ?? []).toEqual([])
})

test('models belong to providers that are there', () => {
  const named = [...Object.values(models.aliases), ...models.families, ...Object.values(models.catalogue)].map(
    (row) => row.provider,
  )
  expect(named.filter((name) => !Object.hasOwn(PROVIDERS, name))).toEqual([])
})

// The first row that fits decides: a row behind one that is wider is never read.
test('no row hides behind an earlier one', () => {
  const hidden = models.prices.filter((row, at) =>
    models.prices
      .slice(0, at)
      .some((earlier) => earlier.contains.every((mark) => row.contains.some((text) => text.includes(mark)))),
  )
  expect(hidden).toEqual([])
  expect(models.families.filter(({ prefix, provider }) => inferProvider(`${prefix}x`) !== provider)).toEqual([])
  expect(classifyModelTier('gemma-4-31b-it')).toBe('frontier')
  expect(estimateCost('gpt-4o-mini', 1_000_000, 0)).toBe(0.15)
})

test('a model that is newer than the table is one that its service knows best', () => {
  expect([...Object.values(services.services), services.others].map((rows) => rows.at(-1)!.match)).toEqual(
    [...Object.keys(services.services), 'others'].map(() => '*'),
  )
  expect(Object.keys(services.services).filter((name) => !Object.hasOwn(PROVIDERS, name))).toEqual([])
})
