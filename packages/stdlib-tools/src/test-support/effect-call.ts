// The call that tests of providers are made with.

import type { EffectCall } from '../tools/executors/provider.js'

/** The first call of a run, cancelled only by `signal`. */
export function makeEffectCall(signal = new AbortController().signal): EffectCall {
  return { id: 1, runId: 'r', idempotencyKey: 'r:1', signal, now: 0, exit: () => {} }
}
