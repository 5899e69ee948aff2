// A tool of many steps whose process is killed in front of each commit in turn.

import { expect } from 'vitest'
import { awaitNextTurn } from '../library/time/host-clock.js'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { LEASE_MS, makeMortal, openWorld } from './durable-world.js'

const SOURCE = 'import { t } from "host/tools"\nlet a = t({})\nlet b = t({})\nreturn [a, b]'

function makeStepping(steps: number, made: string[]): Tool {
  return defineTool({
    name: 't',
    recovery: 'idempotent',
    execute: async (_, { durable, callId }) => {
      let sum = 0
      for (let n = 0; n < steps; n++) {
        const work = async (input: { readonly n: number }): Promise<number> => {
          await awaitNextTurn()
          made.push(`${callId} ${input.n}`)
          return input.n
        }
        // The list of the test is what the other side would say.
        const verify = () => (made.includes(`${callId} ${n}`) ? { done: n } : ('not_done' as const))
        sum += (await durable.run(`step ${n}`, { n }, work, { recovery: { verify } })) as number
      }
      return sum
    },
  })
}

/** At how many commits it was killed. */
export async function killAtEachCommit(steps: number): Promise<number> {
  const sum = (steps * (steps - 1)) / 2
  for (let at = 1; ; at++) {
    const world = await openWorld()
    const made: string[] = []
    const mortal = makeMortal(world.store, at)
    const doomed = world.open({ tools: [makeStepping(steps, made)] }, { store: mortal.store })
    await doomed.worker.submit(doomed.runtime.compile(SOURCE), { runId: 'r' })
    await Promise.race([mortal.death, doomed.worker.idle()])
    for (let turn = 0; turn < 3; turn++) await awaitNextTurn()
    await doomed.worker.stop()
    world.clock.advance(2 * LEASE_MS)
    const next = world.open({ tools: [makeStepping(steps, made)] })
    await next.worker.idle()
    await next.worker.stop()
    expect(world.ended, `killed at ${at}`).toMatchObject([{ status: 'done', value: [sum, sum] }])
    expect(new Set(made).size, `killed at ${at}`).toBe(2 * steps)
    expect(made, `killed at ${at}`).toHaveLength(2 * steps)
    await world.store.close()
    if (!mortal.isDead()) return at - 1
  }
}
