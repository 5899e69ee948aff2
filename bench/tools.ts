// Time of a tool call from the script through the whole dispatch and back: host tools that
// answer at once and later, a handler in the script, an MCP server in another process; with trace, journal, policy and hooks. The
// yardstick is an awaited function of plain JavaScript that checks its argument.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryFs, MemoryJournal, createRegistry, createRuntime, defineTool, memoryProcess } from '@bridle/stdlib-tools'
import type { ProviderSource, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
import { stdTools } from '@bridle/stdlib-tools/catalogue'
import { mcpProvider } from '@bridle/stdlib-tools/mcp'
import { fileJournal, nodeProviders } from '@bridle/stdlib-tools/node'
import { median } from './stats.js'
import { milliseconds } from './timing.js'
import type { Figures } from './system.js'

const CALLS = 2000
const ROUNDS = 5

const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const output = { type: 'integer' }
const next = (args: unknown): number => (args as { readonly n: number }).n + 1

const tools = [
  defineTool({ name: 'now', input, output, sideEffect: 'none', execute: next }),
  defineTool({ name: 'later', input, output, sideEffect: 'none', execute: async (args) => next(args) }),
]

const HEAD = 'import { now, later } from "host/tools"\nimport { tool_call } from "std/tools"\n'
const loop = (call: string, before = '', calls = CALLS): string =>
  `${HEAD}${before}\nvar n = 0\nfor i in 0 to ${calls} exclusive { n = ${call} }\nreturn n`

const SERVER = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'b', version: '1' } } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: String(params.arguments.n + 1) }] } });
});`

/** Milliseconds so far: of the processor, or on the wall where somebody outside this process is waited for. */
function clock(isWaiting: boolean): number {
  if (isWaiting) return performance.now()
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Microseconds a call: the median of some runs, after one that warms up. */
async function microseconds(
  source: string,
  options: RuntimeOptions = {},
  start: () => StartOptions = () => ({}),
  { calls = CALLS, isWaiting = false } = {},
): Promise<number> {
  const runtime = createRuntime({ tools, limits: { fuel: 1e9 }, ...options })
  const module = runtime.compile(source)
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const before = clock(isWaiting)
    const result = await runtime.start(module, start()).result
    const ms = clock(isWaiting) - before
    if (result.status !== 'done') throw new Error(result.status === 'failed' ? result.error.message : result.status)
    if (round > 0) times.push((ms * 1000) / calls)
  }
  return median(times)
}

/** What the second script costs more than the first, of processor time: the smallest of each, run in turn, because the machine drifts. */
async function surcharge(plain: string, guarded: string): Promise<number> {
  const runtime = createRuntime({ tools, limits: { fuel: 1e9 } })
  const modules = [runtime.compile(plain), runtime.compile(guarded)] as const
  const best = [Infinity, Infinity]
  for (let round = 0; round <= 3 * ROUNDS; round++) {
    for (const [at, module] of modules.entries()) {
      const before = process.cpuUsage()
      const { status } = await runtime.start(module).result
      const { user, system } = process.cpuUsage(before)
      if (status !== 'done') throw new Error(status)
      best[at] = Math.min(best[at]!, user + system)
    }
  }
  return (best[1]! / best[0]! - 1) * 100
}

async function plainCall(): Promise<number> {
  const check = (args: { readonly n: unknown }): boolean => typeof args.n === 'number'
  const call = async (args: { readonly n: number }): Promise<number> => {
    if (!check(args)) throw new Error('n must be a number')
    return next(args)
  }
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const before = clock(false)
    let n = 0
    for (let i = 0; i < 100 * CALLS; i++) n = await call({ n })
    if (n !== 100 * CALLS) throw new Error(`got ${n}`)
    if (round > 0) times.push(((clock(false) - before) * 1000) / (100 * CALLS))
  }
  return median(times)
}

/** What store_get does, in the script. */
const KEPT = `
let records = shared_map("records", {store: {content: {n: 1}}})
fn load(kind) {
  return shared_map_get(records, kind)
}
fn read(kind, key) {
  return load(kind).content[to_string(key)]
}
fn get(key) {
  return read("store", key)
}
var n = 0
for i in 0 to ${CALLS} exclusive { n = n + get("n") }
return n`

const HANDLER = 'let own = tool_define(tool_registry(), "own", "", {parameters: {n: "int"}, handler: { args -> args.n + 1 }})'
const POLICED = `import { with_policy } from "std/policy"\nlet policy = {tools: ["now"], side_effect_level: "network", tool_annotations: {now: {kind: "read"}}}\nregister_tool_hook({pattern: "other", max_output: 1000})`
const policedLoop = `${HEAD}${POLICED}\nreturn with_policy(policy, { ->\n  var n = 0\n  for i in 0 to ${CALLS} exclusive { n = now({n: n}) }\n  return n\n})`

const DIGEST = [
  'import { std_tools } from "std/catalogue"\nimport { tool_call } from "std/tools"\nlet own = std_tools(["hash_calculator"])',
  `  var n = 0\n  for i in 0 to ${CALLS} exclusive { n = len(tool_call("hash_calculator", {input: "test"}, {registry: own}).result.hash) }\n  return n`,
] as const
/** In both the loop stands in a closure. */
const freeDigest = `${DIGEST[0]}\nlet work = { ->\n${DIGEST[1]}\n}\nreturn work()`
const guardedDigest = [
  'import { with_policies } from "std/policy"',
  DIGEST[0],
  'let policy = {tools: ["hash_calculator"], side_effect_level: "network", tool_annotations: {hash_calculator: {kind: "read"}}}',
  'register_tool_hook({pattern: "other", deny: "no"})\nregister_tool_hook({pattern: "other", max_output: 1000})',
  `return with_policies({policy: policy, approval_policy: {auto_approve: ["*"]}}, { ->\n${DIGEST[1]}\n})`,
].join('\n')

export async function toolCalls(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
  writeFileSync(join(folder, 'kilobyte.txt'), 'x'.repeat(1024))
  const files: readonly ProviderSource[] = nodeProviders({ root: folder })
  const sync = loop('now({n: n})')
  const documents = 'let doc = {rows: range(50).map({ n -> {id: n, tags: ["a", "b"]} }).to_list()}'
  let journals = 0
  try {
    const traced = { tracing: () => ({ sinks: [{ append: (): void => {}, blob: (): void => {} }] }) }
    return {
      'host tool that answers at once, µs': await microseconds(sync),
      'the same with a trace, µs': await microseconds(sync, traced),
      'the same with a journal in memory, µs': await microseconds(sync, {}, () => ({ journal: new MemoryJournal() })),
      'the same with a journal in a file, µs': await microseconds(
        sync,
        {},
        () => ({
          journal: fileJournal(join(folder, `journal-${++journals}`)),
        }),
        { isWaiting: true },
      ),
      'the same under a policy, with a hook, µs': await microseconds(policedLoop),
      'host tool that answers later, with a trace, µs': await microseconds(loop('later({n: n})'), traced),
      'handler in the script, with a trace, µs': await microseconds(
        loop('tool_call("own", {n: n}, {registry: own})', HANDLER),
        traced,
      ),
      'MCP server over stdio, with a trace, µs': await microseconds(
        loop('to_int(mcp_call(server, "next", {n: n}))', 'let server = mcp_ensure_active("b")', 500),
        {
          ...traced,
          providers: [mcpProvider({ servers: { b: { command: process.execPath, args: ['-e', SERVER] } } })],
          grants: ['mcp'],
        },
        undefined,
        { calls: 500, isWaiting: true },
      ),
      'digest by hash_calculator, µs': await microseconds(
        loop(
          'len(tool_call("hash_calculator", {input: "test"}, {registry: own}).result.hash)',
          'import { std_tools } from "std/catalogue"\nlet own = std_tools(["hash_calculator"])',
        ),
      ),
      'the same under policy, approval policy and hooks, % more': await surcharge(freeDigest, guardedDigest),
      'file of 1 KB within a sandbox, µs': await microseconds(
        loop('len(tool_call("fs.read", {path: "kilobyte.txt"}))'),
        {
          providers: files,
          grants: ['fs'],
        },
        undefined,
        { isWaiting: true },
      ),
      'question to a document of 50 rows by json_processor, µs': await microseconds(
        loop(
          'tool_call("json_processor", {input: doc, query: ".rows[7].id"}, {registry: own}).result',
          `import { std_tools } from "std/catalogue"\n${documents}\nlet own = std_tools(["json_processor"])`,
          500,
        ),
        {},
        undefined,
        { calls: 500 },
      ),
      'builtin written in Harn that reads what the run keeps, µs': await microseconds(
        `store_set("n", 1)\nvar n = 0\nfor i in 0 to ${CALLS} exclusive { n = n + store_get("n") }\nreturn n`,
        { grants: ['*'], providers: [new MemoryFs({}, '/w'), memoryProcess({})] },
      ),
      'the same as functions of the script, µs': await microseconds(KEPT),
      'awaited and checked function of plain JavaScript, µs': await plainCall(),
      'defining a tool, µs': definitions(),
      'whole catalogue as host tools, ms': catalogue(),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function definitions(): number {
  const define = (): void => {
    createRegistry(Array.from({ length: 100 }, (_, n) => defineTool({ name: `tool.n${n}`, input, output, execute: next })))
  }
  define()
  return median(Array.from({ length: 20 }, () => milliseconds(define))) * 10
}

/** The first makes the module; a program that makes several hosts pays it once a host. */
function catalogue(): number {
  const make = (): void => {
    if (stdTools().length < 26) throw new Error('the catalogue is incomplete')
  }
  make()
  return median(Array.from({ length: 5 }, () => milliseconds(make)))
}
