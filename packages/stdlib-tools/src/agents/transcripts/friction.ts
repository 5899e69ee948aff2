// Friction events: notes on what slowed work down, in one shape and without secrets, kept for the run or
// appended to a file of JSON lines, and grouped into suggestions for context packs.

import {
  HarnDict,
  HarnList,
  builtin,
  display,
  failRuntime,
  family,
  runHere,
  isTruthy,
  makeScripts,
  stringifyJson,
} from '@bridle/vm/families'
import type { BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { evaluateFixture, manifestBuiltins, makeSuggestions } from './context-packs.js'
import { readSecondsText, makeTimeOrderedId } from '../../library/time/identity.js'
import { isAbsolutePath } from '../../library/files/lexical-path.js'
import { readRecord, recordData } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'
import { appendLine, readEnvironment } from '../../library/files/state-files.js'

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

/** The event in its one shape. */
export function* normalizeEvent(payload: Value): Script<HarnDict> {
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
  const result = event.copy()
  result.set('schema_version', 1)
  result.set('kind', kind)
  result.set('redacted_summary', summary)
  result.set('human_hypothesis', hypothesis === null ? null : redactValue(hypothesis))
  result.set('metadata', redactValue(event.get('metadata') ?? null))
  result.set('id', event.get('id') ?? `friction_${yield* makeTimeOrderedId()}`)
  result.set('timestamp', event.get('timestamp') ?? (yield* readSecondsText()))
  return result
}

function withSummary(payload: HarnDict): HarnDict {
  if ((payload.get('redacted_summary') ?? null) !== null) return payload
  const summary = payload.get('summary') ?? payload.get('message') ?? null
  return summary === null ? payload : payload.with('redacted_summary', summary)
}

function* normalizeEvents(given: Value): Script<HarnDict[]> {
  if (given === null) return yield* runHere((ctx) => [...ctx.state(frictionState).events])
  const list = given instanceof HarnDict ? (given.get('events') ?? null) : given
  if (!(list instanceof HarnList)) return failRuntime('friction events fixture must be an array or {events: [...]}')
  const events: HarnDict[] = []
  for (const item of list.view()) {
    const event = yield* normalizeEvent(item)
    // A reference names a secret and does not hold it: events that a script hands over keep theirs.
    const metadata = item instanceof HarnDict ? item.get('metadata') : null
    const reference = metadata instanceof HarnDict ? (metadata.get('secret_ref') ?? null) : null
    events.push(
      reference === null ? event : event.with('metadata', (event.get('metadata') as HarnDict).with('secret_ref', reference)),
    )
  }
  return events
}

const machine = makeScripts('friction.script', {
  *event(payload) {
    return yield* normalizeEvent(payload!)
  },
  *record(payload, given) {
    const options = given instanceof HarnDict ? given : new HarnDict()
    const event = yield* normalizeEvent(payload!)
    if (options.has('enabled') && !isTruthy(options.get('enabled')!))
      return HarnDict.of({ recorded: false, sink: 'disabled', event })
    yield* runHere((ctx) => {
      ctx.state(frictionState).events.push(event)
      return null
    })
    const path = options.get('log_path') ?? options.get('path') ?? (yield* readEnvironment('HARN_FRICTION_LOG'))
    if (path === null || display(path) === '') return HarnDict.of({ recorded: true, sink: 'memory', event })
    yield* appendLine(
      isAbsolutePath(display(path)) ? display(path) : `./${display(path)}`,
      stringifyJson(event, { interchange: true }),
      'friction_record',
    )
    return HarnDict.of({ recorded: true, sink: 'jsonl', path: display(path), event })
  },
  *suggestions(events, options) {
    return new HarnList(yield* makeSuggestions(yield* normalizeEvents(events ?? null), options ?? null))
  },
  *fixture(given) {
    const data = given instanceof HarnDict ? given : new HarnDict()
    const events = given instanceof HarnList ? given : (data.get('events') ?? false)
    return yield* evaluateFixture(yield* normalizeEvents(events), data)
  },
})

const EFFECTS = { effects: ['clock.now', 'random.bytes'] as const }

export const frictionFamily: BuiltinFamily = {
  name: 'friction',
  frames: [machine.frame],
  builtins: [
    builtin(
      'friction_event(payload: dict) -> dict',
      { doc: 'A friction event in its one shape, without secrets.', ...EFFECTS },
      (ctx, payload) => (ctx.argc === 0 ? ctx.runtime('friction_event: missing payload') : machine.start(ctx, 'event', payload!)),
    ),
    builtin(
      'friction_record(payload: dict, options?: dict) -> dict',
      { doc: 'Keeps a friction event.', effects: ['clock.now', 'random.bytes', 'fs.write', 'process.info'] },
      (ctx, payload, options) =>
        ctx.argc === 0
          ? ctx.runtime('friction_record: missing payload')
          : machine.start(ctx, 'record', payload!, options ?? null),
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
    builtin(
      'context_pack_suggestions(events?: list | dict, options?: dict) -> list',
      { doc: 'Context packs that repeated friction suggests.', ...EFFECTS },
      // Without events those of the run; a nil that was given is a mistake.
      (ctx, events, options) => machine.start(ctx, 'suggestions', ctx.argc === 0 ? null : (events ?? false), options ?? null),
    ),
    builtin(
      'friction_eval_fixture(fixture: dict) -> dict',
      { doc: 'Whether events lead to the suggestions that are expected of them.', ...EFFECTS },
      (ctx, given) =>
        ctx.argc === 0 ? ctx.runtime('friction_eval_fixture: missing fixture payload') : machine.start(ctx, 'fixture', given!),
    ),
    ...manifestBuiltins,
  ],
}
