// Times and ids for scripted builtins: the wall clock as scripts see it (a mocked clock counts), and UUIDs ordered by time.

import { HarnBytes, ask, here } from '@bridle/vm/families'
import type { Script } from '@bridle/vm/families'
import { formatUuid, timeUuid } from '../codecs/uuid.js'
import { WALL_CLOCK, clockMs, clockState } from './time.js'

/** Milliseconds since 1970. */
export function* wallMs(): Script<number> {
  const mocked = yield* here((ctx) => ctx.state(clockState).wallMs)
  return mocked ?? clockMs(yield* ask(WALL_CLOCK))
}

/** Whole seconds since 1970 as text, the form of times in records. */
export function* secondsText(): Script<string> {
  return String(Math.floor((yield* wallMs()) / 1000))
}

export function* timeOrderedId(): Script<string> {
  const millis = Math.floor(yield* wallMs())
  const random = yield* ask({ kind: 'random.bytes', args: { count: 16 } })
  return formatUuid(timeUuid(random instanceof HarnBytes ? random.data : new Uint8Array(16), millis))
}
