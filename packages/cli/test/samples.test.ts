// All published scripts pass `bridle check`, `bridle lint` and `bridle fmt --check`: the ```harn
// blocks of README.md, docs/ and the other pages, and examples/*.harn. A block that shows a mistake is followed by a ```findings block
// with the output of `check`: `LINE:COLUMN severity[rule or code] message`, one per line.

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test, vi } from 'vitest'
import { checkCommand } from '../src/commands/check.js'
import { fmtCommand } from '../src/commands/fmt.js'
import { lintCommand } from '../src/commands/lint.js'
import type { JsonFinding } from '../src/findings.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bridle-samples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const BLOCKS = /^```(harn|findings)(?: file=(\S+))?\n([\s\S]*?)^```$/gm

interface Sample {
  /** Relative to `folder`, `PAGE/LINE.harn` or `PAGE/MODULE`. */
  readonly file: string
  wanted: string
}

function listPages(): string[] {
  const listBelow = (at: string): string[] =>
    readdirSync(join(root, at), { withFileTypes: true }).flatMap((entry) => {
      if (entry.isDirectory()) return listBelow(join(at, entry.name))
      return entry.name.endsWith('.md') ? [join(at, entry.name)] : []
    })
  const own = readdirSync(root).filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')
  const packaged = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md'))
  const others = ['conformance', 'fuzz', 'hostile', 'editors/vscode'].map((name) => join(name, 'README.md'))
  return [...own, ...listBelow('docs'), ...[...packaged, ...others].filter((name) => existsSync(join(root, name)))].sort()
}

function listSamples(page: string): Sample[] {
  const text = readFileSync(join(root, page), 'utf8')
  const found: Sample[] = []
  for (const match of text.matchAll(BLOCKS)) {
    const [, kind, name, content = ''] = match
    const last = found.at(-1)
    if (kind === 'findings') {
      if (last !== undefined) last.wanted = content
      continue
    }
    const line = text.slice(0, match.index).split('\n').length
    const sample = { file: join(page, name ?? `line-${line}.harn`), wanted: '' }
    mkdirSync(dirname(join(folder, sample.file)), { recursive: true })
    writeFileSync(join(folder, sample.file), content)
    found.push(sample)
  }
  const opened = [...text.matchAll(/^\s*```+harn/gm)].length
  expect({ page, read: found.length }).toEqual({ page, read: opened })
  return found
}

// So that no settings of a folder above apply.
writeFileSync(join(folder, 'harn.toml'), '')
const samples = listPages().flatMap(listSamples)
for (const name of readdirSync(join(root, 'examples')).filter((each) => each.endsWith('.harn'))) {
  const file = join('examples', name)
  mkdirSync(join(folder, 'examples'), { recursive: true })
  cpSync(join(root, file), join(folder, file))
  samples.push({ file, wanted: '' })
}

/** Output of a command. */
async function captureWritten(stream: 'stdout' | 'stderr', command: () => number | Promise<number>): Promise<string> {
  let text = ''
  const spy = vi.spyOn(process[stream], 'write').mockImplementation((part) => {
    text += String(part)
    return true
  })
  try {
    await command()
    return text
  } finally {
    spy.mockRestore()
  }
}

/** Lines in the form of a ```findings block, by sample. */
function groupFindings(json: string): (file: string) => string {
  const findings = JSON.parse(json) as readonly (JsonFinding & { readonly line: number; readonly column: number })[]
  return (file) =>
    findings
      .filter(({ path }) => relative(folder, path) === file)
      .map(({ line, column, severity, rule, code, message }) => `${line}:${column} ${severity}[${rule ?? code}] ${message}\n`)
      .join('')
}

const checked = groupFindings(await captureWritten('stdout', () => checkCommand([folder], { json: true })))
const linted = groupFindings(await captureWritten('stdout', () => lintCommand([folder], { json: true })))
const misplaced = await captureWritten('stderr', () => fmtCommand([folder], { check: true }))

test('the pages have samples', () => {
  expect(samples.length).toBeGreaterThan(100)
})

test.each(samples.map((sample) => [sample.file, sample] as const))('%s', (_, { file, wanted }) => {
  // Findings of `check`, and of lint except style.
  const told = new Set(`${checked(file)}${linted(file)}`.split('\n'))
  expect(new Set(wanted.split('\n'))).toEqual(told)
  expect(misplaced).not.toContain(`${join(folder, file)}: `)
})
