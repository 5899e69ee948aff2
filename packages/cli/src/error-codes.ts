// Explanations of the codes of run time and host, for `bridle explain`. The codes and their categories are the machine's table
// (TOOL_ERROR_CODES); a test ensures that every code has an explanation.

import { TOOL_ERROR_CODES } from '@bridle/stdlib-tools'

export interface ErrorCode {
  /** Results of `error_category(e)`. */
  readonly category: string
  readonly doc: string
}

export const ERROR_DOCS: Readonly<Record<string, string>> = {
  not_registered: 'No tool of this name is known to the run: neither the script nor the host defined one.',
  not_found: 'The tool was called, and what it was asked for does not exist.',
  invalid_args: 'The arguments do not fit the schema of the tool; the tool was not called.',
  execution_failed: 'The tool was called and failed in a way that it did not classify.',
  server_error: 'The service behind the tool failed on its side. The work may have been done.',
  rate_limit: 'The service asks for fewer calls. `retry_after_ms` says how long to wait, when it is known.',
  auth: 'The credentials are missing or were refused.',
  model_not_found: 'The provider does not know the model that was asked for.',
  timeout: 'The call took longer than its limit. It may still have had its effect.',
  provider_unavailable: 'The service could not be reached or refused the work; nothing was started.',
  connection: 'The connection broke during the call. It may have had its effect.',
  output_validation_failed: 'The tool answered, but not in the form that its output schema promises. Its effect has happened.',
  schema_drift: 'The tool answers in another form than the one that was pinned.',
  policy_violation: 'A policy or a grant of this run does not allow the call; the tool was not called.',
  effect_violation: 'The tool did something that it had not declared.',
  egress_blocked: 'The network policy does not allow the address; nothing was sent.',
  security_violation: 'The sandbox does not allow what was asked for; nothing was done.',
  approval_denied: 'Someone was asked to approve the call and did not.',
  budget_exhausted: 'A budget of calls, tokens or cost is used up.',
  resource_limit: 'A limit of the run (work, memory, frames, output) was reached.',
  circuit_open: 'Too many calls of this tool have failed of late; further ones wait until the circuit closes.',
  cancelled: 'The run was cancelled, and the call with it.',
  durable_effects_unavailable: 'No run is around the call: durable steps, waits and keys belong to runs.',
  durable_effect_empty_step_id: 'A durable step of a tool needs an id that is not blank; its work was not done.',
  durable_effect_duplicate_step_id: 'A tool used the id of a durable step twice in one call; the second one was not made.',
  durable_step_unserializable: 'The input or result of a durable step is no data and cannot be kept.',
  effect_input_mismatch: 'A durable step was begun before with another input, so its result is not that of this step.',
  durable_effect_empty_event_key: 'An event that a tool waits for needs a name that is not blank.',
  durable_effect_event_timeout: 'Nobody answered the event in time.',
  durable_effect_event_cancelled: 'The event was cancelled from outside.',
  durable_effect_process_event_unavailable: 'No store keeps the run, so nobody could read the events that it emits.',
  durable_effect_empty_process_event_type: 'An event that a run emits needs a type that is not blank.',
  process_not_visible: 'The store has no run of this id, or it is not one that this run may see.',
  process_already_terminal: 'The run has ended: it can be neither told nor cancelled.',
  intent_invalid: 'What a call intends is none of the known kinds, or lacks what that needs; none of it was done.',
  durable_effects_missing_call_id: 'Durable steps, waits and events belong to a call, and this one has no id.',
  durable_effect_process_event_append_failed: 'The store cannot keep the event, or its payload is no data.',
  durable_effect_process_event_process_mismatch: 'A tool can emit events of its own run only.',
  tool_completion_key_missing_call_id: 'A completion key belongs to a call, and this one has no id.',
  pending_tool_announcement_failed: 'The event that says that a call waits could not be emitted; nobody waits for it.',
  await_event_unsupported: 'The engine that keeps the run cannot have tools wait inside a call: return pending() instead.',
  process_registry_unavailable: 'No store keeps the run, so there are no other runs to be reached from it.',
  quota_exceeded: 'The tenant has as many runs or bytes as it may, or submits too fast; nothing was kept.',
  intent_limit: 'A call intends more than 32 things, 16 of a kind or 64 KiB.',
  await_event_unknown_or_revoked: 'The key of the event or call was revoked: nobody can answer it.',
  invalid_await_event_wait_identity: 'A tool waits by a key that is not one of an event of its run.',
  pending_tool_missing_completion_key: 'A tool returned `pending()` and took no completion key, so nobody could complete it.',
  tool_deferral_not_declared: 'A tool returned `pending()` and does not say `mayDefer: true`.',
  unknown_outcome: 'The process ended during the call, so that nobody knows whether it had its effect.',
  replay_mismatch: 'A replay did something else than the recorded run.',
  replay_exhausted: 'A replay went on where the recording ends.',
  prepare_failed: 'The step that prepares a call of the tool failed; the tool was not called.',
  tool_contract_missing: 'A provider lists the tool, and has no schemas for it.',
  tool_recursion_limit: 'Tools called each other too many levels deep.',
  version_mismatch: 'The tool has another version than the one that an alias or a grant asks for.',
  grant_invalid: 'A grant has a value that cannot be understood. A call under it is refused rather than allowed.',
  duplicate_tool: 'Two tools of one registry have the same name.',
  journal_lease_lost:
    'Another worker has taken over the run, because its lease was not renewed in time; this one goes no further.',
  store_unavailable: 'The journal or store could not be written; the call was not made.',
}

/** Categories are the results of `error_category(e)`; errors other than failed tools have only a category. */
export const CATEGORY_DOCS: Readonly<Record<string, string>> = {
  timeout: 'Something took longer than its limit.',
  auth: 'Credentials are missing or were refused.',
  rate_limit: 'A service asks for fewer calls.',
  overloaded: 'A service cannot take the work at the moment; nothing was started.',
  server_error: 'A service failed on its side.',
  transient_network: 'A connection could not be made, or broke.',
  schema_validation: 'Data do not have the form that was promised or asked for.',
  tool_error: 'A tool was called and failed.',
  tool_rejected: 'A grant, a policy, a sandbox or a person does not allow the call; nothing was done.',
  egress_blocked: 'The network policy does not allow the address; nothing was sent.',
  cancelled: 'The run, or the task around it, was cancelled.',
  not_found: 'What was asked for does not exist.',
  circuit_open: 'Calls have failed too often of late, and are refused for a while.',
  budget_exceeded: 'A budget or limit is used up.',
  generic: 'An error that belongs to no other category.',
}

/** Further values of `error.code` in a `--json` document: failures of the command itself, or of a run. */
export const COMMAND_DOCS: Readonly<Record<string, string>> = {
  usage: 'The command was called in a way that makes no sense: an option, argument or name that it does not know. Exit code 2.',
  unreadable_file: 'A file or folder that the command line names does not exist or cannot be read. Exit code 2.',
  failed: 'The command was understood and could not do its work; the message says why. Exit code 1.',
  thrown: 'The script threw a value that nothing caught. `error.value` is that value.',
  runtime_error: 'An operation of the script failed, such as adding nil and an int, and nothing caught the error.',
  limit: 'A limit of the run was reached (`--fuel`, `--max-heap`, `--limit`); a script cannot catch that.',
  interrupted: 'The interrupt key, a termination request or `--timeout` ended the run. Exit code 130, 143 or 124.',
  bug: 'Bridle failed in a way that nobody has thought of. Standard error has the stack; please report it.',
}

export const ERROR_CODES: Readonly<Record<string, ErrorCode>> = Object.fromEntries(
  Object.entries(TOOL_ERROR_CODES).map(([code, { category }]) => [
    code,
    { category, doc: ERROR_DOCS[code] ?? 'There is no explanation of this code.' },
  ]),
)

/** Whether `bridle explain` knows a code of an error at run time. */
export function isErrorCode(name: string): boolean {
  return Object.hasOwn(ERROR_CODES, name) || Object.hasOwn(CATEGORY_DOCS, name)
}
