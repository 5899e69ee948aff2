// `bridle run`: one script from start to end in this process. Its output goes out as it comes; how it ended decides the exit code.

import { fromPlain } from '@bridle/vm'
import { EXIT_FAILURE } from '../errors.js'
import { makeAuthority, withLock } from '../authority.js'
import { readSizes } from '../further-limits.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript } from '../load.js'
import { perform } from '../perform.js'
import { readExtensions, openJournal, readFixtures, readInput, makeTracing } from './run-options.js'
import type { RunFlags } from '../run-flags.js'

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
  /** Compiled scripts are kept under its name; not at all without one. */
  readonly build?: string | undefined
  /** Where output goes; standard output when absent. */
  readonly print?: (text: string) => void
}

export async function runCommand(file: string | undefined, options: RunCommandOptions): Promise<number> {
  const input = options.input === undefined ? null : readInput(options.input)
  const script = await readScript(file, options.eval)
  const runtime = makeCommandRuntime({
    script: script.key,
    ...(script.key.startsWith('<') ? {} : { build: options.build }),
    terminal: true,
    people: options,
    args: options.scriptArguments,
    ...readSizes(options),
    authority: await withLock(makeAuthority(options), options, script.key),
    runtime: {
      ...(options.extension === undefined ? {} : { extensions: readExtensions(options.extension) }),
      ...(options.llmMock === undefined ? {} : { modelFixtures: readFixtures(options.llmMock) }),
    },
  })
  const module = compileScript(runtime, script, options)
  if (module === null) return EXIT_FAILURE
  const isWatched = options.record !== undefined || options.trace !== undefined || options.snapshot !== undefined
  return perform({
    ...(options.print === undefined ? {} : { print: options.print }),
    signals: isWatched ? 'now' : 'firstYield',
    module,
    script,
    launch: (start) =>
      runtime.start(module, {
        ...start,
        input,
        globals: { argv: fromPlain([...options.scriptArguments]) },
        ...(options.trace === undefined ? {} : makeTracing(options.trace, options.traceRequired)),
        ...(options.record === undefined ? {} : { journal: openJournal(options.record) }),
      }),
    json: options.json === true,
    dryRun: options.dryRun === true,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}
