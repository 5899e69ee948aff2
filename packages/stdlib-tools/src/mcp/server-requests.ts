// Requests of servers to us, in all revisions: answered by the handlers of the host, under its rules.

import type { Plain } from '@bridle/vm'

/** A request that the server makes of us, such as `sampling/createMessage`; the result goes back as it is. */
export type McpServerRequestHandler = (params: Plain, signal: AbortSignal) => Promise<{ readonly [key: string]: unknown }>

export type McpServerRequestHandlers = { readonly [method: string]: McpServerRequestHandler }

/** Methods a server may call that have no handler get an answer that says so, with the feature's name. */
const SERVER_FEATURES: ReadonlyMap<string, string> = new Map([
  ['roots/list', 'roots'],
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['tasks/get', 'tasks'],
  ['tasks/result', 'tasks'],
  ['tasks/list', 'tasks'],
  ['tasks/cancel', 'tasks'],
])

export function listCapabilities(handlers: McpServerRequestHandlers): { [name: string]: object } {
  const out: { [name: string]: object } = {}
  for (const [method, feature] of SERVER_FEATURES) if (handlers[method] !== undefined) out[feature] = {}
  return out
}

export async function serve(
  handlers: McpServerRequestHandlers,
  method: string,
  params: Plain,
  signal: AbortSignal,
): Promise<{ [key: string]: unknown }> {
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined
  if (handler !== undefined) {
    const result = await handler(params, signal)
    return method === 'elicitation/create' ? withDefaults(result, params) : { ...result }
  }
  const feature = SERVER_FEATURES.get(method)
  if (feature === undefined) throw Object.assign(new Error(`Method not found: ${method}`), { code: -32601 })
  throw Object.assign(new Error(`Unsupported MCP method: ${method}`), {
    code: -32601,
    data: {
      type: 'mcp.unsupportedFeature',
      protocolVersion: '2025-11-25',
      method,
      feature,
      role: 'client',
      status: 'unsupported',
      reason: `this host has no handler for ${feature}`,
    },
  })
}

/** An accepted form has the defaults of its schema where the person left something out. */
function withDefaults(result: { readonly [key: string]: unknown }, params: Plain): { [key: string]: unknown } {
  const { requestedSchema } = params as { readonly requestedSchema?: { readonly properties?: unknown } }
  if (result['action'] !== 'accept' || typeof requestedSchema?.properties !== 'object') return { ...result }
  const content = { ...(result['content'] as { readonly [key: string]: unknown } | undefined) }
  for (const [name, schema] of Object.entries(requestedSchema.properties as { readonly [name: string]: unknown })) {
    const given = (schema as { readonly default?: unknown } | null)?.default
    if (given !== undefined && !Object.hasOwn(content, name)) content[name] = given
  }
  return { ...result, content }
}
