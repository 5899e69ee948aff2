// The programs of docs/embedding/ and docs/tools/: a ```ts block is a separate module that runs without failing and prints the
// ```output after it; `npm test` runs every third of them. ```ts part blocks are excerpts, which are not run.

import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, inject, test, vi } from 'vitest'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
// Below a package, so that the modules find the libraries that an embedder has.
const cache = fileURLToPath(new URL(`../.cache/pages${inject('isDense') ? '-dense' : ''}`, import.meta.url))
const BLOCKS = /^```(ts|output)\n([\s\S]*?)^```$/gm

interface Program {
  readonly name: string
  readonly source: string
  /** null when the page shows no output. */
  readonly output: string | null
}

function listPrograms(page: string): Program[] {
  const text = readFileSync(join(docs, page), 'utf8')
  const found: { name: string; source: string; output: string | null; end: number }[] = []
  for (const match of text.matchAll(BLOCKS)) {
    const [block, kind, content = ''] = match
    const line = text.slice(0, match.index).split('\n').length
    const before = found.at(-1)
    if (kind === 'ts') found.push({ name: `${page}:${line}`, source: content, output: null, end: match.index + block.length })
    else if (before?.output === null && text.slice(before.end, match.index).trim() === '') before.output = content
  }
  return found
}

const programs = ['embedding', 'tools'].flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) => listPrograms(`${folder}/${name}`)),
)

rmSync(cache, { recursive: true, force: true })
mkdirSync(cache, { recursive: true })
afterAll(() => rmSync(cache, { recursive: true, force: true }))

test('the pages have programs', () => {
  expect(programs.length).toBeGreaterThan(8)
})

const chosen = inject('isDense') ? programs : programs.filter((_, at) => at % 3 === 0)
test.each(chosen.map((program) => [program.name, program] as const))('%s', async (_, { name, source, output }) => {
  const file = join(cache, `${name.replace(/\W+/g, '-')}.ts`)
  writeFileSync(file, source)
  const printed: string[] = []
  const log = vi
    .spyOn(console, 'log')
    .mockImplementation((...words: unknown[]) => void printed.push(`${words.map(formatValue).join(' ')}\n`))
  try {
    await import(/* @vite-ignore */ file)
  } finally {
    log.mockRestore()
  }
  if (output !== null) expect(printed.join('')).toBe(output)
})

/** Strings unchanged, other values as JSON. */
function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}
