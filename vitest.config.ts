// Unit tests run from source: @bridle/* resolves to packages/*/src, so no build is needed before a test.
// `unit` and `process` are `npm test`: almost everything shares a worker, while `*.process.test.ts` files, which
// need a process of their own (signals, working folder, child processes), get a forked one each. `sweeps` are `npm run test:sweeps`:
// `*.sweep.test.ts` go through every builtin or every script, `fuzz/`, `hostile/` and `chaos/` through generated programs, attacks and
// disruptions.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { entries, root } from './scripts/workspace.mjs'

const alias = entries().map((entry) => ({
  find: new RegExp(`^${entry.name.replaceAll('/', '\\/')}$`),
  replacement: join(root, entry.source),
}))

const own = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts']
const inProcess = (globs: readonly string[]): string[] => globs.map((glob) => glob.replace('.test.ts', '.process.test.ts'))
const ownSweeps = [...own.map((glob) => glob.replace('.test.ts', '.sweep.test.ts')), 'bench/**/*.sweep.test.ts']
const generated = ['fuzz/**/*.test.ts', 'hostile/**/*.test.ts', 'chaos/**/*.test.ts']

/** One worker for all files: isolation costs 0.2 s a file. */
const shared = { pool: 'threads', isolate: false } as const
/** A process for each file. */
const apart = { pool: 'forks', isolate: true } as const

export default defineConfig({
  resolve: { alias },
  test: {
    // Half of the tests wait for processes of their own; the default on two cores is one worker.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Transformed modules outlive a run: each file of `process` reads hundreds of them in a process of its own, and so does the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: join(root, '.cache', 'vitest-modules') },
    projects: [
      { extends: true, test: { name: 'unit', include: own, exclude: [...inProcess(own), ...ownSweeps], ...shared } },
      { extends: true, test: { name: 'process', include: inProcess(own), ...apart } },
      {
        extends: true,
        test: { name: 'sweeps', include: [...ownSweeps, ...generated], exclude: inProcess(generated), ...shared },
      },
      { extends: true, test: { name: 'sweeps-process', include: inProcess(generated), ...apart } },
    ],
  },
})
