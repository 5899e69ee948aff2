// Answers that come from outside as text: what a signal carries, and what engines keep of a call.

import type { EffectOutcome, Plain } from '@bridle/vm'
import { decodeEntry, encodeEntry } from '../journal.js'
import { plainFromJson, plainToJson } from '../journal-codec.js'
import type { ToolOutcome } from '../../tools/executors/outcome.js'
import type { Settled } from './host.js'

/** An answer: the result, or the reason why there is none. */
export type Answer = { readonly ok: Plain } | { readonly error: string; readonly code?: string }

/** One line of JSON. */
export function encodeAnswer(answer: Answer): string {
  return 'ok' in answer ? JSON.stringify({ ok: plainToJson(answer.ok) }) : JSON.stringify(answer)
}

/** An invalid answer is a failed call: it came from outside and must not end the run. */
export function decodeAnswer(line: string): ToolOutcome {
  try {
    const raw = JSON.parse(line) as { readonly [key: string]: unknown }
    if (typeof raw === 'object' && raw !== null) {
      if (Object.hasOwn(raw, 'ok')) return { kind: 'result', value: plainFromJson(raw['ok']) }
      const { error, code } = raw
      if (typeof error === 'string')
        return { kind: 'failed', error: { code: typeof code === 'string' ? code : 'execution_failed', message: error } }
    }
  } catch {
    // Told below.
  }
  return {
    kind: 'failed',
    error: { code: 'execution_failed', message: 'the answer from outside is none: it is not of the form {"ok": value}' },
  }
}

/** For engines that keep text. */
export function encodeSettled(settled: Settled): string {
  return settled.kind === 'outcome'
    ? encodeEntry({ type: 'answer', id: 0, outcome: settled.outcome })
    : JSON.stringify({ settled })
}

/** Raises JournalFormatError for what `encodeSettled` did not write. */
export function decodeSettled(text: string): Settled {
  const raw = JSON.parse(text) as { readonly settled?: Exclude<Settled, { readonly kind: 'outcome' }> }
  return raw.settled ?? { kind: 'outcome', outcome: readOutcome(text) }
}

function readOutcome(text: string): EffectOutcome {
  const entry = decodeEntry(text)
  return entry.type === 'answer'
    ? entry.outcome
    : { ok: false, error: { kind: 'runtime', message: 'the record of a call is damaged' } }
}
