// `@bridle/stdlib-tools/gateway`: one MCP server in front of many. Needs Node.

import { serveFetch } from '../mcp/server-fetch.js'
import type { FetchHandler, FetchHandlerOptions } from '../mcp/server-fetch.js'
import { VERSION } from '../version.js'
import type { GatewayConfig } from './config.js'
import { Gateway } from './gateway.js'
import type { GatewayOptions } from './options.js'

export { GatewayConfigError, makeServerName, parseGatewayConfig } from './config.js'
export type { ClientBudgets, GatewayApi, GatewayAuth, GatewayConfig, GatewayServer } from './config.js'
export { Gateway, GatewaySession } from './gateway.js'
export type { AcceptedStore, AcceptedTools, GatewayOptions } from './options.js'
export { serveApprovalPage } from './page.js'
export type { ApprovalPage } from './page.js'
export { fileStore } from './store.js'
export { makeResourceServer } from './tokens.js'
export type { TokenOptions } from './tokens.js'

export const GATEWAY_IDENTITY = { name: 'bridle-gateway', version: VERSION }

export interface GatewayHandlerOptions
  extends GatewayOptions, Pick<FetchHandlerOptions, Exclude<keyof FetchHandlerOptions, 'retryMs' | 'pollAfterMs'>> {}

/**
 * A gateway for hosts that answer `fetch`: `app.all('/mcp', (c) => handler(c.req.raw))` in Hono, `export { handler as GET, handler as POST, handler
 * as DELETE }` in Next. Anyone who reaches it can do what its servers can: set `apiKeys` or `auth`, or put it behind a proxy that authenticates.
 */
export function gatewayHandler(config: GatewayConfig, options: GatewayHandlerOptions = {}): FetchHandler {
  const gateway = new Gateway(config, options)
  const serve = serveFetch(gateway.open, GATEWAY_IDENTITY, options)
  const close = async (): Promise<void> => {
    await serve.close()
    await gateway.close()
  }
  return Object.assign((request: Request) => serve(request), { close })
}
