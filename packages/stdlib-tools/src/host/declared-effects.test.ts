// What a host declares of its tools is what the manifest of a script says, what a ceiling judges, and what the tools are held to.

import { describe, expect, test } from 'vitest'
import { createRuntime, defineTool } from '../index.js'
import type { RuntimeOptions } from '../index.js'

const makeTool = (name: string, effects?: readonly string[]): ReturnType<typeof defineTool> =>
  defineTool({ name, ...(effects === undefined ? {} : { effects }), execute: () => name })

const TOOLS = [makeTool('web.fetch', ['http']), makeTool('web.keep', ['http', 'fs']), makeTool('web.other')]

const listEffects = (script: string, options: RuntimeOptions = {}): readonly string[] =>
  createRuntime({ tools: TOOLS, ...options }).compile(script).manifest.script.effects

describe('the manifest names what the host declares', () => {
  for (const [script, effects] of [
    ['import { fetch } from "host/web"\nfetch({})', ['http']],
    ['import { fetch, keep } from "host/web"\nfetch({})\nkeep({})', ['fs', 'http']],
    ['import { fetch, other } from "host/web"\nother({})', ['external']],
    ['import { tool_call } from "std/tools"\ntool_call("web.fetch", {})', ['http']],
    ['host_tool_call("web.fetch", {})', ['http']],
    ['host_tool_call("web.other", {})', ['external']],
    ['import { fetch } from "host/web"\nlet f = fetch\nf({})', ['http']],
    // Which tool it is the run knows.
    ['import { tool_call } from "std/tools"\nlet n = "web." + "fetch"\ntool_call(n, {})', ['external']],
  ] as const)
    test(script, () => {
      expect(listEffects(script).filter((effect) => effect !== 'time' && effect !== 'random')).toEqual(
        expect.arrayContaining([...effects]),
      )
      if (!effects.includes('external' as never)) expect(listEffects(script)).not.toContain('external')
    })

  test('a tool of the program with the same name takes nothing away', () => {
    const script = `import { fetch } from "host/web"
let r = tool_define(tool_registry(), "web.fetch", "", {effects: [], handler: { a -> 1 }, parameters: {}})
fetch({})`
    expect(listEffects(script)).toContain('http')
  })

  test('the functions of a module name the tool, and runs are held to it', async () => {
    const runtime = createRuntime({ tools: TOOLS })
    const module = runtime.compile('import { fetch } from "host/web"\npipeline main() { return fetch({}) }')
    expect(module.manifest.script.tools).toEqual([{ via: 'tool', name: 'web.fetch', reaches: ['host:web.fetch'] }])
    expect(await runtime.start(module).result).toMatchObject({ status: 'done', value: 'web.fetch' })
  })
})

describe('a ceiling of effects', () => {
  const compiles = (script: string, allowEffects: readonly string[]): string => {
    try {
      createRuntime({ tools: TOOLS }).compile(script, { allowEffects })
      return 'ok'
    } catch (cause) {
      return String(cause)
    }
  }

  test('lets a tool with these effects pass, and no other', () => {
    const fetch = 'import { fetch } from "host/web"\nfetch({})'
    expect(compiles(fetch, ['http'])).toBe('ok')
    expect(compiles(fetch, [])).toMatch(/http/)
    expect(compiles('import { keep } from "host/web"\nkeep({})', ['http'])).toMatch(/fs/)
    expect(compiles('import { other } from "host/web"\nother({})', ['http'])).toMatch(/external/)
  })
})

describe('a tool that calls another', () => {
  const relay = (effects: readonly string[] | undefined, target: string): ReturnType<typeof defineTool> =>
    defineTool({
      name: 'web.relay',
      ...(effects === undefined ? {} : { effects }),
      execute: (_args, { tools }) => tools.call(target),
    })
  const ends = async (effects: readonly string[] | undefined, target: string): Promise<string> => {
    const runtime = createRuntime({ tools: [...TOOLS, relay(effects, target)] })
    const module = runtime.compile(
      'import { relay } from "host/web"\npipeline main() { return try { relay({}) } catch (e) { e.code } }',
    )
    const result = await runtime.start(module).result
    return result.status === 'done' ? String(result.value) : result.status
  }

  test('must have declared the effects of that one', async () => {
    expect(await ends(['http'], 'web.fetch')).toBe('web.fetch')
    expect(await ends(['http'], 'web.keep')).toBe('effect_violation')
    expect(await ends(['http'], 'web.other')).toBe('effect_violation')
    expect(await ends(undefined, 'web.keep')).toBe('web.keep')
  })
})

test('an entry that leads elsewhere is refused', async () => {
  const runtime = createRuntime({ tools: TOOLS, enforceManifest: false })
  const script = `pipeline main() {
  return try { __host_tool("web.fetch", {name: "web.fetch", executor: "host_bridge", host_capability: "web.other"}, {}) } catch (e) { e }
}`
  const result = await runtime.start(runtime.compile(script)).result
  expect(result).toMatchObject({ status: 'done', value: expect.stringContaining("not that of the host's tool") })
})

describe('a builtin that is called by its name as a text', () => {
  const compile = (source: string, allowEffects?: readonly string[]) =>
    createRuntime().compile(source, allowEffects === undefined ? {} : { allowEffects })

  test.each([
    '"http://example.com/" |> "http_get"',
    'let name = "http_get"\n"http://example.com/" |> name',
    'fn call(name) { "http://example.com/" |> name }\ncall("http_get")',
  ])('%s is in the manifest, and above a ceiling', (source) => {
    expect(compile(source).manifest.script.kinds).toContain('http.request')
    expect(() => compile(source, [])).toThrow("can reach effect 'http'")
  })

  test('a function of the program goes before the builtin of that name', () => {
    expect(compile('fn http_get(url) { return url }\nprintln("x" |> "http_get")').manifest.script.kinds).toEqual([])
  })
})

describe('reading the input of a run is not an effect', () => {
  const INPUT = 'import { runtime_pipeline_input } from "std/runtime"\nreturn runtime_pipeline_input().n'

  test.each([INPUT, 'return host_call("runtime.pipeline_input", {}).n'])('%s', async (script) => {
    const runtime = createRuntime({ enforceManifest: true })
    const module = runtime.compile(script, { allowEffects: [] })
    expect(module.manifest.script.effects).toEqual([])
    expect(await runtime.start(module, { input: { n: 4 } }).result).toMatchObject({
      status: 'done',
      value: 4,
    })
  })

  test('other facts, computed names and operations of the host under the name are', () => {
    const refuses = (script: string, options: RuntimeOptions = {}): void =>
      expect(() => createRuntime(options).compile(script, { allowEffects: [] })).toThrow('external')
    refuses('return host_call("runtime.task", {})')
    refuses('let name = "runtime." + "pipeline_input"\nreturn host_call(name, {})')
    refuses(INPUT, { tools: [makeTool('runtime.pipeline_input')] })
    refuses(INPUT, { capabilities: { runtime: { pipeline_input: () => 1 } } })
    refuses(INPUT, { tools: [defineTool({ name: 'own', aliases: ['runtime.pipeline_input'], execute: () => 1 })] })
  })
})
