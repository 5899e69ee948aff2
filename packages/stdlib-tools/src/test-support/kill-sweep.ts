// A run whose process is killed in front of each commit in turn, and which continues in another one.

import type { EndedRun } from '../host/durable/ended.js'
import type { DurableStore } from '../host/durable/store.js'
import { awaitNextTurn } from '../library/time/host-clock.js'
import type { Tool } from '../tools/host-tools/define.js'
import { LEASE_MS, makeMortal, openWorld } from './durable-world.js'

export interface Killed {
  /** The commit in front of which the process died. */
  readonly at: number
  readonly ended: readonly EndedRun[]
  readonly store: DurableStore
}

/**
 * Runs `source` as `r` again and again, each time with its own tools, and tells of each. `disturb` is called when the first process is dead or
 * has nothing to do. Gives the number of commits.
 */
export async function sweepKills(
  source: string,
  makeTools: () => readonly Tool[],
  look: (killed: Killed) => void | Promise<void>,
  disturb: (store: DurableStore) => unknown = () => null,
): Promise<number> {
  for (let at = 1; ; at++) {
    const world = await openWorld()
    const tools = makeTools()
    const mortal = makeMortal(world.store, at)
    const doomed = world.open({ tools }, { store: mortal.store })
    await doomed.worker.submit(doomed.runtime.compile(source), { runId: 'r' })
    await Promise.race([mortal.death, doomed.worker.idle()])
    for (let turn = 0; turn < 3; turn++) await awaitNextTurn()
    await doomed.worker.stop()
    world.clock.advance(2 * LEASE_MS)
    await disturb(world.store)
    const next = world.open({ tools })
    await next.worker.idle()
    await next.worker.stop()
    await look({ at, ended: world.ended, store: world.store })
    await world.store.close()
    if (!mortal.isDead()) return at - 1
  }
}
