// `@bridle/stdlib-tools/mcp`: MCP servers as a power that a host gives to its runs. Needs Node for stdio; the SDK is loaded
// when the first connection is made.

export { mcpProvider, McpConnections } from './provider.js'
export type { McpOptions } from './provider.js'
export { readServerConfig } from './config.js'
export type { McpServerDeclaration } from './config.js'
export { McpConnection, McpFailure } from './connection.js'
export type { McpConnectionOptions, McpServerConfig, McpServerRequestHandler } from './connection.js'
