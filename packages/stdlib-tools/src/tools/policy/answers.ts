// Answers of people, from any source: one union for callbacks, desks and flags. Any other answer is an error
// that names the request and the accepted answers. It is never treated as a refusal, nor ignored.

import type { Plain } from '@bridle/vm'
import type { ApprovalKind, ApprovalRequest } from './approval-request.js'

/**
 * What a request may be answered with:
 *
 * | answer | question | permission, approval, dual control, escalation |
 * | --- | --- | --- |
 * | `true`, `false` | the answer | yes, no |
 * | a string, a number | the answer | an error |
 * | `{answer}` | the answer | an error |
 * | `{granted}`, `{approved}`, `{accepted}`: boolean, with `reason`, `reviewer`, `binding` | an error | yes, no |
 * | `{outcome}` of the Agent Client Protocol | an error | for a permission: yes, no |
 * | null, undefined | nobody answers | nobody answers |
 */
export type Answer =
  | boolean
  | string
  | number
  | null
  | undefined
  | { readonly answer: unknown; readonly reviewer?: string }
  | Decision
  | readonly Decision[]

/** A yes or a no; the three names mean the same. */
export interface Decision {
  readonly granted?: boolean
  readonly approved?: boolean
  readonly accepted?: boolean
  /** As clients of the Agent Client Protocol say it. */
  readonly outcome?: unknown
  readonly reason?: string
  /** The reviewer. */
  readonly reviewer?: string
  /** That of the request: the answer is for no other call. */
  readonly binding?: string
  /** A permission of a tool call may give it other arguments; they are judged again. */
  readonly args?: { readonly [name: string]: unknown }
  readonly metadata?: unknown
  readonly signature?: string
  readonly responded_at?: string
}

/** An answer that is none. */
export class AnswerError extends TypeError {
  override readonly name = 'AnswerError'
}

/** The default reviewer. */
const SOMEBODY = 'host'

const VERDICTS = ['granted', 'approved', 'accepted'] as const

type PlainRecord = { readonly [key: string]: Plain }

const isRecord = (value: Plain): value is PlainRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** In the form that the machine reads; null without an answer. Throws AnswerError. */
export function readAnswer(request: ApprovalRequest, given: Plain): Plain {
  if (given === null) return null
  switch (request.kind) {
    case 'question':
      return readQuestionAnswer(request, given)
    case 'permission':
      return readPermission(request, given)
    case 'approval':
    case 'dual_control':
    case 'escalation':
      return Array.isArray(given) ? given.map((each) => readDecision(request, each)) : readDecision(request, given)
    default:
      // Messages to a loop that works (agents/loop/inbox.harn) are texts.
      return given
  }
}

function readQuestionAnswer(request: ApprovalRequest, given: Plain): Plain {
  if (Array.isArray(given) && given.length > 0 && given.every((each) => isRecord(each) && 'answer' in each)) return given
  if (!isRecord(given)) return { answer: given }
  if ('answer' in given) return given
  throw makeError(request, given, 'a string, a number, a boolean, a list, or {answer: …}')
}

function readPermission(request: ApprovalRequest, given: Plain): Plain {
  if (typeof given === 'boolean') return { granted: given }
  if (isRecord(given)) {
    if (isChoice(given)) return given
    const verdict = readVerdict(given)
    if (verdict !== null) return { ...given, granted: verdict }
  }
  throw makeError(request, given, 'true, false, {granted: true} or {granted: false, reason: …}')
}

/** Answer of a client that was given options. The gate treats unknown options as a refusal. */
function isChoice(given: PlainRecord): boolean {
  return 'outcome' in given && given['outcome'] !== null
}

/** What all of the names say that are there; null when they say nothing, not the same, or no boolean. */
function readVerdict(given: PlainRecord): boolean | null {
  const said = VERDICTS.filter((key) => key in given && given[key] !== null).map((key) => given[key])
  const first = said[0]
  return typeof first === 'boolean' && said.every((each) => each === first) ? first : null
}

const LISTS: { readonly [Kind in ApprovalKind]?: string } = { approval: 'reviewers', dual_control: 'approvers' }

function readDecision(request: ApprovalRequest, given: Plain): Plain {
  const verdict = typeof given === 'boolean' ? given : isRecord(given) ? readVerdict(given) : null
  if (verdict === null)
    throw makeError(request, given, 'true, false, {approved: true, reviewer: …} or {approved: false, reason: …}')
  const record = isRecord(given) ? given : {}
  const { reviewer = null } = record
  const listed = listReviewers(request)
  // A yes that does not count would be waited for until the deadline.
  if (verdict && listed.length > 0 && !(typeof reviewer === 'string' && listed.includes(reviewer)))
    throw makeError(request, given, `{approved: true, reviewer: …} with one of ${listed.map((name) => `"${name}"`).join(', ')}`)
  const said = request.kind === 'escalation' ? { accepted: verdict, approved: verdict } : { approved: verdict }
  return { ...record, ...said, ...(verdict && reviewer === null ? { reviewer: SOMEBODY } : {}) }
}

function listReviewers({ kind, payload }: ApprovalRequest): readonly string[] {
  const key = LISTS[kind]
  const about = payload['payload'] ?? null
  const listed = key === undefined || !isRecord(about) ? null : about[key]
  return Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : []
}

function makeError(request: ApprovalRequest, given: Plain, accepted: string): AnswerError {
  const what = request.kind.replace('_', ' ')
  return new AnswerError(
    `the answer to the ${what} ${JSON.stringify(describeRequest(request))} (${request.id}) is ${describeAnswer(given)}; ` +
      `a ${what} takes ${accepted}`,
  )
}

/** What is asked, in few words: the prompt, the action, the tool. */
export function describeRequest({ kind, payload }: ApprovalRequest): string {
  const inner = payload[kind === 'permission' ? 'approvalRequest' : 'payload'] ?? null
  const about = isRecord(inner) ? inner : payload
  const text = about['prompt'] ?? about['action'] ?? about['role'] ?? kind
  return typeof text === 'string' ? text : JSON.stringify(text)
}

const MOST_SHOWN = 80

function describeAnswer(given: Plain): string {
  let text: string
  try {
    text = JSON.stringify(given, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? typeof given
  } catch {
    text = typeof given
  }
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}
