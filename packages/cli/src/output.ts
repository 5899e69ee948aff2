// How the command writes to its standard streams. A plain run writes its output by itself, because making `process.stdout` takes several
// milliseconds; everything else uses the streams of Node, which are guarded first.

import { writeSync } from 'node:fs'
import { EXIT_FAILURE, readReason } from './errors.js'

/**
 * A reader that went away (`bridle run x | head`) is no error; a disk that is full ends the command. To be called before a stream is
 * used; again does nothing.
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
    // Standard error may be the one that fails.
  }
  process.exit(EXIT_FAILURE)
}

/** Writes text to standard output at once, and through the stream from the first time on that the system asks to wait. */
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
