// A trace in a file, one event a line; large texts beside it in `<file>.blobs/<hash>`, each once. A run that continues from a
// snapshot appends to the trace it had.

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TraceEvent } from '../host/trace/event.js'
import type { TraceSink } from '../host/trace/recorder.js'
import { appendAll, makeFolders, openAnew, writeWholeFile } from './whole-file.js'

export class TraceFormatError extends Error {
  override readonly name = 'TraceFormatError'
}

/** Starts the file anew, unless the run continues. */
export function fileTrace(path: string): TraceSink {
  makeFolders(dirname(path))
  let open: number | null = null
  return {
    append(event) {
      open ??= event.seq > 1 ? openSync(path, 'a') : openAnew(path)
      appendAll(open, Buffer.from(`${JSON.stringify(event)}\n`))
    },
    blob(hash, text) {
      const folder = `${path}.blobs`
      makeFolders(folder)
      const file = join(folder, hash.replace(':', '-'))
      if (!existsSync(file)) writeWholeFile(file, text)
    },
    close() {
      if (open !== null) closeSync(open)
      open = null
    },
    last: () => (existsSync(path) ? (readTrace(path).at(-1) ?? null) : null),
  }
}

/** Throws TraceFormatError if the file is not a trace. A half-written last line, as a crash leaves it, is dropped. */
export function readTrace(path: string): TraceEvent[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  const events: TraceEvent[] = []
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue
    let event: unknown
    try {
      event = JSON.parse(line)
    } catch {
      if (at === lines.length - 1) break
      throw new TraceFormatError(`${path}:${at + 1} is not JSON`)
    }
    const { seq, kind, hash } = (event ?? {}) as Partial<TraceEvent>
    if (typeof seq !== 'number' || typeof kind !== 'string' || typeof hash !== 'string')
      throw new TraceFormatError(`${path}:${at + 1} is not an event of a trace`)
    events.push(event as TraceEvent)
  }
  return events
}

/** The text behind a `$blob`; null when it is gone. */
export function readTraceBlob(path: string, hash: string): string | null {
  const file = join(`${path}.blobs`, hash.replace(':', '-'))
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
