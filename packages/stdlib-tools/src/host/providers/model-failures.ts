// What scripts see of a request to a model that failed, whichever client carried it.

import { thrownError } from '../../tools/executors/provider.js'
import type { EffectOutcome } from '@bridle/vm'

export function makeFailure(category: string, message: string): EffectOutcome {
  return thrownError(message, { category, message })
}

/** The category of an HTTP status that is not success. */
export function classifyStatus(status: number): string {
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'not_found'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 429) return 'rate_limit'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'server_error' : 'generic'
}
