// `npm run check`: everything before a commit. Generates, builds, then checks types of tests, lint, tidy, tests and conformance,
// and continues after a failure so that one run shows all problems. `--quick` skips the tests (for a commit hook).

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspace.mjs'

/** @type {{ name: string, args: string[] }[]} run by Node, in this order */
const steps = [
  { name: 'generate', args: ['scripts/generate.mjs'] },
  { name: 'build', args: ['scripts/setup.mjs'] },
  { name: 'types', args: [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.tests.json'] },
  { name: 'format', args: [join('node_modules', 'oxfmt', 'bin', 'oxfmt'), '--check'] },
  { name: 'lint', args: [join('node_modules', 'oxlint', 'bin', 'oxlint'), '--type-aware'] },
  { name: 'tidy', args: ['--import', 'tsx', 'scripts/tidy.ts'] },
]
if (!process.argv.includes('--quick')) steps.push({ name: 'tests', args: ['scripts/test.mjs'] })

const failed = []
for (const { name, args } of steps) {
  process.stdout.write(`check: ${name}\n`)
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) failed.push(name)
}
process.stdout.write(failed.length === 0 ? 'check: all good\n' : `check: failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
