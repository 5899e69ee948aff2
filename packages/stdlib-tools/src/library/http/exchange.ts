// One request of a script as a resumable state machine: environment policy (once a run), files of a multipart body, then
// attempts. An attempt passes the egress policy, then the mocks, then goes to the host as an effect; redirects are followed
// here, hop by hop, and failed attempts are retried after a pause.

import { findCodeRow } from '../tool-errors.js'
import { HarnBytes, HarnDict, UNTRACED, display, family, frame, isInt, parseJson, toPlain, work } from '@bridle/vm/families'
import type { Context, Control, Effect, Result, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import { parseHttpDate } from '../codecs/http-date.js'
import { findRefusal, readAnswerField } from '../files/ask.js'
import { checkEgress, readPolicyFromEnvironment } from './egress.js'
import { encodeParts } from './options.js'
import type { RequestPlan } from './options.js'
import { httpState, isMocked, isSensitiveHeader, takeMockedResponse, redactUrl } from './state.js'
import type { HttpCall } from './state.js'
import { clockState } from '../time/time.js'
import type { EffectArgs } from '@bridle/vm/families'

/** What to do with the response. */
export type Purpose =
  | { readonly kind: 'text' }
  /** As text, with the address that answered and what JSON stands for: the standard tools `http.*`. */
  | { readonly kind: 'record' }
  | { readonly kind: 'download'; readonly path: string }
  | { readonly kind: 'stream'; readonly handle: string }

export interface ExchangeState {
  [key: string]: unknown
  /** The builtin that asked, for egress reports. */
  readonly surface: string
  readonly purpose: Purpose
  plan: RequestPlan
  stage: 'policy' | 'files' | 'send' | 'answer' | 'pause' | 'save'
  /** Answers of the environment about the egress policy, and how many questions are out. */
  readonly environment: Value[]
  asked: number
  attempt: number
  hops: number
  /** The response of a mocked download while its file is written. */
  saved: Value
}

export function exchange(ctx: Context, surface: string, plan: RequestPlan, purpose: Purpose): Control {
  const state: ExchangeState = {
    surface,
    purpose,
    plan,
    stage: 'policy',
    environment: [],
    asked: 0,
    attempt: 0,
    hops: 0,
    saved: null,
  }
  return ctx.frame('http.exchange', state)
}

const POLICY_VARIABLES = ['HARN_EGRESS_ALLOW', 'HARN_EGRESS_DENY', 'HARN_EGRESS_DEFAULT'] as const
/** Longest pause between two attempts, in milliseconds. */
const MAX_PAUSE = 60_000

export const exchangeFrame = frame<ExchangeState>({
  kind: 'http.exchange',
  step: (ctx, state) => advance(ctx, state, ctx.result, false),
  // Without the right to read the environment there is no policy in it; other refusals are raised.
  onFault: (ctx, state, fault) => (state.stage === 'policy' ? advance(ctx, state, null, true) : ctx.fail(fault)),
})

/** Goes as far as possible without the world. `answer` is what it said last. */
function advance(ctx: Context, state: ExchangeState, answer: Value, refused: boolean): Result {
  switch (state.stage) {
    case 'policy': {
      const question = stepPolicy(ctx, state, answer, refused)
      return question ?? readNextFile(ctx, state)
    }
    case 'files':
      return takeFile(ctx, state, answer)
    case 'send':
    case 'pause':
      return send(ctx, state)
    case 'answer':
      return receiveAnswer(ctx, state, answer)
    case 'save': {
      const failed = findRefusal(answer)
      return failed === null ? state.saved : ctx.throw(`${state.surface}: failed to write ${failed.path}: ${failed.detail}`)
    }
  }
}

/** Asks for the variables of the policy, once a run; null when that is done. */
function stepPolicy(ctx: Context, state: ExchangeState, answer: Value, refused: boolean): Control | null {
  const http = ctx.state(httpState)
  if (http.egress !== null || http.egressAsked) return null
  if (refused) {
    http.egressAsked = true
    return null
  }
  if (state.asked > 0) state.environment.push(answer)
  if (state.asked < POLICY_VARIABLES.length)
    return ctx.request({ kind: 'process.info', args: { op: 'env', name: POLICY_VARIABLES[state.asked++]! }, own: true })
  http.egressAsked = true
  http.egress = readPolicyFromEnvironment(state.environment[0]!, state.environment[1]!, state.environment[2]!)
  return null
}

// ----------------------------------------------------------------------------------------------------- multipart files

function readNextFile(ctx: Context, state: ExchangeState): Result {
  const { parts } = state.plan
  if (parts === null) return send(ctx, state)
  const missing = parts.find((part) => part.content === null)
  if (missing !== undefined) {
    state.stage = 'files'
    return ctx.request({ kind: 'fs.read', args: { path: missing.path!, encoding: 'bytes' } })
  }
  const { body, contentType } = encodeParts(parts)
  ctx.charge(body.length >> 6, body.length)
  state.plan = { ...state.plan, parts: null, body, headers: { ...state.plan.headers, 'Content-Type': contentType } }
  return send(ctx, state)
}

function takeFile(ctx: Context, state: ExchangeState, answer: Value): Result {
  const refused = findRefusal(answer)
  const part = state.plan.parts!.find((each) => each.content === null)!
  if (refused !== null) return ctx.throw(`http: failed to read multipart file ${refused.path}: ${refused.detail}`)
  const data = readAnswerField(answer, 'data')
  part.content = data instanceof HarnBytes ? data.data : new Uint8Array(0)
  return readNextFile(ctx, state)
}

// -------------------------------------------------------------------------------------------------------------- attempts

function callRecord(plan: RequestPlan): HttpCall {
  const headers = new Map(Object.entries(plan.headers).map(([name, value]) => [name.toLowerCase(), value]))
  for (const [name, { secret, prefix }] of Object.entries(plan.secrets ?? {}))
    headers.set(name.toLowerCase(), `${prefix}[secret ${secret}]`)
  const body = plan.body === null || typeof plan.body === 'string' ? plan.body : new TextDecoder().decode(plan.body)
  return { method: plan.method, url: plan.url, headers, body }
}

function requestArgs(plan: RequestPlan, saveTo: string | null): EffectArgs['http.request'] {
  const { method, url, headers, body, timeoutMs, connectTimeoutMs, readTimeoutMs, proxy, tls, decompress, secrets } = plan
  return {
    method,
    url,
    headers,
    body,
    timeoutMs,
    connectTimeoutMs,
    readTimeoutMs,
    proxy,
    tls,
    decompress,
    saveTo,
    ...(secrets === null ? {} : { secrets }),
  }
}

function send(ctx: Context, state: ExchangeState): Result {
  for (;;) {
    const result = sendNext(ctx, state)
    if (result !== ELSEWHERE) return result
  }
}

/** A redirect has changed the plan. Mocks answer at once, and the next request is no deeper call: a script may allow thousands. */
const ELSEWHERE = Symbol('elsewhere')
/** Units of a request to a mock: its record, its URL and that of the redirect. */
const UNITS_A_MOCK = 60

function sendNext(ctx: Context, state: ExchangeState): Result | typeof ELSEWHERE {
  const { plan, purpose, surface } = state
  const effect: Effect =
    purpose.kind === 'stream'
      ? { kind: 'net.stream', args: { ...requestArgs(plan, null), op: 'http_open', id: purpose.handle } }
      : { kind: 'http.request', args: requestArgs(plan, purpose.kind === 'download' ? purpose.path : null) }
  const { judge } = ctx.machine
  const refused = judge?.refuse(ctx, effect, 'judge') ?? null
  if (refused !== null) return ctx.fail(refused)
  // Downloads and streams meet the policy behind the mocks, plain requests in front of them.
  if (purpose.kind === 'text' || purpose.kind === 'record') {
    // All verbs and sessions are one surface to the policy.
    const blocked = checkEgress(ctx, 'http_request', plan.url)
    if (blocked !== null) return blocked
  }
  const mocked = takeMockedResponse(ctx.state(httpState), callRecord(plan))
  if (mocked !== null) {
    const exhausted = judge?.refuse(ctx, effect, 'count') ?? null
    if (exhausted !== null) return ctx.fail(exhausted)
    work(UNITS_A_MOCK)
    const response = readResponse(mocked)
    traceMocked(ctx, effect, response)
    return takeResponse(ctx, state, response, true)
  }
  const blocked = checkEgress(ctx, surface, plan.url)
  if (blocked !== null) return blocked
  const proxyBlocked = plan.proxy === null ? null : checkEgress(ctx, surface, plan.proxy.url)
  if (proxyBlocked !== null) return proxyBlocked
  state.stage = 'answer'
  return ctx.request(effect)
}

interface Response {
  readonly status: number
  readonly headers: HarnDict
  readonly body: Uint8Array
  readonly bytesWritten: number
}

/** A mock's response dict, or a bare body. */
function readResponse(mocked: Value): Response {
  const fields = mocked instanceof HarnDict ? mocked : HarnDict.of({ body: mocked })
  const status = fields.get('status') ?? 200
  const body = fields.get('body') ?? ''
  const headers = new HarnDict()
  const given = fields.get('headers')
  if (given instanceof HarnDict) for (const name of given.keys()) headers.set(name, display(given.get(name)!))
  const bytes = body instanceof HarnBytes ? body.data : new TextEncoder().encode(display(body))
  return { status: isInt(status) ? Number(status) : 200, headers, body: bytes, bytesWritten: bytes.length }
}

/** Answers of mocks, counted for their ids in the trace. */
const mockedCalls = family('http_mocked', () => ({ last: 0 }))

/** A request that a mock answers is a call of the trace anyway; inside a standard tool its own record says it all. */
function traceMocked(ctx: Context, effect: Effect, { status, headers, body }: Response): void {
  const { traced } = ctx.machine
  const { fields } = ctx.machine.task()
  const call = traced === null || fields.get(UNTRACED) === true ? null : (ctx.machine.judge?.describe(effect) ?? null)
  if (traced === null || call === null) return
  const parent = fields.get('tool.call')
  traced({
    kind: 'tool_call',
    tool: call.tool,
    alias: null,
    version: null,
    executor: 'mock',
    callId: `mocked_http_${++ctx.state(mockedCalls).last}`,
    parent: typeof parent === 'string' ? parent : null,
    task: ctx.machine.taskNumber,
    args: call.args,
    policy: null,
    secret: [],
    attempts: 1,
    startedMs: ctx.now,
    endedMs: ctx.now,
    outcome: { ok: true, value: { status, headers: toPlain(headers), body } },
  })
}

/** A header of a response; `name` in lower case. */
export function readHeader(headers: HarnDict, name: string): string | null {
  const key = headers.keys().find((each) => each.toLowerCase() === name)
  return key === undefined ? null : display(headers.get(key)!)
}

function mayRetry(state: ExchangeState): boolean {
  return state.attempt < state.plan.retries && state.plan.retryMethods.includes(state.plan.method)
}

function pause(ctx: Context, state: ExchangeState, leastMs: number): Result {
  const delay = Math.min(MAX_PAUSE, Math.max(leastMs, state.plan.backoffMs * 2 ** Math.min(state.attempt, 30)))
  state.attempt++
  state.stage = 'pause'
  return ctx.park(null, ctx.now + Math.trunc(delay))
}

/** The answer of the host. */
function receiveAnswer(ctx: Context, state: ExchangeState, answer: Value): Result {
  const refused = findRefusal(answer)
  if (refused !== null) {
    if (mayRetry(state)) return pause(ctx, state, 0)
    return readAnswerField(answer, 'stage') === 'body'
      ? throwFailure(ctx, state, `http: failed to read response body: ${refused.detail}`, refused.code)
      : failRequest(ctx, state, 'sending request', refused.detail, refused.code)
  }
  const headers = readAnswerField(answer, 'headers')
  const body = readAnswerField(answer, 'body')
  const readNumber = (name: string): number => {
    const value = readAnswerField(answer, name)
    return isInt(value) ? Number(value) : 0
  }
  const response: Response = {
    status: readNumber('status'),
    headers: headers instanceof HarnDict ? headers : new HarnDict(),
    body: body instanceof HarnBytes ? body.data : new Uint8Array(0),
    bytesWritten: readNumber('bytesWritten'),
  }
  const result = takeResponse(ctx, state, response, false)
  return result === ELSEWHERE ? send(ctx, state) : result
}

/** Names the request, without its secrets. */
function failRequest(
  ctx: Context,
  state: ExchangeState,
  step: 'sending request' | 'following redirect',
  detail: string,
  code = '',
): Control {
  return throwFailure(ctx, state, `http: request failed: error ${step} for url (${redactUrl(state.plan.url)}): ${detail}`, code)
}

/** Texts for scripts; tools have codes, by what the network said. */
function throwFailure(ctx: Context, { purpose }: ExchangeState, message: string, code: string): Control {
  const known = purpose.kind === 'record' ? classifyNetworkCode(code) : null
  if (known === null) return ctx.throw(message)
  const { category } = findCodeRow(known)
  return ctx.throw(HarnDict.of({ name: 'ToolError', code: known, category, message }))
}

/** The code of a tool's error for a symbolic code of the operating system, the resolver or the HTTP client. */
function classifyNetworkCode(code: string): 'timeout' | 'connection' | null {
  if (code === 'ETIMEDOUT') return 'timeout'
  return /^(?:E(?:CONN|HOST|NET)[A-Z]+|ENOTFOUND|EAI_[A-Z]+|EPIPE|UND_ERR_SOCKET)$/.test(code) ? 'connection' : null
}

export const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

function takeResponse(ctx: Context, state: ExchangeState, response: Response, mocked: boolean): Result | typeof ELSEWHERE {
  const location = REDIRECTS.includes(response.status) ? findRedirect(state.plan, response) : null
  if (location !== null && state.plan.redirects >= 0 && (!mocked || leadsToMock(ctx, state.plan, response.status, location))) {
    if (state.hops >= state.plan.redirects) return failRequest(ctx, state, 'following redirect', 'too many redirects')
    state.hops++
    state.plan = planRedirect(state.plan, response.status, location)
    return ELSEWHERE
  }
  if (state.plan.retryStatuses.includes(response.status) && mayRetry(state))
    return pause(ctx, state, retryAfterMs(ctx, state.plan, response))
  return deliver(ctx, state, response, mocked)
}

/** Where a redirect leads; null when it does not say it, or not in a way that can be understood, which makes it an answer. */
export function findRedirect(plan: RequestPlan, response: { readonly headers: HarnDict }): URL | null {
  const location = readHeader(response.headers, 'location')
  return location === null ? null : parseUrl(location, plan.url)
}

/** A mock's redirect is an answer like any other, unless where it leads is mocked too: mocks never make a script reach the network. */
function leadsToMock(ctx: Context, plan: RequestPlan, status: number, location: URL): boolean {
  const { method, url } = planRedirect(plan, status, location)
  return isMocked(ctx.state(httpState), method, url)
}

/** What a Retry-After header on 429 and 503 says, seconds or a date, as milliseconds from now. */
function retryAfterMs(ctx: Context, plan: RequestPlan, response: Response): number {
  if (!plan.respectRetryAfter || (response.status !== 429 && response.status !== 503)) return 0
  const value = (readHeader(response.headers, 'retry-after') ?? '').trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000
  const date = HTTP_DATE.test(value) ? parseHttpDate(value.replace(LAST_YEAR, '$2 $1 $4 $3')) : null
  return date === null ? 0 : Math.max(0, date - (ctx.state(clockState).wallMs ?? ctx.now))
}

/** The three forms that are sent (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/
const LAST_YEAR = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d+) ([\d:]{8}) (\d{4})$/

/** Services have their own names for keys: `x-goog-api-key`, `private-token`, `x-amz-security-token`. */
const LIKE_A_CREDENTIAL = /auth|cookie|credential|key|passw|secret|session|signature|token/i

/** The request that a redirect asks for; credentials stay with their origin. */
export function planRedirect(plan: RequestPlan, status: number, target: URL): RequestPlan {
  const toGet = (status === 303 && plan.method !== 'HEAD') || ((status === 301 || status === 302) && plan.method === 'POST')
  const from = new URL(plan.url)
  const elsewhere = from.host !== target.host || from.protocol !== target.protocol
  const headers = Object.entries(plan.headers).filter(([name]) => {
    if (elsewhere && (isSensitiveHeader(name) || LIKE_A_CREDENTIAL.test(name))) return false
    return !(toGet && /^content-/i.test(name))
  })
  return {
    ...plan,
    url: target.toString(),
    headers: Object.fromEntries(headers),
    ...(elsewhere ? { secrets: null } : {}),
    ...(toGet ? { method: 'GET', body: null } : {}),
  }
}

function deliver(ctx: Context, state: ExchangeState, response: Response, mocked: boolean): Result {
  const { status, headers, body, bytesWritten } = response
  const success = status >= 200 && status < 300
  const { purpose } = state
  if (purpose.kind === 'stream') {
    ctx.state(httpState).streams.set(purpose.handle, { status, headers, rest: mocked ? body : null })
    return purpose.handle
  }
  if (purpose.kind === 'text' || purpose.kind === 'record') {
    ctx.charge(body.length >> 6, 2 * body.length)
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
    const result = HarnDict.of({ status, headers, body: text, ok: success })
    return purpose.kind === 'text' ? result : addJson(ctx, result.with('url', state.plan.url), headers, text)
  }
  const result = HarnDict.of({ status, headers, bytes_written: bytesWritten, ok: success })
  if (!mocked) return result
  state.saved = result
  state.stage = 'save'
  return ctx.request({ kind: 'fs.write', args: { op: 'write', path: purpose.path, data: body } })
}

/** A body that says that it is JSON, and is, is given as a value too. */
function addJson(ctx: Context, result: HarnDict, headers: HarnDict, text: string): HarnDict {
  if (!/^[^;]*[/+]json\b/i.test(readHeader(headers, 'content-type') ?? '')) return result
  ctx.charge(text.length >> 4, 2 * text.length)
  const parsed = parseJson(text)
  return parsed.ok ? result.with('json', parsed.value) : result
}
