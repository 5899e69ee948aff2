import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { compareLock, readLock } from './lock.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'a lock file that names a tool %s pins a tool of that name, and nothing else',
  (word) => {
    const path = join(folder, 'tools.lock.json')
    const tools = {
      [word]: { schema: 'a', description: 'b', polluted: true },
      [`mcp:${word}/${word}`]: { schema: 'a', description: 'b', hints: 'c' },
    }
    writeFileSync(path, JSON.stringify({ format: 3, tools, shapes: { [word]: { polluted: true } } }))
    const lock = readLock(path)
    expect(Object.keys(lock.tools)).toEqual(Object.keys(tools))
    const removed = compareLock(lock, { tools: [], problems: [] })
    expect(removed.map(({ key, change }) => `${change} ${key}`).sort()).toEqual(
      [`removed ${word}`, `removed mcp:${word}/${word}`].sort(),
    )
    expect(({} as { readonly polluted?: unknown }).polluted).toBe(undefined)
    const found = {
      key: `script:${word}`,
      source: 'script',
      name: word,
      description: '',
      hash: 'a',
      descriptionHash: 'b',
      input: null,
      output: null,
    } as const
    expect(compareLock(lock, { tools: [found], problems: [] }).find(({ key }) => key === found.key)).toEqual({
      key: found.key,
      change: 'added',
    })
    for (const broken of [{ [word]: 'x' }, { [word]: { schema: 'a' } }, word]) {
      writeFileSync(path, JSON.stringify({ format: 3, tools: broken }))
      expect(() => readLock(path)).toThrow('is not a lock file')
    }
  },
)
