// Looks for the manifest of a project. Apart from reading one, because most scripts have none and reading takes a TOML parser and
// schemas.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ManifestError } from './manifest-error.js'
import { readManifest } from './manifest.js'
import type { Manifest } from './manifest.js'

export const MANIFEST_NAME = 'harn.toml'

/** The manifest of the folder or of the nearest one above it; null when there is none. Throws ManifestError. */
export function findManifest(folder: string): Manifest | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, MANIFEST_NAME)
    let text: string | null = null
    try {
      text = readFileSync(path, 'utf8')
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EISDIR')
        throw new ManifestError(`cannot read ${path}: ${code}`, { cause })
    }
    if (text !== null) return readManifest(path, text)
    if (dirname(at) === at) return null
  }
}
