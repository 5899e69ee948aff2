// What CI runs, from a clean clone and without a terminal: set-up, `npm test`, the main job, the tarballs, and the checks on
// the code. Everything runs even if something before it failed (unless nothing could be built); the last line printed is the
// sum of all that was counted, and the exit code is 0 only if nothing failed.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { countsLine, forgetCounts, readCounts, sumCounts } from './counts.mjs'
import { NEWER_NODE, findNewerNode } from './newer-node.mjs'
import { root } from './workspace.mjs'

/** Unit tests of what meets the machine; the whole suite of scripts goes with them. */
const MOVED = ['--conformance', '--unit', 'packages/stdlib-tools/src/node', 'packages/cli/src']

/** Steps that install: they may use the caches of the user. */
const INSTALLS = ['setup.mjs', 'pack-test.mjs']

// What earlier runs have left, here or in a home, must not decide how this one ends. Only installing uses the caches of the user.
const own = mkdtempSync(join(tmpdir(), 'bridle-ci-'))
const places = { TMPDIR: join(own, 'tmp'), HOME: join(own, 'home') }
for (const place of Object.values(places)) mkdirSync(place)
// The tests on another machine run as another user, who must be able to get there.
for (const place of [own, ...Object.values(places)]) chmodSync(place, 0o755)
process.once('exit', () => rmSync(own, { recursive: true, force: true }))

forgetCounts()
const all = [step('setup', [join('scripts', 'setup.mjs')])]
if (all[0]?.failed === 0) {
  run('npm test', [join('scripts', 'test.mjs')])
  all.push(readCounts('test'))
  run('sweeps: every builtin, every script, generated programs, attacks', [join('scripts', 'test.mjs'), '--sweeps'])
  all.push(readCounts('sweeps'))
  run('tarballs', [join('scripts', 'pack-test.mjs')])
  all.push(readCounts('pack'))
  run('MCP servers by the conformance package of the protocol', [
    '--import',
    'tsx',
    join('scripts', 'mcp-conformance', 'run.ts'),
    'server',
  ])
  all.push(readCounts('mcp'))
  all.push(mainJob())
  all.push(withoutCodeGeneration())
  run('the tests on another machine', [join('scripts', 'other-machine.mjs'), ...MOVED])
  all.push(readCounts('other'))
  all.push(onNewerNode())
  const sample = ['--import', 'tsx', join('fuzz', 'elsewhere.ts'), '--sample', '60']
  all.push(step('snapshots restored in another process', sample))
  all.push(step('set-up again does nothing', [join('scripts', 'setup.mjs')], (output) => output === ''))
  all.push(step('types of tests and scripts', [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.tests.json']))
  all.push(step('lint', [join('node_modules', 'oxlint', 'bin', 'oxlint'), '--type-aware']))
  all.push(step('tidy', ['--import', 'tsx', join('scripts', 'tidy.ts')]))
}
const sum = sumCounts(all)
process.stdout.write(`${countsLine(sum)}\n`)
process.exitCode = sum.failed === 0 ? 0 : 1

/** Where no code may be made from text (as under a strict policy in browsers), the base tier alone does the same. */
function withoutCodeGeneration() {
  const suite = [join('packages', 'cli', 'dist', 'bridle.js'), 'conformance', 'conformance', '--mode', 'base']
  return step('the suite without code generation', ['--disallow-code-generation-from-strings', ...suite])
}

/** The suite in mixed mode on the Node that comes next; left out with a notice where that cannot be had. */
function onNewerNode() {
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
 * One counted command; `accept` may judge what it printed (stdout and stderr). `node` is the binary that runs it.
 * @param {string} name @param {string[]} args @param {(output: string) => boolean} [accept] @param {string} [node]
 */
function step(name, args, accept = () => true, node = process.execPath) {
  const { status, output } = run(name, args, node)
  const good = status === 0 && accept(output)
  process.stdout.write(good ? `ci: ${name}: ok\n` : `ci: ${name}: FAILED (exit code ${status})\n`)
  return { passed: good ? 1 : 0, failed: good ? 0 : 1 }
}

/** Runs Node and passes on what it prints. @param {string} name @param {string[]} args @param {string} [node] */
function run(name, args, node = process.execPath) {
  process.stdout.write(`ci: ${name}\n`)
  const began = performance.now()
  const installs = args.some((arg) => INSTALLS.some((script) => arg.endsWith(script)))
  const result = spawnSync(node, args, {
    cwd: root,
    env: installs ? process.env : { ...process.env, ...places },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  })
  const output = `${result.stderr ?? ''}${result.stdout ?? ''}`
  process.stdout.write(output)
  process.stdout.write(`ci: ${name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  return { status: result.status, output }
}
