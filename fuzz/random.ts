// The only source of randomness in fuzzing: a small generator that gives the same numbers for the same seed on every machine.
// Each input has its own generator, seeded with (seed, target, index), so that one input can be reproduced alone.

export class Random {
  private a: number
  private b: number
  private c: number
  private count = 1

  constructor(seed: number, stream: string, index: number) {
    this.a = seed | 0
    this.b = index | 0
    this.c = 0x9e3779b9 | 0
    for (const letter of stream) this.c = (Math.imul(this.c, 31) + letter.charCodeAt(0)) | 0
    // Discard the first numbers, which still show the seed's pattern.
    for (let round = 0; round < 12; round++) this.next()
  }

  /** sfc32: an unsigned 32-bit number. */
  next(): number {
    const sum = (((this.a + this.b) | 0) + this.count++) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** An int in [0, limit); 0 for a limit below 1. */
  below(limit: number): number {
    return limit < 1 ? 0 : this.next() % limit
  }

  /** An int in [least, most]. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<T>(options: readonly T[]): T {
    return options[this.below(options.length)]!
  }
}
