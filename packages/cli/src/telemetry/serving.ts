// Requests of clients of `bridle serve mcp`, as spans and durations: one SERVER span per request, below the span of the client in
// `_meta`. Runs that answer the request are below it.

import type { JsonObject, McpBackend, RequestScope } from '@bridle/stdlib-tools/mcp'
import { traceRequests } from './telemetry.js'
import type { ServedRequest } from './variables.js'

/** The same backend, traced when telemetry is on. */
export function withServerTelemetry(backend: McpBackend, transport: 'pipe' | 'tcp'): McpBackend {
  const trace = traceRequests()
  if (trace === null) return backend
  const { callTool, getPrompt, readResource } = backend
  const isFailed = (result: JsonObject): boolean => result['isError'] === true
  const describe = ({ client: { revision } }: RequestScope, params: JsonObject): Omit<ServedRequest, 'method'> => ({
    meta: readMeta(params),
    transport,
    ...(revision === undefined ? {} : { revision }),
  })
  return Object.assign(backend, {
    callTool: (name, params, scope) =>
      trace(
        { method: 'tools/call', tool: name, ...describe(scope, params) },
        () => callTool.call(backend, name, params, scope),
        isFailed,
      ),
    getPrompt: (name, params, scope) =>
      trace({ method: 'prompts/get', prompt: name, ...describe(scope, params) }, () =>
        getPrompt.call(backend, name, params, scope),
      ),
    readResource: (uri, scope) =>
      trace({ method: 'resources/read', uri, ...describe(scope, {}) }, () => readResource.call(backend, uri, scope)),
  } satisfies Partial<McpBackend>)
}

function readMeta(params: JsonObject): ServedRequest['meta'] {
  const meta = params['_meta']
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return {}
  return Object.fromEntries(Object.entries(meta).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
