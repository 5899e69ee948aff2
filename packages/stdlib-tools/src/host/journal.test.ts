import { expect, test } from 'vitest'
import { HarnFloat } from '@bridle/vm'
import type { Plain } from '@bridle/vm'
import { decodePlain, encodePlain } from './journal-codec.js'
import { JournalFormatError, decodeEntry, decodeJournal, encodeEntry } from './journal.js'
import type { JournalEntry } from './journal.js'

const makeDict = (entries: { readonly [key: string]: Plain }): Plain =>
  Object.assign(Object.create(null) as object, entries) as Plain

test.each<[string, Plain, string]>([
  ['JSON as it is', makeDict({ b: [1, 'x', null, true], a: 1.5 }), '{"a":1.5,"b":[1,"x",null,true]}'],
  ['large ints', 9223372036854775807n, '{"$int":"9223372036854775807"}'],
  ['marked floats', new HarnFloat(1), '{"$float":"1"}'],
  ['not a number', new HarnFloat(NaN), '{"$float":"NaN"}'],
  ['minus zero', new HarnFloat(-0), '{"$float":"-0"}'],
  ['infinity', new HarnFloat(-Infinity), '{"$float":"-inf"}'],
  ['bytes', new Uint8Array([104, 105]), '{"$bytes":"aGk="}'],
  ['a dict that looks like a tag', makeDict({ $int: 'x' }), '{"$dict":{"$int":"x"}}'],
  ['a tag inside', makeDict({ a: 1n, $int: 2 }), '{"$int":2,"a":{"$int":"1"}}'],
])('%s', (_, data, text) => {
  expect(encodePlain(data)).toBe(text)
  expect(decodePlain(text)).toEqual(data)
})

test('dangerous keys are ordinary keys', () => {
  const decoded = decodePlain('{"__proto__":{"polluted":true},"constructor":1}') as { readonly [key: string]: Plain }
  expect(Object.getPrototypeOf(decoded)).toBe(null)
  expect(Object.keys(decoded)).toEqual(['__proto__', 'constructor'])
  expect(encodePlain(decoded)).toBe('{"__proto__":{"polluted":true},"constructor":1}')
})

test('unknown tags are refused', () => {
  expect(() => decodePlain('{"$what":"x"}')).toThrow('unknown tag "$what"')
})

const ENTRIES: readonly JournalEntry[] = [
  { type: 'run', format: 1, runId: 'r', program: 'abc', label: 'job.harn' },
  { type: 'start', now: 5, input: 7n },
  { type: 'effect', id: 1, kind: 'fs.read', args: makeDict({ path: 'x' }) },
  { type: 'answer', id: 1, outcome: { ok: true, value: new Uint8Array([1]) } },
  { type: 'resume', id: 2, outcome: { ok: false, error: { kind: 'thrown', message: 'm', value: makeDict({ a: 1 }) } }, now: 6.5 },
  { type: 'resume', id: 3, outcome: { ok: false, error: { kind: 'categorized', message: 'm', category: 'timeout' } }, now: 7 },
  { type: 'resume', id: null, outcome: null, now: 8 },
  { type: 'cancel', reason: 'enough', now: 9 },
  { type: 'end', kind: 'done' },
]

test.each(ENTRIES.map((entry) => [entry.type, entry] as const))('entry "%s" comes back as it was', (_, entry) => {
  expect(decodeEntry(encodeEntry(entry))).toEqual(entry)
})

test('a half-written last line is dropped, a broken line before it is not', () => {
  const lines = ENTRIES.map(encodeEntry)
  expect(decodeJournal(`${lines.join('\n')}\n{"type":"resu`)).toEqual(ENTRIES)
  expect(() => decodeJournal(`${lines[0]}\n{"type":"resu\n${lines[1]}`)).toThrow(JournalFormatError)
})

test('another format is refused', () => {
  expect(() => decodeEntry('{"type":"run","format":99,"runId":"r","program":"p","label":"l"}')).toThrow(
    'journal format 99 is not 1',
  )
})

test.each(['null', '1', '"run"'])('a line that is %s is no entry', (line) => {
  expect(() => decodeEntry(line)).toThrow('journal line is not a JSON object')
})
