// Families that a registry knows by name only until one of their names is looked up. A thousand definitions take several
// milliseconds to make, of which most scripts need a few dozen; the bundle of the command does not even read their code before.

import { makeJsonFamilies } from '@bridle/vm/families'
import type { LaterFamilies } from '@bridle/vm/families'
import { makeAgentFamilies } from './agents.js'
import { makeCommonFamilies } from './common.js'
import { AGENT_NAMES, COMMON_NAMES, JSON_NAMES } from './later-names.generated.js'

export const LATER_FAMILIES: readonly LaterFamilies[] = [
  { ...JSON_NAMES, load: makeJsonFamilies },
  { ...COMMON_NAMES, load: makeCommonFamilies },
  { ...AGENT_NAMES, load: makeAgentFamilies },
]
