// Snapshots of agent loops: they grow with the transcript, and a restored loop continues where it stopped, without doing anything again.

import { expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import { answered } from '../../tools/executors/provider.js'
import type { Provider } from '../../tools/executors/provider.js'

const DONE = '<user_response>fine</user_response>\n<done>##DONE##</done>'

const SOURCE = `
let tools = tool_define(tool_registry(), "look", "Looks at an item", {
  parameters: {what: {type: "string"}},
  handler: { args -> "The item that was looked at is \${args.what}; it weighs four pounds, and its colour is a light blue" },
})
return agent_loop("Look at everything", "You look at things.", {
  provider: "openai", model: "gpt-4o", tools: tools, max_iterations: 1000, persistent: true, auto_compact: false,
})
`

/** A model that looks at one thing after the other, and keeps everybody waiting for the answer of turn `turns + 1`. */
function makeModel(turns: number) {
  let asked = 0
  let goOn: () => void = () => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  let reach: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const provider: Provider = {
    kinds: ['llm.call'],
    perform: async () => {
      asked++
      const text = asked > turns ? DONE : `<tool_call>\nlook({ what: "item number ${asked} of the shelf" })\n</tool_call>`
      if (asked === turns + 1) {
        reach()
        await held
      }
      return answered({ text, model: 'gpt-4o', input_tokens: 100, output_tokens: 20 })
    },
  }
  return { provider, reached, goOn, asked: () => asked }
}

interface LoopResult {
  readonly text: string
  readonly llm: { readonly iterations: number }
  readonly tools: { readonly calls: readonly string[] }
  readonly transcript: { readonly messages: readonly unknown[]; readonly events: readonly { readonly kind: string }[] }
}

const makeRuntime = (provider: Provider) => createRuntime({ providers: [provider], grants: ['llm'] })

/** The snapshot of a loop that waits for its model after this many turns, and what the loop gives in the end. */
async function takeSnapshotAfter(turns: number): Promise<{ readonly bytes: Uint8Array; readonly result: LoopResult }> {
  const { provider, reached, goOn } = makeModel(turns)
  const runtime = makeRuntime(provider)
  const run = runtime.start(runtime.compile(SOURCE))
  await reached
  const bytes = await run.snapshot()
  goOn()
  const { value } = (await run.result) as unknown as { readonly value: LoopResult }
  return { bytes, result: value }
}

const measureSize = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

test('a snapshot is no larger than the transcript by more than a third, and grows as the transcript does', async () => {
  const short = await takeSnapshotAfter(40)
  const long = await takeSnapshotAfter(160)
  const computeRatio = ({ bytes, result }: typeof short): number => bytes.length / measureSize(result.transcript)
  expect(computeRatio(long)).toBeLessThan(1.3)
  expect(computeRatio(long)).toBeLessThanOrEqual(computeRatio(short))
})

test('a restored loop asks its model once for what it waited for, and gives what the first run gave', async () => {
  const { bytes, result } = await takeSnapshotAfter(12)
  const after = makeModel(0)
  after.goOn()
  const again = (await makeRuntime(after.provider).resume(bytes).result) as unknown as { readonly value: LoopResult }
  expect(after.asked()).toBe(1)
  const pickShape = ({ text, llm, tools, transcript }: LoopResult) => ({
    text,
    iterations: llm.iterations,
    tools,
    messages: transcript.messages,
    events: transcript.events.map(({ kind }) => kind),
  })
  expect(pickShape(again.value)).toEqual(pickShape(result))
})

test('the record of mocked calls grows with the conversation, not with its square', async () => {
  const measureAfter = async (turns: number): Promise<number> => {
    const { provider, reached, goOn } = makeModel(0)
    const runtime = makeRuntime(provider)
    const mock = '{text: "<tool_call>\\nlook({ what: \\"item ${n}\\" })\\n</tool_call>"}'
    const run = runtime.start(runtime.compile(`for n in 1 to ${turns} { llm_mock(${mock}) }\n${SOURCE}`))
    await reached
    const { length } = await run.snapshot()
    goOn()
    expect(await run.result).toMatchObject({ status: 'done', value: { llm: { iterations: turns + 1 } } })
    return length
  }
  const short = await measureAfter(20)
  expect(await measureAfter(80)).toBeLessThan(4.5 * short)
})
