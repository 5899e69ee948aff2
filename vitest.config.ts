// Unit tests run from source: @bridle/* resolves to packages/*/src, so no build is needed before a test.
// Two projects: almost everything shares one worker (isolation costs 0.2 s a file), while `*.process.test.ts` files, which
// need a process of their own (signals, working folder, child processes), get a forked one each.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { entries, root } from './scripts/workspace.mjs'

const alias = entries().map((entry) => ({
  find: new RegExp(`^${entry.name.replaceAll('/', '\\/')}$`),
  replacement: join(root, entry.source),
}))

const own = [
  'packages/*/src/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'scripts/**/*.test.ts',
  'fuzz/**/*.test.ts',
  'hostile/**/*.test.ts',
]
const ownProcess = own.map((glob) => glob.replace('.test.ts', '.process.test.ts'))

export default defineConfig({
  resolve: { alias },
  test: {
    // Half of the tests wait for processes of their own; the default on two cores is one worker.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'unit', include: own, exclude: ownProcess, pool: 'threads', isolate: false } },
      { extends: true, test: { name: 'process', include: ownProcess, pool: 'forks', isolate: true } },
    ],
  },
})
