// People in the loop: questions, approvals, dual control and escalations. A request is an event in the log;
// its responses are events too, whoever gives them: the host (effect `approval.ask`), and where the run has stand-ins (StandIns) a
// host mock or whoever appends to the topic. The builtin waits on the topic and looks at the responses to its request each time
// something is appended. A request that nobody can answer fails at once.
//
// The host is asked by a task beside the one that waits, so that a deadline ends the waiting and not the asking.

import { innermostScope } from '../../library/task-scopes.js'
import { STAND_INS } from '../../library/logging/stand-ins.js'
import {
  Fault,
  HarnBuiltin,
  HarnClosure,
  HarnDict,
  HarnDuration,
  HarnFloat,
  HarnList,
  builtin,
  bytesToHex,
  callBack,
  compareText,
  display,
  failRuntime,
  failWith,
  here,
  isCallable,
  isInt,
  millisOf,
  parkUntil,
  parseInt64,
  scripts,
  sortTexts,
  toPlain,
  tryAsk,
  typeName,
  utf8,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Script, Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'
import { append, eventsOf, topicKey } from '../../library/logging/event-log.js'
import { matchHostMock } from '../../tools/dispatch/host-mocks.js'
import { timeOrderedId, wallMs } from '../../library/time/identity.js'
import { isoNow } from '../../library/time/dates.js'

type Kind = 'question' | 'approval' | 'dual_control' | 'escalation'

const TOPICS: Readonly<Record<Kind, string>> = {
  question: 'hitl.questions',
  approval: 'hitl.approvals',
  dual_control: 'hitl.dual_control',
  escalation: 'hitl.escalations',
}

const REQUESTED: Readonly<Record<Kind, string>> = {
  question: 'hitl.question_asked',
  approval: 'hitl.approval_requested',
  dual_control: 'hitl.dual_control_requested',
  escalation: 'hitl.escalation_issued',
}

const RESPONSE = 'hitl.response_received'
const TIMEOUT = 'hitl.timeout'
/** Written by the builtin itself when a question was answered; nothing else marks its end. */
const ANSWERED = 'hitl.question_answered'

/** Nobody can be asked; the payload says why. */
const UNANSWERABLE = 'hitl.unanswerable'

const DAY_MS = 24 * 60 * 60 * 1000

// --------------------------------------------------------------------------------------------------------------- requests

interface Request {
  readonly kind: Kind
  readonly id: string
  readonly traceId: string
  /** On the machine's clock; null waits without limit. */
  readonly dueMs: number | null
  /** The task that asks the host, null when a mock answered. */
  readonly asker: number | null
}

function* log(kind: Kind, event: string, payload: HarnDict): Script<number> {
  const atMs = Math.floor(yield* wallMs())
  return yield* append(TOPICS[kind], { kind: event, payload, atMs })
}

/** Writes the request down, and has it answered by a mock or asked of the host. */
function* open(kind: Kind, payload: HarnDict, timeoutMs: number | null): Script<Request> {
  const id = `hitl_${kind}_${yield* timeOrderedId()}`
  const traceId = `trace_${yield* timeOrderedId()}`
  const timestamp = isoNow(yield* wallMs())
  const request = HarnDict.of({ request_id: id, request_kind: kind, agent: '', trace_id: traceId, timestamp, payload })
  yield* log(kind, REQUESTED[kind], request)
  const dueMs = timeoutMs === null ? null : yield* here((ctx) => ctx.now + timeoutMs)
  const mock = yield* here((ctx) => {
    if (ctx.machine.hostData(STAND_INS) === 'none') return null
    const found = matchHostMock(ctx, 'hitl', kind, payload.with('request_id', id))
    return found === undefined ? null : { result: found.result, error: found.error }
  })
  if (mock === null) {
    const asker = yield* here((ctx) =>
      ctx.machine.spawn(new HarnBuiltin('__hitl_ask_host'), [kind, request], {
        taskId: `${ctx.machine.task().taskId}:${id}`,
        name: 'hitl',
      }),
    )
    return { kind, id, traceId, dueMs, asker }
  }
  if (mock.error !== null) failWith(mock.error)
  const responses = mock.result instanceof HarnList ? mock.result.view() : [mock.result]
  if (!responses.every((response) => response instanceof HarnDict))
    failRuntime(`mocked HITL ${kind} response must be a dict or list<dict>`)
  for (const response of responses) yield* respond(kind, id, withTexts(response as HarnDict))
  return { kind, id, traceId, dueMs, asker: null }
}

/** A mocked response with the fields that are texts as texts: scripts may write a number, and nil is the text `nil`. */
function withTexts(response: HarnDict): HarnDict {
  const out = response.copy()
  for (const key of ['reviewer', 'reason', 'responded_at', 'signature'])
    if (response.has(key)) out.set(key, display(response.get(key)!))
  return out
}

function* respond(kind: Kind, id: string, given: HarnDict): Script<null> {
  const at = given.get('responded_at')
  const respondedAt = typeof at === 'string' ? at : isoNow(yield* wallMs())
  const response = new HarnDict()
  for (const key of ['answer', 'approved', 'accepted', 'reviewer', 'reason', 'metadata', 'signature'])
    response.set(key, given.get(key) ?? null)
  yield* log(kind, RESPONSE, response.with('request_id', id).with('responded_at', respondedAt))
  return null
}

/** As it was written down: what a person is shown is what waits for the answer, whoever calls this. */
function requestOf(ctx: Context, kind: Kind, given: HarnDict): HarnDict | null {
  const id = given.get('request_id') ?? null
  for (const event of eventsOf(ctx, TOPICS[kind] ?? '')) {
    const { payload } = event
    if (event.kind === REQUESTED[kind] && payload instanceof HarnDict && payload.get('request_id') === id) return payload
  }
  return null
}

/** The task that asks the host. Where nobody can be asked it says so, or leaves the request to whoever else answers it. */
function* askHost(kindValue: Value, requestValue: Value): Script {
  const kind = kindValue as Kind
  const request = yield* here((ctx) => (requestValue instanceof HarnDict ? requestOf(ctx, kind, requestValue) : null))
  if (request === null) return null
  const heard = new Set<string>()
  for (;;) {
    const answer = yield* tryAsk({ kind: 'approval.ask', args: { kind, payload: toPlain(request) } })
    if (answer instanceof Fault) {
      const waits = yield* here((ctx) => ctx.machine.hostData(STAND_INS) === 'script')
      if (answer.category === 'tool_rejected' && !waits)
        yield* log(kind, UNANSWERABLE, HarnDict.of({ request_id: request.get('request_id')!, reason: answer.message }))
      return null
    }
    const before = heard.size
    const responses = answer instanceof HarnList ? answer.view() : [answer]
    for (const response of responses) {
      if (!(response instanceof HarnDict)) continue
      yield* respond(kind, request.get('request_id') as string, response)
      const reviewer = response.get('reviewer') ?? null
      if (reviewer !== null) heard.add(display(reviewer))
    }
    // The task is stopped once the request is settled. While it is not, the host is asked again as long as it brings in
    // reviewers who were not heard before.
    if (heard.size === before || kind === 'question' || kind === 'escalation') return null
    // First whoever waits looks at what came.
    yield* parkUntil(null, yield* here((ctx) => ctx.now))
  }
}

function responsesTo(ctx: Context, request: Request): HarnDict[] {
  const found: HarnDict[] = []
  for (const event of eventsOf(ctx, TOPICS[request.kind])) {
    if (event.kind === RESPONSE && event.payload instanceof HarnDict && event.payload.get('request_id') === request.id)
      found.push(event.payload)
  }
  return found
}

/** Why nobody will answer; null while somebody may. */
function unanswerable(ctx: Context, request: Request): string | null {
  for (const { kind, payload } of eventsOf(ctx, TOPICS[request.kind])) {
    if (kind === UNANSWERABLE && payload instanceof HarnDict && payload.get('request_id') === request.id)
      return display(payload.get('reason') ?? null)
  }
  return null
}

const BUILTIN_OF: Readonly<Record<Kind, string>> = {
  question: 'ask_user',
  approval: 'request_approval',
  dual_control: 'dual_control',
  escalation: 'escalate_to',
}

/**
 * Waits until `decide` makes something of the responses. The time running out throws unless `late` is given; so does a request that
 * nobody can answer, which would wait for all of that time.
 */
function* settle<T>(request: Request, decide: (responses: readonly HarnDict[]) => T | undefined, late?: () => T): Script<T> {
  for (;;) {
    const responses = yield* here((ctx) => responsesTo(ctx, request))
    const decided = decide(responses)
    if (decided !== undefined) {
      yield* dismiss(request)
      return decided
    }
    const reason = yield* here((ctx) => unanswerable(ctx, request))
    if (reason !== null) {
      if (late !== undefined) return late()
      return failWith(
        HarnDict.of({
          name: 'HumanUnavailableError',
          category: 'tool_rejected',
          message:
            `${BUILTIN_OF[request.kind]}: nobody can answer this ${request.kind.replace('_', ' ')}: ${reason}. ` +
            'Serve the script to a client with people (bridle serve acp, bridle serve mcp), embed it with an approval provider ' +
            '(approvalProvider, ApprovalDesk) and the grant "approval", or answer in a test with ' +
            `host_mock("hitl", "${request.kind}", {…})`,
          request_id: request.id,
          kind: request.kind,
        }),
      )
    }
    const timedOut = yield* parkUntil(topicKey(TOPICS[request.kind]), request.dueMs)
    if (!timedOut) continue
    yield* dismiss(request)
    yield* log(request.kind, TIMEOUT, HarnDict.of({ request_id: request.id }))
    if (late !== undefined) return late()
    return failWith(
      HarnDict.of({
        name: 'HumanTimeoutError',
        category: 'timeout',
        message: `${request.kind} timed out`,
        request_id: request.id,
        kind: request.kind,
      }),
    )
  }
}

/** Nobody waits for the host's answer any more. */
function* dismiss({ asker }: Request): Script<null> {
  return yield* here((ctx) => {
    if (asker !== null) {
      ctx.machine.abortTask(asker)
      ctx.machine.forgetTask(asker)
    }
    return null
  })
}

// ------------------------------------------------------------------------------------------------------------ the builtins

const hasValue = (value: Value | undefined): value is NonNullable<Value> => value !== undefined && value !== null

/** The answer as the type of the default; the default when it cannot be. */
function coerced(answer: Value, fallback: Value): Value {
  if (isInt(fallback)) {
    if (isInt(answer)) return answer
    if (answer instanceof HarnFloat) return Math.trunc(answer.v)
    return typeof answer === 'string' ? (parseInt64(answer) ?? fallback) : fallback
  }
  if (fallback instanceof HarnFloat) {
    if (isInt(answer)) return new HarnFloat(Number(answer))
    if (answer instanceof HarnFloat) return answer
    const isNumber = typeof answer === 'string' && /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(answer)
    return isNumber ? new HarnFloat(Number(answer)) : fallback
  }
  if (typeof fallback === 'boolean') {
    if (typeof answer === 'boolean') return answer
    const text = typeof answer === 'string' ? answer.toLowerCase() : ''
    return text === 'true' ? true : text === 'false' ? false : fallback
  }
  if (typeof fallback === 'string') return display(answer)
  if (fallback instanceof HarnDuration)
    return isInt(answer) ? new HarnDuration(answer) : answer instanceof HarnDuration ? answer : fallback
  return typeName(answer) === typeName(fallback) ? answer : fallback
}

function* askUser(prompt: Value, options: Value, timeoutMs: Value): Script {
  const given = options as HarnDict
  const schema = given.get('schema') ?? null
  const fallback = given.get('default') ?? null
  const payload = HarnDict.of({ prompt, schema, default: fallback, timeout_ms: timeoutMs })
  const request = yield* open('question', payload, Number(timeoutMs))
  const NONE = HarnDict.of({ timed_out: true })
  const response = yield* settle(request, (responses) => responses[0], fallback === null ? undefined : () => NONE)
  if (response === NONE) return fallback
  const answer = response.get('answer') ?? null
  yield* log('question', ANSWERED, HarnDict.of({ request_id: request.id }))
  if (schema !== null) return yield* callBack(new HarnBuiltin('schema_expect'), answer, schema, true)
  return fallback === null ? answer : coerced(answer, fallback)
}

interface Approved {
  readonly approvals: readonly HarnDict[]
}

type Judged = { readonly denied: HarnDict } | Approved

function judge(responses: readonly HarnDict[], quorum: number, reviewers: readonly string[]): Judged | undefined {
  const approvals: HarnDict[] = []
  const counted = new Set<string>()
  for (const response of responses) {
    const reviewer = response.get('reviewer') ?? null
    const name = reviewer === null ? null : display(reviewer)
    // Who says no without a name has said no; who says yes without one does not count.
    if (name !== null && reviewers.length > 0 && !reviewers.includes(name)) continue
    if (name !== null && counted.has(name)) continue
    if (response.get('approved') !== true) return { denied: response }
    if (name === null) continue
    counted.add(name)
    approvals.push(response)
    if (approvals.length >= quorum) return { approvals }
  }
  return undefined
}

function signatureOf(requestId: string, response: HarnDict): string {
  const own = response.get('signature')
  if (typeof own === 'string') return own
  const reason = response.get('reason') ?? null
  const lines = [
    'harn-hitl-approval-v1',
    `request_id:${requestId}`,
    `reviewer:${display(response.get('reviewer') ?? null)}`,
    `signed_at:${display(response.get('responded_at') ?? null)}`,
    'approved:true',
    `reason:${reason === null ? '' : display(reason)}`,
  ]
  return `sha256:${bytesToHex(sha256(utf8(`${lines.join('\n')}\n`)))}`
}

/** Waits for the quorum; a denial throws. The record that request_approval returns. */
function* approvals(request: Request, quorum: number, reviewers: readonly string[]): Script<HarnDict> {
  const judged = yield* settle(request, (responses) => judge(responses, quorum, reviewers))
  const { kind, id } = request
  if ('denied' in judged) {
    const reason = judged.denied.get('reason') ?? null
    const reviewer = judged.denied.get('reviewer') ?? null
    const named = new HarnList(reviewer === null ? [] : [reviewer])
    yield* log(kind, `hitl.${kind}_denied`, HarnDict.of({ request_id: id, reviewers: named, reason }))
    return failWith(
      HarnDict.of({
        name: 'ApprovalDeniedError',
        category: 'generic',
        message: reason === null ? 'approval was denied' : display(reason),
        request_id: id,
        reviewers: named,
        reason,
      }),
    )
  }
  const last = judged.approvals.at(-1)!
  const signatures = judged.approvals.map((response) =>
    HarnDict.of({
      reviewer: response.get('reviewer')!,
      signed_at: response.get('responded_at')!,
      signature: signatureOf(id, response),
    }),
  )
  const record = HarnDict.of({
    approved: true,
    reviewers: new HarnList(sortTexts(judged.approvals.map((response) => display(response.get('reviewer')!)))),
    approved_at: last.get('responded_at')!,
    reason: last.get('reason') ?? null,
    signatures: new HarnList(signatures),
  })
  yield* log(kind, `hitl.${kind}_approved`, record.with('request_id', id))
  return record
}

function* requestApproval(action: Value, options: Value, deadlineMs: Value): Script {
  const given = options as HarnDict
  const quorum = isInt(given.get('quorum') ?? null) ? Number(given.get('quorum')) : 1
  const reviewers = listOf(given.get('reviewers')) ?? []
  const payload = HarnDict.of({
    action,
    detail: given.get('detail') ?? null,
    quorum,
    reviewers: new HarnList([...reviewers]),
    deadline_ms: deadlineMs,
  })
  for (const key of ['args', 'principal', 'evidence_refs', 'undo_metadata', 'capabilities_requested']) {
    if (hasValue(given.get(key))) payload.set(key, given.get(key)!)
  }
  const request = yield* open('approval', payload, Number(deadlineMs))
  return yield* approvals(request, quorum, reviewers)
}

function* dualControl(n: Value, m: Value, action: Value, approvers: Value): Script {
  const name = action instanceof HarnBuiltin ? action.name : action instanceof HarnClosure ? action.code.chunk.name : ''
  const payload = HarnDict.of({
    n,
    m,
    action: /^[A-Za-z_]\w*$/.test(name) ? name : '<closure>',
    approvers,
    deadline_ms: DAY_MS,
  })
  const request = yield* open('dual_control', payload, DAY_MS)
  yield* approvals(request, Number(n), listOf(approvers) ?? [])
  const value = yield* callBack(action)
  yield* log('dual_control', 'hitl.dual_control_executed', HarnDict.of({ request_id: request.id }))
  return value
}

const isAccepted = (response: HarnDict): boolean => response.get('accepted') === true || response.get('approved') === true

function* escalate(role: Value, reason: Value): Script {
  const policy = yield* here((ctx) => innermostScope(ctx, 'ceilings'))
  const request = yield* open('escalation', HarnDict.of({ role, reason, capability_policy: policy }), null)
  const response = yield* settle(request, (responses) => responses.find(isAccepted) ?? responses[0])
  const accepted = isAccepted(response)
  const acceptedAt = accepted ? response.get('responded_at')! : null
  const reviewer = response.get('reviewer') ?? null
  if (accepted)
    yield* log(
      'escalation',
      'hitl.escalation_accepted',
      HarnDict.of({ request_id: request.id, reviewer, accepted_at: acceptedAt }),
    )
  return HarnDict.of({
    request_id: request.id,
    role,
    reason,
    trace_id: request.traceId,
    status: accepted ? 'accepted' : 'pending',
    accepted_at: acceptedAt,
    reviewer,
  })
}

const machine = scripts('hitl.request', {
  ask_user: (prompt, options, timeout) => askUser(prompt!, options!, timeout!),
  request_approval: (action, options, deadline) => requestApproval(action!, options!, deadline!),
  dual_control: (n, m, action, approvers) => dualControl(n!, m!, action!, approvers ?? null),
  escalate_to: (role, reason) => escalate(role!, reason!),
  ask_host: (kind, request) => askHost(kind!, request!),
})

// ---------------------------------------------------------------------------------------------------------------- pending

const PROMPT_OF: Readonly<Record<Kind, string>> = {
  question: 'prompt',
  approval: 'action',
  dual_control: 'action',
  escalation: 'reason',
}
const APPROVERS_OF: Readonly<Record<Kind, string>> = {
  question: '',
  approval: 'reviewers',
  dual_control: 'approvers',
  escalation: '',
}
const KINDS = Object.keys(TOPICS) as Kind[]

/** Kinds of events after which a request is no longer pending. An escalation stays open until it is accepted. */
const CLOSING: ReadonlySet<string> = new Set([
  TIMEOUT,
  ANSWERED,
  UNANSWERABLE,
  'hitl.approval_approved',
  'hitl.approval_denied',
  'hitl.dual_control_approved',
  'hitl.dual_control_denied',
  'hitl.escalation_accepted',
])

function pendingOf(ctx: Context, kind: Kind): HarnDict[] {
  const open = new Map<string, HarnDict>()
  for (const event of eventsOf(ctx, TOPICS[kind])) {
    if (!(event.payload instanceof HarnDict)) continue
    const id = event.payload.get('request_id')
    if (typeof id !== 'string') continue
    if (event.kind === REQUESTED[kind]) open.set(id, event.payload)
    else if (CLOSING.has(event.kind)) open.delete(id)
  }
  return [...open.values()].map((request) => {
    const payload = request.get('payload') as HarnDict
    const approvers = APPROVERS_OF[kind] === '' ? null : (payload.get(APPROVERS_OF[kind]) ?? null)
    return HarnDict.of({
      request_id: request.get('request_id')!,
      request_kind: kind,
      agent: request.get('agent') ?? '',
      prompt: display(payload.get(PROMPT_OF[kind]) ?? null),
      trace_id: request.get('trace_id')!,
      timestamp: request.get('timestamp')!,
      approvers: approvers instanceof HarnList ? approvers : new HarnList([]),
      metadata: payload,
    })
  })
}

const MOST_PENDING = 5000
const USUAL_PENDING = 500

/** A time of RFC 3339 as comparable text (UTC, milliseconds), or null. Times of requests have that form already. */
function comparableTime(text: string): string | null {
  const match = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(text)
  if (match === null) return null
  const at = Date.UTC(
    Number(text.slice(0, 4)),
    Number(text.slice(5, 7)) - 1,
    Number(text.slice(8, 10)),
    Number(text.slice(11, 13)),
    Number(text.slice(14, 16)),
    Number(text.slice(17, 19)),
    Math.floor(Number(`0${match[3] ?? ''}`) * 1000),
  )
  const zone = match[4]!
  const sign = zone.startsWith('-') ? -1 : 1
  const offsetMs = zone.length === 1 ? 0 : sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000
  return isoNow(at - offsetMs)
}

function hitlPending(ctx: Context, filters: Value): Result {
  const name = 'hitl_pending'
  if (filters !== null && !(filters instanceof HarnDict)) return ctx.runtime(`${name}: filters must be a dict or nil`)
  const filter = filters ?? new HarnDict()
  const kindList = filter.get('kinds') ?? null
  if (kindList !== null && !(kindList instanceof HarnList)) return ctx.runtime(`${name}: kinds must be a list<string>`)
  const kinds = kindList === null ? KINDS : kindList.view().map(display)
  const unknown = kinds.find((kind) => !KINDS.some((known) => known === kind))
  if (unknown !== undefined) return ctx.runtime(`${name}: unsupported kind '${unknown}'`)
  const bounds: Record<string, string | null> = { since: null, until: null }
  for (const key of ['since', 'until']) {
    const value = filter.get(key) ?? null
    if (value === null) continue
    if (typeof value !== 'string') return ctx.runtime(`${name}: ${key} must be a string`)
    bounds[key] = comparableTime(value)
    if (bounds[key] === null) return ctx.runtime(`${name}: invalid ${key}: expected an RFC 3339 time, got '${value}'`)
  }
  const agent = filter.get('agent') ?? null
  if (agent !== null && typeof agent !== 'string') return ctx.runtime(`${name}: agent must be a string`)
  const limit = filter.get('limit') ?? USUAL_PENDING
  if (!isInt(limit) || limit <= 0) return ctx.runtime(`${name}: limit must be a positive int`)
  const found = KINDS.filter((kind) => kinds.includes(kind))
    .flatMap((kind) => pendingOf(ctx, kind))
    .filter((request) => {
      const at = request.get('timestamp') as string
      return (bounds['since'] ?? at) <= at && at <= (bounds['until'] ?? at) && (agent === null || request.get('agent') === agent)
    })
  // Equal times happen; ids are ordered by time within their kind.
  found.sort(
    (a, b) =>
      compareText(b.get('timestamp') as string, a.get('timestamp') as string) ||
      compareText(b.get('request_id') as string, a.get('request_id') as string),
  )
  ctx.charge(found.length)
  return new HarnList(found.slice(0, Math.min(Number(limit), MOST_PENDING)))
}

// -------------------------------------------------------------------------------------------------------------- arguments

function listOf(value: Value | undefined): string[] | null {
  if (value === undefined || value === null) return []
  return value instanceof HarnList ? value.view().map(display) : null
}

/** Milliseconds of the option, the usual ones when it is absent, null when it is neither a duration nor a count. */
function optionMs(options: HarnDict, key: string): number | null {
  if (!options.has(key)) return DAY_MS
  const ms = millisOf(options.get(key) ?? undefined)
  return ms === null || ms < 0 ? null : ms
}

const NO_DURATION = 'expected a duration or millisecond count'

/** The text at an argument place, null when nothing is there. */
function textArgument(ctx: Context, value: Value, at: number): string | null {
  const text = ctx.argc > at ? display(value) : ''
  return text === '' ? null : text
}

/** The options of a call; null when something else stands in their place, a nil too. */
function optionsAt(ctx: Context, options: Value, at: number): HarnDict | null {
  if (ctx.argc <= at) return new HarnDict()
  return options instanceof HarnDict ? options : null
}

function startAsk(ctx: Context, prompt: Value, options: Value): Result {
  const text = textArgument(ctx, prompt, 0)
  if (text === null) return ctx.runtime('ask_user: expected string argument at 0')
  const given = optionsAt(ctx, options, 1)
  if (given === null) return ctx.runtime('ask_user: options must be a dict')
  const timeout = optionMs(given, 'timeout')
  return timeout === null ? ctx.runtime(NO_DURATION) : machine.start(ctx, 'ask_user', text, given, timeout)
}

function startApproval(ctx: Context, action: Value, options: Value): Result {
  const name = 'request_approval'
  const text = textArgument(ctx, action, 0)
  if (text === null) return ctx.runtime(`${name}: expected string argument at 0`)
  const given = optionsAt(ctx, options, 1)
  if (given === null) return ctx.runtime(`${name}: options must be a dict`)
  const quorum = given.get('quorum') ?? 1
  if (isInt(quorum) && quorum <= 0) return ctx.runtime(`${name}: quorum must be positive`)
  if (listOf(given.get('reviewers')) === null || listOf(given.get('capabilities_requested')) === null)
    return ctx.runtime(`${name}: expected list<string>`)
  const evidence = given.get('evidence_refs') ?? null
  if (evidence !== null && !(evidence instanceof HarnList)) return ctx.runtime(`${name}: evidence_refs must be a list`)
  const deadline = optionMs(given, 'deadline')
  return deadline === null ? ctx.runtime(NO_DURATION) : machine.start(ctx, 'request_approval', text, given, deadline)
}

function startDualControl(ctx: Context, n: Value, m: Value, action: Value, approvers: Value): Result {
  const name = 'dual_control'
  for (const [at, value] of [n, m].entries()) {
    if (!isInt(value)) return ctx.runtime(`${name}: expected int argument at ${at}`)
    if (value <= 0) return ctx.runtime(`${name}: expected a positive int at ${at}`)
  }
  if ((n as number) > (m as number)) return ctx.runtime(`${name}: n must be less than or equal to m`)
  if (!isCallable(action)) return ctx.runtime(`${name}: action must be a closure`)
  const listed = ctx.argc > 3 && approvers === null ? null : listOf(approvers)
  if (listed === null) return ctx.runtime(`${name}: expected list<string>`)
  if (listed.length > 0 && listed.length < Number(m))
    return ctx.runtime(`${name}: expected at least ${Number(m)} approvers, got ${listed.length}`)
  return machine.start(ctx, 'dual_control', n, m, action, new HarnList(listed))
}

function startEscalation(ctx: Context, role: Value, reason: Value): Result {
  const texts = [textArgument(ctx, role, 0), textArgument(ctx, reason, 1)]
  const missing = texts.indexOf(null)
  if (missing >= 0) return ctx.runtime(`escalate_to: expected string argument at ${missing}`)
  return machine.start(ctx, 'escalate_to', texts[0]!, texts[1]!)
}

const ASKS = ['approval.ask', 'clock.now', 'random.bytes', 'callback'] as const

const ASK_OPTIONS = `
  schema: Schema<T> -- What the answer is checked against.
  timeout: duration | int (ms) = 24h -- Time to answer.
  default: T -- The answer when nobody answers; without a schema, answers are converted to its type.
`

const APPROVAL_OPTIONS = `
  quorum: int = 1 -- How many people must approve.
  reviewers: list<string> = [] -- Who may; everybody when empty.
  deadline: duration | int (ms) = 24h -- Time to approve.
  detail: any -- What reviewers are shown.
  args: any -- Arguments of the action.
  principal: string -- For whom the action is.
  evidence_refs: list -- What speaks for it.
  undo_metadata: any -- How it can be undone.
  capabilities_requested: list<string> -- What it needs.
`

const PENDING_FILTERS = `
  since: string -- Not before this time (RFC 3339).
  until: string -- Not after this time (RFC 3339).
  kinds: list<string> -- Of these kinds: question, approval, dual_control, escalation.
  agent: string -- Of this agent.
  limit: int = 500 -- Number of requests at most.
`

export const hitlFamily: BuiltinFamily = {
  name: 'hitl',
  frames: [machine.frame],
  builtins: [
    builtin(
      'ask_user<T>(prompt: string, options?: {schema?: Schema<T>, timeout?: duration, default?: T}) -> T',
      { doc: 'Asks a person and gives the answer.', effects: ASKS, shapes: { options: ASK_OPTIONS } },
      (ctx, prompt, options) => startAsk(ctx, prompt ?? null, options ?? null),
    ),
    builtin(
      'request_approval(action: string, options?: dict) -> {approved: bool, reviewers: list<string>, approved_at: string, reason: string | nil, signatures: list<{reviewer: string, signed_at: string, signature: string}>}',
      {
        doc: 'Waits until enough people approve an action; a denial is thrown.',
        effects: ASKS,
        shapes: { options: APPROVAL_OPTIONS },
      },
      (ctx, action, options) => startApproval(ctx, action ?? null, options ?? null),
    ),
    builtin(
      'dual_control<T>(n: int, m: int, action: fn() -> T, approvers?: list<string> | nil) -> T',
      { doc: 'Calls `action` once n of m people approved it.', effects: ASKS },
      (ctx, n, m, action, approvers) => startDualControl(ctx, n ?? null, m ?? null, action ?? null, approvers ?? null),
    ),
    builtin(
      'escalate_to(role: string, reason: string) -> {request_id: string, role: string, reason: string, trace_id: string, status: string, accepted_at: string | nil, reviewer: string | nil}',
      { doc: 'Hands a matter to a role and waits for somebody to take it.', effects: ASKS },
      (ctx, role, reason) => startEscalation(ctx, role ?? null, reason ?? null),
    ),
    builtin(
      'hitl_pending(filters?: dict | nil) -> list as ?',
      { doc: 'Requests to people that nobody has answered, newest first.', effects: [], shapes: { filters: PENDING_FILTERS } },
      (ctx, filters) => hitlPending(ctx, filters ?? null),
    ),
    builtin(
      '__hitl_ask_host(kind: string, request: dict) -> nil',
      { doc: 'Hands a request to the host and logs what it answers.', effects: ASKS },
      (ctx, kind, request) => machine.start(ctx, 'ask_host', kind ?? null, request ?? null),
    ),
  ],
}
