// Families of MCP servers and clients. Loaded when a script names one of them.

import type { BuiltinFamily } from '@bridle/vm'
import { mcpServeFamily } from '../../tools/servers/serve.js'
import { mcpFamily } from '../../tools/servers/mcp.js'
import { withOptionShapes } from './option-shapes.js'

export function makeMcpFamilies(): readonly BuiltinFamily[] {
  return [mcpFamily, mcpServeFamily].map(withOptionShapes)
}
