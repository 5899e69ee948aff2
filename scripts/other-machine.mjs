// The tests as another user would run them: a copy of this checkout in a folder with blanks in its name, run by an unprivileged user
// (`nobody` if we are root), with a locale that is not installed, another time zone, a narrow umask, an unreadable folder in
// PATH, and empty folders for HOME and temporary files. `--conformance` and `--unit` run one half; with `--no-code` V8 makes no
// code from strings for the scripts; further arguments go to vitest.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { countsLine, sumCounts, writeCounts } from './counts.mjs'
import { copyCheckout } from './copy-checkout.mjs'

const words = process.argv.slice(2).filter((word) => word !== '--no-code')
/** Flags of Node for the scripts. */
const flags = process.argv.includes('--no-code') ? ['--disallow-code-generation-from-strings'] : []
/** @type {string[]} */
const halves = words.filter((word) => word === '--conformance' || word === '--unit')
const forVitest = words.filter((word) => !halves.includes(word))
const runs = (/** @type {string} */ half) => halves.length === 0 || halves.includes(half)

if (process.platform === 'win32') {
  process.stdout.write('other machine: there are no other users to try here; left out\n')
  writeCounts('other', { passed: 0, failed: 0 })
} else {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'bridle other machine '))
  try {
    const counts = runIn(folder)
    writeCounts('other', counts)
    process.stdout.write(`other machine: ${countsLine(counts)}\n`)
    process.exitCode = counts.failed === 0 ? 0 : 1
  } finally {
    chmodSync(join(folder, 'locked'), 0o700)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder */
function runIn(folder) {
  const checkout = join(folder, 'a check out')
  const places = { home: join(folder, 'home'), tmp: join(folder, 'temporary files'), locked: join(folder, 'locked') }
  for (const place of [checkout, ...Object.values(places)]) mkdirSync(place)
  copyCheckout(checkout)
  const user = reachableBy(otherUser(), folder)
  chmodSync(folder, 0o755)
  if (user !== null) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])
  // Owned by root if we are root, so that the other user can neither read nor search it.
  if (user !== null) spawnSync('chown', ['root', places.locked])
  chmodSync(places.locked, 0)
  const env = {
    PATH: [places.locked, process.env['PATH'] ?? ''].join(delimiter),
    HOME: places.home,
    TMPDIR: places.tmp,
    LANG: 'xx_YY.UTF-8',
    LC_ALL: 'xx_YY.UTF-8',
    TZ: 'Asia/Kathmandu',
    ...(process.env['CI'] === undefined ? {} : { CI: process.env['CI'] }),
  }
  /** @param {string[]} args */
  const node = (...args) =>
    spawnSync('/bin/sh', ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, ...args], {
      cwd: checkout,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 28,
      ...user,
    })
  const counts = []
  if (runs('--conformance')) counts.push(conformance(node))
  if (runs('--unit')) counts.push(unitTests(node, checkout))
  return sumCounts(counts)
}

/** @param {(...args: string[]) => { stdout: string, status: number | null }} node */
function conformance(node) {
  const bridle = join('packages', 'cli', 'dist', 'bridle.js')
  const run = node(...flags, bridle, 'conformance', 'conformance', '--mode', 'base', '--json')
  try {
    const report = JSON.parse(run.stdout)
    for (const result of report.results) {
      if (result.status === 'failed') process.stdout.write(`FAIL ${result.name}\n${result.message}\n`)
    }
    return { passed: report.passed, failed: report.failed }
  } catch {
    process.stdout.write(`other machine: no report of the suite (exit code ${run.status})\n${run.stdout}\n`)
    return { passed: 0, failed: 1 }
  }
}

/** @param {(...args: string[]) => { stdout: string, status: number | null }} node @param {string} checkout */
function unitTests(node, checkout) {
  const report = join(checkout, 'vitest-report.json')
  const vitest = join('node_modules', 'vitest', 'vitest.mjs')
  const run = node(vitest, 'run', '--reporter=json', `--outputFile.json=${report}`, ...forVitest)
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    for (const file of result.testResults) {
      if (file.status !== 'failed') continue
      const broken = file.assertionResults.filter((/** @type {any} */ test) => test.status === 'failed')
      if (broken.length === 0) process.stdout.write(`FAIL ${file.name}\n${file.message}\n`)
      for (const test of broken)
        process.stdout.write(`FAIL ${file.name} > ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 2000)}\n`)
    }
    const failed = Math.max(result.numFailedTests, result.numFailedTestSuites === 0 ? 0 : 1)
    return { passed: result.numPassedTests, failed }
  } catch {
    process.stdout.write(`other machine: vitest left no report (exit code ${run.status})\n${run.stdout}\n`)
    return { passed: 0, failed: 1 }
  }
}

/**
 * The user, or null with a notice if that user has no access to the folder: below a private temporary folder.
 * @param {{ uid: number, gid: number } | null} user @param {string} folder
 */
function reachableBy(user, folder) {
  if (user === null) return null
  chmodSync(folder, 0o755)
  if (spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], user).status === 0) return user
  process.stdout.write(`other machine: another user cannot get to ${folder}; the tests run as this user\n`)
  return null
}

/** Null if we are already an ordinary user, or if that user could not start Node. */
function otherUser() {
  if (process.getuid?.() !== 0) return null
  const id = (/** @type {string} */ flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout)
  const user = { uid: id('-u'), gid: id('-g') }
  const canStart =
    user.uid > 0 && spawnSync(process.execPath, ['--version'], { ...user, cwd: '/', stdio: 'ignore', env: {} }).status === 0
  if (canStart) return user
  process.stdout.write('other machine: no other user can start Node here; run by the same user\n')
  return null
}
