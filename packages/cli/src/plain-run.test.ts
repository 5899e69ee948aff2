import { expect, test } from 'vitest'
import { parsePlainRun } from './plain-run.js'

const makePlain = (words: string, options: object = {}, scriptArguments: readonly string[] = []): [string, object] => [
  words,
  { file: 'x.harn', options: { ...options, scriptArguments } },
]

test.each([
  makePlain('run x.harn'),
  makePlain('run x.harn --json --dry-run', { json: true, dryRun: true }),
  makePlain('run --fuel 10 x.harn --timeout 5 --max-heap 7', { fuel: 10, timeout: 5, maxHeap: 7 }),
  makePlain('run x.harn --', {}, []),
  makePlain('run x.harn -- --json -- y', {}, ['--json', '--', 'y']),
])('%s is read here', (words, expected) => {
  expect(parsePlainRun(words.split(' '))).toEqual(expected)
})

test.each([
  'check x.harn',
  'run',
  'run x.harn y.harn',
  'run -',
  'run -e 1',
  'run --help',
  'run x.harn --fuel',
  'run x.harn --fuel 0',
  'run x.harn --fuel=10',
  'run x.harn --fuel ten',
  'run x.harn --unknown',
  'run -- x.harn',
])('%s is left to the parser of options', (words) => {
  expect(parsePlainRun(words.split(' '))).toBeNull()
})
