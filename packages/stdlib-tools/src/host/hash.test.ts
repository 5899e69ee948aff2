import { describe, expect, test } from 'vitest'
import { hashHex as noble, hashTexts, findPlatformSha256, hashSha256Hex, hashSha256InScript } from './hash.js'
import { hashHexInWasm as wasm } from '../node/hash.js'

// From the published test vectors: byte i of an input is i mod 251.
const VECTORS: readonly (readonly [length: number, digest: string])[] = [
  [0, 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
  [1, '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
  [1023, '10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11'],
  [1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7'],
  [1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444'],
  [2048, 'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a'],
  [8192, 'aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63'],
  [102400, 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'],
]

describe.each([
  ['JavaScript', noble],
  ['WebAssembly', wasm],
] as const)('BLAKE3 in %s', (_, hashHex) => {
  test.each(VECTORS)('%i bytes', (length, digest) => {
    expect(hashHex(Uint8Array.from({ length }, (__, at) => at % 251))).toBe(digest)
  })
})

test('both agree on all lengths around a block and a chunk', () => {
  for (const around of [64, 128, 1024, 2048, 3072]) {
    for (let length = around - 2; length <= around + 2; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7) % 256)
      expect(noble(bytes)).toBe(wasm(bytes))
    }
  }
})

test('a hash of texts depends on where one ends', () => {
  expect(hashTexts(noble, ['ab', 'c'])).not.toBe(hashTexts(noble, ['a', 'bc']))
  expect(hashTexts(noble, ['ab', 'c'])).toBe(hashTexts(wasm, ['ab', 'c']))
})

// FIPS 180-4 examples, the empty text, and texts that are not ASCII; a lone surrogate counts as U+FFFD in both.
describe.each([
  ['JavaScript', hashSha256InScript],
  ['the platform', findPlatformSha256()!],
  ['whichever is there', hashSha256Hex],
] as const)('SHA-256 by %s', (_, hash) => {
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('%#', (text, digest) => {
    expect(hash(text)).toBe(digest)
  })

  test.each(['grüße', '\u{1f600}', '\ud800', 'x\0y'])('%j as in JavaScript', (text) => {
    expect(hash(text)).toBe(hashSha256InScript(text))
  })
})
