// Every case through `Runtime`: scripts with the options of their headers, and attacks in code.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differences, runThroughRuntime } from './drive.js'
import { codeCases, scriptCases } from './load-cases.js'
import { makeWorld } from './world.js'

// An error thrown outside a result is a broken promise of the case that ran then.
const escaped: unknown[] = []
const onEscaped = (cause: unknown): void => {
  escaped.push(cause)
}

beforeAll(() => {
  process.on('unhandledRejection', onEscaped)
})
afterAll(() => {
  process.off('unhandledRejection', onEscaped)
  expect(escaped).toEqual([])
})

describe('scripts', () => {
  const rows = scriptCases().flatMap((one) =>
    one.runtimes.map((settings, at) => ({ title: at === 0 ? one.name : `${one.name} (${at + 1})`, one, settings })),
  )
  test.each(rows)('$title', async ({ one, settings }) => {
    const world = makeWorld(one.allowance)
    try {
      const ended = await runThroughRuntime(one, settings, world)
      expect(differences(one, ended, world), `${one.promise}\n${ended.output}\n${ended.message}`).toEqual([])
    } finally {
      world.remove()
    }
  })
})

const attacks = await codeCases('thread')

describe.skipIf(attacks.length === 0)('attacks in code', () => {
  // Not test.each: it truncates titles.
  for (const { name, attack } of attacks) {
    test(name, async () => {
      const world = makeWorld()
      try {
        await attack(world)
        expect(world.complaints([])).toEqual([])
      } finally {
        world.remove()
      }
    })
  }
})
