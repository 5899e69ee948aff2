// A whole conformance run: which tests, in which threads, with which verdicts. The command turns the result into text
// and an exit code.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { discover } from './discover.js'
import type { ConformanceTest } from './discover.js'
import type { Filter } from './filter.js'
import { readGaps, listStaleGaps } from './gaps.js'
import { runInWorkers } from './pool.js'
import { summarise } from './report.js'
import type { Report, TestResult } from './report.js'
import type { ModeChoice } from './mode-names.js'

export interface SuiteOptions {
  readonly paths: readonly string[]
  readonly filter: Filter
  readonly modes: readonly ModeChoice[]
  readonly jobs: number
  readonly timeLimitMs: number
  /** Aborts when no more tests shall be judged; the report has the results so far. */
  readonly signal?: AbortSignal
  readonly onResult?: (result: TestResult) => void
}

/** Nothing can be judged: a path that does not exist, or no test at all. */
export class SuiteError extends Error {
  override readonly name = 'SuiteError'
  /** The path that does not exist. */
  readonly path: string | null

  constructor(message: string, path: string | null = null) {
    super(message)
    this.path = path
  }
}

export async function runSuite(options: SuiteOptions): Promise<Report> {
  const tests: ConformanceTest[] = []
  const gaps = new Map<string, string>()
  const stale: string[] = []
  for (const path of options.paths) {
    if (!existsSync(path)) throw new SuiteError(`${path} does not exist`, path)
    tests.push(...discover(path))
    const known = readGaps(path)
    for (const [file, reason] of known) gaps.set(file, reason)
    stale.push(...listStaleGaps(known, path))
  }
  if (stale.length > 0) throw new SuiteError(`known gaps name scripts that do not exist: ${stale.join(', ')}`)
  const selected = tests.filter((test) => options.filter(test.name))
  if (selected.length === 0) throw new SuiteError(tests.length === 0 ? 'no tests found' : 'the filter selects no test')

  const { onResult } = options
  const results = new Map<ConformanceTest, TestResult>()
  for (const test of selected) {
    if (test.parked === null) continue
    const result: TestResult = { name: test.name, status: 'skipped', ms: 0, message: test.parked, entered: 0 }
    results.set(test, result)
    onResult?.(result)
  }
  const toRun = selected.filter((test) => test.parked === null)
  const findGap = (test: ConformanceTest): string | undefined => gaps.get(resolve(test.file))
  const ran = await runInWorkers(toRun, {
    jobs: options.jobs,
    modes: options.modes,
    timeLimitMs: options.timeLimitMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onResult: (result) => onResult?.(result),
    reconsider: (test, result) => excuse(result, findGap(test)),
  })
  for (const [at, test] of toRun.entries()) {
    const result = ran[at]
    if (result !== undefined) results.set(test, result)
  }
  return summarise(selected.flatMap((test) => results.get(test) ?? []))
}

/** A listed failure is skipped; a listed success is a failure, so that the list shrinks. */
function excuse(result: TestResult, reason: string | undefined): TestResult {
  if (reason === undefined) return result
  if (result.status === 'failed') return { ...result, status: 'skipped', message: `known gap: ${reason}` }
  return { ...result, status: 'failed', message: 'listed in known-gaps.tsv but passes: remove its line' }
}
