// Error categories: the closed list of names, and how a bare error string is classified. The strings come from
// HTTP clients, model services and operating systems, so the rules match their wording.

import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { work } from '../values/meter.js'
import type { Value } from '../values/value.js'

const CATEGORIES: ReadonlySet<string> = new Set([
  'timeout',
  'auth',
  'rate_limit',
  'overloaded',
  'server_error',
  'transient_network',
  'schema_validation',
  'tool_error',
  'tool_rejected',
  'egress_blocked',
  'cancelled',
  'not_found',
  'circuit_open',
  'budget_exceeded',
  'generic',
])

export function toKnownCategory(name: string): string {
  return CATEGORIES.has(name) ? name : 'generic'
}

const BY_STATUS: ReadonlyMap<string, string> = new Map([
  ['401', 'auth'],
  ['403', 'auth'],
  ['404', 'not_found'],
  ['410', 'not_found'],
  ['408', 'timeout'],
  ['504', 'timeout'],
  ['522', 'timeout'],
  ['524', 'timeout'],
  ['429', 'rate_limit'],
  ['503', 'overloaded'],
  ['529', 'overloaded'],
  ['500', 'server_error'],
  ['502', 'server_error'],
])

// In order; the first match decides.
const BY_MARK: readonly (readonly [mark: string, category: string])[] = [
  ['Deadline exceeded', 'timeout'],
  ['context deadline exceeded', 'timeout'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'server_error'],
  ['insufficient_quota', 'rate_limit'],
  ['billing_hard_limit_reached', 'rate_limit'],
  ['invalid_api_key', 'auth'],
  ['authentication_error', 'auth'],
  ['not_found_error', 'not_found'],
  ['model_not_found', 'not_found'],
  ['circuit_open', 'circuit_open'],
]

const NETWORK = /connection (?:reset|refused|closed)|broken pipe|dns error|stream error|unexpected eof/i

/** Characters classified per unit of fuel, as a power of two: each rule scans the string. */
const CLASSIFIED_BITS = 6

export function classify(text: string): string {
  work(text.length >> CLASSIFIED_BITS)
  for (const [status] of text.matchAll(/(?<!\d)[45]\d\d(?!\d)/g)) {
    const category = BY_STATUS.get(status)
    if (category !== undefined) return category
  }
  for (const [mark, category] of BY_MARK) if (text.includes(mark)) return category
  return NETWORK.test(text) ? 'transient_network' : 'generic'
}

/** The category of a caught error: a dict names it, a string is classified. */
export function readCategory(error: Value): string {
  if (typeof error === 'string') return classify(error)
  const named = error instanceof HarnDict ? error.get('category') : undefined
  return named === undefined ? 'generic' : display(named)
}
