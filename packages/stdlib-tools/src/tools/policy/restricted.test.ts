// Where a host lists the builtins that may be called, the hidden ones of the library are no way around the list.

import { expect, test } from 'vitest'
import type { EffectKind } from '@bridle/vm'
import { EFFECTS } from '../../library/effects/effects.js'
import { createRuntime } from '../../host/runtime.js'
import { answered } from '../executors/provider.js'
import { SAME_POWER } from './builtins.js'

type Lists = { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

const OWN = new Set(['clock', 'random', 'terminal', 'tool', 'trace', 'data', 'compress', 'host'])

/** What left the machine, and what the script said. */
async function run(source: string, builtins: Lists): Promise<{ readonly asked: readonly string[]; readonly output: string }> {
  const asked: string[] = []
  const kinds = (Object.keys(EFFECTS) as EffectKind[]).filter((kind) => !OWN.has(kind.slice(0, kind.indexOf('.'))))
  const runtime = createRuntime({
    builtins,
    grants: ['*'],
    enforceManifest: false,
    providers: [{ kinds, perform: ({ kind }) => (asked.push(kind), answered(null)) }],
  })
  const result = await runtime.start(runtime.compile(source, { strict: false }), { signal: AbortSignal.timeout(5_000) }).result
  return { asked, output: result.status === 'failed' ? `${result.output}${result.error.message}` : result.output }
}

const HARMLESS = ['tool.call', 'mcp.serve', 'mcp.client']
const hidden = [...createRuntime().registry.builtins].filter(([name]) => name.startsWith('__'))
const reaching = hidden.filter(
  ([, { effects }]) => effects !== 'pure' && effects.some((kind) => kind.includes('.') && !HARMLESS.includes(kind)),
)

const ARGS = ['"f.txt"', '"http://example.com/"', '{command: "sh", provider: "openai"}', '{}', '{}']

test.each(reaching.map(([name, { arity }]) => [name, arity] as const))(
  '%s is not called where println is listed',
  async (name, arity) => {
    const call = `${name}(${ARGS.slice(0, arity).join(', ')})`
    const { asked, output } = await run(`try { ${call} } catch (e) { println(e) }\n`, { allow: ['println'] })
    expect({ asked, output }).toEqual({ asked: [], output: expect.stringContaining(`Tool '${name}' is not permitted.`) })
  },
)

test('every row of equal builtins names builtins that there are', () => {
  const { builtins } = createRuntime().registry
  for (const [name, equals] of SAME_POWER) expect([name, ...equals].filter((each) => !builtins.has(each))).toEqual([])
})

test('a hidden builtin goes with its equals', async () => {
  const get = 'import "std/tools"\ntry { tool_call("http.get", {url: "http://example.com/"}) } catch (e) { println(e.message) }\n'
  expect((await run(get, { allow: ['println', 'http_request'] })).asked).toContain('http.request')
  expect(await run(get, { allow: ['println'] })).toEqual({
    asked: [],
    output: expect.stringContaining("Tool '__http_tool' is not permitted."),
  })
  const loop = 'try { __agent_loop("x", "", {provider: "openai"}) } catch (e) { println(e) }\n'
  expect((await run(loop, { deny: ['agent_loop', 'sub_agent_run', 'spawn_agent'] })).asked).toEqual([])
  expect(
    (
      await run('llm_mock({text: "a"})\nprintln(agent_loop("x", nil, {provider: "mock"}).status)\n', {
        allow: ['println', 'llm_mock', 'agent_loop'],
      })
    ).output,
  ).toBe('done\n')
})
