// The places where hosts put models are those of the table of providers.

import { expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { PROVIDERS } from '../agents/models/providers.js'
import { MODEL_PLACES, nodeProviders } from './providers.js'

test('every variable by which a host says where a model is has a place in the network policy', async () => {
  const runtime = createRuntime({ grants: ['*'], providers: () => nodeProviders({}) })
  const source = 'return llm_config().values().map({ row -> row.base_url_env ?? "" }).filter({ name -> name != "" })'
  const names = (await runtime.run(source, { effects: 'off' })) as readonly string[]
  expect(names.length).toBeGreaterThan(10)
  const further = Object.values(PROVIDERS).flatMap(({ baseUrlEnvs = [] }) => baseUrlEnvs)
  expect([...names, ...further].sort()).toEqual([...MODEL_PLACES].sort())
})
