// Keys of the options of builtins whose definitions do not say them, because their code reads them in other places: a row a builtin.

import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'

type Shapes = NonNullable<BuiltinDef['shapes']>

const COOKIE = `
  path: string -- path below which the cookie is sent
  domain: string -- domain that it is sent to
  max_age: int (s) -- how long it is kept
  expires: string -- date at which it ends
  http_only: bool -- hides it from scripts of the page
  secure: bool -- is sent over TLS alone
  same_site: string -- "lax", "strict" or "none"
  maxAge: int (s) -- as max_age
  httpOnly: bool -- as http_only
  sameSite: string -- as same_site
  *: any -- other spellings of these
`
const STREAM = `
  max_events: int = 10000 -- events that are kept until they are read
  max_message_bytes: int (bytes) = 1048576 -- limit of one message
`
const SIGNING = `
  kid: string -- name of the key
  *: any -- names of the parameters of the query
`
const POOL = `
  *: any -- options of the driver
`
const SCAN = `
  tiers: list<string> = ["ambient"] -- how much is read
  depth: int = 3 -- folders below the first
  include_hidden: bool = false -- with names that begin with a dot
  include_vendor: bool = false -- with folders of dependencies
  respect_gitignore: bool = true -- leaves out what git does
  *: any -- other settings of the scan
`

/** By builtin and parameter. */
const MORE_OPTION_SHAPES: Readonly<Record<string, Shapes>> = {
  agent: { config: '*: any -- options of agent_loop, which the agent begins its loops with' },
  assemble_context: {
    options: `
      artifacts: list -- what the context is made of
      budget_tokens: int (tokens) = 8000 -- limit of the context
      microcompact_threshold: int (tokens) = 2000 -- larger artifacts are split
      dedup: string = "chunked" -- "none", "chunked" or "semantic"
      strategy: string = "relevance" -- "relevance", "recency" or "round_robin"
      query: string -- what the context is for
      semantic_overlap: float = 0.85 -- from which on two chunks are the same
      ranker_callback: closure -- gives a number for each chunk
    `,
  },
  command_llm_risk_scan: { options: '*: any -- options of llm_call for the question' },
  command_policy: {
    config: `
      tools: list -- tools that the policy is for
      workspace_roots: list<string> -- folders that commands may work in
      default_shell_mode: string = "argv_only" -- how commands are given
      deny_patterns: list<string> -- commands that are refused
      require_approval: list<string> -- risks that a person is asked for
      *: any -- hooks of the policy
    `,
  },
  context_pack_suggestions: {
    options: `
      min_occurrences: int = 2 -- events that make a group
      owner: string -- who the packs belong to
    `,
  },
  cookie_delete: { options: COOKIE },
  cookie_serialize: { options: COOKIE },
  session_cookie: { options: COOKIE },
  egress_policy: {
    config: `
      allow: list -- hosts that may be reached
      deny: list -- hosts that may not
      default: string = "allow" -- what becomes of others
      *: any -- other rules
    `,
  },
  friction_record: {
    options: `
      enabled: bool = true -- false stores nothing
      log_path: string -- file that the event is appended to
      path: string -- the same
    `,
  },
  http_server_security_headers: { config: '*: any -- a description of TLS, or its keys' },
  http_server_tls_edge: {
    options: `
      hsts: bool = true -- sends Strict-Transport-Security
      hsts_max_age_seconds: int (s) = 31536000 -- how long that holds
      hsts_include_subdomains: bool -- also below the domain
      hsts_preload: bool -- asks for the list of browsers
    `,
  },
  llm_healthcheck: {
    options: `
      api_key: string -- key to ask with
      warm: bool -- loads the model
      model: string -- the model to load
      *: any -- options of the provider
    `,
  },
  llm_mock: {
    config: `
      text: string -- text of the answer
      *: any -- tool_calls, match, error and other parts of the answer
    `,
  },
  llm_pick_model: { options: 'provider: string -- provider to choose from' },
  llm_rate_limit: { options: 'rpm: int (calls per minute) -- limit; 0 takes it away' },
  load_skill: { options: '*: any -- arguments of the skill' },
  mcp_prompt: {
    config: `
      name: string -- name of the prompt
      handler: closure -- gives its text
      title: string -- for people
      description: string -- what it is for
      arguments: list<dict> -- what the handler is given
      complete: dict -- what an argument may be, by its name: a list, or a closure that gives one
    `,
  },
  mcp_resource: {
    config: `
      uri: string -- address of the resource
      name: string -- its name
      text: string -- its content
      blob: bytes|string -- its content, where that is no text; a string is base64
      subscribe: bool = false -- clients may ask to be told when it is registered again with another content
      title: string -- for people
      description: string -- what it holds
      mime_type: string -- type of the content
    `,
  },
  mcp_resource_template: {
    config: `
      uri_template: string -- addresses, with parts in braces
      name: string -- name of the template
      handler: closure -- gives the content for the parts
      title: string -- for people
      description: string -- what it holds
      mime_type: string -- type of the content
      complete: dict -- what a part may be, by its name: a list, or a closure that gives one
    `,
  },
  monitor_wait_for_native: {
    options: `
      source: any -- what is looked at
      condition: closure -- whether the wait is over
      timeout: duration|int -- how long at most
      poll_interval: duration|int -- time between two looks
      *: any -- settings of the source
    `,
  },
  multipart_form_data: { options: 'boundary: string -- text between the parts' },
  multipart_parse: {
    options: `
      max_total_bytes: int (bytes) = 8388608 -- limit of the body
      max_field_bytes: int (bytes) = 8388608 -- limit of one field
      max_fields: int = 128 -- limit of fields
    `,
  },
  pg_connect: { options: POOL },
  pg_pool: { options: POOL },
  pg_transaction: { options: POOL },
  project_scan_native: { options: SCAN },
  project_scan_tree_native: { options: SCAN },
  project_walk_tree_native: { options: SCAN },
  provider_register: { config: '*: any -- description of the provider' },
  register_tool_hook: {
    config: `
      pattern: string = "*" -- names of tools, with \`*\`
      deny: any -- refuses the calls, with this text
      max_output: int (bytes) -- longer results are shortened
    `,
  },
  scan_directory: {
    options: `
      pattern: string -- part of the path, with \`*\` and \`**\`
      max_depth: int = 5 -- folders below the first
      include_hidden: bool = false -- with names that begin with a dot
      include_dirs: bool = true -- folders too
      include_files: bool = true -- files too
    `,
  },
  shared_scope_id: { options: '*: any -- names of the scope' },
  signed_url: { options: SIGNING },
  verify_signed_url: {
    options: `
      skew_seconds: int (s) -- how much clocks may differ
      *: any -- names of the parameters of the query
    `,
  },
  skill_define: { config: '*: any -- description, prompt and other parts of the skill' },
  spawn_agent: {
    config: `
      task: string -- what is to be done
      name: string = "worker" -- name of the worker
      wait: bool -- waits for the result
      node: dict -- the one stage of the work
      graph: dict -- several stages
      tools: list -- names of tools
      policy: dict -- what it may do
      permissions: dict -- which tools it may call
      carry: any -- what is taken along of the transcript
      artifacts: list -- what it begins with
      transcript: any -- transcript that it goes on with
      execution: dict -- where it works
      audit: dict -- for the records
      options: dict -- options of agent_loop
      *: any -- other parts of the request
    `,
  },
  sse_connect: {
    options: `
      ${STREAM}
      *: any -- options of a request
    `,
  },
  sse_event: { options: '*: any -- fields of the event' },
  sse_server_send: { options: '*: any -- fields of the event' },
  sub_agent_run: {
    options: `
      background: bool -- gives a handle at once
      carry: any -- what is taken along of the transcript
      returns: dict -- schema of the result
      allowed_tools: list<string> -- tools of the caller that it may use
      name: string = "sub-agent" -- its name
      execution: dict -- where it works
      system: string -- system prompt
      session_id: string -- session that it goes on with
      *: any -- options of agent_loop
    `,
  },
  workflow_execute: { options: '*: any -- limits, files, replay, what nodes leave open, lineage' },
  daemon_spawn: {
    config: `
      task: string -- what the loop begins with; \`prompt\` is the same
      prompt: string -- the same
      persist_path: string -- the folder of the daemon; \`state_dir\` is the same
      state_dir: string -- the same
      name: string -- its name; the id without one
      system: string -- system prompt
      session_id: string -- session of the loop
      event_queue_capacity: int = 1024 -- events that may wait; \`queue_capacity\` is the same
      queue_capacity: int -- the same
      options: dict -- options of agent_loop
      *: any -- options of agent_loop
    `,
  },
  trigger_register: { config: '*: any -- id, kind, provider, handler, predicate, budget, retries, tier' },
  workflow_graph: { config: '*: any -- nodes, edges, entry, policies; or `act`, `verify` and `repair`' },
  tool_surface_validate: { options: '*: any -- rules of the check' },
  tool_synthesize: { config: '*: any -- description of the tool' },
  transcript_compact: {
    options: `
      strategy: string -- how the older part is compacted
      compact_strategy: string -- the same
      keep_last: int = 12 -- messages that stay as they are
      target_tokens: int (tokens) -- nothing is done below it
      summarize_prompt: string -- asks the model for the summary
      summary: string -- the summary, without asking
      *: any -- options of the model call
    `,
  },
  transcript_fork: { options: '*: any -- what is kept of the transcript' },
  transcript_reset: { options: '*: any -- what is kept of the transcript' },
  transcript_summarize: {
    options: `
      prompt: string -- asks the model for the summary
      keep_last: int = 6 -- messages that stay as they are
      *: any -- options of llm_call
    `,
  },
  waitpoint_cancel: {
    options: `
      by: string -- who cancels
      reason: string -- why
    `,
  },
  waitpoint_complete: { options: 'by: string -- who completes' },
  waitpoint_create: {
    options: `
      id: string -- its name
      by: string -- who creates it
      metadata: dict -- anything
    `,
  },
  waitpoint_wait: {
    options: `
      timeout: duration|int -- how long at most
      wait_id: string -- name of the wait, for going on with it
    `,
  },
  websocket_connect: {
    options: `
      timeout_ms: int (ms) -- how long connecting may take
      headers: dict -- headers of the request
      auth: dict -- \`{bearer: "…"}\`
      max_messages: int = 10000 -- messages that are kept until they are read
      max_message_bytes: int (bytes) = 1048576 -- limit of one message
      *: any -- options of a request
    `,
  },
  websocket_route: {
    options: `
      auth: dict -- \`{bearer: "…"}\`
      max_messages: int = 10000 -- messages that are kept until they are read
      max_message_bytes: int (bytes) = 1048576 -- limit of one message
      send_buffer_messages: int = 64 -- messages that wait to be sent
      idle_timeout_ms: int (ms) = 30000 -- a silent connection ends after this
    `,
  },
  websocket_server: {
    options: `
      path: string -- path of the first route
      *: any -- options of that route
    `,
  },
}

/** The keys of the options of a builtin by parameter, wherever they are declared; null for one without options. */
export function findOptionShapes({ name, receiver, shapes }: BuiltinDef): Shapes | null {
  if (shapes !== null || receiver !== null) return shapes
  return Object.hasOwn(MORE_OPTION_SHAPES, name) ? (MORE_OPTION_SHAPES[name] ?? null) : null
}

/** The family, whose registry looks the keys up by builtin. */
export function withOptionShapes(family: BuiltinFamily): BuiltinFamily {
  return { ...family, findShapes: findOptionShapes }
}
