// The scripts that a command processes: files as named, folders with everything below them.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import { UsageError, makeUnreadableError } from './errors.js'

/** Sorted and unique. */
export function listScripts(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap(listScriptsBelow))].sort()
}

function listScriptsBelow(path: string): string[] {
  if (!existsSync(path)) throw new UsageError(`${path} does not exist`, { code: 'unreadable_file', file: path })
  const found = statSync(path)
  if (found.isFile()) return [path]
  // Reading a pipe may block forever, and a device may have no end.
  if (!found.isDirectory()) throw new UsageError(`${path} is neither a file nor a folder`)
  return readEntries(path).flatMap((entry) => {
    const below = join(path, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === '.git' ? [] : listScriptsBelow(below)
    return entry.isFile() && entry.name.endsWith('.harn') ? [below] : []
  })
}

export function readEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    throw makeUnreadableError(folder, cause)
  }
}

/** The text of a file named on the command line, or found below a folder. */
export function readTarget(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
}
