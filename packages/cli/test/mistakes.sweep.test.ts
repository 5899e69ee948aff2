// No false alarms: what `check --strict` finds in all scripts of the suite, which are right but for those that are wrong on purpose.

import { readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { FOLDER, check } from './strict-check.js'

const TESTS = resolve(FOLDER, '../tests')

/** Scripts of the suite that are wrong on purpose, since they show what a run makes of a mistake: `path<TAB>code<TAB>how often`. */
const ON_PURPOSE = resolve(FOLDER, 'on-purpose.tsv')

// As `check --strict` does. Each line of the list was read: one that is new is a false alarm, or a mistake on purpose that `-u` adds to it.
// It checks the whole suite, which takes long where other tests run beside it.
test('scripts of the suite give no finding that is not meant', { timeout: 180_000 }, async () => {
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
