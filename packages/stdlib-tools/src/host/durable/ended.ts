// How a durable run ended, as its store keeps it.

import { PlainWalk } from '@bridle/vm'
import type { Plain, Value } from '@bridle/vm'
import { describeCause } from '../../tools/executors/provider.js'
import { plainToJson } from '../journal-codec.js'
import type { DriveEnd } from '../machine-driver.js'
import type { RunResult } from '../run.js'

/** The exit status of a run that ended well. */
export type ReadStatus = ((value: Value) => number) | undefined

/** How a durable run ended. */
export interface EndedRun {
  readonly runId: string
  readonly status: 'done' | 'failed' | 'limit' | 'exit' | 'cancelled'
  /** Of a run that ended well; data of the journal (journal-codec). */
  readonly value: unknown
  /** Of one that did not. */
  readonly error: string | null
  /** What `exit` was given, or says of a value (`readStatus`). */
  readonly exitCode: number | null
  readonly output: string
}

/** What is kept of the end of a run. */
export function summarizeResult(runId: string, result: RunResult, readStatus: ReadStatus): EndedRun {
  const { status, output } = result
  return {
    runId,
    status,
    value: result.status === 'done' ? plainToJson(result.value) : null,
    error:
      result.status === 'failed'
        ? result.error.message
        : result.status === 'limit'
          ? result.message
          : result.status === 'cancelled'
            ? result.reason
            : null,
    exitCode: result.status === 'exit' ? result.code : result.status === 'done' ? (readStatus?.(result.raw) ?? 0) : null,
    output,
  }
}

/** Of a run whose journal has everything but its end. */
export function summarizeEnd(
  runId: string,
  { end, output }: { readonly end: DriveEnd; readonly output: string },
  readStatus: ReadStatus,
): EndedRun {
  const base = { runId, value: null, error: null, exitCode: null, output }
  switch (end.kind) {
    case 'done':
      try {
        return { ...base, status: 'done', value: plainToJson(toPlain(end.value)), exitCode: readStatus?.(end.value) ?? 0 }
      } catch (cause) {
        return { ...base, status: 'failed', error: describeCause(cause) }
      }
    case 'failed':
      return { ...base, status: 'failed', error: end.fault.text }
    case 'limit':
      return { ...base, status: 'limit', error: end.message }
    case 'exit':
      return { ...base, status: 'exit', exitCode: end.code }
    case 'cancelled':
      return { ...base, status: 'cancelled', error: end.reason }
  }
}

function toPlain(value: Value): Plain {
  const walk = new PlainWalk(value, Infinity, { hasPrototype: true })
  walk.step(Infinity)
  return walk.plain
}
