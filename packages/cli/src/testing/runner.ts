// Runs test pipelines one after another, each in a fresh run of its own file: tests share no state. A test that
// exceeds its time is cancelled, with the processes it started.

import { CompileError } from '@bridle/stdlib-tools'
import type { Module, RunResult, Runtime } from '@bridle/stdlib-tools'
import { renderDiagnostic } from '@bridle/parser'
import { LinkError } from '@bridle/vm'
import { renderFault } from '../fault-report.js'
import { makeSourceLookup } from '../load.js'
import type { TestFile } from './discover.js'
import { LONGEST_MS } from '../stop.js'

export interface TestResult {
  readonly file: string
  /** Name of the pipeline; null for a file that does not compile. */
  readonly name: string | null
  readonly status: 'passed' | 'failed'
  /** Wall time in milliseconds. */
  readonly ms: number
  /** Why it failed, without the report around it; empty for a pass. */
  readonly error: string
  /** The failure for people: the error with its position and callers. */
  readonly report: string
  /** Output of the test. */
  readonly output: string
}

export interface RunTestsOptions {
  readonly runtime: Runtime
  readonly files: readonly TestFile[]
  readonly timeLimitMs: number
  /** Start no further test after the first failure. */
  readonly failFast: boolean
  readonly signal: AbortSignal
  readonly onResult: (result: TestResult) => void
}

export async function runTests(options: RunTestsOptions): Promise<readonly TestResult[]> {
  const results: TestResult[] = []
  for (const file of options.files) {
    for await (const result of runFile(file, options)) {
      results.push(result)
      options.onResult(result)
      if (options.signal.aborted || (options.failFast && result.status === 'failed')) return results
    }
  }
  return results
}

async function* runFile(file: TestFile, options: RunTestsOptions): AsyncGenerator<TestResult> {
  if (file.problem !== null) yield makeBrokenResult(file, options.runtime)
  for (const name of file.tests) {
    const compiled = compileTest(options.runtime, file, name)
    if (!(compiled instanceof Object && 'module' in compiled)) {
      yield compiled
      return
    }
    yield await runTest(file, name, compiled.module, options)
  }
}

function makeBrokenResult(file: TestFile, runtime: Runtime): TestResult {
  const compiled = compileTest(runtime, file, null)
  return 'module' in compiled ? makeFailure(file, null, 0, file.problem ?? '', '', '') : compiled
}

function compileTest(runtime: Runtime, file: TestFile, pipeline: string | null): { readonly module: Module } | TestResult {
  try {
    return { module: runtime.compile(file.text, { file: file.key, ...(pipeline === null ? {} : { pipeline }) }) }
  } catch (cause) {
    if (cause instanceof LinkError) return makeFailure(file, null, 0, cause.message, `error: ${cause.message}\n`, '')
    if (!(cause instanceof CompileError)) throw cause
    const errors = cause.diagnostics.filter((each) => each.severity === 'error')
    const report = errors.map((each) => renderDiagnostic(each, cause.file).replaceAll(cause.file.name, file.path)).join('')
    return makeFailure(file, null, 0, cause.message, report, '')
  }
}

async function runTest(file: TestFile, name: string, module: Module, options: RunTestsOptions): Promise<TestResult> {
  const startedAt = performance.now()
  const limit = new AbortController()
  const onAbort = (): void => limit.abort(new Error('interrupted'))
  options.signal.addEventListener('abort', onAbort, { once: true })
  const { timeLimitMs } = options
  const timer = setTimeout(() => limit.abort(new Error(`timed out after ${timeLimitMs} ms`)), Math.min(timeLimitMs, LONGEST_MS))
  let result: RunResult
  try {
    result = await options.runtime.start(module, { signal: limit.signal }).result
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', onAbort)
  }
  const ms = Math.round(performance.now() - startedAt)
  switch (result.status) {
    case 'done':
      return { file: file.path, name, status: 'passed', ms, error: '', report: '', output: result.output }
    case 'failed': {
      const { fault } = result.error
      const script = { key: file.key, shown: file.path, text: file.text }
      return makeFailure(file, name, ms, fault.text, renderFault(fault, makeSourceLookup(module, script)), result.output)
    }
    case 'limit':
      return makeFailure(file, name, ms, result.message, `error: ${result.message}\n`, result.output)
    case 'exit': {
      const error = `the test ended the program with exit(${result.code})`
      return makeFailure(file, name, ms, error, `error: ${error}\n`, result.output)
    }
    case 'cancelled': {
      const error = limit.signal.reason instanceof Error ? limit.signal.reason.message : result.reason
      return makeFailure(file, name, ms, error, `error: ${error}\n`, result.output)
    }
  }
}

function makeFailure(file: TestFile, name: string | null, ms: number, error: string, report: string, output: string): TestResult {
  return { file: file.path, name, status: 'failed', ms, error, report, output }
}
