// What an HTTP answer that is not success means as a tool's error, for authors of providers.

import { ToolError } from './errors.js'
import type { AnyToolError } from './errors.js'

export interface FailedResponse {
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | { get(name: string): string | null }
  /** Text of the body. */
  readonly body?: string
}

/** Never throws. `now` is milliseconds since 1970, for dates in `Retry-After`. */
export function errorFromResponse(
  response: FailedResponse,
  about: { readonly provider?: string; readonly model?: string; readonly now?: number } = {},
): AnyToolError {
  const { status, body = '' } = response
  const code = chooseCode(status, body)
  const details = {
    status,
    ...(about.provider === undefined ? {} : { provider: about.provider }),
    ...(code === 'model_not_found' && about.model !== undefined ? { model: about.model } : {}),
  }
  const after = retryAfterMs((name) => readHeader(response.headers, name), about.now ?? Date.now())
  const options = { details, ...(after === null ? {} : { retryAfterMs: after }) }
  return new ToolError(code, makeMessage(code, status, body, about), options) as AnyToolError // each code is one member of the union
}

function chooseCode(status: number, body: string) {
  switch (status) {
    case 429:
      return 'rate_limit'
    case 401:
    case 403:
      return 'auth'
    case 404:
      return /\bmodel\b/i.test(body) ? 'model_not_found' : 'not_found'
    case 400:
    case 422:
      return 'invalid_args'
    case 408:
      return 'timeout'
    case 503:
    case 529:
      return 'provider_unavailable'
    default:
      return status >= 500 && status <= 599 ? 'server_error' : 'execution_failed'
  }
}

const LONGEST_TEXT = 500

function makeMessage(code: string, status: number, body: string, about: { readonly provider?: string; readonly model?: string }) {
  const text = body.length > LONGEST_TEXT ? `${body.slice(0, LONGEST_TEXT)}…` : body
  const tail = text === '' ? `HTTP status ${status}` : text
  const provider = about.provider ?? 'unknown'
  switch (code) {
    case 'rate_limit':
      return `rate limit exceeded: ${tail}`
    case 'auth':
      return `authentication failed: ${tail}`
    case 'model_not_found':
      return `model not found: ${about.model ?? 'unknown'} (provider: ${provider})`
    case 'provider_unavailable':
      return `provider unavailable: ${provider} (${tail})`
    case 'invalid_args':
      return `invalid arguments: ${tail}`
    default:
      return `API error ${status}: ${tail}`
  }
}

function readHeader(headers: FailedResponse['headers'], name: string): string | null {
  if (headers === undefined) return null
  if (typeof headers.get === 'function') return headers.get(name)
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  return found === undefined ? null : String(found[1])
}

/**
 * How long a service asks to wait: `retry-after-ms`, `Retry-After` in seconds (also with a fraction) or as a date, or the first reset of a
 * rate limit of a model's service. Null for none, and for what is negative or cannot be read.
 */
export function retryAfterMs(header: (name: string) => string | null, now: number): number | null {
  const exact = parseAmount(header('retry-after-ms'), 1)
  if (exact !== null) return exact
  const after = header('retry-after')
  if (after !== null) {
    const seconds = parseAmount(after, 1000)
    if (seconds !== null) return seconds
    const date = /[A-Za-z]/.test(after) ? Date.parse(after) : NaN
    return Number.isNaN(date) || date < now ? null : Math.ceil(date - now)
  }
  for (const name of ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']) {
    const span = parseSpan(header(name))
    if (span !== null) return span
  }
  return null
}

function parseAmount(text: string | null, scale: number): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text) * scale) : null
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `6m0s`, `20ms`, or plain seconds. */
function parseSpan(text: string | null): number | null {
  if (text === null) return null
  const plain = parseAmount(text, 1000)
  if (plain !== null) return plain
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null
  let total = 0
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/gy)) total += Number(number) * UNITS[unit!]!
  return Math.ceil(total)
}
