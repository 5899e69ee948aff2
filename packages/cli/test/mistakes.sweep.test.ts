// No false positives: findings of `check --strict` in all scripts of the suite, which are correct except for intended errors.

import { readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { FOLDER, check } from './strict-check.js'

const TESTS = resolve(FOLDER, '../tests')

/** Scripts of the suite with intended errors, which show the behaviour at run time: `path<TAB>code<TAB>how often`. */
const ON_PURPOSE = resolve(FOLDER, 'on-purpose.tsv')

// As `check --strict` does. Every line of the list was reviewed: a new one is a false positive, or an intended error that `-u` adds to it.
// It checks the whole suite, which takes long while other tests run.
test('scripts of the suite have no unintended findings', { timeout: 180_000 }, async () => {
  const found = new Map<string, number>()
  const scripts = readdirSync(TESTS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.harn'))
    .map((entry) => relative(TESTS, join(entry.parentPath, entry.name)))
    .sort()
  for (const name of scripts) {
    for (const { diagnostic } of check(name, TESTS)) {
      const line = `${name.replaceAll('\\', '/')}\t${diagnostic.code}`
      found.set(line, (found.get(line) ?? 0) + 1)
    }
  }
  await expect([...found].map(([line, times]) => `${line}\t${times}\n`).join('')).toMatchFileSnapshot(ON_PURPOSE)
})
