// Every program of the corpus, both halves, at a small size: both tiers behave the same with the
// same fuel and heap charge, and the JavaScript twin prints the same line.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TierOptions } from '@bridle/vm'
import { describe, expect, it } from 'vitest'
import { Engine } from '../engine.js'
import { findCorpus, HALVES, listPrograms, readTexts } from './programs.js'

const corpus = findCorpus()
const engine = new Engine()

describe.each(HALVES)('programs of the %s half', (half) => {
  it.each(listPrograms(half, corpus).map((program) => [program.name, program] as const))(
    '%s',
    async (name, { folder, small }) => {
      const { main, modules } = readTexts(folder, small)
      const run = (tier: TierOptions | null): unknown => engine.runCounted(engine.load(main, [], modules), { tier })
      const base = run(null)
      const twin = (await import(pathToFileURL(join(folder, 'main.mjs')).href)) as { run: (n: number) => string }
      expect(base).toMatchObject({ output: twin.run(small) })
      expect(String((base as { output: string }).output)).toMatch(new RegExp(`^${name} `))
      expect(run({ calls: 0, turns: 0 })).toEqual(base)
      expect(run({ calls: 2, turns: 20 })).toEqual(base)
    },
  )
})
