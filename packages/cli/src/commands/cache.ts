// `bridle cache clear`: removes the caches of the command: compiled scripts, and its own compiled code in the user's
// folder. All of it is made again when needed.

import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findCacheFolder } from '../cache-folder.js'
import { CommandError, readReason } from '../errors.js'
import { tell, tellJson } from '../printable.js'

export interface CacheFlags {
  readonly json?: boolean
}

/** Throws CommandError. */
export function cacheClearCommand({ json }: CacheFlags, env: NodeJS.ProcessEnv = process.env): number {
  const folder = findCacheFolder(env)
  const removed = { files: 0, bytes: 0 }
  for (const name of folder === null ? [] : listNames(folder).filter(isOurs)) {
    const path = join(folder!, name) // names exist only in a folder
    measure(path, removed)
    try {
      rmSync(path, { recursive: true, force: true })
    } catch (cause) {
      throw new CommandError(`cannot remove ${path}: ${readReason(cause)}`)
    }
  }
  if (json === true) tellJson({ folder, ...removed })
  else if (folder === null) tell('nothing is kept: BRIDLE_COMPILE_CACHE is off\n')
  else if (removed.files === 0) tell(`nothing is kept in ${folder}\n`)
  else tell(`removed ${removed.files} files, ${removed.bytes} bytes, from ${folder}\n`)
  return 0
}

/** BRIDLE_COMPILE_CACHE may name a folder with other files. The last pattern is that of start.ts. */
function isOurs(name: string): boolean {
  return name === 'scripts' || name === 'compiled' || /^[0-9a-f]{16}-v\d+\.\d+\.\d+-\w+(-reading)?$/.test(name)
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new CommandError(`cannot read ${folder}: ${readReason(cause)}`)
  }
}

/** Total size below a path; links are not followed. */
function measure(path: string, sum: { files: number; bytes: number }): void {
  // Another process may be writing here.
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.isDirectory()) return listNames(path).forEach((name) => measure(join(path, name), sum))
  sum.files++
  sum.bytes += stat.size
}
