// `bridle test [PATH…]`: runs test pipelines and reports each. Exit 0 when all passed, 1 when one failed, 2 when nothing ran.

import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_USAGE, UsageError } from '../errors.js'
import { parseFilter } from '../conformance/filter.js'
import { commandRuntime } from '../host.js'
import { discoverTests } from '../testing/discover.js'
import { runTests } from '../testing/runner.js'
import type { TestResult } from '../testing/runner.js'

export interface TestFlags {
  readonly filter?: string
  readonly timeout: number
  readonly failFast?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

export async function testCommand(paths: readonly string[], flags: TestFlags): Promise<number> {
  const json = flags.json === true
  const selects = readFilter(flags.filter)
  const files = discoverTests(paths.length === 0 ? ['.'] : paths)
  const stop = new AbortController()
  const onInterrupt = (): void => stop.abort()
  process.once('SIGINT', onInterrupt)
  const startedAt = performance.now()
  let shownFile = ''
  try {
    const results = await runTests({
      runtime: commandRuntime({ terminal: false }),
      files,
      selects: (file, name) => selects(name) || selects(`${file.path}::${name}`),
      timeLimitMs: flags.timeout,
      failFast: flags.failFast === true,
      signal: stop.signal,
      onResult: (result) => {
        if (json) return
        if (result.file !== shownFile) process.stdout.write(`${result.file}\n`)
        shownFile = result.file
        process.stdout.write(renderResult(result, flags.verbose === true))
      },
    })
    const ms = Math.round(performance.now() - startedAt)
    if (json) process.stdout.write(`${JSON.stringify(documentOf(results, ms), null, 2)}\n`)
    else if (results.length > 0) process.stdout.write(renderSummary(results, ms))
    if (stop.signal.aborted) return EXIT_INTERRUPTED
    if (results.length === 0) {
      process.stderr.write(`error: ${files.length === 0 ? 'no test pipelines found' : 'the filter selects no test'}\n`)
      return EXIT_USAGE
    }
    return results.every((result) => result.status === 'passed') ? 0 : EXIT_FAILURE
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}

function renderResult(result: TestResult, verbose: boolean): string {
  const title = `  ${result.status === 'passed' ? 'PASS' : 'FAIL'} ${result.name ?? '(does not compile)'} (${result.ms} ms)\n`
  if (result.status === 'passed' && !verbose) return title
  return title + indent(result.report) + (result.output === '' ? '' : `    output:\n${indent(result.output, 6)}`)
}

function indent(text: string, width = 4): string {
  return text === '' ? '' : `${text.trimEnd().replace(/^(?=.)/gm, ' '.repeat(width))}\n`
}

function counts(results: readonly TestResult[]): { readonly passed: number; readonly failed: number } {
  const passed = results.filter((result) => result.status === 'passed').length
  return { passed, failed: results.length - passed }
}

function renderSummary(results: readonly TestResult[], ms: number): string {
  const { passed, failed } = counts(results)
  return `\n${passed} passed, ${failed} failed, ${results.length} total (${ms} ms)\n`
}

function documentOf(results: readonly TestResult[], ms: number): unknown {
  return {
    ...counts(results),
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
  }
}

function readFilter(text: string | undefined): (name: string) => boolean {
  if (text === undefined) return () => true
  try {
    return parseFilter(text)
  } catch (cause) {
    throw new UsageError(`--filter ${text}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
