// What `bridle serve mcp` does for its clients, as spans and durations: one span of kind SERVER a request, below the span of the client that
// `_meta` names. Runs that answer it are below that.

import type { JsonObject, McpBackend } from '@bridle/stdlib-tools/mcp'
import { traceRequests } from './telemetry.js'
import type { ServedRequest } from './variables.js'

/** The same backend, told of when telemetry is on. */
export function withServerTelemetry(backend: McpBackend): McpBackend {
  const trace = traceRequests()
  if (trace === null) return backend
  const { callTool, getPrompt, readResource } = backend
  const isFailed = (result: JsonObject): boolean => result['isError'] === true
  return Object.assign(backend, {
    callTool: (name, params, scope) =>
      trace(
        { method: 'tools/call', tool: name, meta: readMeta(params) },
        () => callTool.call(backend, name, params, scope),
        isFailed,
      ),
    getPrompt: (name, params, scope) =>
      trace({ method: 'prompts/get', prompt: name, meta: readMeta(params) }, () => getPrompt.call(backend, name, params, scope)),
    readResource: (uri, scope) =>
      trace({ method: 'resources/read', uri, meta: {} }, () => readResource.call(backend, uri, scope)),
  } satisfies Partial<McpBackend>)
}

function readMeta(params: JsonObject): ServedRequest['meta'] {
  const meta = params['_meta']
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return {}
  return Object.fromEntries(Object.entries(meta).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
