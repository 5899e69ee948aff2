// The result of a conformance run and its formats: one JSON document for programs, failures and a count for people.

export type TestStatus = 'passed' | 'failed' | 'skipped'

export interface TestResult {
  readonly name: string
  readonly status: TestStatus
  /** Wall time of all modes together, milliseconds. */
  readonly ms: number
  /** Why it failed or was skipped; empty for a pass. */
  readonly message: string
  /** Number of times its runs entered compiled code. */
  readonly entered: number
}

export interface Report {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Tests whose runs entered compiled code, and the total number of entries. */
  readonly compiled: { readonly tests: number; readonly entries: number }
  readonly results: readonly TestResult[]
}

export function summarise(results: readonly TestResult[]): Report {
  const count = (status: TestStatus) => results.filter((result) => result.status === status).length
  const compiled = results.filter((result) => result.entered > 0)
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    compiled: { tests: compiled.length, entries: compiled.reduce((sum, result) => sum + result.entered, 0) },
    results,
  }
}

export function renderResult(result: TestResult): string {
  if (result.status === 'passed') return ''
  if (result.status === 'skipped') return `SKIP ${result.name}: ${result.message}\n`
  return `FAIL ${result.name}\n${result.message.replace(/^/gm, '    ')}\n`
}

export function renderSummary(report: Report): string {
  const { tests, entries } = report.compiled
  const compiled = entries === 0 ? '' : `compiled code ran in ${tests} of them, entered ${entries} times\n`
  return `${compiled}${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped\n`
}
