// Every builtin has a conformance script; what the language has and Bridle has not is listed, and only that.

import { createRegistry } from '@bridle/vm/families'
import { MISSING_BUILTINS } from '@bridle/compiler'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STANDARD_FAMILIES } from '../../test-support/standard-families.js'

test('what is listed as missing is not there', () => {
  const { builtins } = createRegistry(STANDARD_FAMILIES)
  expect([...MISSING_BUILTINS].filter((name) => builtins.has(name))).toEqual([])
})

/** What scripts call, by name: `name(` anywhere but in comments. */
function listCalledByScripts(): ReadonlySet<string> {
  const suite = new URL('../../../../../conformance/', import.meta.url)
  const scripts = readdirSync(suite, { recursive: true, encoding: 'utf8' }).filter((name) => /[^/]\.harn$/.test(name))
  return new Set(
    scripts.flatMap((name) => {
      const code = readFileSync(new URL(name, suite), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
      return [...code.matchAll(/\b(\w+)\(/g)].map((match) => match[1]!)
    }),
  )
}

test('every builtin is called by a conformance script', () => {
  const called = listCalledByScripts()
  const { builtins } = createRegistry(STANDARD_FAMILIES)
  // Names with underscores in front, and `…_native`, are those that `std/` modules call for scripts.
  const uncalled = [...builtins.keys()].filter((name) => !called.has(name.split('.').at(-1)!) && !/^__|_native$/.test(name))
  expect(uncalled).toEqual([])
})
