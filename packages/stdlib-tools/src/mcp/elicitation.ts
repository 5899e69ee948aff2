// Requests to people as forms of the protocol (`elicitation/create`), for clients that show forms and know nothing of
// `harn.hitl.requested`. A form has flat fields of plain types; what does not fit into one is not asked in this way.

import { lookup } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import type { ApprovalRequest } from '../tools/policy/approval-request.js'
import { isObject, toJson } from './server-protocol.js'
import type { Json, JsonObject } from './server-protocol.js'

const FIELD_TYPES: Readonly<Record<string, string>> = lookup({
  string: 'string',
  int: 'integer',
  integer: 'integer',
  float: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
})

const APPROVAL_FORM: JsonObject = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', title: 'Approve' },
    reason: { type: 'string', title: 'Reason' },
  },
  required: ['approved'],
}

/** Parameters of `elicitation/create`; null when the request has no form. */
export function makeForm(request: ApprovalRequest): JsonObject | null {
  const about = readDetails(request)
  switch (request.kind) {
    case 'question': {
      const schema = makeQuestionForm(about['schema'] ?? null, about['default'] ?? null)
      return schema === null ? null : { mode: 'form', message: toText(about['prompt']), requestedSchema: schema.form }
    }
    case 'approval':
      // The person who answers a form has no name to compare with a list of reviewers.
      if (Array.isArray(about['reviewers']) && about['reviewers'].length > 0) return null
      return { mode: 'form', message: joinLines(about['action'], about['detail']), requestedSchema: APPROVAL_FORM }
    case 'permission': {
      const asked = isObject(about['approvalRequest']) ? about['approvalRequest'] : {}
      const args = asked['args'] === undefined ? undefined : JSON.stringify(asked['args'])
      return { mode: 'form', message: joinLines(asked['action'], args), requestedSchema: APPROVAL_FORM }
    }
    default:
      return null
  }
}

/** The response that a filled form is; null leaves the request open for another answer. */
export function answerFromForm(request: ApprovalRequest, result: JsonObject): JsonObject | null {
  const { action } = result
  const content = isObject(result['content']) ? result['content'] : {}
  if (request.kind === 'question') {
    if (action !== 'accept') return null
    const about = readDetails(request)
    const whole = makeQuestionForm(about['schema'] ?? null, null)?.whole === true
    return { answer: whole ? content : (content['answer'] ?? null) }
  }
  if (action === 'cancel') return null
  const approved = action === 'accept' && content['approved'] === true
  const reason = typeof content['reason'] === 'string' ? { reason: content['reason'] } : {}
  return request.kind === 'permission'
    ? { granted: approved, ...reason }
    : { approved, reviewer: `${request.id}:client`, ...reason }
}

function readDetails({ payload }: ApprovalRequest): JsonObject {
  const whole = toJson(payload as Plain) as JsonObject
  return isObject(whole['payload']) ? whole['payload'] : whole
}

/** `whole`: the answer is all of the form; otherwise its field `answer`. */
function makeQuestionForm(schema: Json, fallback: Json): { readonly form: JsonObject; readonly whole: boolean } | null {
  if (isObject(schema) && (isObject(schema['properties']) || schema['type'] === 'object' || schema['type'] === 'dict')) {
    const given = isObject(schema['properties']) ? schema['properties'] : {}
    const fields = Object.entries(given).map(([name, each]) => [name, makeField(each)] as const)
    if (fields.length === 0 || fields.some(([, field]) => field === null)) return null
    const { required } = schema
    return {
      form: {
        type: 'object',
        properties: Object.fromEntries(fields) as JsonObject,
        ...(Array.isArray(required) ? { required } : {}),
      },
      whole: true,
    }
  }
  const field = schema === null ? { type: inferType(fallback) } : makeField(schema)
  if (field === null) return null
  const answer = fallback === null || typeof fallback === 'object' ? field : { ...field, default: fallback }
  return { form: { type: 'object', properties: { answer }, required: ['answer'] }, whole: false }
}

function makeField(schema: Json): JsonObject | null {
  if (!isObject(schema) || typeof schema['type'] !== 'string') return null
  const type = Object.hasOwn(FIELD_TYPES, schema['type']) ? FIELD_TYPES[schema['type']] : undefined
  return type === undefined ? null : { ...schema, type }
}

function inferType(fallback: Json): string {
  if (typeof fallback === 'boolean') return 'boolean'
  if (typeof fallback === 'number') return Number.isInteger(fallback) ? 'integer' : 'number'
  return 'string'
}

const toText = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

function joinLines(...parts: readonly (Json | undefined)[]): string {
  return parts.flatMap((part) => (part === undefined || part === null ? [] : [toText(part)])).join('\n')
}
