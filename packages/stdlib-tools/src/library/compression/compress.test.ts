import { HarnBytes, HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { expect, test } from 'vitest'
import { createTar, extractTar } from './archive.js'
import { compressFamily } from './compress.js'
import { encodeZstd } from './zstd.js'
import { hashXxh64Low } from './xxh64.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const machine = makeFakeMachine(compressFamily)
const bytes = (name: string, ...args: Value[]): HarnBytes => callBuiltin(machine, name, ...args) as HarnBytes
const fault = (name: string, ...args: Value[]): string => faultText(() => callBuiltin(machine, name, ...args))
const text = (value: HarnBytes): string => new TextDecoder().decode(value.data)

/** What work in steps makes. */
function finishSteps<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const next = steps.next()
    if (next.done === true) return next.value
  }
}

test('gzip', () => {
  const packed = bytes('gzip_encode', 'hello '.repeat(100))
  expect(packed.data.length).toBeLessThan(60)
  expect(gunzipSync(packed.data).toString()).toBe('hello '.repeat(100))
  expect(packed.data.subarray(4, 8)).toEqual(new Uint8Array(4))
  expect(text(bytes('gzip_decode', packed))).toBe('hello '.repeat(100))
  expect(fault('gzip_encode', 'x', 10)).toBe('Runtime error: gzip_encode: level must be between 0 and 9, got 10')
  expect(fault('gzip_encode', 5)).toBe('Runtime error: gzip_encode: expected bytes or string at argument 1, got int')
  expect(fault('gzip_decode', new HarnBytes(new Uint8Array(30)))).toMatch(/^Runtime error: gzip_decode: /)
  const damaged = packed.data.slice()
  damaged[packed.data.length - 8]! ^= 1
  expect(fault('gzip_decode', new HarnBytes(damaged))).toContain('checksum')
  expect(fault('brotli_encode', 'x', 12)).toBe('Runtime error: brotli_encode: quality must be between 0 and 11, got 12')
})

test('zstd round trips of all sizes and kinds', () => {
  let seed = 1
  const drawRandom = (): number => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16
  const cases: Uint8Array[] = [
    new Uint8Array(0),
    new Uint8Array(1),
    new Uint8Array(70_000),
    Uint8Array.from({ length: 300_000 }, () => drawRandom() & 255),
  ]
  for (const length of [5, 255, 256, 1000, 5000, 70_000, 200_000, 400_000]) {
    cases.push(
      new TextEncoder().encode(
        Array.from({ length: length / 5 }, () => ['alpha', 'beta ', 'gamma', 'delta', '12345'][drawRandom() % 5]).join(''),
      ),
    )
    cases.push(Uint8Array.from({ length }, (_unused, at) => (at % 977) & 255))
    cases.push(Uint8Array.from({ length }, () => drawRandom() & 3))
  }
  for (const data of cases) {
    const back = decompress(finishSteps(encodeZstd(data)))
    expect(back.length).toBe(data.length)
    expect(back.every((byte, at) => byte === data[at])).toBe(true)
  }
  const packed = bytes('zstd_encode', 'hello '.repeat(1000))
  expect(packed.data.length).toBeLessThan(60)
  expect(text(bytes('zstd_decode', packed))).toBe('hello '.repeat(1000))
  expect(fault('zstd_decode', new HarnBytes(new Uint8Array(9)))).toMatch(/^Runtime error: zstd_decode: /)
})

// From the description of the format and other implementations of it.
test.each([
  ['', 0x51d8e999],
  ['a', 0xa98c6e5b],
  ['abc', 0xad770999],
  ['Nobody inspects the spammish repetition', 0x8a378bf1],
])('XXH64 of %j', (data, low) => {
  expect(hashXxh64Low(new TextEncoder().encode(data))).toBe(low)
})

test('archives', () => {
  const long = `${'d'.repeat(120)}/${'e'.repeat(120)}`
  const entries = new HarnList([
    HarnDict.of({ path: 'a.txt', content: 'hi' }),
    HarnDict.of({ path: long, content: new HarnBytes(new Uint8Array([1, 2])), mode: 0o755 }),
  ])
  const shown = `[{content: b"6869", mode: 420, path: a.txt}, {content: b"0102", mode: 493, path: ${long}}]`
  expect(display(callBuiltin(machine, 'tar_extract', bytes('tar_create', entries)))).toBe(shown)
  expect(display(callBuiltin(machine, 'zip_extract', bytes('zip_create', entries)))).toBe(shown.replaceAll(/mode: \d+, /g, ''))
  const veryLong = 'x'.repeat(300)
  const archive = finishSteps(createTar([{ path: veryLong, content: new Uint8Array(0), mode: 0 }]))
  expect(finishSteps(extractTar(archive))[0]!.path).toBe(veryLong)
  expect(fault('tar_create', 5)).toBe('Runtime error: tar_create: entries must be a list, got int')
  expect(fault('zip_create', new HarnList([HarnDict.of({ content: '' })]))).toBe(
    'Runtime error: zip_create: entry 1 is missing path',
  )
  expect(fault('tar_create', new HarnList([HarnDict.of({ path: '', content: '' })]))).toBe(
    'Runtime error: tar_create: entry 1 path must not be empty',
  )
  expect(fault('tar_create', new HarnList([HarnDict.of({ path: 'a' })]))).toBe(
    'Runtime error: tar_create: entry 1 is missing content',
  )
  expect(fault('tar_create', new HarnList([HarnDict.of({ path: 'a', content: '', mode: 4096 })]))).toBe(
    'Runtime error: tar_create: entry 1 mode must be between 0 and 4095',
  )
  expect(fault('zip_extract', new HarnBytes(new Uint8Array(50)))).toMatch(/^Runtime error: zip_extract: /)
})
