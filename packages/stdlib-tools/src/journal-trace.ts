// The trace hash of a run: one number for everything that entered it and everything it printed. It stands in the last entry of a
// journal; a replay works it out anew, so that equal hashes say "the same run, bit for bit" without comparing two journals.

import { encodeEntry } from './journal.js'
import type { JournalEntry } from './journal.js'

export type HashHex = (bytes: Uint8Array) => string

export class TraceHash {
  private readonly hashHex: HashHex
  private state = ''

  constructor(hashHex: HashHex) {
    this.hashHex = hashHex
  }

  /** Every entry in order, but `run`, whose ids differ from run to run, and `end`. */
  add(entry: JournalEntry): void {
    if (entry.type !== 'run' && entry.type !== 'end') this.mix(encodeEntry(entry))
  }

  /** Lower-case hex. `output` is all that was printed. */
  finish(output: string): string {
    this.mix(JSON.stringify(output))
    return this.state
  }

  private mix(text: string): void {
    this.state = this.hashHex(new TextEncoder().encode(`${this.state}${text}`))
  }
}
