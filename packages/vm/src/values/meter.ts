// Who pays for walks over values. Display, equality, order, structural keys and data at the edge visit every value inside a value,
// once for each way that leads to it: forty lists, each of which holds the one before twice, are a short program and 2^40 visits.
// Walks are called from everywhere, with nothing in hand but the value, so the machine that runs puts itself here while it runs;
// it is synchronous, so that there is never more than one.

export interface Meter {
  /** So many more values were visited, `total` by this walk. May throw to end it. */
  walked(more: number, total: number): void
  /** So many units of work are about to be done. May throw. */
  charge(units: number): void
  /** So many heap units were made by a walk. May throw. */
  keep(heap: number): void
}

let paying: Meter | null = null

/** Answers who paid before, to be put back. */
export function payBy(meter: Meter | null): Meter | null {
  const before = paying
  paying = meter
  return before
}

const STEP_BITS = 10

let visited = 0
let paid = 0
let charged = 0

/** Units of all walks, scans and other work of this process so far, paid or not: for who does much of it in pieces. */
export function metered(): number {
  return visited + charged
}

/** What of `metered` was paid when it was done; the rest are small walks, which are part of the operations that made them. */
export function meteredAndPaid(): number {
  return paid + charged
}

/** Values that walks of this process visited and that were part of the operations that made them. */
export function smallVisits(): number {
  return visited - paid
}

/** Where no machine runs: results on their way to the host. */
const MOST_UNPAID = 1 << 24

/**
 * To be called with the number of values visited before and with the number that are now to be visited; answers the sum. Small
 * walks are part of the operation that makes them and cost nothing. Raises an Error where nobody pays and there is no end.
 */
export function visit(before: number, more: number): number {
  const total = before + more
  visited += more
  const steps = (total >> STEP_BITS) - (before >> STEP_BITS)
  if (steps > 0) {
    paid += steps << STEP_BITS
    if (paying !== null) paying.walked(steps << STEP_BITS, total)
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

/** Units of an Error that is thrown and caught: JavaScript writes its trace down, which takes some tens of microseconds. */
export const UNITS_A_THROW = 100

/** To be called for what a walk makes outside the machine's own count, in heap units: copies, texts. */
export function keep(heap: number): void {
  if (heap > 0) paying?.keep(heap)
}

/** To be called before work that is neither a walk nor a scan. */
export function work(units: number): void {
  charged += units
  paying?.charge(units)
}
