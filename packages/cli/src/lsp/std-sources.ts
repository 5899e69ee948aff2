// Sources of the standard modules as files, so that an editor can show where a name of them is declared: they are part of the command, and no
// files. They are in the cache folder, named by content and read-only; a changed one is written under another name.

import { createHash } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findCacheFolder, makeCacheFolder } from '../cache-folder.js'

const STD = '<stdlib>/'
const DIGITS = 12

/** The URI of a file with this source; null if it is not a standard module, or if no cache may be written. */
export function findStdUri(key: string, source: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const folder = key.startsWith(STD) ? findCacheFolder(env) : null
  if (folder === null) return null
  const hash = createHash('sha256').update(source).digest('hex').slice(0, DIGITS)
  const path = join(folder, 'std', hash, key.slice(STD.length))
  try {
    if (!existsSync(path)) {
      makeCacheFolder(dirname(path))
      // Another server may write the same at the same time: each writes its own file, and both are correct.
      const own = `${path}.${process.pid}`
      writeFileSync(own, source, { mode: 0o444 })
      renameSync(own, path)
    }
    return pathToFileURL(path).href
  } catch {
    // A cache that cannot be written: there is no file to show.
    return null
  }
}
