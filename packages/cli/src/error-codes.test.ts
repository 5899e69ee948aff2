import { TOOL_ERROR_CODES } from '@bridle/stdlib-tools'
import { expect, test } from 'vitest'
import { ERROR_DOCS } from './error-codes.js'

test('exactly the codes of the machine are explained', () => {
  expect(Object.keys(ERROR_DOCS).sort()).toEqual(Object.keys(TOOL_ERROR_CODES).sort())
})
