// Names that a host denies are denied however they are spelled: file systems that fold case, compose letters or drop dots give the same file.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileWildcards, matchStars } from '@bridle/compiler/grants'
import { FileSandbox, SandboxViolation } from './sandbox.js'

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-denied-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const denies = (deny: string, name: string): boolean => {
  const sandbox = new FileSandbox({ roots: [folder], deny: [deny] })
  try {
    sandbox.resolve(join(folder, name), 'read', folder)
    return false
  } catch (cause) {
    if (cause instanceof SandboxViolation) return true
    throw cause
  }
}

describe('a denied name', () => {
  test.each([
    ['secret.txt', 'SECRET.TXT'],
    ['Secret.txt', 'sECRET.tXT'],
    ['caf\u00e9', 'cafe\u0301'],
    ['cafe\u0301', 'CAF\u00c9'],
    ['.git', '.g\u200cit'],
    ['stra\u00dfe', 'STRASSE'],
    ['key.pem', 'key.pem.'],
    ['key.pem', 'key.pem '],
    ['key.pem', 'key.pem::$DATA'],
    ['*.pem', 'a\nb.PEM'],
    ['*.pem', 'line\u2028break.pem'],
    ['k?y', 'k\ny'],
    ['secret', 'sub/Secret/file'],
  ])('%j is denied as %j', (deny, name) => {
    expect(denies(deny, name)).toBe(true)
  })

  test.each([
    ['secret.txt', 'secret.txtx'],
    ['*.pem', 'pem'],
    ['key', 'keys'],
    ['a', 'b:a'],
  ])('%j does not deny %j', (deny, name) => {
    expect(denies(deny, name)).toBe(false)
  })
})

test('a star matches line breaks too, in all patterns', () => {
  expect(matchStars('shop.*', 'shop.a\nb')).toBe(true)
  expect(compileWildcards('*.key', { separator: '/', deep: 'folders' })('a\nb.key')).toBe(true)
  expect(compileWildcards('**/x', { separator: '/', deep: 'folders' })('a\n/b/x')).toBe(true)
})
