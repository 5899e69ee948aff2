// Common code of `run`, `resume` and `snapshot`: a run that prints as it proceeds, can be stopped from outside, and can be
// stored at a suspension.

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
  /** Receives the output of the script; standard output when absent. */
  readonly print?: (text: string) => void
  /** Called with the value of a successful run. */
  readonly onDone?: (value: Value) => void
  /** Called with the error of a failed run. */
  readonly onFailed?: (error: Extract<RunResult, { readonly status: 'failed' }>['error']) => void
  readonly timeoutMs: number | null
  /** File for the snapshot of a run that is stopped from outside, null for none. */
  readonly snapshotFile: string | null
  /** When signals are first handled (stop.ts); from the beginning when absent. */
  readonly signals?: 'now' | 'firstYield'
}

/** Runs to the end and returns the exit code. */
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

/** Ends a run that can no longer be recorded. Throws CommandError for that, and other errors unchanged. */
function rethrowUnrecorded(cause: unknown): never {
  if (isToolError(cause) && cause.code === 'store_unavailable') throw new CommandError(cause.message)
  throw cause
}

export interface Saved {
  readonly sizeBytes: number
  /** The effects that the run waits for. */
  readonly calls: readonly RecordedCall[]
}

/** Runs until `isPlace` accepts a suspension, or it is stopped, and writes a snapshot to a file. */
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
        // Partly performed effects would be requested again: those before the chosen point may finish first.
        if (holdFrom !== null && (pending.length === 0 || pending.some((id) => id < holdFrom))) return
        saving = save(run, snapshotFile)
        // The failure is handled below.
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
      // A listener of the run's events may already stop it.
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

/** Writes atomically: the file is always complete, and the old one stays until the new one is written. */
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
