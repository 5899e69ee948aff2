import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { loadConfig } from './config.js'
import { CommandError } from './errors.js'

let folder = ''
afterEach(() => rmSync(folder, { recursive: true, force: true }))

// An invalid manifest is the user's error, whichever part is wrong: the command reports the part, and must not crash.
test.each([
  ['no TOML', '[check\n', /harn\.toml/],
  ['a wrong option of a command', '[fmt]\nline_width = "wide"\n', /fmt\.line_width/],
  ['a server without a command', '[[mcp]]\nname = "lost"\n', /lost/],
  ['a hook without an event', '[[hooks]]\nhandler = "hooks.harn#run"\n', /hooks/],
])('a manifest with %s is refused', (_what, text, said) => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-config-'))
  writeFileSync(join(folder, 'harn.toml'), text)
  expect(() => loadConfig(folder)).toThrow(CommandError)
  expect(() => loadConfig(folder)).toThrow(said)
})
