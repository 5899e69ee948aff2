// Who may answer in place of people.

import { defineHostSlot } from '@bridle/vm/families'

/**
 * What may answer a script's questions to people, beside the people that the host has. `none`: nothing, so that no script approves
 * what it asks for. `mocks`: a host mock that the script made, for your own scripts. `script`: whatever the script adds to the
 * log of answers too, and a request without a possible answer waits: for tests.
 */
export type StandIns = 'none' | 'mocks' | 'script'

/** Given again with a restore and a replay. */
export const STAND_INS = defineHostSlot<StandIns>('stand_ins', 'none')
