// One simulation as plain data, so that it can be split among worker threads, and its execution. A script on the
// command line is judged by the undisturbed run of the same seed, and by its own assertions.

import { simulate } from '@bridle/stdlib-tools'
import type { JudgedRun, SimulatedFault, SimulatedRun, Simulation } from '@bridle/stdlib-tools'
import { fromPlain } from '@bridle/vm'
import type { Limits, Plain } from '@bridle/vm'
import { makeAuthority } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import type { FurtherLimits } from '../further-limits.js'
import { makeCommandRuntimeOptions } from '../host.js'
import type { CommandHostOptions } from '../host.js'
import type { Script } from '../script.js'
import { makeSimulatedWorld } from './world.js'

export interface SimulationJob {
  readonly script: Script
  readonly args: readonly string[]
  readonly input: Plain
  readonly authority: AuthorityFlags
  readonly limits: Partial<Limits>
  readonly furtherLimits: FurtherLimits
  /** JSON lines, null for none. */
  readonly modelFixtures: string | null
  readonly faults: readonly SimulatedFault[]
  /** Entries of the journal, null if the seed chooses them. */
  readonly points: readonly number[] | null
  readonly pointsPerSeed: number | null
  /** What to do with calls that a crash left without an outcome. */
  readonly unknown: 'fail' | 'retry'
  /** Compare with the undisturbed run. */
  readonly sameEnd: boolean
}

export interface SimulationWatch {
  readonly signal: AbortSignal
  readonly onRun: (judged: JudgedRun) => void
}

/** The host of a job's runs, also used to compile its script beforehand. */
export function makeHostOptions(job: SimulationJob): CommandHostOptions {
  const authority = makeAuthority(job.authority)
  return {
    script: job.script.key,
    terminal: false,
    limits: job.limits,
    furtherLimits: job.furtherLimits,
    authority,
    runtime: job.modelFixtures === null ? {} : { modelFixtures: job.modelFixtures },
    world: (skills) => makeSimulatedWorld({ authority, args: job.args, findSkill: skills?.find ?? null }),
  }
}

export async function simulateJob(
  job: SimulationJob,
  seeds: readonly number[],
  { signal, onRun }: SimulationWatch,
): Promise<Simulation> {
  const { script, input, faults, points, pointsPerSeed, unknown, sameEnd } = job
  const host = makeCommandRuntimeOptions(makeHostOptions(job))
  const base = { ...host, globalValues: { ...host.globalValues, argv: fromPlain([...job.args]) } }
  return simulate(script.text, {
    file: script.key,
    input,
    seeds,
    faults,
    sameEnd,
    signal,
    onRun,
    ...(points === null ? {} : { points }),
    ...(pointsPerSeed === null ? {} : { pointsPerSeed }),
    onUnknownOutcome: () => unknown,
    oracles: {
      // A comparison with the undisturbed run already covers this.
      script: ({ fault, status, error }: SimulatedRun) =>
        (fault === null || !sameEnd) && (status === 'failed' || status === 'limit') ? (error ?? status) : null,
    },
    // One world for all processes of a run.
    runtime: () => ({ ...base, providers: typeof base.providers === 'function' ? base.providers() : (base.providers ?? []) }),
  })
}
