// `npm test`: unit tests (vitest, from source), then the conformance scripts through the built command, in `sample` mode.
// `npm run test:sweeps` (`--sweeps`): the tests that go through every builtin, every script, or generated programs and attacks, then
// the conformance scripts in all modes; with `--rest`, where `npm test` has passed already, in the mode that `sample` left out.
// Further arguments go to vitest (`npm test -- -u`); naming test files leaves the conformance scripts out.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copySources } from './copy-checkout.mjs'
import { countsLine, sumCounts, writeCounts } from './counts.mjs'
import { root } from './workspace.mjs'

const isSweep = process.argv.includes('--sweeps')
const isRest = process.argv.includes('--rest')
const args = process.argv.slice(2).filter((arg) => arg !== '--sweeps' && arg !== '--rest')
const name = isSweep ? 'sweeps' : 'test'
/** Named files are run in whichever project they are. */
const areAll = args.every((arg) => arg.startsWith('-'))
const projects = isSweep ? ['sweeps', 'sweeps-process'] : ['unit', 'process', 'alone']
const cache = join(root, '.cache')
mkdirSync(cache, { recursive: true })

const counts = [runUnitTests()]
if (areAll) counts.push(runConformance(isRest ? 'rest' : isSweep ? 'all' : 'sample'))
const sum = sumCounts(counts)
writeCounts(name, sum)
process.stdout.write(`\n${countsLine(sum)}\n`)
process.exitCode = sum.failed === 0 ? 0 : 1

function runUnitTests() {
  const report = join(cache, `vitest-${name}.json`)
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', ...(areAll ? projects.map((each) => `--project=${each}`) : []), ...reporters, ...args],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  let passed = 0
  let failed = 0
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'))
    passed = result.numPassedTests
    // A file that cannot be loaded has no tests of its own, and must still count.
    const brokenFiles = result.testResults.filter(
      (/** @type {any} */ file) =>
        file.status === 'failed' && !file.assertionResults.some((/** @type {any} */ test) => test.status === 'failed'),
    )
    failed = result.numFailedTests + brokenFiles.length
  } catch (cause) {
    process.stdout.write(`vitest left no report: ${cause}\n`)
  }
  return { passed, failed: status === 0 ? failed : Math.max(failed, 1) }
}

/** On a copy: scripts write beside themselves, and must find nothing of an earlier run. @param {string} mode */
function runConformance(mode) {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-suite-'))
  try {
    copySources(folder, (path) => path.startsWith('conformance/'))
    return runConformanceIn(folder, mode)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder @param {string} mode */
function runConformanceIn(folder, mode) {
  const bridle = join(root, 'packages', 'cli', 'dist', 'bridle.js')
  const command = [bridle, 'conformance', 'conformance', '--mode', mode, '--json']
  // The largest report so far has a few hundred bytes per script; 256 MiB is far above any suite.
  const run = spawnSync(process.execPath, command, {
    cwd: folder,
    // Our own scripts also check that builtins have no effects other than the declared ones.
    env: { ...process.env, BRIDLE_ENFORCE_MANIFEST: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  })
  try {
    const report = JSON.parse(run.stdout)
    for (const result of report.results) {
      if (result.status === 'failed') process.stdout.write(`FAIL ${result.name}\n${indent(String(result.message ?? ''))}\n`)
    }
    process.stdout.write(`conformance, ${mode}: ${countsLine(report)}, ${report.skipped} skipped\n`)
    return { passed: report.passed, failed: run.status === 0 ? report.failed : Math.max(report.failed, 1) }
  } catch {
    process.stdout.write(`conformance left no report (exit code ${run.status ?? run.signal})\n${run.stdout}\n`)
    return { passed: 0, failed: 1 }
  }
}

/** @param {string} text */
function indent(text) {
  return text.replace(/^/gm, '    ')
}
