// Runs that wait for a person, and what was answered meanwhile, as files: they outlive the gateway.

import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PendingStore } from '../ai/pending-runs.js'

const SUFFIX = '.run'

/** A file a run. Taking one renames it first: of several processes that do so at once, one succeeds. */
export function fileStore(folder: string): PendingStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A token may come from a model, and must not lead elsewhere.
  const locate = (token: string): string | null =>
    /^[A-Za-z0-9_-]{1,200}$/.test(token) ? join(folder, `${token}${SUFFIX}`) : null
  const read = (path: string): Uint8Array | null => {
    try {
      return new Uint8Array(readFileSync(path))
    } catch {
      return null
    }
  }
  return {
    save(token, record) {
      const path = locate(token)
      if (path === null) throw new TypeError(`a run cannot be kept under the token ${JSON.stringify(token)}`)
      const written = `${path}.${randomUUID()}`
      writeFileSync(written, record, { mode: 0o600 })
      renameSync(written, path)
    },
    load(token) {
      const path = locate(token)
      return path === null ? null : read(path)
    },
    take(token) {
      const path = locate(token)
      if (path === null) return null
      const taken = `${path}.${randomUUID()}.taken`
      try {
        renameSync(path, taken)
      } catch {
        return null
      }
      const record = read(taken)
      rmSync(taken, { force: true })
      return record
    },
    list: () =>
      readdirSync(folder)
        .filter((name) => name.endsWith(SUFFIX))
        .map((name) => name.slice(0, -SUFFIX.length)),
  }
}
