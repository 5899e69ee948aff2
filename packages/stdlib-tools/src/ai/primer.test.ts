import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { primer } from './primer.js'
import { estimateTokens } from './token-estimate.js'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const countTokens = (text: string): number => Math.max(countCl100k(text), countO200k(text))

const makeTool = (name: string, description = 'Does something for whoever asks') =>
  defineTool({
    name,
    description,
    input: z.object({ article: z.string(), pieces: z.int().default(1) }),
    output: z.object({ cents: z.int() }),
    execute: () => ({ cents: 1 }),
  })
const shop = [
  defineTool({
    name: 'shop.find',
    input: z.object({ query: z.string() }),
    output: z.array(z.string()),
    execute: () => ['tea', 'coffee'],
  }),
  defineTool({
    name: 'shop.price',
    input: z.object({ article: z.string() }),
    output: z.object({ cents: z.int() }),
    execute: () => ({ cents: 350 }),
  }),
]

test('the language takes 1,200 tokens at most', () => {
  expect(countTokens(primer())).toBeLessThanOrEqual(1_200)
})

describe('samples', () => {
  const samples = primer()
    .split('```harn\n')
    .slice(1)
    .map((part) => part.split('```')[0]!)
  const runtime = createRuntime({ tools: shop, grants: ['*'] })

  test.each(samples)('are right: %s', async (sample) => {
    expect(runtime.diagnose(sample, { checkTools: 'complete' })).toEqual([])
    const result = await runtime.start(runtime.compile(sample, { file: 'main.harn' })).result
    expect(result).toMatchObject({ status: 'done' })
  })

  test('what it says of methods and functions is so', async () => {
    const text = primer()
    const inLine = (label: string): readonly string[] =>
      [...(new RegExp(`${label}: ([^]*?)\\.\\s(?:[A-Z]|$)`).exec(text)?.[1] ?? '').matchAll(/`\.(\w+)/g)].map(([, name]) => name!)
    const strings = inLine('Strings')
    const lists = inLine('Lists')
    const dicts = inLine('Dicts')
    expect([strings.length, lists.length, dicts.length].every((count) => count > 4)).toBe(true)
    const own = createRuntime()
    for (const [value, names] of [
      ['"a"', strings],
      ['[1]', lists],
      ['{a: 1}', dicts],
    ] as const) {
      for (const name of names)
        expect(
          await own.run(
            `let x: any = ${value}\nlet found = try { x.${name}() }\nreturn is_ok(found) || !contains(to_string(unwrap_err(found)), "ethod")`,
          ),
          `${value}.${name}`,
        ).toBe(true)
    }
  })
})

describe('tools', () => {
  test('are typed lines', () => {
    const text = primer({ tools: [makeTool('shop.order', 'Orders an article')] })
    expect(text).toContain('shop.order({article: string, pieces?: int = 1}) -> {cents: int}  // Orders an article')
  })

  test('the lines stay within the budget, and what has no room is named', () => {
    const tools = Array.from({ length: 200 }, (_, at) => makeTool(`shop.tool_${at}`))
    const language = countTokens(primer())
    for (const budget of [0, 100, 500, 2_000]) {
      const text = primer({ tools, budget })
      const lines = text.split('\n').filter((line) => line.startsWith('shop.tool_'))
      expect(countTokens(lines.join('\n'))).toBeLessThanOrEqual(budget)
      expect(text).toContain('Not shown here: shop.tool_')
      expect(countTokens(text) - language).toBeLessThanOrEqual(budget + 500)
    }
    expect(primer({ tools, budget: 2_000 })).toContain('shop.tool_0({')
  })

  test('a budget that is not a number of tokens is refused', () => {
    expect(() => primer({ budget: -1 })).toThrow(RangeError)
    expect(() => primer({ budget: Number.NaN })).toThrow(RangeError)
  })
})

describe('the estimate', () => {
  const texts = ['docs/language', 'docs/tools', 'docs/embedding', 'packages/stdlib-tools/src/std'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [`${folder}/${entry.name}`, readFileSync(join(root, folder, entry.name), 'utf8')] as const),
  )

  test.each(texts)('is cautious for %s', (_name, text) => {
    const ratio = estimateTokens(text) / countTokens(text)
    expect(ratio).toBeGreaterThanOrEqual(1)
    expect(ratio).toBeLessThanOrEqual(1.5)
  })
})
