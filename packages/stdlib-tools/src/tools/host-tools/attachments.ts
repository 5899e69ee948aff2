// Bytes that tools keep beside the run: what a script, a journal and a snapshot hold is a reference, named by the hash of the bytes.

import { bytesToHex } from '@bridle/vm/families'
import { sha256 } from '../../library/crypto/hashes.js'
import { ToolError } from './errors.js'

/** Data: a script may hold it, and a tool takes it as an argument. */
export interface AttachmentRef {
  /** `sha256:` and the hash of the bytes: equal bytes have equal references. */
  readonly attachment: string
  readonly size: number
  readonly media_type: string
  readonly name: string | null
}

export interface ToolAttachments {
  readonly put: (bytes: Uint8Array, facts?: { readonly mediaType?: string; readonly name?: string }) => Promise<AttachmentRef>
  /** Of a reference, or its hash. Rejects with ToolError `not_found`. */
  readonly get: (ref: AttachmentRef | string) => Promise<Uint8Array>
}

/** Where bytes are, by hash. What was put may be asked for in any process that has the same place. */
export interface AttachmentStore {
  put(hash: string, bytes: Uint8Array): void | Promise<void>
  get(hash: string): Uint8Array | null | Promise<Uint8Array | null>
}

/** For runs of one process. */
export function memoryAttachments(): AttachmentStore {
  const known = new Map<string, Uint8Array>()
  return {
    put: (hash, bytes) => void known.set(hash, bytes.slice()),
    get: (hash) => known.get(hash)?.slice() ?? null,
  }
}

const HASH = /^sha256:[0-9a-f]{64}$/

export function openAttachments(store: AttachmentStore | null): ToolAttachments {
  const place = (): AttachmentStore => {
    if (store === null)
      throw new ToolError('durable_effects_unavailable', 'the host keeps no attachments (createRuntime({attachments}))')
    return store
  }
  return {
    async put(bytes, { mediaType = 'application/octet-stream', name } = {}) {
      const hash = `sha256:${bytesToHex(sha256(bytes))}`
      try {
        await place().put(hash, bytes)
      } catch (cause) {
        if (cause instanceof ToolError) throw cause
        throw new ToolError('store_unavailable', `the attachment ${hash} cannot be kept`, { cause })
      }
      return { attachment: hash, size: bytes.length, media_type: mediaType, name: name ?? null }
    },
    async get(ref) {
      const hash = typeof ref === 'string' ? ref : ref.attachment
      if (typeof hash !== 'string' || !HASH.test(hash))
        throw new ToolError('invalid_args', `${JSON.stringify(hash)} is no reference to an attachment`)
      const bytes = await place().get(hash)
      if (bytes === null) throw new ToolError('not_found', `the attachment ${hash} is not there`)
      if (`sha256:${bytesToHex(sha256(bytes))}` !== hash)
        throw new ToolError('store_unavailable', `the attachment ${hash} is damaged: its bytes have another hash`)
      return bytes
    },
  }
}
