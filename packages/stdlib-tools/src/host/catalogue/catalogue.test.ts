// Every tool of the catalogue, from the host's side: its examples give what they say, and what it declares about its effects is
// true, because without that power it is refused. Scripts use the same tools in conformance/tests/catalogue.

import { describe, expect, test } from 'vitest'
import { compileSchema } from '../../tools/host-tools/schema.js'
import type { JsonSchema } from '../../tools/host-tools/schema.js'
import type { ProviderSource } from '../../tools/executors/provider.js'
import { VirtualClock } from '../../library/time/host-clock.js'
import { seededRandom } from '../providers/basics.js'
import { MemoryFs, memoryProcess, scriptedHttp } from '../providers/memory.js'
import { answered } from '../../tools/executors/provider.js'
import { createRuntime } from '../runtime.js'
import { defineTool } from '../../tools/host-tools/define.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { createRegistry } from '../../tools/host-tools/registry.js'
import type { StandardResponse } from '../../tools/host-tools/response.js'
import { stdTools } from './index.js'

const VARIABLES = { LANG: 'C', LC_ALL: 'C', MY_TOKEN: 'hidden' }
const makeWorld = (): ProviderSource[] => [
  new MemoryFs({ 'notes.txt': 'tea' }),
  {
    ...memoryProcess({ cwd: '/', env: VARIABLES }),
    perform: (effect, call) =>
      effect.kind === 'process.exec'
        ? answered({ status: 0, stdout: 'ran', stderr: '', signal: null, timedOut: false, pid: 1 })
        : memoryProcess({ cwd: '/', env: VARIABLES }).perform(effect, call),
  },
  scriptedHttp(({ url, body }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(url.endsWith('graphql') ? { data: { me: { name: 'Ada' } } } : { got: body }),
  })),
]
const search = defineTool({
  name: 'web_search.brave',
  description: 'Finds what it is asked for',
  sideEffect: 'network',
  input: { type: 'object', properties: { query: { type: 'string' }, max_results: { type: 'integer' } } },
  execute: (asked) => {
    const { query, max_results: most } = asked as { readonly query: string; readonly max_results: number }
    return [{ title: query, most }]
  },
})
const makeRegistry = (grants: readonly '*'[]) =>
  createRegistry(
    stdTools({
      tools: [search],
      providers: makeWorld(),
      grants,
      programs: ['true'],
      clock: new VirtualClock(1_700_000_000_000),
      random: seededRandom(1),
    }),
  )
const registry = makeRegistry(['*'])
const powerless = createRegistry(stdTools())

test('the catalogue lists itself', () => {
  expect(registry.size).toBe(28)
  expect(registry.categories()).toEqual(['data', 'filesystem', 'system', 'text', 'utility', 'web'])
  expect(stdTools({ only: ['calculator'] }).map((tool) => tool.name)).toEqual(['calculator'])
})

test.each([...registry].map((tool) => [tool.name, tool] as const))('%s', async (name, tool) => {
  // The schema survives the way through JSON, and takes the examples.
  const schema = compileSchema(JSON.parse(JSON.stringify(tool.input!.json)) as JsonSchema)
  expect(tool.examples.length).toBeGreaterThan(0)
  for (const { args, result } of tool.examples) {
    expect(await schema.check(args)).toMatchObject({ ok: true })
    const given = await registry.call(name, args)
    const value = isStandard(given) ? given.result : given
    if (isStandard(given)) expect(given).toMatchObject({ success: true })
    if (result !== undefined) expect(value).toEqual(result)
    if (name === 'web_searcher') continue // it asks a tool, and that one is refused or not
    const refused = await powerless.tryCall(name, args)
    const touches = tool.sideEffect !== 'none' || ['datetime_handler', 'uuid_generator'].includes(name)
    if (!touches) expect(refused).toEqual({ ok: true, value: given })
    else if (tool.sideEffect !== 'none') expect(refused).toMatchObject({ ok: false, error: { code: 'policy_violation' } })
  }
})

function isStandard(value: unknown): value is StandardResponse {
  return typeof value === 'object' && value !== null && 'success' in value && 'operation' in value
}

describe('what is thrown and what is returned', () => {
  const catchCode = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      (value) => JSON.stringify(value),
      (cause: unknown) => (cause instanceof ToolError ? cause.code : String(cause)),
    )

  test.each<[string, string, object, string | object]>([
    ['a missing parameter', 'text_manipulator', { input: 'x' }, 'invalid_args'],
    ['an unknown operation', 'text_manipulator', { operation: 'sing', input: 'x' }, 'invalid_args'],
    ['a parameter that does not exist', 'calculator', { inptu: '1' }, 'invalid_args'],
    ['what a body misses', 'hash_calculator', {}, 'invalid_args'],
    [
      'work that failed',
      'calculator',
      { input: '1 / 0' },
      { operation: 'evaluate', success: false, error: { message: 'division by zero', code: 'execution_failed' } },
    ],
    ['JSON that is none', 'json_processor', { input: '{' }, { operation: 'query', success: false }],
    ['direct tools throw', 'json.get', { json: {}, path: 'a.b' }, 'execution_failed'],
    ['a missing file', 'file_operations', { operation: 'read', path: 'none.txt' }, 'execution_failed'],
  ])('%s', async (_, name, args, expected) => {
    const outcome = await catchCode(registry.call(name, args as { [key: string]: unknown }))
    if (typeof expected === 'string') expect(outcome).toBe(expected)
    else expect(JSON.parse(outcome)).toMatchObject(expected)
  })

  test.each([
    ['1 +', 'the expression ends too early'],
    ['(1', 'a parenthesis is not closed'],
    ['1 2', "unexpected '2' in the expression"],
    ['1 $ 2', "unexpected '$' in the expression"],
    ['nope', "unknown variable 'nope'"],
    ['nope(1)', "unknown function 'nope'"],
    ['sqrt(-1)', 'square root of a negative number'],
    ['sqrt(1, 2)', 'sqrt takes 1 number(s), got 2'],
  ])('calculator: %s', async (input, message) => {
    expect(await registry.call('calculator', { input })).toMatchObject({ success: false, error: { message } })
  })

  test.each([
    ['-2 ^ 2', -4],
    ['2 ^ 3 ^ 2', 512],
    ['2 ** -1', 0.5],
    ['7 % 4 * 2', 6],
    ['max(1, 2, 3) + min(4, 5)', 7],
    ['1e3 + .5', 1000.5],
    ['--3', 3],
    ['cos(0) + ln(e)', 2],
  ])('calculator: %s = %d', async (input, result) => {
    expect(await registry.call('calculator', { input })).toMatchObject({ success: true, result })
  })

  test('a search goes to the provider that is there', async () => {
    expect(await registry.call('web_searcher', { input: 'tea', max_results: 3 })).toMatchObject({
      success: true,
      result: { provider: 'brave', results: [{ title: 'tea', most: 3 }] },
    })
    expect(await powerless.call('web_searcher', { input: 'tea' })).toMatchObject({
      success: false,
      error: { code: 'provider_unavailable' },
    })
    const named = registry.call('web_searcher', { input: 'tea', provider: 'google' })
    expect(await named).toMatchObject({ success: false, error: { code: 'not_registered' } })
  })

  test('requests without an answer, and refusals, keep their codes', async () => {
    const makeSilent = (code: string, detail: string): ProviderSource => ({
      kinds: ['http.request'],
      perform: () => answered({ refused: true, code, detail }),
    })
    const makeTools = (source: ProviderSource) => createRegistry(stdTools({ providers: [source], grants: ['http', 'fs'] }))
    const ask = { input: 'https://a.test/' }
    expect(
      await makeTools(makeSilent('ECONNRESET', 'Connection reset by peer (os error 104)')).call('http_requester', ask),
    ).toMatchObject({
      success: false,
      error: { code: 'connection' },
    })
    expect(await catchCode(makeTools(makeSilent('ETIMEDOUT', 'operation timed out')).call('http_requester', ask))).toBe('timeout')
    expect(await catchCode(makeTools(makeSilent('EPROTO', 'bad record')).call('http_requester', ask))).toContain(
      '"execution_failed"',
    )
    const files = makeTools({
      kinds: ['fs.query', 'fs.read'],
      perform: () => ({
        ok: false,
        error: { kind: 'categorized', category: 'tool_rejected', message: "File access violation: read on '/x' - no" },
      }),
    })
    expect(await catchCode(files.call('file_search', { pattern: 'x', path: '/x' }))).toBe('security_violation')
  })

  test('operations on files by their short names', async () => {
    const files = new MemoryFs({ 'a.txt': 'tea' })
    const makeTools = createRegistry(stdTools({ providers: [files], grants: ['fs'], only: ['file_operations'] }))
    await makeTools.call('file_operations', { operation: 'cp', path: 'a.txt', target_path: 'b.txt' })
    await makeTools.call('file_operations', { operation: 'mv', path: 'b.txt', target_path: 'c.txt' })
    expect(await makeTools.call('file_operations', { operation: 'ls', path: '.' })).toMatchObject({ entries: ['a.txt', 'c.txt'] })
  })

  test('differences as diff -u writes them', async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`)
    const changed = lines.with(1, 'second').toSpliced(15, 1)
    const call = { old_text: lines.join('\n'), new_text: changed.join('\n'), format: 'unified' }
    expect(await registry.call('diff_calculator', call)).toMatchObject({
      result: {
        added: 1,
        removed: 2,
        diff: [
          '@@ -1,5 +1,5 @@',
          ...[' line 1', '-line 2', '+second', ' line 3', ' line 4', ' line 5'],
          '@@ -13,7 +13,6 @@',
          ...[' line 13', ' line 14', ' line 15', '-line 16', ' line 17', ' line 18', ' line 19'],
        ].join('\n'),
      },
    })
  })

  test.each<[string, string, object, unknown]>([
    ['SHA-1', 'hash_calculator', { input: 'abc', algorithm: 'sha1' }, { hash: 'a9993e364706816aba3e25717850c26c9cd0d89d' }],
    [
      'columns of a table',
      'csv_analyzer',
      { operation: 'transform', input: 'a,b\n1,2\n', options: { columns: ['b'], rename: { b: 'n' } } },
      [{ n: '2' }],
    ],
    [
      'what a table lacks',
      'csv_analyzer',
      { operation: 'validate', input: 'a,b\n1,\n', options: { required: ['b', 'c'] } },
      { valid: false, errors: ["column 'c' is missing", "row 1: 'b' is empty"] },
    ],
    ['variables by pattern', 'environment_reader', { operation: 'pattern', pattern: 'LC_*' }, { LC_ALL: 'C' }],
    ['variables but secrets', 'environment_reader', { operation: 'list' }, { LANG: 'C', LC_ALL: 'C' }],
  ])('%s', async (_, name, args, result) => {
    expect(await registry.call(name, args as { [key: string]: unknown })).toMatchObject({ success: true, result })
  })

  test.each([
    [{ operation: 'line_endings', path: 'dos.txt' }, '\ta\n    b\n'],
    [{ operation: 'line_endings', path: 'dos.txt', target: 'windows' }, '\ta\r\n    b\r\n'],
    [{ operation: 'indentation', path: 'unix.txt', target: 'tabs' }, '\ta\n\tb\n'],
    [{ operation: 'indentation', path: 'unix.txt', target: 'spaces', width: 2 }, '  a\n    b\n'],
    [{ operation: 'encoding', path: 'marked.txt' }, 'tea'],
  ])('file_converter: %j', async (args, expected) => {
    const files = new MemoryFs({ 'dos.txt': '\ta\r\n    b\r', 'unix.txt': '\ta\n    b\n', 'marked.txt': '\ufefftea' })
    const makeTools = createRegistry(stdTools({ providers: [files], grants: ['fs'], only: ['file_converter'] }))
    expect(await makeTools.call('file_converter', { ...args, target_path: 'out.txt' })).toMatchObject({ success: true })
    expect(files.text('out.txt')).toBe(expected)
  })

  test('one file packed by gzip', async () => {
    const files = new MemoryFs({ 'notes.txt': 'tea' })
    const makeTools = createRegistry(stdTools({ providers: [files], grants: ['fs'], only: ['archive_handler'] }))
    const call = (args: object) => makeTools.call('archive_handler', { path: 'notes.txt.gz', format: 'gz', ...args })
    expect(await call({ operation: 'create', files: ['notes.txt'] })).toMatchObject({ success: true })
    expect(await call({ operation: 'extract', target_path: 'out' })).toMatchObject({ result: ['out/notes.txt'] })
    expect(files.text('out/notes.txt')).toBe('tea')
  })

  test('an archive cannot leave its folder', async () => {
    const tar = new MemoryFs({ 'evil.tar': makeTar('../evil.txt', 'x') })
    const makeTools = createRegistry(stdTools({ providers: [tar], grants: ['fs'], only: ['archive_handler'] }))
    const call = makeTools.call('archive_handler', { operation: 'extract', path: 'evil.tar', format: 'tar', target_path: 'out' })
    expect(await catchCode(call)).not.toContain('"success":true')
    expect(tar.files().filter((path) => path.endsWith('evil.txt'))).toEqual([])
  })

  test('a call that takes too long', async () => {
    const makeTools = createRegistry(stdTools({ only: ['text_manipulator'], limits: { fuel: 1000 } }))
    const long = { operation: 'word_wrap', input: 'word '.repeat(5000) }
    expect(await catchCode(makeTools.call('text_manipulator', long))).toBe('resource_limit')
  })
})

test('a run can be given the catalogue, and a script can import it', async () => {
  const runtime = createRuntime({ tools: stdTools() })
  const source = `
import { calculator } from "host/tools"
import { std_tools } from "std/catalogue"
import { tool_call } from "std/tools"
let own = std_tools(["calculator"])
return [calculator({input: "6 * 7"}).result, tool_call("calculator", {input: "6 * 8"}, {registry: own}).result]
`
  expect(await runtime.run(source)).toEqual([42, 48])
})

/** An archive of one entry, made by hand: ours refuse to pack such a path. */
function makeTar(path: string, content: string): Uint8Array {
  const bytes = new Uint8Array(2048)
  const put = (at: number, text: string): void => bytes.set(new TextEncoder().encode(text), at)
  put(0, path)
  put(100, '0000644\0')
  put(124, `${content.length.toString(8).padStart(11, '0')}\0`)
  put(136, '00000000000\0')
  put(148, '        ')
  put(156, '0')
  put(257, 'ustar\x0000')
  const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  put(512, content)
  return bytes
}

describe('programs of process_executor', () => {
  const call = (executable: string, options: Parameters<typeof stdTools>[0]) =>
    createRegistry(stdTools({ providers: makeWorld(), grants: ['*'], ...options })).call('process_executor', { executable })

  test('none without a list', async () => {
    await expect(call('true', {})).rejects.toMatchObject({ code: 'policy_violation' })
  })

  test('those of the list, and of the grants beside it', async () => {
    expect(await call('git', { programs: ['git', 'ls'] })).toMatchObject({ result: { exit_code: 0 } })
    for (const options of [
      { programs: ['git'] },
      { programs: ['git', 'sh'], toolGrants: { 'process.exec': { program: ['git'] } } },
    ])
      await expect(call('sh', options)).rejects.toMatchObject({ code: 'policy_violation' })
  })
})
