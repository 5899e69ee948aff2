// What the command begins with. A plain run of a script goes straight to it, because its start is part of every run; all other
// words are for program.ts, which knows every command and option. Here is also the edge: how errors become text and exit codes.

import { CommandError, EXIT_FAILURE, EXIT_USAGE, UsageError, toSystemFailure } from './errors.js'
import { makeRefusalDocument } from './failure-document.js'
import { makeDirectOutput, guardStreams } from './output.js'
import { complain, tellJson } from './printable.js'
import { parsePlainRun } from './plain-run.js'
import { runCommand } from './commands/run.js'
import { closeTelemetry, isTelemetryAsked, openTelemetry } from './telemetry/telemetry.js'

/**
 * Carries the words of the command line out; the exit code is left in the process. `build` tells this build of the command from all
 * others; from source there is none.
 */
export async function begin(words: readonly string[], build?: string): Promise<void> {
  // Not process.exit: text that is still on its way through a pipe would be cut off.
  process.exitCode = await runToCode(words, build)
}

/** The exit code of the words of a command line. `print` is where a plain run writes; standard output when absent. */
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

/** Whoever asks for JSON reads standard output, also when nothing came of it. Words behind `--` are those of the script. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).includes('--json')
}
