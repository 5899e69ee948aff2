// The CI job, from a clean clone and without a terminal: set-up, `npm test`, sweeps, then in two lanes the main job, the tarballs, other
// machines and the checks on the code. Everything runs even if an earlier step failed (unless nothing could be built); the last
// line printed is the sum of all counts, and the exit code is 0 only if nothing failed.

import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { countsLine, forgetCounts, readCounts, sumCounts } from './counts.mjs'
import { NEWER_NODE, findNewerNode } from './newer-node.mjs'
import { root } from './workspace.mjs'

/** Unit tests that depend on the machine; the whole suite of scripts runs with them. */
const MOVED = ['--conformance', '--no-code', '--unit', 'packages/stdlib-tools/src/node', 'packages/cli/src']

/** Steps that install: they may use the user's caches. */
const INSTALLS = ['setup.mjs', 'pack-test.mjs']

// Leftovers of earlier runs, here or in a home folder, must not influence this one. Only installing uses the user's caches.
const own = mkdtempSync(join(tmpdir(), 'bridle-ci-'))
const places = { TMPDIR: join(own, 'tmp'), HOME: join(own, 'home') }
for (const place of Object.values(places)) mkdirSync(place)
// The tests on another machine run as another user, who needs access.
for (const place of [own, ...Object.values(places)]) chmodSync(place, 0o755)
process.once('exit', () => rmSync(own, { recursive: true, force: true }))

forgetCounts()
const all = [await step('setup', [join('scripts', 'setup.mjs')])]
if (all[0]?.failed === 0) {
  // These two use all cores.
  await run('npm test', [join('scripts', 'test.mjs')])
  all.push(readCounts('test'))
  await run('sweeps: every builtin, every script, generated programs, attacks', [
    join('scripts', 'test.mjs'),
    '--sweeps',
    '--rest',
  ])
  all.push(readCounts('sweeps'))
  // The others mostly use one core, so two lanes share the machine. What runs the suite of scripts in this checkout stays in one lane,
  // because scripts write beside themselves.
  const lanes = await Promise.all([
    runLane([() => onOtherMachine(), () => onNewerNode(), () => elsewhere()]),
    runLane([
      () => checkTypes(),
      () => lint(),
      () => tidy(),
      () => packs(),
      () => mcpServers(),
      () => mainJob(),
      () => setUpAgain(),
    ]),
  ])
  all.push(...lanes.flat())
}
const sum = sumCounts(all)
process.stdout.write(`${countsLine(sum)}\n`)
process.exitCode = sum.failed === 0 ? 0 : 1

/** One after the other. @param {(() => Promise<import('./counts.mjs').Counts>)[]} steps */
async function runLane(steps) {
  const counts = []
  for (const each of steps) counts.push(await each())
  return counts
}

/**
 * As another user, in another locale and time zone; the suite of scripts there also without code generation: if code must not be
 * made from strings (as under a strict policy in browsers), the base tier alone must behave the same.
 */
async function onOtherMachine() {
  await run('the tests on another machine, scripts without code generation', [join('scripts', 'other-machine.mjs'), ...MOVED])
  return readCounts('other')
}

async function packs() {
  await run('tarballs', [join('scripts', 'pack-test.mjs')])
  return readCounts('pack')
}

async function mcpServers() {
  const script = join('scripts', 'mcp-conformance', 'run.ts')
  await run('MCP servers by the conformance package of the protocol', ['--import', 'tsx', script, 'server'])
  return readCounts('mcp')
}

function elsewhere() {
  const sample = ['--import', 'tsx', join('fuzz', 'elsewhere.ts'), '--sample', '60']
  return step('snapshots restored in another process', sample)
}

function setUpAgain() {
  return step('set-up again does nothing', [join('scripts', 'setup.mjs')], (output) => output === '')
}

function checkTypes() {
  return step('types of tests and scripts', [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.tests.json'])
}

function lint() {
  return step('lint', [join('node_modules', 'oxlint', 'bin', 'oxlint'), '--type-aware'])
}

function tidy() {
  return step('tidy', ['--import', 'tsx', join('scripts', 'tidy.ts')])
}

/** The suite in mixed mode on the next Node version; skipped with a notice if that is not available. */
async function onNewerNode() {
  const binary = findNewerNode()
  if (binary === null) {
    process.stdout.write(`ci: Node ${NEWER_NODE} cannot be installed here; the suite on it is left out\n`)
    return { passed: 0, failed: 0 }
  }
  const suite = [join('packages', 'cli', 'dist', 'bridle.js'), 'conformance', 'conformance', '--mode', 'mixed']
  return step(`the suite on Node ${NEWER_NODE}`, suite, undefined, binary)
}

/** `npm start`: its last line is the path of the report, which must exist. */
function mainJob() {
  return step('main job', [join('examples', 'inventory.mjs')], (output) =>
    existsSync(resolve(root, output.trimEnd().split('\n').at(-1) ?? '')),
  )
}

/**
 * One counted command; `accept` may judge its output (stdout and stderr). `node` is the binary that runs it.
 * @param {string} name @param {string[]} args @param {(output: string) => boolean} [accept] @param {string} [node]
 */
async function step(name, args, accept = () => true, node = process.execPath) {
  const { status, output } = await run(name, args, node)
  const good = status === 0 && accept(output)
  process.stdout.write(good ? `ci: ${name}: ok\n` : `ci: ${name}: FAILED (exit code ${status})\n`)
  return { passed: good ? 1 : 0, failed: good ? 0 : 1 }
}

/**
 * Runs Node, and passes its output on when it has ended, so that lanes do not mix.
 * @param {string} name @param {string[]} args @param {string} [node]
 * @returns {Promise<{ status: number | string | null, output: string }>}
 */
function run(name, args, node = process.execPath) {
  process.stdout.write(`ci: ${name}\n`)
  const began = performance.now()
  const installs = args.some((arg) => INSTALLS.some((script) => arg.endsWith(script)))
  return new Promise((resolve) => {
    const child = spawn(node, args, {
      cwd: root,
      env: installs ? process.env : { ...process.env, ...places },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const pieces = { stdout: '', stderr: '' }
    for (const name of /** @type {const} */ (['stdout', 'stderr']))
      child[name].setEncoding('utf8').on('data', (piece) => (pieces[name] += piece))
    child.once('error', (cause) => (pieces.stderr += `${cause.message}\n`))
    child.once('close', (code, signal) => {
      const output = `${pieces.stderr}${pieces.stdout}`
      process.stdout.write(`${output}ci: ${name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
      resolve({ status: code ?? signal, output })
    })
  })
}
