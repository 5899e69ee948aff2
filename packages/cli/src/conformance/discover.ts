// Finds the scripts of a conformance suite. A script is a test when it has a sibling with the
// expected result; a `.harn` file without one is a helper that tests import. Nothing here reads a script's source.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { readEntries, readTarget } from '../targets.js'

export interface ConformanceTest {
  /** Path below the suite, forward slashes, without `.harn`. */
  readonly name: string
  readonly file: string
  /**
   * Decided by the sibling files: the program must finish with an output, or fail with one of some patterns, or it is only
   * analysed.
   */
  readonly kind: 'positive' | 'negative' | 'static'
  /** Content of the `.expected` or `.error` file; '' for a script that is only analysed. */
  readonly wanted: string
  /** For a script that is only analysed: contents of the files with the expected results, null for a missing one. */
  readonly views: StaticViews
  /** Content of `<stem>.llm-mock.jsonl`, the replies to model calls. */
  readonly llmMock: string | null
  /** Why the script is not run; null for one that is. */
  readonly parked: string | null
}

export interface StaticViews {
  /** `.findings`: the expected output of `bridle check --invariants`. */
  readonly findings: string | null
  /** `.fixed`: the script after all repairs. */
  readonly fixed: string | null
  /** `.formatted`: the formatted script. */
  readonly formatted: string | null
}

/** The tests below `path`, a folder or one file, in the order of judging and reporting. */
export function discover(path: string): ConformanceTest[] {
  // A script that is named runs even when it is parked: parking hides it from walks.
  if (statSync(path).isFile()) return [readTest(path, cutExtension(basename(path)), false)].filter((test) => test !== null)
  return listScripts(path).flatMap((file) => readTest(file, cutExtension(relative(path, file).split(sep).join('/')), true) ?? [])
}

function listScripts(folder: string): string[] {
  const entries = readEntries(folder).toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    // A link to a folder is not followed, so that a cycle of links cannot block the walk.
    if (entry.isDirectory()) return listScripts(path)
    return entry.name.endsWith('.harn') && isFile(path) ? [path] : []
  })
}

function readTest(file: string, name: string, walked: boolean): ConformanceTest | null {
  const base = join(dirname(file), cutExtension(basename(file)))
  const views: StaticViews = {
    findings: readTextIfAny(`${base}.findings`),
    fixed: readTextIfAny(`${base}.fixed`),
    formatted: readTextIfAny(`${base}.formatted`),
  }
  const isViewed = Object.values(views).some((text) => text !== null)
  const wanted = readTextIfAny(`${base}.expected`) ?? readTextIfAny(`${base}.error`)
  if (wanted === null && !isViewed) return null
  const kind = existsSync(`${base}.expected`) ? 'positive' : wanted === null ? 'static' : 'negative'
  const skip = `${base}.conformance-skip`
  const mock = `${base}.llm-mock.jsonl`
  return {
    name,
    file,
    kind,
    wanted: wanted ?? '',
    views,
    llmMock: readTextIfAny(mock),
    parked:
      walked && existsSync(skip) ? readFirstLine(readFileSync(skip, 'utf8')) || 'parked by its .conformance-skip file' : null,
  }
}

function readTextIfAny(path: string): string | null {
  return existsSync(path) ? readTarget(path) : null
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function cutExtension(path: string): string {
  return path.endsWith('.harn') ? path.slice(0, -'.harn'.length) : path
}

function readFirstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}
