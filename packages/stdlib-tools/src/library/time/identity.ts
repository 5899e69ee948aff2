// Times and ids for scripted builtins: the wall clock as scripts see it (a mocked clock counts), and UUIDs ordered by time.

import { HarnBytes, ask, runHere } from '@bridle/vm/families'
import type { Script } from '@bridle/vm/families'
import { formatUuid, makeTimeUuid } from '../codecs/uuid.js'
import { WALL_CLOCK, toClockMs, clockState } from './time.js'

/** Milliseconds since 1970. */
function* readWallMs(): Script<number> {
  const mocked = yield* runHere((ctx) => ctx.state(clockState).wallMs)
  return mocked ?? toClockMs(yield* ask(WALL_CLOCK))
}

/** Whole seconds since 1970 as text, the form of times in records. */
export function* readSecondsText(): Script<string> {
  return String(Math.floor((yield* readWallMs()) / 1000))
}

export function* makeTimeOrderedId(): Script<string> {
  const millis = Math.floor(yield* readWallMs())
  const random = yield* ask({ kind: 'random.bytes', args: { count: 16 } })
  return formatUuid(makeTimeUuid(random instanceof HarnBytes ? random.data : new Uint8Array(16), millis))
}
