// What a host cannot meet is refused before the first instruction: nothing was printed and nothing was performed.

import { describe, expect, test } from 'vitest'
import { createRuntime, pureFunction } from '../index.js'
import { defineTool } from '../tools/host-tools/define.js'
import { defineProvider, toolsOf } from '../tools/host-tools/provider.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { answered, provider } from '../tools/executors/provider.js'
import type { RuntimeOptions, StartOptions } from './runtime-options.js'

interface Attempt {
  readonly code: string | null
  readonly message: string
  readonly output: string
  /** Calls of tools and effects. */
  readonly performed: readonly string[]
}

async function attempt(source: string, options: RuntimeOptions = {}, start: StartOptions = {}): Promise<Attempt> {
  const performed: string[] = []
  const price = defineTool({
    name: 'shop.price',
    aliases: ['shop.cost'],
    version: '1.2.0',
    sideEffect: 'none',
    execute: () => {
      performed.push('shop.price')
      return 350
    },
  })
  const runtime = createRuntime({
    tools: [price],
    hostFunctions: { calc: { twice: pureFunction({ params: [], run: () => 2 }) } },
    extensions: ['grants'],
    ...options,
  })
  let output = ''
  // What compiling refuses by itself in the full strictness is refused by the start where a host asks only what the language asks.
  const module = runtime.compile(source, { strictness: 'language' })
  try {
    const run = runtime.start(module, {
      ...start,
      onEvent: (event) => {
        if (event.type === 'output') output += event.text
        if (event.type === 'effect') performed.push(event.kind)
      },
    })
    const result = await run.result
    return { code: null, message: result.status, output, performed }
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause
    return { code: cause.code, message: cause.message, output, performed }
  }
}

const NOTHING = { output: '', performed: [] }
const files = provider({ kinds: ['fs.read'], perform: () => answered('text') })

describe('what a program declares', () => {
  test.each([
    [
      'an alias of a tool that is not registered',
      'println("ran")\nuse tool shop.prise as Price\nprintln(Price({}))',
      'not_registered',
      "alias 'Price' stands for the tool 'shop.prise', which is not registered: did you mean 'shop.price'? (script.harn:2:1)",
    ],
    [
      'an alias of a standard tool that does not exist',
      'use tool http.gett as Get\nprintln("ran")',
      'not_registered',
      "alias 'Get' stands for the tool 'http.gett', which is not registered: did you mean 'http.get'? (script.harn:1:1)",
    ],
    [
      'another version than the alias asks for',
      'use tool shop.price@2 as Price\nprintln("ran")\nprintln(Price({}))',
      'version_mismatch',
      "tool 'shop.price' has version 1.2.0, and alias 'Price' requires 2: " +
        'ask for a version that the host has, or register that one (script.harn:1:1)',
    ],
    [
      'another version than the grant of the alias asks for',
      'use tool shop.cost as Price\ngrant Price version "^1.3"\nprintln("ran")',
      'version_mismatch',
      "tool 'shop.cost' has version 1.2.0, and alias 'Price' requires ^1.3",
    ],
    [
      'another version than the grant of the tool asks for',
      'grant shop.price version "2"\nprintln("ran")',
      'version_mismatch',
      "tool 'shop.price' has version 1.2.0, and its grant requires 2",
    ],
    [
      'another version of a standard tool',
      'use tool http.get@9 as Get\nprintln("ran")',
      'version_mismatch',
      "tool 'http.get' has version 1.0.0, and alias 'Get' requires 9",
    ],
    [
      'an import of what the host does not offer',
      'println("ran")\nimport { prise } from "host/shop"',
      'not_registered',
      `"host/shop" of this host offers no 'prise': did you mean 'price'? (script.harn:2:10)`,
    ],
    [
      'an import of a module that the host does not have',
      'println("ran")\nimport { price } from "host/shopp"',
      'not_registered',
      'this host offers nothing under the name "host/shopp": did you mean "host/shop"? (script.harn:2:23)',
    ],
  ])('%s is refused', async (_name, source, code, message) => {
    const found = await attempt(source)
    expect(found).toMatchObject({ ...NOTHING, code })
    expect(found.message).toContain(message)
  })

  test('in an imported file is refused with its place there', async () => {
    const resolve = (path: string): ReturnType<NonNullable<RuntimeOptions['resolve']>> =>
      path === './lib'
        ? { kind: 'source', key: 'lib.harn', text: '\nuse tool shop.prise as Price\npub fn f() { return Price({}) }' }
        : null
    const found = await attempt('import { f } from "./lib"\nprintln("ran")', { resolve })
    expect(found).toMatchObject({ ...NOTHING, code: 'not_registered' })
    expect(found.message).toContain('(lib.harn:2:1)')
  })

  test('is refused all at once', async () => {
    const { message } = await attempt('use tool a.b as A\nuse tool shop.price@9 as B\nimport "host/c"')
    expect(message.match(/script\.harn:\d/g)).toEqual(['script.harn:1', 'script.harn:2', 'script.harn:3'])
  })

  test.each([
    ['a tool of the version asked for', 'use tool shop.price@1 as Price\nprintln(Price({}))', '350\n'],
    ['a further name of a tool', 'use tool shop.cost as Price\nprintln(Price({}))', '350\n'],
    ['a standard tool', 'use tool crypto.sha256@1 as Hash\nprintln(len(Hash("a")))', '64\n'],
    ['functions', 'import { twice } from "host/calc"\nimport { price } from "host/shop"\nprintln(twice() + price())', '352\n'],
    ['a server', 'use tool mcp "files" as Files\nprintln("ran")', 'ran\n'],
    [
      'a tool that the program registers',
      'let r = tool_define(tool_registry(), "own.it", "", {parameters: {}, handler: { _ -> 7 }})\ntool_bind(r)\n' +
        'use tool own.it@3 as Own\nprintln("ran")',
      'ran\n',
    ],
  ])('%s is no reason to refuse', async (_name, source, output) => {
    expect(await attempt(source)).toMatchObject({ code: null, message: 'done', output })
  })

  test('a tool that another process may have is left to the call', async () => {
    const bridge = {} as NonNullable<StartOptions['bridge']>
    const source = 'use tool shop.prise as Price\nprintln("ran")'
    expect(await attempt(source, {}, { bridge })).toMatchObject({ code: null, output: 'ran\n' })
  })

  test('the host may leave all of it to the run', async () => {
    const source = 'use tool shop.prise as Price\nprintln(try { Price({}) } catch (e) { e.code })'
    expect(await attempt(source, { link: 'lazy' })).toMatchObject({ code: null, output: 'not_registered\n' })
  })
})

test('a capability that no provider has is refused where the tool is registered', () => {
  const make = (requires: readonly string[]): (() => unknown) => {
    const manifests = (): never => [{ name: 'shop.see', requires }] as never
    return () => toolsOf(defineProvider({ name: 'eyes', version: '1.0.0', manifests, execute: () => 1 } as never))
  }
  expect(make(['sight'])).toThrow('unknown capability "sight"')
  expect(make(['vision'])).toThrow('requires the capability "vision"')
})

describe('what a program can reach', () => {
  const source = 'println("ran")\nif len("a") > 1 {\n  println(read_file("x"))\n}'

  test('needs a provider where the host asks for that', async () => {
    const found = await attempt(source, { link: 'strict', grants: ['*'] })
    expect(found).toMatchObject({ ...NOTHING, code: 'provider_unavailable' })
    expect(found.message).toContain('fs.read')
    expect(found.message).toContain('this host provides no "fs": add a provider of it (script.harn:3:11)')
  })

  test('needs a grant, too', async () => {
    const found = await attempt(source, { link: 'strict', providers: [files] })
    expect(found).toMatchObject({ ...NOTHING, code: 'policy_violation' })
    expect(found.message).toContain('not granted to this run: the host must grant "fs.read" or "fs" (script.harn:3:11)')
  })

  test('needs the grants of the start', async () => {
    const options: RuntimeOptions = { link: 'strict', providers: () => [files], grants: ['fs'] }
    expect(await attempt(source, options)).toMatchObject({ code: null, output: 'ran\n' })
    expect(await attempt(source, options, { grants: ['http'] })).toMatchObject({ ...NOTHING, code: 'policy_violation' })
  })

  test('a run that does not begin closes its providers', async () => {
    const events: string[] = []
    const clock = (): typeof files => {
      events.push('made')
      return { ...files, close: () => void events.push('closed') }
    }
    await attempt('http_get("http://a.example")', { link: 'strict', providers: [clock], grants: ['*'] })
    expect(events).toEqual(['made', 'closed'])
  })

  test('is left to the run by default, so that a script can catch it', async () => {
    const caught = 'println(try { read_file("x") } catch (e) { "caught" })'
    expect(await attempt(caught)).toMatchObject({ code: null, output: 'caught\n' })
    expect(await attempt(caught, { link: 'strict' })).toMatchObject({ ...NOTHING, code: 'provider_unavailable' })
  })
})
