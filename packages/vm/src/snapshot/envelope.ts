// The envelope of every snapshot:
//
//   4 bytes  type: `BRm` and `BRr` after a byte that no text begins with (a machine, a run with its sources)
//   1 byte   version of what follows
//   8 bytes  seal: a hash of everything after it
//   rest     texts, then the graph (graph-write.ts)
//
// The seal detects damage, so that a damaged snapshot is refused as a whole instead of continuing in a state that no
// program can reach. It is not a signature: whoever can write snapshots can write any state, and a host must protect them like code.

import { SnapshotError, makeDamagedError } from './error.js'

export type Content = 'machine' | 'run'

const MARK = 0x89
const LETTERS: Readonly<Record<Content, readonly number[]>> = { machine: [0x42, 0x52, 0x6d], run: [0x42, 0x52, 0x72] }
const SEAL_AT = 5
const SEAL_BYTES = 8
export const ENVELOPE_BYTES = SEAL_AT + SEAL_BYTES

/** Fills the first ENVELOPE_BYTES of a whole snapshot. */
export function seal(bytes: Uint8Array, content: Content, version: number): void {
  bytes[0] = MARK
  bytes.set(LETTERS[content], 1)
  bytes[4] = version
  writeSeal(bytes, computeSeal(bytes))
}

export function readVersion(bytes: Uint8Array): number {
  return bytes[4] ?? 0
}

/** Throws SnapshotError for bytes that are something else, of another version, or damaged. */
export function checkSeal(bytes: Uint8Array, content: Content, version: number): void {
  const letters = LETTERS[content]
  if (bytes[0] !== MARK || letters.some((letter, at) => bytes[at + 1] !== letter))
    throw new SnapshotError('format', `the bytes are not the snapshot of a ${content}`)
  if (bytes.length < ENVELOPE_BYTES) throw makeDamagedError('it ends early')
  if (bytes[4] !== version)
    throw new SnapshotError('version', `the snapshot has version ${String(bytes[4])}; this one reads version ${version}`)
  const found = new Uint8Array(ENVELOPE_BYTES)
  writeSeal(found, computeSeal(bytes))
  for (let at = SEAL_AT; at < ENVELOPE_BYTES; at++)
    if (found[at] !== bytes[at]) throw makeDamagedError('its contents do not fit its seal')
}

/**
 * Two lanes of 32 bits over words of 4 bytes. Each step is a bijection of the lane, so that a change in one word always changes
 * both lanes. A cryptographic hash would add nothing (see above) and take longer than the whole rest of writing a large state.
 */
function computeSeal(bytes: Uint8Array): readonly [number, number] {
  const { length } = bytes
  let a = 0x9e3779b1 ^ length
  let b = 0x85ebca77 ^ bytes[4]!
  let at = ENVELOPE_BYTES
  // A DataView reads a word at any offset in one load; assembling it from four bytes takes three times as long.
  const words = new DataView(bytes.buffer, bytes.byteOffset, length)
  for (; at + 4 <= length; at += 4) {
    const word = words.getInt32(at, true)
    a = Math.imul(a ^ word, 0xcc9e2d51)
    a = (a << 15) | (a >>> 17)
    b = Math.imul(((b << 13) | (b >>> 19)) ^ word, 0x1b873593)
  }
  for (; at < length; at++) {
    a = Math.imul(a ^ bytes[at]!, 0x5bd1e995)
    b = Math.imul(((b << 13) | (b >>> 19)) ^ bytes[at]!, 0x27d4eb2f)
  }
  return [mixLane(a), mixLane(b)]
}

/** Spreads the last words over all bits. */
function mixLane(lane: number): number {
  let h = lane ^ (lane >>> 16)
  h = Math.imul(h, 0x7feb352d)
  h ^= h >>> 15
  h = Math.imul(h, 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}

function writeSeal(bytes: Uint8Array, lanes: readonly [number, number]): void {
  lanes.forEach((lane, which) => {
    for (let k = 0; k < 4; k++) bytes[SEAL_AT + which * 4 + k] = (lane >>> (8 * k)) & 0xff
  })
}
