// Errors in the middle of a streamed answer, after the status of the response was sent.

import { readText, record } from './json.js'
import type { Json } from './json.js'

/** By a word in the type or code of the error, in the spellings of all services. */
const CATEGORIES: readonly (readonly [word: string, category: string])[] = [
  ['insufficient_quota', 'rate_limit'],
  ['overloaded', 'overloaded'],
  ['unavailable', 'overloaded'],
  ['rate_limit', 'rate_limit'],
  ['resource_exhausted', 'rate_limit'],
  ['timeout', 'timeout'],
  ['deadline_exceeded', 'timeout'],
  ['authentication', 'auth'],
  ['permission', 'auth'],
  ['not_found', 'not_found'],
  ['invalid_request', 'generic'],
  ['invalid_argument', 'generic'],
]

/** Without a type it is a failure of the service: the request was accepted. */
export function classifyErrorType(type: unknown): string {
  const text = (readText(type) ?? '').toLowerCase()
  return CATEGORIES.find(([word]) => text.includes(word))?.[1] ?? 'server_error'
}

export const MOST_ERROR_TEXT = 2000

/** The message inside an error, with its type in front. */
export function describeError(body: Json, raw?: string): string {
  const error = record(body['error'])
  const message = readText(error['message']) ?? readText(body['error']) ?? readText(body['message'])
  const [kind, code] = [readText(error['type']), readText(error['code'])]
  // Prefer the code over the type if it says that the credit is used up.
  const type = code === 'insufficient_quota' || code === 'billing_hard_limit_reached' ? code : (kind ?? code)
  if (message === null) return (raw ?? JSON.stringify(body)).slice(0, MOST_ERROR_TEXT)
  return (type === null ? message : `${type}: ${message}`).slice(0, MOST_ERROR_TEXT)
}
