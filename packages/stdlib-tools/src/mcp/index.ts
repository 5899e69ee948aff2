// `@bridle/stdlib-tools/mcp`: MCP servers as a power that a host gives to its runs, and scripts as servers. Needs Node; the SDK is loaded
// when the first connection is made.

export { mcpProvider, McpConnections } from './provider.js'
export type { McpOptions } from './provider.js'
export { readServerConfig } from './config.js'
export type { McpServerDeclaration } from './config.js'
export { memoryAuthStore } from './oauth.js'
export type { McpAuth, McpAuthStore } from './oauth.js'
export { revokeTokens } from './revoke.js'
export type { Revocation } from './revoke.js'
export { loopbackRedirect } from './loopback.js'
export type { LoopbackRedirect } from './loopback.js'
export { McpConnection, McpFailure } from './connection.js'
export type { McpConnectionOptions, McpProgress, McpServerConfig, McpServerRequestHandler } from './connection.js'
export { McpServerConnection } from './server.js'
export type { ConnectionOptions } from './server.js'
export { serveFetch } from './server-fetch.js'
export type { FetchHandler, FetchHandlerOptions } from './server-fetch.js'
export type { ResourceServer, TokenHolder } from './http-rules.js'
export { PROTOCOL_VERSION, RpcError } from './server-protocol.js'
export type {
  BackendSource,
  Json,
  JsonObject,
  ListName,
  McpBackend,
  McpClientLink,
  McpTransport,
  RequestId,
  RequestScope,
  ServerIdentity,
} from './server-protocol.js'
export type { RegisteredOptions } from './server-registered.js'
export { RegisteredBackend, ServeError } from './server-registered.js'
export { ExportedBackend, parseExportedFunctions } from './server-exports.js'
export type { ExportedOptions } from './server-exports.js'
export { StreamTransport } from '../tools/executors/stream-transport.js'
export { serveHttp } from './server-http.js'
export type { HttpServer, HttpServerOptions } from './server-http.js'
export { toMcpServer } from './host-backend.js'
export type { HostBackend, ServedContext, ServedParts, ServedPrompt, ServedResource, ServedTemplate } from './host-backend.js'
export { fromMcpServer } from './tools.js'
export type { FromMcpOptions, McpToolSet } from './tools.js'
