// `bridle replay RECORDING FILE`: runs a script from the journal of an earlier run. Nothing is performed; the first place where the
// script does something else than it did then is shown.

import type { JournalEntry } from '@bridle/stdlib-tools'
import { readJournal } from '@bridle/stdlib-tools/node'
import { CommandError, EXIT_FAILURE } from '../errors.js'
import { renderFault } from '../fault-report.js'
import { commandRuntime } from '../host.js'
import { compileScript, readScript, reasonOf, sourcesOf } from '../load.js'

export async function replayCommand(
  recording: string,
  file: string | undefined,
  options: { readonly eval?: string },
): Promise<number> {
  const entries = readRecording(recording)
  const script = await readScript(file, options.eval)
  const runtime = commandRuntime({ script: script.key, terminal: false, args: [] })
  const module = compileScript(runtime, script)
  if (module === null) return EXIT_FAILURE
  const first = entries[0]
  if (first?.type === 'run' && first.program !== module.hash)
    process.stderr.write(`warning: ${script.shown} has changed since ${recording} was recorded\n`)
  const result = runtime.replay(module, entries)
  process.stdout.write(result.output)
  if (result.kind === 'diverged') {
    const { code, message, expected, actual } = result.divergence
    const shown = (call: typeof expected): string => (call === null ? 'nothing' : `${call.kind} ${call.args}`)
    process.stderr.write(`error: ${code}: ${message}\n  recorded: ${shown(expected)}\n       now: ${shown(actual)}\n`)
    return EXIT_FAILURE
  }
  const { end } = result
  switch (end.kind) {
    case 'done':
      return 0
    case 'exit':
      return end.code
    case 'failed':
      process.stderr.write(renderFault(end.fault, sourcesOf(module, script)))
      return EXIT_FAILURE
    case 'limit':
      process.stderr.write(`error: ${end.message}\n`)
      return EXIT_FAILURE
    case 'cancelled':
      process.stderr.write(`error: the recorded run was cancelled here: ${end.reason}\n`)
      return EXIT_FAILURE
  }
}

function readRecording(path: string): JournalEntry[] {
  try {
    return readJournal(path)
  } catch (cause) {
    throw new CommandError(`cannot read ${path}: ${reasonOf(cause)}`)
  }
}
