import { expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { createRegistry } from '../tools/host-tools/registry.js'
import { fromAiSdkTool, toAiSdkTool, toAiSdkTools } from './index.js'

const weather = {
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }: { city: string }, { toolCallId }: { toolCallId: string }) => ({ city, call: toolCallId }),
}

test('a tool of the AI SDK in a script', async () => {
  const runtime = createRuntime({ tools: [fromAiSdkTool('weather', weather, { sideEffect: 'read_only' })] })
  expect(await runtime.run('import { weather } from "host/tools"\nreturn weather({city: "Bern"})')).toEqual({
    city: 'Bern',
    call: 'call_1',
  })
})

test('schemas by jsonSchema(), as version 4 names them, and lazily', async () => {
  const schema = { jsonSchema: { $schema: 'x', type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }
  const double = { parameters: schema, execute: ({ n }: { n: number }) => n * 2 }
  const registry = createRegistry([
    fromAiSdkTool('double', double),
    fromAiSdkTool('lazy', { inputSchema: () => schema, execute: ({ n }: { n: number }) => n }),
  ])
  expect(await registry.call('double', { n: 4 })).toBe(8)
  expect(await registry.tryCall('lazy', { n: 'x' })).toMatchObject({ ok: false, error: { code: 'invalid_args' } })
  expect(registry.get('double')!.input!.json).not.toHaveProperty('$schema')
  expect(() => fromAiSdkTool('client', { inputSchema: schema })).toThrow('AI SDK tool "client" has no execute function')
  expect(() => fromAiSdkTool('odd', { inputSchema: {}, execute: () => 1 })).toThrow('neither a standard schema')
})

test('a tool of ours for the AI SDK', async () => {
  const tool = defineTool({
    name: 'math.half',
    description: 'Half of it',
    input: z.object({ n: z.number() }),
    execute: ({ n }, { signal }) => [n / 2, signal.aborted],
  })
  const { inputSchema, execute, description } = toAiSdkTool(tool)
  expect([description, inputSchema.jsonSchema['required']]).toEqual(['Half of it', ['n']])
  expect(Reflect.get(inputSchema, Symbol.for('vercel.ai.schema'))).toBe(true)
  expect(await inputSchema.validate({ n: 1 })).toEqual({ success: true, value: { n: 1 } })
  expect(await inputSchema.validate({})).toMatchObject({ success: false })
  expect(await execute({ n: 3 }, { toolCallId: 'c', messages: [] })).toEqual([1.5, false])
  await expect(execute({})).rejects.toMatchObject({ code: 'invalid_args' })
  expect(Object.keys(toAiSdkTools([tool]))).toEqual(['math_half'])
})
