// The tool "write and run a script", as a model and the program around it see it.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import type { RuntimeOptions } from '../host/runtime-options.js'
import { defineTool } from '../tools/host-tools/define.js'
import { memoryPendingStore } from './pending-runs.js'
import type { ScriptOutcome } from './script-runner.js'
import { scriptTool } from './script-tool.js'
import type { ScriptToolOptions } from './script-tool.js'

function makeShop() {
  const orders: string[] = []
  const tools = [
    defineTool({
      name: 'shop.order',
      description: 'Orders an article',
      input: z.object({ article: z.string(), pieces: z.int().default(1) }),
      output: z.string(),
      execute: ({ article }) => {
        orders.push(article)
        return `ordered ${article}`
      },
    }),
    defineTool({
      name: 'shop.price',
      description: 'Price in cents',
      sideEffect: 'read_only',
      input: z.object({ article: z.string() }),
      output: z.int(),
      execute: ({ article }) => {
        if (article === 'gold') throw new Error('no price for gold')
        return 350
      },
    }),
  ]
  return { orders, tools }
}

function makeTool(options: ScriptToolOptions = {}, more: Partial<RuntimeOptions> = {}) {
  const shop = makeShop()
  const runtime = createRuntime({ tools: shop.tools, ...more })
  return { tool: scriptTool(runtime, options), runtime, shop }
}

function expectPending(outcome: ScriptOutcome) {
  if (outcome.status !== 'pending') throw new Error(`expected a pending run, got ${JSON.stringify(outcome)}`)
  return outcome
}

const ORDER_TWO = `
import { order } from "host/shop"
println("first")
let a = order({article: "tea"})
println("second")
let b = order({article: "milk"})
return [a, b]
`

const INPUT = 'import { runtime_pipeline_input } from "std/runtime"\n'

describe('running', () => {
  test('value, printed text, and calls with what they cost', async () => {
    const { tool } = makeTool()
    const outcome = await tool.run(`
import { order, price } from "host/shop"
println("looking")
let cents = price({article: "tea"}) + price({article: "milk"})
order({article: "tea"})
return {cents: cents, half: cents / 2.0}
`)
    expect(outcome).toMatchObject({
      status: 'done',
      value: { cents: 700, half: 350 },
      printed: 'looking\n',
      calls: [
        { tool: 'shop.price', calls: 2 },
        { tool: 'shop.order', calls: 1 },
      ],
    })
  })

  test('data for the script', async () => {
    const { tool } = makeTool()
    expect(
      await tool.run({
        script: `${INPUT}return runtime_pipeline_input().names.map({ n -> n.uppercase() })`,
        data: { names: ['a'] },
      }),
    ).toEqual({
      status: 'done',
      value: ['A'],
    })
  })

  test('a long value is cut, and the whole is data of the next script or shown on', async () => {
    const { tool } = makeTool({ maxCharacters: 1_000 })
    const long = await tool.run('return (1 to 1000).map({ n -> "item ${n}" }).to_list()')
    expect(long).toMatchObject({ status: 'done', cut: { result: 'r1' } })
    if (long.status !== 'done' || long.cut === undefined) throw new Error('not cut')
    expect(long.cut.text.length).toBeLessThanOrEqual(500)
    expect(await tool.run({ script: `${INPUT}return runtime_pipeline_input()[999]`, result: 'r1' })).toEqual({
      status: 'done',
      value: 'item 1000',
    })
    const { characters, text } = long.cut
    let whole = text
    while (whole.length < characters) {
      const more = await tool.run({ result: 'r1', from: whole.length })
      if (more.status !== 'done' || more.cut === undefined) throw new Error('not shown')
      whole += more.cut.text
    }
    expect(JSON.parse(whole)).toHaveLength(1000)
    expect(await tool.run({ result: 'r9' })).toMatchObject({
      status: 'invalid',
      findings: expect.stringContaining('r9') as string,
    })
  })

  test('values without a data form are reported', async () => {
    const { tool } = makeTool()
    const outcome = await tool.run('let xs: any = (1 to 3).map({ n -> n })\nreturn xs')
    expect(outcome).toMatchObject({ status: 'failed', error: expect.stringContaining('.to_list()') as string })
  })

  test('long printed text keeps its beginning and its end', async () => {
    const { tool } = makeTool({ maxCharacters: 200 })
    const outcome = await tool.run('for n in 1 to 500 { println("line ${n}") }')
    expect(outcome).toMatchObject({ printed: expect.stringMatching(/^line 1\n[^]*characters[^]*line 500\n$/) as string })
  })

  test.each([
    ['nothing', {}, 'give a script'],
    ['a number', { script: 5 }, 'give a script'],
  ])('%s is no script', async (_name, input, findings) => {
    const { tool } = makeTool()
    expect(await tool.run(input as never)).toMatchObject({
      status: 'invalid',
      findings: expect.stringContaining(findings) as string,
    })
  })

  test('a script that never ends is stopped', async () => {
    const { tool } = makeTool({ start: { limits: { fuel: 100_000 } } })
    expect(await tool.run('while true { }')).toMatchObject({ status: 'failed', error: expect.stringContaining('fuel') as string })
  })
})

describe('findings', () => {
  test('place, excerpt, cause and repair, three at most', async () => {
    const { tool, shop } = makeTool()
    const outcome = await tool.run(`
import { order, prize } from "host/shop"
let a = ordr({article: 5})
let b = order({articel: "tea"})
const c = 3
let d = unknown_thing
let e = other_thing
return a
`)
    expect(outcome).toMatchObject({ status: 'invalid', base: 's1' })
    const { findings } = outcome as { findings: string }
    expect(findings).toMatch(/--> script\.harn:\d+:\d+/)
    expect(findings).toContain('^')
    expect(findings.split('-->').length - 1).toBeLessThanOrEqual(3)
    expect(shop.orders).toEqual([])
  })

  test('a call that does not fit its tool', async () => {
    const { tool } = makeTool()
    const outcome = await tool.run('import { order } from "host/shop"\nreturn order({articel: "tea"})')
    expect(outcome).toMatchObject({ status: 'invalid', findings: expect.stringMatching(/articel[^]*article/) as string })
  })

  test('only the changed function is sent', async () => {
    const { tool } = makeTool()
    const wrong = await tool.run(`import { price } from "host/shop"

fn total(articles) {
  return articles.map({ a -> prise({article: a}) }).sum()
}

pipeline main() {
  return total(["tea", "milk"])
}
`)
    expect(wrong).toMatchObject({ status: 'invalid', base: 's1' })
    const right = await tool.run({
      base: 's1',
      script: `fn total(articles: list<string>) -> int {
  return articles.map({ a -> price({article: a}) }).sum()
}`,
    })
    expect(right).toMatchObject({ status: 'done', value: 700 })
    expect(await tool.run({ base: 's99', script: 'fn f() { }' })).toMatchObject({
      status: 'invalid',
      findings: expect.stringContaining('send the whole script') as string,
    })
    expect(await tool.run({ base: 's1', script: 'println(1)' })).toMatchObject({
      status: 'invalid',
      findings: expect.stringContaining('send the whole script') as string,
    })
  })

  test('an error at run time has its line, its code and what to do', async () => {
    const { tool, shop } = makeTool()
    const outcome = await tool.run(
      'import { order, price } from "host/shop"\norder({article: "tea"})\nlet cents = price({article: "gold"})\nreturn cents',
    )
    expect(outcome).toMatchObject({
      status: 'failed',
      base: 's1',
      calls: [{ tool: 'shop.order' }, { tool: 'shop.price', failed: 1 }],
    })
    const { error } = outcome as { error: string }
    expect(error).toContain('no price for gold')
    expect(error).toContain('script.harn:3:')
    expect(error).toContain('let cents = price({article: "gold"})')
    expect(shop.orders).toEqual(['tea'])
  })
})

describe('approval', () => {
  const approve = { approve: { tools: 'shop.order' } }

  test('the run waits, and nothing runs twice', async () => {
    const { tool, shop, runtime } = makeTool({}, approve)
    const first = expectPending(await tool.run(ORDER_TWO))
    expect(first).toMatchObject({
      printed: 'first\n',
      requests: [{ kind: 'permission', call: { tool: 'shop.order', args: { article: 'tea', pieces: 1 } } }],
    })
    expect(shop.orders).toEqual([])
    expect(runtime.approvals.pending()).toEqual([])
    expect(await tool.pending(first.token)).toEqual(first.requests.map((each) => expect.objectContaining(each) as unknown))
    const second = expectPending(await tool.resume(first.token, true))
    expect(second).toMatchObject({ printed: 'second\n', requests: [{ call: { args: { article: 'milk' } } }] })
    expect(shop.orders).toEqual(['tea'])
    expect(await tool.resume(first.token, true)).toMatchObject({ status: 'failed' })
    expect(await tool.resume(second.token, { approved: true, reviewer: 'ada' })).toMatchObject({
      status: 'done',
      value: ['ordered tea', 'ordered milk'],
      calls: [{ tool: 'shop.order', calls: 2 }],
    })
    expect(shop.orders).toEqual(['tea', 'milk'])
  })

  test('the answer comes in another process', async () => {
    const records = memoryPendingStore()
    const bytes = new Map<string, string>()
    // What another process has are copies of bytes.
    const store = {
      save: (token: string, record: Uint8Array) => void bytes.set(token, Buffer.from(record).toString('base64')),
      load: (token: string) => (bytes.has(token) ? new Uint8Array(Buffer.from(bytes.get(token)!, 'base64')) : null),
      take: (token: string) => {
        const found = store.load(token)
        bytes.delete(token)
        return found
      },
    }
    void records
    const one = makeTool({ store }, approve)
    const pending = expectPending(await one.tool.run(ORDER_TWO))
    const two = makeTool({ store }, approve)
    const next = expectPending(
      await two.tool.resume(pending.token, { granted: true, binding: pending.requests[0]!.call!.binding }),
    )
    expect([one.shop.orders, two.shop.orders]).toEqual([[], ['tea']])
    const three = makeTool({ store }, approve)
    const answers = await Promise.all([three.tool.resume(next.token, true), three.tool.resume(next.token, true)])
    expect(answers.map(({ status }) => status).sort()).toEqual(['done', 'failed'])
    expect(three.shop.orders).toEqual(['milk'])
  })

  test('a refusal is an error of the script, with what to do', async () => {
    const { tool, shop } = makeTool({}, approve)
    const pending = expectPending(await tool.run(ORDER_TWO))
    const outcome = await tool.resume(pending.token, { approved: false, reason: 'too much tea' })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/approval_denied.*too much tea[^]*repair/) as string,
    })
    expect(shop.orders).toEqual([])
  })

  test('an answer for other arguments, and one that is none', async () => {
    const { tool, shop } = makeTool({}, approve)
    const pending = expectPending(await tool.run(ORDER_TWO))
    await expect(tool.resume(pending.token, 'Ada')).rejects.toThrow('takes true, false')
    const other = await tool.resume(pending.token, { granted: true, binding: `sha256:${'0'.repeat(64)}` })
    expect(other).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('the approval is for another call') as string,
    })
    expect(shop.orders).toEqual([])
  })

  test('several calls wait at once', async () => {
    const { tool, shop } = makeTool({}, approve)
    const pending = expectPending(
      await tool.run('import { order } from "host/shop"\nreturn parallel each ["a", "b"] { x -> order({article: x}) }'),
    )
    expect(pending.requests.map(({ call }) => call?.args['article'])).toEqual(['a', 'b'])
    await expect(tool.resume(pending.token, true)).rejects.toThrow('waits for 2 answers')
    const [a, b] = pending.requests
    const rest = expectPending(await tool.resume(pending.token, { answers: { [b!.id]: true } }))
    expect(shop.orders).toEqual(['b'])
    expect(rest.requests).toEqual([a])
    expect(await tool.resume(rest.token, true)).toMatchObject({ status: 'done', value: ['ordered a', 'ordered b'] })
  })

  test('a question of the script waits, too', async () => {
    const { tool } = makeTool({}, { ...approve, grants: ['approval'] })
    const pending = expectPending(await tool.run('return "Hello " + ask_user("Name?")'))
    expect(pending.requests).toMatchObject([{ kind: 'question', prompt: 'Name?' }])
    expect(await tool.resume(pending.token, 'Ada')).toMatchObject({ status: 'done', value: 'Hello Ada' })
  })

  test('a function that asks answers without a wait', async () => {
    const { tool, shop } = makeTool({}, { approve: () => true })
    expect(await tool.run(ORDER_TWO)).toMatchObject({ status: 'done' })
    expect(shop.orders).toHaveLength(2)
  })

  test('a model that asks about its run is told that it waits, which does not answer it', async () => {
    const { tool, shop } = makeTool({}, approve)
    const pending = expectPending(await tool.run(ORDER_TWO))
    expect(await tool.run({ resume: pending.token })).toMatchObject({ status: 'pending', token: pending.token })
    expect(shop.orders).toEqual([])
    expect(await tool.run({ resume: 'run_unknown' })).toMatchObject({ status: 'failed' })
  })
})

describe('as a tool of the AI SDK', () => {
  const call = { toolCallId: 'call_1', messages: [] }

  test('an approval is for all calls that wait, and for those alone', async () => {
    const { tool, shop } = makeTool({}, { approve: { tools: 'shop.order' } })
    const { run_script: one } = tool.aiSdk()
    const script =
      'import { order } from "host/shop"\nlet both = parallel each ["a", "b"] { x -> order({article: x}) }\nreturn both + [order({article: "c"})]'
    expect(await one!.needsApproval!({ script }, call)).toBe(true)
    expect(await one!.needsApproval!({ script }, call)).toBe(true)
    const second = expectPending((await one!.execute({ script }, call)) as ScriptOutcome)
    expect(shop.orders.toSorted()).toEqual(['a', 'b'])
    const again = { toolCallId: 'call_2', messages: [] }
    expect(await one!.needsApproval!({ resume: second.token }, again)).toBe(true)
    expect(await one!.execute({ resume: second.token }, again)).toMatchObject({ status: 'done' })
    expect(shop.orders).toHaveLength(3)
  })

  test('an approval does not answer a question', async () => {
    const { tool } = makeTool({}, { approve: { tools: 'shop.order' }, grants: ['approval'] })
    const { run_script: one } = tool.aiSdk()
    const script = 'return ask_user("Name?")'
    expect(await one!.needsApproval!({ script }, call)).toBe(true)
    expectPending((await one!.execute({ script }, call)) as ScriptOutcome)
    expect(await tool.resume('call_1', 'Ada')).toMatchObject({ status: 'done', value: 'Ada' })
  })

  test('a script that needs no approval runs once, however often it is asked about', async () => {
    const { tool, shop } = makeTool()
    const { run_script: one } = tool.aiSdk()
    expect([
      await one!.needsApproval!({ script: ORDER_TWO }, call),
      await one!.needsApproval!({ script: ORDER_TWO }, call),
    ]).toEqual([false, false])
    expect(await one!.execute({ script: ORDER_TWO }, call)).toMatchObject({ status: 'done' })
    expect(shop.orders).toEqual(['tea', 'milk'])
  })
})

describe('tools beyond the budget', () => {
  const many = Array.from({ length: 60 }, (_, at) =>
    defineTool({
      name: `area.tool_${at}`,
      description: at === 42 ? 'Waters the garden' : 'Does something else',
      input: z.object({ article: z.string() }),
      execute: () => at,
    }),
  )

  test('are found and described, and run like others', async () => {
    const runtime = createRuntime({ tools: many })
    const tool = scriptTool(runtime, { budget: 300 })
    expect(tool.tools.map(({ name }) => name)).toEqual(['run_script', 'search_tools', 'describe_tools'])
    expect(tool.description).toContain('describe_tools')
    expect(tool.searchTools('garden')).toMatch(/^area\.tool_42\(/)
    expect(tool.describeTools(['area.tool_42', 'area.none'])).toMatch(/Waters the garden[^]*There is no tool "area.none"/)
    expect(await tool.run('import { tool_42 } from "host/area"\nreturn tool_42({article: "x"})')).toMatchObject({ value: 42 })
  })

  test('few tools need no search', () => {
    expect(makeTool().tool.tools.map(({ name }) => name)).toEqual(['run_script'])
  })

  test('the primer can go into the prompt instead', () => {
    const { tool } = makeTool({ primer: 'system' })
    expect(tool.description).not.toContain('Scripts in Harn')
    expect(tool.instructions).toContain('shop.order({article: string, pieces?: int = 1}) -> string  // Orders an article')
  })
})
