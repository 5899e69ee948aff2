// The tools that every run has by id: each does what its example says, takes what its schema says and nothing else, and what it is
// declared to touch is what it touches: it works with that power alone, and is refused without.

import { expect, test } from 'vitest'
import { STANDARD_TOOLS } from '../../tools/definitions/standard-tools.js'
import { VirtualClock } from '../../library/time/host-clock.js'
import { seededRandom } from '../providers/basics.js'
import { MemoryFs, memoryProcess, scriptedHttp } from '../providers/memory.js'
import { answered } from '../../tools/executors/provider.js'
import type { Provider } from '../../tools/executors/provider.js'
import { createRuntime } from '../runtime.js'
import { compileSchema } from '../../tools/host-tools/schema.js'
import type { JsonSchema } from '../../tools/host-tools/schema.js'

const makeWorld = (): Provider[] => {
  const process = memoryProcess({ cwd: '/', env: { HOME: '/home/ada', API_KEY: 'hidden' }, args: ['first'] })
  return [
    new MemoryFs({ 'notes.txt': 'tea', 'dir/inner.txt': 'x' }),
    {
      ...process,
      perform: (effect, call) =>
        effect.kind === 'process.exec'
          ? answered({ status: 0, stdout: 'ran', stderr: '', signal: null, timedOut: false, pid: 1 })
          : process.perform(effect, call),
    },
    scriptedHttp(({ method }) => ({ body: method })),
  ]
}

/** The least level that a kind of effect needs; what is not here, any tool may do. */
const LEVELS: { readonly [kind: string]: readonly string[] } = {
  'fs.read': ['read_only', 'workspace_write', 'process_exec'],
  'fs.query': ['read_only', 'workspace_write', 'process_exec'],
  'fs.write': ['workspace_write', 'process_exec'],
  'process.set': ['process_exec'],
  'process.exec': ['process_exec'],
  'http.request': ['network'],
}

/** The power that a declared effect stands for. Chance and time are no powers that a run can be without. */
const POWERS: { readonly [effect: string]: readonly string[] } = {
  http: ['http'],
  fs: ['fs', 'process.info'],
  env: ['process.info', 'process.set'],
  llm: ['llm', 'process.info'],
  process: ['process'],
}

async function runToOutcome(id: string, args: object, grants: readonly string[], performed: string[] = []): Promise<unknown> {
  const runtime = createRuntime({
    providers: makeWorld().map((provider) => ({
      kinds: provider.kinds,
      perform: (effect, call) => {
        performed.push(effect.kind)
        return provider.perform(effect, call)
      },
    })),
    grants: grants as never,
    clock: new VirtualClock(1_700_000_000_000),
    random: seededRandom(1),
    enforceManifest: false,
  })
  const source = `import { tool_try } from "std/tools"\nimport { runtime_pipeline_input } from "std/runtime"
let given = runtime_pipeline_input()
let r = tool_try(given.id, given.args)
return is_ok(r) ? {ok: unwrap(r)} : {code: unwrap_err(r).code}`
  return runtime.run(source, { input: { id, args } })
}

test('ids are those of the reference, with two more', () => {
  expect(STANDARD_TOOLS.map(({ id }) => id)).toEqual([
    ...['get', 'head', 'post', 'put', 'patch', 'delete'].map((method) => `http.${method}`),
    ...['read', 'exists', 'list', 'stat', 'glob', 'write', 'append', 'mkdir', 'remove', 'delete', 'copy', 'move'].map(
      (op) => `fs.${op}`,
    ),
    ...['get', 'has', 'list', 'set', 'cwd', 'home', 'platform', 'args'].map((op) => `env.${op}`),
    'process.exec',
    'json',
    ...['parse', 'stringify', 'get', 'set', 'merge', 'flatten', 'diff'].map((op) => `json.${op}`),
    ...['sha256', 'sha512', 'md5', 'blake3', 'base64_encode', 'base64_decode', 'hmac_sha256', 'hkdf_sha256', 'uuid'].map(
      (op) => `crypto.${op}`,
    ),
    ...['random_int', 'ed25519_keygen', 'ed25519_sign', 'ed25519_verify'].map((op) => `crypto.${op}`),
    ...['chat', 'complete', 'embed'].map((op) => `llm.${op}`),
    'time.now',
  ])
})

test.each(STANDARD_TOOLS.map((tool) => [tool.id, tool] as const))('%s', async (id, tool) => {
  const { effect, level, schema, description, examples, isPure, security } = tool
  expect(description).not.toBe('')
  expect(examples).not.toEqual([])
  const compiled = compileSchema(JSON.parse(JSON.stringify(schema)) as JsonSchema)
  const powers = POWERS[effect ?? ''] ?? []
  // Models that are mocked leave the machine as little as a function of the language does.
  const isConfined = powers.length > 0 && effect !== 'llm'
  for (const { args, result } of examples) {
    expect(await compiled.check(args)).toMatchObject({ ok: true })
    const performed: string[] = []
    const given = (await runToOutcome(id, args, powers, performed)) as { readonly ok?: unknown }
    for (const kind of performed) expect(LEVELS[kind] ?? [level], kind).toContain(level)
    expect(given).toHaveProperty('ok')
    if (result !== undefined) expect(given.ok).toEqual(result)
    if (isConfined && id !== 'env.has') expect(await runToOutcome(id, args, [])).toEqual({ code: 'policy_violation' })
    if (isPure) expect(await runToOutcome(id, args, [])).toEqual(given)
    expect(await runToOutcome(id, { ...args, nonsense: 1 }, powers)).toEqual({ code: 'invalid_args' })
  }
  expect(isPure).toBe(effect === null)
  expect(level === 'none').toBe(security === 'safe')
  if (level === 'none') expect([null, 'env', 'random', 'time']).toContain(effect)
})

const run = (source: string, providers = makeWorld(), grants: readonly string[] = ['*']): Promise<unknown> =>
  createRuntime({
    providers,
    grants: grants as never,
    clock: new VirtualClock(1_700_000_000_000),
    random: seededRandom(7),
    enforceManifest: false,
  }).run(`import { tool_call, tool_try } from "std/tools"\n${source}`)

test('llm tools need their power when nothing is mocked', async () => {
  for (const [id, args] of [
    ['llm.chat', { prompt: 'hi', provider: 'openai', model: 'm' }],
    ['llm.embed', { text: 'hi', provider: 'openai', model: 'm' }],
  ] as const)
    expect(await runToOutcome(id, args, ['process.info'])).toEqual({ code: 'policy_violation' })
})

test('what http tools send and give', async () => {
  const seen: object[] = []
  const http = scriptedHttp(({ method, url, headers, body }) => {
    seen.push({ method, url, headers, body })
    if (url.endsWith('/old')) return { status: 302, headers: { location: '/new' } }
    return { headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{"n": 1}' }
  })
  const source = `
let posted = tool_call("http.post", {url: "https://x.test/a", body: {k: [1]}, query: {page: 2}})
let moved = tool_call("http.get", {url: "https://x.test/old"})
return [posted.json.n, posted.status, moved.url, moved.json]`
  expect(await run(source, [http, memoryProcess()])).toEqual([1, 200, 'https://x.test/new', { n: 1 }])
  expect(seen[0]).toMatchObject({ method: 'POST', url: 'https://x.test/a?page=2', body: '{"k":[1]}' })
  expect(JSON.stringify(seen[0])).toContain('application/json')
})

test('a variable that is set is there for programs, and secrets are never', async () => {
  const source = `
tool_call("env.set", {name: "LANG", value: "C"})
return [env("LANG"), tool_call("env.has", {name: "LANG"}), tool_call("env.list"), tool_call("env.get", {name: "API_KEY"}), env("API_KEY")]`
  expect(await run(source)).toEqual(['C', true, { HOME: '/home/ada', LANG: 'C' }, null, 'hidden'])
})

test('keys that are made sign, and nothing else is signed', async () => {
  const source = `
let pair = tool_call("crypto.ed25519_keygen")
let signature = tool_call("crypto.ed25519_sign", {message: "tea", secret_key: pair.secret_key})
fn fits(message) { return tool_call("crypto.ed25519_verify", {message: message, signature: signature, public_key: pair.public_key}) }
let wrong = unwrap_err(tool_try("crypto.ed25519_sign", {message: "tea", secret_key: "dGVh"}))
return [fits("tea"), fits("coffee"), wrong.code, wrong.message]`
  expect(await run(source)).toEqual([true, false, 'execution_failed', 'invalid secret_key: 32 bytes are needed, got 3'])
})

test.each([
  ['json.parse', { input: '{' }, /^JSON parse error: /],
  ['json.get', { json: { a: 1 }, path: 'a.b' }, /^Path not found: a\.b$/],
  ['json', { op: 'sing' }, /^Unknown operation: sing$/],
  ['json', { op: 'get', json: '{', path: 'a' }, /^JSON parse error: /],
])('%s says what is wrong', async (id, args, message) => {
  const source = `let e = unwrap_err(tool_try(${JSON.stringify(id)}, ${JSON.stringify(args).replaceAll(/"(\w+)":/g, '$1:')}))
return [e.code, e.message]`
  const [code, text] = (await run(source)) as [string, string]
  expect(code).toBe('execution_failed')
  expect(text).toMatch(message)
})

test('models through tools: records, bare texts, vectors, what is missing', async () => {
  const source = `
llm_mock({text: "hello"})
let record = tool_call("llm.chat", {prompt: "hi"})
llm_mock({text: "[1, 2.5]"})
let vector = tool_call("llm.embed", {text: "hi"})
llm_mock({text: "bare"})
let bare = tool_call("llm.chat", {messages: [{role: "user", content: "hi"}], result: "text"})
let near = tool_call("llm.embed", {text: "green tea", provider: "mock"})
return [record.content, record.finish_reason, record.tokens_used > 0, vector, bare, len(near), unwrap_err(tool_try("llm.chat", {})).code]`
  expect(await run(source)).toEqual(['hello', 'stop', true, [1, 2.5], 'bare', 32, 'invalid_args'])
})

test('results of pure tools are cached for the run, and the trace says so', async () => {
  const source = `
import { events } from "std/trace"
for _ in range(3) { tool_call("crypto.sha256", {input: "abc"}) }
tool_call("crypto.sha256", {input: "abd"})
for _ in range(2) { tool_call("time.now") }
return events({}).map({ e -> [e.tool, e.cached] })`
  expect(await run(source)).toEqual([
    ['crypto.sha256', false],
    ['crypto.sha256', true],
    ['crypto.sha256', true],
    ['crypto.sha256', false],
    ['time.now', false],
    ['time.now', false],
  ])
})

test('what is kept is bounded: large results are worked out again, old ones go', async () => {
  const source = `
import { tool_cache_clear } from "std/tools"
import { events } from "std/trace"
let large = "x".repeat(70000)
for _ in range(2) { tool_call("crypto.base64_encode", {input: large}) }
let middle = "y".repeat(40000)
for i in range(40) { tool_call("crypto.base64_encode", {input: to_string(i) + middle}) }
tool_call("crypto.base64_encode", {input: "0" + middle})
tool_call("crypto.base64_encode", {input: "39" + middle})
let cached = events({}).map({ e -> e.cached })
return [cached[1], cached[42], cached[43], tool_cache_clear() < 25]`
  expect(await run(source)).toEqual([false, false, true, true])
})
