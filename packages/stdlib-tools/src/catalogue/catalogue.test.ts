// Every tool of the catalogue, from the host's side: its examples give what they say, and what it declares about its effects is
// true, because without that power it is refused. Scripts use the same tools in conformance/tests/catalogue.

import { describe, expect, test } from 'vitest'
import { compileSchema } from '../tools/schema.js'
import type { JsonSchema } from '../tools/schema.js'
import type { ProviderSource } from '../providers/provider.js'
import { VirtualClock } from '../clock.js'
import { seededRandom } from '../providers/basics.js'
import { MemoryFs, memoryProcess, scriptedHttp } from '../providers/memory.js'
import { answered } from '../providers/provider.js'
import { createRuntime } from '../runtime.js'
import { ToolError } from '../tools/errors.js'
import { createRegistry } from '../tools/registry.js'
import type { StandardResponse } from '../tools/response.js'
import { stdTools } from './index.js'

const world = (): ProviderSource[] => [
  new MemoryFs({ 'notes.txt': 'tea' }),
  {
    ...memoryProcess({ cwd: '/' }),
    perform: (effect, call) =>
      effect.kind === 'process.exec'
        ? answered({ status: 0, stdout: 'ran', stderr: '', signal: null, timedOut: false, pid: 1 })
        : memoryProcess({ cwd: '/' }).perform(effect, call),
  },
  scriptedHttp(({ url, body }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(url.endsWith('graphql') ? { data: { me: { name: 'Ada' } } } : { got: body }),
  })),
]
const made = (grants: readonly '*'[]) =>
  createRegistry(stdTools({ providers: world(), grants, clock: new VirtualClock(1_700_000_000_000), random: seededRandom(1) }))
const registry = made(['*'])
const powerless = createRegistry(stdTools())

test('the catalogue lists itself', () => {
  expect(registry.size).toBeGreaterThanOrEqual(26)
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
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
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
    ['direct tools throw', 'json.get', { json: {}, path: 'a.b' }, 'not_found'],
    ['a missing file', 'file_operations', { operation: 'read', path: 'none.txt' }, 'execution_failed'],
  ])('%s', async (_, name, args, expected) => {
    const outcome = await codeOf(registry.call(name, args as { [key: string]: unknown }))
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

  test('an archive cannot leave its folder', async () => {
    const tar = new MemoryFs({ 'evil.tar': tarOf('../evil.txt', 'x') })
    const tools = createRegistry(stdTools({ providers: [tar], grants: ['fs'], only: ['archive_handler'] }))
    const call = tools.call('archive_handler', { operation: 'extract', path: 'evil.tar', format: 'tar', target_path: 'out' })
    expect(await codeOf(call)).not.toContain('"success":true')
    expect(tar.files().filter((path) => path.endsWith('evil.txt'))).toEqual([])
  })

  test('a call that takes too long', async () => {
    const tools = createRegistry(stdTools({ only: ['text_manipulator'], limits: { fuel: 1000 } }))
    const long = { operation: 'word_wrap', input: 'word '.repeat(5000) }
    expect(await codeOf(tools.call('text_manipulator', long))).toBe('resource_limit')
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
function tarOf(path: string, content: string): Uint8Array {
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
