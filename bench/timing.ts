// Timing of one piece of work in this process: the first run separately, then repeated runs, of which the median counts.

import { spawnSync } from 'node:child_process'
import { median } from './stats.js'

export interface Timing {
  /** Milliseconds of the first run in this process. */
  readonly cold: number
  /** Median of the later runs. */
  readonly warm: number
}

const LEAST_RUNS = 4
const WARM_UP_RUNS = 2
const LEAST_MS = 250

/** Processor time of the process, like Lua's os.clock: on a shared machine, wall time depends on the other users. */
export function milliseconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Runs a command and then prints its processor time on standard error, because a process cannot read that of its children. */
export const SHELL = { command: 'sh', words: ['-c', '"$@"; code=$?; times >&2; exit $code', 'sh'] } as const

/** The last figure printed by SHELL, in milliseconds. */
export function readTimes(text: string): number {
  const found = [...text.matchAll(/(\d+)m([\d.]+)s (\d+)m([\d.]+)s/g)].at(-1)
  if (found === undefined) throw new Error(`bench: the shell said no times:\n${text}`)
  const [, minutes, seconds, systemMinutes, systemSeconds] = found.map(Number)
  return (minutes! * 60 + seconds! + systemMinutes! * 60 + systemSeconds!) * 1000
}

/** Processor time of a process, in milliseconds, on all its threads. */
export function childTime(command: string, words: readonly string[], cwd: string): number {
  const { status, stdout, stderr } = spawnSync(SHELL.command, [...SHELL.words, command, ...words], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${words.join(' ')} failed:\n${stdout}${stderr}`)
  return readTimes(stderr)
}

export function measureTiming(work: () => void): Timing {
  const cold = milliseconds(work)
  for (let run = 0; run < WARM_UP_RUNS; run++) work()
  return { cold, warm: warmTime(work) }
}

/** Median of repeated runs, after warm-up by the caller. */
export function warmTime(work: () => void): number {
  return timesInTurn([work])[0]!
}

/**
 * Medians of repeated runs of several works, one run of each in turn until each has enough: a slow moment of the machine affects all of
 * them, so that their ratios stay correct.
 */
export function timesInTurn(works: readonly (() => void)[]): number[] {
  const runs = works.map((): number[] => [])
  const totals = works.map(() => 0)
  for (;;) {
    const short = works.flatMap((_, at) => (runs[at]!.length < LEAST_RUNS || totals[at]! < LEAST_MS ? [at] : []))
    if (short.length === 0) return runs.map(median)
    for (const at of short) {
      const ms = milliseconds(works[at]!)
      runs[at]!.push(ms)
      totals[at]! += ms
    }
  }
}
