// What tools asked to have undone (`ctx.onUndo`) when their run does not end well. Where a store keeps the run, undoing is its own run, which
// begins with the commit that ends the other: it is neither lost nor begun twice, and stays in the list until everything is undone.

import type { UndoCall } from '../../tools/dispatch/note-state.js'
import type { Plain } from '@bridle/vm'
import { decodeEntry } from '../journal.js'
import type { RunAuthority } from '../run-authority.js'
import type { Runtime } from '../runtime.js'
import type { LinkedChange } from './store.js'
import type { EndedRun } from './ended.js'
import { compileUndo } from './undo-script.js'

/** Whether a run that ended so has what it did undone. */
export function isUndone({ status, exitCode }: Pick<EndedRun, 'status' | 'exitCode'>): boolean {
  return status !== 'done' && !(status === 'exit' && exitCode === 0)
}

/** The run `RUN/undo`; null where there is nothing to undo. */
export function makeUndoRun(
  runtime: Runtime,
  {
    runId,
    undos,
    authority,
    now,
  }: {
    readonly runId: string
    readonly undos: readonly UndoCall[]
    readonly authority: RunAuthority | undefined
    readonly now: number
  },
): (LinkedChange & { readonly do: 'start' }) | null {
  if (undos.length === 0) return null
  const input = undos as unknown as Plain
  const run = runtime.prepareRun(compileUndo(runtime), { runId: `${runId}/undo`, input, now, as: authority })
  // A worker without these could undo nothing.
  return { do: 'start', run: { ...run, tools: [...new Set(undos.map(({ tool }) => tool))] }, onParentEnd: 'abandon' }
}

/** What a run that was taken from its store is allowed, by its head. */
export function readHeadAuthority(head: readonly string[]): RunAuthority | undefined {
  for (const line of head) {
    const entry = decodeEntry(line)
    if (entry.type === 'run') return entry.authority ?? undefined
  }
  return undefined
}
