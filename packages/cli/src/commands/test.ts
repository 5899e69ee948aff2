// `bridle test [PATH…]`: runs test pipelines and reports each in the format of the reference.
// Exit 0 when all passed (also when there was none), 1 when one failed, 2 when a filter selects none.

import { findClosest } from '@bridle/parser'
import type { FileCoverage } from '@bridle/stdlib-tools'
import { writeWholeFile } from '@bridle/stdlib-tools/node'
import { CommandError, EXIT_FAILURE, EXIT_INTERRUPTED, UsageError, readReason } from '../errors.js'
import { parseFilter } from '../conformance/filter.js'
import { makeAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { makeCommandRuntime } from '../host.js'
import { makeCoverageDocument, makeTestCoverage, renderCoverage, renderLcov } from '../testing/coverage.js'
import { discoverTests } from '../testing/discover.js'
import type { TestFile } from '../testing/discover.js'
import { renderJunit } from '../testing/junit.js'
import { runTests } from '../testing/runner.js'
import type { TestResult } from '../testing/runner.js'
import { toOneLine, toPrintable, tell, tellJson } from '../printable.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'

export interface TestFlags extends AuthorityFlags, SizeFlags {
  readonly filter?: string
  readonly timeout: number
  readonly failFast?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
  /** File for the results in JUnit format. */
  readonly junit?: string
  readonly watch?: boolean
  /** Measure the coverage of the tests. */
  readonly coverage?: boolean
  /** File for coverage in lcov format. */
  readonly lcov?: string
}

export async function testCommand(paths: readonly string[], flags: TestFlags): Promise<number> {
  const json = flags.json === true
  const sizes = readSizes(flags)
  const selects = readFilter(flags.filter)
  const isSelected = (file: TestFile, name: string): boolean => selects(name) || selects(`${file.path}::${name}`)
  const discovered = discoverTests(paths.length === 0 ? ['.'] : paths)
  const files = discovered
    .map((file) => ({ ...file, tests: file.tests.filter((name) => isSelected(file, name)) }))
    .filter((file) => file.tests.length > 0 || file.problem !== null)
  if (files.length === 0 && flags.filter !== undefined) throw makeNoneSelectedError(flags.filter, discovered)
  const authority = await withLock(makeAuthority(flags), flags, files[0]?.key ?? '<none>', 'many')
  if (files.length === 0 && !json) {
    tell('No test pipelines found\n')
    return 0
  }
  const coverage = flags.coverage === true || flags.lcov !== undefined ? makeTestCoverage(discovered) : null
  const stop = new AbortController()
  const onInterrupt = (): void => stop.abort()
  process.once('SIGINT', onInterrupt)
  const startedAt = performance.now()
  try {
    if (!json) tell(`Running ${formatCounts(files)}...\n\n`)
    const results = await runTests({
      runtime: makeCommandRuntime({
        terminal: false,
        standIns: 'script',
        authority,
        ...sizes,
        ...(coverage === null ? {} : { runtime: { coverage } }),
      }),
      files,
      timeLimitMs: flags.timeout,
      failFast: flags.failFast === true,
      signal: stop.signal,
      onResult: (result) => {
        if (!json) process.stdout.write(renderResult(result, flags.verbose === true))
      },
    })
    const ms = Math.round(performance.now() - startedAt)
    if (flags.junit !== undefined) writeReport(flags.junit, renderJunit(results, ms))
    const reached = coverage?.report() ?? null
    if (reached !== null && flags.lcov !== undefined) writeReport(flags.lcov, renderLcov(reached))
    if (json) tellJson(makeDocument(results, ms, reached))
    else process.stdout.write(renderSummary(results, ms) + (reached === null ? '' : renderCoverage(reached)))
    if (stop.signal.aborted) return EXIT_INTERRUPTED
    return results.every((result) => result.status === 'passed') ? 0 : EXIT_FAILURE
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}

function writeReport(path: string, text: string): void {
  try {
    writeWholeFile(path, text)
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${readReason(cause)}`)
  }
}

function formatCounts(files: readonly TestFile[]): string {
  const tests = files.reduce((sum, file) => sum + Math.max(1, file.tests.length), 0)
  const formatCount = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
  return `${formatCount(tests, 'test')} from ${formatCount(files.length, 'file')}`
}

const inColor = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined

function paintText(text: string, passed: boolean): string {
  return inColor ? `\u001b[${passed ? 32 : 31}m${text}\u001b[0m` : text
}

function renderResult(result: TestResult, verbose: boolean): string {
  const passed = result.status === 'passed'
  const place = toOneLine(`${result.name ?? '<file error>'} [${result.file}]`)
  const title = `  ${paintText(passed ? 'PASS' : 'FAIL', passed)}  ${place}${passed ? ` (${result.ms} ms)` : ''}\n`
  const output = result.output === '' || (passed && !verbose) ? '' : `${indent('output:', 8)}${indent(result.output, 10)}`
  // The output of the test is passed on unchanged.
  return title + indent(toPrintable(result.report), 8) + output
}

function indent(text: string, width: number): string {
  return text === '' ? '' : `${text.trimEnd().replace(/^(?=.)/gm, ' '.repeat(width))}\n`
}

function countResults(results: readonly TestResult[]): { readonly passed: number; readonly failed: number } {
  const passed = results.filter((result) => result.status === 'passed').length
  return { passed, failed: results.length - passed }
}

function renderSummary(results: readonly TestResult[], ms: number): string {
  const { passed, failed } = countResults(results)
  const text = `${passed} passed${failed === 0 ? '' : `, ${failed} failed`}, ${results.length} total (${ms} ms)`
  return `\n${paintText(text, failed === 0)}\n`
}

function makeDocument(results: readonly TestResult[], ms: number, reached: readonly FileCoverage[] | null): unknown {
  return {
    ...countResults(results),
    total: results.length,
    duration_ms: ms,
    results: results.map(({ file, name, status, ms: duration, error, output }) => ({
      name,
      file,
      status,
      duration_ms: duration,
      error: error === '' ? null : error,
      output,
    })),
    ...(reached === null ? {} : { coverage: makeCoverageDocument(reached) }),
  }
}

/** A filter that selects nothing is misspelt: a run without a test must not count as success. */
function makeNoneSelectedError(filter: string, files: readonly TestFile[]): UsageError {
  const names = files.flatMap(({ tests }) => tests)
  const near = findClosest(filter, names)
  const among = names.length === 1 ? 'the 1 test' : `any of the ${names.length} tests`
  const help = near === null ? (names.length === 0 ? '' : `, such as ${names.slice(0, 3).join(', ')}`) : `; did you mean ${near}?`
  return new UsageError(`--filter ${filter} does not select ${among} that were found${help}`)
}

function readFilter(text: string | undefined): (name: string) => boolean {
  if (text === undefined) return () => true
  try {
    return parseFilter(text)
  } catch (cause) {
    throw new UsageError(`--filter ${text}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
