// Who is charged for walks over values. Formatting, equality, order, structural keys and conversion to data visit every nested value,
// once per path: forty lists, each of which contains the previous one twice, are a short program and 2^40 visits.
//
// Walks are called from everywhere, with only the value as argument. So the running machine makes its meter the current one
// while it runs (`runMetered`). A machine nested in another (a host that answers an effect by running a second script) restores the
// outer meter when it returns or throws. All counts are in the meter of a machine, so that machines in one process never see each
// other's (meter.test.ts; docs/decisions/0016-meter.md).

/** What a machine does when its meter has something to charge. */
export interface Payer {
  /** This many more values were visited, `total` by this walk. May throw to end it. */
  noteWalk(more: number, total: number): void
  /** This many units of work are about to be done. May throw. */
  charge(units: number): void
  /** A walk allocated this many heap units. May throw. */
  keep(heap: number): void
}

/** Counts of one machine; they only grow, and only their differences matter. */
export class Meter {
  /** Null when nobody is charged: for results on their way to the host, and work that was charged before. */
  readonly payer: Payer | null
  /** Values that walks visited. */
  visited = 0
  /** Those of them that were charged when visited; the others are small walks, included in the charge of their operations. */
  paid = 0
  /** Units of scans and other work. */
  charged = 0
  /** The long string that was last found to have no surrogates; empty for none. Part of the run, because charges depend on it. */
  plainText = ''

  constructor(payer: Payer | null) {
    this.payer = payer
  }
}

let current = new Meter(null)

/** Runs a function at the expense of `meter`. */
export function runMetered<T>(meter: Meter, act: () => T): T {
  const outer = current
  current = meter
  try {
    return act()
  } finally {
    current = outer
  }
}

/** Runs a function without charging anyone. */
export function runUnmetered<T>(act: () => T): T {
  return runMetered(new Meter(null), act)
}

/** Units of all walks, scans and other work so far, charged or not: for work in pieces. */
export function countUnitsDone(): number {
  return current.visited + current.charged
}

/** The charged part of `countUnitsDone`. */
export function countUnitsPaid(): number {
  return current.paid + current.charged
}

/** Values visited by walks that were included in the charge of their operations. */
export function countSmallVisits(): number {
  return current.visited - current.paid
}

const STEP_BITS = 10

/** The meter when no machine runs: for results on their way to the host. */
const MOST_UNPAID = 1 << 24

/**
 * Call with the number of values visited before and the number about to be visited; returns the sum. Small
 * walks are included in the charge of their operation. Throws an Error if nobody is charged and the walk does not end.
 */
export function visit(before: number, more: number): number {
  const total = before + more
  const meter = current
  meter.visited += more
  const steps = (total >> STEP_BITS) - (before >> STEP_BITS)
  if (steps > 0) {
    meter.paid += steps << STEP_BITS
    if (meter.payer !== null) meter.payer.noteWalk(steps << STEP_BITS, total)
    else if (total > MOST_UNPAID) throw new Error(`the value has more than ${MOST_UNPAID} parts`)
  }
  return total
}

/** Strings up to this length are free: scanning them takes less than the rest of the operation. */
export const SHORT_TEXT = 511

/** Characters scanned per unit of fuel, as a power of two. */
export const SCANNED_BITS = 9

/** Call before scanning a string: comparing, searching, counting its characters. */
export function scan(length: number): void {
  if (length > SHORT_TEXT) work(length >> SCANNED_BITS)
}

/** Characters compared per unit of fuel when two strings are compared at once, as a power of two. */
const COMPARED_BITS = 15

/** Whether this long string was the last one found to be plain, so that it need not be scanned again. */
export function isKnownPlain(text: string): boolean {
  if (text !== current.plainText) return false
  // If it is another copy, comparing the two was a scan.
  if (text.length >> COMPARED_BITS > 0) work(text.length >> COMPARED_BITS)
  return true
}

export function notePlain(text: string): void {
  current.plainText = text
}

/** Fuel for an Error that is thrown and caught: capturing its stack trace takes some tens of microseconds. */
export const UNITS_A_THROW = 100

/** Call for what a walk allocates outside the machine's own count, in heap units: copies, strings. */
export function keep(heap: number): void {
  if (heap > 0) current.payer?.keep(heap)
}

/** Call before work that is neither a walk nor a scan. */
export function work(units: number): void {
  current.charged += units
  current.payer?.charge(units)
}
