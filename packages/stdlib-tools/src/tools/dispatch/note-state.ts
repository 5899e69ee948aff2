// Where a machine keeps what tools of the host have noted for their calls (durable-notes.ts); apart from that file, so that a run in which
// no tool notes anything can be asked for it.

import { family } from '@bridle/vm/families'
import type { Context, HarnDict } from '@bridle/vm/families'

/** By id of the note. Dicts, so that the heap limit counts what is kept. */
export const durableNotes = family('durable_notes', (): { readonly noted: Map<string, HarnDict> } => ({ noted: new Map() }))

/** The call has ended, with all its attempts: nobody asks again for its steps. */
export function dropNotes(ctx: Context, callId: string): void {
  const state = ctx.findState(durableNotes)
  if (state === undefined) return
  for (const [id, note] of state.noted) {
    const owner = note.get('call')
    if (typeof owner === 'string' && (owner === callId || owner.startsWith(`${callId}/`))) state.noted.delete(id)
  }
}
