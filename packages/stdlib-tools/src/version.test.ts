import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from './version.js'

test('the version is that of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  expect(VERSION).toBe(manifest.version)
})
