// Writes to the standard streams. A plain run writes its output directly, because creating `process.stdout` takes several
// milliseconds; everything else uses the streams of Node, which are guarded first.

import { writeSync } from 'node:fs'
import { EXIT_FAILURE, readReason } from './errors.js'

/**
 * A closed reader (`bridle run x | head`) is not an error; a full disk ends the command. Call before using a stream; further
 * calls do nothing.
 */
export function guardStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
  }
}

function onError(cause: NodeJS.ErrnoException): never {
  if (cause.code === 'EPIPE') process.exit(0)
  try {
    writeSync(2, `error: cannot write the output: ${readReason(cause)}\n`)
  } catch {
    // The failing stream may be standard error.
  }
  process.exit(EXIT_FAILURE)
}

/** Writes to standard output synchronously; through the stream once the system has returned EAGAIN. */
export function makeDirectOutput(): (text: string) => void {
  // Pipes are asynchronous there.
  let isDirect = process.platform !== 'win32'
  return (text) => {
    let bytes: Uint8Array = Buffer.from(text)
    while (isDirect && bytes.length > 0) {
      try {
        bytes = bytes.subarray(writeSync(1, bytes))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EAGAIN') onError(cause as NodeJS.ErrnoException)
        isDirect = false
        guardStreams()
      }
    }
    if (bytes.length > 0) process.stdout.write(bytes)
  }
}
