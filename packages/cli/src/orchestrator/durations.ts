// Durations and ages on the command line.

import { UsageError } from '../errors.js'

const UNITS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Milliseconds of `50ms`, `0s`, `5m`. Throws UsageError. */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,12})(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  if (digits === undefined || unit === undefined)
    throw new UsageError(`invalid duration '${text}': expected <int><unit> with unit ms, s, m, h, d or w`)
  return Number(digits) * UNITS[unit]!
}

export function formatAge(ms: number | null): string {
  if (ms === null) return '-'
  if (ms < 1000) return `${Math.floor(ms)}ms`
  if (ms < 60_000) return `${Math.floor(ms / 1000)}s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)}h`
  return `${Math.floor(ms / 86_400_000)}d`
}
