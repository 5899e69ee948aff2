// Amounts of time as scripts write them: numbers of milliseconds, durations, and text such as `5s`.

import { HarnDuration, HarnFloat } from '../values/scalars.js'
import type { Value } from '../values/value.js'

/** Milliseconds behind an int, a float or a duration. */
export function toMillis(value: Value | undefined): number | null {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  if (value instanceof HarnFloat) return Math.trunc(value.v)
  return value instanceof HarnDuration ? Number(value.ms) : null
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Milliseconds of an int, a float, a duration, or text such as `5s`; null for anything else. */
export function parseMillis(value: Value | undefined): number | null {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  if (value instanceof HarnFloat) return Math.round(value.v)
  if (value instanceof HarnDuration) return Number(value.ms)
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)?$/.exec(value.trim()) : null
  return match === null ? null : Math.round(Number(match[1]) * UNITS[match[2] ?? 'ms']!)
}
