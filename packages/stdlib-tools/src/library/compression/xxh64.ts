// XXH64 with seed 0 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), the checksum of Zstandard frames, which keep its low half.
// Numbers of 64 bits are two halves here: with bigints it took eight times as long.

/** Halves of the five primes: high, low. */
const P1 = [0x9e3779b1, 0x85ebca87] as const
const P2 = [0xc2b2ae3d, 0x27d4eb4f] as const
const P3 = [0x165667b1, 0x9e3779f9] as const
const P4 = [0x85ebca77, 0xc2b2ae63] as const
const P5 = [0x27d4eb2f, 0x165667c5] as const

type Prime = readonly [high: number, low: number]

/** A number that is worked on in place; halves are unsigned. */
class Word {
  high: number
  low: number

  constructor(high: number, low: number) {
    this.high = high >>> 0
    this.low = low >>> 0
  }

  add(high: number, low: number): this {
    const sum = this.low + (low >>> 0)
    this.high = (this.high + (high >>> 0) + (sum > 0xffffffff ? 1 : 0)) >>> 0
    this.low = sum >>> 0
    return this
  }

  multiply([high, low]: Prime): this {
    const a0 = this.low & 0xffff
    const a1 = this.low >>> 16
    const b0 = low & 0xffff
    const b1 = low >>> 16
    const first = a0 * b0
    const second = a1 * b0 + (first >>> 16)
    const third = a0 * b1 + (second & 0xffff)
    const carried = a1 * b1 + (second >>> 16) + (third >>> 16)
    this.high = (carried + Math.imul(this.high, low) + Math.imul(this.low, high)) >>> 0
    this.low = ((third << 16) | (first & 0xffff)) >>> 0
    return this
  }

  /** To the left, by 1 to 31 bits. */
  rotate(bits: number): this {
    const { high, low } = this
    this.high = ((high << bits) | (low >>> (32 - bits))) >>> 0
    this.low = ((low << bits) | (high >>> (32 - bits))) >>> 0
    return this
  }

  xor(high: number, low: number): this {
    this.high = (this.high ^ high) >>> 0
    this.low = (this.low ^ low) >>> 0
    return this
  }

  round(high: number, low: number): this {
    const lane = new Word(high, low).multiply(P2)
    return this.add(lane.high, lane.low).rotate(31).multiply(P1)
  }
}

/** The low 32 bits of the hash. */
export function hashXxh64Low(data: Uint8Array): number {
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  let at = 0
  const hash = new Word(P5[0], P5[1])
  if (data.length >= 32) {
    const lanes = [
      new Word(P1[0], P1[1]).add(P2[0], P2[1]),
      new Word(P2[0], P2[1]),
      new Word(0, 0),
      // 0 - P1
      new Word(~P1[0], ~P1[1]).add(0, 1),
    ] as const
    for (; at + 32 <= data.length; at += 32) {
      for (let lane = 0; lane < 4; lane++)
        lanes[lane]!.round(view.getUint32(at + 8 * lane + 4, true), view.getUint32(at + 8 * lane, true))
    }
    hash.high = 0
    hash.low = 0
    for (const [index, bits] of [1, 7, 12, 18].entries()) {
      const turned = new Word(lanes[index]!.high, lanes[index]!.low).rotate(bits)
      hash.add(turned.high, turned.low)
    }
    for (const lane of lanes) {
      const merged = new Word(0, 0).round(lane.high, lane.low)
      hash.xor(merged.high, merged.low).multiply(P1).add(P4[0], P4[1])
    }
  }
  hash.add(Math.floor(data.length / 2 ** 32), data.length)
  for (; at + 8 <= data.length; at += 8) {
    const lane = new Word(0, 0).round(view.getUint32(at + 4, true), view.getUint32(at, true))
    hash.xor(lane.high, lane.low).rotate(27).multiply(P1).add(P4[0], P4[1])
  }
  if (at + 4 <= data.length) {
    const lane = new Word(0, view.getUint32(at, true)).multiply(P1)
    hash.xor(lane.high, lane.low).rotate(23).multiply(P2).add(P3[0], P3[1])
    at += 4
  }
  for (; at < data.length; at++) {
    const lane = new Word(0, data[at]!).multiply(P5)
    hash.xor(lane.high, lane.low).rotate(11).multiply(P1)
  }
  // x ^ (x >>> 33), x ^ (x >>> 29), x ^ (x >>> 32)
  hash.xor(0, hash.high >>> 1).multiply(P2)
  hash.xor(hash.high >>> 29, ((hash.low >>> 29) | (hash.high << 3)) >>> 0).multiply(P3)
  return (hash.low ^ hash.high) >>> 0
}
