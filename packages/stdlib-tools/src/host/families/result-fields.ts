// Fields of the dicts that builtins give, a row a builtin, in the notation of signatures: the strict checks and the editor know them, and
// the pages list them. What may be missing is optional (`name?`). A dict has no other field than those, but for one with `*: any`.
// The signature says `dict` anyway, because a check that stops a run may rely on no more. A test holds each row against what the
// scripts of the suite get.

const HTTP = '{status: int, headers: dict, body: string, ok: bool}'
const SERVER_RESPONSE = '{status: int, headers: dict, body: any, body_kind: string, raw_body: any, ok: bool}'
const SERVER = '{id: string, kind: string}'
const COMMAND = '{stdout: string, stderr: string, status: int, success: bool}'
const KEYPAIR = '{private: string, public: string}'
const SESSION = '{ok: bool, payload: any, error: string | nil}'
const SHARED = '{_type: string, key: string, scope: string}'
const DATE =
  'year: int, month: int, day: int, hour: int, minute: int, second: int, weekday: int, iso8601: string, timestamp: int | float'
const VERDICT = '{verdict: dict, confidence: float, evidence?: list, remediation?: dict}'
const RISK =
  '{action: string, recommended_action: string, risk_labels: list<string>, confidence: float, rationale: string, *: any}'
const ARTIFACT =
  '{_type: string, id: string, kind: string, title: string | nil, text: string | nil, data: any, source: any, created_at: string, ' +
  'freshness: any, priority: int, lineage: list, relevance: float | nil, estimated_tokens: int | nil, stage: any, metadata: dict}'
const TRANSCRIPT = '{_type: string, id: string, version: int, messages: list, events: list, assets: list, *: any}'
const MESSAGE = '{role: string, content: any, *: any}'
const EVENT =
  '{id: string, kind: string, role?: string, text?: string, visibility?: string, blocks?: list, metadata?: any, *: any}'
const WORKER =
  '{_type: string, id: string, name: string, task: string, mode: string, status: string, result: any, error: string | nil, ' +
  'created_at: string, started_at: string | nil, finished_at: string | nil, awaiting_started_at: string | nil, ' +
  'artifact_count: int, has_transcript: bool, history: list, audit: dict, execution: dict, provenance: dict, request: dict, ' +
  'snapshot_path: any, parent_worker_id: any, parent_stage_id: any, child_run_id: any, child_run_path: any}'
const GRAPH =
  '{_type: string, id: string, name: string | nil, version: int, entry: string | nil, nodes: dict, edges: list, metadata: dict, ' +
  'capability_policy: any, approval_policy: any, audit_log: list, *: any}'
const VALIDATION = '{valid: bool, errors: list<string>, warnings: list<string>, reachable_nodes: list<string>}'
const WAITPOINT =
  '{id: string, status: string, created_at: string, created_by: any, completed_at: string | nil, completed_by: any, ' +
  'cancelled_at: string | nil, cancelled_by: any, reason: string | nil, metadata: dict, *: any}'
const CONTEXT =
  '{task_id: string, task_name: any, root_task_id: string, parent_task_id: string | nil, cancelled: bool, context_values: dict, ' +
  'trace_id: any, run_id: any, stage_id: any, worker_id: any, workflow_id: any, agent_name: any, agent_session_id: any, *: any}'
const SUPERVISOR_COUNTS = '{started: int, restarted: int, failed: int, stopped: int, escalated: int, suppressed: int}'
const SUPERVISOR =
  '{_type: string, id: string, name: string, status: string, strategy: string, children: list<{name: string, kind: string, ' +
  'status: string, restart_count: int, last_error: any, next_restart_time: any, current_wait_reason: any, active_lease: any}>, ' +
  `metrics: ${SUPERVISOR_COUNTS}}`
const TRIGGER =
  '{id: string, kind: string, provider: string, handler_kind: string, state: string, version: int, metrics: dict, source: string, ' +
  'autonomy_tier: string, *: any}'
const DISPATCH =
  '{binding_id: string, binding_version: int, event_id: string, status: string, result: any, error: any, dlq_entry_id: any, ' +
  'replay_of_event_id: any}'
const SUITE = '{pass: bool, total: int, passed: int, failed: int, cases: list}'
const MANIFEST = '{id: string, version: int, name: string | nil, *: any}'
const FRICTION =
  '{id: string, kind: string, schema_version: int, timestamp: string, source: any, redacted_summary: any, metadata: dict, *: any}'
const USAGE =
  'input_tokens: int, output_tokens: int, cache_read_tokens: int, cache_write_tokens: int, cache_creation_input_tokens: int, ' +
  'cache_hit_ratio: float, cache_savings_usd: float'
const REPLY =
  `{text: string, model: string, provider: string, ${USAGE}, usage: {${USAGE}}, prose: string, transcript?: any, ` +
  'visible_text: string, blocks: list, data?: any, tool_calls?: list, protocol_violations?: list, tool_parse_errors?: list, ' +
  'done_marker?: string, canonical_text?: string, thinking?: any, private_reasoning?: any, thinking_summary?: any, stop_reason?: string}'
const POLICY =
  '{tools: list, capabilities: dict, workspace_roots: list, side_effect_level: string | nil, recursion_limit: int | nil, ' +
  'tool_annotations: dict, tool_arg_constraints: list}'

/** By builtin: what it gives. */
export const RESULT_FIELDS: Readonly<Record<string, string>> = {
  agent_loop:
    '{status: string, text: string, visible_text: string, llm: {iterations: int, duration_ms: int, input_tokens: int, ' +
    'output_tokens: int}, tools: {calls: list<string>, successful: list<string>, rejected: list<string>, mode: string}, ' +
    `trace: dict, transcript: ${TRANSCRIPT}, task_ledger: any, ledger_done_rejections: int, daemon_state: string, ` +
    'daemon_snapshot_path: string | nil, deferred_user_messages: list}',
  agent_session_ancestry: '{parent_id: string | nil, child_ids: list<string>, root_id: string} | nil',
  agent_trace_summary:
    '{status: any, iterations: int, llm_calls: int, tool_executions: int, tool_rejections: int, tools_used: list, interventions: int, ' +
    'compactions: int, total_duration_ms: int, total_input_tokens: int, total_output_tokens: int, total_llm_duration_ms: int, ' +
    'total_tool_duration_ms: int, *: any}',
  artifact: ARTIFACT,
  artifact_apply_intent: ARTIFACT,
  artifact_command_result: ARTIFACT,
  artifact_derive: ARTIFACT,
  artifact_diff: ARTIFACT,
  artifact_diff_review: ARTIFACT,
  artifact_editor_selection: ARTIFACT,
  artifact_git_diff: ARTIFACT,
  artifact_patch_proposal: ARTIFACT,
  artifact_review_decision: ARTIFACT,
  artifact_test_result: ARTIFACT,
  artifact_verification_bundle: ARTIFACT,
  artifact_verification_result: ARTIFACT,
  artifact_workspace_file: ARTIFACT,
  artifact_workspace_snapshot: ARTIFACT,
  assemble_context:
    '{chunks: list, included: list, dropped: list, reasons: list, total_tokens: int, budget_tokens: int, strategy: string, dedup: string}',
  close_agent: WORKER,
  command_llm_risk_scan: RISK,
  command_result_scan: RISK,
  command_risk_scan: RISK,
  context_pack_manifest: MANIFEST,
  context_pack_manifest_parse: MANIFEST,
  cookie_parse:
    '{cookies: dict, pairs: list<{name: string, value: string}>, duplicates: dict, invalid: list<{reason: string, segment: string}>}',
  cookie_round_trip: '{cookies: dict, cookie_header: string}',
  cookie_verify: '{ok: bool, value: string | nil, error: string | nil}',
  date_in_zone: `{${DATE}, zone: string, offset_seconds: int}`,
  date_now: `{${DATE}}`,
  ed25519_keypair: KEYPAIR,
  egress_policy: '{configured: bool, default: string, allow: list<string>, deny: list<string>, source: any}',
  eval_pack_manifest: MANIFEST,
  eval_pack_run:
    '{pass: bool, total: int, passed: int, failed: int, blocking_failed: int, warning_failed: int, informational_failed: int, ' +
    'pack_id: string, cases: list}',
  eval_suite_run: SUITE,
  exec: COMMAND,
  exec_at: COMMAND,
  flow_evidence_atom: '{kind: string, atom: string, diff_span: {start: int, end: int}}',
  flow_evidence_citation: '{kind: string, url: string, quote: string, fetched_at: string}',
  flow_evidence_metadata: '{kind: string, directory: string, namespace: string, key: string}',
  flow_evidence_transcript: '{kind: string, transcript_id: string, span: {start: int, end: int}}',
  flow_invariant_allow: VERDICT,
  flow_invariant_block: VERDICT,
  flow_invariant_require_approval: VERDICT,
  flow_invariant_warn: VERDICT,
  friction_eval_fixture: '{pass: bool, failures: list, event_count: int, suggestion_count: int, suggestions: list}',
  friction_event: FRICTION,
  friction_events: `list<${FRICTION}>`,
  hitl_pending:
    'list<{request_id: string, request_kind: string, agent: any, prompt: any, trace_id: string, timestamp: string, approvers: list, metadata: dict}>',
  http_delete: HTTP,
  http_download: '{bytes_written: int, status: int, headers: dict, ok: bool}',
  http_get: HTTP,
  http_patch: HTTP,
  http_post: HTTP,
  http_put: HTTP,
  http_request: HTTP,
  http_response: SERVER_RESPONSE,
  http_response_bytes: SERVER_RESPONSE,
  http_response_json: SERVER_RESPONSE,
  http_response_text: SERVER_RESPONSE,
  http_server: SERVER,
  http_server_after: SERVER,
  http_server_before: SERVER,
  http_server_on_shutdown: SERVER,
  http_server_readiness: SERVER,
  http_server_request: SERVER_RESPONSE,
  http_server_route: SERVER,
  http_server_test: SERVER_RESPONSE,
  http_session_request: HTTP,
  http_stream_info: '{status: int, headers: dict, ok: bool}',
  jwt_verify: '{valid: bool, claims?: any, error?: any, *: any}',
  list_agents: `list<${WORKER}>`,
  llm_call: REPLY,
  llm_call_safe: `{ok: bool, response: ${REPLY} | nil, error: dict | nil}`,
  llm_call_structured_result:
    '{ok: bool, data: any, raw_text: string, error: string, error_category: string | nil, attempts: int, repaired: bool, ' +
    `extracted_json: bool, usage: {${USAGE}}, model: string, provider: string}`,
  llm_call_structured_safe: '{ok: bool, data: any, error: dict | nil}',
  llm_completion: REPLY,
  llm_healthcheck: '{valid: bool, message: string, provider?: string, status?: string, metadata?: dict, *: any}',
  llm_info: '{provider: string, model: string, api_key_set: bool}',
  llm_model_info:
    '{id: string, provider: string, alias: string | nil, tier: string, tool_format: string, catalog: any, capabilities: dict, ' +
    'qc_default_model: any, auth_available: bool, *: any}',
  llm_pick_model: '{id: string, provider: string, tier: string, *: any}',
  llm_provider_catalog:
    '{providers: list, models: list, aliases: list, known_model_names: list<string>, available_providers: list<string>, qc_defaults: dict, *: any}',
  llm_usage: '{input_tokens: int, output_tokens: int, total_duration_ms: int, call_count: int, total_calls: int}',
  mailbox_metrics: '{depth: int, capacity: int, sent_count: int, received_count: int, failed_send_count: int, closed: bool}',
  mailbox_open: SHARED,
  metadata_entries: 'list<{dir: string, local: dict, resolved: dict}>',
  metadata_stale: '{any_stale: bool, tier1: list, tier2: list}',
  metadata_status:
    '{directory_count: int, namespace_count: int, namespaces: list<string>, directories: list<string>, ' +
    'missing_structure_hash: list, missing_content_hash: list, stale: {any_stale: bool, tier1: list, tier2: list}}',
  multipart_form_data: '{body: bytes, boundary: string, content_type: string}',
  multipart_parse: '{boundary: string, field_count: int, fields: list, total_bytes: int}',
  parse_junit_xml:
    'list<{name: string, status: string, duration_ms: int, message: string | nil, stdout: string | nil, stderr: string | nil}>',
  partition: '{match: list, no_match: list}',
  path_parts: '{dir: string, file: string, stem: string, ext: string, segments: list<string>}',
  path_workspace_info:
    '{input: string, kind: string, normalized: string, workspace_path: string | nil, host_path: string | nil, ' +
    'recovered_root_drift: bool, reason: string | nil}',
  pg_execute: '{rows_affected: int}',
  plan_artifact:
    '{_type: string, id: string, title: string, summary: any, steps: list, approval: dict, schema_version: any, *: any}',
  project_scan_native:
    '{path: string, anchors: list, languages: list, frameworks: list, build_systems: list, build_commands: list, lockfiles: list, *: any}',
  project_walk_tree_native: 'list<{dir: string, path: string, structure_hash: string, content_hash: string}>',
  provider_capabilities: '{provider: string, model: any, native_tools: bool, max_tools: int | nil, thinking: bool, *: any}',
  query_parse: 'list<{key: string, value: string}>',
  regex_captures: 'list<{match: string, groups: list, *: any}>',
  render_with_provenance: '{text: string, template_uri: string, prompt_id: string, spans: list}',
  resume_agent: WORKER,
  run_record_diff:
    '{identical: bool, status_changed: bool, left_run_id: string, right_run_id: string, stage_diffs: list, tool_diffs: list, *: any}',
  run_record_eval: '{pass: bool, failures: list<string>, stage_count: int}',
  run_record_eval_suite: SUITE,
  run_record_save: '{path: string, run: dict}',
  runtime_context: CONTEXT,
  runtime_paths: '{execution_root: string, asset_root: string, state_root: string, run_root: string, worktree_root: string}',
  scan_directory: 'list<{path: string, size: int, modified: int, is_dir: bool}>',
  secret_scan:
    'list<{detector: string, title: string, source: string, redacted: string, fingerprint: string, line: int, column_start: int, ' +
    'column_end: int, start_offset: int, end_offset: int}>',
  session_from_cookies: SESSION,
  session_verify: SESSION,
  shared_cell: SHARED,
  shared_map: SHARED,
  shared_map_snapshot: '{_type: string, value: any, version: int}',
  shared_snapshot: '{_type: string, value: any, version: int}',
  shell: COMMAND,
  shell_at: COMMAND,
  spawn_agent: WORKER,
  sse_receive: '{type: string, event?: string, data?: any, id?: any, retry_ms?: any, *: any} | nil',
  sse_server_mock_receive: '{type: string, *: any} | nil',
  sse_server_response:
    '{type: string, id: string, status: int, headers: dict, body: any, streaming: bool, max_event_bytes: int, max_buffered_events: int}',
  sse_server_status:
    '{id: string, status: int, headers: dict, sent_events: int, flushed_events: int, buffered_events: int, closed: bool, ' +
    'disconnected: bool, cancelled: bool, cancel_reason: string | nil, max_event_bytes: int, max_buffered_events: int}',
  stat: '{size: int, is_file: bool, is_dir: bool, readonly: bool, modified: float}',
  sub_agent_run: '{error: any, *: any}',
  supervisor_events: 'list<{seq: int, at_ms: int, supervisor_id: string, kind: string, child: any, message: any}>',
  supervisor_metrics: SUPERVISOR_COUNTS,
  supervisor_start: '{_type: string, id: string, name: string}',
  supervisor_state: SUPERVISOR,
  supervisor_stop: SUPERVISOR,
  tar_extract: 'list<{path: string, content: bytes, mode: int}>',
  task_current: CONTEXT,
  timer_start: '{name: string, start_ms: int}',
  tool_parse_call: 'list<{name: string, arguments: any}>',
  tool_surface_validate: '{valid: bool, diagnostics: list}',
  trace_spans:
    'list<{span_id: int, parent_id: int | nil, kind: string, name: string, start_ms: int, duration_ms: int, metadata?: dict}>',
  trace_start: '{trace_id: string, span_id: string, name: string, start_ms: int}',
  transcript: TRANSCRIPT,
  transcript_abandon: TRANSCRIPT,
  transcript_add_asset: TRANSCRIPT,
  transcript_archive: TRANSCRIPT,
  transcript_compact: TRANSCRIPT,
  transcript_events: `list<${EVENT}>`,
  transcript_events_by_kind: `list<${EVENT}>`,
  transcript_fork: TRANSCRIPT,
  transcript_from_messages: TRANSCRIPT,
  transcript_import: TRANSCRIPT,
  transcript_messages: `list<${MESSAGE}>`,
  transcript_reset: TRANSCRIPT,
  transcript_resume: TRANSCRIPT,
  transcript_stats:
    '{message_count: int, user_message_count: int, assistant_message_count: int, tool_call_count: int, tool_result_message_count: int, ' +
    'visible_event_count: int, user_facing_message_count: int}',
  transcript_summarize: TRANSCRIPT,
  trigger_fire: DISPATCH,
  trigger_list: `list<${TRIGGER}>`,
  trigger_register: TRIGGER,
  trigger_replay: DISPATCH,
  trigger_test_harness: '{ok: bool, fixture: string, summary: string, *: any}',
  trust_graph_policy_for: POLICY,
  trust_graph_query:
    '{agent: string, action: any, total: int, successes: int, failures: int, denied: int, timeouts: int, success_rate: float, *: any}',
  trust_graph_verify_chain:
    '{verified: bool, total: int, errors: list, topic: string, root_hash: string | nil, broken_at_event_id: int | nil}',
  trust_record:
    '{record_id: string, agent: string, action: string, approver: string | nil, outcome: string, trace_id: any, timestamp: any, *: any}',
  url_parse:
    '{scheme: string, host: string | nil, port: int | nil, path: string, query: string | nil, fragment: string | nil, ' +
    'username: string | nil, password: string | nil}',
  verify_signed_url:
    '{valid: bool, reason: any, claims: dict, kid: string | nil, expires_at: int | nil, expired: bool, signature_valid: bool}',
  waitpoint_cancel: WAITPOINT,
  waitpoint_complete: WAITPOINT,
  waitpoint_create: WAITPOINT,
  waitpoint_wait:
    '{wait_id: string, status: string, waitpoint_ids: list<string>, waitpoints: list, started_at: string, resolved_at: any, reason: any, *: any}',
  walk_dir: 'list<{path: string, is_dir: bool, is_file: bool, depth: int}>',
  websocket_receive: '{type: string, data?: any, data_base64?: string, code?: int, reason?: string, *: any} | nil',
  websocket_server: '{id: string, addr: string, url: string}',
  worker_trigger: WORKER,
  workflow_clone: GRAPH,
  workflow_commit: GRAPH,
  workflow_diff: '{changed: bool, left: any, right: any, *: any}',
  workflow_execute: '{status: string, run: dict, artifacts: list, transcript: any, path: any}',
  workflow_graph: GRAPH,
  workflow_insert_node: GRAPH,
  workflow_inspect: `{graph: ${GRAPH}, validation: ${VALIDATION}, node_count: int, edge_count: int}`,
  workflow_policy_report: `{workflow_policy: any, ceiling: any, nodes: list, validation: ${VALIDATION}}`,
  workflow_replace_node: GRAPH,
  workflow_rewire: GRAPH,
  workflow_set_auto_compact: GRAPH,
  workflow_set_context_policy: GRAPH,
  workflow_set_model_policy: GRAPH,
  workflow_set_output_visibility: GRAPH,
  workflow_validate: VALIDATION,
  x25519_keypair: KEYPAIR,
  zip_extract: 'list<{path: string, content: bytes}>',
}
