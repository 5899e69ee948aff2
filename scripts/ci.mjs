// What CI runs, from a clean clone and without a terminal: set-up, `npm test`, the main job, the tarballs, and the checks on
// the code. Everything runs even if something before it failed (unless nothing could be built); the last line printed is the
// sum of all that was counted, and the exit code is 0 only if nothing failed.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { countsLine, forgetCounts, readCounts, sumCounts } from './counts.mjs'
import { root } from './workspace.mjs'

forgetCounts()
const all = [step('setup', [join('scripts', 'setup.mjs')])]
if (all[0]?.failed === 0) {
  run('npm test', [join('scripts', 'test.mjs')])
  all.push(readCounts('test'))
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

/** `npm start`: its last line is the path of the report, which must exist. */
function mainJob() {
  return step('main job', [join('examples', 'inventory.mjs')], (output) =>
    existsSync(resolve(root, output.trimEnd().split('\n').at(-1) ?? '')),
  )
}

/**
 * One counted command; `accept` may judge what it printed (stdout and stderr).
 * @param {string} name @param {string[]} args @param {(output: string) => boolean} accept
 */
function step(name, args, accept = () => true) {
  const { status, output } = run(name, args)
  const good = status === 0 && accept(output)
  process.stdout.write(good ? `ci: ${name}: ok\n` : `ci: ${name}: FAILED (exit code ${status})\n`)
  return { passed: good ? 1 : 0, failed: good ? 0 : 1 }
}

/** Runs Node and passes on what it prints. @param {string} name @param {string[]} args */
function run(name, args) {
  process.stdout.write(`ci: ${name}\n`)
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  })
  const output = `${result.stderr ?? ''}${result.stdout ?? ''}`
  process.stdout.write(output)
  return { status: result.status, output }
}
