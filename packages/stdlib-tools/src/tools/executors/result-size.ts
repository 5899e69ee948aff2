// What a tool, an operation of the host or a server may give in one result. A run has a limit of memory of its own, which is met late: by then
// the result was copied, and the thread was held for that long.

import { EdgeError, PlainSize, isPlainAnswer } from '@bridle/vm'
import type { EffectOutcome } from '@bridle/vm'
import { makeFailedOutcome } from '../host-tools/errors.js'
import { walkInPieces } from '../host-tools/piece-walk.js'

/** Bytes: one for a character of text, 16 for each value. */
export const MAX_RESULT_BYTES = 16 << 20

/** The outcome, or the failure that says how large it was. A large one is measured in pieces. */
export function checkSize(outcome: EffectOutcome, most: number, name: string): EffectOutcome | Promise<EffectOutcome> {
  if (isPlainAnswer(outcome)) return outcome
  try {
    const walk = new PlainSize(outcome.ok ? outcome.value : outcome.error.value, most)
    const judge = (): EffectOutcome => {
      const units = walk.units + (outcome.ok ? 0 : outcome.error.message.length)
      return units > most ? makeTooLarge(name, String(units), most) : outcome
    }
    const measured = walkInPieces(walk)
    return measured instanceof Promise
      ? measured.then(judge).catch((cause: unknown) => makeEdgeFailure(cause, outcome, most, name))
      : judge()
  } catch (cause) {
    return makeEdgeFailure(cause, outcome, most, name)
  }
}

/** What is no data at all, others say. */
function makeEdgeFailure(cause: unknown, outcome: EffectOutcome, most: number, name: string): EffectOutcome {
  if (!(cause instanceof EdgeError)) throw cause
  return cause.name === 'TooLargeError' ? makeTooLarge(name, `more than ${most}`, most) : outcome
}

function makeTooLarge(name: string, size: string, most: number): EffectOutcome {
  return makeFailedOutcome({
    code: 'execution_failed',
    message: `Tool '${name}' gave a result of ${size} bytes, the limit is ${most} (maxResultBytes)`,
  })
}
