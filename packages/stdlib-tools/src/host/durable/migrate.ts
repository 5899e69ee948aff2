// A run continues as another program: an edited script, or a library of another version. Its whole journal is played under the new program with
// nothing performed; only where that makes the same calls in the same order does the run become it. What was edited behind the place where the
// run waits is new to it; an edit of what it has done already is a difference, and nothing is changed.

import type { Module } from '../module.js'
import type { Divergence } from '../replay.js'
import type { Runtime } from '../runtime.js'
import { decodeEntry, encodeEntry } from '../journal.js'
import type { DurableStore } from './store.js'

export type Migration =
  | { readonly outcome: 'migrated' }
  /** `divergence` is null where the new program cannot be played at all. */
  | { readonly outcome: 'diverged'; readonly reason: string; readonly divergence: Divergence | null }
  /** A worker has it, or had it meanwhile: try again. */
  | { readonly outcome: 'changed' }
  /** It was submitted without `archive`. */
  | { readonly outcome: 'no_journal' }
  /** It has ended, or never was. */
  | { readonly outcome: 'gone' }

/** Raises what `store` raises, and ToolError where the host lacks what the program declares. */
export async function migrateRun(
  { store, runtime, now }: { readonly store: DurableStore; readonly runtime: Runtime; readonly now: number },
  runId: string,
  module: Module,
): Promise<Migration> {
  const stored = await store.read(runId)
  if (stored === null || stored.row.state === 'ended') return { outcome: 'gone' }
  if (!stored.isArchived) return { outcome: 'no_journal' }
  if (stored.row.state === 'running') return { outcome: 'changed' }
  const behindHead = stored.journal.findIndex((line) => !isHead(line))
  const at = behindHead < 0 ? stored.journal.length : behindHead
  const { program, tools } = runtime.describeProgram(module)
  const head = stored.journal.slice(0, at).map((line) => {
    const entry = decodeEntry(line)
    return entry.type === 'run' ? encodeEntry({ ...entry, program: program.hash, label: program.label }) : line
  })
  const lines = stored.journal.slice(at)
  // No call is made here, so there are no unknown outcomes.
  const opened = runtime.openPiece({ module, head, snapshot: null, lines }, { decide: () => 'fail' })
  if (opened.kind === 'stuck') return { outcome: 'diverged', reason: opened.reason, divergence: opened.divergence ?? null }
  return { outcome: await store.migrate(runId, { program, tools, head }, stored.row.updatedAt, now) }
}

function isHead(line: string): boolean {
  const { type } = decodeEntry(line)
  return type === 'run' || type === 'start'
}
