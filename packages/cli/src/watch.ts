// `--watch`: repeats a command, in a new process, whenever a script or the manifest below a folder changes. A command that is still
// running then is ended first.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { EXIT_INTERRUPTED, EXIT_TERMINATED, UsageError, makeUnreadableError, readReason } from './errors.js'
import { complain } from './printable.js'

/** Editors write a file in several steps; events within this time are one change. */
const QUIET_MS = 80

export interface Watching {
  /** Arguments of the command, without --watch. */
  readonly words: readonly string[]
  /** Scripts, whose folders are watched, and folders; the current folder when there is none. Recursive. */
  readonly paths: readonly string[]
}

/** Resolves when the process is interrupted. Throws UsageError for a folder that cannot be watched. */
export async function watchCommand({ words, paths }: Watching): Promise<number> {
  const folders = new Set((paths.length === 0 ? ['.'] : paths).map(findFolder))
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | null = null
  const start = (): void => {
    child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...words], { stdio: 'inherit' })
    const own = child
    own.once('exit', (code, signal) => {
      if (child !== own) return
      child = null
      complain(`watching: ended with ${signal ?? `exit code ${code}`}; waiting for a change\n`)
    })
  }
  const restart = (): void => {
    timer = null
    const own = child
    child = null
    if (own === null) start()
    else {
      own.once('exit', start)
      own.kill('SIGTERM')
    }
  }
  const watchers = [...folders].map((folder) => {
    try {
      return watch(folder, { recursive: true }, (_event, name) => {
        if (name === null || !isWatched(String(name))) return
        if (timer !== null) clearTimeout(timer)
        timer = setTimeout(restart, QUIET_MS)
      })
    } catch (cause) {
      throw new UsageError(`--watch: cannot watch ${folder}: ${readReason(cause)}`)
    }
  })
  return await new Promise((resolve) => {
    const end = (signal: 'SIGINT' | 'SIGTERM', code: number): void => {
      for (const watcher of watchers) watcher.close()
      if (timer !== null) clearTimeout(timer)
      const own = child
      child = null
      if (own === null) resolve(code)
      else {
        own.once('exit', () => resolve(code))
        own.kill(signal)
      }
    }
    process.once('SIGINT', () => end('SIGINT', EXIT_INTERRUPTED))
    process.once('SIGTERM', () => end('SIGTERM', EXIT_TERMINATED))
    start()
  })
}

function findFolder(path: string): string {
  try {
    return statSync(path).isDirectory() ? path : dirname(path)
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
}

function isWatched(name: string): boolean {
  if (/(^|[\\/])(node_modules|\.git|\.harn|dist)([\\/]|$)/.test(name)) return false
  return /\.(harn|prompt)$|(^|[\\/])harn\.toml$/.test(name)
}
