// The corpus report. For the visible half every program has a row; for the sealed half there are only totals and counts, so
// that the engine cannot be tuned to one of its programs.

import { figure, geometricMean, median } from '../stats.js'
import type { Timing } from '../timing.js'
import type { Grown } from './measure.js'
import type { Half } from './programs.js'

/** Times of a round; an engine that cannot run a program, or has no version of it, is absent. */
export interface Times {
  readonly compiled: Timing
  readonly base: Timing
  readonly js: Timing
  readonly peers: Readonly<Record<string, Timing>>
}

export interface Growing {
  readonly own: readonly Grown[]
  readonly js: readonly Grown[]
}

export interface CorpusSamples {
  /** By half, program and round. */
  readonly times: Readonly<Record<Half, Record<string, Times[]>>>
  readonly growth: Readonly<Record<Half, Record<string, Growing>>>
}

interface Ratio {
  readonly label: string
  readonly value: (times: Times) => number | undefined
  /** Goals: for the geometric mean, and for each program. */
  readonly meanGoal?: number
  readonly eachGoal?: number
}

const toPeer =
  (tier: 'compiled' | 'base', peer: string) =>
  (times: Times): number | undefined =>
    times.peers[peer] === undefined ? undefined : times[tier].warm / times.peers[peer].warm

const RATIOS: readonly Ratio[] = [
  { label: 'default ÷ JavaScript', value: ({ compiled, js }) => compiled.warm / js.warm, meanGoal: 2.5, eachGoal: 6 },
  { label: 'default ÷ LuaJIT', value: toPeer('compiled', 'LuaJIT'), meanGoal: 2 },
  { label: 'default ÷ Lua 5.4', value: toPeer('compiled', 'Lua 5.4'), eachGoal: 1 },
  { label: 'default ÷ CPython', value: toPeer('compiled', 'CPython'), eachGoal: 1 },
  { label: 'default ÷ QuickJS', value: toPeer('compiled', 'QuickJS'), eachGoal: 1 },
  { label: 'default, cold ÷ JavaScript, cold', value: ({ compiled, js }) => compiled.cold / js.cold, meanGoal: 4 },
  {
    label: 'default, cold, without 5 ms ÷ JavaScript, cold',
    value: ({ compiled, js }) => Math.max(compiled.cold - 5, 0.01) / js.cold,
    eachGoal: 2,
  },
  { label: 'base ÷ JavaScript', value: ({ base, js }) => base.warm / js.warm },
  { label: 'base ÷ Lua 5.4', value: toPeer('base', 'Lua 5.4'), meanGoal: 1.5 },
  { label: 'base ÷ CPython', value: toPeer('base', 'CPython') },
  { label: 'base ÷ QuickJS', value: toPeer('base', 'QuickJS'), meanGoal: 0.6 },
  { label: 'default ÷ base', value: ({ compiled, base }) => compiled.warm / base.warm },
]

export interface Total {
  readonly label: string
  readonly programs: number
  readonly mean: number
  readonly worst: number
  readonly meanGoal: number | null
  readonly eachGoal: number | null
  /** Programs above `eachGoal`. */
  readonly above: number | null
}

function medianOf(rounds: readonly Times[], value: Ratio['value']): number | undefined {
  const values = rounds.flatMap((times) => value(times) ?? [])
  return values.length === 0 ? undefined : median(values)
}

export function makeTotals(programs: Readonly<Record<string, readonly Times[]>>): Total[] {
  return RATIOS.flatMap(({ label, value, meanGoal, eachGoal }) => {
    const values = Object.values(programs).flatMap((rounds) => medianOf(rounds, value) ?? [])
    if (values.length === 0) return []
    return [
      {
        label,
        programs: values.length,
        mean: geometricMean(values),
        worst: Math.max(...values),
        meanGoal: meanGoal ?? null,
        eachGoal: eachGoal ?? null,
        above: eachGoal === undefined ? null : values.filter((each) => each > eachGoal).length,
      },
    ]
  })
}

export function totalsTable(totals: readonly Total[]): string[] {
  const orDash = (value: number | null): string => (value === null ? '–' : `≤ ${figure(value)}`)
  return [
    '| time of Bridle ÷ time of another engine | programs | geometric mean | goal | worst | goal of each | above it |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...totals.map(
      (each) =>
        `| ${each.label} | ${each.programs} | ${figure(each.mean)} | ${orDash(each.meanGoal)} | ${figure(each.worst)} | ${orDash(each.eachGoal)} | ${each.above ?? '–'} |`,
    ),
  ]
}

const COLUMNS: readonly (readonly [string, Ratio['value']])[] = [
  ['default, ms', ({ compiled }) => compiled.warm],
  ['÷ JavaScript', ({ compiled, js }) => compiled.warm / js.warm],
  ['÷ LuaJIT', toPeer('compiled', 'LuaJIT')],
  ['÷ Lua 5.4', toPeer('compiled', 'Lua 5.4')],
  ['÷ CPython', toPeer('compiled', 'CPython')],
  ['÷ QuickJS', toPeer('compiled', 'QuickJS')],
  ['÷ base', ({ compiled, base }) => compiled.warm / base.warm],
  ['cold, ms', ({ compiled }) => compiled.cold],
  ['÷ JavaScript, cold', ({ compiled, js }) => compiled.cold / js.cold],
  ['base, ms', ({ base }) => base.warm],
  ['÷ Lua 5.4', toPeer('base', 'Lua 5.4')],
  ['÷ QuickJS', toPeer('base', 'QuickJS')],
]

export function programTable(programs: Readonly<Record<string, readonly Times[]>>): string[] {
  return [
    `| program | ${COLUMNS.map(([label]) => label).join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---:').join('|')}|`,
    ...Object.entries(programs).map(
      ([name, rounds]) =>
        `| ${name} | ${COLUMNS.map(([, value]) => figure(medianOf(rounds, value) ?? Number.NaN)).join(' | ')} |`,
    ),
  ]
}

/** Tolerance for the growth of a program relative to its twin: times of short runs vary by this much. */
const TOLERANCE = 1.5

const rise = (sizes: readonly Grown[], value: 'ms' | 'heap'): number => sizes.at(-1)![value] / sizes[0]![value]

/** Whether time, or the charge for memory, grows faster than the time of the JavaScript twin (at least in proportion to N). */
export function growsFaster({ own, js }: Growing): boolean {
  const bound = TOLERANCE * Math.max(rise(js, 'ms'), own.at(-1)!.n / own[0]!.n)
  return rise(own, 'ms') > bound || rise(own, 'heap') > bound
}

export function growthTable(programs: Readonly<Record<string, Growing>>): string[] {
  return [
    '| program | N, ms | 2N, ms | 4N, ms | 4N ÷ N | JavaScript, 4N ÷ N | heap units, N | 4N ÷ N | grows faster |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---|',
    ...Object.entries(programs).map(([name, growing]) => {
      const { own, js } = growing
      const cells = [...own.map(({ ms }) => ms), rise(own, 'ms'), rise(js, 'ms'), own[0]!.heap, rise(own, 'heap')]
      return `| ${name} | ${cells.map(figure).join(' | ')} | ${growsFaster(growing) ? 'yes' : ''} |`
    }),
  ]
}

/** The counts of the sealed half that may be published. */
export function growthCounts(programs: Readonly<Record<string, Growing>>): {
  readonly programs: number
  readonly faster: number
} {
  const all = Object.values(programs)
  return { programs: all.length, faster: all.filter(growsFaster).length }
}
