// Asks the person behind a client of the Agent Client Protocol: whether a tool may be called, and what questions of the script can be put as a
// choice or a form.

import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { isRecord } from '../tools/executors/jsonrpc.js'
import type { JsonRpcPeer, Params } from '../tools/executors/jsonrpc.js'

/** The machine knows by the beginning of these ids what was chosen. */
const OPTIONS = [
  { optionId: 'allow-once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Always reject', kind: 'reject_always' },
] as const

type Choice = 'allow-once' | 'reject-once'

export interface PersonOptions {
  readonly peer: JsonRpcPeer
  readonly session: string
  /** What a person said for all calls of a tool, by its identity; for the life of the session. */
  readonly standing: Map<string, Choice>
  /** The id that a call of an agent has in the updates of the session. */
  readonly findCallId: (id: string) => string
  readonly hasForms: boolean
}

const select = (optionId: string): Params => ({ outcome: { outcome: 'selected', optionId } })

/** null if there is no answer. */
export async function askPerson(options: PersonOptions, request: ApprovalRequest, signal: AbortSignal): Promise<unknown> {
  if (request.kind === 'permission') return askPermission(options, request, signal)
  if (request.kind === 'question') return askQuestion(options, request, signal)
  const answer = await choose(
    options,
    request,
    OPTIONS.filter(({ optionId }) => optionId.endsWith('once')),
    signal,
  )
  return answer === null ? null : { approved: answer === 'allow-once' }
}

async function askPermission(options: PersonOptions, request: ApprovalRequest, signal: AbortSignal): Promise<unknown> {
  const { standing } = options
  const identity = request.call?.identity ?? null
  const known = identity === null ? undefined : standing.get(identity)
  if (known !== undefined) return select(known)
  const offered = identity === null ? OPTIONS.filter(({ optionId }) => optionId.endsWith('once')) : OPTIONS
  const answer = await choose(options, request, offered, signal)
  if (answer === null) return { outcome: { outcome: 'cancelled' } }
  if (answer !== 'allow-always' && answer !== 'reject-always') return select(answer)
  const choice: Choice = answer === 'allow-always' ? 'allow-once' : 'reject-once'
  if (identity !== null) standing.set(identity, choice)
  return select(choice)
}

interface Offered {
  readonly optionId: string
  readonly name: string
  readonly kind: string
}

/** The option that was selected, also one that was not offered; null when there is none. */
async function choose(
  { peer, session, findCallId }: PersonOptions,
  { id, prompt, payload }: ApprovalRequest,
  offered: readonly Offered[],
  signal: AbortSignal,
): Promise<string | null> {
  const { toolCallId, toolName, rawInput } = isRecord(payload['toolCall']) ? payload['toolCall'] : {}
  const answer = await peer.request(
    'session/request_permission',
    {
      sessionId: session,
      toolCall: {
        toolCallId: typeof toolCallId === 'string' ? findCallId(toolCallId) : id,
        title: typeof toolName === 'string' ? toolName : prompt,
        status: 'pending',
        ...(rawInput === undefined ? {} : { rawInput: plainFromHost(rawInput) }),
      },
      options: offered,
    },
    { signal },
  )
  const outcome = isRecord(answer) ? answer['outcome'] : null
  if (!isRecord(outcome) || outcome['outcome'] !== 'selected') return null
  return typeof outcome['optionId'] === 'string' ? outcome['optionId'] : null
}

/** A question with choices is one of them; another is a form, where the client has forms. */
async function askQuestion(options: PersonOptions, request: ApprovalRequest, signal: AbortSignal): Promise<unknown> {
  const { payload, prompt } = request
  const choices = listChoices(payload)
  if (choices.length > 0) {
    const offered = choices.map((name, at) => ({ optionId: `choice-${at}`, name, kind: 'allow_once' }))
    const answer = await choose(options, request, offered, signal)
    const at = offered.findIndex(({ optionId }) => optionId === answer)
    return at < 0 ? null : { answer: choices[at] }
  }
  if (!options.hasForms) return null
  const answer = await options.peer.request(
    'elicitation/create',
    {
      sessionId: options.session,
      mode: 'form',
      message: prompt,
      requestedSchema: { type: 'object', properties: { answer: { type: 'string', title: prompt } }, required: ['answer'] },
    },
    { signal },
  )
  const content = isRecord(answer) && answer['action'] === 'accept' ? answer['content'] : null
  return isRecord(content) && typeof content['answer'] === 'string' ? { answer: content['answer'] } : null
}

/** Strings that the schema of the answer lists. */
function listChoices(payload: ApprovalRequest['payload']): readonly string[] {
  const { schema } = isRecord(payload['payload']) ? payload['payload'] : payload
  const given = isRecord(schema) ? schema['enum'] : null
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === 'string') : []
}
