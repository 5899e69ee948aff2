// A sample of the suite as durable runs that are killed; `bridle conformance conformance --mode durable` is the sweep.

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { discover } from './discover.js'
import { runTest } from './modes.js'

const root = fileURLToPath(new URL('../../../../conformance', import.meta.url))

test('there are scripts', () => {
  expect(readdirSync(root)).toContain('tests')
})

// Tasks, timers, handlers, iterators, what std/durable keeps, and scripts that fail.
test('a sample ends as it should, killed in front of each commit', { timeout: 120_000 }, async () => {
  const wanted = /\/(std_durable|channels|iterators|finally|errors|durations|concurrency|generators)\//
  const found = discover(root).filter(({ file, kind }) => kind !== 'static' && wanted.test(file))
  const sample = found.filter((_, at) => at % Math.ceil(found.length / 25) === 0)
  expect(sample.length).toBeGreaterThan(10)
  for (const script of sample) {
    const verdict = await runTest(script, ['durable'], { signal: AbortSignal.timeout(60_000) })
    expect(verdict, script.name).toBeNull()
  }
})
