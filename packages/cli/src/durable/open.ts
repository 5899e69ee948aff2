// Common code of the commands on durable runs: the store named by --store, answers from the command line, and the display of runs.

import { isToolError } from '@bridle/stdlib-tools'
import type { DurableStore, EndedRun, RunRow } from '@bridle/stdlib-tools'
import { openDurableStore } from '@bridle/stdlib-tools/node'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError, UsageError } from '../errors.js'
import { isRestate, openRestateStore } from './restate.js'

/** Nothing to do until an answer arrives or a timer is due. EX_TEMPFAIL of `sysexits.h`: try again later. */
export const EXIT_WAITING = 75

/**
 * Runs `work` on the store and closes it. `isNew`: creates a missing file. Throws UsageError for a missing file
 * and CommandError for errors of the store.
 */
export async function withStore<T>(
  file: string,
  work: (store: DurableStore) => Promise<T>,
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<T> {
  const needed = isNew ? dirname(file) : file
  if (!isRestate(file) && !existsSync(needed))
    throw new UsageError(`cannot open the store ${file}: ${isNew ? `there is no folder ${needed}` : 'no such file'}`, {
      code: 'unreadable_file',
      file,
      ...(isNew ? {} : { hint: '`bridle run --store FILE` and `bridle worker --store FILE` make a store' }),
    })
  let store: DurableStore | null = null
  try {
    store = isRestate(file) ? await openRestateStore(file) : await openDurableStore(file)
    return await work(store)
  } catch (cause) {
    if (isToolError(cause)) throw new CommandError(cause.message, { code: cause.code, file })
    throw cause
  } finally {
    await store?.close()
  }
}

export async function requireRun(store: DurableStore, runId: string): Promise<RunRow> {
  const row = await store.get(runId)
  if (row === null)
    throw new CommandError(`the store has no run ${JSON.stringify(runId)}`, {
      code: 'not_found',
      hint: '`bridle runs list` names those that there are',
    })
  return row
}

export function readEnded({ result }: RunRow): EndedRun | null {
  return result === null ? null : (JSON.parse(result) as EndedRun)
}

/** As JSON documents show it. */
export function describeRun(row: RunRow): { readonly [key: string]: unknown } {
  const ended = readEnded(row)
  return {
    id: row.runId,
    state: row.state,
    status: row.status,
    tenant: row.tenant,
    program: row.program.label,
    program_hash: row.program.hash,
    started_at: new Date(row.startedAt).toISOString(),
    updated_at: new Date(row.updatedAt).toISOString(),
    wakes_at: row.wakeAt === null ? null : new Date(row.wakeAt).toISOString(),
    waits_for: row.waitsFor,
    needs_tools: row.tools,
    worker: row.worker,
    parent: row.parent ?? null,
    published: row.published ?? {},
    snapshot_bytes: row.sizeBytes,
    ...(ended === null ? {} : { value: ended.value, error: ended.error, exit_code: ended.exitCode, output: ended.output }),
  }
}

/** Completes a token: `approve` means `approve#12` if the run waits for only one such token. */
export function findToken({ waitsFor }: RunRow, given: string): string {
  if (waitsFor.includes(given)) return given
  if (waitsFor.includes(`event:${given}`)) return `event:${given}`
  // The store numbers signals.
  if (waitsFor.some((token) => token.startsWith(`signal:${given}#`))) return `signal:${given}`
  const close = waitsFor.filter((token) => token.slice(0, token.lastIndexOf('#')) === given)
  if (close.length > 1) throw new CommandError(`several are waited for: ${close.join(', ')}; name one of them`)
  // A signal that no run waits for yet is stored for `await_signal`.
  return close[0] ?? (/[#:]/.test(given) ? given : `signal:${given}`)
}
