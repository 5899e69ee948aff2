// State of HTTP in a run: mocks and what they were asked, sessions, streams, the egress policy. Lives in the machine.

import { HarnDict, display, family } from '@bridle/vm/families'
import type { Context, Fit, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'

export interface HttpMock {
  readonly method: string
  readonly pattern: string
  readonly responses: readonly Value[]
  /** Index of the response for the next request; stays at the last. */
  next: number
}

export interface HttpCall {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string | null
}

/** A response body that a script reads in pieces. `rest` is the unread part of a mocked body; null if the host holds it. */
export interface HttpStreamState {
  readonly status: number
  readonly headers: Value
  rest: Uint8Array | null
}

export interface EgressPolicy {
  readonly source: 'stdlib' | 'env'
  readonly default: 'allow' | 'deny'
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

export interface HttpState {
  readonly mocks: HttpMock[]
  readonly calls: HttpCall[]
  readonly sessions: Map<string, HarnDict>
  readonly streams: Map<string, HttpStreamState>
  egress: EgressPolicy | null
  /** Whether the environment was asked for a policy. */
  egressAsked: boolean
}

export const httpState = family('http', (): HttpState => ({
  mocks: [],
  calls: [],
  sessions: new Map(),
  streams: new Map(),
  egress: null,
  egressAsked: false,
}))

/** One sequence of numbers for all transport handles of a run: HTTP, server-sent events, WebSockets. */
const handleState = family('transport_handles', () => ({ last: 0 }))

export function makeHandleId(ctx: Context, prefix: string): string {
  return `${prefix}-${++ctx.state(handleState).last}`
}

/** The id behind a handle, which is a string or a dict with an `id`. */
export function handleId(handle: Value): string {
  return display(handle instanceof HarnDict ? (handle.get('id') ?? '') : handle)
}

/** The error in the form of a handle, before it is looked up; null if it is valid. */
export function handleProblem(name: string, handle: Value): string | null {
  if (handle instanceof HarnDict) return handle.has('id') ? null : `${name}: handle dict must contain id`
  return typeof handle === 'string' ? null : `${name}: first argument must be a handle string or dict`
}

/** A handle that looks like one. */
export const isHandle: Fit = (handle, { name }) => handleProblem(name, handle)

/** The same where nothing else is said of a missing one. */
export function isPassedHandle(what: 'session' | 'stream' | 'socket' | 'server'): Fit {
  return (handle, { name, isPassed }) => (isPassed ? handleProblem(name, handle) : `${name}: requires a ${what} handle`)
}

/** `*` stands for any characters; everything else for itself. Linear: only the last star ever gives way. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === text
  const first = parts[0]!
  const last = parts.at(-1)!
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

export function setMock(state: HttpState, method: string, pattern: string, response: Value): void {
  const listed = response instanceof HarnDict ? response.get('responses') : undefined
  const items = listed !== null && typeof listed === 'object' && 'view' in listed ? listed.view() : []
  const mock: HttpMock = {
    method: method.toUpperCase(),
    pattern,
    responses: items.length > 0 ? items : [response ?? new HarnDict()],
    next: 0,
  }
  const known = state.mocks.findIndex((each) => each.method === mock.method && each.pattern === pattern)
  if (known >= 0) state.mocks.splice(known, 1)
  state.mocks.push(mock)
}

function findMock(state: HttpState, method: string, url: string): HttpMock | undefined {
  return state.mocks.find((each) => (each.method === '*' || each.method === method) && matchesPattern(each.pattern, url))
}

export function isMocked(state: HttpState, method: string, url: string): boolean {
  return findMock(state, method, url) !== undefined
}

/** The response of the first mock that fits, recorded as a call; null when none does. */
export function takeMockedResponse(state: HttpState, call: HttpCall): Value {
  const mock = findMock(state, call.method, call.url)
  if (mock === undefined) return null
  state.calls.push(call)
  const response = mock.responses[Math.min(mock.next, mock.responses.length - 1)]!
  mock.next++
  return response
}

// ------------------------------------------------------------------------------------------------------------ redaction

const SENSITIVE_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-xsrf-token',
])
const SENSITIVE_QUERY = /^(?:api_key|apikey|password|secret|token|.*_token|.*_secret)$/i
export const REDACTED = '[redacted]'

export function isSensitiveHeader(name: string): boolean {
  return SENSITIVE_HEADERS.has(name.toLowerCase())
}

/** The URL with secrets in its query and its password replaced; the same text when there are none. */
export function redactUrl(url: string): string {
  const parsed = parseUrl(url)
  if (parsed === null) return url
  const pairs = [...new URLSearchParams(parsed.search.slice(1)).entries()]
  const secret = pairs.some(([name]) => SENSITIVE_QUERY.test(name))
  if (!secret && parsed.password === '') return url
  if (parsed.password !== '') parsed.password = REDACTED
  if (secret)
    parsed.search = new URLSearchParams(
      pairs.map(([name, value]): [string, string] => [name, SENSITIVE_QUERY.test(name) ? REDACTED : value]),
    ).toString()
  return parsed.toString()
}
