// Medians and quartiles. Means are useless on a shared machine.

export interface Spread {
  readonly low: number
  readonly median: number
  readonly high: number
}

/** Quartiles and median by linear interpolation between neighbours. */
export function spread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (part: number): number => {
    const place = part * (sorted.length - 1)
    const below = Math.floor(place)
    const low = sorted[below] ?? Number.NaN
    return low + (place - below) * ((sorted[below + 1] ?? low) - low)
  }
  return { low: at(0.25), median: at(0.5), high: at(0.75) }
}

export function median(samples: readonly number[]): number {
  return spread(samples).median
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

/** Three significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
