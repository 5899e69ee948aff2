// Runs in files: a folder for each run, with its lease in `lease.json` and its journal in one file for each holder. A lease names how
// much of the files of earlier holders counts, as it was when they lost it; so a worker that was taken over and continues writing writes to
// a file that is never read. Changes of a lease happen under a lock file and are a rename, so that a crash leaves the old or the new one.
//
// An entry is written under the same lock: a takeover either sees the entry or happens before it, and then the entry is
// refused and its effect does not happen. A lock whose holder cannot be seen (another machine) is broken after a while, so the lease is
// checked again after the entry.

import { closeSync, fsyncSync, openSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readOsErrorCode } from '../tools/executors/os-errors.js'
import { compareById, makeLeaseLost, mayClaim } from '../host/runs/store.js'
import type { Claim, Lease, RunFacts, RunStore } from '../host/runs/store.js'
import { ToolError } from '../tools/host-tools/errors.js'
import { FileLockError, withFileLock } from './file-lock.js'
import { appendAll, makeFolders, writeWholeFile } from './whole-file.js'

export interface FileRunStoreOptions {
  /** Flushes each entry to the disk before it counts, so that a power failure loses nothing. */
  readonly sync?: boolean
  /** Called between looking at the lease and writing an entry: for tests of what happens there. */
  readonly onWrite?: () => void
}

interface LeaseFile {
  readonly owner: string | null
  readonly expiresAt: number
  readonly ended: string | null
  readonly fence: number
  /** Of earlier holders: their number, and how many bytes of their journal count. */
  readonly before: readonly { readonly fence: number; readonly bytes: number }[]
}

export function fileRunStore(folder: string, options: FileRunStoreOptions = {}): RunStore {
  makeFolders(folder)
  const open = new Map<string, { readonly fence: number; readonly fd: number }>()
  const makePath = (runId: string, name = ''): string => join(folder, encodeFolderName(runId), name)

  const readLease = (runId: string): LeaseFile | null => {
    try {
      return JSON.parse(readFileSync(makePath(runId, 'lease.json'), 'utf8')) as LeaseFile
    } catch (cause) {
      if (readOsErrorCode(cause) === 'ENOENT') return null
      throw new ToolError('store_unavailable', `the lease of run ${runId} cannot be read: ${String(cause)}`, { cause })
    }
  }
  const writeLease = (runId: string, lease: LeaseFile): void => {
    writeWholeFile(makePath(runId, 'lease.json'), JSON.stringify(lease), { flush: options.sync, alone: true })
  }
  const readHeldLease = ({ runId, fence }: Lease): LeaseFile | null => {
    const lease = readLease(runId)
    return lease !== null && lease.fence === fence && lease.owner !== null && lease.ended === null ? lease : null
  }
  const closeFile = (runId: string): void => {
    const file = open.get(runId)
    if (file !== undefined) closeSync(file.fd)
    open.delete(runId)
  }
  const measureFile = (runId: string, fence: number): number =>
    statSync(makePath(runId, `${fence}.jsonl`), { throwIfNoEntry: false })?.size ?? 0

  return {
    claim(runId: string, claim: Claim) {
      makeFolders(makePath(runId))
      return withLock(makePath(runId, 'lock'), () => {
        const before = readLease(runId)
        const facts = { runId, owner: before?.owner ?? null, expiresAt: before?.expiresAt ?? 0, ended: before?.ended ?? null }
        if (!mayClaim(facts, claim)) return null
        const fence = (before?.fence ?? 0) + 1
        const counted =
          before === null ? [] : [...before.before, { fence: before.fence, bytes: measureFile(runId, before.fence) }]
        writeLease(runId, { owner: claim.owner, expiresAt: claim.now + claim.leaseMs, ended: null, fence, before: counted })
        closeFile(runId)
        return { runId, fence }
      })
    },
    renew(lease, now, leaseMs) {
      if (readLease(lease.runId) === null) return false
      return withLock(makePath(lease.runId, 'lock'), () => {
        const held = readHeldLease(lease)
        if (held !== null) writeLease(lease.runId, { ...held, expiresAt: now + leaseMs })
        return held !== null
      })
    },
    release(lease, ended) {
      if (readLease(lease.runId) === null) return
      withLock(makePath(lease.runId, 'lock'), () => {
        const held = readHeldLease(lease)
        if (held === null) return
        writeLease(lease.runId, { ...held, owner: null, expiresAt: 0, ended: ended ?? null })
        closeFile(lease.runId)
      })
    },
    append(lease, line) {
      // Without its folder a run has no lock either.
      if (readHeldLease(lease) === null) throw makeLeaseLost(lease)
      withLock(makePath(lease.runId, 'lock'), () => {
        if (readHeldLease(lease) === null) throw makeLeaseLost(lease)
        let file = open.get(lease.runId)
        if (file?.fence !== lease.fence) {
          closeFile(lease.runId)
          file = { fence: lease.fence, fd: openSync(makePath(lease.runId, `${lease.fence}.jsonl`), 'a') }
          open.set(lease.runId, file)
        }
        options.onWrite?.()
        appendAll(file.fd, Buffer.from(`${line}\n`))
        if (options.sync === true) fsyncSync(file.fd)
        if (readHeldLease(lease) === null) throw makeLeaseLost(lease)
      })
    },
    read(runId) {
      const lease = readLease(runId)
      if (lease === null) return []
      const segments = [...lease.before, { fence: lease.fence, bytes: measureFile(runId, lease.fence) }]
      return segments.flatMap(({ fence, bytes }) => {
        if (bytes === 0) return []
        const text = readFileSync(makePath(runId, `${fence}.jsonl`))
          .subarray(0, bytes)
          .toString('utf8')
        // What a crash left of a last line was never acted upon.
        return text.split('\n').slice(0, -1)
      })
    },
    list() {
      const facts: RunFacts[] = []
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const runId = entry.isDirectory() ? decodeFolderName(entry.name) : null
        const lease = runId === null ? null : readLease(runId)
        if (runId !== null && lease !== null)
          facts.push({ runId, owner: lease.owner, expiresAt: lease.expiresAt, ended: lease.ended })
      }
      return facts.sort(compareById)
    },
    remove(runId) {
      const known = readLease(runId) !== null
      closeFile(runId)
      rmSync(makePath(runId), { recursive: true, force: true })
      return known
    },
    close() {
      for (const runId of [...open.keys()]) closeFile(runId)
    },
  }
}

/** Runs `work` while no other process does. Raises ToolError `store_unavailable` when another one does not end. */
function withLock<T>(path: string, work: () => T): T {
  try {
    return withFileLock(path, work)
  } catch (cause) {
    if (cause instanceof FileLockError) throw new ToolError('store_unavailable', cause.message, { cause })
    throw cause
  }
}

/** Any text is a run; none leads out of the folder of the store. */
function encodeFolderName(runId: string): string {
  return encodeURIComponent(runId).replaceAll('.', '%2E')
}

/** Null for a folder that is none of a run. */
function decodeFolderName(name: string): string | null {
  try {
    const runId = decodeURIComponent(name)
    return encodeFolderName(runId) === name ? runId : null
  } catch {
    return null
  }
}
