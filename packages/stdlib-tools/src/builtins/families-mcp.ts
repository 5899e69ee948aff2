// Families of MCP servers and clients. Loaded when a script names one of them.

import type { BuiltinFamily } from '@bridle/vm'
import { mcpServeFamily } from '../mcp/server-family.js'
import { mcpFamily } from './mcp.js'

export function mcpFamilies(): readonly BuiltinFamily[] {
  return [mcpFamily, mcpServeFamily]
}
