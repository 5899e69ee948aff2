// The examples of README.md and of the page on embedding compile under strict TypeScript against the packages as they are published.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../..')
const PAGES = ['README.md', 'docs/embedding/README.md', 'docs/embedding/host-tools.md']

const SETTINGS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  target: 'ES2023',
  lib: ['ES2023', 'ESNext.Disposable'],
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  moduleDetection: 'force',
  types: ['node'],
  skipLibCheck: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
}

/** Imports of examples from the reader's own modules. */
const OWN = "/** @type {import('ai').LanguageModel} */\nexport const model = 'a model'\n"

/** The blocks in TypeScript or JavaScript of a page, with their language. */
function listExamples(page: string): readonly (readonly [language: string, text: string])[] {
  const parts = readFileSync(join(ROOT, page), 'utf8').split('\n```')
  return parts.flatMap((part) => {
    const end = part.indexOf('\n')
    const language = part.slice(0, end)
    return ['ts', 'js'].includes(language) ? [[language, part.slice(end + 1)] as const] : []
  })
}

test('examples compile under strict settings', async () => {
  // Inside the checkout, where the packages are found.
  mkdirSync(join(ROOT, 'packages/cli/.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'packages/cli/.cache/examples-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: SETTINGS, include: ['*.ts', '*.js'] }))
    const examples = PAGES.flatMap((page) =>
      listExamples(page).map(([language, text], at) => [`${page.replaceAll('/', '-')}-${at}.${language}`, text] as const),
    )
    expect(examples.length).toBeGreaterThan(5)
    for (const [name, text] of examples) writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, 'model.js'), OWN)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const told = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).then(
      () => '',
      (cause: { readonly stdout?: string }) => cause.stdout ?? String(cause),
    )
    expect(told).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
