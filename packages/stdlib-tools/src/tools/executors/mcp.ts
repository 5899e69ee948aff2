// Executor `mcp_server`: asks a server that the host declared by name. The result is what `mcp_call` would give: the text of a
// single text content, the structured content where there is no other, else the list of contents.

import type { EffectOutcome, Plain } from '@bridle/vm'
import { makeFailed, makeResult } from './executor.js'
import type { Executor } from './executor.js'
import type { ToolOutcome } from './outcome.js'

/** What the executor needs of the MCP connections of a run (mcp/provider.ts). */
export interface McpToolCaller {
  callTool(
    server: string,
    tool: string,
    args: { readonly [key: string]: Plain },
    signal: AbortSignal,
    timeoutMs?: number,
    progress?: (event: unknown) => void,
    /** Goes to the server as `_meta`. */
    meta?: { readonly [key: string]: Plain },
  ): Promise<EffectOutcome>
  isReadOnlyTool(server: string, tool: string, signal: AbortSignal): Promise<boolean>
}

export function makeMcpExecutor(servers: McpToolCaller | null): Executor {
  return {
    name: 'mcp_server',
    async call(call, { signal }) {
      const { mcp_server: server, mcp_tool: name } = call.target
      if (servers === null)
        return makeFailed('not_registered', `Tool '${call.tool}' is served by MCP, and this host has no MCP servers`)
      if (server === undefined || server === null) return makeFailed('invalid_args', `Tool '${call.tool}' names no MCP server`)
      const outcome = await servers.callTool(
        server,
        name ?? call.tool,
        call.args,
        signal,
        call.timeoutMs ?? undefined,
        call.progress,
        call.meta,
      )
      return outcome.ok ? readToolResult(outcome.value) : toTransportFailure(outcome.error.message)
    },
    isReadOnly: (call, { signal }) => {
      const server = call.target.mcp_server ?? null
      return servers !== null && server !== null && servers.isReadOnlyTool(server, call.target.mcp_tool ?? call.tool, signal)
    },
  }
}

function readToolResult(value: Plain): ToolOutcome {
  const { content, isError, structuredContent } = record(value)
  const items = Array.isArray(content) ? (content as readonly Plain[]) : []
  const texts = items
    .map(record)
    .filter((item) => item['type'] === 'text' && typeof item['text'] === 'string')
    .map((item) => String(item['text']))
  if (isError === true) return makeFailed('execution_failed', texts.length > 0 ? texts.join('\n') : JSON.stringify(value))
  if (items.length === 1 && texts.length === 1) return makeResult(texts[0]!)
  return makeResult(items.length === 0 ? (structuredContent ?? null) : items)
}

function toTransportFailure(message: string): ToolOutcome {
  if (/^MCP: server did not respond/.test(message)) return makeFailed('timeout', message)
  if (/^(MCP: server closed connection|MCP (read|write) error|MCP HTTP)/.test(message)) return makeFailed('connection', message)
  if (/failed to spawn|no server named/.test(message)) return makeFailed('provider_unavailable', message)
  if (/was cancelled$/.test(message)) return makeFailed('cancelled', message)
  if (/ is not allowed by this host$/.test(message)) return { kind: 'rejected', code: 'policy_violation', message }
  if (/^MCP error \(-3260[12]\)/.test(message)) return makeFailed('invalid_args', message)
  if (message === 'MCP authorization required') return makeFailed('auth', message)
  return makeFailed('execution_failed', message)
}

function record(value: Plain): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as { readonly [key: string]: Plain })
    : {}
}
