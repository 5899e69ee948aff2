// What every run has without touching the world: time (from the run's own clock), randomness, and a place for trace records.

import { answered, provider, runtimeError } from '../../tools/executors/provider.js'
import type { Provider, ProviderSource } from '../../tools/executors/provider.js'

/** Gives `count` random bytes. */
export type RandomSource = (count: number) => Uint8Array

/** The operating system's randomness; it exists in Node and in browsers. */
export const systemRandom: RandomSource = (count) => {
  if (count <= SMALL) return takeFromPool(count)
  const bytes = new Uint8Array(count)
  // getRandomValues refuses more than 65,536 bytes at once.
  for (let at = 0; at < count; at += 65_536) globalThis.crypto.getRandomValues(bytes.subarray(at, Math.min(count, at + 65_536)))
  return bytes
}

/** Ids take 16 bytes each, and a call into the system takes as long for a thousand. */
const SMALL = 64
const pool = { bytes: new Uint8Array(1024), used: 1024 }

/** Bytes are given out once, and are not in the pool any more afterwards. */
function takeFromPool(count: number): Uint8Array<ArrayBuffer> {
  if (pool.used + count > pool.bytes.length) {
    globalThis.crypto.getRandomValues(pool.bytes)
    pool.used = 0
  }
  const from = pool.used
  pool.used += count
  const taken = pool.bytes.slice(from, pool.used)
  pool.bytes.fill(0, from, pool.used)
  return taken
}

/** Repeatable bytes for tests: splitmix32 over the seed. */
export function seededRandom(seed: number): RandomSource {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) & 0xff
  }
  return (count) => Uint8Array.from({ length: count }, next)
}

const MOST_RANDOM_BYTES = 16 << 20

/** Effects `clock.*`: time is what the run's clock says. The monotonic clock counts from the start of the run. */
export function clockProvider(): ProviderSource {
  return ({ startedAt }) => ({
    kinds: ['clock.now', 'clock.monotonic', 'clock.zone'],
    perform(effect, call) {
      switch (effect.kind) {
        case 'clock.now':
          return answered(call.now)
        case 'clock.monotonic':
          return answered(Math.max(0, call.now - startedAt))
        default: {
          const { timeZone } = new Intl.DateTimeFormat('en-US').resolvedOptions()
          return answered({ name: timeZone, offsetMinutes: -new Date(call.now).getTimezoneOffset() })
        }
      }
    },
  })
}

export function randomProvider(random: RandomSource = systemRandom): Provider {
  return provider({
    kinds: ['random.bytes'],
    perform(effect) {
      const { count } = effect.args
      if (!Number.isSafeInteger(count) || count < 0 || count > MOST_RANDOM_BYTES)
        return runtimeError(`random.bytes: count must be between 0 and ${MOST_RANDOM_BYTES}`)
      return answered(random(count))
    },
  })
}

/** Hands finished spans on; without a sink they are dropped, and the run does not notice. */
export function traceProvider(sink?: (name: string, attributes: unknown) => void): Provider {
  return provider({
    kinds: ['trace.emit'],
    perform(effect) {
      sink?.(effect.args.name, effect.args.attributes)
      return answered(null)
    },
  })
}
