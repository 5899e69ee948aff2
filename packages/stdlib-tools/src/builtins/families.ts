// All builtins that scripts have: the machine's own and those that belong to this layer.

import { STANDARD_FAMILIES } from '@bridle/vm'
import type { BuiltinFamily } from '@bridle/vm'
import { mcpFamily } from './mcp.js'
import { mcpServeFamily } from '../mcp/server-family.js'

export const allFamilies: readonly BuiltinFamily[] = [...STANDARD_FAMILIES, mcpFamily, mcpServeFamily]
