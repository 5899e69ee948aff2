// Tools made of tools, and their schemas.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../../host/runtime.js'
import { composeTools, partialTool } from './combine.js'
import { DefinitionError, defineTool } from './define.js'
import { ToolError } from './errors.js'
import { createRegistry } from './registry.js'
import { toJsonSchema } from './schema.js'

const power = defineTool({
  name: 'math.power',
  description: 'Power',
  sideEffect: 'none',
  input: z.object({ base: z.number(), exponent: z.int().default(2) }),
  output: z.object({ base: z.number() }),
  execute: ({ base, exponent }) => ({ base: base ** exponent }),
})
const log = defineTool({
  name: 'log.write',
  sideEffect: 'workspace_write',
  effects: ['fs'],
  level: 'privileged',
  input: z.object({ base: z.number() }),
  output: z.string(),
  execute: async ({ base }, { tools, callId }) =>
    `${callId}: ${base} ${JSON.stringify(await tools.call('math.power', { base: 1 }))}`,
})

test('a partial tool has the rest of the parameters, and callers cannot override what was given', async () => {
  const cube = partialTool(power, { exponent: 3 }, { name: 'math.cube', description: 'Cube' })
  expect(cube.input?.json).toMatchObject({ properties: { base: { type: 'number' } }, required: ['base'] })
  expect(Object.keys(cube.input?.json['properties'] as object)).toEqual(['base'])
  const registry = createRegistry([cube])
  expect(await registry.call('math.cube', { base: 2 })).toEqual({ base: 8 })
  expect(await registry.call('math.cube', { base: 2, exponent: 1 })).toEqual({ base: 8 })
  expect(await registry.tryCall('math.cube', { base: 'x' })).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
  expect(await createRuntime({ tools: [cube] }).run('import { cube } from "host/math"\nreturn cube({base: 3.0})')).toEqual({
    base: 27,
  })
  const strict = defineTool({ name: 'x', input: z.strictObject({ a: z.int() }), execute: () => 1 })
  expect(() => partialTool(strict, { b: 1 })).toThrow(DefinitionError)
  expect(() => partialTool(power, {}, { name: 'two words' })).toThrow(DefinitionError)
})

test('a composed tool hands results on, and is as dangerous as its parts', async () => {
  const both = composeTools('math.logged', [power, log])
  expect(both).toMatchObject({ sideEffect: 'workspace_write', level: 'privileged', effects: ['fs'], recovery: 'once' })
  expect([both.input?.json, both.output?.json]).toEqual([power.input?.json, log.output?.json])
  expect(both.description).toBe('math.power, then log.write')
  const registry = createRegistry([both, power])
  expect(await registry.call('math.logged', { base: 3 })).toMatch(/\/2: 9 \{"base":1\}$/)
  expect(await registry.tryCall('math.logged', {})).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
  const failing = defineTool({ name: 'f', execute: () => Promise.reject(new ToolError('not_found', 'nothing')) })
  const broken = createRegistry([composeTools('c', [power, failing, log])])
  expect(await broken.tryCall('c', { base: 1 })).toMatchObject({ ok: false, error: { code: 'not_found', message: 'nothing' } })
  expect(composeTools('twice', [power, power]).recovery).toBe('safe')
})

test('JSON Schema of any schema', () => {
  expect(toJsonSchema(z.object({ a: z.int().optional() }))).toEqual({ type: 'object', properties: { a: { type: 'integer' } } })
  const text = z.object({ n: z.string().transform(Number).pipe(z.number()) })
  expect([toJsonSchema(text), toJsonSchema(text, 'output')].map((schema) => (schema['properties'] as { n: object }).n)).toEqual([
    { type: 'string' },
    { type: 'number' },
  ])
  expect(toJsonSchema({ type: 'string' })).toEqual({ type: 'string' })
})
