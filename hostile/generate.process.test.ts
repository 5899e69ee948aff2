// A seeded part of what `npm run test:hostile` generates. Coarse bounds only: test machines are busy.

import { expect, test } from 'vitest'
import { Generator } from './generate.js'
import { hostileRuntime, judge } from './judge.js'
import { Watchdog } from './watchdog.js'

const SEED = 4711
const INPUTS = 150
/** Time after which the sample is large enough for a slow machine. */
const LONG_ENOUGH_MS = 20_000
const GROSS_HOLD_MS = 10_000
const GROSS_GROWTH = 1 << 30

test('generated inputs break nothing', { timeout: 120_000 }, async () => {
  const runtime = hostileRuntime()
  const generator = new Generator(SEED, runtime.registry)
  const watchdog = new Watchdog()
  const broken: string[] = []
  const began = performance.now()
  try {
    // Spread over all builtins.
    const step = Math.floor(generator.size / INPUTS)
    for (let at = 0; at < INPUTS && performance.now() - began < LONG_ENOUGH_MS; at++) {
      const { input, complaint, longestMs, grownBytes } = await judge(generator.input(at * step), runtime, watchdog)
      const label = `npm run test:hostile -- --seed ${SEED} --only ${input.index} (${input.name})`
      if (complaint !== null) broken.push(`${label}: ${complaint}`)
      if (longestMs > GROSS_HOLD_MS) broken.push(`${label}: held the thread for ${longestMs.toFixed(0)} ms`)
      if (grownBytes > GROSS_GROWTH) broken.push(`${label}: grew the process by ${grownBytes} bytes`)
    }
  } finally {
    await watchdog.end()
  }
  expect(broken).toEqual([])
})

test('the watchdog detects a blocked thread and growth', async () => {
  const watchdog = new Watchdog()
  try {
    const { longestMs, grownBytes } = await watchdog.watch('planted', async () => {
      const until = performance.now() + 120
      while (performance.now() < until) Math.sqrt(until)
      return Buffer.alloc(256 << 20, 1).length
    })
    expect(longestMs).toBeGreaterThan(100)
    expect(grownBytes).toBeGreaterThan(64 << 20)
  } finally {
    await watchdog.end()
  }
})

test('the same seed makes the same input, another seed another one', () => {
  const { registry } = hostileRuntime()
  const source = (seed: number): string => new Generator(seed, registry).input(5).source
  expect(source(1)).toBe(source(1))
  expect(source(1)).not.toBe(source(2))
})
