// Sessions of an agent in a folder, one JSON file each, for their owner alone: conversations are private.

import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { AcpSessionRecord, AcpSessionStore } from '../bridge/acp-sessions.js'
import { makeFolders, writeWholeFile } from './whole-file.js'

/** Made when asked for: loading zod is a good part of the start of a run that needs this module's neighbours. */
const recordSchema = () =>
  z.object({
    id: z.string(),
    cwd: z.string(),
    parent: z.string().nullable(),
    branchedAt: z.number().nullable(),
    title: z.string().nullable(),
    updatedAt: z.string().nullable().optional(),
    turns: z.array(
      z.object({
        prompt: z.string(),
        said: z.string(),
        stopReason: z.enum(['completed', 'cancelled', 'failed']).nullable(),
      }),
    ),
  })

/** Makes the folder with the first session. Failures to write are thrown when saving. */
export function fileSessions(folder: string): AcpSessionStore {
  let schema: ReturnType<typeof recordSchema> | null = null
  const read = (file: string): AcpSessionRecord | null => {
    try {
      return (schema ??= recordSchema()).parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))
    } catch {
      // Not there, half a file of another program, or a record of another version: no session of ours.
      return null
    }
  }
  return {
    save(record) {
      makeFolders(folder, 0o700)
      writeWholeFile(join(folder, makeFileName(record.id)), `${JSON.stringify(record)}\n`, { mode: 0o600 })
    },
    load(id) {
      const record = read(makeFileName(id))
      return record?.id === id ? record : null
    },
    list() {
      let names: readonly string[]
      try {
        names = readdirSync(folder)
      } catch {
        return []
      }
      return names
        .filter((name) => name.endsWith('.json'))
        .sort()
        .flatMap((name) => read(name) ?? [])
    },
    delete(id) {
      rmSync(join(folder, makeFileName(id)), { force: true })
    },
  }
}

/** Clients choose ids; no id leads out of the folder. */
function makeFileName(id: string): string {
  return /^[A-Za-z0-9_-]{1,100}$/.test(id) ? `${id}.json` : `${createHash('sha256').update(id).digest('hex')}.json`
}
