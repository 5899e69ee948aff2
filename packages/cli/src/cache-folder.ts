// Where the command keeps what it can make again: code of its own, compiled scripts.

import { mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** What BRIDLE_COMPILE_CACHE names, or the user's folder for such things; null where it is `off`. */
export function findCacheFolder(env: NodeJS.ProcessEnv): string | null {
  const setting = env['BRIDLE_COMPILE_CACHE']
  if (setting === 'off') return null
  if (setting !== undefined && setting !== '') return setting
  return join(env['XDG_CACHE_HOME'] ?? env['LOCALAPPDATA'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'bridle')
}

/**
 * For the owner, with parents. Not Node's own `recursive`, which never returns where a parent can neither be made nor found (`/proc/x`).
 * The starter reads no package of ours, or this would be the one of `@bridle/stdlib-tools/node`.
 */
export function makeCacheFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  if (dirname(path) !== path) makeCacheFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    // Another process may have made it since.
    if ((cause as { readonly code?: unknown }).code !== 'EEXIST') throw cause
  }
}
