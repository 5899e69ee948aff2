// Spans that the machine records while a script has tracing on: the tree of tasks, and spans that other families add. Nothing here
// reads a clock; callers pass the time.

import { family } from './builtin.js'
import type { Plain } from '../effects/effect.js'

export type SpanKind = 'pipeline' | 'fn_call' | 'llm_call' | 'tool_call' | 'import' | 'parallel' | 'spawn'

export interface VmSpan {
  readonly id: number
  readonly parent: number | null
  readonly kind: SpanKind
  readonly name: string
  readonly startMs: number
  durationMs: number
  readonly metadata: { [key: string]: Plain }
}

export interface TracingState {
  enabled: boolean
  nextId: number
  /** When tracing was turned on; times of spans count from here. */
  epochMs: number
  /** Open spans, innermost last. */
  readonly open: VmSpan[]
  /** In order of completion. */
  readonly completed: VmSpan[]
}

export const tracingState = family('tracing', (): TracingState => ({
  enabled: false,
  nextId: 1,
  epochMs: 0,
  open: [],
  completed: [],
}))

/** Opens a span below the innermost open one. The caller keeps the id for endSpan; null while tracing is off. */
export function beginSpan(state: TracingState, kind: SpanKind, name: string, nowMs: number): number | null {
  if (!state.enabled) return null
  const id = state.nextId++
  state.open.push({
    id,
    parent: state.open.at(-1)?.id ?? null,
    kind,
    name,
    startMs: Math.floor(nowMs - state.epochMs),
    durationMs: 0,
    metadata: {},
  })
  return id
}

/** Completes a span at any position of the stack: concurrent tasks do not end theirs in order. */
export function endSpan(
  state: TracingState,
  id: number | null,
  nowMs: number,
  metadata: Readonly<Record<string, Plain>> = {},
): void {
  const at = state.open.findLastIndex((span) => span.id === id)
  if (at < 0) return
  const [span] = state.open.splice(at, 1)
  span!.durationMs = Math.max(0, Math.floor(nowMs - state.epochMs) - span!.startMs)
  Object.assign(span!.metadata, metadata)
  state.completed.push(span!)
}
