// Who pays for walks over values. Display, equality, order, structural keys and data at the edge visit every value inside a value,
// once for each way that leads to it: forty lists, each of which holds the one before twice, are a short program and 2^40 visits.
//
// Walks are called from everywhere, with nothing in hand but the value. So the machine that runs makes its meter the current one, for
// exactly as long as it runs (`runMetered`): a machine inside another (a host that answers an effect by running a second script) puts the
// outer meter back when it returns or throws. All counts lie in the meter of a machine, so that machines in one process never see each
// other's (meter.test.ts; docs/decisions/0016-meter.md).

/** What a machine does when its meter has something to charge. */
export interface Payer {
  /** So many more values were visited, `total` by this walk. May throw to end it. */
  noteWalk(more: number, total: number): void
  /** So many units of work are about to be done. May throw. */
  charge(units: number): void
  /** So many heap units were made by a walk. May throw. */
  keep(heap: number): void
}

/** Counts of one machine; they only grow, and mean something as differences. */
export class Meter {
  /** Null where nobody pays: results on their way to the host, and work that was paid for before. */
  readonly payer: Payer | null
  /** Values that walks visited. */
  visited = 0
  /** Those of them that were paid when they were visited; the rest are small walks, part of the operations that made them. */
  paid = 0
  /** Units of scans and other work. */
  charged = 0
  /** The long text that was last found to have no surrogates; empty for none. Part of the run, because what is charged depends on it. */
  plainText = ''

  constructor(payer: Payer | null) {
    this.payer = payer
  }
}

let current = new Meter(null)

/** Does something at the cost of `meter`. */
export function runMetered<T>(meter: Meter, act: () => T): T {
  const outer = current
  current = meter
  try {
    return act()
  } finally {
    current = outer
  }
}

/** Does something that nobody pays for. */
export function runUnmetered<T>(act: () => T): T {
  return runMetered(new Meter(null), act)
}

/** Units of all walks, scans and other work so far, paid or not: for who does much of it in pieces. */
export function countUnitsDone(): number {
  return current.visited + current.charged
}

/** What of `countUnitsDone` was paid when it was done. */
export function countUnitsPaid(): number {
  return current.paid + current.charged
}

/** Values that walks visited and that were part of the operations that made them. */
export function countSmallVisits(): number {
  return current.visited - current.paid
}

const STEP_BITS = 10

/** Where no machine runs: results on their way to the host. */
const MOST_UNPAID = 1 << 24

/**
 * To be called with the number of values visited before and with the number that are now to be visited; answers the sum. Small
 * walks are part of the operation that makes them and cost nothing. Raises an Error where nobody pays and there is no end.
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

/** Characters that operations go through as part of what they are: scanning them takes less than the rest. */
export const SHORT_TEXT = 511

/** Characters that are looked through for a unit, as a power of two. */
export const SCANNED_BITS = 9

/** To be called before a text is looked through: comparing, searching, counting its characters. */
export function scan(length: number): void {
  if (length > SHORT_TEXT) work(length >> SCANNED_BITS)
}

/** Characters of a text that are compared with another in one go, for a unit, as a power of two. */
const COMPARED_BITS = 15

/** Whether this long text was the last one that was found to be plain: then looking through it again is saved. */
export function isKnownPlain(text: string): boolean {
  if (text !== current.plainText) return false
  // Where it is another copy of it, that was a comparison.
  if (text.length >> COMPARED_BITS > 0) work(text.length >> COMPARED_BITS)
  return true
}

export function notePlain(text: string): void {
  current.plainText = text
}

/** Units of an Error that is thrown and caught: JavaScript writes its trace down, which takes some tens of microseconds. */
export const UNITS_A_THROW = 100

/** To be called for what a walk makes outside the machine's own count, in heap units: copies, texts. */
export function keep(heap: number): void {
  if (heap > 0) current.payer?.keep(heap)
}

/** To be called before work that is neither a walk nor a scan. */
export function work(units: number): void {
  current.charged += units
  current.payer?.charge(units)
}
