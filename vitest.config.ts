// Unit tests run from source: @bridle/* resolves to packages/*/src, so no build is needed before a test.
// `unit`, `process` and `alone` are `npm test`. Files share workers, since loading the sources again for each takes 1 to 2 s of processor
// time: `unit` threads, and `*.process.test.ts`, which need what only a main thread has (signals, working folder, child processes),
// forked processes. One file is alone in its own. `sweeps` are `npm run test:sweeps`:
// `*.sweep.test.ts` go through every builtin or every script, `fuzz/`, `hostile/` and `chaos/` through generated programs, attacks and
// disruptions. The files of `sampled` belong to both: `npm test` runs a part of what they have or make, the sweeps run all of it; they
// ask `inject('isDense')` which of the two it is.

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
/** Replaces modules for the whole process. */
const alone = ['packages/stdlib-tools/src/node/faults.process.test.ts']
/** Measures the heap of the whole process. */
const sweepsAlone = ['packages/stdlib-tools/test/machine/heap.sweep.test.ts']
const processSweeps = own.map((glob) => glob.replace('.test.ts', '.process.sweep.test.ts'))
const generated = ['fuzz/**/*.test.ts', 'hostile/**/*.test.ts', 'chaos/**/*.test.ts']

/** Run in part by `npm test`, and in full by the sweeps. */
const sampled = [
  'packages/cli/test/mistakes',
  'packages/stdlib-tools/src/tools/policy/routes',
  'packages/vm/src/interpreter/ownership',
]
const sampledInProcess = [
  'packages/cli/test/pages',
  'packages/cli/test/store',
  'packages/stdlib-tools/src/mcp/real-servers',
  'packages/stdlib-tools/test/machine/no-code-generation',
  'packages/vm/src/interpreter/loop',
]

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether this run takes long and leaves nothing out. */
    readonly isDense: boolean
  }
}

/** A thread for many files. */
const shared = { pool: 'threads', isolate: false } as const
/** A process for many files: each leaves the working folder, the environment and the handlers of signals as it found them. */
const processes = { pool: 'forks', isolate: false } as const
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
      {
        extends: true,
        test: { name: 'unit', include: own, exclude: [...inProcess(own), ...ownSweeps], provide: { isDense: false }, ...shared },
      },
      {
        extends: true,
        test: { name: 'process', include: inProcess(own), exclude: alone, provide: { isDense: false }, ...processes },
      },
      { extends: true, test: { name: 'alone', include: alone, ...apart } },
      {
        extends: true,
        test: {
          name: 'sweeps',
          include: [...ownSweeps, ...generated, ...sampled.map((file) => `${file}.test.ts`)],
          exclude: [...inProcess(generated), ...sweepsAlone, ...processSweeps],
          provide: { isDense: true },
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'sweeps-process',
          include: [
            ...inProcess(generated),
            ...sweepsAlone,
            ...processSweeps,
            ...sampledInProcess.map((file) => `${file}.process.test.ts`),
          ],
          provide: { isDense: true },
          ...apart,
        },
      },
    ],
  },
})
