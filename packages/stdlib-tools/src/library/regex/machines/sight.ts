// Look-ahead state of a search: where rare characters come next, and how far looking ahead for them
// was of use. It belongs to one search; the machines that read it belong to the pattern.

/** Units that looking ahead may go through for nothing before it has been of any use. */
const FREE_LOOKS = 4096
/** A unit that is looked through takes so much less than one that is stepped through. */
const LOOK_GAIN = 8

export class Sight {
  /** Whether the text may hold pairs of surrogates; known only where a leap asks. */
  pairs = false
  /** Where each needle of a leap comes next; no other lies between `since` and there. */
  readonly next: number[] = [-1, -1, -1]
  since = 0
  /** What looking ahead has saved beside what it took; below 0 it is no use on this text. */
  private credit = FREE_LOOKS

  /** As for another text. */
  reset(pairs: boolean): void {
    this.pairs = pairs
    this.next[0] = this.next[1] = this.next[2] = -1
    this.since = 0
    this.credit = FREE_LOOKS
  }

  get looksAhead(): boolean {
    return this.credit >= 0
  }

  /** The first of the characters at `from` or behind; the end of the text where there is none. */
  look(text: string, chars: readonly string[], from: number): number {
    let nearest = text.length
    let looked = 0
    for (let each = 0; each < chars.length; each++) {
      const found = text.indexOf(chars[each]!, from)
      looked += (found < 0 ? text.length : found) - from
      if (found >= 0 && found < nearest) nearest = found
    }
    this.credit += LOOK_GAIN * (nearest - from) - looked
    return nearest
  }
}
