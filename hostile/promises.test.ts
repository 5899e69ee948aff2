// Every promise of SECURITY.md is in the table, and each that it cites is attacked.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { codeCases, scriptCases } from './load-cases.js'
import { isPromise } from './promises.js'

const attacked = new Set(
  [...scriptCases(), ...(await codeCases('thread')), ...(await codeCases('process'))].map((one) => one.promise),
)

const root = new URL('../', import.meta.url)
const text = readFileSync(fileURLToPath(new URL('SECURITY.md', root)), 'utf8')
const start = text.indexOf('\n## Promises\n') + 1
const promised = text.slice(start, text.indexOf('\n## ', start)).split(/^- /m).slice(1)

/** Texts in the form [`…`]. */
function listCited(part: string): readonly string[] {
  return [...part.matchAll(/\[`([^`]+)`\]/g)].map(([, cited]) => cited!)
}

test('every promise of SECURITY.md cites its proof', () => {
  expect(promised.length).toBeGreaterThan(20)
  expect(promised.filter((each) => listCited(each).length === 0)).toEqual([])
})

test('its citations are promises of the table, or existing tests', () => {
  const isThere = (cited: string): boolean => isPromise(cited) || (cited.endsWith('.test.ts') && existsSync(new URL(cited, root)))
  expect(listCited(text).filter((cited) => !isThere(cited))).toEqual([])
})

test('each cited promise is attacked', () => {
  expect(listCited(text).filter((id) => isPromise(id) && !attacked.has(id))).toEqual([])
})
