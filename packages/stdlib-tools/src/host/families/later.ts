// Families that a registry knows by name only until one of their names is looked up. A thousand definitions take several
// milliseconds to make, of which most scripts need a few dozen; the bundle of the command does not even read their code before.

import { jsonFamilies } from '@bridle/vm/families'
import type { LaterFamilies } from '@bridle/vm/families'
import { agentFamilies } from './agents.js'
import { commonFamilies } from './common.js'
import { AGENT_NAMES, COMMON_NAMES, JSON_NAMES } from './later-names.generated.js'

export const LATER_FAMILIES: readonly LaterFamilies[] = [
  { ...JSON_NAMES, load: jsonFamilies },
  { ...COMMON_NAMES, load: commonFamilies },
  { ...AGENT_NAMES, load: agentFamilies },
]
