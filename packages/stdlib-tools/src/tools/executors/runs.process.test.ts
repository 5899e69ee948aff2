// The contract of executors as a run sees it (contract.test.ts has the rest): arguments and results against the schemas of the
// script's entry, many calls at once, a snapshot in mid-call, a replay that performs nothing.

import { describe, expect, test } from 'vitest'
import { MemoryJournal } from '../../host/journal.js'
import { mcpProvider } from '../../mcp/provider.js'
import { createRuntime } from '../../host/runtime.js'
import type { Runtime } from '../../host/runtime.js'
import { defineTool, pending } from '../host-tools/define.js'

/** Gives back its argument; never answers `later`. */
const SERVER = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  if (method !== 'tools/call') return;
  if (params.name !== 'later') send({ id, result: { content: [{ type: 'text', text: 'given ' + params.arguments.n }] } });
});`

interface Case {
  readonly name: string
  /** Defines `tools` with the tools \`give\` and \`later\`, whose results are texts. */
  readonly define: string
  readonly later: 'completed' | 'asked again'
}

const makeSpec = (more: string): string => `{parameters: {n: "int"}, returns: {type: "string"}, ${more}}`
const define = (give: string, later: string): string => `
var tools = tool_define(tool_registry(), "give", "", ${makeSpec(give)})
tools = tool_define(tools, "later", "", ${makeSpec(later)})
tools = tool_define(tools, "wrong", "", {parameters: {n: "int"}, returns: {type: "integer"}, ${give}})`

const cases: readonly Case[] = [
  {
    name: 'harn',
    define: define(
      'handler: { args -> "given " + to_string(args.n) }',
      'handler: { args -> host_tool_call("later", {n: args.n}) }',
    ),
    later: 'completed',
  },
  {
    name: 'host_bridge',
    define: define('executor: "host_bridge", host_capability: "box.give"', 'executor: "host_bridge", host_capability: "later"'),
    later: 'completed',
  },
  {
    name: 'mcp_server',
    define: define('executor: "mcp_server", mcp_server: "s"', 'executor: "mcp_server", mcp_server: "s"'),
    later: 'asked again',
  },
]

const HEAD = 'import { tool_call, tool_try } from "std/tools"\n'

describe.each(cases)('$name', ({ define: tools, later }) => {
  let asked = 0
  const makeRuntime = (): Runtime =>
    createRuntime({
      tools: [defineTool({ name: 'later', execute: (_, { idempotencyKey }) => pending(idempotencyKey) })],
      capabilities: {
        box: {
          give: (params) => {
            asked++
            return `given ${(params as { readonly n: number }).n}`
          },
        },
      },
      providers: [mcpProvider({ servers: { s: { command: process.execPath, args: ['-e', SERVER] } } })],
      grants: ['mcp'],
    })
  const runToCodes = (calls: string): string => `${HEAD}${tools}\nreturn ${calls}`

  test('success, wrong arguments, a result that breaks its schema, a dry run', async () => {
    const call = (name: string, args: string, more = ''): string => `tool_try("${name}", ${args}, {registry: tools${more}})`
    expect(
      await makeRuntime().run(
        runToCodes(
          `[unwrap(${call('give', '{n: 1}')}), unwrap_err(${call('give', '{n: "x"}')}).code, unwrap_err(${call('give', '{}')}).message, ` +
            `unwrap_err(${call('wrong', '{n: 1}')}).code, unwrap(${call('later', '{n: 1}', ', dry_run: true')}).status]`,
        ),
      ),
    ).toEqual(['given 1', 'invalid_args', 'Missing required parameter: n', 'output_validation_failed', 'dry_run'])
  })

  test('many at once', async () => {
    const source = runToCodes('parallel each range(20).to_list() { n -> tool_call("give", {n: n}, {registry: tools}) }')
    expect(await makeRuntime().run(source)).toEqual(Array.from({ length: 20 }, (_, n) => `given ${n}`))
  })

  test('a snapshot in mid-call', async () => {
    const here = makeRuntime()
    // Only the server that is asked again and never answers comes to its limit.
    const limit = later === 'completed' ? 60_000 : 300
    const source = runToCodes(
      `[tool_call("give", {n: 1}, {registry: tools}), tool_call("later", {n: 2}, {registry: tools, timeout_ms: ${limit}})]`,
    )
    const run = here.start(here.compile(source), { runId: 'r' })
    const keys: string[] = []
    for await (const event of run.events()) {
      if (event.type !== 'effect' || !JSON.stringify(event.args).includes('later')) continue
      keys.push(String(event.args['idempotency_key'] ?? `${event.id}`))
      break
    }
    const bytes = await run.snapshot()
    run.cancel()
    await run.result
    const elsewhere = makeRuntime()
    const again = elsewhere.resume(bytes)
    if (later === 'completed')
      for (const key of [`r:${keys[0]}`, `r:${Number(keys[0])}`]) elsewhere.completeTool(key, { ok: 'late' })
    const result = await again.result
    // A server that does not know the call is asked again, and this one never answers.
    if (later === 'asked again') expect(result.status === 'failed' && result.error.message).toContain('timeout')
    else expect(result).toMatchObject({ status: 'done', value: ['given 1', 'late'] })
  })

  test('a replay performs nothing', async () => {
    const here = makeRuntime()
    const module = here.compile(runToCodes('[1, 2].map({ n -> tool_call("give", {n: n}, {registry: tools}) })'))
    const journal = new MemoryJournal()
    expect(await here.start(module, { journal }).result).toMatchObject({ status: 'done', value: ['given 1', 'given 2'] })
    const before = asked
    const end = here.replay(module, journal.entries)
    expect(end).toMatchObject({ kind: 'ended', end: { kind: 'done' } })
    expect(asked).toBe(before)
  })
})
