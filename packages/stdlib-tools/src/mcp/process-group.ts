// Child processes that cannot be left behind. Each gets its own process group, so that what it started goes with it, and
// is ended by asking first (its standard input closes), then SIGTERM, then SIGKILL. If this process exits with children still
// running, the exit handler kills their groups: it is the last resort, for hosts that do not close their runs.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const running = new Set<ChildProcess>()
let exitHandler: (() => void) | null = null

export interface SpawnOptions {
  /** As it was asked for: how the program knows itself. */
  readonly command: string
  /** The file that is started (program-file.ts). */
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  /** The whole environment of the child. */
  readonly env: NodeJS.ProcessEnv
  readonly stderr: 'inherit' | 'ignore'
}

/**
 * Why a program could not be started. The system says EACCES for a name that is nowhere when it may not look into some folder of PATH,
 * which depends on the user; a name that no folder shows is not there.
 */
export function spawnFailure(cause: unknown, command: string, env: NodeJS.ProcessEnv): unknown {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  if (code !== 'EACCES' || command === '' || command.includes('/')) return cause
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  if (folders.some((folder) => isThere(join(folder, command)))) return cause
  return Object.assign(new Error(`spawn ${command} ENOENT`, { cause }), { code: 'ENOENT' })
}

function isThere(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Resolves when the program runs; rejects with the operating system's error when it could not be started. */
export function spawnGroup(options: SpawnOptions): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.file, [...options.args], {
      argv0: options.command,
      cwd: options.cwd,
      env: options.env,
      stdio: ['pipe', 'pipe', options.stderr],
      // Its own group on POSIX. On Windows it would open a console window, and groups do not exist.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const onError = (cause: Error): void => reject(spawnFailure(cause, options.command, options.env) as Error)
    child.once('error', onError)
    child.once('spawn', () => {
      child.off('error', onError)
      // Without a listener a late error would end the host.
      child.on('error', () => {})
      track(child)
      resolve(child)
    })
  })
}

/** Ends a child and its group; resolves when the child is gone. Grace periods in milliseconds. */
export async function endGroup(child: ChildProcess, grace: { readonly closeMs: number; readonly termMs: number }): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
  child.stdin?.end()
  if (!(await awaitWithin(gone, grace.closeMs))) {
    killGroup(child, 'SIGTERM')
    if (!(await awaitWithin(gone, grace.termMs))) {
      killGroup(child, 'SIGKILL')
      await gone
    }
  }
  // The child is gone, but what it started may hang on.
  killGroup(child, 'SIGKILL')
  child.stdout?.destroy()
  child.stdin?.destroy()
  running.delete(child)
}

/** A group outlives its leader, so this also works after the child itself has ended. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // ESRCH: no process of the group exists.
  }
}

function track(child: ChildProcess): void {
  running.add(child)
  if (exitHandler !== null) return
  exitHandler = () => {
    for (const each of running) killGroup(each, 'SIGKILL')
  }
  process.once('exit', exitHandler)
}

async function awaitWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([promise.then(() => true as const), late])
  } finally {
    clearTimeout(timer)
  }
}
