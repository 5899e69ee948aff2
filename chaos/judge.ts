// Evaluates the ledger and the results when everything has ended.

import type { RunRow } from '@bridle/stdlib-tools'
import { ANSWER, NESTED, RECEIPT, SECOND, STEPS } from './world.js'
import type { LedgerLine } from './world.js'

export interface Verdict {
  readonly runs: number
  readonly effects: number
  /** Accepted, but not ended, or not in the store. */
  readonly lostRuns: number
  /** Ended differently from the script. */
  readonly wrongRuns: number
  /** Steps that the script has made but that are not in the ledger. */
  readonly lostEffects: number
  readonly onceCalls: number
  readonly onceRepeated: number
  /** `once` calls with an unknown outcome, which the script was told. */
  readonly unknown: number
  /** Repeatable calls that were repeated. */
  readonly stepsRepeated: number
  readonly problems: readonly string[]
}

interface Ended {
  readonly status: string
  readonly error: string | null
  readonly value: { readonly [key: string]: unknown } | null
}

export function judge(runs: ReadonlyMap<string, RunRow | null>, ledger: readonly LedgerLine[]): Verdict {
  const made = new Map<string, Map<string, number>>()
  for (const { tool, runId, key, n } of ledger) {
    const calls = made.get(runId) ?? new Map<string, number>()
    made.set(runId, calls)
    for (const name of [`${tool} ${n}`, `${tool} ${n} ${key}`]) calls.set(name, (calls.get(name) ?? 0) + 1)
  }
  const problems: string[] = []
  let lostRuns = 0
  let wrongRuns = 0
  let lostEffects = 0
  let onceRepeated = 0
  let unknown = 0
  for (const [runId, row] of runs) {
    const count = (tool: LedgerLine['tool'], n: number): number => made.get(runId)?.get(`${tool} ${n}`) ?? 0
    if (row?.state !== 'ended') {
      lostRuns++
      problems.push(`${runId} ${row === null ? 'is not in the store' : `is ${row.state}: ${row.status ?? 'no reason'}`}`)
      continue
    }
    const ended = JSON.parse(row.result ?? 'null') as Ended
    const value = ended.value ?? {}
    if (
      ended.status !== 'done' ||
      value['answer'] !== ANSWER ||
      JSON.stringify(value['log']) !== '[0,1,2,3]' ||
      value['settled'] !== 3
    ) {
      wrongRuns++
      problems.push(`${runId} ended as ${JSON.stringify(ended)}`)
      continue
    }
    for (const n of STEPS)
      if (count('step', n) === 0) {
        lostEffects++
        problems.push(`${runId}: step ${n} is not in the ledger`)
      }
    for (const [name, n] of [
      ['receipt', RECEIPT],
      ['second', SECOND],
      ['nested', NESTED],
    ] as const) {
      const times = count('charge', n)
      const told = value[name]
      if (times > 1) {
        onceRepeated++
        problems.push(`${runId}: charge ${n} was made ${times} times`)
      }
      if (told === 'unknown_outcome') unknown++
      else if (told !== n) {
        wrongRuns++
        problems.push(`${runId}: ${name} is ${JSON.stringify(told)}`)
      } else if (times === 0) {
        lostEffects++
        problems.push(`${runId}: charge ${n} is not in the ledger`)
      }
    }
  }
  const calls = [...made.values()].flatMap((each) => [...each].filter(([name]) => name.split(' ').length === 3))
  return {
    runs: runs.size,
    effects: ledger.length,
    lostRuns,
    wrongRuns,
    lostEffects,
    onceCalls: calls.filter(([name]) => name.startsWith('charge ')).length,
    onceRepeated,
    unknown,
    stepsRepeated: calls.filter(([name, times]) => name.startsWith('step ') && times > 1).length,
    problems,
  }
}

export const isGood = ({ lostRuns, wrongRuns, lostEffects, onceRepeated }: Verdict): boolean =>
  lostRuns + wrongRuns + lostEffects + onceRepeated === 0
