// MCP servers as tools of a host: `fromMcpServer` connects and makes one tool of each that the server lists. The other way is
// host-backend.ts.

import type { Plain } from '@bridle/vm'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { plainFromHost } from '../tools/host-tools/edge.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { JsonSchema } from '../tools/host-tools/schema.js'
import { describeCause } from '../tools/executors/provider.js'
import { McpConnections } from './provider.js'
import type { McpOptions } from './provider.js'
import type { McpServerDeclaration } from './config.js'

export interface FromMcpOptions extends Omit<McpOptions, 'servers'> {
  /** First part of the tools' names: `files` makes `files.read_file`. None by default. */
  readonly prefix?: string
  /** Only these. */
  readonly only?: readonly string[]
}

export interface McpToolSet {
  readonly tools: readonly Tool[]
  /** Why tools of the server are not among them: a name that is not usable or taken, a schema that cannot be checked. */
  readonly warnings: readonly string[]
  /** Ends the connection and the process behind it. */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A tool as a server lists it. */
export interface ListedTool {
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

const MOST_WARNINGS = 100
const NEVER = new AbortController().signal

/** Connects, lists and wraps. Rejects with ToolError when the server cannot be reached. */
export async function fromMcpServer(server: McpServerDeclaration, options: FromMcpOptions = {}): Promise<McpToolSet> {
  const { prefix, only, ...rest } = options
  const warnings: string[] = []
  const warn = (message: string): void => {
    if (warnings.length < MOST_WARNINGS) warnings.push(message)
    rest.onWarning?.(message)
  }
  const name = prefix ?? 'server'
  const connections = new McpConnections({ ...rest, onWarning: warn, servers: { [name]: server } })
  const close = (): Promise<void> => connections.close()
  try {
    const listed = await connections.listTools(name, NEVER)
    if (!listed.ok) throw new ToolError('provider_unavailable', listed.error.message)
    const tools = readListedTools(listed.value)
      .filter((tool) => only === undefined || only.includes(tool.name))
      .flatMap((tool) => {
        try {
          return [makeServerTool(connections, name, tool, prefix === undefined ? tool.name : `${prefix}.${tool.name}`)]
        } catch (cause) {
          warn(`MCP server '${name}': tool ${JSON.stringify(tool.name)} is left out: ${describeCause(cause)}`)
          return []
        }
      })
    return { tools, warnings, close, [Symbol.asyncDispose]: close }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Throws DefinitionError for one that cannot be a tool here. */
export function makeServerTool(connections: McpConnections, server: string, listed: ListedTool, name: string): Tool {
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
        server,
        listed.name,
        plainFromHost(args) as { readonly [key: string]: Plain },
        signal,
        undefined,
        progress,
      )
      if (!outcome.ok)
        throw new ToolError(/cancelled$/.test(outcome.error.message) ? 'cancelled' : 'connection', outcome.error.message)
      return readResult(outcome.value)
    },
  })
}

/** The checked result of `listTools` of a connection. */
export const readListedTools = (listed: unknown): readonly ListedTool[] => listed as readonly ListedTool[]

/** Structured content when there is any, else the text of a single text, nil for nothing, else the contents as they are. */
function readResult(value: Plain): unknown {
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
