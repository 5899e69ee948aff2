// A seeded sample of what `npm run test:full` does at length: the same inputs every time, so that a failure here is caused by a change of ours.

import { expect, test } from 'vitest'
import { runCampaign } from './campaign.js'
import { compile } from './engine.js'
import { generateProgram } from './generate.js'
import { Random } from './random.js'
import { TARGETS, targetNamed } from './targets.js'

const SEED = 2026

/** Inputs by target; some seconds in total. */
const INPUTS: Readonly<Record<string, number>> = {
  parser: 1500,
  grammar: 500,
  program: 250,
  tiers: 100,
  chunk: 350,
  snapshot: 120,
  checker: 300,
  types: 500,
  effects: 200,
}

test.each(TARGETS.filter((target) => target.share > 0).map((target) => [target.name, target] as const))(
  '%s stands',
  (name, target) => {
    const findings = runCampaign({ target, seed: SEED, from: 0, inputs: INPUTS[name]! })
    expect(findings.map(({ index, message, input }) => `#${index}: ${message}\n${input.slice(0, 1500)}`)).toEqual([])
  },
)

test('a planted bug is found and minimised', () => {
  const findings = runCampaign({ target: targetNamed('planted')!, seed: SEED, from: 0, inputs: 500 })
  expect(findings.map(({ message, input }) => [message, input])).toEqual([['planted: two brackets', '[[']])
})

test('generated programs compile', () => {
  const refused: string[] = []
  for (let index = 0; index < 80; index++) {
    const text = generateProgram(new Random(SEED, 'generated', index))
    const { error } = compile(text)
    if (error !== null) refused.push(`#${index}: ${error}\n${text}`)
  }
  expect(refused).toEqual([])
})
