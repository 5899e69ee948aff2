// The folder for what the command can make again: its compiled code and compiled scripts.

import { mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** The folder named by BRIDLE_COMPILE_CACHE, or the user's cache folder; null if it is `off`. */
export function findCacheFolder(env: NodeJS.ProcessEnv): string | null {
  const setting = env['BRIDLE_COMPILE_CACHE']
  if (setting === 'off') return null
  if (setting !== undefined && setting !== '') return setting
  return join(env['XDG_CACHE_HOME'] ?? env['LOCALAPPDATA'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'bridle')
}

/**
 * For the owner only, with parents. Not Node's own `recursive`, which never returns if a parent can neither be created nor found (`/proc/x`).
 * The starter imports none of our packages, otherwise it would use the function of `@bridle/stdlib-tools/node`.
 */
export function makeCacheFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  if (dirname(path) !== path) makeCacheFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    // Another process may have made it meanwhile.
    if ((cause as { readonly code?: unknown }).code !== 'EEXIST') throw cause
  }
}
