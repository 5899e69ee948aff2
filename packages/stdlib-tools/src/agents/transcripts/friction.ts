// Friction events: notes on what slowed work down, in one shape and without secrets, kept for the run or appended to a file of JSON lines,
// and grouped into suggestions for context packs. friction.harn is what the builtins do.

import { builtinTaking, HarnDict, HarnList, builtin, chargeArguments, display, failRuntime, family } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { manifestBuiltins, suggestionPrimitives } from './context-packs.js'
import { readRecord, recordData } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'

const frictionState = family<{ readonly events: HarnDict[] }>('friction', () => ({ events: [] }))

const KINDS = [
  'repeated_query',
  'repeated_clarification',
  'approval_stall',
  'missing_context',
  'manual_handoff',
  'tool_gap',
  'failed_assumption',
  'expensive_model_used_for_deterministic_step',
  'human_hypothesis',
]

const EVENT: RecordShape = {
  id: { type: 'text' },
  kind: { type: 'text' },
  source: { type: 'text' },
  actor: { type: 'text' },
  tenant_id: { type: 'text' },
  task_id: { type: 'text' },
  run_id: { type: 'text' },
  workflow_id: { type: 'text' },
  tool: { type: 'text' },
  provider: { type: 'text' },
  redacted_summary: { type: 'text' },
  estimated_cost_usd: { type: 'number' },
  estimated_time_ms: { type: 'int' },
  recurrence_hints: { type: 'texts' },
  trace_id: { type: 'text' },
  span_id: { type: 'text' },
  links: {
    type: 'records',
    name: 'FrictionLink',
    shape: { label: { type: 'text' }, url: { type: 'text' }, trace_id: { type: 'text' } },
  },
  human_hypothesis: { type: 'text' },
  metadata: { type: 'dict' },
  timestamp: { type: 'text' },
}

const REDACTED = '[redacted]'
const SECRET_KEY = /secret|token|password|api_key|apikey|^authorization$/i

function isSecretWord(word: string): boolean {
  if (/^(?:sk-|ghp_|xoxb-|AKIA)/.test(word)) return true
  if (/token=|password=|api_key=|apikey=/i.test(word)) return true
  return word.length > 48 && /^[A-Za-z0-9_-]+$/.test(word)
}

/** The words of a text joined by single spaces, secrets blotted out. */
function redact(text: string): string {
  return text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => (isSecretWord(word) ? REDACTED : word))
    .join(' ')
}

function redactValue(value: Value): Value {
  if (typeof value === 'string') return redact(value)
  if (value instanceof HarnList) return new HarnList(value.view().map(redactValue))
  if (!(value instanceof HarnDict)) return value
  const copy = new HarnDict()
  for (const [key, item] of value.entries()) copy.set(key, SECRET_KEY.test(key) ? REDACTED : redactValue(item))
  return copy
}

/** The event in its one shape; what it does not say of id and time stays nil. */
function readEvent(payload: Value): HarnDict {
  const data = recordData(payload)
  const event = readRecord(data instanceof HarnDict ? withSummary(data) : data, 'friction_event', 'FrictionEvent', EVENT)
  const kind = display(event.get('kind') ?? '')
    .trim()
    .toLowerCase()
  if (kind === '') return failRuntime('friction_event: missing kind')
  if (!KINDS.includes(kind))
    return failRuntime(`friction_event: unsupported kind '${kind}' (expected one of ${KINDS.join(', ')})`)
  const summary = redact(display(event.get('redacted_summary') ?? ''))
  if (summary === '') return failRuntime('friction_event: missing redacted_summary')
  const hypothesis = event.get('human_hypothesis') ?? null
  event.set('schema_version', 1)
  event.set('kind', kind)
  event.set('redacted_summary', summary)
  event.set('human_hypothesis', hypothesis === null ? null : redactValue(hypothesis))
  event.set('metadata', redactValue(event.get('metadata') ?? null))
  return event
}

function withSummary(payload: HarnDict): HarnDict {
  if ((payload.get('redacted_summary') ?? null) !== null) return payload
  const summary = payload.get('summary') ?? payload.get('message') ?? null
  return summary === null ? payload : payload.with('redacted_summary', summary)
}

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__friction_record(payload: any) -> dict',
    'The event in its one shape; what it does not say of id and time is nil.',
    (ctx, payload) => {
      chargeArguments(ctx, [payload!])
      return readEvent(payload!)
    },
  ),
  definePrimitive('__keep_friction(event: dict) -> nil', 'Keeps an event for the run.', (ctx, event) => {
    const kept = event as HarnDict
    kept.owned = false
    ctx.charge(1, 64)
    ctx.state(frictionState).events.push(kept)
    return null
  }),
  ...suggestionPrimitives,
]

function runHarn(ctx: Context, name: string, ...args: readonly Value[]): Result {
  return ctx.library({ module: 'agents/transcripts/friction', function: name, output: 'drop' }, args)
}

const EFFECTS = { effects: ['clock.now', 'random.bytes'] as const }

export const frictionFamily: BuiltinFamily = {
  name: 'friction',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtinTaking(
      'friction_event(payload: dict) -> dict',
      { doc: 'A friction event in its one shape, without secrets.', ...EFFECTS },
      { raise: 'runtime', fewer: '{f}: missing payload' },
      (ctx, payload) => runHarn(ctx, 'friction_event', payload),
    ),
    builtinTaking(
      'friction_record(payload: dict, options?: dict) -> dict',
      { doc: 'Keeps a friction event.', effects: ['clock.now', 'random.bytes', 'fs.write', 'process.info'] },
      { raise: 'runtime', fewer: '{f}: missing payload' },
      (ctx, payload, options) => runHarn(ctx, 'friction_record', payload, options),
    ),
    builtin(
      'friction_events() -> list',
      { doc: 'The events kept in this run.', effects: [] },
      (ctx) => new HarnList([...ctx.state(frictionState).events]),
    ),
    builtin('friction_clear() -> nil', { doc: 'Forgets the events kept in this run.', effects: [] }, (ctx) => {
      ctx.state(frictionState).events.length = 0
      return null
    }),
    builtinTaking(
      'context_pack_suggestions(events?: list | dict, options?: dict) -> list',
      { doc: 'Context packs that repeated friction suggests.', ...EFFECTS },
      {
        raise: 'runtime',
        // Without events those of the run; a nil that was given is a mistake.
        fits: {
          events: (events, { isPassed }) =>
            isPassed && events === null ? 'friction events fixture must be an array or {events: [...]}' : null,
        },
      },
      (ctx, events, options) => runHarn(ctx, 'context_pack_suggestions', events, options),
    ),
    builtinTaking(
      'friction_eval_fixture(fixture: dict) -> dict',
      { doc: 'Whether events lead to the suggestions that are expected of them.', ...EFFECTS },
      { raise: 'runtime', fewer: '{f}: missing fixture payload' },
      (ctx, fixture) => runHarn(ctx, 'friction_eval_fixture', fixture),
    ),
    ...manifestBuiltins,
  ],
}
