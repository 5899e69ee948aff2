// Time of a tool call from the script through the whole dispatch and back: host tools that
// answer immediately or later, a handler in the script, an MCP server in another process; with trace, journal, policy and hooks. The
// yardstick is an awaited function of plain JavaScript that checks its argument.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryFs, MemoryJournal, createRegistry, createRuntime, defineTool, memoryProcess } from '@bridle/stdlib-tools'
import type { Provider, ProviderSource, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
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
  defineTool({ name: 'ping', sideEffect: 'none', execute: () => 1 }),
  defineTool({
    name: 'order',
    input: {
      type: 'object',
      properties: { id: { type: 'string' }, amount: { type: 'number' }, count: { type: 'integer' } },
      required: ['id', 'amount', 'count'],
    },
    sideEffect: 'none',
    execute: () => 1,
  }),
  defineTool({ name: 'later', input, output, sideEffect: 'none', execute: async (args) => next(args) }),
]

const HEAD = 'import { now, later, ping, order } from "host/tools"\nimport { tool_call } from "std/tools"\n'
const loop = (call: string, before = '', calls = CALLS): string =>
  `${HEAD}${before}\nvar n = 0\nfor i in 0 to ${calls} exclusive { n = ${call} }\nreturn n`

const SERVER = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'b', version: '1' } } });
  else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: String(params.arguments.n + 1) }] } });
});`

/** Milliseconds so far: of processor time, or of wall time if another process is involved. */
function clock(isWaiting: boolean): number {
  if (isWaiting) return performance.now()
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Microseconds per call: the median of some runs, after a warm-up run. */
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

/** Enough calls to make the start of a run negligible. */
const MANY_CALLS = 50 * CALLS

/** Calls of tools that answer immediately; `plain`, the yardstick of the same run, distinguishes a slower machine from a slower call. */
async function callsOfHostTools(plain: number): Promise<Figures> {
  const measure = (call: string): Promise<number> =>
    microseconds(loop(call, '', MANY_CALLS), {}, undefined, { calls: MANY_CALLS })
  const none = await measure('ping({})')
  return {
    'host tool without arguments, µs': none,
    'the same in calls of plain JavaScript': none / plain,
    'host tool with three checked arguments, µs': await measure('order({id: "a", amount: 2.5, count: 3})'),
    'host tool that answers later, µs': await measure('later({n: n})'),
  }
}

/** Additional processor time of the second script: the smallest of each, interleaved, because the machine drifts. */
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

const AGENT = `
let tools = tool_define(tool_registry(), "look", "Looks at an item", {
  parameters: {what: {type: "string"}},
  handler: { args -> "The item that was looked at is \${args.what}; it weighs four pounds, and its colour is a light blue" },
})
return agent_loop("Look at everything", "You look at things.", {
  provider: "openai", model: "gpt-4o", tools: tools, max_iterations: 1000, persistent: true, auto_compact: false,
})`

/** A model that calls `look` this many times. `held`: its next answer waits for `goOn`. */
function lookingModel(turns: number, held: boolean) {
  let asked = 0
  let goOn = (): void => {}
  let arrive = (): void => {}
  const released = new Promise<void>((resolve) => (goOn = resolve))
  const reached = new Promise<void>((resolve) => (arrive = resolve))
  const provider: Provider = {
    kinds: ['llm.call'],
    perform: () => {
      const turn = ++asked
      const text =
        turn > turns
          ? '<user_response>fine</user_response>\n<done>##DONE##</done>'
          : `<tool_call>\nlook({ what: "item number ${turn} of the shelf" })\n</tool_call>`
      const answer = { ok: true, value: { text, model: 'gpt-4o', input_tokens: 100, output_tokens: 20 } } as const
      if (!held || turn <= turns) return answer
      arrive()
      return released.then(() => answer)
    },
  }
  const runtime = createRuntime({ providers: [provider], grants: ['llm'], limits: { fuel: 1e9 } })
  return { runtime, reached, goOn: () => goOn(), again: () => (asked = 0) }
}

/** Microseconds of processor time per turn of an agent loop: the smallest of some loops, after a warm-up loop. */
async function loopTurn(turns: number): Promise<number> {
  const { runtime, again } = lookingModel(turns, false)
  const module = runtime.compile(AGENT)
  let best = Infinity
  for (let round = 0; round <= 2 * ROUNDS; round++) {
    again()
    const before = clock(false)
    const { status } = await runtime.start(module).result
    if (status !== 'done') throw new Error(status)
    if (round > 0) best = Math.min(best, clock(false) - before)
  }
  return (best * 1000) / turns
}

/** Size of an agent loop's snapshot, and the time from its restore to the next request to the model. */
async function loopSnapshot(turns: number): Promise<{ readonly ratio: number; readonly ms: number }> {
  const first = lookingModel(turns, true)
  const run = first.runtime.start(first.runtime.compile(AGENT))
  await first.reached
  const bytes = await run.snapshot()
  first.goOn()
  const result = await run.result
  if (result.status !== 'done') throw new Error(result.status)
  const { transcript } = result.value as { readonly transcript: unknown }
  let best = Infinity
  for (let round = 0; round <= ROUNDS; round++) {
    const model = lookingModel(0, true)
    const before = clock(false)
    const again = model.runtime.resume(bytes)
    await model.reached
    best = Math.min(best, clock(false) - before)
    model.goOn()
    await again.result
  }
  return { ratio: bytes.length / JSON.stringify(transcript).length, ms: best }
}

/** The equivalent of store_get, in the script. */
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
/** In both, the loop is in a closure. */
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
  const resumed = await loopSnapshot(320)
  const plain = await plainCall()
  try {
    const traced = { tracing: () => ({ sinks: [{ append: (): void => {}, blob: (): void => {} }] }) }
    return {
      ...(await callsOfHostTools(plain)),
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
      'turn of an agent loop of 10 turns, µs': await loopTurn(10),
      'turn of an agent loop of 80 turns, µs': await loopTurn(80),
      'turn of an agent loop of 320 turns, µs': await loopTurn(320),
      'snapshot of a loop at 320 turns, ratio to its transcript': resumed.ratio,
      'going on from it, ms': resumed.ms,
      'event of a transcript of 200 messages, µs': await microseconds(
        'let messages = range(200).map({ n -> {role: "user", content: "line ${n} of the conversation"} }).to_list()\n' +
          'var n = 0\nfor i in 0 to 5 exclusive { n = n + len(transcript_from_messages(messages).events) }\nreturn n',
        {},
        undefined,
        { calls: 1000 },
      ),
      'awaited and checked function of plain JavaScript, µs': plain,
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

/** The first one makes the module; a program with several hosts pays that once per host. */
function catalogue(): number {
  const make = (): void => {
    if (stdTools().length < 26) throw new Error('the catalogue is incomplete')
  }
  make()
  return median(Array.from({ length: 5 }, () => milliseconds(make)))
}
