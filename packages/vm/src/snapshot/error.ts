// Why a snapshot was refused. Thrown by everything that reads one; `reason` is for programs, the message for people.

export type Refusal =
  /** The bytes are something else. */
  | 'format'
  /** Written by a version whose snapshots this one does not read. */
  | 'version'
  /** The code differs from the code that the run stopped in; the message names the module. */
  | 'program'
  /** A builtin or native frame that the run uses is missing here. */
  | 'registry'
  /** The bytes were changed after they were written, or forged. */
  | 'damaged'
  /** The authority stored in it does not match that of the host. */
  | 'authority'

export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
  readonly reason: Refusal
  constructor(reason: Refusal, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

export function makeDamagedError(what: string): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${what}`)
}
