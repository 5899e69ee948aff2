// The orchestrator as an MCP server: its tools, resources and prompts over JSON-RPC. It answers one message at a time; transports are elsewhere
// (mcp-serve.ts).

import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CommandError } from '../errors.js'
import { VERSION } from '../version.js'
import { describeDeadLetters, inspectDesk } from './commands.js'
import type { Handle } from './commands.js'
import type { Desk } from './desk.js'
import { makeTimeUuid } from './ids.js'
import { readCredentials } from './listener.js'
import { describeTriggers } from './snapshot.js'
import { inspectQueues } from './queue-commands.js'

type Json = { readonly [name: string]: unknown }

export interface RpcMessage {
  readonly jsonrpc?: string
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Json
}

const PROTOCOL = '2025-11-25'
const UNAUTHORIZED = -32_001
const NOT_INITIALIZED = -32_002
const UNKNOWN_METHOD = -32_601
const INVALID_PARAMS = -32_602

class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface DeskTool {
  readonly description: string
  readonly schema: Json
  readonly call: (desk: Desk, args: Json, client: string) => Promise<unknown>
}

const TEXT = { type: 'string' }

function objectSchema(properties: Json, required: readonly string[] = []): Json {
  return { type: 'object', properties, required }
}

const SCAN: DeskTool = {
  description: 'Finds credentials in a text.',
  schema: objectSchema({ content: TEXT }, ['content']),
  call: async (desk, { content }) => desk.ask({ action: 'secret_scan', content }),
}

const TOOLS: { readonly [name: string]: DeskTool } = {
  'harn.trigger.fire': {
    description: 'Dispatches a synthetic event to a trigger.',
    schema: objectSchema({ trigger_id: TEXT, payload: { type: 'object' } }, ['trigger_id']),
    async call(desk, { trigger_id: id, payload }, client) {
      const trace = `mcp_${makeTimeUuid().replaceAll('-', '')}`
      const handle = (await desk.ask({
        action: 'fire',
        id: String(id),
        payload: payload ?? null,
        trace_id: trace,
        headers: { 'x-harn-mcp-client': client, 'x-harn-mcp-trace-id': trace },
      })) as Handle
      const { event_id, status, binding_id, binding_version, dlq_entry_id, error, result } = handle
      return { event_id, status, binding_id, binding_version, dlq_entry_id, error, result }
    },
  },
  'harn.trigger.list': {
    description: 'The bindings of the manifest.',
    schema: objectSchema({}),
    call: async (desk) => describeTriggers(desk),
  },
  'harn.trigger.replay': {
    description: 'Dispatches a recorded event once more.',
    schema: objectSchema({ event_id: TEXT, as_of: TEXT }, ['event_id']),
    call: async (desk, { event_id: id }) => desk.ask({ action: 'replay', event_id: String(id) }),
  },
  'harn.orchestrator.queue': {
    description: 'What waits, what is under way, and what is stranded.',
    schema: objectSchema({}),
    call: async (desk) => inspectQueues(desk),
  },
  'harn.orchestrator.inspect': {
    description: 'Triggers, connectors and recent dispatches.',
    schema: objectSchema({}),
    call: async (desk) => inspectDesk(desk),
  },
  'harn.orchestrator.dlq.list': {
    description: 'Dead letters that are pending.',
    schema: objectSchema({}),
    call: async (desk) => describeDeadLetters(desk),
  },
  'harn.orchestrator.dlq.retry': {
    description: 'Dispatches a dead letter again.',
    schema: objectSchema({ entry_id: TEXT }, ['entry_id']),
    call: async (desk, { entry_id: id }) => desk.ask({ action: 'replay_letter', entry_id: String(id) }),
  },
  'harn.trust.query': {
    description: 'Records of the trust graph.',
    schema: objectSchema({
      agent: TEXT,
      action: TEXT,
      since: TEXT,
      until: TEXT,
      tier: TEXT,
      outcome: TEXT,
      limit: { type: 'integer' },
    }),
    call: async (desk, filters) => desk.ask({ action: 'trust_query', filters }),
  },
  'harn.secret_scan': SCAN,
  'harn::secret_scan': SCAN,
}

const MOST_PROMPT_DEPTH = 4

export class McpDesk {
  private readonly desk: Desk
  private isInitialized = false
  private client = 'unknown'

  constructor(desk: Desk) {
    this.desk = desk
  }

  /** Null: a notification, which has no response. */
  async answer(message: RpcMessage): Promise<Json | null> {
    const { id, method = '', params = {} } = message
    if (id === undefined || id === null) return null
    try {
      return { jsonrpc: '2.0', id, result: await this.call(method, params) }
    } catch (cause) {
      const code = cause instanceof RpcError ? cause.code : -32_603
      return { jsonrpc: '2.0', id, error: { code, message: cause instanceof Error ? cause.message : String(cause) } }
    }
  }

  private async call(method: string, params: Json): Promise<unknown> {
    if (method === 'initialize') return this.initialize(params)
    if (method === 'ping') return {}
    if (!this.isInitialized) throw new RpcError(NOT_INITIALIZED, 'server not initialized')
    switch (method) {
      case 'tools/list':
        return {
          tools: Object.entries(TOOLS).map(([name, { description, schema }]) => ({ name, description, inputSchema: schema })),
        }
      case 'tools/call':
        return this.callTool(params)
      case 'resources/list':
        return { resources: [{ uri: 'harn://manifest', name: 'manifest', mimeType: 'application/toml' }] }
      case 'resources/templates/list':
        return {
          resourceTemplates: [
            { uriTemplate: 'harn://event/{id}', name: 'event', mimeType: 'application/json' },
            { uriTemplate: 'harn://dlq/{id}', name: 'dead letter', mimeType: 'application/json' },
          ],
        }
      case 'resources/read':
        return this.readResource(String(params['uri'] ?? ''))
      case 'prompts/list':
        return { prompts: [...this.findPrompts().keys()].map((name) => ({ name })) }
      case 'prompts/get':
        return this.readPrompt(String(params['name'] ?? ''))
      case 'logging/setLevel':
        return {}
      default:
        throw new RpcError(UNKNOWN_METHOD, `unknown method '${method}'`)
    }
  }

  private initialize(params: Json): object {
    const { apiKeys } = readCredentials()
    if (apiKeys.length > 0) {
      const pick = (...names: readonly string[]): unknown =>
        names.reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Json)[name] : undefined), params)
      const given = [
        pick('capabilities', 'harn', 'apiKey'),
        pick('_meta', 'harn', 'apiKey'),
        pick('capabilities', 'experimental', 'harn', 'apiKey'),
      ]
      if (!given.some((key) => typeof key === 'string' && apiKeys.includes(key))) throw new RpcError(UNAUTHORIZED, 'unauthorized')
    }
    this.isInitialized = true
    const info = params['clientInfo'] as { readonly name?: unknown } | undefined
    if (typeof info?.name === 'string') this.client = info.name
    return {
      protocolVersion: PROTOCOL,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
        logging: {},
      },
      serverInfo: { name: 'harn-orchestrator', title: 'Harn orchestrator', version: VERSION },
      instructions: 'Fires, lists and replays triggers of the project, and shows its queues and dead letters.',
    }
  }

  private async callTool({ name, arguments: args }: { readonly name?: unknown; readonly arguments?: unknown }): Promise<object> {
    const tool = typeof name === 'string' && Object.hasOwn(TOOLS, name) ? TOOLS[name]! : null
    if (tool === null) throw new RpcError(INVALID_PARAMS, `unknown tool '${String(name)}'`)
    const given = (args ?? {}) as Json
    let outcome: object
    try {
      const value = await tool.call(this.desk, given, this.client)
      const structured = Array.isArray(value) ? { items: value } : value
      outcome = {
        content: [{ type: 'text', text: JSON.stringify(value, null, 2) }],
        structuredContent: structured,
        isError: false,
      }
    } catch (cause) {
      if (!(cause instanceof CommandError)) throw cause
      outcome = { content: [{ type: 'text', text: cause.message }], isError: true }
    }
    this.note(String(name), given, (outcome as { readonly isError: boolean }).isError)
    return outcome
  }

  private note(tool: string, args: Json, isError: boolean): void {
    const trace = `mcp_${makeTimeUuid().replaceAll('-', '')}`
    const node = {
      id: `mcp_tool_call:${trace}`,
      label: tool,
      kind: 'mcp_tool_call',
      status: isError ? 'failed' : 'completed',
      outcome: isError ? 'error' : 'success',
      trace_id: trace,
      stage_id: null,
      node_id: null,
      worker_id: null,
      run_id: null,
      run_path: null,
      metadata: { tool, client: this.client, arguments: args },
    }
    const observability = {
      schema_version: 1,
      planner_rounds: [],
      research_fact_count: 0,
      action_graph_nodes: [node],
      action_graph_edges: [],
      worker_lineage: [],
      verification_outcomes: [],
      transcript_pointers: [],
      compaction_events: [],
      daemon_events: [],
    }
    this.desk.append(
      'observability.action_graph',
      'action_graph_update',
      { source: 'mcp', trace_id: trace, event_id: null, context: { source: 'mcp', tool, client: this.client }, observability },
      { trace_id: trace },
    )
  }

  private readResource(uri: string): object {
    const { log, project } = this.desk
    const show = (mimeType: string, text: string): object => ({ contents: [{ uri, mimeType, text }] })
    if (uri === 'harn://manifest') return show('application/toml', readFileSync(project.path, 'utf8'))
    const [, kind, id] = /^harn:\/\/(event|dlq)\/(.+)$/.exec(uri) ?? []
    if (kind === 'event') {
      for (const topic of ['triggers.events', 'trigger.inbox.envelopes']) {
        const found = log.read({ topic }).find(({ payload }) => (payload as { event?: { id?: string } }).event?.id === id)
        if (found !== undefined) return show('application/json', JSON.stringify(found.payload, null, 2))
      }
    }
    if (kind === 'dlq') {
      const found = log
        .read({ topic: 'trigger.dlq', kind: 'dlq_entry' })
        .findLast(({ payload }) => (payload as { readonly id?: string }).id === id)
      if (found !== undefined) return show('application/json', JSON.stringify(found.payload, null, 2))
    }
    throw new RpcError(INVALID_PARAMS, `unknown resource '${uri}'`)
  }

  private findPrompts(): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    const look = (folder: string, depth: number): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name)
        if (entry.isDirectory() && depth < MOST_PROMPT_DEPTH && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          look(path, depth + 1)
        else if (entry.isFile() && entry.name.endsWith('.harn.prompt'))
          found.set(relative(this.desk.project.folder, path).replace(/\.harn\.prompt$/, ''), path)
      }
    }
    look(this.desk.project.folder, 0)
    return found
  }

  private readPrompt(name: string): object {
    const path = this.findPrompts().get(name)
    if (path === undefined) throw new RpcError(INVALID_PARAMS, `unknown prompt '${name}'`)
    return { messages: [{ role: 'user', content: { type: 'text', text: readFileSync(path, 'utf8') } }] }
  }
}
