// Statistics over a list of numbers. All return floats.

import { builtin } from './builtin.js'
import type { BuiltinDef, Context, Result } from './builtin.js'
import { readNumber } from './core-values.js'
import { HarnList } from '../values/list.js'
import { HarnFloat } from '../values/scalars.js'
import { isTruthy } from '../values/value.js'
import type { Value } from '../values/value.js'

/** A function over the numbers of its first argument; `body` returns a number or an error. */
function defineStatistic(
  signature: string,
  doc: string,
  body: (ctx: Context, items: readonly number[], arg: Value) => number | Result,
): BuiltinDef {
  const name = signature.slice(0, signature.indexOf('('))
  return builtin(signature, { doc, borrows: true }, (ctx, list = null, arg = null) => {
    if (!(list instanceof HarnList)) return ctx.type(`${name}: items must be a list`)
    ctx.charge(list.length >> 2, 16 * list.length)
    const items: number[] = []
    for (const item of list.view()) {
      const x = readNumber(item)
      if (x === null) return ctx.type(`${name} must be numeric`)
      items.push(x)
    }
    const result = body(ctx, items, arg)
    return typeof result === 'number' ? new HarnFloat(result) : result
  })
}

function computeMean(items: readonly number[]): number {
  return items.length === 0 ? 0 : items.reduce((sum, x) => sum + x, 0) / items.length
}

/** Value at a rank counted from 0, interpolated between neighbours; `ordered` is ascending. */
function interpolateRank(ordered: Float64Array, rank: number): number {
  const low = Math.floor(rank)
  const below = ordered[low]!
  const above = ordered[Math.ceil(rank)]!
  return below + (above - below) * (rank - low)
}

/** Sorting doubles natively is several times faster than with a comparison function. */
function sortNumbers(ctx: Context, items: readonly number[]): Float64Array {
  ctx.charge(items.length >> 1)
  return Float64Array.from(items).sort()
}

/** Variance (of a sample: divided by n - 1). The mapper turns it into the standard deviation. */
function spread(name: string, map: (variance: number) => number) {
  return (ctx: Context, items: readonly number[], sample: Value): number | Result => {
    if (items.length === 0) return ctx.runtime(`${name}: items must not be empty`)
    const ofSample = isTruthy(sample)
    if (ofSample && items.length < 2) return ctx.runtime('sample variance requires at least 2 values')
    const middle = computeMean(items)
    const squares = items.reduce((sum, x) => sum + (x - middle) ** 2, 0)
    return map(squares / (items.length - (ofSample ? 1 : 0)))
  }
}

export const statisticsFunctions: readonly BuiltinDef[] = [
  defineStatistic('mean(items: list<number>) -> float', 'The arithmetic mean; 0.0 of nothing.', (_ctx, items) =>
    computeMean(items),
  ),
  defineStatistic('median(items: list<number>) -> float', 'The middle value.', (ctx, items) =>
    items.length === 0
      ? ctx.runtime('median: items must not be empty')
      : interpolateRank(sortNumbers(ctx, items), (items.length - 1) / 2),
  ),
  defineStatistic(
    'variance(items: list<number>, sample?: bool) -> float',
    'The variance of a population, or of a sample.',
    spread('variance', (x) => x),
  ),
  defineStatistic(
    'stddev(items: list<number>, sample?: bool) -> float',
    'The standard deviation of a population, or of a sample.',
    spread('stddev', Math.sqrt),
  ),
  defineStatistic(
    'percentile(items: list<number>, p: number) -> float',
    'The value below which `p` percent lie, interpolated.',
    (ctx, items, p) => {
      const percent = readNumber(p)
      if (items.length === 0) return ctx.runtime('percentile: items must not be empty')
      if (percent === null) return ctx.type('percentile must be numeric')
      if (!(percent >= 0 && percent <= 100)) return ctx.runtime('percentile must be between 0 and 100')
      return interpolateRank(sortNumbers(ctx, items), ((items.length - 1) * percent) / 100)
    },
  ),
]
