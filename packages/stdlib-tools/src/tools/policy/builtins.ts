// Which builtins a capability policy holds back, and what each of them needs. The registry puts the check in front
// of every builtin of this table, so that a builtin cannot forget it.

export interface BuiltinNeeds {
  /** `capability.operation`; null when only the side effect counts. */
  readonly capability: string | null
  /** Side-effect level, null when the ceiling does not matter. */
  readonly level: string | null
  /** What the refusal names. */
  readonly tail: string
}

const rows: [names: readonly string[], needs: BuiltinNeeds][] = [
  [
    ['read_file', 'read_file_result', 'read_file_bytes', 'read_lines'],
    { capability: 'workspace.read_text', level: null, tail: 'workspace.read_text' },
  ],
  [['list_dir', 'walk_dir', 'glob'], { capability: 'workspace.list', level: null, tail: 'workspace.list' }],
  [['file_exists', 'stat'], { capability: 'workspace.exists', level: null, tail: 'workspace.exists' }],
  [
    ['write_file', 'write_file_bytes', 'append_file', 'mkdir', 'copy_file', 'move_file'],
    { capability: 'workspace.write_text', level: 'workspace_write', tail: 'workspace write' },
  ],
  [['delete_file'], { capability: 'workspace.delete', level: 'workspace_write', tail: 'workspace.delete' }],
  [['apply_edit'], { capability: 'workspace.apply_edit', level: 'workspace_write', tail: 'workspace.apply_edit' }],
  [['exec', 'exec_at', 'shell', 'shell_at'], { capability: 'process.exec', level: 'process_exec', tail: 'process.exec' }],
  [
    [
      'http_get',
      'http_post',
      'http_put',
      'http_patch',
      'http_delete',
      'http_download',
      'http_request',
      '__http_tool',
      'http_session_request',
      'http_stream_open',
      'http_stream_read',
      'http_stream_info',
      'http_stream_close',
      'sse_connect',
      'sse_receive',
      'websocket_connect',
      'websocket_send',
      'websocket_receive',
      'websocket_close',
      'websocket_accept',
      'websocket_server',
      'websocket_route',
      'websocket_server_close',
    ],
    { capability: null, level: 'network', tail: 'network' },
  ],
  [
    [
      'llm_call',
      'llm_call_safe',
      'llm_call_structured',
      'llm_call_structured_safe',
      'llm_call_structured_result',
      'llm_completion',
      'llm_stream',
      'llm_healthcheck',
      '__llm_embed',
      'agent_loop',
    ],
    { capability: 'llm.call', level: 'network', tail: 'LLM/network' },
  ],
  [['connector_call'], { capability: 'connector.call', level: 'network', tail: 'connector.call/network' }],
  [['secret_get'], { capability: 'connector.secret_get', level: null, tail: 'connector.secret_get' }],
  [['event_log_emit'], { capability: 'connector.event_log_emit', level: null, tail: 'connector.event_log_emit' }],
  [['metrics_inc'], { capability: 'connector.metrics_inc', level: null, tail: 'connector.metrics_inc' }],
  [
    [
      'project_fingerprint',
      'project_scan_native',
      'project_scan_tree_native',
      'project_walk_tree_native',
      'project_catalog_native',
      'project_enrich_native',
    ],
    { capability: 'workspace.list', level: 'read_only', tail: 'workspace.list' },
  ],
  [['vision_ocr'], { capability: 'vision.ocr', level: 'process_exec', tail: 'vision.ocr/process' }],
  [
    [
      'mcp_connect',
      '__mcp_open',
      'mcp_ensure_active',
      'mcp_call',
      'mcp_list_tools',
      'mcp_list_resources',
      'mcp_list_resource_templates',
      'mcp_list_prompts',
      'mcp_read_resource',
      'mcp_get_prompt',
      '__mcp_ask',
      '__mcp_updates',
      'mcp_server_info',
      'mcp_disconnect',
    ],
    { capability: 'process.exec', level: 'process_exec', tail: 'process.exec' },
  ],
  [['host_tool_list', 'host_tool_call'], { capability: 'host.tool_call', level: null, tail: 'host.tool_call' }],
]

const AGENT_STATE: BuiltinNeeds = { capability: 'agent_state.access', level: null, tail: 'agent_state.access' }

const TABLE: ReadonlyMap<string, BuiltinNeeds> = new Map(
  rows.flatMap(([names, needs]) => names.map((name) => [name, needs] as const)),
)

export function findNeeds(builtin: string): BuiltinNeeds | null {
  return TABLE.get(builtin) ?? (builtin.startsWith('__agent_state_') ? AGENT_STATE : null)
}

const LOOPS = ['agent_loop', 'sub_agent_run', 'spawn_agent']
const PEOPLE = ['ask_user', 'request_approval', 'dual_control', 'escalate_to']

/**
 * Hidden builtins that reach the world, with those that scripts are meant to call and that can do as much. Where a host lists the builtins
 * that may be called, one of these is permitted with any of its equals. Those without a row must be listed by their own names.
 */
export const SAME_POWER: ReadonlyMap<string, readonly string[]> = new Map([
  ['__http_tool', ['http_request']],
  ['__env_get', ['env']],
  ['__env_has', ['env']],
  ['__env_list', ['env']],
  ['__ed25519_keygen', ['ed25519_keypair']],
  ['__agent_loop', LOOPS],
  ['__agent_loop_body', LOOPS],
  ['__agent_loop_scope', LOOPS],
  ['__agent_loop_turns', LOOPS],
  ['__worker_body', ['spawn_agent', 'sub_agent_run', 'resume_agent', 'send_input', 'worker_trigger']],
  ['__llm_chat', ['llm_call']],
  ['__llm_embed', ['llm_call']],
  ['__hitl_ask_host', PEOPLE],
  ['__tool_gate', PEOPLE],
  ['__mcp_open', ['mcp_connect']],
  ['__mcp_ask', ['mcp_call']],
  ['__mcp_updates', ['mcp_connect']],
  ['__waitpoint_create', ['waitpoint_create']],
  ['__waitpoint_complete', ['waitpoint_complete']],
  ['__waitpoint_cancel', ['waitpoint_cancel']],
  ['__waitpoint_wait', ['waitpoint_wait']],
])
