// `@bridle/stdlib-tools/mcp`: MCP servers as a power that a host gives to its runs, and scripts as servers. Needs Node; the SDK is loaded
// when the first connection is made.

export { mcpProvider, McpConnections } from './provider.js'
export type { McpOptions } from './provider.js'
export { readServerConfig } from './config.js'
export type { McpServerDeclaration } from './config.js'
export { McpConnection, McpFailure } from './connection.js'
export type { McpConnectionOptions, McpProgress, McpServerConfig, McpServerRequestHandler } from './connection.js'
export { McpServerConnection, PROTOCOL_VERSION, RpcError } from './server.js'
export type { Json, JsonObject, ListName, McpBackend, RequestScope, ServerIdentity } from './server.js'
export type { RegisteredOptions } from './server-registered.js'
export { RegisteredBackend, ServeError } from './server-registered.js'
export { ExportedBackend, exportedFunctionsOf } from './server-exports.js'
export type { ExportedOptions } from './server-exports.js'
export { StreamTransport } from './server-stdio.js'
export { serveHttp } from './server-http.js'
export type { HttpServer, HttpServerOptions } from './server-http.js'
