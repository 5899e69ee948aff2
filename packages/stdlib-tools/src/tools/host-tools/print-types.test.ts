// Declarations of tools, read and printed.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DefinitionError, defineTool } from './define.js'
import { declareTools, readToolDeclarations, toolsOfDeclarations } from './declarations.js'
import { harnTypes, tsTypes } from './print-types.js'

const price = defineTool({
  name: 'shop.price',
  description: 'Price of an article.\nIn cents.',
  sideEffect: 'read_only',
  effects: ['http'],
  input: z.object({
    article: z.string().describe('Its name'),
    size: z.enum(['small', 'large']).default('small'),
    place: z.object({ city: z.string(), zip: z.int().optional() }).nullable().optional(),
    tags: z.array(z.string()).optional(),
  }),
  output: z.object({ cents: z.int(), rate: z.number().optional() }),
  execute: () => ({ cents: 1 }),
})
const now = defineTool({ name: 'now', sideEffect: 'none', execute: () => 1 })
const dashed = defineTool({ name: 'get-sum', input: { type: 'object', properties: { a: { type: 'number' } } }, execute: () => 1 })

test('in the language of scripts', () => {
  expect(harnTypes([price, now, dashed])).toBe(`// import { price } from "host/shop"
/**
 * Price of an article.
 * In cents.
 * - article: Its name
 * - size: (default "small")
 * Effects: http
 */
fn price(args: {article: string, size?: "small" | "large", place?: {city: string, zip?: int} | nil, tags?: list<string>}) -> {cents: int, rate?: float}

// import { now } from "host/tools"
/**
 * Effects: none
 */
fn now(args: dict = {})

host_tool_call("get-sum", {a?: float})
`)
})

test('one line a tool', () => {
  expect(harnTypes([price, now], { short: true })).toBe(
    'shop.price({article: string, size?: "small" | "large" = "small", place?: {city: string, zip?: int} | nil, tags?: list<string>}) -> {cents: int, rate?: float}  // Price of an article.\nnow(dict)\n',
  )
})

test('in TypeScript', () => {
  expect(tsTypes([price, now, dashed])).toBe(`/** Tools by name: their arguments and what they give. */
export interface Tools {
  /** Price of an article. */
  readonly "shop.price": (args: { readonly article: string; readonly size?: "small" | "large"; readonly place?: ({ readonly city: string; readonly zip?: number }) | null; readonly tags?: readonly (string)[] }) => Promise<{ readonly cents: number; readonly rate?: number }>
  readonly now: (args?: { readonly [key: string]: unknown }) => Promise<unknown>
  readonly "get-sum": (args?: { readonly a?: number }) => Promise<unknown>
}
`)
})

test('what a server says stays in its comment and on its line', () => {
  const [tool] = readToolDeclarations([
    { name: 'x', description: 'a */ evil()\n\u001b[2J\u2028b', inputSchema: { type: 'object' } },
  ])
  for (const text of [harnTypes([tool!]), harnTypes([tool!], { short: true }), tsTypes([tool!])]) {
    expect(text).not.toContain('*/ evil')
    expect(text).not.toMatch(/[\u001b\u2028]/)
  }
})

describe('declarations as data', () => {
  test('those of defined tools are read back', () => {
    const declared = declareTools([price, now])
    expect(readToolDeclarations(JSON.parse(JSON.stringify(declared)))).toEqual(declared)
    expect(declareTools(toolsOfDeclarations(declared))).toEqual(declared)
  })

  test('lists of servers and of models are read, too', () => {
    const parameters = { type: 'object', properties: {} }
    const names = (data: unknown): unknown => readToolDeclarations(data).map(({ name, parameters: own }) => [name, own])
    expect(names({ tools: [{ name: 'a', inputSchema: parameters }] })).toEqual([['a', parameters]])
    expect(names([{ type: 'function', function: { name: 'a', parameters } }])).toEqual([['a', parameters]])
  })

  test.each([
    [5, 'must be a list'],
    [[5], 'tool 1 must be an object with a name, got number'],
    [[{}], 'tool 1 needs a name'],
    [[{ name: 'x', parameters: { type: 'string' } }], 'the parameters of tool "x" must describe an object, got type "string"'],
    [[{ name: 'x', effects: 'http' }], 'effects of tool "x" must be a list of strings, got string'],
  ])('%j is refused', (data, reason) => {
    expect(() => readToolDeclarations(data)).toThrow(DefinitionError)
    expect(() => readToolDeclarations(data)).toThrow(reason)
  })
})
