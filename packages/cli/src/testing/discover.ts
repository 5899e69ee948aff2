// Finds what `bridle test` runs: the pipelines of a script that are named `test_…` or carry `@test`. Folders
// are walked for `.harn` files; files without such a pipeline are not test files.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse, SourceFile } from '@bridle/parser'
import type { PipelineDecl, Span } from '@bridle/parser'
import { UsageError } from '../errors.js'
import { readEntries, readTarget } from '../targets.js'

export interface TestFile {
  /** As the caller wrote it, or the path below the folder that was named. */
  readonly path: string
  /** Real path: the name in modules and traces. */
  readonly key: string
  readonly text: string
  /** Test pipelines in the order of the file; empty for a file that does not parse. */
  readonly tests: readonly string[]
  /** Their positions. */
  readonly spans: readonly Span[]
  /** The first finding of a file that does not parse. */
  readonly problem: string | null
}

/** Folders with code of others, or output of programs. */
const SKIPPED = new Set(['node_modules', '.git', '.harn', '.harn-runs', 'target', 'dist'])

/** The test files below `paths`, sorted by path within each. Throws UsageError for a path that does not exist. */
export function discoverTests(paths: readonly string[]): readonly TestFile[] {
  const seen = new Set<string>()
  const found: TestFile[] = []
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`${path} does not exist`, { code: 'unreadable_file', file: path })
    for (const script of listScripts(path)) {
      const key = realpathSync(script)
      if (seen.has(key)) continue
      seen.add(key)
      const file = readTests(script, key)
      if (file.tests.length > 0 || file.problem !== null) found.push(file)
    }
  }
  return found
}

function readTests(path: string, key: string): TestFile {
  const text = readTarget(path)
  const { program, diagnostics } = parse(new SourceFile(key, text))
  if (program === null) {
    const problem = diagnostics.find((each) => each.severity === 'error')?.message ?? 'the file does not parse'
    return { path, key, text, tests: [], spans: [], problem }
  }
  const tests = program.items.filter((item): item is PipelineDecl => item.kind === 'PipelineDecl' && isTest(item))
  return { path, key, text, tests: tests.map((item) => item.name.text), spans: tests.map((item) => item.span), problem: null }
}

function isTest(pipeline: PipelineDecl): boolean {
  return pipeline.name.text.startsWith('test_') || pipeline.attributes.some((attribute) => attribute.name.text === 'test')
}

function listScripts(path: string): string[] {
  const found = statSync(path)
  if (found.isFile()) return [path]
  if (!found.isDirectory()) throw new UsageError(`${path} is neither a file nor a folder`)
  const entries = readEntries(path).toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return entries.flatMap((entry) => {
    const below = join(path, entry.name)
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : listScripts(below)
    return entry.isFile() && entry.name.endsWith('.harn') ? [below] : []
  })
}
