// Files named by options of `bridle run`: input, answers, journals and traces. Separate from run.ts, because a run without
// options needs none of it.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal, TraceOptions, TraceSink } from '@bridle/stdlib-tools'
import { ToolError } from '@bridle/stdlib-tools'
import { continuedJournal, fileJournal, fileTrace } from '@bridle/stdlib-tools/node'
import { parseJson, toPlain } from '@bridle/vm'
import { modelFixtures } from '@bridle/stdlib-tools'
import type { Plain } from '@bridle/vm'
import { CommandError, UsageError, readReason, makeUnreadableError } from '../errors.js'
import { complain } from '../printable.js'
import { listSecretValues, withTelemetry } from '../telemetry/telemetry.js'

/** Extensions by name. Throws UsageError. */
export function readExtensions(names: readonly string[] | undefined): readonly 'grants'[] {
  return (names ?? []).map((name) => {
    if (name !== 'grants') throw new UsageError(`--extension ${name}: the only extension is grants`)
    return name
  })
}

/** A trace in a file; a path that is a folder, or ends with a slash, gets a file named after the run. */
export function makeTracing(path: string, isRequired = false): { readonly tracing: TraceOptions; readonly runId?: string } {
  const secrets = listSecretValues()
  const isFolder = path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory())
  const runId = makeUuidv7()
  const file = isFolder ? join(path, `${runId}.jsonl`) : path
  try {
    if (isFolder) complain(`trace: ${runId}\n`)
    return {
      runId,
      tracing: withTelemetry({
        sinks: [withComplaints(fileTrace(file), file)],
        redact: { secrets },
        ...(isRequired ? { required: true } : {}),
      }),
    }
  } catch (cause) {
    throw new CommandError(`cannot write ${file}: ${readReason(cause)}`)
  }
}

/** For runs that a command starts later. Throws UsageError if many runs would share one file. */
export function makeTracings(
  path: string,
  { isRequired, runs }: { readonly isRequired: boolean; readonly runs: 'one' | 'many' },
): (runId: string) => TraceOptions {
  if (runs === 'one') return () => makeTracing(path, isRequired).tracing
  if (existsSync(path) && !statSync(path).isDirectory())
    throw new UsageError(`--trace ${path}: each run writes a file of its own; name a folder`)
  return () => makeTracing(path.endsWith('/') ? path : `${path}/`, isRequired).tracing
}

/** Reports what it cannot write; the run continues without it. */
function withComplaints(sink: TraceSink, file: string): TraceSink {
  const complainOnFailure = (work: () => void): void => {
    try {
      work()
    } catch (cause) {
      complain(`bridle: cannot write ${file}: ${readReason(cause)}; the trace ends there\n`)
      throw cause
    }
  }
  return {
    ...sink,
    append: (event) => complainOnFailure(() => sink.append(event)),
    blob: (hash, text) => complainOnFailure(() => sink.blob?.(hash, text)),
  }
}

/** Sorts by creation time (RFC 9562). */
function makeUuidv7(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** JSON, or the file after an @. Throws UsageError, which begins with `problem`, and CommandError. */
export function readInput(text: string, problem = '--input is not JSON', hint?: string): Plain {
  let json = text
  if (text.startsWith('@')) {
    try {
      json = readFileSync(text.slice(1), 'utf8')
    } catch (cause) {
      throw makeUnreadableError(text.slice(1), cause)
    }
  }
  return readJson(json, problem, hint)
}

/** JSON as scripts read it: integers of any size stay exact. Throws UsageError, which begins with `problem`. */
export function readJson(text: string, problem: string, hint?: string): Plain {
  const read = parseJson(text)
  if (!read.ok)
    throw new UsageError(`${problem}: ${read.message.replace(/^JSON parse error: /, '')}`, hint === undefined ? {} : { hint })
  try {
    return toPlain(read.value)
  } catch {
    throw new UsageError(`${problem} that can be used: it is nested too deeply`)
  }
}

export function openJournal(path: string): Journal {
  return openReportingJournal(path, fileJournal)
}

/** The same, appended to an existing file. */
export function openContinuedFile(path: string): Journal {
  return openReportingJournal(path, continuedJournal)
}

function openReportingJournal(path: string, open: (path: string) => Journal): Journal {
  const makeRefusal = (cause: unknown): CommandError =>
    new CommandError(`cannot write ${path}: ${readReason(cause)}`, { file: path })
  try {
    const journal = open(path)
    return {
      ...journal,
      append(entry) {
        try {
          journal.append(entry)
        } catch (cause) {
          throw new ToolError('store_unavailable', makeRefusal(cause).message, { cause })
        }
      },
    }
  } catch (cause) {
    throw makeRefusal(cause)
  }
}

/** Model answers from a file; errors in it are reported before the run. */
export function readFixtures(path: string): string {
  let lines: string
  try {
    lines = readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
  try {
    modelFixtures(lines)
  } catch (cause) {
    throw new CommandError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  return lines
}
