// Preparation of `bridle run`, wherever the run is stored.

import type { Runtime } from '@bridle/stdlib-tools'
import type { Plain } from '@bridle/vm'
import { makeAuthority, withLock } from './authority.js'
import { readExtensions, readFixtures, readInput } from './commands/run-options.js'
import { readSizes } from './further-limits.js'
import { makeCommandRuntime } from './host.js'
import { compileScript, readScript } from './load.js'
import type { RunCommandOptions } from './run-flags.js'
import type { Script } from './script.js'

export interface PreparedRun {
  readonly script: Script
  readonly runtime: Runtime
  /** Null: the script does not compile, and the findings are printed. */
  readonly module: ReturnType<typeof compileScript>
  readonly input: Plain
}

/** Throws UsageError, CommandError. `isAnsweredLater`: requests without an answer here wait in a store. */
export async function prepareRun(
  file: string | undefined,
  options: RunCommandOptions,
  { isAnsweredLater }: { readonly isAnsweredLater: boolean },
): Promise<PreparedRun> {
  const input = options.input === undefined ? null : readInput(options.input)
  const script = await readScript(file, options.eval)
  const runtime = makeCommandRuntime({
    script: script.key,
    ...(script.key.startsWith('<') ? {} : { build: options.build }),
    terminal: true,
    people: isAnsweredLater ? { ...options, outside: true } : options,
    args: options.scriptArguments,
    ...readSizes(options),
    authority: await withLock(makeAuthority(options), options, script.key),
    runtime: {
      ...(options.extension === undefined ? {} : { extensions: readExtensions(options.extension) }),
      ...(options.llmMock === undefined ? {} : { modelFixtures: readFixtures(options.llmMock) }),
    },
  })
  return { script, runtime, module: compileScript(runtime, script, options), input }
}
