// A call is judged by its target, regardless of the script's name for it: entries that it made up, further names of a tool, servers under
// names of its own.

import { describe, expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { defineTool } from '../host-tools/define.js'

interface Shop {
  readonly asked: unknown[]
  readonly run: (script: string, options?: RuntimeOptions) => Promise<string>
}

function shop(): Shop {
  const asked: unknown[] = []
  const order = defineTool({
    name: 'shop.order',
    aliases: ['order'],
    input: { type: 'object', properties: { item: { type: 'string' }, side: { type: 'string' } } },
    execute: (args) => (asked.push(args), 'ordered'),
  })
  const look = defineTool({ name: 'shop.look', sideEffect: 'none', execute: () => 'looked' })
  return {
    asked,
    async run(script, options = {}) {
      const runtime = createRuntime({ tools: [order, look], ...options })
      const source = `import { tool_call } from "std/tools"\nfn attempt(f) { return try { f() } catch (e) { e.code ?? e } }\n${script}`
      const result = await runtime.start(runtime.compile(source)).result
      return result.status === 'done' ? result.output.trim() : `! ${JSON.stringify(result)}`
    },
  }
}

const MADE_UP = '{name: "NAME", executor: "host_bridge", host_capability: "shop.order", effects: []}'
const makeCall = (name: string): string => `tool_call(${MADE_UP.replace('NAME', name)}, {})`

describe('an entry that a script made up', () => {
  test('uses up the budget of the tool behind it', async () => {
    const { run, asked } = shop()
    const script = `println(attempt({ -> ${makeCall('x')} }))\nprintln(attempt({ -> ${makeCall('y')} }))\nprintln(attempt({ -> tool_call("order", {}) }))`
    expect(await run(script, { toolGrants: { 'shop.order': { maxCalls: 1 } } })).toBe(
      'ordered\nbudget_exhausted\nbudget_exhausted',
    )
    expect(asked).toHaveLength(1)
  })

  test('has the pinned arguments of the tool behind it', async () => {
    const { run, asked } = shop()
    const script = `println(attempt({ -> ${makeCall('x')} }))\nprintln(attempt({ -> tool_call("order", {side: "sell"}) }))`
    expect(await run(script, { toolGrants: { 'shop.order': { side: 'buy' } } })).toBe('ordered\npolicy_violation')
    expect(asked).toEqual([{ side: 'buy' }])
  })

  test('is not allowed for being called like a tool that is', async () => {
    const { run, asked } = shop()
    const options: RuntimeOptions = { defaultDeny: true, toolGrants: { 'shop.look': {} } }
    expect(await run(`println(attempt({ -> ${makeCall('shop.look')} }))`, options)).toBe('policy_violation')
    expect(await run('println(attempt({ -> tool_call("shop.look", {}) }))', options)).toBe('looked')
    expect(asked).toEqual([])
  })

  test('is narrowed by grants under the name that it has', async () => {
    const { run } = shop()
    expect(await run(`println(attempt({ -> ${makeCall('x')} }))`, { toolGrants: { x: { side: 'no' } } })).toBe('ordered')
    expect(
      await run(
        `println(attempt({ -> tool_call({name: "x", executor: "host_bridge", host_capability: "shop.order"}, {side: "yes"}) }))`,
        {
          toolGrants: { x: { side: 'no' } },
        },
      ),
    ).toBe('policy_violation')
  })

  test('is refused by policies and approvals on the tool behind it', async () => {
    const { run, asked } = shop()
    const makeUnder = (policy: string): string =>
      `import { with_policies } from "std/policy"\nprintln(attempt({ -> with_policies(${policy}, { -> ${makeCall('shop.look')} }) }))`
    expect(await run(makeUnder('{policy: {tools: ["shop.look"]}}'))).toBe('policy_violation')
    expect(await run(makeUnder('{approval_policy: {auto_deny: ["shop.order"]}}'))).toBe('approval_denied')
    expect(await run(makeUnder('{approval_policy: {auto_approve: ["shop.look"], require_approval: ["*"]}}'))).toBe(
      'approval_denied',
    )
    expect(await run(makeUnder('{permissions: {allow: ["shop.look"]}}'))).toBe('policy_violation')
    expect(asked).toEqual([])
  })
})

test('a standard tool that does not exist is no bug of the host', async () => {
  const { run } = shop()
  expect(await run('println(attempt({ -> tool_call({name: "zzz", executor: "builtin"}, {}) }))')).toBe('not_registered')
})

describe('a further name that something else has', () => {
  const makeNamed = (name: string, ...aliases: string[]) => defineTool({ name, aliases, execute: () => name })
  for (const [what, options] of [
    ['a tool', { tools: [makeNamed('a', 'b'), makeNamed('b')] }],
    ['a tool that was defined before', { tools: [makeNamed('b'), makeNamed('a', 'b')] }],
    ['a further name of another tool', { tools: [makeNamed('a', 'c'), makeNamed('b', 'c')] }],
    ['an operation', { tools: [makeNamed('a', 'depot.open')], capabilities: { depot: { open: () => true } } }],
  ] as const) {
    test(`is refused when the runtime is made: ${what}`, () => {
      expect(() => createRuntime(options)).toThrow(/is a further name of tool "[ab]" and a /)
    })
  }

  test('is no matter for the tool itself', async () => {
    const runtime = createRuntime({ tools: [makeNamed('a', 'a', 'c', 'c')] })
    expect(await runtime.run('import { tool_call } from "std/tools"\nreturn [tool_call("a", {}), tool_call("c", {})]')).toEqual([
      'a',
      'a',
    ])
  })
})

test('a name means what the host of the run says, whatever it meant to another host of the process', async () => {
  const order = (name: string, aliases: readonly string[] = []) => defineTool({ name, aliases, execute: () => name })
  const call = async (tools: RuntimeOptions['tools']): Promise<unknown> => {
    const runtime = createRuntime({ tools: tools!, toolGrants: { 'shop.order': {} }, defaultDeny: true })
    const source = 'import { tool_call } from "std/tools"\nreturn try { tool_call("order", {}) } catch (e) { e.code }'
    const result = await runtime.start(runtime.compile(source)).result
    return result.status === 'done' ? result.value : result
  }
  expect(await call([order('shop.order', ['order'])])).toBe('shop.order')
  expect(await call([order('order')])).toBe('policy_violation')
  expect(await call([order('shop.order', ['order'])])).toBe('shop.order')
})
