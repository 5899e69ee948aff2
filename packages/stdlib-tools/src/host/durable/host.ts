// The seam between a run and what makes it durable: a store of our own (store-host.ts) or an engine. The driver on it (driver.ts) turns what
// the machine asks for into handles of the host, waits for the first of them, and enters the machine with it. What a host keeps, and how, is
// up to the host; this is its contract.

import type { Effect, EffectOutcome } from '@bridle/vm'
import { RunLeft } from '../machine-driver.js'
import type { JournalEntry } from '../journal.js'
import type { TokenLimit } from '../../tools/executors/provider.js'

/** What a call came to: plain data, which `encodeSettled` makes text of for engines that keep text. */
export type Settled =
  | { readonly kind: 'outcome'; readonly outcome: EffectOutcome }
  /** The call answered `pending(token)`: its answer comes from outside, under that token. */
  | { readonly kind: 'parked'; readonly token: string; readonly limit: TokenLimit | null }
  | { readonly kind: 'exit'; readonly code: number }
  /** Begun by a process that is gone, and must not be begun again. */
  | { readonly kind: 'unknown' }

/**
 * How a call is made. `read`: begun at once. `repeat`: begun when everything that entered the run so far is kept; made again when its outcome
 * was not. `once`: its beginning is kept, too, and it is never begun again.
 */
export type CallMode = 'read' | 'repeat' | 'once'

export interface AskedCall {
  /** Its number within the run: the name of its record. */
  readonly id: number
  /** For people: the kind, and the tool of a tool call. */
  readonly name: string
  readonly effect: Effect
  readonly mode: CallMode
}

/** What a run waits for between calls. */
export interface ParkableWait {
  /** By the number of the call. */
  readonly tokens: ReadonlyMap<number, AwaitedToken>
  /** The earliest timer, time limits of tokens among them; milliseconds since 1970, null without one. */
  readonly wakeAt: number | null
  /** Calls that this driver has made. */
  readonly steps: number
  /** What code of tools waits for; the tools are called again when one of these is answered. */
  readonly events: readonly AwaitedToken[]
  /** Nothing but tokens, events, timers and calls that are held back is waited for. */
  readonly isIdle: boolean
  /** Calls are held back because the run has made `mostSteps` of them: a run that is idle now must park. */
  readonly isFull: boolean
  /** The whole run as bytes, at this moment. */
  readonly snapshot: () => Uint8Array
}

export interface AwaitedToken {
  readonly token: string
  readonly limit: TokenLimit | null
}

/** `H` is the host's own promise; a handle settles once and keeps its value. */
export interface DurableHost<H = unknown> {
  /** When the run was last entered, milliseconds since 1970: part of the record, so that it is the same when the run is played again. */
  now(): number
  /** Never rejects because of the work. Hosts without `note` say whether an earlier process has begun it (`isRepeated`). */
  call(asked: AskedCall, work: (isRepeated?: boolean) => Promise<Settled>): H
  timer(atMs: number): H
  /** Resolved from outside, by run and token: before, while or after it is waited for; the first answer counts. */
  promise(token: string, id: number): H
  /** The index of the first available one: the same choice is made when the run is replayed. */
  first(waiting: readonly H[]): Promise<{ readonly at: number; readonly value: Settled | string | null }>
  /** Asked before each wait. True: a snapshot is kept, and this piece of the run ends here. */
  park?(wait: ParkableWait): Promise<boolean>
  /** For hosts whose record of a piece must stay short: after this many calls the run parks in front of the next one. */
  readonly mostSteps?: number
  /** A handle that this process settles itself. Hosts whose choices must be the same when they are played again have none: tools cannot wait there. */
  local?(): { readonly handle: H; readonly settle: () => void }
  /** The handle is no longer awaited; the answer of its token is kept for the next wait. */
  drop?(handle: H): void
  /** A token is answered: it is no longer awaited, and later answers are reported as such. */
  close?(token: string): void
  /** For hosts that keep Bridle's journal: with it, reads that are answered at once need no handle. */
  note?(entry: JournalEntry): void
  /** Resolves when what was noted so far is kept. */
  kept?(): Promise<void>
}

/** A run is cancelled by an answer to this token, which is text: the reason. Tools cannot wait for it. */
export const CANCEL_TOKEN = 'bridle:cancel'

/** Raised by `run.result` of a run that ended in this process only: it continues elsewhere, or later. */
export class RunParked extends RunLeft {
  override readonly name = 'RunParked'

  constructor() {
    super('the run is parked: it goes on when what it waits for comes')
  }
}

/** The reason to abort a run with that is to continue elsewhere: the run itself does not end. */
export class RunReleased extends RunLeft {
  override readonly name = 'RunReleased'

  constructor(message = 'the run was given back') {
    super(message)
  }
}

/** Raised by a host whose engine failed, or took the run away: nothing of the run is ended. `cause` is what the engine raised, and is for it. */
export class EngineFailed extends RunLeft {
  override readonly name = 'EngineFailed'

  constructor(cause: unknown) {
    super('the engine that keeps the run failed', { cause })
  }
}
