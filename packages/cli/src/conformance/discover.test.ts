import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { discover } from './discover.js'
import { readGaps, listStaleGaps } from './gaps.js'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function makeTree(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-suite-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return folder
}

describe('discover', () => {
  test('pairs scripts with their siblings, walks in order, ignores helpers', () => {
    const folder = makeTree({
      'b/two.harn': '',
      'b/two.error': 'boom',
      'a/one.harn': '',
      'a/one.expected': '1\n',
      'a/helper.harn': '',
      'a.harn': '',
      'a.expected': '',
      'a/notes.txt': '',
    })
    expect(discover(folder).map(({ name, kind, wanted }) => [name, kind, wanted])).toEqual([
      ['a/one', 'positive', '1\n'],
      ['a', 'positive', ''],
      ['b/two', 'negative', 'boom'],
    ])
  })

  test('.expected wins over .error', () => {
    expect(discover(makeTree({ 'x.harn': '', 'x.expected': 'e', 'x.error': 'r' }))[0]).toMatchObject({
      kind: 'positive',
      wanted: 'e',
    })
  })

  test('a parked test is listed with its reason, but runs when it is named', () => {
    const folder = makeTree({ 'x.harn': '', 'x.expected': '', 'x.conformance-skip': 'needs a network\n' })
    expect(discover(folder)[0]?.parked).toBe('needs a network')
    expect(discover(join(folder, 'x.harn'))[0]?.parked).toBe(null)
  })

  test('a model fixture belongs to its test', () => {
    const folder = makeTree({
      'x.harn': '',
      'x.expected': '',
      'x.llm-mock.jsonl': '{"text":"hi"}\n',
      'y.harn': '',
      'y.expected': '',
    })
    expect(discover(folder).map((found) => found.llmMock)).toEqual(['{"text":"hi"}\n', null])
  })

  test('a file is a suite of one test', () => {
    const folder = makeTree({ 'deep/x.harn': '', 'deep/x.error': 'no' })
    expect(discover(join(folder, 'deep', 'x.harn')).map((found) => found.name)).toEqual(['x'])
  })
})

describe('known gaps', () => {
  test('the nearest list above a path applies', () => {
    const folder = makeTree({ 'known-gaps.tsv': '# why\ntests/a/x\tneeds tokens\n', 'tests/a/x.harn': '' })
    const gaps = readGaps(join(folder, 'tests', 'a'))
    expect([...gaps]).toEqual([[join(folder, 'tests', 'a', 'x.harn'), 'needs tokens']])
    expect(listStaleGaps(gaps, folder)).toEqual([])
  })

  test('a line without a reason is refused', () => {
    expect(() => readGaps(makeTree({ 'known-gaps.tsv': 'tests/x\n' }))).toThrow(/known-gaps\.tsv:1/)
  })

  test('a listed script that does not exist is reported', () => {
    const folder = makeTree({ 'known-gaps.tsv': 'x\tgone\n' })
    expect(listStaleGaps(readGaps(folder), folder)).toEqual(['x.harn'])
  })
})
