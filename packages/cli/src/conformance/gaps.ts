// `known-gaps.tsv`, beside the tests: scripts that currently fail, with the reason. A listed script is reported as skipped with its
// reason. A listed script that passes is a failure, so that the list can only shrink.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

export const GAPS_FILE = 'known-gaps.tsv'

/** Absolute script path → why it fails. */
export type KnownGaps = ReadonlyMap<string, string>

/** The list that applies to `path`: the nearest one in its folder or above, within four levels. */
export function readGaps(path: string): KnownGaps {
  const gaps = new Map<string, string>()
  const file = findNearestList(resolve(path))
  if (file === null) return gaps
  for (const [index, line] of readFileSync(file, 'utf8').split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [name, reason] = line.split('\t')
    if (name === undefined || reason === undefined || reason.trim() === '') {
      throw new Error(`${file}:${index + 1}: a line is a script's path below this folder, a tab and the reason`)
    }
    gaps.set(join(dirname(file), ...`${name.trim()}.harn`.split('/')), reason.trim())
  }
  return gaps
}

/** Listed scripts below `path` that do not exist, so that the list cannot outlive them. */
export function listStaleGaps(gaps: KnownGaps, path: string): string[] {
  const top = resolve(path)
  return [...gaps.keys()]
    .filter((file) => (file === top || file.startsWith(top + sep)) && !existsSync(file))
    .map((file) => relative(top, file))
}

function findNearestList(path: string): string | null {
  let folder = statSync(path).isDirectory() ? path : dirname(path)
  for (let level = 0; level < 4; level++) {
    const file = join(folder, GAPS_FILE)
    if (existsSync(file)) return file
    if (dirname(folder) === folder) return null
    folder = dirname(folder)
  }
  return null
}
