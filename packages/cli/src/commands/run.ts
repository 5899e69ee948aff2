// `bridle run`: one script from start to end in this process. Its output goes out as it comes; how it ended decides the exit code
// (reference 01 §5).

import { readFileSync } from 'node:fs'
import type { DryRunEntry, Journal, Module, RunResult } from '@bridle/stdlib-tools'
import { plainFromHost } from '@bridle/stdlib-tools'
import { fileJournal } from '@bridle/stdlib-tools/node'
import { display, fromPlain, HarnEnum, HarnFloat } from '@bridle/vm'
import type { Limits, Plain, Value } from '@bridle/vm'
import { CommandError, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_TIMEOUT, UsageError } from '../errors.js'
import { renderFault } from '../fault-report.js'
import { commandRuntime } from '../host.js'
import { compileScript, readScript, reasonOf, sourcesOf } from '../load.js'
import type { Script } from '../load.js'
import type { RunFlags } from '../main.js'

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
}

export async function runCommand(file: string | undefined, options: RunCommandOptions): Promise<number> {
  const input = readInput(options.input)
  const script = await readScript(file, options.eval)
  const runtime = commandRuntime({ script: script.key, terminal: true, args: options.scriptArguments, limits: limitsOf(options) })
  const module = compileScript(runtime, script)
  if (module === null) return EXIT_FAILURE
  const stop = new Stop(options.timeout ?? null)
  try {
    const result = await runtime.start(module, {
      input,
      signal: stop.signal,
      dryRun: options.dryRun === true,
      globals: { argv: fromPlain([...options.scriptArguments]) },
      ...(options.record === undefined ? {} : { journal: openJournal(options.record) }),
      onEvent: (event) => {
        if (event.type === 'output' && options.json !== true) process.stdout.write(event.text)
      },
    }).result
    return report(result, { module, script, stop, json: options.json === true, dryRun: options.dryRun === true })
  } finally {
    stop.end()
  }
}

interface Ending {
  readonly module: Module
  readonly script: Script
  readonly stop: Stop
  readonly json: boolean
  readonly dryRun: boolean
}

function report(result: RunResult, ending: Ending): number {
  const { code, complaint } = judge(result, ending)
  if (ending.json) {
    process.stdout.write(`${JSON.stringify(documentOf(result, code, ending.stop), jsonValue, 2)}\n`)
    return code
  }
  if (complaint !== '') process.stderr.write(complaint)
  if (ending.dryRun) process.stdout.write(renderDryRun(result.wouldHaveDone))
  return code
}

function judge(result: RunResult, { module, script, stop }: Ending): { readonly code: number; readonly complaint: string } {
  switch (result.status) {
    case 'done':
      return statusOf(result.raw)
    case 'failed':
      return { code: EXIT_FAILURE, complaint: renderFault(result.error.fault, sourcesOf(module, script)) }
    case 'limit':
      return { code: EXIT_FAILURE, complaint: `error: ${result.message}\n` }
    case 'exit':
      return { code: result.code, complaint: '' }
    case 'cancelled':
      return { code: stop.code, complaint: stop.complaint }
  }
}

/** An int is the exit status, `Result.Err` a failure that says why, everything else a success. */
function statusOf(value: Value): { readonly code: number; readonly complaint: string } {
  if (typeof value === 'number') return { code: Math.min(255, Math.max(0, value)), complaint: '' }
  if (typeof value === 'bigint') return { code: value > 0n ? 255 : 0, complaint: '' }
  if (value instanceof HarnEnum && value.enumName === 'Result' && value.variant === 'Err') {
    return { code: EXIT_FAILURE, complaint: `${display(value.fields[0] ?? null)}\n` }
  }
  return { code: 0, complaint: '' }
}

function renderDryRun(entries: readonly DryRunEntry[]): string {
  if (entries.length === 0) return '\nDry run: nothing would have been changed.\n'
  const lines = entries.map(
    (entry, at) =>
      `${String(at + 1).padStart(4)}. ${entry.summary} [${entry.sideEffect}]${entry.performed ? ' (done even now)' : ''}`,
  )
  return `\nDry run: this would have happened.\n${lines.join('\n')}\n`
}

function documentOf(result: RunResult, exitCode: number, stop: Stop): Readonly<Record<string, unknown>> {
  const common = { status: result.status, exit_code: exitCode, output: result.output, would_have_done: result.wouldHaveDone }
  switch (result.status) {
    case 'done':
      return { ...common, value: result.value }
    case 'failed':
      return { ...common, error: { message: result.error.message, value: result.error.value, trace: result.error.trace } }
    case 'limit':
      return { ...common, error: { message: result.message, limit: result.limit } }
    case 'exit':
      return common
    case 'cancelled':
      return { ...common, error: { message: stop.complaint.replace(/^error: /, '').trimEnd() || result.reason } }
  }
}

/** What JSON has no form for: exact ints beyond the doubles and bytes are given as text, marked floats as numbers. */
function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof HarnFloat) return value.v
  return value
}

function readInput(text: string | undefined): Plain {
  if (text === undefined) return null
  let json = text
  if (text.startsWith('@')) {
    try {
      json = readFileSync(text.slice(1), 'utf8')
    } catch (cause) {
      throw new CommandError(`cannot read ${text.slice(1)}: ${reasonOf(cause)}`)
    }
  }
  try {
    return plainFromHost(JSON.parse(json))
  } catch (cause) {
    throw new UsageError(`--input is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function limitsOf(options: RunFlags): Partial<Limits> {
  return {
    ...(options.fuel === undefined ? {} : { fuel: options.fuel }),
    ...(options.maxHeap === undefined ? {} : { heap: options.maxHeap }),
  }
}

function openJournal(path: string): Journal {
  try {
    return fileJournal(path)
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${reasonOf(cause)}`)
  }
}

/** Ends a run from outside: the interrupt key, a termination request, or its time. A second signal does not wait for anything. */
class Stop {
  readonly signal: AbortSignal
  /** Exit code of a run that was stopped. */
  code = EXIT_INTERRUPTED
  complaint = ''
  private readonly abort = new AbortController()
  private readonly timer: NodeJS.Timeout | null
  private readonly onInterrupt = (): void => this.stop(EXIT_INTERRUPTED, 'interrupted', true)
  private readonly onTerminate = (): void => this.stop(EXIT_TERMINATED, 'terminated', true)

  constructor(timeoutMs: number | null) {
    this.signal = this.abort.signal
    process.on('SIGINT', this.onInterrupt)
    process.on('SIGTERM', this.onTerminate)
    this.timer =
      timeoutMs === null
        ? null
        : setTimeout(() => this.stop(EXIT_TIMEOUT, `the run took longer than ${timeoutMs} ms`, false), timeoutMs)
  }

  end(): void {
    process.off('SIGINT', this.onInterrupt)
    process.off('SIGTERM', this.onTerminate)
    if (this.timer !== null) clearTimeout(this.timer)
  }

  private stop(code: number, reason: string, bySignal: boolean): void {
    if (this.signal.aborted) {
      if (bySignal) process.exit(code)
      return
    }
    this.code = code
    this.complaint = `error: ${reason}\n`
    this.abort.abort(new Error(reason))
  }
}
