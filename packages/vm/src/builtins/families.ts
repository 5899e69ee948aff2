// All builtin families that belong to the language itself, which four files list by when they are loaded. Families that need a
// provider outside the machine are in @bridle/stdlib-tools; a host may add its own.

import { agentFamilies } from './families-agents.js'
import { commonFamilies } from './families-common.js'
import { CORE_FAMILIES } from './families-core.js'
import { jsonFamilies } from './families-json.js'
import type { BuiltinFamily } from './registry.js'

export const STANDARD_FAMILIES: readonly BuiltinFamily[] = [
  ...CORE_FAMILIES,
  ...jsonFamilies(),
  ...commonFamilies(),
  ...agentFamilies(),
]
