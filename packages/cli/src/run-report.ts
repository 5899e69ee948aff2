// The outcome of a run as the command reports it: exit code, message on standard error, or one JSON document.

import type { DryRunEntry, Module, RunResult } from '@bridle/stdlib-tools'
import { display, HarnEnum, HarnFloat } from '@bridle/vm'
import type { Value } from '@bridle/vm'
import { EXIT_FAILURE } from './errors.js'
import { makeJsonError } from './failure-document.js'
import type { JsonError } from './failure-document.js'
import { makeFaultError, renderFault } from './fault-report.js'
import type { SourceLookup } from './fault-report.js'
import { makeSourceLookup } from './load.js'
import { guardStreams } from './output.js'
import type { Script } from './script.js'
import type { Stop } from './stop.js'
import { complain, tell, tellJson } from './printable.js'

export interface Ending {
  readonly module: Module
  readonly script: Script
  readonly stop: Stop
  readonly json: boolean
  readonly dryRun: boolean
}

export function report(result: RunResult, ending: Ending): number {
  const { code, complaint } = judge(result, ending)
  if (ending.json || ending.dryRun || complaint !== '') guardStreams()
  if (ending.json) {
    tellJson(makeDocument(result, code, ending), toJsonValue)
    return code
  }
  if (complaint !== '') complain(complaint)
  if (ending.dryRun) tell(renderDryRun(result.wouldHaveDone))
  return code
}

function judge(result: RunResult, { module, script, stop }: Ending): { readonly code: number; readonly complaint: string } {
  switch (result.status) {
    case 'done':
      return toStatus(result.raw)
    case 'failed':
      return { code: EXIT_FAILURE, complaint: renderFault(result.error.fault, makeSourceLookup(module, script)) }
    case 'limit':
      return { code: EXIT_FAILURE, complaint: `error: ${result.message}\n` }
    case 'exit':
      return { code: result.code, complaint: '' }
    case 'cancelled':
      return { code: stop.code, complaint: stop.complaint }
  }
}

/** An int is the exit status, `Result.Err` a failure with a reason, everything else a success. */
export function toStatus(value: Value): { readonly code: number; readonly complaint: string } {
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

function makeDocument(result: RunResult, exitCode: number, { module, script, stop }: Ending): Readonly<Record<string, unknown>> {
  const common = { status: result.status, exit_code: exitCode, output: result.output, would_have_done: result.wouldHaveDone }
  switch (result.status) {
    case 'done':
      return { ...common, value: result.value }
    case 'failed':
      return { ...common, ...withError(describeFailure(result.error, makeSourceLookup(module, script))) }
    case 'limit':
      return { ...common, ...withError({ ...makeJsonError('limit', result.message), limit: result.limit }) }
    case 'exit':
      return common
    case 'cancelled':
      return {
        ...common,
        ...withError(makeJsonError('interrupted', stop.complaint.replace(/^error: /, '').trimEnd() || result.reason)),
      }
  }
}

type Failure = Extract<RunResult, { readonly status: 'failed' }>['error']

function describeFailure({ fault, value, trace }: Failure, sources: SourceLookup): JsonError & Pick<Failure, 'value' | 'trace'> {
  return { ...makeFaultError(fault, sources), value, trace }
}

/** In the format of all failure documents (failure-document.ts). */
const withError = <E extends JsonError>(error: E): { readonly error: E; readonly errors: readonly E[] } => ({
  error,
  errors: [error],
})

/** Values that JSON cannot represent: exact ints beyond doubles and bytes become strings, marked floats become numbers. */
function toJsonValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof HarnFloat) return value.v
  return value
}
