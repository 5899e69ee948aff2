// Budgets of calls, tokens and money, spent concurrently, under other names, and in two halves of a run.

import { answered, createRuntime, defineTool } from '@bridle/stdlib-tools'
import type { Budgets, Provider } from '@bridle/stdlib-tools'
import { makeHostOptions, must, makeCases, runToText } from '../../attempt.js'
import type { World } from '../../world.js'

const HEAD = 'import "std/tools"\n'

async function countOrders(world: World, body: string, budgets: Budgets): Promise<number> {
  await runToText(`${HEAD}${body}`, makeHostOptions(world), { budgets })
  return world.performed.filter((what) => what.endsWith('shop.order')).length
}

const call = (name: string): string => `try { tool_call("${name}", {item: "a", amount: 1}) } catch (e) { }`

/** A model that underreports its cost. */
function model(usage: object): { readonly provider: Provider; readonly asked: () => number } {
  let asked = 0
  return {
    asked: () => asked,
    provider: {
      kinds: ['llm.call'],
      perform: async () => {
        asked++
        await Promise.resolve()
        return answered({ text: 'yes', tool_calls: [], ...usage } as never)
      },
    },
  }
}

async function asks(
  usage: object,
  budgets: Budgets,
  options = '{provider: "openai", model: "gpt-4o", max_tokens: 100}',
): Promise<number> {
  const { provider, asked } = model(usage)
  const source = `parallel each (1 to 40).to_list() { n -> try { llm_call("hi", nil, ${options}) } catch (e) { } }`
  await runToText(source, { providers: [provider], grants: ['*'] }, { budgets })
  return asked()
}

export const cases = makeCases('budgets-are-reserved', {
  'forty calls at once of a budget of one': async (world) => {
    const count = await countOrders(world, `parallel each (1 to 40).to_list() { n -> ${call('shop.order')} }`, {
      'shop.order': { calls: 1 },
    })
    must(count === 1, `${count} calls ran`)
  },
  'all names of a tool spend one budget': async (world) => {
    const body = [
      call('shop.order'),
      call('buy'),
      'try { host_tool_call("buy", {}) } catch (e) { }',
      'try { host_call("shop.order", {}) } catch (e) { }',
    ]
    const count = await countOrders(world, body.join('\n'), { 'shop.order': { calls: 2 } })
    must(count === 2, `${count} calls ran`)
  },
  'an entry of its own spends the budget of what it leads to': async (world) => {
    const entry = '{name: "notes.read", executor: "host_bridge", host_capability: "shop.order"}'
    const count = await countOrders(world, `for i in 1 to 5 { try { tool_call(${entry}, {item: "a"}) } catch (e) { } }`, {
      'shop.order': { calls: 1 },
    })
    must(count === 1, `${count} calls ran`)
  },
  'a budget of none': async (world) => {
    const count = await countOrders(world, call('shop.order'), { 'shop.order': { calls: 0 } })
    must(count === 0, `${count} calls ran`)
  },
  'calls that fail are spent': async (world) => {
    let tried = 0
    const tool = defineTool({
      name: 'shop.fail',
      execute: () => {
        tried++
        throw new Error('no')
      },
    })
    await runToText(
      `${HEAD}for i in 1 to 9 { try { tool_call("shop.fail", {}) } catch (e) { } }`,
      { ...makeHostOptions(world), tools: [tool] },
      { budgets: { 'shop.fail': { calls: 2 } } },
    )
    must(tried === 2, `${tried} calls ran`)
  },
  'a snapshot does not give it back': async (world) => {
    const budgets = { 'shop.order': { calls: 1 } }
    const host = createRuntime({ ...makeHostOptions(world), enforceManifest: false })
    const run = host.start(host.compile(`${HEAD}${call('shop.order')}\nsleep(1ms)\n${call('shop.order')}\n${call('buy')}`), {
      budgets,
    })
    const bytes = await run.snapshot()
    run.cancel()
    await run.result
    await host.resume(bytes, { budgets }).result
    must(world.performed.length === 1, `${world.performed.length} calls ran`)
  },
  'forty questions at once of a budget of tokens': async () => {
    const count = await asks({ model: 'gpt-4o', input_tokens: 50, output_tokens: 50 }, { llm: { tokens: 250 } })
    must(count <= 3, `${count} questions were asked`)
  },
  'a model that does not say what it took': async () => {
    const count = await asks({ model: 'gpt-4o' }, { llm: { tokens: 250 } })
    must(count <= 3, `${count} questions were asked`)
  },
  'forty questions at once of a budget of money': async () => {
    const count = await asks({ model: 'gpt-4o', input_tokens: 10, output_tokens: 100 }, { llm: { usd: 0.0021 } })
    must(count <= 3, `${count} questions were asked`)
  },
  'a model whose price nobody knows': async () => {
    const usage = { model: 'mystery-9000', input_tokens: 1000, output_tokens: 1000 }
    const count = await asks(usage, { llm: { usd: 0.001 } }, '{provider: "openai", model: "mystery-9000", max_tokens: 1000}')
    must(count <= 1, `${count} questions were asked`)
  },
})
