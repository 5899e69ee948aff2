// What a host leaves to imported modules, and what a file leaves to those that it imports. The ways in which a
// module may come by a call are in conformance/tests/grants/imports_*; here is what needs a host.

import { deserialize, serialize } from '@bridle/compiler'
import { linkProgram } from '@bridle/vm'
import { describe, expect, test } from 'vitest'
import { CompileError, GrantError, createRuntime, defineTool, memoryModules, pending } from '../../index.js'
import type { CompileSettings, Tool } from '../../index.js'

const PKG = `
import { tool_call } from "std/tools"
pub fn get(url) { return http_get(url).body }
pub fn apply(f, args) { return f(...args) }
pub fn by_name(name, args) { return tool_call(name, args) }
pub fn later(f, args) { return await(spawn { f(...args) }) }
`

const ran: string[] = []
const makeTool = (name: string, effects?: readonly string[]): Tool =>
  defineTool({
    name,
    input: { type: 'object', properties: { q: { type: 'string' } } },
    ...(effects === undefined ? {} : { effects, sideEffect: effects.length === 0 ? 'none' : 'network' }),
    execute: () => {
      ran.push(name)
      return name
    },
  })

const runtime = createRuntime({
  tools: [makeTool('search', ['http']), makeTool('local', []), makeTool('mystery')],
  resolve: memoryModules({
    'pkg.harn': PKG,
    'ring_a.harn': 'import { b } from "ring_b"\n@grant_import("ring_b", fs: read_only)\npub fn a() { return 1 }',
    'ring_b.harn': 'import { a } from "ring_a"\n@grant_import("ring_a", env: full)\npub fn b() { return 2 }',
  }),
})

/** `attempt(f)` gives the value or the error's code and message. */
const ATTEMPT =
  'fn attempt(f) { return try { f() } catch (e) { "${e.code}: ${e.message}" } }\nhttp_mock("GET", "*", {body: "page"})\n'

const run = async (source: string, settings: CompileSettings = {}): Promise<unknown> => runtime.run(ATTEMPT + source, settings)

const listCodes = (source: string, settings: CompileSettings): readonly string[] => {
  try {
    return runtime.compile(source, settings).warnings.map(({ code }) => code)
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause
    return cause.diagnostics.map(({ code, message }) => `${code} ${message}`)
  }
}

describe('what a host leaves to an import', () => {
  test('is compared with what the module can reach, before anything runs', () => {
    const imports = { pkg: { allowEffects: ['fs.read'] } }
    expect(listCodes('import { get } from "pkg"\nget("u")', { imports })).toEqual([
      `G009 'get' of "pkg" can reach effect 'http', which its import does not allow (call to 'http_get')`,
    ])
    expect(listCodes('import { apply } from "pkg"\napply(len, ["u"])', { imports })).toEqual([])
    expect(listCodes('import { get } from "pkg"\nget("u")', { imports: { pkg: { allowEffects: ['http'] } } })).toEqual([])
  })

  test.each<[string, CompileSettings['imports'], string, unknown]>([
    [
      'hosts',
      { pkg: { grants: { http: { domain: 'a.test' } } } },
      'get("https://b.test/")',
      /^egress_blocked: .*does not allow 'https:\/\/b.test\/'$/,
    ],
    ['hosts that are allowed', { pkg: { grants: { http: { domain: 'a.test' } } } }, 'get("https://a.test/")', 'page'],
    [
      'by the key of the module',
      { 'pkg.harn': { grants: { http: { domain: 'a.test' } } } },
      'get("https://b.test/")',
      /^egress_blocked/,
    ],
    [
      'effects',
      { pkg: { allowEffects: [] } },
      'apply(http_get, ["https://a.test/"])',
      /^policy_violation: .*does not allow http$/,
    ],
    ['effects in a task', { pkg: { allowEffects: [] } }, 'later(http_get, ["https://a.test/"])', /^policy_violation/],
    [
      'tools by their effects',
      { pkg: { allowEffects: ['fs'] } },
      'by_name("search", {q: "x"})',
      /^policy_violation: policy violation for 'search': the import of "pkg" does not allow http$/,
    ],
    ['tools that say nothing', { pkg: { allowEffects: ['fs'] } }, 'by_name("mystery", {q: "x"})', /does not allow external$/],
    ['tools without effects', { pkg: { allowEffects: ['fs'] } }, 'by_name("local", {q: "x"})', 'local'],
    ['budgets of its own', { pkg: { grants: { search: { maxCalls: 0 } } } }, 'by_name("search", {q: "x"})', /^budget_exhausted/],
  ])('%s', async (_name, imports, call, expected) => {
    ran.length = 0
    const source = `import { get, apply, later, by_name } from "pkg"\nreturn attempt({ -> ${call} })`
    const found = await run(source, { imports: imports!, effects: 'off' })
    if (expected instanceof RegExp) {
      expect(found).toMatch(expected)
      expect(ran).toEqual([])
    } else expect(found).toBe(expected)
  })

  test.each<[string, CompileSettings['imports'], readonly string[]]>([
    [
      'http_get("https://b.test/")',
      { lit: { grants: { http: { domain: 'a.test' } } } },
      [`G006 policy violation for 'http.get': domain 'a.test' does not allow 'https://b.test/' (in 'f' of "lit")`],
    ],
    ['http_get("https://a.test/")', { lit: { grants: { http: { domain: 'a.test' } } } }, []],
    ['http_get("https://${env("HOST")}/")', { lit: { grants: { http: { domain: 'a.test' } } } }, []],
    ['http_post("https://b.test/", "")', { lit: { grants: { 'http.get': { domain: 'a.test' } } } }, []],
    [
      'g()',
      { lit: { grants: { 'http.*': { domain: 'a.test' } } } },
      [`G006 policy violation for 'http.put': domain 'a.test' does not allow 'https://c.test/' (in 'f' of "lit")`],
    ],
    [
      'exec("rm", "x")',
      { lit: { grants: { process: { program: ['git', 'ls'] } } } },
      [
        `G006 policy violation for 'process.exec': argument 'program' value "rm" violates required "git" or "ls" (in 'f' of "lit")`,
      ],
    ],
    ['exec("git", "log")', { lit: { grants: { process: { program: ['git', 'ls'] } } } }, []],
  ])('literal arguments are judged before the run: %s', (body, imports, expected) => {
    const text = `pub fn f() { return ${body} }\nfn g() { return { -> http_put("https://c.test/", "") } }`
    const host = createRuntime({ resolve: memoryModules({ 'lit.harn': text }) })
    let codes: readonly string[] = []
    try {
      host.compile('import { f } from "lit"\nf()', { imports: imports! })
    } catch (cause) {
      codes = (cause as CompileError).diagnostics.map(({ code, message }) => `${code} ${message}`)
    }
    expect(codes).toEqual(expected)
  })

  test('a misspelt effect is no ceiling', () => {
    expect(() => runtime.compile('import "pkg"', { imports: { pkg: { allowEffects: ['htpp'] } } })).toThrow(GrantError)
  })

  test('a handler works for the module that calls its tool', async () => {
    const source = `import { by_name } from "pkg"
import { tool_call } from "std/tools"
let tools = tool_define(tool_registry(), "look", "Looks", {parameters: {url: "string"}, handler: { args -> http_get(args.url).body }})
tool_bind(tools)
let url = {url: "https://a.test/"}
return [tool_call("look", url), attempt({ -> by_name("look", url) }), tool_call("look", url)]`
    expect(await run(source, { imports: { pkg: { allowEffects: ['fs'] } }, effects: 'off' })).toEqual([
      'page',
      `policy_violation: policy violation for 'http.get': the import of "pkg" does not allow http`,
      'page',
    ])
  })
})

test('ceilings are in a snapshot, with and without the sources', async () => {
  const wait = defineTool({ name: 'wait', input: { type: 'object' }, sideEffect: 'none', execute: () => pending('token') })
  const host = createRuntime({ tools: [wait], resolve: memoryModules({ 'pkg.harn': PKG }) })
  const source = `import { apply, by_name } from "pkg"
by_name("wait", {})
return try { apply(http_get, ["https://a.test/"]) } catch (e) { e.message }`
  // `{type: 'object'}` without properties is an object schema, not a parameter that is called `type`.
  const module = host.compile(source, { imports: { pkg: { allowEffects: ['fs'] } } })
  let waits: () => void = () => {}
  const waiting = new Promise<void>((done) => (waits = done))
  const stopped = host.start(module, { onWaiting: () => waits() })
  await waiting
  const bytes = await stopped.snapshot()
  const bare = await stopped.snapshot({ sources: 'omit' })
  stopped.cancel()
  await stopped.result
  const onWaiting = (): void => void setImmediate(() => host.completeTool('token', { ok: 1 }))
  for (const resume of [() => host.resume(bytes, { onWaiting }), () => host.resume(bare, { module, onWaiting })]) {
    const again = resume()
    expect(await again.result).toMatchObject({
      status: 'done',
      value: `policy violation for 'http.get': the import of "pkg" does not allow http`,
    })
  }
  expect(() => host.resume(bare, { module: host.compile(source) })).toThrow(/has changed/)
})

test('modules that narrow each other in a ring come to an end', async () => {
  const source =
    'import { a } from "ring_a"\nimport { b } from "ring_b"\n@grant_import("ring_a", time: none)\nfn f() { return a() + b() }\nreturn f()'
  expect(await run(source)).toBe(3)
})

test('ceilings survive the bytes of a compiled program, and damage to them is refused', () => {
  const { program } = runtime.compile('import { apply } from "pkg"\nreturn apply(len, ["x"])', {
    imports: { pkg: { allowEffects: ['fs'] } },
  })
  const chunks = { main: program.main.key, modules: [...program.modules.values()].map(({ chunk }) => chunk) }
  const again = deserialize(serialize(chunks))
  expect(again).toEqual(chunks)
  expect(linkProgram(again, runtime.registry).isNarrowed).toBe(true)
  const text = new TextDecoder('latin1').decode(serialize(chunks))
  const broken = Uint8Array.from(text.replace('"effects":[', '"effects":7['), (char) => char.charCodeAt(0))
  expect(() => deserialize(broken)).toThrow(/ceilings/)
})
