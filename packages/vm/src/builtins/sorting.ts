// Sorting by the order of the language, stable. JavaScript sorts runs, which are then merged, so that sorting a long list can be done
// in pieces (pieces.ts). Lists of one scalar type, the usual case, use a faster comparison.

import { definePieces } from './pieces.js'
import type { Budget } from './pieces.js'
import { compare } from '../values/equality.js'
import { HarnList } from '../values/list.js'
import { work } from '../values/meter.js'
import { compareText, isPlainText } from '../values/text-order.js'
import type { Value } from '../values/value.js'

interface Order {
  readonly compare: (left: Value, right: Value) => number
  /** Units of work per comparison, times eight. */
  readonly cost: number
}

const NUMBERS: Order = { compare: (left, right) => (left as number) - (right as number), cost: 1 }
const PLAIN_TEXTS: Order = { compare: (left, right) => (left! < right! ? -1 : left! > right! ? 1 : 0), cost: 4 }
const TEXTS: Order = { compare: (left, right) => compareText(left as string, right as string), cost: 8 }
const ANY: Order = { compare, cost: 8 }

function chooseOrder(keys: readonly Value[]): Order {
  if (keys.every((key) => typeof key === 'number')) return NUMBERS
  if (!keys.every((key) => typeof key === 'string')) return ANY
  return keys.every((key) => isPlainText(key as string)) ? PLAIN_TEXTS : TEXTS
}

const LONG_KEY = 64

/** Comparing long strings takes as long as their common prefix: units for one comparison each. */
function measureLengthUnits(keys: readonly Value[]): number {
  let length = 0
  for (const key of keys) if (typeof key === 'string' && key.length > LONG_KEY) length += key.length
  return length >> 8
}

/** Elements that are sorted at once. */
const RUN = 4096

/** Elements merged between two checks of the budget. */
const MERGED = 1024

/** Merges sorted runs of elements of any type. */
class Merging<T> {
  /** Sorted in runs of `width`; a pass writes to `to`. */
  from: T[]
  private to: T[] = []
  private width = RUN
  /** Progress of the pass: what was written, and what was taken of the two runs being merged. */
  private at = 0
  private left = 0
  private right = 0
  private readonly order: (left: T, right: T) => number
  private readonly cost: number

  constructor(from: T[], order: (left: T, right: T) => number, cost: number) {
    this.from = from
    this.order = order
    this.cost = cost
  }

  /** Whether everything is one run; if not, the budget is spent. */
  step(budget: Budget): boolean {
    for (; this.width < this.from.length; this.width *= 2) if (!this.pass(budget)) return false
    return true
  }

  private pass(budget: Budget): boolean {
    const { from, to, width, order } = this
    const { length } = from
    while (this.at < length) {
      if (budget.left <= 0) return false
      const start = this.at - this.left - this.right
      const middle = Math.min(start + width, length)
      const end = Math.min(middle + width, length)
      const until = Math.min(end, this.at + MERGED)
      let left = start + this.left
      let right = middle + this.right
      for (let at = this.at; at < until; at++) {
        // Of two equal elements the left one comes first: sorting is stable.
        const takesRight = left >= middle || (right < end && order(from[left]!, from[right]!) > 0)
        to[at] = takesRight ? from[right++]! : from[left++]!
      }
      budget.left -= Math.floor(((until - this.at) * this.cost) / 8)
      this.at = until
      this.left = until === end ? 0 : left - start
      this.right = until === end ? 0 : right - middle
    }
    this.from = to
    this.to = from
    this.at = 0
    return true
  }
}

/** A list in the order of its elements, or of `keys` for them. */
class Sorting<T> {
  private readonly merging: Merging<T>
  private at = 0
  private readonly order: Order
  private readonly compare: (left: T, right: T) => number
  private readonly keys: readonly Value[]

  constructor(elements: T[], keys: readonly Value[], order: Order, compareElements: (left: T, right: T) => number) {
    this.keys = keys
    this.order = order
    this.compare = compareElements
    this.merging = new Merging(elements, compareElements, order.cost)
  }

  step(budget: Budget): T[] | undefined {
    const { from } = this.merging
    for (; this.at < this.keys.length; this.at += RUN) {
      if (budget.left <= 0) return undefined
      const run = from.slice(this.at, this.at + RUN)
      const units = Math.floor((run.length * Math.ceil(Math.log2(run.length + 1)) * this.order.cost) / 8)
      budget.left -= units
      if (this.order !== NUMBERS) work(4 * measureLengthUnits(this.keys.slice(this.at, this.at + RUN)))
      run.sort(this.compare)
      if (run.length === this.keys.length) return run
      for (let at = 0; at < run.length; at++) from[this.at + at] = run[at]!
    }
    return this.merging.step(budget) ? this.merging.from : undefined
  }
}

export const sorting = definePieces('list.order', ([list, given]) => {
  const items = (list as HarnList).view()
  const keys = given === undefined ? items : (given as HarnList).view()
  work((keys.length >> 4) + measureLengthUnits(keys))
  const order = chooseOrder(keys)
  if (given === undefined) {
    const inOrder = new Sorting(items.slice(), keys, order, order.compare)
    return {
      step: (_ctx, budget) => {
        const sorted = inOrder.step(budget)
        return sorted && new HarnList(sorted)
      },
    }
  }
  // A loop, because `Array.from` uses an iterator per element; ints bypass `order`, because most short lists hold ints.
  const unsorted: number[] = []
  for (let at = 0; at < keys.length; at++) unsorted.push(at)
  const byKey =
    order === NUMBERS
      ? (a: number, b: number) => (keys[a] as number) - (keys[b] as number)
      : (a: number, b: number) => order.compare(keys[a]!, keys[b]!)
  const places = new Sorting(unsorted, keys, order, byKey)
  return {
    step: (_ctx, budget) => {
      const sorted = places.step(budget)
      return sorted && new HarnList(sorted.map((at) => items[at]!))
    },
  }
})
