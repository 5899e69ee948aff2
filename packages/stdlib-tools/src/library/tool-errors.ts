// The errors of tool calls as scripts see them: one closed table of codes, each with the category that error_category
// gives and whether a repeat may help. `mayRepeat` is about the failure alone; whether the tool allows a repeat is asked too
// (tool-retry.ts).

import { HarnDict, display } from '@bridle/vm/families'
import type { Fault, Value } from '@bridle/vm/families'

interface CodeRow {
  readonly category: string
  /** `unstarted`: the work was not begun, anyone may repeat. `doubtful`: it may have happened. `no`: a repeat fails alike. */
  readonly mayRepeat: 'unstarted' | 'doubtful' | 'no'
}

/** THE closed list of codes. A code that a provider makes up counts as `execution_failed`. */
export const TOOL_ERROR_CODES = {
  not_registered: { category: 'not_found', mayRepeat: 'no' },
  not_found: { category: 'not_found', mayRepeat: 'no' },
  invalid_args: { category: 'tool_error', mayRepeat: 'no' },
  execution_failed: { category: 'tool_error', mayRepeat: 'no' },
  server_error: { category: 'server_error', mayRepeat: 'doubtful' },
  rate_limit: { category: 'rate_limit', mayRepeat: 'unstarted' },
  auth: { category: 'auth', mayRepeat: 'no' },
  model_not_found: { category: 'not_found', mayRepeat: 'no' },
  timeout: { category: 'timeout', mayRepeat: 'doubtful' },
  provider_unavailable: { category: 'overloaded', mayRepeat: 'unstarted' },
  connection: { category: 'transient_network', mayRepeat: 'doubtful' },
  output_validation_failed: { category: 'schema_validation', mayRepeat: 'no' },
  schema_drift: { category: 'schema_validation', mayRepeat: 'no' },
  policy_violation: { category: 'tool_rejected', mayRepeat: 'no' },
  effect_violation: { category: 'tool_rejected', mayRepeat: 'no' },
  egress_blocked: { category: 'egress_blocked', mayRepeat: 'no' },
  security_violation: { category: 'tool_rejected', mayRepeat: 'no' },
  approval_denied: { category: 'tool_rejected', mayRepeat: 'no' },
  budget_exhausted: { category: 'budget_exceeded', mayRepeat: 'no' },
  resource_limit: { category: 'budget_exceeded', mayRepeat: 'no' },
  circuit_open: { category: 'circuit_open', mayRepeat: 'unstarted' },
  cancelled: { category: 'cancelled', mayRepeat: 'no' },
  unknown_outcome: { category: 'tool_error', mayRepeat: 'no' },
  replay_mismatch: { category: 'generic', mayRepeat: 'no' },
  replay_exhausted: { category: 'generic', mayRepeat: 'no' },
  version_mismatch: { category: 'tool_error', mayRepeat: 'no' },
  grant_invalid: { category: 'tool_error', mayRepeat: 'no' },
  duplicate_tool: { category: 'tool_error', mayRepeat: 'no' },
  prepare_failed: { category: 'tool_error', mayRepeat: 'no' },
  tool_contract_missing: { category: 'tool_error', mayRepeat: 'no' },
  tool_recursion_limit: { category: 'tool_error', mayRepeat: 'no' },
  durable_effects_unavailable: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_empty_step_id: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_duplicate_step_id: { category: 'tool_error', mayRepeat: 'no' },
  durable_step_unserializable: { category: 'tool_error', mayRepeat: 'no' },
  effect_input_mismatch: { category: 'generic', mayRepeat: 'no' },
  durable_effect_empty_event_key: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_event_timeout: { category: 'timeout', mayRepeat: 'no' },
  durable_effect_event_cancelled: { category: 'cancelled', mayRepeat: 'no' },
  await_event_unknown_or_revoked: { category: 'not_found', mayRepeat: 'no' },
  invalid_await_event_wait_identity: { category: 'tool_error', mayRepeat: 'no' },
  pending_tool_missing_completion_key: { category: 'tool_error', mayRepeat: 'no' },
  tool_deferral_not_declared: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_process_event_unavailable: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_empty_process_event_type: { category: 'tool_error', mayRepeat: 'no' },
  process_not_visible: { category: 'not_found', mayRepeat: 'no' },
  process_already_terminal: { category: 'tool_error', mayRepeat: 'no' },
  durable_effects_missing_call_id: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_process_event_append_failed: { category: 'tool_error', mayRepeat: 'no' },
  durable_effect_process_event_process_mismatch: { category: 'tool_error', mayRepeat: 'no' },
  tool_completion_key_missing_call_id: { category: 'tool_error', mayRepeat: 'no' },
  pending_tool_announcement_failed: { category: 'tool_error', mayRepeat: 'no' },
  await_event_unsupported: { category: 'tool_error', mayRepeat: 'no' },
  process_registry_unavailable: { category: 'tool_error', mayRepeat: 'no' },
  quota_exceeded: { category: 'rate_limit', mayRepeat: 'unstarted' },
  intent_invalid: { category: 'tool_error', mayRepeat: 'no' },
  intent_limit: { category: 'budget_exceeded', mayRepeat: 'no' },
  store_unavailable: { category: 'generic', mayRepeat: 'unstarted' },
  journal_lease_lost: { category: 'generic', mayRepeat: 'no' },
} as const satisfies Readonly<Record<string, CodeRow>>

export type ToolErrorCode = keyof typeof TOOL_ERROR_CODES

export function isToolErrorCode(code: string): code is ToolErrorCode {
  return Object.hasOwn(TOOL_ERROR_CODES, code)
}

/** The code for a failure that only has a category. */
const CODE_OF_CATEGORY: Readonly<Record<string, ToolErrorCode>> = {
  timeout: 'timeout',
  auth: 'auth',
  rate_limit: 'rate_limit',
  overloaded: 'provider_unavailable',
  server_error: 'server_error',
  transient_network: 'connection',
  schema_validation: 'output_validation_failed',
  tool_rejected: 'policy_violation',
  egress_blocked: 'egress_blocked',
  cancelled: 'cancelled',
  not_found: 'not_found',
  circuit_open: 'circuit_open',
  budget_exceeded: 'budget_exhausted',
}

export function findCode(category: string): ToolErrorCode {
  return Object.hasOwn(CODE_OF_CATEGORY, category) ? CODE_OF_CATEGORY[category]! : 'execution_failed'
}

export interface CallFacts {
  readonly tool: string
  readonly callId: string | null
  readonly attempt: number
  /** How the script calls the tool, when by an alias. */
  readonly alias?: string | null
}

export function findCodeRow(code: string): CodeRow {
  return isToolErrorCode(code) ? TOOL_ERROR_CODES[code] : { category: 'generic', mayRepeat: 'no' }
}

/** The dict that is thrown, or put into an Err. */
export function makeToolError(
  code: string,
  message: string,
  facts: CallFacts,
  details: Value = null,
  cause: Value = null,
): HarnDict {
  const row = findCodeRow(code)
  const error = HarnDict.of({
    name: 'ToolError',
    code,
    category: row.category,
    message,
    tool: facts.tool,
    call_id: facts.callId,
    attempt: facts.attempt,
    retryable: row.mayRepeat !== 'no',
    severity: 'error',
    details,
  })
  if (facts.alias !== undefined && facts.alias !== null) error.set('alias', facts.alias)
  if (cause !== null) error.set('cause', cause)
  return error
}

export function isToolError(value: Value): value is HarnDict {
  return value instanceof HarnDict && value.get('name') === 'ToolError' && typeof value.get('code') === 'string'
}

/** True for faults that belong to the caller's own time: they pass through a tool call unchanged. */
export function isInterruption(fault: Fault): boolean {
  if (fault.kind === 'recursion') return true
  const { caught } = fault
  return typeof caught === 'string' && (caught === 'Deadline exceeded' || caught.startsWith('kind:cancelled:'))
}

/** A fault of a handler, an executor or a provider as a tool error. A tool error of the same call stays what it is. */
export function toToolError(fault: Fault, facts: CallFacts): HarnDict {
  const { caught } = fault
  if (isToolError(caught)) return completeError(caught, facts)
  if (fault.kind === 'categorized') {
    const { value: code } = fault
    return makeToolError(typeof code === 'string' ? code : findCode(fault.category), fault.message, facts)
  }
  if (caught instanceof HarnDict) {
    const category = caught.get('category')
    const code = findCode(typeof category === 'string' ? category : '')
    const message = caught.get('message')
    return makeToolError(code, message === undefined ? display(caught) : display(message), facts, null, caught)
  }
  const told = typeof caught === 'string' && fault.kind === 'thrown' ? parseErrorText(caught) : null
  if (told !== null) return makeToolError(told.code, told.message, facts)
  return makeToolError(
    'execution_failed',
    fault.kind === 'thrown' ? fault.message : fault.text,
    facts,
    null,
    fault.kind === 'thrown' ? fault.value : null,
  )
}

/**
 * What a refusal says that was caught, which makes a text `Error [CATEGORY]: …` of it, and thrown again: a handler that only passes it on
 * must not make it another error. Null for texts that are none.
 */
export function parseErrorText(text: string): { readonly code: ToolErrorCode; readonly message: string } | null {
  const [, category = '', message = ''] = /^Error \[([a-z_]+)\]: ([^]*)$/.exec(text) ?? []
  if (!Object.hasOwn(CODE_OF_CATEGORY, category)) return null
  const isSandbox = category === 'tool_rejected' && /^(?:File access violation|Path traversal detected)\b/.test(message)
  return { code: isSandbox ? 'security_violation' : findCode(category), message }
}

/** Adds what a provider does not know to the record it sent. */
function completeError(error: HarnDict, facts: CallFacts): HarnDict {
  if (error.has('call_id')) return error
  const code = error.get('code') as string
  const full = makeToolError(code, display(error.get('message') ?? code), facts, error.get('details') ?? null)
  for (const [key, value] of error.entries()) if (value !== null) full.set(key, value)
  return full
}
