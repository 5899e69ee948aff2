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
    ['read_file', 'read_file_result', 'read_file_bytes'],
    { capability: 'workspace.read_text', level: null, tail: 'workspace.read_text' },
  ],
  [['list_dir'], { capability: 'workspace.list', level: null, tail: 'workspace.list' }],
  [['file_exists', 'stat'], { capability: 'workspace.exists', level: null, tail: 'workspace.exists' }],
  [
    ['write_file', 'write_file_bytes', 'append_file', 'mkdir', 'copy_file'],
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
    ['llm_call', 'llm_call_safe', 'llm_completion', 'llm_stream', 'llm_healthcheck', '__llm_embed', 'agent_loop'],
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
