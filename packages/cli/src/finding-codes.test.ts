// Catalogues are joined by code: of two rows with the same code, one would hide the other.

import { CHECK_CATALOG, CHECK_CATALOGS } from '@bridle/compiler'
import { expect, test } from 'vitest'
import { CATALOGS, FINDING_CODES } from './finding-codes.js'

test('no code is in two catalogues, and no lint rule has two codes', () => {
  const parts = CATALOGS.flatMap((catalog) => (catalog === CHECK_CATALOG ? CHECK_CATALOGS : [catalog]))
  const codes = parts.flatMap((catalog) => Object.keys(catalog))
  expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([])
  expect(Object.keys(FINDING_CODES)).toHaveLength(codes.length)
  const rules = Object.values(FINDING_CODES).flatMap(({ rule }) => rule ?? [])
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([])
})
