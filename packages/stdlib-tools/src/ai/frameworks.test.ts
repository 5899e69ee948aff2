// The shapes of `scriptTool` against the real packages, with models that are scripted: a wrong script, its finding, a right one, approval.

import Anthropic from '@anthropic-ai/sdk'
import { isLangChainTool } from '@langchain/core/utils/function_calling'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ElicitRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import * as newest from 'ai'
import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test'
import * as six from 'ai6'
import { MockLanguageModelV3 } from 'ai6/test'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createRuntime } from '../host/runtime.js'
import { defineTool } from '../tools/host-tools/define.js'
import { memoryPendingStore } from './pending-runs.js'
import type { PendingStore } from './pending-runs.js'
import { scriptTool } from './script-tool.js'

const WRONG = 'import { order } from "host/shop"\nreturn ordr({article: "tea"})'
const RIGHT = 'import { order } from "host/shop"\nprintln("one moment")\nreturn order({article: "tea"})'

function makeShop({
  store = memoryPendingStore(),
  needsApproval = true,
}: { store?: PendingStore; needsApproval?: boolean } = {}) {
  const orders: string[] = []
  const order = defineTool({
    name: 'shop.order',
    description: 'Orders an article',
    input: z.object({ article: z.string() }),
    output: z.string(),
    execute: ({ article }) => {
      orders.push(article)
      return `ordered ${article}`
    },
  })
  const runtime = createRuntime({ tools: [order], ...(needsApproval ? { approve: { tools: 'shop.order' } } : {}) })
  return { orders, tool: scriptTool(runtime, { store }) }
}

/** What a model sends next: a script, or its last words. */
type Turn = { readonly script: string } | { readonly resume: string } | { readonly text: string }

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** Answers of a scripted model of the AI SDK, and the prompts that it was given. */
function makeScripted(turns: readonly Turn[], prompts: unknown[]) {
  let at = 0
  return (options: { readonly prompt: unknown }) => {
    prompts.push(options.prompt)
    const turn = turns[at++]!
    const content =
      'text' in turn
        ? [{ type: 'text' as const, text: turn.text }]
        : [{ type: 'tool-call' as const, toolCallId: `call_${at}`, toolName: 'run_script', input: JSON.stringify(turn) }]
    const unified = 'text' in turn ? ('stop' as const) : ('tool-calls' as const)
    return Promise.resolve({ content, finishReason: { unified, raw: undefined }, usage, warnings: [] })
  }
}

describe('the AI SDK', () => {
  const versions = [
    [
      'newest',
      newest,
      (turns: readonly Turn[], prompts: unknown[]) => new MockLanguageModelV4({ doGenerate: makeScripted(turns, prompts) }),
    ],
    [
      '6',
      six,
      (turns: readonly Turn[], prompts: unknown[]) => new MockLanguageModelV3({ doGenerate: makeScripted(turns, prompts) }),
    ],
  ] as const

  // Types of the two are alike, not the same.
  type Sdk = typeof newest

  test.each(versions)(
    '%s: a wrong script, its finding, a right one, approval in another process',
    async (_name, sdk, makeModel) => {
      const { generateText, stepCountIs } = sdk as Sdk
      const prompts: unknown[] = []
      const store = memoryPendingStore()
      const first = makeShop({ store })
      const messages: newest.ModelMessage[] = [{ role: 'user', content: 'Order tea' }]
      const model = makeModel([{ script: WRONG }, { script: RIGHT }, { text: 'Done.' }], prompts) as MockLanguageModelV4
      const asked = await generateText({ model, tools: first.tool.aiSdk(), messages, stopWhen: stepCountIs(5) })
      expect(JSON.stringify(prompts[1])).toMatch(/ordr[^]*order/)
      const request = asked.content.find((part) => part.type === 'tool-approval-request')
      expect(request).toMatchObject({ toolCall: { toolCallId: 'call_2' } })
      expect(await first.tool.pending('call_2')).toMatchObject([{ call: { tool: 'shop.order', args: { article: 'tea' } } }])
      expect(first.orders).toEqual([])

      const second = makeShop({ store })
      messages.push(...asked.response.messages)
      if (request?.type !== 'tool-approval-request') throw new Error('nobody was asked')
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }],
      })
      const done = await generateText({ model, tools: second.tool.aiSdk(), messages, stopWhen: stepCountIs(5) })
      expect(done.text).toBe('Done.')
      expect([first.orders, second.orders]).toEqual([[], ['tea']])
      expect(JSON.stringify(prompts[2])).toContain('ordered tea')
    },
  )

  test.each(versions)('%s: a refusal, and a run that is not here, carry out nothing', async (_name, sdk, makeModel) => {
    const { generateText, stepCountIs } = sdk as Sdk
    const answer = async (approved: boolean, isElsewhere: boolean) => {
      const prompts: unknown[] = []
      const first = makeShop()
      const second = isElsewhere ? makeShop() : first
      const messages: newest.ModelMessage[] = [{ role: 'user', content: 'Order tea' }]
      const model = makeModel([{ script: RIGHT }, { text: 'Well.' }], prompts) as MockLanguageModelV4
      const asked = await generateText({ model, tools: first.tool.aiSdk(), messages, stopWhen: stepCountIs(5) })
      messages.push(...asked.response.messages)
      const request = asked.content.find((part) => part.type === 'tool-approval-request')
      if (request?.type !== 'tool-approval-request') throw new Error('nobody was asked')
      messages.push({ role: 'tool', content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved }] })
      await generateText({ model, tools: second.tool.aiSdk(), messages, stopWhen: stepCountIs(5) })
      return { orders: [...first.orders, ...second.orders], told: JSON.stringify(prompts.at(-1)) }
    }
    expect((await answer(false, false)).orders).toEqual([])
    const elsewhere = await answer(true, true)
    expect(elsewhere.orders).toEqual([])
    expect(elsewhere.told).toContain('no run waits under this token')
  })

  test('streaming, without approval', async () => {
    const { tool, orders } = makeShop({ needsApproval: false })
    let at = 0
    const model = new MockLanguageModelV4({
      doStream: () => {
        const isFirst = at++ === 0
        const parts = isFirst
          ? [{ type: 'tool-call' as const, toolCallId: 'c', toolName: 'run_script', input: JSON.stringify({ script: RIGHT }) }]
          : [
              { type: 'text-start' as const, id: 't' },
              { type: 'text-delta' as const, id: 't', delta: 'Done.' },
              { type: 'text-end' as const, id: 't' },
            ]
        const finishReason = { unified: isFirst ? ('tool-calls' as const) : ('stop' as const), raw: undefined }
        const all = [{ type: 'stream-start' as const, warnings: [] }, ...parts, { type: 'finish' as const, finishReason, usage }]
        return Promise.resolve({ stream: convertArrayToReadableStream<(typeof all)[number]>(all) as never })
      },
    })
    const result = newest.streamText({ model, tools: tool.aiSdk(), prompt: 'Order tea', stopWhen: newest.stepCountIs(3) })
    expect(await result.text).toBe('Done.')
    expect(orders).toEqual(['tea'])
  })
})

/** A `fetch` that gives the bodies one after the other, and keeps what it was sent. */
function makeFetch(bodies: readonly unknown[]) {
  const sent: { readonly [key: string]: unknown }[] = []
  let at = 0
  const fake: typeof fetch = (_url, init) => {
    sent.push(JSON.parse(String(init?.body)) as { readonly [key: string]: unknown })
    return Promise.resolve(new Response(JSON.stringify(bodies[at++]), { headers: { 'content-type': 'application/json' } }))
  }
  return { fetch: fake, sent }
}

describe('OpenAI', () => {
  const call = (script: string, id: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'run_script',
    arguments: JSON.stringify({ script }),
    status: 'completed',
  })
  const respond = (output: readonly unknown[]) => ({ id: 'r', object: 'response', status: 'completed', output })

  test('Responses', async () => {
    const { tool, orders } = makeShop()
    const message = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
    }
    const { fetch, sent } = makeFetch([respond([call(WRONG, 'a')]), respond([call(RIGHT, 'b')]), respond([message])])
    const client = new OpenAI({ apiKey: 'none', fetch })
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Order tea' }]
    let text = ''
    for (let turn = 0; turn < 5 && text === ''; turn++) {
      const response = await client.responses.create({ model: 'scripted', input, tools: [...tool.openAiResponses()] })
      text = response.output_text
      for (const item of response.output) {
        input.push(item as OpenAI.Responses.ResponseInputItem)
        let answer = await tool.answerOpenAiResponses(item)
        if (answer === null) continue
        const outcome = JSON.parse(answer.output) as { readonly status: string; readonly token: string }
        if (outcome.status === 'pending') answer = { ...answer, output: JSON.stringify(await tool.resume(outcome.token, true)) }
        input.push(answer)
      }
    }
    expect(text).toBe('Done.')
    expect(orders).toEqual(['tea'])
    expect(JSON.stringify(sent[1])).toContain('ordr')
    expect(sent[0]).toMatchObject({ tools: [{ type: 'function', name: 'run_script', parameters: { type: 'object' } }] })
  })

  test('Chat Completions, and its runner of tools', async () => {
    const { tool, orders } = makeShop({ needsApproval: false })
    const choose = (message: unknown, finish_reason: string) => ({
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
    })
    const callTool = (script: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't', type: 'function', function: { name: 'run_script', arguments: JSON.stringify({ script }) } }],
    })
    const bodies = [
      choose(callTool(WRONG), 'tool_calls'),
      choose(callTool(RIGHT), 'tool_calls'),
      choose({ role: 'assistant', content: 'Done.' }, 'stop'),
    ]
    const { fetch, sent } = makeFetch(bodies)
    const client = new OpenAI({ apiKey: 'none', fetch })
    const runner = client.chat.completions.runTools({
      model: 'scripted',
      messages: [{ role: 'user', content: 'Order tea' }],
      tools: [...tool.openAiChat()] as never,
    })
    expect(await runner.finalContent()).toBe('Done.')
    expect(orders).toEqual(['tea'])
    expect(JSON.stringify(sent[1])).toContain('ordr')
    expect(await tool.answerOpenAiChat({ id: 'x', function: { name: 'run_script', arguments: '{"script"' } })).toMatchObject({
      role: 'tool',
      tool_call_id: 'x',
      content: expect.stringContaining('no JSON') as string,
    })
  })
})

describe('Anthropic', () => {
  const reply = (content: readonly unknown[], stop_reason: string) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const use = (script: string, id: string) => reply([{ type: 'tool_use', id, name: 'run_script', input: { script } }], 'tool_use')

  test('messages with tools', async () => {
    const { tool, orders } = makeShop()
    const { fetch, sent } = makeFetch([use(WRONG, 'a'), use(RIGHT, 'b'), reply([{ type: 'text', text: 'Done.' }], 'end_turn')])
    const client = new Anthropic({ apiKey: 'none', fetch })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Order tea' }]
    let text = ''
    for (let turn = 0; turn < 5 && text === ''; turn++) {
      const message = await client.messages.create({ model: 'scripted', max_tokens: 100, messages, tools: [...tool.anthropic()] })
      messages.push({ role: 'assistant', content: message.content })
      const results: Anthropic.ToolResultBlockParam[] = []
      for (const block of message.content) {
        if (block.type === 'text') text += block.text
        let result = await tool.answerAnthropic(block)
        if (result === null) continue
        const outcome = JSON.parse(result.content) as { readonly status: string; readonly token: string }
        if (outcome.status === 'pending') result = { ...result, content: JSON.stringify(await tool.resume(outcome.token, true)) }
        results.push(result)
      }
      if (results.length > 0) messages.push({ role: 'user', content: results })
    }
    expect(text).toBe('Done.')
    expect(orders).toEqual(['tea'])
    expect(JSON.stringify(sent[1])).toMatch(/ordr[^]*"is_error":true/)
  })

  test('its runner of tools', async () => {
    const { tool, orders } = makeShop({ needsApproval: false })
    const { fetch } = makeFetch([use(RIGHT, 'b'), reply([{ type: 'text', text: 'Done.' }], 'end_turn')])
    const client = new Anthropic({ apiKey: 'none', fetch })
    const final = await client.beta.messages.toolRunner({
      model: 'scripted',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Order tea' }],
      tools: [...tool.anthropic()] as never,
    })
    expect(final.content).toMatchObject([{ type: 'text', text: 'Done.' }])
    expect(orders).toEqual(['tea'])
  })
})

test('LangChain.js', async () => {
  const { tool, orders } = makeShop({ needsApproval: false })
  const [plain] = tool.langChain()
  expect(isLangChainTool(plain)).toBe(true)
  const structured = new DynamicStructuredTool(plain! as never)
  const wrong = String(await structured.invoke({ script: WRONG }))
  expect(wrong).toContain('ordr')
  const message = (await structured.invoke({ type: 'tool_call', id: 't', name: 'run_script', args: { script: RIGHT } })) as {
    readonly content: string
  }
  expect(message.content).toContain('ordered tea')
  expect(await plain!.invoke({ type: 'tool_call', id: 't', name: 'run_script', args: { script: RIGHT } })).toContain(
    'ordered tea',
  )
  expect(orders).toEqual(['tea', 'tea'])
})

describe('MCP', () => {
  async function connect(tool: ReturnType<typeof makeShop>['tool'], answer: (message: string) => unknown, hasForms = true) {
    const { tools, callTool } = tool.mcp()
    const server = new Server({ name: 'scripts', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }) as never)
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
      callTool(params, { signal, ...(hasForms ? { elicit: (form: never) => server.elicitInput(form) } : {}) }),
    )
    const client = new Client({ name: 'test', version: '1' }, { capabilities: hasForms ? { elicitation: {} } : {} })
    if (hasForms) client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message) as never)
    const [left, right] = InMemoryTransport.createLinkedPair()
    await Promise.all([server.connect(left), client.connect(right)])
    return client
  }

  test('a form asks for approval, with the exact call', async () => {
    const { tool, orders } = makeShop()
    const seen: string[] = []
    const client = await connect(tool, (message) => {
      seen.push(message)
      return { action: 'accept', content: { approved: true } }
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['run_script'])
    expect(await client.callTool({ name: 'run_script', arguments: { script: WRONG } })).toMatchObject({ isError: true })
    expect(await client.callTool({ name: 'run_script', arguments: { script: RIGHT } })).toMatchObject({
      structuredContent: { status: 'done', value: 'ordered tea' },
    })
    expect(seen).toEqual([expect.stringMatching(/shop\.order[^]*"article":"tea"/)])
    expect(orders).toEqual(['tea'])
    await client.close()
  })

  test('a refusal, and a client without forms', async () => {
    const refused = makeShop()
    const client = await connect(refused.tool, () => ({ action: 'decline' }))
    expect(await client.callTool({ name: 'run_script', arguments: { script: RIGHT } })).toMatchObject({
      structuredContent: { status: 'failed' },
    })
    expect(refused.orders).toEqual([])
    await client.close()
    const silent = makeShop()
    const other = await connect(silent.tool, () => null, false)
    const pending = await other.callTool({ name: 'run_script', arguments: { script: RIGHT } })
    const { status, token } = pending.structuredContent as { readonly status: string; readonly token: string }
    expect(status).toBe('pending')
    expect(await silent.tool.resume(token, true)).toMatchObject({ status: 'done' })
    expect(silent.orders).toEqual(['tea'])
    await other.close()
  })
})
