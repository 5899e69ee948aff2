// What SECURITY.md promises are promises of the table, and each that it cites is attacked.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { codeCases, scriptCases } from './load-cases.js'
import { isPromise } from './promises.js'

const attacked = new Set(
  [...scriptCases(), ...(await codeCases('thread')), ...(await codeCases('process'))].map((one) => one.promise),
)

const text = readFileSync(fileURLToPath(new URL('../SECURITY.md', import.meta.url)), 'utf8')
const cited = new Set([...text.matchAll(/\[`([a-z-]+)`\]/g)].map(([, id]) => id!))

test('SECURITY.md cites promises of the table', () => {
  expect([...cited].filter((id) => !isPromise(id))).toEqual([])
})

test('what it cites is attacked', () => {
  expect([...cited].filter((id) => isPromise(id) && !attacked.has(id))).toEqual([])
})
