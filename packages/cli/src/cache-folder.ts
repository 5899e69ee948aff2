// Where the command keeps what it can make again: code of its own, compiled scripts.

import { homedir } from 'node:os'
import { join } from 'node:path'

/** What BRIDLE_COMPILE_CACHE names, or the user's folder for such things; null where it is `off`. */
export function cacheFolder(env: NodeJS.ProcessEnv): string | null {
  const setting = env['BRIDLE_COMPILE_CACHE']
  if (setting === 'off') return null
  if (setting !== undefined && setting !== '') return setting
  return join(env['XDG_CACHE_HOME'] ?? env['LOCALAPPDATA'] ?? join(homedir(), '.cache'), 'bridle')
}
