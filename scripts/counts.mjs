// Counts of the test commands: each writes `.cache/counts/<name>.json`, and CI adds them up.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspace.mjs'

/** @typedef {{ passed: number, failed: number }} Counts */

const folder = join(root, '.cache', 'counts')

/** @param {string} name @param {Counts} counts */
export function writeCounts(name, counts) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(counts))
}

/**
 * The counts of the last run of `name`; a command that died before counting has failed once.
 * @param {string} name @returns {Counts}
 */
export function readCounts(name) {
  try {
    const { passed, failed } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
    return { passed, failed }
  } catch {
    return { passed: 0, failed: 1 }
  }
}

export function forgetCounts() {
  rmSync(folder, { recursive: true, force: true })
}

/** @param {Counts[]} all @returns {Counts} */
export function sumCounts(all) {
  return all.reduce((sum, one) => ({ passed: sum.passed + one.passed, failed: sum.failed + one.failed }), {
    passed: 0,
    failed: 0,
  })
}

/** The closing line that CI reads. @param {Counts} counts */
export function countsLine(counts) {
  return `${counts.passed} passed, ${counts.failed} failed`
}
