// What a program can reach, and that its runs are limited to it.

import type { PlainRecord } from '@bridle/vm'
import { effectOfData } from '../test-support/effect-of-data.js'
import { describe, expect, test } from 'vitest'
import { CompileError, createRuntime, EffectCeilingError } from '../index.js'
import { withManifestGuard } from './manifest-guard.js'
import { defineTool } from '../tools/host-tools/define.js'
import { answered } from '../tools/executors/provider.js'
import type { EffectManifest } from '@bridle/compiler'

const runtime = createRuntime({})

function makeManifest(source: string, files: { readonly [path: string]: string } = {}): EffectManifest {
  const host = createRuntime({
    resolve: (path) => {
      const text = files[path]
      return text === undefined ? null : { kind: 'source', key: path, text }
    },
  })
  return host.compile(source, { effects: 'off' }).manifest
}

function listEffects(source: string, name: string): readonly string[] {
  const found = makeManifest(source).functions.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no function ${name}`)
  return [...found.effects, ...(found.unknown ? ['unknown'] : [])]
}

function listFindings(source: string, effects: 'strict' | 'declared-only' = 'declared-only'): readonly string[] {
  try {
    return runtime.compile(source, { effects }).warnings.map(({ code, message }) => `${code} ${message}`)
  } catch (cause) {
    const { diagnostics } = cause as { diagnostics: readonly { code: string; message: string }[] }
    return diagnostics.map(({ code, message }) => `${code} ${message}`)
  }
}

describe('what a function can reach', () => {
  test.each([
    ['nothing', 'fn f(a) { return a + 1 }', []],
    ['a builtin', 'fn f() { return read_file("x") }', ['fs']],
    ['what it looks up to do so has no name of its own', 'fn f() { return http_get("u") }', ['http']],
    ['several', 'fn f() { write_file("x", uuid() + to_string(now_ms())) }', ['fs', 'random', 'time']],
    ['a program', 'fn f() { exec("ls") }', ['process']],
    ['through a call', 'fn f() { g() }\nfn g() { env("A") }', ['env']],
    ['through mutual recursion', 'fn f(n) { g(n) }\nfn g(n) { f(n)\nenv("A") }', ['env']],
    ['through recursion of itself', 'fn f(n) { if n > 0 { f(n - 1) } else { uuid() } }', ['random']],
    ['a method with a closure', 'fn f(xs) { return xs.map({ x -> read_file(x) }) }', ['fs']],
    ['a method with a named function', 'fn f(xs) { return xs.filter(g) }\nfn g(x) { return env(x) != nil }', ['env']],
    ['a method with a builtin', 'fn f(xs) { return xs.map(read_file) }', ['fs']],
    ['a builtin with a closure', 'fn f(xs) { return group_by(xs, { x -> read_file(x) }) }', ['fs']],
    ['a lazy sequence', 'fn f(xs) { return xs.iter().map({ x -> read_file(x) }).to_list() }', ['fs']],
    ['a higher-order function', 'fn f() { return twice({ x -> read_file(x) }) }\nfn twice(g) { g(1)\ng(2) }', ['fs']],
    ['two levels of them', 'fn f() { a({ x -> uuid() }) }\nfn a(g) { b(g) }\nfn b(h) { h(1) }', ['random']],
    ['a closure around a parameter', 'fn f() { a({ x -> uuid() }) }\nfn a(g) { [1].map({ x -> g(x) }) }', ['random']],
    ['a higher-order function alone', 'fn f(g) { g(1) }', []],
    ['a closure by name', 'fn f() { let g = { x -> uuid() }\ng(1) }', ['random']],
    ['a closure that is only made', 'fn f() { return { x -> uuid() } }', []],
    ['a pipe', 'fn f(x) { return x |> read_file }', ['fs']],
    ['a pipe into a closure', 'fn f(x) { return x |> { y -> uuid() } }', ['random']],
    ['an interpolated call', 'fn f() { return "${uuid()}" }', ['random']],
    ['a default value', 'fn f(x = uuid()) { return x }', ['random']],
    ['parallel', 'fn f() { parallel each [1] { x -> read_file("a") } }', ['async', 'fs']],
    ['spawn', 'fn f() { spawn { uuid() } }', ['async', 'random']],
    ['a deferred block', 'fn f() { defer { delete_file("x") } }', ['fs']],
    ['a catch block', 'fn f() { try { g() } catch (e) { eprintln(e) } }\nfn g() {}', ['emit']],
    ['a match arm', 'fn f(x) { match x { 1 -> { uuid() } _ -> { nil } } }', ['random']],
    ['a method of the script', 'struct S { a: int }\nimpl S { fn go(self) { uuid() } }\nfn f(s) { s.go() }', ['random']],
    ['a value that is not known', 'fn f(d) { return d.run(1) }', ['unknown']],
    ['a closure in a dict', 'fn f() { let d = {run: { x -> uuid() }}\nd.run(1) }', ['random', 'unknown']],
    ['a nested function', 'fn f() { fn g() { uuid() }\ng() }', ['random']],
    ['a closure of the module', 'let g = { x -> uuid() }\nfn f() { g(1) }', ['random']],
    ['a name bound further down', 'fn f() { g(1) }\nlet g = { x -> uuid() }', ['random']],
    ['a constructor', 'struct P { x: int }\nenum E { A(v: int) }\nfn f() { P({x: 1})\nE.A(1)\nOk(1) }', []],
    ['a model', 'fn f() { return llm_call("hi") }', ['llm']],
    ['a server', 'fn f(c) { return mcp_call(c, "search", {}) }', ['mcp']],
    ['a host operation', 'fn f() { return host_call("workspace.list", {}) }', ['external']],
  ])('%s', (_name, source, expected) => {
    expect(listEffects(source, 'f')).toEqual(expected)
  })
})

describe('tools', () => {
  const define = (config: string): string =>
    `import { tool_call } from "std/tools"\nfn f() { let r = tool_define(tool_registry(), "t", "T", ${config})\n` +
    'return tool_call("t", {}, {registry: r}) }'

  test.each([
    ['its effects key', '{parameters: {}, handler: { a -> uuid() }, effects: ["http", "LLM"]}', ['http', 'llm']],
    ['its side-effect level', '{parameters: {}, handler: { a -> 1 }, annotations: {side_effect_level: "network"}}', ['http']],
    ['its handler', '{parameters: {}, handler: { a -> read_file("x") }}', ['fs']],
    ['its server', '{parameters: {}, executor: "mcp_server", mcp_server: "s"}', ['mcp']],
    ['nothing', '{parameters: {}, executor: "host_bridge", host_capability: "a.b"}', ['external']],
  ])('have the effects of %s', (_name, config, expected) => {
    expect(listEffects(define(config), 'f')).toEqual(expected)
  })

  test('are named where a text says which', () => {
    const source =
      'import { tool_call, tool_try } from "std/tools"\nfn f() { tool_call("one")\nhost_tool_call("two", {})\nmcp_call(1, "three", {})\n' +
      'host_call("a.b", {}) }\nfn g(name) { tool_try(name) }\nfn h() { g("four") }\nfn any(x) { tool_call(x.name) }\n' +
      'tool own(q: string) -> string { uuid() }\nfn i() { tool_call(own, {q: "a"}) }'
    const tools = makeManifest(source).functions.map(({ name, tools }) => [name, tools.map(({ via, name }) => `${via}:${name}`)])
    expect(tools).toEqual([
      ['f', ['capability:a.b', 'host:two', 'mcp:three', 'tool:one']],
      ['g', []],
      ['h', ['tool:four']],
      ['any', ['tool:*']],
      ['own', []],
      ['i', ['tool:own']],
    ])
  })

  test('bound to an effect have that one', () => {
    const source = 'import { tool_call } from "std/tools"\n@bind_effect("http.get", "Fetch")\nfn f() { tool_call("Fetch", {}) }'
    expect(listEffects(source, 'f')).toEqual(['http'])
  })
})

describe('aliases of tools', () => {
  const extended = '// @bridle grants\nuse tool http.get as Fetch\nuse tool mcp "https://example.com" as Server\n'

  test('have the effect that is bound to them, else that of their grants, else what is known of the tool', () => {
    const call = 'fn f(u) { return Fetch(url: u) }'
    expect(listEffects(`${extended}bind effect http.get to Fetch\n${call}`, 'f')).toEqual(['http'])
    expect(listEffects(`${extended}grant Fetch effect "llm"\n${call}`, 'f')).toEqual(['llm'])
    expect(listEffects(`${extended}${call}`, 'f')).toEqual(['http']) // a standard tool
    expect(listEffects(`${extended}${call}`.replace('http.get', 'acme.get'), 'f')).toEqual(['external'])
  })

  test('are shown with their tool and their grants', () => {
    const source = `${extended}grant Fetch timeout_ms 5\nfn f(u) { grant Fetch timeout_ms 2\nreturn [u].map(Fetch) }\n@grant("fs.read", path: "/x")\nfn g() {}`
    const { functions, script } = makeManifest(source)
    expect(functions[0]).toMatchObject({ name: 'f', tools: [{ via: 'tool', name: 'http.get', alias: 'Fetch' }], unknown: false })
    expect(script.grants).toEqual([
      { tool: 'Fetch', constraints: { timeout_ms: 5 }, effects: null, within: null },
      { tool: 'fs.read', constraints: { path: '/x' }, effects: null, within: 'g' },
    ])
    expect(functions[1]).toMatchObject({ name: 'g', grants: [{ tool: 'fs.read' }] })
  })

  test('are contracts too', () => {
    expect(listFindings(`${extended}bind effect http to Fetch\n@effects() fn f(u) { return Fetch(url: u) }`)).toEqual([
      "E002 'f' calls tool Fetch, whose effect 'http' is not in the row of 'f'",
    ])
    expect(listFindings(`${extended}grant Fetch effect http\nfn f(u) { read_file(u)\nreturn Fetch(url: u) }`)).toEqual([
      "E003 'f' has effect 'fs', and no grant in scope allows it",
    ])
    expect(listFindings(`${extended}grant Fetch timeout_ms 5\nfn f(u) { read_file(u)\nreturn Fetch(url: u) }`)).toEqual([])
    expect(listFindings('@bind_effect(http, "Nobody") fn f() {}')).toEqual([
      "E004 `@bind_effect` names tool 'Nobody', which is not declared",
    ])
  })
})

describe('the whole script', () => {
  test('starts at its pipeline, and counts what may be called by others', () => {
    const source =
      'fn unused() { exec("ls") }\npipeline default(task) { let d = {later: { x -> uuid() }}\nkeep(d, { x -> env(x) }) }\n' +
      'fn keep(d, f) { return {f: f} }'
    expect(makeManifest(source).script).toMatchObject({
      effects: ['env', 'random'],
      kinds: ['process.info', 'random.bytes'],
      tools: [],
    })
  })

  test('counts what imported modules do', () => {
    const files = {
      'lib/a': 'import { deep } from "lib/b"\npub fn go(x) { return deep(x) }\nfn other() { exec("ls") }',
      'lib/b': 'fn deep(x) { return read_file(x) }\nlet at = env("A")',
    }
    expect(makeManifest('import { go } from "lib/a"\nprintln(go("x"))', files).script.effects).toEqual(['env', 'fs'])
  })

  test('without effects has none', () => {
    expect(makeManifest('fn f(x) { return x * 2 }\nprintln(f(1))').script).toEqual({
      effects: [],
      kinds: [],
      tools: [],
      grants: [],
    })
  })
})

describe('rows are contracts', () => {
  test.each([
    ['a row that is kept', '@effects(fs) fn f() { read_file("x") }', []],
    ['an empty row that is kept', '@effects() fn f(x) { return [x].map({ y -> y + 1 }) }', []],
    ['`pure` is nothing', '@effects(pure) fn f() { return 1 }', []],
    ['rows ignore case', '@effects(FS) fn f() { read_file("x") }', []],
    ['no row, no error', 'fn f() { exec("ls") }', []],
    [
      'UndeclaredEffect',
      '@effects(time) fn f() { read_file("x") }',
      ["E001 'f' has effect 'fs', which its row does not list (call to 'read_file')"],
    ],
    [
      'UndeclaredEffect through a function without a row',
      '@effects() fn f() { g() }\nfn g() { uuid() }',
      ["E001 'f' has effect 'random', which its row does not list (call to 'g')"],
    ],
    [
      'UndeclaredEffect through a higher-order builtin',
      '@effects() fn f(xs) { return xs.map({ x -> read_file(x) }) }',
      ["E001 'f' has effect 'fs', which its row does not list (call to 'map')"],
    ],
    [
      'UndeclaredEffect through recursion',
      '@effects() fn f(n) { if n > 0 { g(n) } }\nfn g(n) { f(n - 1)\nuuid() }',
      ["E001 'f' has effect 'random', which its row does not list (call to 'g')"],
    ],
    [
      'EffectContractViolation',
      '@effects() fn f() { g() }\n@effects(fs) fn g() { read_file("x") }',
      ["E002 'f' calls 'g', whose effect 'fs' is not in the row of 'f'"],
    ],
    [
      'EffectContractViolation of a tool',
      'import { tool_call } from "std/tools"\n@effects() fn f() { tool_call("t", {}) }',
      ["E002 'f' calls tool t, whose effect 'external' is not in the row of 'f'"],
    ],
    [
      'callers go by the row, also where the body does less',
      '@effects() fn f() { g() }\n@effects(fs) fn g() { return 1 }',
      ["E002 'f' calls 'g', whose effect 'fs' is not in the row of 'f'"],
    ],
    ['an unknown call under a row', '@effects() fn f(d) { d.go() }', ["E006 the row of 'f' cannot be checked: call to 'go'"]],
    ["a parameter is the caller's", '@effects() fn f(g) { g(1) }', []],
    [
      'MissingEffectGrant',
      'import { tool_call } from "std/tools"\n@grant("t", effect: http) fn f() { tool_call("t", {})\nread_file("x") }',
      [
        "E003 'f' has effect 'external', and no grant in scope allows it",
        "E003 'f' has effect 'fs', and no grant in scope allows it",
      ],
    ],
    [
      'a grant without an effect clause covers its own tool, where effects are counted',
      '@grant("http.get", domain: "a.test")\n@grant("t", effect: llm) fn f() { http_get("https://a.test/")\nread_file("x") }',
      ["E003 'f' has effect 'fs', and no grant in scope allows it"],
    ],
    [
      'a grant of everything covers everything',
      '@grant("*", timeout_ms: 5)\n@grant("t", effect: llm) fn f() { read_file("x") }',
      [],
    ],
    [
      'grants without effect clauses count no effects',
      'import { tool_call } from "std/tools"\n@grant("t") fn f() { tool_call("t", {})\nread_file("x") }',
      [],
    ],
    [
      'what needs no grant',
      'import { tool_call } from "std/tools"\n@grant("t", effect: external) fn f() { tool_call("t", {})\nuuid() }',
      [],
    ],
  ])('%s', (_name, source, expected) => {
    expect(listFindings(source)).toEqual(expected)
  })

  test('advice of strict checks', () => {
    expect(listFindings('@deterministic fn f() { uuid() }')).toEqual([])
    expect(listFindings('@deterministic fn f() { uuid() }', 'strict')).toEqual([
      "E005 'f' is declared deterministic, but has effect 'random' (call to 'uuid')",
    ])
    expect(listFindings('@deterministic fn f(x) { return x + 1 }', 'strict')).toEqual([])
    expect(listFindings('@effects(fs, time) fn f() { return now_ms() }', 'strict')).toEqual([
      "E007 'f' lists effect 'fs', which cannot occur",
    ])
  })
})

describe('a ceiling', () => {
  test('refuses a program before it runs', () => {
    const source = 'fn f() { return http_get("u") }\nf()'
    expect(() => runtime.compile(source, { allowEffects: ['fs'] })).toThrow(EffectCeilingError)
    expect(() => runtime.compile(source, { allowEffects: ['fs'] })).toThrow(
      "the program can reach effect 'http', which the host does not allow (call to 'http_get')",
    )
    expect(runtime.compile(source, { allowEffects: ['http'] }).manifest.script.effects).toEqual(['http'])
  })

  test('is one of the errors of compiling, which an embedder catches by one class', () => {
    const source = 'let u = "u"\nhttp_get(u)'
    let told: unknown = null
    try {
      runtime.compile(source, { allowEffects: [] })
    } catch (cause) {
      told = cause
    }
    expect(told).toBeInstanceOf(CompileError)
    expect((told as CompileError).name).toBe('EffectCeilingError')
    expect((told as CompileError).render()).toContain('http_get(u)')
  })
})

describe('runs are held to the manifest', () => {
  const performWithin = (source: string, kind: 'fs.read' | 'host.tool', args: PlainRecord): unknown => {
    const module = runtime.compile(source)
    const perform = withManifestGuard({ manifest: () => module.manifest, added: [], names: runtime.host.names }, () =>
      answered('performed'),
    )
    return perform(effectOfData(kind, args), {} as never)
  }

  test('an effect outside it is refused', () => {
    expect(performWithin('read_file("x")', 'fs.read', { path: 'x' })).toMatchObject({ ok: true })
    expect(performWithin('println(1)', 'fs.read', { path: 'x' })).toMatchObject({
      ok: false,
      error: { category: 'tool_rejected', message: 'fs.read is not in the manifest of this program' },
    })
  })

  test('a tool outside it is refused', () => {
    const source = 'host_tool_call("search", {})'
    expect(performWithin(source, 'host.tool', { op: 'call', name: 'search', args: {} })).toMatchObject({ ok: true })
    expect(performWithin(source, 'host.tool', { op: 'list' })).toMatchObject({ ok: true })
    expect(performWithin(source, 'host.tool', { op: 'call', name: 'delete', args: {} })).toMatchObject({
      ok: false,
      error: { message: "tool 'delete' is not in the manifest of this program" },
    })
  })
})

describe('what a tool of the program leads to', () => {
  const order = defineTool({ name: 'shop.order', aliases: ['order'], execute: () => 'ordered' })
  const HEAD = 'import { tool_call } from "std/tools"\n'
  const reaches = (definition: string): unknown => {
    const runtime = createRuntime({ tools: [order] })
    const { tools } = runtime.compile(`${HEAD}let r = tool_define(tool_registry(), "look", "", ${definition})\n`).manifest.script
    return tools.find(({ name }) => name === 'look')?.reaches
  }
  test.each([
    ['{parameters: {}, handler: { a -> 1 }, effects: []}', []],
    ['{executor: "host_bridge", host_capability: "shop.order", effects: []}', ['host:shop.order']],
    ['{executor: "host_bridge", effects: []}', ['host:look']],
    ['{executor: "mcp_server", mcp_server: "files", mcp_tool: "read", effects: []}', ['mcp:files/read']],
    ['{executor: "host_bridge", host_capability: to_string(1)}', ['host:*']],
    ['{handler: { a -> 1 }, ...json_parse("{}")}', ['*']],
    ['json_parse("{}")', ['*']],
  ])('%s', (definition, expected) => expect(reaches(definition)).toEqual(expected))

  const runToOutcome = async (script: string): Promise<string> => {
    const runtime = createRuntime({ tools: [order] })
    const { output } = await runtime.start(runtime.compile(HEAD + script)).result
    return output
  }
  const attempt = (registry: string): string =>
    `try { println(tool_call("look", {}, {registry: ${registry}})) } catch (e) { println(e.message) }`

  test('is what its calls lead to', async () => {
    const script = `let r = tool_define(tool_registry(), "look", "", {executor: "host_bridge", host_capability: "CAP", effects: []})\n${attempt('r')}`
    expect(await runToOutcome(script.replace('CAP', 'shop.order'))).toBe('ordered\n')
    expect(await runToOutcome(script.replace('CAP', 'order'))).toBe('ordered\n')
  })

  test('cannot be swapped for something else by a registry that is put together by hand', async () => {
    const safe = 'let r = tool_define(tool_registry(), "look", "", {parameters: {}, handler: { a -> "looked" }, effects: []})\n'
    expect(await runToOutcome(`${safe}${attempt('r')}`)).toBe('looked\n')
    const made =
      '{_type: "tool_registry", tools: [{name: "look", executor: "host_bridge", host_capability: "shop.order", effects: []}]}'
    expect(await runToOutcome(`${safe}${attempt(made)}`)).toContain(
      "tool 'look' leads to host:shop.order, which is not in the manifest",
    )
  })
})
