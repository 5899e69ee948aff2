// Where the event log of a run is.

import { defineHostSlot } from '@bridle/vm/families'

/**
 * `run`: in the machine, for the length of the run. `host`: a provider of `event_log.op` keeps it as well, for others and for later runs;
 * what the run reads comes from there.
 */
export type EventLogPlace = 'run' | 'host'

/** Given again with a restore and a replay. */
export const EVENT_LOG_PLACE = defineHostSlot<EventLogPlace>('event_log_place', 'run')
