// The programs of the corpus: their folders, sizes, and sources in Harn. One folder is one program; see README.md.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const HALVES = ['visible', 'sealed'] as const
export type Half = (typeof HALVES)[number]

export interface CorpusProgram {
  readonly half: Half
  readonly name: string
  readonly folder: string
  /** N of a measured run. */
  readonly size: number
  /** N of a test. */
  readonly small: number
}

const SIZE_LINE = /^let N = (\d+) \/\/ small (\d+)$/m

/** The folder of the corpus in a checkout. */
export function findCorpus(): string {
  return dirname(fileURLToPath(import.meta.url))
}

export function listPrograms(half: Half, corpus: string): CorpusProgram[] {
  return readdirSync(join(corpus, half))
    .toSorted()
    .map((name) => {
      const folder = join(corpus, half, name)
      const found = SIZE_LINE.exec(readFileSync(join(folder, 'main.harn'), 'utf8'))
      if (found === null) throw new Error(`${half}/${name}/main.harn has no line "let N = SIZE // small SIZE"`)
      return { half, name, folder, size: Number(found[1]), small: Number(found[2]) }
    })
}

/** The sources of a program at size `n`, by the path that its imports use; `main` is the entry. */
export function readTexts(
  folder: string,
  n: number,
): { readonly main: string; readonly modules: Readonly<Record<string, string>> } {
  const modules: Record<string, string> = {}
  for (const file of readdirSync(folder))
    if (file.endsWith('.harn') && file !== 'main.harn') modules[file.slice(0, -5)] = readFileSync(join(folder, file), 'utf8')
  return { main: readFileSync(join(folder, 'main.harn'), 'utf8').replace(SIZE_LINE, `let N = ${n}`), modules }
}
