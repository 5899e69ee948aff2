// What the exported functions of a connector must not call: they run within the host's own request, without its sandbox.

const EXPORTS: ReadonlySet<string> = new Set(['normalize_inbound', 'poll_tick', 'call', 'activate'])

export function isConnectorExport(name: string): boolean {
  return EXPORTS.has(name)
}

/** Reason → builtins; a name that ends in `*` is a prefix. */
const RESTRICTED: Readonly<Record<string, string>> = {
  'ambient filesystem access is not allowed':
    'append_file copy_file delete_file file_exists list_dir mkdir read_file read_file_bytes read_file_result stat write_file ' +
    'write_file_bytes project_catalog_native project_fingerprint project_scan_native project_scan_tree_native ' +
    'project_walk_tree_native __agent_state_*',
  'process execution is not allowed': 'exec exec_at shell shell_at vision_ocr',
  'LLM calls are not allowed': 'agent_loop llm_call llm_call_safe llm_completion llm_healthcheck llm_stream',
  'MCP/process-backed connector access is not allowed':
    'mcp_call mcp_connect mcp_disconnect mcp_ensure_active mcp_get_prompt mcp_list_prompts mcp_list_resource_templates ' +
    'mcp_list_resources mcp_list_tools mcp_read_resource mcp_server_info',
  'host calls require an explicit host-owned surface': 'host_call host_tool_call host_tool_list',
}

/** Handling an incoming request must not wait for others. */
const INGRESS_REASON = 'outbound network/client calls are not allowed on the ingress hot path'
const OUTBOUND: ReadonlySet<string> = new Set(
  (
    'connector_call http_delete http_download http_get http_patch http_post http_put http_request http_session_request ' +
    'http_stream_close http_stream_info http_stream_open http_stream_read sse_connect sse_receive websocket_accept ' +
    'websocket_connect websocket_receive websocket_route websocket_send websocket_server'
  ).split(' '),
)

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries(RESTRICTED).flatMap(([reason, names]) => names.split(' ').map((name) => [name, reason] as const)),
)

/** Why `handler` must not call `name`; null when it may. */
export function connectorReason(name: string, handler: string): string | null {
  const pattern = name.startsWith('__agent_state_') ? '__agent_state_*' : name
  return REASONS.get(pattern) ?? (handler === 'normalize_inbound' && OUTBOUND.has(name) ? INGRESS_REASON : null)
}
