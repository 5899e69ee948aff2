// Which builtins of the reference are not defined yet, by area (`coverage.tsv` is the list). The count may only shrink: set
// MOST_MISSING to what the test prints when it does.

import { createRegistry } from '@bridle/vm/families'
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { STANDARD_FAMILIES } from '../../test-support/standard-families.js'

const MOST_MISSING = 65

/** Defined by @bridle/stdlib-tools, which this package cannot see. */
const ELSEWHERE = new Set(['mcp'])

/** Recognised by the compiler before any builtin is looked up. */
const SYNTAX = new Set(['spawn'])

function rows(): (readonly [name: string, area: string])[] {
  const text = readFileSync(new URL('coverage.tsv', import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name, area] = line.split('\t')
      return [name ?? '', area ?? ''] as const
    })
}

test('the list has every name once, with an area', () => {
  const names = rows().map(([name]) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(rows().filter(([name, area]) => name === '' || area === '')).toEqual([])
})

test('fewer and fewer builtins are missing', () => {
  const { builtins, constants } = createRegistry(STANDARD_FAMILIES)
  const missing = rows().filter(
    ([name, area]) => !builtins.has(name) && !constants.has(name) && !ELSEWHERE.has(area) && !SYNTAX.has(name),
  )
  const byArea = new Map<string, string[]>()
  for (const [name, area] of missing) byArea.set(area, [...(byArea.get(area) ?? []), name])
  const report = [...byArea].map(([area, names]) => `${area} (${names.length}): ${names.join(' ')}`)
  console.info(`missing builtins, ${missing.length}:\n${report.join('\n')}`)
  expect(missing.length).toBeLessThanOrEqual(MOST_MISSING)
})

/** What scripts call, by name: `name(` anywhere but in comments. */
function calledByScripts(): ReadonlySet<string> {
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
  const called = calledByScripts()
  const { builtins } = createRegistry(STANDARD_FAMILIES)
  // Names with underscores in front, and `…_native`, are those that `std/` modules call for scripts.
  const uncalled = [...builtins.keys()].filter((name) => !called.has(name.split('.').at(-1)!) && !/^__|_native$/.test(name))
  expect(uncalled).toEqual([])
})
