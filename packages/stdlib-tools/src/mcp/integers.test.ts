// Integers beyond 2^53 from clients of MCP: exact for tools that support them, a clear refusal for others, and never an error of
// JavaScript. Raw lines, because clients in JavaScript cannot write them.

import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { ApprovalDesk } from '../tools/policy/host-approval.js'
import { defineTool } from '../tools/host-tools/define.js'
import { StreamTransport } from '../tools/executors/stream-transport.js'
import { toMcpServer } from './host-backend.js'
import { RegisteredBackend } from './server-registered.js'
import { McpServerConnection } from './server.js'
import type { McpBackend } from './server-protocol.js'

interface Called {
  readonly isError: boolean
  readonly text: string
}

/** The tool `t` with arguments as JSON text. */
async function call(backend: McpBackend, args: string): Promise<Called> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const server = new McpServerConnection(
    backend,
    { name: 'test', version: '1' },
    new StreamTransport(input, output, { keepsIntegers: true }),
  )
  await server.start()
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: string): Promise<string> => {
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`)
    for (;;) {
      const { value } = (await lines.next()) as { readonly value: string }
      if (value.includes(`"id":${id}`)) return value
    }
  }
  await ask(1, 'initialize', '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}')
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  const answer = await ask(2, 'tools/call', `{"name":"t","arguments":${args}}`)
  await server.close()
  const text = /"text":("(?:[^"\\]|\\.)*")/.exec(answer)?.[1]
  return {
    isError: answer.includes('"isError":true') || answer.includes('"error":{'),
    text: text === undefined ? answer : (JSON.parse(text) as string),
  }
}

const BIG = '9007199254740993'
const HUGE = '99999999999999999999'

describe('tools of a host', () => {
  const makeHost = (input: unknown): McpBackend =>
    toMcpServer([
      defineTool({
        name: 't',
        input: input as never,
        execute: (given: unknown) => {
          const { n } = given as { readonly n: unknown }
          return `${typeof n} ${String(n)}`
        },
      }),
    ])

  test.each<[string, unknown, string, RegExp]>([
    ['JSON Schema integer', { type: 'object', properties: { n: { type: 'integer' } } }, BIG, /^bigint 9007199254740993$/],
    [
      'JSON Schema integer, negative',
      { type: 'object', properties: { n: { type: 'integer' } } },
      `-${BIG}`,
      /^bigint -9007199254740993$/,
    ],
    ['JSON Schema without a type', { type: 'object', properties: { n: {} } }, BIG, /^bigint 9007199254740993$/],
    ['zod z.int, a small one', z.object({ n: z.int() }), '5', /^number 5$/],
  ])('%s: exact', async (_, input, n, text) => {
    const { isError, text: said } = await call(makeHost(input), `{"n":${n}}`)
    expect(said).toMatch(text)
    expect(isError).toBe(false)
  })

  test.each<[string, unknown, string]>([
    ['zod z.number', z.object({ n: z.number() }), BIG],
    ['zod z.int', z.object({ n: z.int() }), BIG],
    ['zod z.number, beyond 64 bits', z.object({ n: z.number() }), HUGE],
    ['JSON Schema integer with a maximum', { type: 'object', properties: { n: { type: 'integer', maximum: 10 } } }, BIG],
    ['JSON Schema multipleOf', { type: 'object', properties: { n: { type: 'integer', multipleOf: 2 } } }, BIG],
    ['JSON Schema multipleOf zero', { type: 'object', properties: { n: { type: 'integer', multipleOf: 0 } } }, BIG],
    ['JSON Schema number', { type: 'object', properties: { n: { type: 'number' } } }, BIG],
    ['JSON Schema const', { type: 'object', properties: { n: { const: 9007199254740992 } } }, BIG],
    ['JSON Schema enum', { type: 'object', properties: { n: { enum: [9007199254740992] } } }, BIG],
    ['an endless number', { type: 'object', properties: { n: { type: 'number' } } }, '1e999'],
  ])('%s: exact, or refused in words', async (_, input, n) => {
    const { isError, text } = await call(makeHost(input), `{"n":${n}}`)
    expect(text).not.toMatch(/int:[0-9a-f]|Cannot (mix|convert|read)|TypeError|RangeError|Division by zero|serialize a BigInt/)
    // Beyond 64 bits a number is a double, as in every JSON of JavaScript.
    const isDouble = n === HUGE || n === '1e999'
    expect(isError || text === (isDouble ? `number ${Number(n)}` : `bigint ${n}`)).toBe(true)
  })
})

test.each([HUGE, `-${HUGE}`, '9223372036854775808', '1e300'])('%s is refused where an integer is expected', async (n) => {
  const input = { type: 'object', properties: { n: { type: 'integer' } } }
  const tool = defineTool({ name: 't', input: input as never, execute: () => 'ran' })
  const { isError, text } = await call(toMcpServer([tool]), `{"n":${n}}`)
  expect(text).toContain('An integer of more than 64 bits was rounded. Send it as a text, or declare a "number".')
  expect(isError).toBe(true)
})

describe('keys that are doubled', () => {
  test.each(['{"n":1,"n":2}', '{"n":"x","n":2}', '{"__proto__":{"n":1},"n":2}', '{"n":2,"__proto__":{"n":1}}'])(
    '%s: the last one is judged, and reaches the tool',
    async (args) => {
      const execute = ({ n }: { readonly n: number }): string => `${typeof n} ${n}`
      const tool = defineTool({ name: 't', input: z.object({ n: z.int() }), execute })
      expect(await call(toMcpServer([tool]), args)).toEqual({ isError: false, text: 'number 2' })
    },
  )

  test('of which the last one does not fit', async () => {
    const tool = defineTool({ name: 't', input: z.object({ n: z.int() }), execute: () => 'ran' })
    expect(await call(toMcpServer([tool]), '{"n":1,"n":"x"}')).toMatchObject({ isError: true })
  })
})

describe('tools of a script', () => {
  const makeScript = async (parameters: string): Promise<RegisteredBackend> => {
    const runtime = createRuntime({ grants: ['*'] })
    const source = `mcp_tools(tool_define(tool_registry(), "t", "", {parameters: ${parameters}, handler: { args -> to_string(args.n) + " " + type_of(args.n) }}))`
    return await RegisteredBackend.start(runtime, runtime.compile(source), { desk: new ApprovalDesk() })
  }

  test.each<[string, string, string]>([
    ['int', '{n: {type: "int"}}', BIG],
    ['int', '{n: {type: "int"}}', '-9223372036854775808'],
    ['nothing', '{}', BIG],
  ])('%s: exact', async (_, parameters, n) => {
    const backend = await makeScript(parameters)
    expect(await call(backend, `{"n":${n}}`)).toEqual({ isError: false, text: `${n} int` })
    await backend.close()
  })

  test.each([HUGE, '1e999', '-0', '1.0', '9223372036854775808'])('%s is a float, or refused in words', async (n) => {
    const backend = await makeScript('{n: {type: "float"}}')
    const { text } = await call(backend, `{"n":${n}}`)
    expect(text).not.toMatch(/int:[0-9a-f]|Cannot (mix|convert|read)|TypeError|RangeError|serialize a BigInt/)
    await backend.close()
  })
})
