// Families that are loaded at the start: what scripts call in inner loops, all methods, and what the machine itself needs.
// The others are in groups that are loaded when one of their names is first looked up (later-families.ts).

import { atomicsFamily } from './atomics.js'
import { channelsFamily } from './channels.js'
import { coreFamily } from './core.js'
import { dictsFamily } from './dicts.js'
import { iterFamily } from './iter-methods.js'
import { libraryFamily } from './library.js'
import { listsFamily } from './lists.js'
import { mathFamily } from './math.js'
import { rangesFamily } from './ranges.js'
import { resultsFamily } from './results.js'
import { setsFamily } from './sets.js'
import { streamsFamily } from './streams.js'
import { stringsFamily } from './strings.js'
import { traceLogFamily } from './trace-log.js'
import { withCharges } from './family-charges.js'
import type { BuiltinFamily } from './registry.js'

export const CORE_FAMILIES: readonly BuiltinFamily[] = withCharges([
  atomicsFamily,
  channelsFamily,
  coreFamily,
  dictsFamily,
  iterFamily,
  libraryFamily,
  listsFamily,
  mathFamily,
  rangesFamily,
  resultsFamily,
  setsFamily,
  streamsFamily,
  stringsFamily,
  traceLogFamily,
])
