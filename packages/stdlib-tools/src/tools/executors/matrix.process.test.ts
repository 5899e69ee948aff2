// One contract for all five executors, as a run sees them: every situation against every executor, with what must come of it written out.
// `dry_run` answers everything with its record and `provider_native` refuses everything by name; neither may reach a tool. What
// lies below (cancelled signals, codes of the outside, late results) is in contract.test.ts, restores in mid-call in runs.process.test.ts.

import { describe, expect, test } from 'vitest'
import { MemoryJournal } from '../../host/journal.js'
import { mcpProvider } from '../../mcp/provider.js'
import { createRuntime } from '../../host/runtime.js'
import type { Runtime } from '../../host/runtime.js'
import { defineTool } from '../host-tools/define.js'
import { ToolError } from '../host-tools/errors.js'
import type { ExecutorName } from './index.js'

const SERVER = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  if (method !== 'tools/call') return;
  const text = (text, isError) => send({ id, result: { content: [{ type: 'text', text }], isError } });
  const { name, arguments: args } = params;
  if (name === 'ok' || name === 'wrong') text('given ' + args.n);
  else if (name === 'fails') text('it failed', true);
  else if (name === 'throws') send({ id, error: { code: -32000, message: 'it threw' } });
  else if (name === 'odd') { process.stdout.write('this is no JSON\\n'); text('after noise'); }
  else if (name === 'big') text('x'.repeat(10_000_000));
});`

let calls: string[] = []
const noteCall = (name: string): void => void calls.push(name)

const kit = [
  defineTool({ name: 'kit.ok', execute: (args) => (noteCall('ok'), `given ${(args as { readonly n: number }).n}`) }),
  defineTool({ name: 'kit.wrong', execute: (args) => (noteCall('wrong'), `given ${(args as { readonly n: number }).n}`) }),
  defineTool({
    name: 'kit.fails',
    execute: () => {
      noteCall('fails')
      throw new ToolError('execution_failed', 'it failed')
    },
  }),
  defineTool({
    name: 'kit.throws',
    execute: () => {
      noteCall('throws')
      throw new Error('it threw')
    },
  }),
  defineTool({ name: 'kit.hangs', execute: () => (noteCall('hangs'), new Promise(() => {})) }),
  defineTool({ name: 'kit.odd', execute: () => (noteCall('odd'), { f: () => 1 }) }),
  defineTool({ name: 'kit.big', execute: () => (noteCall('big'), 'x'.repeat(10_000_000)) }),
]

const HANDLERS: { readonly [tool: string]: string } = {
  ok: '"given ${args.n}"',
  wrong: '"given ${args.n}"',
  fails: 'throw {code: "execution_failed", category: "tool_error", message: "it failed"}',
  throws: 'throw "it threw"',
  hangs: 'sleep(1h)',
  odd: '{ -> 1 }',
  big: '"x".repeat(10000000)',
}

/** Tools of one executor; `dry_run` has those of the host, which must not be reached. */
function makeTools(executor: ExecutorName): string {
  const makeConfig = (tool: string): string => {
    switch (executor) {
      case 'harn':
        return `handler: { args -> ${HANDLERS[tool]!} }`
      case 'mcp_server':
        return 'executor: "mcp_server", mcp_server: "s"'
      case 'provider_native':
        return 'executor: "provider_native"'
      default:
        return `executor: "host_bridge", host_capability: "kit.${tool}"`
    }
  }
  const returns = (tool: string): string => (tool === 'wrong' ? 'returns: {type: "integer"}, ' : '')
  return Object.keys(HANDLERS)
    .map((tool) => `tools = tool_define(tools, "${tool}", "", {parameters: {n: "int"}, ${returns(tool)}${makeConfig(tool)}})`)
    .join('\n')
}

const HEAD = `import { tool_try } from "std/tools"
fn shown(r) {
  if is_err(r) { return "\${unwrap_err(r).code}: \${unwrap_err(r).message}" }
  let value = unwrap(r)
  if type_of(value) == "dict" { return value.status }
  if type_of(value) == "string" && len(value) > 100 { return "\${len(value)} characters" }
  return type_of(value) == "closure" ? "a closure" : value
}
var tools = tool_registry()
`

function makeProgram(executor: ExecutorName, body: string): string {
  const dry = executor === 'dry_run' ? ', dry_run: true' : ''
  const ask = `fn ask(name, args, more = {}) { return shown(tool_try(name, args, {registry: tools${dry}} + more)) }`
  return `${HEAD}${makeTools(executor)}\n${ask}\n${body}`
}

function makeRuntime(): Runtime {
  calls = []
  return createRuntime({
    tools: kit,
    limits: { heap: 1 << 30 },
    providers: [mcpProvider({ servers: { s: { command: process.execPath, args: ['-e', SERVER] } } })],
    grants: ['mcp'],
  })
}

interface Situation {
  readonly what: string
  readonly body: string
  /** For harn, host_bridge, mcp_server, in this order. */
  readonly expected: readonly [unknown, unknown, unknown]
  /** Arguments are checked before anything else, also by a dry run and for a tool of the model's service. */
  readonly everywhere?: unknown
}

const repeatThrice = <T>(value: T): readonly [T, T, T] => [value, value, value]
const SITUATIONS: readonly Situation[] = [
  { what: 'success', body: 'return ask("ok", {n: 1})', expected: repeatThrice('given 1') },
  {
    what: 'bad arguments',
    body: 'return [ask("ok", {n: "x"}), ask("ok", {})]',
    expected: repeatThrice([
      "invalid_args: Invalid type for parameter 'n': expected type int, got string",
      'invalid_args: Missing required parameter: n',
    ]),
    everywhere: [
      "invalid_args: Invalid type for parameter 'n': expected type int, got string",
      'invalid_args: Missing required parameter: n',
    ],
  },
  {
    what: 'a tool that says it failed',
    body: 'return ask("fails", {n: 1})',
    expected: repeatThrice('execution_failed: it failed'),
  },
  {
    what: 'a tool that throws',
    body: 'return ask("throws", {n: 1})',
    expected: ['execution_failed: it threw', 'execution_failed: it threw', 'execution_failed: MCP error (-32000): it threw'],
  },
  {
    what: 'time',
    body: 'return ask("hangs", {n: 1}, {timeout_ms: 60})',
    expected: [
      'timeout: timeout: elapsed 60ms, limit 60ms',
      'timeout: timeout: elapsed 60ms, limit 60ms',
      expect.stringMatching(/^timeout: /),
    ],
  },
  {
    what: 'a result that breaks its schema',
    body: 'return ask("wrong", {n: 1})',
    expected: repeatThrice(
      "output_validation_failed: Tool 'wrong' returned an invalid result at $: expected type integer, got string",
    ),
  },
  {
    what: 'a result that is not data',
    body: 'return ask("odd", {n: 1})',
    expected: [
      'a closure',
      "execution_failed: Tool 'odd' returned what is not data: a function is not data",
      expect.stringMatching(/^(after noise|connection: .*)$/),
    ],
  },
  { what: '10 MB', body: 'return ask("big", {n: 1})', expected: repeatThrice('10000000 characters') },
  {
    what: 'many at once',
    body: 'return parallel each range(20).to_list() { n -> ask("ok", {n: n}) }',
    expected: repeatThrice(Array.from({ length: 20 }, (_, n) => `given ${n}`)),
  },
]

const EXECUTORS: readonly ExecutorName[] = ['harn', 'host_bridge', 'mcp_server', 'dry_run', 'provider_native']

function chooseExpected(executor: ExecutorName, { what, expected, everywhere }: Situation): unknown {
  const own = EXECUTORS.indexOf(executor)
  if (own < 3) return expected[own]
  if (everywhere !== undefined) return everywhere
  const one: unknown =
    executor === 'dry_run'
      ? 'dry_run'
      : expect.stringMatching(/^execution_failed: Tool '\w+' is executed by the model provider \(executor: "provider_native"\)/)
  return what === 'many at once' ? Array.from({ length: 20 }, () => one) : one
}

describe.each(EXECUTORS)('%s', (executor) => {
  test.each(SITUATIONS.map((situation) => [situation.what, situation] as const))('%s', async (_, situation) => {
    const host = makeRuntime()
    expect(await host.run(makeProgram(executor, situation.body))).toEqual(chooseExpected(executor, situation))
    if (executor !== 'host_bridge') expect(calls).toEqual([])
  })

  test('a cancelled run', async () => {
    const host = makeRuntime()
    const run = host.start(host.compile(makeProgram(executor, 'println("on")\nreturn ask("hangs", {n: 1})')))
    const waits = ['harn', 'host_bridge', 'mcp_server'].includes(executor)
    for await (const event of run.events()) if (event.type === 'output') break
    if (waits) setTimeout(() => run.cancel('enough'), 20)
    expect(await run.result).toMatchObject(waits ? { status: 'cancelled', reason: 'enough' } : { status: 'done' })
  })

  test('a snapshot while the call is pending, gone on with elsewhere', async () => {
    const host = makeRuntime()
    const body = 'let first = ask("ok", {n: 1})\nlet second = ask("hangs", {n: 2}, {timeout_ms: 800})\nreturn [first, second]'
    const run = host.start(host.compile(makeProgram(executor, body)))
    const result = run.result
    let bytes: Uint8Array | null = null
    // A call that never leaves the machine leaves no moment for one.
    for (let at = 0; at < 400 && bytes === null; at++) {
      const taken = await run.snapshot().catch(() => null)
      if (taken === null) break
      const waiting =
        executor === 'harn' ? run.pendingCalls().length === 0 : JSON.stringify(run.pendingCalls()).includes('"hangs"')
      if (waiting) bytes = taken
      else await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const restored = ['harn', 'host_bridge', 'mcp_server'].includes(executor)
    expect(bytes !== null).toBe(restored)
    if (bytes !== null) {
      run.cancel()
      const again = await makeRuntime().resume(bytes).result
      expect(again).toMatchObject({ status: 'done', value: ['given 1', expect.stringMatching(/^timeout: /)] })
    }
    await result
  })

  test('a replay performs nothing', async () => {
    const host = makeRuntime()
    const module = host.compile(makeProgram(executor, 'return [ask("ok", {n: 1}), ask("fails", {n: 2}), ask("throws", {n: 3})]'))
    const journal = new MemoryJournal()
    const { status, ...first } = await host.start(module, { journal }).result
    expect(status).toBe('done')
    calls = []
    const end = host.replay(module, journal.entries)
    expect(end).toMatchObject({ kind: 'ended', end: { kind: 'done' } })
    expect(JSON.stringify(first)).toContain('"value":')
    expect(calls).toEqual([])
  })
})
