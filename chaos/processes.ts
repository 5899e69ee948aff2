// Processes that tests kill, running the built packages.

import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export interface Doomed {
  readonly child: ChildProcess
  /** Resolves with the first line that it prints; rejects when it ends before. */
  readonly up: Promise<void>
  readonly gone: Promise<void>
}

const folder = fileURLToPath(new URL('.', import.meta.url))
/** Where the dependencies of the library are found. */
const builtFolder = join(folder, '../packages/stdlib-tools/node_modules/.cache/chaos')
let built: Promise<unknown> | null = null

/** Thousands of them are started, so their few files are compiled to JavaScript once. */
export function buildProcesses(): Promise<unknown> {
  built ??= build({
    entryPoints: ['worker.ts', 'submitter.ts', 'restate-worker.ts', 'dbos-worker.ts'].map((name) => join(folder, name)),
    outdir: builtFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
  return built
}

/** After `buildProcesses`. `onLine` gets each line of its pipe number `fd`; `log` is a file for its errors. */
export function startProcess(
  script: 'worker' | 'submitter' | 'restate-worker' | 'dbos-worker',
  args: readonly string[],
  { fd, onLine, log }: { readonly fd: number; readonly onLine: (line: string) => void; readonly log: number | 'inherit' },
): Doomed {
  const child = spawn(process.execPath, [join(builtFolder, `${script}.mjs`), ...args], {
    stdio: ['ignore', 'pipe', log, 'pipe'],
  })
  const up = new Promise<void>((resolve, reject) => {
    child.stdout!.once('data', () => resolve())
    child.once('error', reject)
    child.once('close', (code, signal) => reject(new Error(`${script} ended before it worked: ${signal ?? code}`)))
  })
  // A caller that does not wait for it needs no error.
  up.catch(() => {})
  const pipe = child.stdio[fd] as NodeJS.ReadableStream
  let rest = ''
  pipe.setEncoding('utf8')
  pipe.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    // An unfinished line of a killed process stays here: its effect was not done.
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
  const gone = new Promise<void>((resolve) => void child.once('close', () => resolve()))
  return { child, up, gone }
}

export const hasEnded = ({ child }: Doomed): boolean => child.exitCode !== null || child.signalCode !== null

/** Small enough that no page of the store can be written any more. */
const FULL_BYTES = 4096

/** Whether the disk can be made full for a single process. */
export const canFill = (): boolean => spawnSync('prlimit', ['--version']).status === 0

export function setFull({ child }: Doomed, isFull: boolean): void {
  spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${isFull ? FULL_BYTES : 'unlimited'}:unlimited`])
}
