// A run with a security level makes no call that needs a higher one, by any name or route, and has no effect that does.

import { describe, expect, test } from 'vitest'
import { GrantError } from './grant-error.js'
import { MemoryFs } from '../../host/providers/memory.js'
import { answered } from '../executors/provider.js'
import type { Provider } from '../executors/provider.js'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions, StartOptions } from '../../host/runtime-options.js'
import { defineTool } from '../host-tools/define.js'

const made: string[] = []
const makeTool = (name: string, more: object) =>
  defineTool({ name, aliases: [`${name}_too`], execute: () => (made.push(name), 'done'), ...more })

const PROCESS: Provider = {
  kinds: ['process.exec'],
  perform: () => (made.push('process.exec'), answered({ status: 0, stdout: '', stderr: '' })),
}

function makeOptions(): RuntimeOptions {
  return {
    tools: [
      makeTool('shop.look', { sideEffect: 'none' }),
      makeTool('shop.order', { sideEffect: 'network' }),
      makeTool('shop.burn', { sideEffect: 'none', level: 'privileged' }),
      defineTool({ name: 'shop.relay', sideEffect: 'none', execute: (_args, { tools }) => tools.call('shop.burn') }),
    ],
    capabilities: { depot: { open: () => (made.push('depot.open'), true) } },
    providers: [PROCESS, new MemoryFs({ '/note': 'tea' })],
    grants: ['*'],
    enforceManifest: false,
  }
}

async function run(script: string, runtimeOptions: RuntimeOptions, start: StartOptions = {}): Promise<string> {
  made.length = 0
  const runtime = createRuntime({ ...makeOptions(), ...runtimeOptions })
  const source = `import { tool_call } from "std/tools"\n${script}`
  const result = await runtime.start(runtime.compile(source), start).result
  return result.status === 'done' ? result.output.trim() : `! ${JSON.stringify(result)}`
}

const attempt = (call: string): string => `println(try { ${call} } catch (e) { e.code ?? e })`

const BURNS = [
  'tool_call("shop.burn", {})',
  'tool_call("shop.burn_too", {})',
  'tool_call({name: "x", executor: "host_bridge", host_capability: "shop.burn", effects: [], annotations: {security_level: "safe"}}, {})',
  'tool_call({name: "shop.look", executor: "host_bridge", host_capability: "shop.burn_too", security_level: "safe"}, {})',
  'host_call("shop.burn", {})',
  'host_tool_call("shop.burn", {})',
  'tool_call("shop.relay", {})',
  'tool_call({name: "h", parameters: {}, handler: { a -> host_call("shop.burn", {}) }}, {})',
]

describe('a tool above the level of the run', () => {
  for (const call of BURNS) {
    test(`is refused: ${call}`, async () => {
      expect(await run(attempt(call), {})).not.toBe('security_violation')
      expect(made).toEqual(['shop.burn'])
      await run(attempt(call), { securityLevel: 'restricted' })
      expect(made).toEqual([])
      await run(attempt(call), {}, { securityLevel: 'safe' })
      expect(made).toEqual([])
    })
  }

  test('is refused with a code that says why', async () => {
    const script = 'try { tool_call("shop.order", {}) } catch (e) { println([e.code, e.details]) }'
    expect(await run(script, { securityLevel: 'safe' })).toBe(
      '[security_violation, {granted: safe, required: restricted, violation: level}]',
    )
  })

  test('is an operation of which the host says nothing', async () => {
    expect(await run(attempt('host_call("depot.open", {})'), { securityLevel: 'restricted' })).toContain('security_violation')
    expect(made).toEqual([])
    expect(await run(attempt('host_call("depot.open", {})'), { securityLevel: 'privileged' })).toBe('true')
  })

  test('is one that says so of itself', async () => {
    const call = (facts: string): string =>
      attempt(`tool_call({name: "t", parameters: {}, handler: { a -> "ran" }, ${facts}}, {})`)
    const level: RuntimeOptions = { securityLevel: 'restricted' }
    expect(await run(call('annotations: {security_level: "restricted"}'), level)).toBe('ran')
    expect(await run(call('annotations: {security_level: "privileged"}'), level)).toBe('security_violation')
    expect(await run(call('annotations: {security_level: "harmless"}'), level)).toBe('security_violation')
    expect(await run(call('annotations: {side_effect_level: "process_exec"}'), level)).toBe('security_violation')
  })
})

test('what is within the level is carried out', async () => {
  expect(await run(attempt('tool_call("shop.look", {})'), { securityLevel: 'safe' })).toBe('done')
  expect(await run(attempt('tool_call("shop.order", {})'), { securityLevel: 'restricted' })).toBe('done')
  expect(await run(attempt('tool_call("shop.burn", {})'), { securityLevel: 'privileged' })).toBe('done')
  expect(await run('println(read_file("/note"))', { securityLevel: 'restricted' })).toBe('tea')
})

describe('effects of builtins', () => {
  for (const [level, call] of [
    ['restricted', 'exec("echo", "x")'],
    ['restricted', 'shell("echo x")'],
    ['restricted', 'tool_call("process.exec", {program: "echo", args: []})'],
    ['safe', 'read_file("/note")'],
    ['safe', 'write_file("/note", "x")'],
    ['safe', 'tool_call("fs.read", {path: "/note"})'],
    ['safe', 'http_get("https://example.com/")'],
  ] as const) {
    test(`${call} is refused at ${level}`, async () => {
      expect(await run(`try { ${call}\nprintln("made") } catch (e) { println(e) }`, { securityLevel: level })).toContain(
        'security level',
      )
      expect(made).toEqual([])
    })
  }
})

test('a start only lowers the level', async () => {
  await run(attempt('tool_call("shop.burn", {})'), { securityLevel: 'safe' }, { securityLevel: 'privileged' })
  expect(made).toEqual([])
})

test('a level that there is not is refused', () => {
  expect(() => createRuntime({ securityLevel: 'low' as never })).toThrow(GrantError)
  const runtime = createRuntime()
  expect(() => runtime.start(runtime.compile('1'), { securityLevel: 'low' as never })).toThrow(GrantError)
})

test('a snapshot keeps the level', async () => {
  const runtime = createRuntime(makeOptions())
  const source = `import { tool_call } from "std/tools"\nsleep(5ms)\n${attempt('tool_call("shop.order", {})')}`
  const run = runtime.start(runtime.compile(source), { securityLevel: 'safe' })
  const bytes = await run.snapshot()
  expect((await run.result).output).toBe('security_violation\n')
  expect((await runtime.resume(bytes).result).output).toBe('security_violation\n')
  expect((await runtime.resume(bytes, { securityLevel: 'privileged' }).result).output).toBe('security_violation\n')
  expect((await runtime.resume(bytes, { widen: true }).result).output).toBe('done\n')
})

describe('what the manifest shows is refused before the first instruction', () => {
  const HELD: RuntimeOptions = { enforceManifest: true }
  const startScript = (script: string, level: 'safe' | 'restricted', at: 'runtime' | 'start'): (() => unknown) => {
    made.length = 0
    const set = { securityLevel: level }
    const runtime = createRuntime({ ...makeOptions(), ...HELD, ...(at === 'runtime' ? set : {}) })
    const module = runtime.compile(`import { tool_call } from "std/tools"\nprintln("begun")\n${script}`)
    return () => runtime.start(module, at === 'start' ? set : {})
  }

  for (const [level, script, what] of [
    ['restricted', 'tool_call("shop.burn", {})', 'shop.burn'],
    ['restricted', 'tool_call("shop.burn_too", {})', 'shop.burn_too'],
    ['safe', 'tool_call("shop.order", {})', 'shop.order'],
    ['restricted', 'host_call("shop.burn", {})', 'shop.burn'],
    ['restricted', 'host_call("depot.open", {})', 'depot.open'],
    ['restricted', 'host_tool_call("shop.burn", {})', 'shop.burn'],
    ['restricted', 'import { burn } from "host/shop"\ntry { burn({}) } catch (e) {}', 'shop.burn'],
    [
      'restricted',
      'let r = tool_define(tool_registry(), "look", "", {executor: "host_bridge", host_capability: "shop.burn"})',
      'shop.burn',
    ],
    ['safe', 'tool_call("fs.read", {path: "/note"})', 'fs.read'],
    ['restricted', 'tool_call("process.exec", {program: "x"})', 'process.exec'],
    ['safe', 'try { read_file("/note") } catch (e) {}', 'fs.read'],
    ['restricted', 'fn f() { exec("echo") }\nif false { f() }', 'process.exec'],
    ['safe', 'mcp_call(mcp_ensure_active("shop"), "order", {})', 'mcp.connect'],
    [
      'safe',
      'let r = tool_define(tool_registry(), "look", "", {executor: "mcp_server", mcp_server: "shop", mcp_tool: "order"})',
      'mcp:shop/order',
    ],
  ] as const) {
    for (const at of ['runtime', 'start'] as const)
      test(`${level}, set with the ${at}: ${script}`, () => {
        const start = startScript(script, level, at)
        expect(start).toThrow(
          expect.objectContaining({ code: 'security_violation', message: expect.stringContaining(what) as string }),
        )
        expect(made).toEqual([])
      })
  }

  test.each([
    ['safe', 'tool_call("shop.look", {})'],
    ['restricted', 'tool_call("shop.order", {})'],
    ['restricted', 'println(read_file("/note"))'],
    ['safe', 'println(1)\nlog_info("x")'],
    // Known to the run only: the call is refused, not the program.
    ['safe', 'let n = "shop." + "look"\ntool_call(n, {})'],
    ['restricted', 'let n = "shop." + "burn"\ntry { tool_call(n, {}) } catch (e) {}'],
    // What the host does not have it is not asked for.
    ['safe', 'try { host_call("nobody.home", {}) } catch (e) {}'],
  ] as const)('and what is within the level runs: %s, %s', async (level, script) => {
    const run = startScript(script, level, 'start')() as ReturnType<ReturnType<typeof createRuntime>['start']>
    expect((await run.result).status).toBe('done')
    expect(made).not.toContain('shop.burn')
  })
})
