// Names shared by both sides of a Restate server: the objects, and the state of a run.

import type { NewProgram, RunRow } from '../host/durable/store.js'
import type { EndedRun } from '../host/durable/ended.js'

export const RUN_OBJECT = 'BridleRun'
export const INBOX_OBJECT = 'BridleInbox'

/** What `get` of a run says. */
export interface RestateRunState extends Pick<RunRow, 'state' | 'startedAt' | 'wakeAt' | 'waitsFor' | 'sizeBytes'> {
  readonly program: Pick<NewProgram, 'hash' | 'label'>
  /** Why it is stuck. */
  readonly reason: string | null
  readonly result: EndedRun | null
}
