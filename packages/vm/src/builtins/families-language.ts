// Every family that is part of the language, for a machine without a library: tests of the machine, and minimal hosts.

import { bytesFamily } from './bytes.js'
import { CORE_FAMILIES } from './families-core.js'
import { makeJsonFamilies } from './families-json.js'
import { withCharges } from './family-charges.js'
import { mailboxFamily } from './mailbox.js'
import { randomFamily } from './random.js'
import { sharedFamily } from './shared.js'
import { syncFamily } from './sync.js'
import { tasksFamily } from './tasks.js'
import type { BuiltinFamily } from './registry.js'

export const LANGUAGE_FAMILIES: readonly BuiltinFamily[] = [
  ...CORE_FAMILIES,
  ...makeJsonFamilies(),
  ...withCharges([bytesFamily, mailboxFamily, randomFamily, sharedFamily, syncFamily, tasksFamily]),
]
