// Where a machine keeps what tools of the host have noted for their calls (durable-notes.ts); apart from that file, so that a run in which
// no tool notes anything can be asked for it.

import { family, toPlain } from '@bridle/vm/families'
import type { Context, HarnDict, Plain } from '@bridle/vm/families'

/** By id of the note. Dicts, so that the heap limit counts what is kept. */
export const durableNotes = family('durable_notes', (): { readonly noted: Map<string, HarnDict> } => ({ noted: new Map() }))

/** The call has ended, with all its attempts: its steps are no longer needed. */
export function dropNotes(ctx: Context, callId: string): void {
  const state = ctx.findState(durableNotes)
  if (state === undefined) return
  for (const [id, note] of state.noted) {
    const owner = note.get('call')
    if (note.get('kind') === 'undo') continue
    if (typeof owner === 'string' && (owner === callId || owner.startsWith(`${callId}/`))) state.noted.delete(id)
  }
}

/** A call of a tool that undoes something. */
export interface UndoCall {
  readonly tool: string
  readonly args: Plain
}

/** What is to be called when the run fails now: the last one first. */
export function listUndos(families: Pick<ReadonlyMap<string, unknown>, 'get'>): readonly UndoCall[] {
  const state = families.get(durableNotes.name) as { readonly noted: ReadonlyMap<string, HarnDict> } | undefined
  if (state === undefined) return []
  const found = [...state.noted.values()].filter((note) => note.get('kind') === 'undo' || note.get('kind') === 'cancel')
  return found.map((note) => toPlain(note.get('args') ?? null) as unknown as UndoCall).reverse()
}
