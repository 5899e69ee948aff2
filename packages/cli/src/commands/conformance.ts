// `bridle conformance PATH…`: exit 0 when every test passed or is a known gap, 1 when one failed, 2 when nothing could be judged,
// 130 when it was interrupted.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXIT_FAILURE, EXIT_INTERRUPTED, UsageError } from '../errors.js'
import { parseFilter } from '../conformance/filter.js'
import type { Filter } from '../conformance/filter.js'
import { renderResult, renderSummary } from '../conformance/report.js'
import { runSuite, SuiteError } from '../conformance/suite.js'
import type { ConformanceFlags } from '../run-flags.js'
import { tell, tellJson, complain } from '../printable.js'
import { MODES } from '../conformance/mode-names.js'
import type { ModeChoice } from '../conformance/mode-names.js'

/** More threads than this only compete for memory. */
const MOST_JOBS = 8

export async function conformanceCommand(paths: readonly string[], options: ConformanceFlags): Promise<number> {
  const json = options.json === true
  const stop = new AbortController()
  const onInterrupt = (): void => stop.abort()
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt)
  // Agents that scripts start write files; those must not end up in the folder of the suite.
  const state = mkdtempSync(join(tmpdir(), 'bridle-conformance-'))
  const { HARN_WORKER_STATE_DIR: before } = process.env
  process.env['HARN_WORKER_STATE_DIR'] = before ?? state
  const { HARN_CONFORMANCE_HARN_BIN: namedBinary } = process.env
  process.env['HARN_CONFORMANCE_HARN_BIN'] = namedBinary ?? writeShim(state)
  try {
    const report = await runSuite({
      paths,
      filter: readFilter(options.filter),
      modes: options.mode === 'all' ? MODES : [options.mode as ModeChoice], // commander has checked the choice
      jobs: options.jobs ?? Math.min(availableParallelism(), MOST_JOBS),
      timeLimitMs: options.timeout,
      signal: stop.signal,
      onResult: (result) => {
        if (!json) tell(renderResult(result))
      },
    })
    if (json) tellJson(report)
    else tell(renderSummary(report))
    if (stop.signal.aborted) {
      complain('error: interrupted; the report has what was judged before\n')
      return EXIT_INTERRUPTED
    }
    return report.failed === 0 ? 0 : EXIT_FAILURE
  } catch (cause) {
    if (!(cause instanceof SuiteError)) throw cause
    throw new UsageError(cause.message, cause.path === null ? {} : { code: 'unreadable_file', file: cause.path })
  } finally {
    rmSync(state, { recursive: true, force: true })
    if (before === undefined) delete process.env['HARN_WORKER_STATE_DIR']
    if (namedBinary === undefined) delete process.env['HARN_CONFORMANCE_HARN_BIN']
    process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt)
  }
}

/** Scripts that run the language's command look for it under this name. */
function writeShim(folder: string): string {
  const path = join(folder, 'harn')
  const words = [process.execPath, ...process.execArgv, process.argv[1] ?? ''].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  return path
}

function readFilter(text: string | undefined): Filter {
  if (text === undefined) return () => true
  try {
    return parseFilter(text)
  } catch (cause) {
    throw new UsageError(`--filter ${text}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
