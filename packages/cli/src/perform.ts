// What `run`, `resume` and `snapshot` have in common: a run that prints as it goes, can be stopped from outside, and can be
// written down on the way.

import { makeCall, isToolError } from '@bridle/stdlib-tools'
import type { Module, RecordedCall, Run, RunResult, StartOptions } from '@bridle/stdlib-tools'
import { writeWholeFile } from '@bridle/stdlib-tools/node'
import type { Value } from '@bridle/vm'
import { CommandError, readReason } from './errors.js'
import type { Script } from './script.js'
import { complain } from './printable.js'
import { report } from './run-report.js'
import { Stop } from './stop.js'

export interface Performance {
  readonly module: Module
  readonly script: Script
  readonly launch: (options: StartOptions) => Run
  readonly json: boolean
  readonly dryRun: boolean
  /** Where what the script prints goes; standard output when absent. */
  readonly print?: (text: string) => void
  /** Is told the value of a run that ended well. */
  readonly onDone?: (value: Value) => void
  /** Is told of the error of a run that failed. */
  readonly onFailed?: (error: Extract<RunResult, { readonly status: 'failed' }>['error']) => void
  readonly timeoutMs: number | null
  /** Where the run is written to when it is stopped from outside, null for nowhere. */
  readonly snapshotFile: string | null
  /** From when on signals are heeded (stop.ts); from the beginning when absent. */
  readonly signals?: 'now' | 'firstYield'
}

/** Runs to the end and gives the exit code. */
export async function perform(performance: Performance): Promise<number> {
  const stop = new Stop(performance.timeoutMs, performance.signals)
  try {
    const run = start(performance, stop, {})
    const file = performance.snapshotFile
    if (file !== null) {
      stop.beforeCancel = async () => {
        const saved = await save(run, file)
        complain(formatSaved(file, saved))
      }
    }
    const result = await run.result.catch(rethrowUnrecorded)
    if (result.status === 'done') performance.onDone?.(result.raw)
    if (result.status === 'failed') performance.onFailed?.(result.error)
    return report(result, { ...performance, stop })
  } finally {
    stop.end()
  }
}

/** A run ends where it can no longer be written down. Throws CommandError for that, and what is thrown otherwise. */
function rethrowUnrecorded(cause: unknown): never {
  if (isToolError(cause) && cause.code === 'store_unavailable') throw new CommandError(cause.message)
  throw cause
}

export interface Saved {
  readonly sizeBytes: number
  /** What the run waits for. */
  readonly calls: readonly RecordedCall[]
}

/** Runs until `isPlace` says that the run waits in the right place, or it is stopped, and writes it to a file. */
export async function performUntil(
  performance: Performance & { readonly snapshotFile: string },
  options: { readonly holdFrom: number | null; readonly untilInterrupted: boolean },
): Promise<{ readonly code: number; readonly saved: Saved | null }> {
  const { snapshotFile } = performance
  const { holdFrom } = options
  const stop = new Stop(performance.timeoutMs)
  let saving: Promise<Saved> | null = null
  try {
    const run = start(performance, stop, {
      ...(holdFrom === null ? {} : { holdFrom }),
      onWaiting: ({ pending }) => {
        if (options.untilInterrupted || saving !== null) return
        // What was performed in part would be asked for again: those before the place may end first.
        if (holdFrom !== null && (pending.length === 0 || pending.some((id) => id < holdFrom))) return
        saving = save(run, snapshotFile)
        // The failure is looked at below.
        saving.then(
          () => run.cancel('the run was written down'),
          () => run.cancel('the run could not be written down'),
        )
      },
    })
    stop.beforeCancel = async () => {
      saving ??= save(run, snapshotFile)
      await saving
    }
    const result: RunResult = await run.result.catch(rethrowUnrecorded)
    const saved = await (saving as Promise<Saved> | null)
    if (saved !== null) return { code: stop.isCancelled ? stop.code : 0, saved }
    return { code: report(result, { ...performance, stop }), saved: null }
  } finally {
    stop.end()
  }
}

function start({ launch, json, dryRun, print }: Performance, stop: Stop, more: Partial<StartOptions>): Run {
  const run = launchOrRefuse(launch, {
    ...more,
    rawResult: !json,
    onYield: () => stop.listen(),
    dryRun,
    onEvent: (event) => {
      // Whoever watches what the run does may already stop it.
      if (event.type === 'effect') stop.listen()
      if (event.type !== 'output' || json) return
      if (print === undefined) process.stdout.write(event.text)
      else print(event.text)
    },
  })
  stop.onCancel = (reason) => run.cancel(reason)
  return run
}

/** Throws CommandError for a run that the host refuses to start. */
function launchOrRefuse(launch: Performance['launch'], options: Partial<StartOptions>): Run {
  try {
    return launch(options)
  } catch (cause) {
    if (isToolError(cause)) throw new CommandError(cause.message)
    throw cause
  }
}

async function save(run: Run, file: string): Promise<Saved> {
  const bytes = await run.snapshot()
  writeWhole(file, bytes)
  return { sizeBytes: bytes.length, calls: run.pendingCalls().map(({ id, effect }) => makeCall(id, effect)) }
}

/** A file that is there is whole, and an old one stays until the new one is. */
export function writeWhole(file: string, bytes: string | Uint8Array): void {
  try {
    writeWholeFile(file, bytes)
  } catch (cause) {
    throw new CommandError(`cannot write ${file}: ${readReason(cause)}`)
  }
}

export function formatSaved(file: string, { sizeBytes, calls }: Saved): string {
  const waits = calls.length === 0 ? 'a timer' : calls.map((call) => `call ${call.id}, ${call.name}`).join('; ')
  return `bridle: wrote ${file}, ${sizeBytes} bytes; the run waits for ${waits}\n`
}
