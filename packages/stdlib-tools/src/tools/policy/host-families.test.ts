// `use tool FAMILY as *` in programs that a host runs: whose tools those are, what grants of the host say, what the trace tells.

import { expect, test } from 'vitest'
import { MemoryFs } from '../../host/providers/memory.js'
import { createRuntime } from '../../host/runtime.js'
import type { CompileError } from '../../host/compile-errors.js'
import type { RuntimeOptions, StartOptions } from '../../host/runtime-options.js'
import { defineTool } from '../host-tools/define.js'
import { MemoryTrace } from '../../host/trace/recorder.js'

const makeStar = (family: string, body: string): string => `// @bridle grants\nuse tool ${family} as *\n${body}`

async function run(source: string, options: RuntimeOptions = {}, start: StartOptions = {}): Promise<string> {
  const runtime = createRuntime(options)
  const result = await runtime.start(runtime.compile(source), start).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

/** The host's own idea of a family: one tool that the standard has too, by another meaning, and one of its own. */
const makeOwn = (...names: readonly string[]): RuntimeOptions => ({
  tools: names.map((name) =>
    defineTool({
      name,
      input: { type: 'object', properties: { n: { type: 'integer' } } },
      execute: (args) => `${name} ${(args as { n: number }).n}`,
    }),
  ),
})

test('a family of the host goes before the standard one', async () => {
  const options = makeOwn('crypto.sign', 'crypto.sha256')
  expect(await run(makeStar('crypto', 'println(sign({n: 1}))\nprintln(sha256(n: 2))'), options)).toBe(
    'crypto.sign 1\ncrypto.sha256 2\n',
  )
  expect(await run(makeStar('crypto', 'println(uuid == nil)'), options)).toBe('false\n')
})

test('the standard family is there in an empty host, without files', async () => {
  expect(await run(makeStar('crypto', 'println(md5(""))'))).toBe('d41d8cd98f00b204e9800998ecf8427e\n')
})

test('a name that the host offers as a file is not a family', () => {
  const runtime = createRuntime({ resolve: () => ({ kind: 'source', key: 'host/zoo.harn', text: 'pub fn lion() {}' }) })
  expect(() => runtime.compile(makeStar('zoo', 'println(1)'))).toThrow(/no tools of a family 'zoo'/)
})

test('an unknown family lists those of the host too', () => {
  const runtime = createRuntime(makeOwn('zoo.feed'))
  try {
    runtime.compile(makeStar('zooo', 'println(1)'))
    expect.unreachable()
  } catch (cause) {
    const [found] = (cause as CompileError).diagnostics
    expect(found).toMatchObject({ code: 'G011', hint: expect.stringMatching(/did you mean 'zoo'\? .*http.*zoo/) })
  }
})

test('a missing grant refuses as it does for one tool', async () => {
  const attempt = (name: string): string =>
    `println(try { ${name}("https://a.test/") } catch (e) { "\${e.code}: \${e.message}" })`
  const options: RuntimeOptions = { toolGrants: { 'crypto.*': {} }, defaultDeny: true }
  const whole = await run(makeStar('http', attempt('get')), options)
  expect(whole).toBe(await run(`// @bridle grants\nuse tool http.get as get\n${attempt('get')}`, options))
  expect(whole).toMatch(/^policy_violation: policy violation for 'get'/)
})

test('a trace has the name and the tool', async () => {
  const trace = new MemoryTrace()
  await run(makeStar('crypto', 'sha256("abc")'), {}, { tracing: { sinks: [trace] } })
  const [call] = trace.events.filter(({ kind }) => kind === 'tool_call')
  expect(call).toMatchObject({ tool_id: 'crypto.sha256', details: { name: 'sha256', success: true } })
})

test('a dry run writes down what it would have done', async () => {
  const files = new MemoryFs({})
  const runtime = createRuntime({ providers: [files], grants: ['fs'] })
  const source = makeStar('fs', 'println(write(path: "/a.txt", content: "x"))')
  const dry = await runtime.start(runtime.compile(source), { dryRun: true }).result
  expect(dry).toMatchObject({
    status: 'done',
    output: 'true\n',
    wouldHaveDone: [{ summary: 'write file /a.txt (1 characters)' }],
  })
  expect(files.text('/a.txt')).toBeNull()
})

test('a snapshot keeps the families that its host had', async () => {
  const source = makeStar('zoo', 'sleep(1h)\nprintln(feed(n: 1))')
  const runtime = createRuntime(makeOwn('zoo.feed'))
  const run = runtime.start(runtime.compile(source))
  await new Promise((done) => setImmediate(done))
  const bytes = await run.snapshot()
  run.cancel()
  // The program is the same although the tool of the host is gone.
  const restored = createRuntime(makeOwn('other.tool')).resume(bytes)
  expect(restored.output).toBe('')
  restored.cancel()
  await restored.result
})
