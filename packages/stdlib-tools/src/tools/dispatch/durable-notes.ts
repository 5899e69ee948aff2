// Records that a host tool stores in its run: results of its steps and answers that it waited for. Its code runs outside of the machine and may be restarted in another process; what was
// noted is there again then, because it entered the run by entries of the journal and stays in the state of the machine.
//
// Notes are neither judged nor counted: they let the tool do nothing that it could not do anyway.

import { HarnDict, fromPlain, stringifySorted, toPlain } from '@bridle/vm/families'
import type { Context, NestedCall, NoteKind, Plain } from '@bridle/vm/families'
import type { NestedOutcome } from '../../library/effects/index.js'
import { durableNotes } from './note-state.js'

export interface AskedNote {
  /** Of the call, or of a call within it. */
  readonly callId: string
  readonly id: string
  readonly kind: NoteKind
  /** For people: the tool. */
  readonly tool: string
  readonly args: Plain
}

/** The earlier state of the same note. */
export type NoteBefore =
  | { readonly kind: 'none' }
  /** Its outcome is unknown. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'ended'; readonly outcome: NestedOutcome }
  /** It exists with other arguments. */
  | { readonly kind: 'differs'; readonly args: Plain }

export interface FoundNote {
  readonly call: NestedCall
  readonly before: NoteBefore
}

const NONE: NoteBefore = { kind: 'none' }

/** Changes nothing. */
export function findNote(ctx: Context, effect: number, asked: AskedNote, now: number): FoundNote {
  const { id, tool, args, kind } = asked
  const known = ctx.findState(durableNotes)?.noted.get(id)
  const base = { id, tool, parent: asked.callId, task: ctx.machine.taskNumber, counts: {}, kind }
  if (known === undefined) return { call: { ...base, args, startedMs: now }, before: NONE }
  const startedMs = Number(known.get('started_ms'))
  const kept = toPlain(known.get('args') ?? null)
  const call = { ...base, args: kept, startedMs }
  if (stringifySorted(fromPlain(args)) !== stringifySorted(known.get('args') ?? null))
    return { call, before: { kind: 'differs', args: kept } }
  const end = known.get('end') ?? null
  if (end === null) return { call, before: { kind: 'begun' } }
  const outcome = readOutcome(known)
  // A failed step fails again in the same attempt; the next attempt executes it again.
  if (!outcome.ok && known.get('effect') !== effect) return { call: { ...call, startedMs: now }, before: NONE }
  return { call, before: { kind: 'ended', outcome } }
}

export function beginNote(ctx: Context, effect: number, { id, kind, parent, args, startedMs, tool }: NestedCall): void {
  const state = ctx.state(durableNotes)
  // Taken out first: the order of notes is that of their beginnings.
  state.noted.delete(id)
  state.noted.set(
    id,
    HarnDict.of({ kind: kind!, effect, call: parent, tool, args: fromPlain(args), started_ms: startedMs, end: null }),
  )
}

/** False for other values than notes. */
export function endNote(ctx: Context, id: string, outcome: NestedOutcome): boolean {
  const state = ctx.findState(durableNotes)
  const note = state?.noted.get(id)
  if (state === undefined || note === undefined) return false
  const { value, ...facts } = outcome as { readonly value?: Plain }
  state.noted.set(id, note.with('end', fromPlain(facts as Plain)).with('value', value === undefined ? null : fromPlain(value)))
  return true
}

function readOutcome(note: HarnDict): NestedOutcome {
  const end = toPlain(note.get('end')!) as unknown as NestedOutcome
  return end.ok ? { ok: true, value: toPlain(note.get('value') ?? null) } : end
}
