// A run that stops during a model request continues in another runtime, and does not read earlier answers again.

import { expect, test } from 'vitest'
import { createRuntime } from '../../index.js'
import type { Provider } from '../../index.js'
import { answered } from '../../tools/executors/provider.js'

/** A world whose model answers when released; counts the requests. */
function makeWorld(answer: { readonly [key: string]: string | boolean | number[] }): {
  readonly providers: readonly Provider[]
  readonly seen: string[]
  readonly open: () => void
} {
  let open = (): void => {}
  const opened = new Promise<void>((done) => {
    open = done
  })
  const seen: string[] = []
  const environment: Provider = {
    kinds: ['process.info'],
    perform: ({ args }) => {
      seen.push(`${String(args['op'])} ${String(args['name'])}`)
      return answered(args['op'] === 'env_set' ? false : null)
    },
  }
  const model: Provider = {
    kinds: ['llm.call'],
    perform: async ({ args }) => {
      seen.push(String(args['op']))
      await opened
      return answered(answer)
    },
  }
  return { providers: [environment, model], seen, open: () => open() }
}

test.each([
  [
    'an embedding',
    'import { tool_call } from "std/tools"\nreturn tool_call("llm.embed", {text: "a", provider: "openai", model: "m"})',
    { vector: [1, 2] },
    'embed',
  ],
  ['a health check', 'return llm_healthcheck("openai", {model: "m"}).valid', { valid: true }, 'healthcheck'],
])('%s that waits is asked for again after a restore, and nothing before it', async (_, source, answer, op) => {
  const first = makeWorld(answer)
  const host = createRuntime({ providers: first.providers, grants: ['*'] })
  const run = host.start(host.compile(source))
  while (!first.seen.includes(op)) await new Promise((done) => setImmediate(done))
  const bytes = await run.snapshot()
  run.cancel()
  first.open()
  await run.result
  const second = makeWorld(answer)
  second.open()
  const resumed = createRuntime({ providers: second.providers, grants: ['*'] }).resume(bytes)
  expect(await resumed.result).toMatchObject({ status: 'done', value: Object.values(answer)[0] })
  expect(second.seen).toEqual([op])
})
