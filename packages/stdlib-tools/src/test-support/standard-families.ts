// All builtin families that belong to the language itself, which four files list by when they are loaded. Families that need a
// provider outside the machine are in @bridle/stdlib-tools; a host may add its own.

import { CORE_FAMILIES, makeJsonFamilies } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { makeAgentFamilies } from '../host/families/agents.js'
import { makeCommonFamilies } from '../host/families/common.js'

export const STANDARD_FAMILIES: readonly BuiltinFamily[] = [
  ...CORE_FAMILIES,
  ...makeJsonFamilies(),
  ...makeCommonFamilies(),
  ...makeAgentFamilies(),
]
