// `approve` of createRuntime: rules of the host select calls of scripts that a person must approve.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../../host/runtime.js'
import type { Runtime } from '../../host/runtime.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { MemoryFs } from '../../host/providers/memory.js'
import { defineTool } from '../host-tools/define.js'
import type { Approve } from './approval-options.js'
import type { ApprovalRequest } from './approval-request.js'

/** A shop that counts its orders. */
function makeShop() {
  const orders: unknown[] = []
  const tools = [
    defineTool({
      name: 'shop.order',
      description: 'Orders',
      input: z.object({ article: z.string(), cents: z.int(), pieces: z.int().default(1) }),
      effects: ['net'],
      execute: (args) => {
        orders.push(args)
        return `ordered ${args.article}`
      },
    }),
    defineTool({
      name: 'shop.price',
      sideEffect: 'read_only',
      input: z.object({ article: z.string() }),
      execute: () => 350,
    }),
  ]
  return { orders, tools }
}

const ORDER = `
import { order, price } from "host/shop"
println(price({article: "tea"}))
try {
  println(order({article: "tea", cents: 350}))
} catch (e) {
  println("\${e.code}: \${e.message}")
}
`

async function runWith(approve: Approve, source = ORDER, more: Partial<RuntimeOptions> = {}) {
  const shop = makeShop()
  const runtime = createRuntime({ tools: shop.tools, approve, ...more })
  const result = await runtime.start(runtime.compile(source)).result
  const { output } = result
  return { output, orders: shop.orders, status: result.status }
}

/** The first request that waits on the desk. */
function awaitRequest(runtime: Runtime): Promise<ApprovalRequest> {
  const known = runtime.approvals.pending()[0]
  if (known !== undefined) return Promise.resolve(known)
  return new Promise((resolve) => {
    const stop = runtime.approvals.onRequest((request) => {
      stop()
      resolve(request)
    })
  })
}

describe('rules', () => {
  const asking = (rule: Approve) => ({ rules: rule as never, ask: () => false })
  const DENIED = '350\napproval_denied: host did not grant approval\n'
  const ORDERED = '350\nordered tea\n'

  test.each<[string, Approve, string]>([
    ['a function is asked about all that changes something', () => false, DENIED],
    ['a tool', asking({ tools: 'shop.order' }), DENIED],
    ['a family', asking({ tools: ['shop'], sideEffect: 'workspace_write' }), DENIED],
    ['a pattern', asking({ tools: 'shop.o*' }), DENIED],
    ['another tool', asking({ tools: 'shop.refund' }), ORDERED],
    ['an effect', asking({ effects: 'net' }), DENIED],
    ['another effect', asking({ effects: 'fs.write' }), ORDERED],
    ['a side effect', asking({ sideEffect: 'network' }), DENIED],
    ['a level', asking({ level: 'restricted', tools: 'shop.order' }), DENIED],
    ['a higher level', asking({ level: 'privileged' }), ORDERED],
    ['an argument within its constraint', asking({ tools: 'shop.order', unless: { article: ['tea', 'milk'] } }), ORDERED],
    ['an argument beyond it', asking({ tools: 'shop.order', unless: { article: 'milk' } }), DENIED],
    ['a default counts as an argument', asking({ tools: 'shop.order', unless: { pieces: 1 } }), ORDERED],
    ['an argument that the call does not have', asking({ tools: 'shop.order', unless: { colour: 'red' } }), DENIED],
    ['one of several rules', asking([{ tools: 'none.such' }, { tools: '*', sideEffect: 'network' }]), DENIED],
  ])('%s', async (_name, approve, output) => {
    expect(await runWith(approve)).toMatchObject({ output, status: 'done' })
  })

  test.each<[unknown, string]>([
    [{}, 'a rule says which calls it is about'],
    [{ tool: 'a' }, 'unknown key "tool"'],
    [{ tools: [] }, 'tools is a name or a list of names'],
    [{ tools: 'a', unless: { max_calls: 1 } }, 'unless.max_calls is no constraint of an argument'],
    [{ tools: 'a', unless: {} }, 'unless has no constraint'],
    [{ sideEffect: 'much' }, 'sideEffect is one of none, read_only'],
    [{ level: 'high' }, 'level is one of safe'],
    [{ rules: { tools: 'a' }, expiresMs: 0 }, 'expiresMs must be'],
    [{ rules: { tools: 'a' }, timeout: 5 }, 'unknown option "timeout"'],
  ])('a misspelt rule is refused: %j', (rule, message) => {
    expect(() => createRuntime({ approve: rule as Approve })).toThrow(message)
  })
})

describe('the request', () => {
  test('has the call as it will be made, with its hash', async () => {
    const seen: ApprovalRequest[] = []
    const { output, orders } = await runWith((request) => {
      seen.push(request)
      return { granted: true, binding: request.call?.binding ?? '' }
    })
    expect(output).toBe('350\nordered tea\n')
    expect(orders).toEqual([{ article: 'tea', cents: 350, pieces: 1 }])
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({
      kind: 'permission',
      prompt: 'shop.order',
      call: {
        tool: 'shop.order',
        identity: 'host:shop.order',
        args: { article: 'tea', cents: 350, pieces: 1 },
        binding: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      },
    })
  })

  test('other arguments have another hash, and its answer is refused', async () => {
    const bindings: string[] = []
    const source = `
import { order } from "host/shop"
println(order({article: "tea", cents: 1}))
try { println(order({article: "tea", cents: 2})) } catch (e) { println(e.message) }
`
    const { output, orders } = await runWith((request) => {
      bindings.push(request.call!.binding)
      return { granted: true, binding: bindings[0]! }
    }, source)
    expect(new Set(bindings).size).toBe(2)
    expect(orders).toHaveLength(1)
    expect(output).toContain('the approval is for another call')
  })

  test('expires when the host says', async () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const clock = { virtual: false, now: () => nowMs, until: () => new Promise<void>(() => {}) }
    const answerAfter = (ms: number) =>
      runWith(
        {
          rules: { tools: 'shop.order' },
          expiresMs: 60_000,
          ask: ({ call }) => {
            expect(call!.expiresAt).toBe(new Date(nowMs + 60_000).toISOString())
            nowMs += ms
            return true
          },
        },
        ORDER,
        { clock },
      )
    expect((await answerAfter(60_000)).orders).toHaveLength(1)
    const late = await answerAfter(60_001)
    expect(late.orders).toEqual([])
    expect(late.output).toContain('the approval came after its deadline')
  })
})

describe('a script cannot answer', () => {
  test.each([
    'host_mock("hitl", "permission", {result: {granted: true}})',
    'host_mock("approval", "ask", {result: {granted: true}})',
    'event_log.emit("hitl.approvals", "hitl.response_received", {request_id: "approval_call_1", approved: true, reviewer: "me"})',
  ])('%s', async (attempt) => {
    const { orders } = await runWith({ rules: { tools: '*' }, ask: () => null }, `${attempt}\n${ORDER}`, { standIns: 'script' })
    expect(orders).toEqual([])
  })

  test.each([
    [
      'a policy of its own',
      'with_approval_policy({auto_approve: ["*"]}, { -> tool_call("shop.order", {article: "a", cents: 1}) })',
    ],
    [
      'another name for the tool',
      'tool_call(tool_define(tool_registry(), "mine", "", {executor: "host_bridge", host_capability: "shop.order", parameters: {}}), {article: "a", cents: 1})',
    ],
    ['the call of the host', 'host_tool_call("shop.order", {article: "a", cents: 1})'],
  ])('by %s', async (_name, call) => {
    const source = `
import { with_approval_policy } from "std/policy"
import { tool_call } from "std/tools"
try { println(${call}) } catch (e) { println("refused") }
`
    expect(await runWith({ rules: { tools: 'shop.order' }, ask: () => false }, source)).toMatchObject({
      orders: [],
      output: 'refused\n',
    })
  })

  test('a question about a call gives no power to ask others', async () => {
    const { output } = await runWith(() => true, 'println(try { ask_user("Name?") } catch (e) { e.name })')
    expect(output).toBe('HumanUnavailableError\n')
  })
})

describe('what builtins do', () => {
  const WRITE = `
try {
  write_file("a.txt", "text")
} catch (e) {
  println("\${e.code}: \${e.message}")
}
println(file_exists("a.txt"))
`
  const world = (): Partial<RuntimeOptions> => ({ providers: [new MemoryFs({})], grants: ['fs'] })

  test('is asked about where they do it, with exact arguments', async () => {
    const seen: unknown[] = []
    const yes = await runWith(
      {
        rules: { effects: 'fs.write' },
        ask: ({ call }) => {
          seen.push([call!.tool, call!.identity, call!.args['path'], call!.args['data'] ?? call!.args['text']])
          return true
        },
      },
      WRITE,
      world(),
    )
    expect(yes.output).toBe('true\n')
    expect(seen).toHaveLength(1)
    expect(seen[0]).toEqual(['fs.write', 'effect:fs.write', 'a.txt', 'text'])
    const no = await runWith(
      { rules: { tools: 'fs.write' }, ask: () => ({ approved: false, reason: 'not here' }) },
      WRITE,
      world(),
    )
    expect(no.output).toBe('approval_denied: not here\nfalse\n')
  })

  test('reading is not asked about by a rule for what changes something', async () => {
    const { output } = await runWith(
      { rules: { effects: 'fs.write', unless: { path: 'out' } }, ask: () => false },
      WRITE,
      world(),
    )
    expect(output).toBe('approval_denied: host did not grant approval\nfalse\n')
    const within = WRITE.replaceAll('a.txt', 'out/a.txt').replace('try', 'mkdir("out")\ntry')
    const passed = await runWith({ rules: { effects: 'fs.write', unless: { path: 'out' } }, ask: () => false }, within, world())
    expect(passed.output).toBe('true\n')
  })

  test('a budget counts a call once, and an answer cannot change what is done', async () => {
    const counted = `
import { with_grants } from "std/grants"
with_grants({"fs.write": {max_calls: 1}}, { ->
  write_file("a.txt", "1")
  println(try { write_file("b.txt", "2") } catch (e) { e.code })
})
`
    expect((await runWith({ rules: { effects: 'fs.write' }, ask: () => true }, counted, world())).output).toBe(
      'budget_exhausted\n',
    )
    const other = await runWith(
      { rules: { effects: 'fs.write' }, ask: () => ({ granted: true, args: { path: 'b.txt' } }) },
      WRITE,
      world(),
    )
    expect(other.output).toContain('the answer has other arguments')
  })
})

describe('without a function that asks', () => {
  test('the run waits, is answered in another process, and nothing runs twice', async () => {
    const shop = makeShop()
    const options: RuntimeOptions = { tools: shop.tools, approve: { tools: 'shop.order' } }
    const source = `
import { order } from "host/shop"
println(order({article: "a", cents: 1}))
println(order({article: "b", cents: 2}))
`
    const first = createRuntime(options)
    const run = first.start(first.compile(source))
    const one = await awaitRequest(first)
    expect(first.approvals.respond(one.id, true)).toBe(true)
    const two = await awaitRequest(first)
    expect(two.id).not.toBe(one.id)
    expect(() => first.approvals.respond(two.id, 'Ada')).toThrow(/answer to the permission "shop.order" .* is "Ada"/)
    const bytes = await run.snapshot()
    run.cancel()
    await run.result
    expect(shop.orders).toHaveLength(1)

    const second = createRuntime(options)
    const resumed = second.resume(bytes)
    const again = await awaitRequest(second)
    expect([again.id, again.call]).toEqual([two.id, two.call])
    expect(second.approvals.respond(one.id, true)).toBe(false)
    second.approvals.respond(again.id, { granted: true, binding: again.call!.binding })
    expect(await resumed.result).toMatchObject({ status: 'done', output: 'ordered a\nordered b\n' })
    expect(shop.orders).toHaveLength(2)
  })

  test('a host without rules resumes a run that had some, and it still asks', async () => {
    const shop = makeShop()
    const first = createRuntime({ tools: shop.tools, approve: { tools: 'shop.order' } })
    const run = first.start(first.compile(ORDER))
    await awaitRequest(first)
    const bytes = await run.snapshot()
    run.cancel()
    const result = await createRuntime({ tools: shop.tools }).resume(bytes).result
    expect(result.output).toContain('approval required but no host bridge is available')
    expect(shop.orders).toEqual([])
  })

  test('a call of a tool by a tool, which could not wait, is refused', async () => {
    const inner = makeShop()
    const outer = defineTool({
      name: 'outer',
      effects: ['net'],
      execute: (_args, { tools }) => tools.call('shop.order', { article: 'a', cents: 1 }),
    })
    const runtime = createRuntime({
      tools: [...inner.tools, outer],
      approve: { rules: { tools: 'shop.order' }, ask: () => true },
    })
    const source = 'import { outer } from "host/tools"\nprintln(try { outer({}) } catch (e) { e.message })'
    const { output } = await runtime.start(runtime.compile(source)).result
    expect(output).toContain('asks a person')
    expect(inner.orders).toEqual([])
  })
})

describe('questions and approvals', () => {
  const answered = async (source: string, answer: unknown): Promise<string> => {
    const runtime = createRuntime({ approve: { rules: { tools: 'none.such' }, ask: () => answer }, grants: ['approval'] })
    return (await runtime.start(runtime.compile(source)).result).output
  }
  const ASK = 'println(try { ask_user("Name?") } catch (e) { e.message })'
  const APPROVE = 'println(try { request_approval("deploy").reviewers } catch (e) { e.message })'
  const QUORUM = 'println(try { request_approval("deploy", {reviewers: ["ada"]}).reviewers } catch (e) { e.message })'

  test.each<[string, string, unknown, string]>([
    ['a text', ASK, 'Ada', 'Ada'],
    ['a boolean', ASK, true, 'true'],
    ['a number', ASK, 4, '4'],
    ['an answer', ASK, { answer: 'Ada' }, 'Ada'],
    ['a yes to a question', ASK, { approved: true }, 'ask_user: the answer to the question "Name?"'],
    ['true', APPROVE, true, '[host]'],
    ['approved', APPROVE, { approved: true }, '[host]'],
    ['granted, with a name', APPROVE, { granted: true, reviewer: 'ada' }, '[ada]'],
    ['no', APPROVE, false, 'approval was denied'],
    ['no with a reason', APPROVE, { approved: false, reason: 'later' }, 'later'],
    ['a text for an approval', APPROVE, 'Ada', 'request_approval: the answer to the approval "deploy"'],
    ['an answer for an approval', APPROVE, { answer: true }, 'request_approval: the answer to the approval "deploy"'],
    ['a yes that does not count', QUORUM, true, '{approved: true, reviewer: …} with one of "ada"'],
    ['a yes that counts', QUORUM, { approved: true, reviewer: 'ada' }, '[ada]'],
    ['an escalation', 'println(escalate_to("ops", "help").status)', true, 'accepted'],
  ])('%s', async (_name, source, answer, expected) => {
    expect(await answered(source, answer)).toContain(expected)
  })

  test('the error has its place in the script', async () => {
    const runtime = createRuntime({
      approve: { rules: { tools: 'none.such' }, ask: () => ({ approved: true }) },
      grants: ['approval'],
    })
    const result = await runtime.start(runtime.compile('let a = 1\nask_user("Name?", {default: "x"})', { file: 'main.harn' }))
      .result
    expect(result).toMatchObject({ status: 'failed', error: { value: { name: 'HumanAnswerError' } } })
    expect(result.status === 'failed' && result.error.trace.some(({ line }) => line === 2)).toBe(true)
  })
})
