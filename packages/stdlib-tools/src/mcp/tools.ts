// MCP servers as tools of a host, and tools of a host as an MCP server: `fromMcpServer` connects and makes one tool of each that
// the server lists, `toMcpServer` gives a backend for the transports of this entry (stdio, streamable HTTP).

import type { Plain } from '@bridle/vm'
import { defineTool } from '../tools/define.js'
import type { Tool } from '../tools/define.js'
import { plainFromHost } from '../tools/edge.js'
import { ToolError } from '../tools/errors.js'
import { createRegistry } from '../tools/registry.js'
import type { JsonSchema } from '../tools/schema.js'
import { McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'
import type { McpServerDeclaration } from './config.js'
import { INVALID_PARAMS, NOT_FOUND, RpcError, json } from './server-protocol.js'
import type { JsonObject, ListName, McpBackend } from './server-protocol.js'

export interface FromMcpOptions extends Omit<McpOptions, 'servers'> {
  /** First part of the tools' names: `files` makes `files.read_file`. None by default. */
  readonly prefix?: string
  /** Only these. */
  readonly only?: readonly string[]
}

export interface McpToolSet {
  readonly tools: readonly Tool[]
  /** Ends the connection and the process behind it. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: {
    readonly readOnlyHint?: boolean
    readonly idempotentHint?: boolean
    readonly destructiveHint?: boolean
  }
}

const NEVER = new AbortController().signal

/** Connects, lists and wraps. Rejects with ToolError when the server cannot be reached. */
export async function fromMcpServer(server: McpServerDeclaration, options: FromMcpOptions = {}): Promise<McpToolSet> {
  const { prefix, only, ...rest } = options
  const connections = new McpConnections({ ...rest, servers: { server } })
  const close = (): Promise<void> => connections.close()
  try {
    const listed = await connections.listTools('server', NEVER)
    if (!listed.ok) throw new ToolError('provider_unavailable', listed.error.message)
    const tools = (listed.value as unknown as readonly ListedTool[])
      .filter((tool) => only === undefined || only.includes(tool.name))
      .map((tool) => wrapped(connections, tool, prefix === undefined ? tool.name : `${prefix}.${tool.name}`))
    return { tools, close, [Symbol.asyncDispose]: close }
  } catch (cause) {
    await close()
    throw cause
  }
}

function wrapped(connections: McpConnections, listed: ListedTool, name: string): Tool {
  const { annotations = {}, outputSchema } = listed
  const sideEffect = annotations.readOnlyHint === true ? 'read_only' : 'network'
  return defineTool({
    name,
    description: listed.description ?? '',
    category: 'mcp',
    effects: ['mcp'],
    sideEffect,
    recovery: annotations.readOnlyHint === true ? 'safe' : annotations.idempotentHint === true ? 'idempotent' : 'once',
    input: { type: 'object', ...listed.inputSchema },
    ...(outputSchema === undefined ? {} : { output: outputSchema }),
    async execute(args, { signal, progress }) {
      const outcome = await connections.callTool(
        'server',
        listed.name,
        plainFromHost(args) as { readonly [key: string]: Plain },
        signal,
        undefined,
        progress,
      )
      if (!outcome.ok)
        throw new ToolError(/cancelled$/.test(outcome.error.message) ? 'cancelled' : 'connection', outcome.error.message)
      return resultOf(outcome.value)
    },
  })
}

/** Structured content when there is any, else the text of a single text, nil for nothing, else the contents as they are. */
function resultOf(value: Plain): unknown {
  const { content, isError, structuredContent } = (value ?? {}) as {
    readonly content?: readonly { readonly type?: string; readonly text?: string }[]
    readonly isError?: boolean
    readonly structuredContent?: unknown
  }
  const items = Array.isArray(content) ? content : []
  const texts = items.flatMap((item) => (item.type === 'text' && typeof item.text === 'string' ? [item.text] : []))
  if (isError === true) throw new ToolError('execution_failed', texts.length === 0 ? JSON.stringify(value) : texts.join('\n'))
  if (structuredContent !== undefined && structuredContent !== null) return structuredContent
  if (items.length === 1 && texts.length === 1) return texts[0]
  return items.length === 0 ? null : items
}

/** A backend of tools alone; serve it with McpServerConnection over any transport, or with serveHttp. */
export function toMcpServer(tools: Iterable<Tool>): McpBackend {
  const registry = createRegistry(tools)
  const listed: readonly JsonObject[] = [...registry].map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: (tool.input?.json ?? { type: 'object' }) as JsonObject,
    // The protocol knows structured results that are objects only.
    ...(tool.output !== null && tool.output.json['type'] === 'object' ? { outputSchema: tool.output.json as JsonObject } : {}),
    annotations: {
      readOnlyHint: tool.sideEffect === 'none' || tool.sideEffect === 'read_only',
      idempotentHint: tool.recovery !== 'once',
    },
  }))
  return {
    kind: 'host',
    list: (name: ListName) => (name === 'tools' ? listed : []),
    async callTool(name, params, scope) {
      const tool = registry.get(name)
      if (tool === undefined) throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`)
      const args = (params['arguments'] ?? {}) as { readonly [key: string]: unknown }
      let steps = 0
      const outcome = await registry.tryCall(name, args, {
        signal: scope.signal,
        progress: (data) => scope.progress(++steps, typeof data === 'string' ? data : JSON.stringify(data)),
      })
      if (!outcome.ok) return { content: [{ type: 'text', text: outcome.error.message }], isError: true }
      const value = json(plainFromHost(outcome.value))
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return {
        content: [{ type: 'text', text }],
        isError: false,
        ...(isObject ? { structuredContent: value } : {}),
      }
    },
    readResource: (uri) => Promise.reject(new RpcError(NOT_FOUND, `Resource not found: ${uri}`)),
    getPrompt: (name) => Promise.reject(new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}`)),
  }
}
