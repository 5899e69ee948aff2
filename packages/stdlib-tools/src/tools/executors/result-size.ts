// What a tool, an operation of the host or a server may give in one result. A run has a limit of memory of its own, which is met late: by then
// the result was copied, and the thread was held for that long.

import { EdgeError, outcomeUnits } from '@bridle/vm'
import type { EffectOutcome } from '@bridle/vm'
import { failedOutcome } from '../host-tools/errors.js'

/** Bytes: one for a character of text, 16 for each value. */
export const MAX_RESULT_BYTES = 16 << 20

/** The outcome, or the failure that says how large it was. */
export function withinSize(outcome: EffectOutcome, most: number, name: string): EffectOutcome {
  const size = sizeBeyond(outcome, most)
  return size === null ? outcome : tooLarge(name, size, most)
}

function tooLarge(name: string, size: string, most: number): EffectOutcome {
  return failedOutcome({
    code: 'execution_failed',
    message: `Tool '${name}' gave a result of ${size} bytes, the limit is ${most} (maxResultBytes)`,
  })
}

/** In words; null where it is within the limit, or no data at all, which others say. */
function sizeBeyond(outcome: EffectOutcome, most: number): string | null {
  try {
    const size = outcomeUnits(outcome, most)
    return size > most ? String(size) : null
  } catch (cause) {
    if (!(cause instanceof EdgeError)) throw cause
    return cause.name === 'TooLargeError' ? `more than ${most}` : null
  }
}
