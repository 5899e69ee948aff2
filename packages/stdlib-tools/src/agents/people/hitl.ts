// People in the loop: questions, approvals, dual control and escalations; hitl.harn is what they do. Here are the checks of arguments, what
// is read from the log of events, and the list of requests that wait.

import { findInnermostScope } from '../../library/task-scopes.js'
import { STAND_INS } from '../../library/logging/stand-ins.js'
import {
  builtinTaking,
  HarnBuiltin,
  HarnClosure,
  HarnDict,
  HarnDuration,
  HarnFloat,
  HarnList,
  builtin,
  bytesToHex,
  compareText,
  display,
  isCallable,
  isInt,
  toMillis,
  parseInt64,
  typeName,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Control, Result, Value, Fit } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listEvents } from '../../library/logging/event-log.js'
import { matchHostMock } from '../../tools/dispatch/host-mocks.js'
import { formatIsoNow } from '../../library/time/dates.js'
import type { ApprovalKind } from '../../tools/policy/approval-request.js'

type Kind = Exclude<ApprovalKind, 'permission'>

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

/** No one can be asked; the payload has the reason. */
const UNANSWERABLE = 'hitl.unanswerable'

const DAY_MS = 24 * 60 * 60 * 1000

// ------------------------------------------------------------------------------------------- what hitl.harn is made with

/** The stored request: a person is shown exactly the request that waits, regardless of the caller. */
function findRequest(ctx: Context, kind: Kind, given: HarnDict): HarnDict | null {
  const id = given.get('request_id') ?? null
  for (const event of listEvents(ctx, TOPICS[kind] ?? '')) {
    const { payload } = event
    if (event.kind === REQUESTED[kind] && payload instanceof HarnDict && payload.get('request_id') === id) return payload
  }
  return null
}

function listResponses(ctx: Context, topic: string, id: string): HarnDict[] {
  const found: HarnDict[] = []
  for (const event of listEvents(ctx, topic)) {
    if (event.kind === RESPONSE && event.payload instanceof HarnDict && event.payload.get('request_id') === id)
      found.push(event.payload)
  }
  return found
}

/** Why no answer can come; null while one is possible. */
function findUnanswerable(ctx: Context, topic: string, id: string): HarnDict | null {
  for (const { kind, payload } of listEvents(ctx, topic))
    if (kind === UNANSWERABLE && payload instanceof HarnDict && payload.get('request_id') === id) return payload

  return null
}

const BUILTIN_OF: Readonly<Record<Kind, string>> = {
  question: 'ask_user',
  approval: 'request_approval',
  dual_control: 'dual_control',
  escalation: 'escalate_to',
}

/** The answer as the type of the default; the default when it cannot be. */
function coerceAnswer(answer: Value, fallback: Value): Value {
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

function readSignature(requestId: string, response: HarnDict): string {
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
  return `sha256:${bytesToHex(sha256(toUtf8(`${lines.join('\n')}\n`)))}`
}

function mockedAnswer(ctx: Context, kind: string, payload: HarnDict): HarnDict | null {
  if (ctx.machine.hostData(STAND_INS) === 'none') return null
  const found = matchHostMock(ctx, 'hitl', kind, payload)
  return found === undefined ? null : HarnDict.of({ result: found.result, error: found.error })
}

function actionName(action: Value): string {
  const name = action instanceof HarnBuiltin ? action.name : action instanceof HarnClosure ? action.code.chunk.name : ''
  return /^[A-Za-z_]\w*$/.test(name) ? name : '<closure>'
}

const primitives: readonly BuiltinDef[] = [
  builtin(
    '__hitl_kind(kind: string) -> dict',
    { doc: 'Names of a kind of request: {topic, requested, builtin}.' },
    (_ctx, given) => {
      const kind = given as Kind
      return HarnDict.of({ topic: TOPICS[kind], requested: REQUESTED[kind], builtin: BUILTIN_OF[kind] })
    },
  ),
  definePrimitive(
    '__hitl_mock(kind: string, payload: dict) -> dict?',
    'The answer of a mock, where a mock may answer.',
    (ctx, kind, payload) => mockedAnswer(ctx, kind as string, payload as HarnDict),
  ),
  definePrimitive('__hitl_request(kind: any, request: any) -> dict?', 'A request as it was written down.', (ctx, kind, request) =>
    request instanceof HarnDict ? findRequest(ctx, kind as Kind, request) : null,
  ),
  definePrimitive('__hitl_responses(topic: string, id: string) -> list', 'Responses to a request so far.', (ctx, topic, id) => {
    const responses = listResponses(ctx, topic as string, id as string)
    return new HarnList(responses)
  }),
  definePrimitive(
    '__hitl_unanswerable(topic: string, id: string) -> dict?',
    'Why nobody will answer a request: {reason, is_no_answer}.',
    (ctx, topic, id) => findUnanswerable(ctx, topic as string, id as string),
  ),
  definePrimitive(
    '__spawn_asker(kind: string, request: dict, id: string) -> int',
    'The task that asks the host.',
    (ctx, kind, request, id) =>
      ctx.machine.spawn(new HarnBuiltin('__hitl_ask_host'), [kind!, request!], {
        taskId: `${ctx.machine.task().taskId}:${id as string}`,
        name: 'hitl',
      }),
  ),
  definePrimitive('__end_asker(task: int) -> nil', 'Ends such a task.', (ctx, task) => {
    ctx.machine.abortTask(Number(task))
    ctx.machine.forgetTask(Number(task))
    return null
  }),
  builtin(
    '__as_type_of(fallback: any, answer: any) -> any',
    { doc: 'An answer as the type of the default; the default when it cannot be.' },
    (_ctx, fallback, answer) => coerceAnswer(answer ?? null, fallback ?? null),
  ),
  builtin(
    '__hitl_signature(id: string, response: dict) -> string',
    { doc: 'The signature of an approval.' },
    (_ctx, id, response) => readSignature(id as string, response as HarnDict),
  ),
  builtin('__action_name(action: any) -> string', { doc: 'The name of a function; `<closure>` without one.' }, (_ctx, action) =>
    actionName(action ?? null),
  ),
  definePrimitive('__policy_in_force() -> any', 'The innermost policy of the task.', (ctx) =>
    findInnermostScope(ctx, 'ceilings'),
  ),
]

/** Continues as a function of hitl.harn. What callbacks print is lost, as in the reference. */
function goOn(ctx: Context, name: string, ...args: Value[]): Control {
  return ctx.library({ module: 'agents/people/hitl', function: name, output: 'drop' }, args)
}

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
  'hitl.timeout',
  'hitl.question_answered',
  UNANSWERABLE,
  'hitl.approval_approved',
  'hitl.approval_denied',
  'hitl.dual_control_approved',
  'hitl.dual_control_denied',
  'hitl.escalation_accepted',
])

function listPending(ctx: Context, kind: Kind): HarnDict[] {
  const open = new Map<string, HarnDict>()
  for (const event of listEvents(ctx, TOPICS[kind])) {
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
function toComparableTime(text: string): string | null {
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
  return formatIsoNow(at - offsetMs)
}

function listHitlPending(ctx: Context, filters: Value): Result {
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
    bounds[key] = toComparableTime(value)
    if (bounds[key] === null) return ctx.runtime(`${name}: invalid ${key}: expected an RFC 3339 time, got '${value}'`)
  }
  const agent = filter.get('agent') ?? null
  if (agent !== null && typeof agent !== 'string') return ctx.runtime(`${name}: agent must be a string`)
  const limit = filter.get('limit') ?? USUAL_PENDING
  if (!isInt(limit) || limit <= 0) return ctx.runtime(`${name}: limit must be a positive int`)
  const found = KINDS.filter((kind) => kinds.includes(kind))
    .flatMap((kind) => listPending(ctx, kind))
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

function readList(value: Value | undefined): string[] | null {
  if (value === undefined || value === null) return []
  return value instanceof HarnList ? value.view().map(display) : null
}

/** Milliseconds of the option, the usual ones when it is absent, null when it is neither a duration nor a count. */
function readOptionMs(options: HarnDict, key: string): number | null {
  if (!options.has(key)) return DAY_MS
  const ms = toMillis(options.get(key) ?? undefined)
  return ms === null || ms < 0 ? null : ms
}

const NO_DURATION = 'expected a duration or millisecond count'

/** A nil in the place of options is refused, other than none. */
const areOptions: Fit = (value, { name, isPassed }) =>
  isPassed && !(value instanceof HarnDict) ? `${name}: options must be a dict` : null

function startAsk(ctx: Context, text: Value = '', options: Value = null): Result {
  const given = options instanceof HarnDict ? options : new HarnDict()
  const timeout = readOptionMs(given, 'timeout')
  return timeout === null ? ctx.runtime(NO_DURATION) : goOn(ctx, 'ask_user', text, given, timeout)
}

function startApproval(ctx: Context, text: Value = '', options: Value = null): Result {
  const name = 'request_approval'
  const given = options instanceof HarnDict ? options : new HarnDict()
  const quorum = given.get('quorum') ?? 1
  if (isInt(quorum) && quorum <= 0) return ctx.runtime(`${name}: quorum must be positive`)
  if (readList(given.get('reviewers')) === null || readList(given.get('capabilities_requested')) === null)
    return ctx.runtime(`${name}: expected list<string>`)
  const evidence = given.get('evidence_refs') ?? null
  if (evidence !== null && !(evidence instanceof HarnList)) return ctx.runtime(`${name}: evidence_refs must be a list`)
  const deadline = readOptionMs(given, 'deadline')
  if (deadline === null) return ctx.runtime(NO_DURATION)
  return goOn(ctx, 'request_approval', text, given, new HarnList(readList(given.get('reviewers')) ?? []), deadline)
}

function startDualControl(ctx: Context, n: Value = null, m: Value = null, action: Value = null, approvers: Value = null): Result {
  const name = 'dual_control'
  for (const [at, value] of [n, m].entries()) {
    if (!isInt(value)) return ctx.runtime(`${name}: expected int argument at ${at}`)
    if (value <= 0) return ctx.runtime(`${name}: expected a positive int at ${at}`)
  }
  if ((n as number) > (m as number)) return ctx.runtime(`${name}: n must be less than or equal to m`)
  if (!isCallable(action)) return ctx.runtime(`${name}: action must be a closure`)
  const listed = approvers === null ? null : readList(approvers)
  if (listed === null) return ctx.runtime(`${name}: expected list<string>`)
  if (listed.length > 0 && listed.length < Number(m))
    return ctx.runtime(`${name}: expected at least ${Number(m)} approvers, got ${listed.length}`)
  return goOn(ctx, 'dual_control', n, m, action, new HarnList(listed))
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
  modules: findHarnModule,
  primitives,
  builtins: [
    builtinTaking(
      'ask_user<T>(prompt: string, options?: {schema?: Schema<T>, timeout?: duration, default?: T}) -> T',
      { doc: 'Asks a person and gives the answer.', effects: ASKS, shapes: { options: ASK_OPTIONS } },
      { raise: 'runtime', text: { prompt: '{f}: expected string argument at 0' }, fits: { options: areOptions } },
      startAsk,
    ),
    builtinTaking(
      'request_approval(action: string, options?: dict) -> {approved: bool, reviewers: list<string>, approved_at: string, reason: string | nil, signatures: list<{reviewer: string, signed_at: string, signature: string}>}',
      {
        doc: 'Waits until enough people approve an action; a denial is thrown.',
        effects: ASKS,
        shapes: { options: APPROVAL_OPTIONS },
      },
      { raise: 'runtime', text: { action: '{f}: expected string argument at 0' }, fits: { options: areOptions } },
      startApproval,
    ),
    builtinTaking(
      'dual_control<T>(n: int, m: int, action: fn() -> T, approvers?: list<string> | nil) -> T',
      { doc: 'Calls `action` once n of m people approved it.', effects: ASKS },
      { missing: { approvers: new HarnList([]) } },
      startDualControl,
    ),
    builtinTaking(
      'escalate_to(role: string, reason: string) -> {request_id: string, role: string, reason: string, trace_id: string, status: string, accepted_at: string | nil, reviewer: string | nil}',
      { doc: 'Hands a matter to a role and waits for somebody to take it.', effects: ASKS },
      {
        raise: 'runtime',
        text: { role: '{f}: expected string argument at 0', reason: '{f}: expected string argument at 1' },
      },
      (ctx, role = '', reason = '') => goOn(ctx, 'escalate_to', role, reason),
    ),
    builtin(
      'hitl_pending(filters?: dict | nil) -> list as ?',
      { doc: 'Requests to people that nobody has answered, newest first.', effects: [], shapes: { filters: PENDING_FILTERS } },
      (ctx, filters) => listHitlPending(ctx, filters ?? null),
    ),
    builtin(
      '__hitl_ask_host(kind: string, request: dict) -> nil',
      { doc: 'Hands a request to the host and logs what it answers.', effects: ASKS },
      (ctx, kind, request) => goOn(ctx, 'ask_host', kind ?? null, request ?? null),
    ),
  ],
}
