// Attachments in a folder, one file a hash: any number of processes may share it.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import type { AttachmentStore } from '../tools/host-tools/attachments.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { makeFolders, writeWholeFile } from './whole-file.js'

/** Raises ToolError `store_unavailable`. Nothing is ever removed: cleaning the folder is up to its owner. */
export function fileAttachments(folder: string): AttachmentStore {
  const root = resolve(folder)
  const place = (hash: string): string => join(root, hash.replace(':', '-'))
  const guard = <T>(path: string, work: () => T): T => {
    try {
      return work()
    } catch (cause) {
      throw new ToolError('store_unavailable', `attachments: ${path}: ${describeOsError(cause)}`, { cause })
    }
  }
  return {
    put(hash, bytes) {
      const path = place(hash)
      guard(path, () => {
        makeFolders(root)
        writeWholeFile(path, bytes, { alone: true })
      })
    },
    get(hash) {
      const path = place(hash)
      return guard(path, () => {
        try {
          return new Uint8Array(readFileSync(path))
        } catch (cause) {
          if (readOsErrorCode(cause) === 'ENOENT') return null
          throw cause
        }
      })
    },
  }
}
