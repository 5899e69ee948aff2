// Cases as rows of a table: a script with the options of `Runtime` and its expectations, in one line of TypeScript.

import { differences, runThroughRuntime } from './drive.js'
import type { Allowance, RuntimeCase, Verdict } from './format.js'
import type { CodeCase } from './load-cases.js'
import type { PromiseId } from './promises.js'
import { makeWorld } from './world.js'

export interface Row {
  readonly name: string
  readonly source: string
  readonly runtime?: RuntimeCase
  readonly allowance?: Allowance
  /** `ended` when absent: then only the effects and the output of the run count. */
  readonly verdict?: Verdict
  /** Name of the limit. */
  readonly detail?: string
  readonly says?: readonly string[]
  readonly lacks?: readonly string[]
  readonly prints?: string
  readonly performs?: readonly string[]
}

export function rows(promise: PromiseId, table: readonly Row[]): readonly CodeCase[] {
  return table.map(({ name, source, runtime = {}, allowance = {}, ...expected }) => ({
    name,
    promise,
    attack: async () => {
      const world = makeWorld(allowance)
      try {
        const one = {
          name,
          promise,
          source,
          runtimes: [runtime],
          commands: [],
          allowance,
          verdict: expected.verdict ?? 'ended',
          detail: expected.detail ?? null,
          says: expected.says ?? [],
          lacks: expected.lacks ?? [],
          prints: expected.prints ?? null,
          performs: expected.performs ?? [],
          showsCanaries: false,
        } as const
        const ended = await runThroughRuntime(one, runtime, world)
        const found = differences(one, ended, world)
        if (found.length > 0) throw new Error(`${promise}: ${found.join('; ')}\n${source}\n${ended.output}\n${ended.message}`)
      } finally {
        world.remove()
      }
    },
  }))
}
