// The trace hash of a run: one number for everything that entered it and everything it printed. It stands in the last entry of a
// journal; a replay works it out anew, so that equal hashes say "the same run, bit for bit" without comparing two journals.

import type { EffectOutcome } from '@bridle/vm'
import type { JournalEntry } from './journal.js'
import { encodePlain } from './journal-codec.js'

/** Characters that are hashed at once: a hash has its own price, and entries are short. */
const BATCH = 32 * 1024

export type HashHex = (bytes: Uint8Array) => string

export class TraceHash {
  private readonly hashHex: HashHex
  private state = ''
  /** What came since `state` was worked out. Texts are JSON arrays, so that one of them ends where the next begins. */
  private text = ''

  constructor(hashHex: HashHex) {
    this.hashHex = hashHex
  }

  /** Every entry in order, but `run`, whose ids differ from run to run, `end`, and `token`, which no machine sees. */
  add(entry: JournalEntry): void {
    if (entry.type !== 'run' && entry.type !== 'end' && entry.type !== 'token')
      this.mix(JSON.stringify(listCanonicalParts(entry)))
  }

  /** Lower-case hex. `output` is all that was printed. */
  finish(output: string): string {
    this.mix(JSON.stringify(output))
    this.flush()
    return this.state
  }

  private mix(text: string): void {
    this.text += text
    if (this.text.length >= BATCH) this.flush()
  }

  private flush(): void {
    this.state = this.hashHex(new TextEncoder().encode(`${this.state}${this.text}`))
    this.text = ''
  }
}

/** Equal for an entry and for what became of it on its way through a file. */
function listCanonicalParts(entry: JournalEntry): readonly unknown[] {
  switch (entry.type) {
    case 'start':
      return ['start', entry.now, encodePlain(entry.input)]
    case 'effect':
      return ['effect', entry.id, entry.kind, encodePlain(entry.args)]
    case 'answer':
      return ['answer', entry.id, ...listOutcomeParts(entry.outcome)]
    case 'resume':
      return ['resume', entry.id, entry.now, ...(entry.outcome === null ? [] : listOutcomeParts(entry.outcome))]
    case 'nested': {
      const { args, ...facts } = entry.call
      return ['nested', entry.id, encodePlain(facts), encodePlain(args)]
    }
    case 'nested_end': {
      const { outcome } = entry
      const { value, ...end } = { value: undefined, ...outcome }
      return ['nested_end', entry.id, entry.call, entry.now, encodePlain(end), value === undefined ? '' : encodePlain(value)]
    }
    case 'cancel':
      return ['cancel', entry.reason, entry.now]
    default:
      return [entry.type]
  }
}

function listOutcomeParts(outcome: EffectOutcome): readonly unknown[] {
  if (outcome.ok) return [encodePlain(outcome.value)]
  const { kind, message, category = '', value } = outcome.error
  return [kind, message, category, value === undefined ? '' : encodePlain(value)]
}
