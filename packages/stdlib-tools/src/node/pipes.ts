// Named pipes and terminals as files: opening, reading and writing wait for the other end, for as long as that
// takes. That must not block the thread, or the run could not be stopped.

import { constants, openSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { ReadStream, isatty } from 'node:tty'

/** Interval of polling whether a pipe has a reader, in milliseconds; the system notifies only of writers. */
const LOOK_MS = 20

/** Whether reading the open file may block. */
export function isAwaited(fd: number, facts: Stats): boolean {
  return facts.isFIFO() || (facts.isCharacterDevice() && isatty(fd))
}

export function isPipe(target: string): boolean {
  return statSync(target, { throwIfNoEntry: false })?.isFIFO() === true
}

/** Everything until the last writer has left; raises what the system says, EFBIG beyond `mostBytes`, and the signal's reason. */
export async function readAwaited(target: string, mostBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  signal.throwIfAborted()
  // Without O_NONBLOCK, opening would wait. The first writer may still be to come: there is no end before there was one.
  const fd = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  const stream = isatty(fd) ? new ReadStream(fd) : new Socket({ fd, readable: true, writable: false })
  const stop = (): void => void stream.destroy(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > mostBytes) throw Object.assign(new Error('too large'), { code: 'EFBIG' })
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } finally {
    signal.removeEventListener('abort', stop)
    stream.destroy()
  }
}

/** Waits for a reader and gives it everything; raises what the system says (EPIPE when it leaves), and the signal's reason. */
export async function writeAwaited(target: string, data: Uint8Array, signal: AbortSignal): Promise<void> {
  const stream = new Socket({ fd: await openForReader(target, signal), readable: false, writable: true })
  const stop = (): void => void stream.destroy(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  try {
    stream.end(data)
    await finished(stream, { readable: false })
  } finally {
    signal.removeEventListener('abort', stop)
    stream.destroy()
  }
}

async function openForReader(target: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return openSync(target, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch (cause) {
      // No reader yet.
      if ((cause as { readonly code?: unknown }).code !== 'ENXIO') throw cause
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
