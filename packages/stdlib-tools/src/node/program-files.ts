// Compiled programs in a folder of files, for their owner only.

import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramCache } from '../host/program-cache.js'
import { makeFolders, writeWholeFile } from './whole-file.js'

/** When there are more entries, the oldest go. */
const MOST_ENTRIES = 500
const KEPT_ENTRIES = 400
/** Age in milliseconds after which an unused folder of another engine is removed. */
const ABANDONED_AFTER = 30 * 24 * 3600 * 1000

/** Keeps entries in `folder/engine`; `engine` has to change with everything that compiles. Nothing here is ever an error. */
export function programFiles(folder: string, engine: string): ProgramCache {
  const own = join(folder, engine)
  return {
    engine,
    read: (name) => {
      try {
        return readFileSync(join(own, name))
      } catch {
        return null
      }
    },
    write: (name, bytes) => {
      try {
        if (!existsSync(own)) {
          makeFolders(own, 0o700)
          dropAbandoned(folder)
        }
        // Whole or not at all, also when several processes write it.
        writeWholeFile(join(own, name), bytes, { mode: 0o600 })
        dropOldest(own)
      } catch {
        // A cache that cannot be written is no cache.
      }
    },
  }
}

function dropOldest(folder: string): void {
  const names = readdirSync(folder)
  if (names.length <= MOST_ENTRIES) return
  const dated = names.map((name) => ({ path: join(folder, name), at: readModified(join(folder, name)) }))
  dated.sort((a, b) => a.at - b.at)
  for (const { path } of dated.slice(0, names.length - KEPT_ENTRIES)) rmSync(path, { force: true })
}

function dropAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - readModified(path) > ABANDONED_AFTER) rmSync(path, { recursive: true, force: true })
  }
}

function readModified(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
