// Start of the command. A plain run of a script takes a short path, because its start-up time is part of every run. All other
// arguments go to program.ts, which knows every command and option. Errors also become messages and exit codes here.

import { CommandError, EXIT_FAILURE, EXIT_USAGE, UsageError, toSystemFailure } from './errors.js'
import { makeRefusalDocument } from './failure-document.js'
import { makeDirectOutput, guardStreams } from './output.js'
import { complain, tellJson } from './printable.js'
import { parsePlainRun } from './plain-run.js'
import { runCommand } from './commands/run.js'
import { closeTelemetry, isTelemetryAsked, openTelemetry } from './telemetry/telemetry.js'

/**
 * Executes the arguments of the command line and sets the exit code of the process. `build` identifies this build of the command;
 * from source there is none.
 */
export async function begin(words: readonly string[], build?: string): Promise<void> {
  // Not process.exit: it would cut off output that is still being written to a pipe.
  process.exitCode = await runToCode(words, build)
}

/** The exit code for the arguments of a command line. `print` receives the output of a plain run; standard output by default. */
export async function runToCode(words: readonly string[], build?: string, print?: (text: string) => void): Promise<number> {
  const isTold = isTelemetryAsked(process.env)
  try {
    if (isTold) await openTelemetry()
    const plain = parsePlainRun(words)
    if (plain !== null) return await runCommand(plain.file, { ...plain.options, build, print: print ?? makeDirectOutput() })
    guardStreams()
    const { runProgram } = await import('./program.js')
    return await runProgram(words, build)
  } catch (thrown) {
    guardStreams()
    const cause = toSystemFailure(thrown) ?? thrown
    const code = cause instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE
    if (wantsJson(words)) tellJson(makeRefusalDocument(cause, code))
    if (!(cause instanceof UsageError || cause instanceof CommandError))
      complain(`bridle failed, and this is a bug: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`)
    else if (!wantsJson(words))
      complain(`error: ${cause.message}\n${cause.facts.hint === undefined ? '' : `  = help: ${cause.facts.hint}\n`}`)
    return code
  } finally {
    if (isTold) await closeTelemetry()
  }
}

/** With --json the caller reads standard output, also after a failure. Arguments after `--` belong to the script. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).includes('--json')
}
