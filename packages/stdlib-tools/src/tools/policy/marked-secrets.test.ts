// What a tool's schema marks as secret (`writeOnly`, `secret`, format `password`) is in no record: of calls that were made, that were refused,
// and of what is about to happen, for every route of a call.

import { describe, expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import type { RunEvent } from '../../host/events.js'
import { MemoryJournal, encodeEntry } from '../../host/journal.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { MemoryTrace } from '../../host/trace/recorder.js'
import { type HarnDict, fromPlain } from '@bridle/vm'
import { answered } from '../executors/provider.js'
import type { Provider } from '../executors/provider.js'
import { listSecretParameters } from '../definitions/arguments.js'
import { defineTool } from '../host-tools/define.js'

const SECRET = 'blue harbour 7'
const INPUT = {
  type: 'object',
  properties: {
    who: { type: 'string' },
    pin: { type: 'string', writeOnly: true },
    codes: { type: 'array', items: { format: 'password' } },
  },
} as const
const ARGS = `{who: "bo", pin: "${SECRET}", codes: ["${SECRET}"]}`

function makeOptions(more: RuntimeOptions): RuntimeOptions {
  const enter = defineTool({ name: 'door.enter', aliases: ['enter'], input: INPUT as never, execute: () => 'open' })
  const relay = defineTool({
    name: 'door.relay',
    execute: (_args, { tools }) => tools.call('enter', { who: 'bo', pin: SECRET, codes: [SECRET] }),
  })
  const server: Provider = {
    kinds: ['mcp.connect', 'mcp.request', 'process.info', 'approval.ask'],
    perform: ({ kind, args }) => {
      if (kind === 'approval.ask') return answered({ approved: true })
      if (kind === 'process.info') return answered(args['op'] === 'cwd' ? '/' : null)
      if (kind === 'mcp.connect') return answered({})
      if (args['method'] === 'tools/list') return answered({ tools: [{ name: 'enter', inputSchema: INPUT as never }] })
      return answered({ content: [{ type: 'text', text: 'open' }] })
    },
  }
  return {
    tools: [enter, relay],
    providers: [server],
    grants: ['mcp', 'process.info', 'approval.ask'],
    enforceManifest: false,
    ...more,
  }
}

const makeLoop = (tool: string, more: string): string => `llm_mock_clear()
llm_mock({text: "", tool_calls: [{name: "${tool}", arguments: ${ARGS}}]})
llm_mock({text: "##DONE##"})
agent_loop("go", nil, {provider: "mock", tool_format: "native", max_iterations: 3, ${more}})`

const ROUTES: readonly (readonly [string, string])[] = [
  ['a call by its name', `tool_call("door.enter", ${ARGS})`],
  [
    'an entry without marks',
    `tool_call({name: "x", executor: "host_bridge", host_capability: "enter", parameters: {}}, ${ARGS})`,
  ],
  ['host_call', `host_call("door.enter", ${ARGS})`],
  ['host_tool_call', `host_tool_call("enter", ${ARGS})`],
  ['a call by a tool', 'tool_call("door.relay", {})'],
  ['a server of an agent loop', makeLoop('shop__enter', 'mcp_servers: [{name: "shop", server: "shop"}]')],
]

const JUDGES: readonly (readonly [string, RuntimeOptions])[] = [
  ['allowed', {}],
  ['without calls left', { toolGrants: { 'door.enter': { maxCalls: 0 }, 'mcp.shop': { maxCalls: 0 } } }],
  ['with another argument pinned', { toolGrants: { 'door.enter': { pin: 'other' }, 'mcp.shop': { pin: 'other' } } }],
  ['not in the lock file', { pins: new Map() }],
]

for (const [what, more] of JUDGES) {
  describe(`a call that is ${what}`, () => {
    for (const [name, script] of ROUTES) {
      test(`shows no secret in a required trace: ${name}`, async () => {
        const trace = new MemoryTrace()
        const runtime = createRuntime(makeOptions(more))
        const module = runtime.compile(
          `import { tool_call } from "std/tools"\ntry { ${script} } catch (e) { log_info(to_string(e)) }`,
        )
        await runtime.start(module, { tracing: { sinks: [trace], required: true } }).result
        const calls = trace.events.filter(({ kind }) => kind === 'tool_call' || kind === 'call_intent')
        expect(calls.length).toBeGreaterThan(0)
        const shown = calls.filter(
          (event) => !JSON.stringify(event).includes('llm_mock') && JSON.stringify(event).includes(SECRET),
        )
        expect(shown.filter(({ tool_id: tool }) => tool !== 'llm.chat')).toEqual([])
      })
    }
  })
}

test('what a person is asked about is in no record', async () => {
  const trace = new MemoryTrace()
  const runtime = createRuntime(makeOptions({}))
  const module = runtime.compile(`import { tool_call } from "std/tools"
import { with_policies } from "std/policy"
with_policies({approval_policy: {require_approval: ["*"]}}, { -> tool_call("door.enter", ${ARGS}) })`)
  await runtime.start(module, { tracing: { sinks: [trace], required: true } }).result
  expect(trace.events.some(({ details }) => details?.['kind'] === 'approval.ask')).toBe(true)
  expect(JSON.stringify(trace.events)).not.toContain(SECRET)
})

test('a journal has what a replay needs, and an event what the host performs: the argument itself', async () => {
  const journal = new MemoryJournal()
  const events: RunEvent[] = []
  const trace = new MemoryTrace()
  const runtime = createRuntime(makeOptions({}))
  const module = runtime.compile(`import { tool_call } from "std/tools"\ntool_call("door.enter", ${ARGS})\nreturn 1`)
  const begun = { journal, onEvent: (event: RunEvent) => void events.push(event), tracing: { sinks: [trace], required: true } }
  expect(await runtime.start(module, begun).result).toMatchObject({ status: 'done', value: 1 })
  expect(journal.entries.map(encodeEntry).join()).toContain(SECRET)
  expect(JSON.stringify(events.filter(({ type }) => type === 'effect'))).toContain(SECRET)
  expect(JSON.stringify(trace.events)).not.toContain(SECRET)
  expect(runtime.replay(module, journal.entries)).toMatchObject({ end: { kind: 'done', value: 1 } })
})

test.each([
  [{ properties: { a: { writeOnly: true }, b: {} } }, ['a']],
  [{ properties: { a: { type: 'array', items: { secret: true } } } }, ['items', 'a']],
  [{ properties: { a: { anyOf: [{ type: 'null' }, { format: 'password' }] } } }, ['a']],
  [{ properties: { a: { $ref: '#/$defs/key' } }, $defs: { key: { writeOnly: true } } }, ['a']],
  [{ properties: { a: { properties: { b: { $ref: '#/$defs/x~1y' } } } }, $defs: { 'x/y': { format: 'password' } } }, ['b']],
  [{ properties: { a: { $ref: '#/$defs/ring' } }, $defs: { ring: { properties: { a: { $ref: '#/$defs/ring' } } } } }, []],
  [{ properties: { a: { prefixItems: [{}, { writeOnly: true }] } } }, ['a']],
])('marks are found where they stand: %j', (schema, names) => {
  expect(listSecretParameters(fromPlain({ type: 'object', ...schema } as never) as HarnDict)).toEqual(names)
})
