// Spans that scripts open (trace_start, trace_end), spans that the machine records while tracing is on, and the usage totals
// of model calls. Both live in the machine; nothing here reads a clock by itself.

import {
  builtinTaking,
  HarnDict,
  HarnList,
  builtin,
  display,
  family,
  fromPlain,
  isTruthy,
  stringifySorted,
  tracingState,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value, VmSpan } from '@bridle/vm/families'
import { makeAsker } from '../files/ask.js'
import { logLine } from './logging.js'
import { traceStack } from './context.js'
import { WALL_CLOCK, toClockMs } from '../time/time.js'

/** Totals of the model calls of this run; the family that makes such calls adds to them. */
export const usageState = family('llm_usage', () => ({
  input_tokens: 0,
  output_tokens: 0,
  total_duration_ms: 0,
  call_count: 0,
  /** Calls of each model, in the order of their first one. */
  models: new Map<string, number>(),
}))

function encodeSpan(span: VmSpan): HarnDict {
  const fields: Record<string, Value> = {
    span_id: span.id,
    parent_id: span.parent,
    kind: span.kind,
    name: span.name,
    start_ms: span.startMs,
    duration_ms: span.durationMs,
  }
  if (Object.keys(span.metadata).length > 0) fields['metadata'] = fromPlain(span.metadata)
  return HarnDict.of(fields)
}

function renderSummary(spans: readonly VmSpan[]): string {
  if (spans.length === 0) return 'No spans recorded.'
  const known = new Set(spans.map((span) => span.id))
  const children = new Map<number | null, VmSpan[]>()
  for (const span of spans) {
    const parent = span.parent !== null && known.has(span.parent) ? span.parent : null
    const list = children.get(parent) ?? []
    list.push(span)
    children.set(parent, list)
  }
  for (const list of children.values()) list.sort((a, b) => a.id - b.id)
  const roots = children.get(null) ?? []
  const total = roots.reduce((sum, span) => sum + span.durationMs, 0)
  const lines = [`Trace: ${spans.length} spans, ${total}ms total`, '']
  const pending = roots.map((span) => ({ span, depth: 0 })).reverse()
  while (pending.length > 0) {
    const { span, depth } = pending.pop()!
    const facts = Object.keys(span.metadata)
      .sort()
      .map((key) => `${key}=${stringifySorted(fromPlain(span.metadata[key]!))}`)
    lines.push(
      `${'  '.repeat(depth)}${span.kind} ${span.name} ${span.durationMs}ms${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`,
    )
    for (const child of (children.get(span.id) ?? []).toReversed()) pending.push({ span: child, depth: depth + 1 })
  }
  return lines.join('\n')
}

// --------------------------------------------------------------------------------------------------------- script spans

const failNotASpan = (ctx: Context): Result => ctx.throw('trace_end: argument must be a span dict from trace_start')

const traces = makeAsker('tracing.ask', {
  start: (ctx, answer, [name]) => {
    const state = ctx.state(traceStack)
    const makeId = (): string => ctx.machine.hashHex(new TextEncoder().encode(`${ctx.now}/${state.nextId++}`)).slice(0, 8)
    const traceId = state.stack.at(-1)?.traceId ?? makeId()
    const spanId = makeId()
    state.stack.push({ traceId, spanId })
    return HarnDict.of({ trace_id: traceId, span_id: spanId, name: name!, start_ms: Math.floor(toClockMs(answer)) })
  },
  end: (ctx, answer, [span]) => {
    const fields = span as HarnDict
    const { stack } = ctx.state(traceStack)
    if (stack.at(-1)?.spanId === fields.get('span_id')) stack.pop()
    const started = fields.get('start_ms')
    const duration = started === undefined ? 0 : Math.max(0, Math.floor(toClockMs(answer)) - toClockMs(started))
    logLine(
      ctx,
      'info',
      'span_end',
      HarnDict.of({
        trace_id: fields.get('trace_id') ?? '',
        span_id: fields.get('span_id') ?? '',
        name: fields.get('name') ?? '',
        duration_ms: duration,
      }),
    )
    return null
  },
})

export const tracingFamily: BuiltinFamily = {
  name: 'tracing',
  frames: [traces.frame],
  builtins: [
    builtin(
      'trace_start(name: string) -> dict',
      { doc: 'Opens a span; log lines carry its ids until trace_end.', effects: ['clock.now'] },
      (ctx, name) => traces.ask(ctx, WALL_CLOCK, 'start', display(name ?? '')),
    ),
    builtin(
      'trace_end(span: dict) -> nil',
      { doc: 'Ends a span and logs how long it took.', effects: ['clock.now'] },
      (ctx, span) => (span instanceof HarnDict ? traces.ask(ctx, WALL_CLOCK, 'end', span) : failNotASpan(ctx)),
    ),
    builtin(
      'trace_id() -> string | nil',
      { doc: 'The id of the trace that is open.', effects: [] },
      (ctx) => ctx.state(traceStack).stack.at(-1)?.traceId ?? null,
    ),
    builtinTaking(
      'enable_tracing(enabled?: bool = true) -> nil',
      { doc: 'Starts anew or stops the recording of spans by the machine.', effects: [] },
      {},
      (ctx, enabled) => {
        const state = ctx.state(tracingState)
        state.enabled = isTruthy(enabled)
        // What was recorded stays to be read.
        if (!state.enabled) return null
        state.epochMs = ctx.now
        state.open.length = 0
        state.completed.length = 0
        state.nextId = 1
        return null
      },
    ),
    builtin(
      'trace_spans() -> list',
      { doc: 'The spans that the machine has completed.', effects: [] },
      (ctx) => new HarnList(ctx.state(tracingState).completed.map(encodeSpan)),
    ),
    builtin('trace_summary() -> string', { doc: 'The completed spans as an indented tree.', effects: [] }, (ctx) =>
      renderSummary(ctx.state(tracingState).completed),
    ),
    builtin('llm_usage() -> dict', { doc: 'Totals of the model calls of this run.', effects: [] }, (ctx) => {
      const { models: _, ...usage } = ctx.state(usageState)
      return HarnDict.of({ ...usage, total_calls: usage.call_count })
    }),
  ],
}
