// Plain data ⇄ bytes in the format of a snapshot, for what a host adds to the snapshot of a machine. Supports JSON data,
// bytes, big ints, exact floats and `undefined`; nothing that names code.

import { SnapshotError, makeDamagedError } from './error.js'
import { readVersion } from './envelope.js'
import { GraphReader } from './graph-read.js'
import { GraphWriter } from './graph-write.js'

/** Throws an Error if the value is not plain data: that is a bug of the caller. */
export function writeDocument(data: unknown, version: number): Uint8Array {
  const writer = new GraphWriter()
  writer.writeValue(data)
  return writer.finish('run', version)
}

/** The version that the bytes claim; nothing else of them is checked. */
export function readDocumentVersion(bytes: Uint8Array): number {
  return readVersion(bytes)
}

/** Throws SnapshotError for anything but the undamaged bytes of a document of this version. */
export function readDocument(bytes: Uint8Array, version: number): unknown {
  const refuse = (): never => {
    throw makeDamagedError('it names code where there is none')
  }
  try {
    const reader = new GraphReader(bytes, 'run', version, { code: refuse, frame: refuse })
    const data = reader.readValue()
    reader.finish()
    return data
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause
    throw new SnapshotError('damaged', `unreadable snapshot: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}
