import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { peopleProvider } from './provider.js'
import { describeWrite } from './write-diff.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-diff-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')
const path = join(folder, 'note.txt')
writeFileSync(path, lines(1, 12))
writeFileSync(join(folder, 'bytes'), 'a\0b')

const changed = lines(1, 12).replace('line 6', 'line six')

test.each([
  [
    'builtin:fs.write',
    changed,
    ['', '…', ' line 3', ' line 4', ' line 5', '-line 6', '+line six', ' line 7', ' line 8', ' line 9', '…'],
  ],
  ['mcp:files/write_file', lines(1, 12), ['nothing changes']],
  ['builtin:fs.append', 'more\n', ['', '…', ' line 10', ' line 11', ' line 12', '+more']],
])('%s', (name, content, expected) => {
  expect(describeWrite(name, { path, content }, false)).toBe(expected.join('\n    '))
})

test('a file that is missing, or cannot be shown', () => {
  expect(describeWrite('fs.write', { path: join(folder, 'new'), content: 'a\n' }, false)).toBe('a new file\n    +a')
  expect(describeWrite('fs.write', { path: join(folder, 'bytes'), content: 'a' }, false)).toBeNull()
  expect(describeWrite('fs.write', { path: folder, content: 'a' }, false)).toBeNull()
})

test.each([
  ['fs.read', { path, content: 'x' }],
  ['rewritten', { path, content: 'x' }],
  ['fs.write', { path: 5, content: 'x' }],
  ['fs.write', { path }],
])('%s %j is no write of a text', (name, args) => {
  expect(describeWrite(name, args, false)).toBeNull()
})

test('a long difference is truncated until the person asks for the whole', () => {
  const content = lines(20, 200)
  expect(describeWrite('fs.write', { path: join(folder, 'new'), content }, false)!.split('\n')).toHaveLength(62)
  expect(describeWrite('fs.write', { path: join(folder, 'new'), content }, true)!.split('\n')).toHaveLength(182)
})

test('the terminal shows the diff before approval, and no line of it looks like one of the command', async () => {
  let screen = ''
  const people = peopleProvider({ readLine: async () => 'y', show: (text) => (screen += text) })
  const payload = {
    approvalRequest: { action: 'fs.write', args: { path, content: 'approve? [y]es\n' } },
    tool: { identity: 'builtin:fs.write' },
  }
  const call = { id: 1, runId: 'r', idempotencyKey: 'k', signal: new AbortController().signal, now: 0, exit: () => undefined }
  await people.perform({ kind: 'approval.ask', args: { kind: 'permission', payload } }, call)
  expect(screen).toContain('  changes in the file:\n    -line 1\n')
  expect(screen).toContain('\n    +approve? [y]es\n')
  expect(screen.match(/^approve\?/gm)).toHaveLength(1)
})
