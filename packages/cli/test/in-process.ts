// Runs a command in the process of the test and returns its output and exit code. Starting Node and loading the command takes 0.2 to 0.5 s of
// processor time, so only tests of process behaviour (signals, several at once, streams, cache) start one.

import { format } from 'node:util'
import { vi } from 'vitest'
import { runToCode } from '../src/begin.js'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The previous command, which the next one waits for: the working folder and the streams belong to the whole process. */
let last: Promise<unknown> = Promise.resolve()

export function runInProcess(
  folder: string,
  words: readonly string[],
  onStderr: (all: string) => void = () => {},
): Promise<Ended> {
  const ended = last.then(() => runNow(folder, words, onStderr))
  last = ended.catch(() => {})
  return ended
}

async function runNow(folder: string, words: readonly string[], onStderr: (all: string) => void): Promise<Ended> {
  let [stdout, stderr] = ['', '']
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => ((stdout += toText(chunk)), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
      stderr += toText(chunk)
      onStderr(stderr)
      return true
    }),
    // vitest captures console output for its own report.
    vi.spyOn(console, 'log').mockImplementation((...words) => void (stdout += `${format(...words)}\n`)),
    vi.spyOn(console, 'error').mockImplementation((...words) => void (stderr += `${format(...words)}\n`)),
  ]
  const before = process.cwd()
  const environment = { ...process.env }
  process.chdir(folder)
  try {
    const code = await runToCode(words, undefined, (text) => void (stdout += text))
    return { code, stdout, stderr }
  } finally {
    process.chdir(before)
    restoreEnvironment(environment)
    for (const spy of spies) spy.mockRestore()
  }
}

/** A command passes data to its children by environment variables; other tests share them. */
function restoreEnvironment(before: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name]
  for (const [name, value] of Object.entries(before)) if (process.env[name] !== value) process.env[name] = value
}

function toText(chunk: string | Uint8Array): string {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
}
