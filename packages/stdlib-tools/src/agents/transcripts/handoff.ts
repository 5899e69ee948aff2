// Handoffs: a record by which one persona passes work on to another or to a person, in one shape, and its
// rendering for a prompt. A payload that does not fit is refused as a whole.

import { builtinTaking, HarnDict, HarnFloat, HarnList, Problem, builtin, isInt } from '@bridle/vm/families'
import type { BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

const TEXT_LISTS = [
  'open_questions',
  'blocked_on',
  'files_or_entities_touched',
  'requested_capabilities',
  'allowed_side_effects',
] as const
const EVIDENCE_FIELDS = ['artifact_id', 'kind', 'label', 'path', 'uri'] as const
const RECEIPT_FIELDS = ['artifact_id', 'href', 'kind', 'label', 'path', 'run_id'] as const

/** Marks a payload that does not fit; inside this file only. */
class Misfit extends Problem {}

function throwMisfit(): never {
  throw new Misfit()
}

function readOptionalText(value: Value | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') return throwMisfit()
  const text = value.trim()
  return text === '' ? null : text
}

function readRequiredText(value: Value | undefined): string {
  return readOptionalText(value) ?? throwMisfit()
}

function readTextList(value: Value | undefined): HarnList {
  if (value === undefined) return new HarnList([])
  if (!(value instanceof HarnList)) return throwMisfit()
  return new HarnList([
    ...new Set(
      value
        .view()
        .map((item) => (typeof item === 'string' ? item.trim() : throwMisfit()))
        .filter((text) => text !== ''),
    ),
  ])
}

function readRecords(
  value: Value | undefined,
  fields: readonly string[],
  fallback: Readonly<Record<string, string>> = {},
): HarnList {
  if (value === undefined) return new HarnList([])
  if (!(value instanceof HarnList)) return throwMisfit()
  return new HarnList(
    value.view().map((item) => {
      if (!(item instanceof HarnDict)) return throwMisfit()
      return HarnDict.of(
        Object.fromEntries(fields.map((name) => [name, readOptionalText(item.get(name)) ?? fallback[name] ?? null])),
      )
    }),
  )
}

function readNumber(value: Value | undefined): number | null {
  if (value === undefined || value === null) return null
  if (value instanceof HarnFloat) return value.v
  return isInt(value) ? Number(value) : throwMisfit()
}

function readTarget(value: Value | undefined): HarnDict {
  if (!(value instanceof HarnDict)) return throwMisfit()
  const id = readOptionalText(value.get('id'))
  const label = readOptionalText(value.get('label'))
  if (id === null && label === null) return throwMisfit()
  return HarnDict.of({ kind: readOptionalText(value.get('kind'))?.toLowerCase() === 'human' ? 'human' : 'persona', id, label })
}

function readBudget(value: Value | undefined): Value {
  if (value === undefined || value === null) return null
  if (!(value instanceof HarnDict)) return throwMisfit()
  const dollars = readNumber(value.get('dollars'))
  return HarnDict.of({
    tokens: readNumber(value.get('tokens')),
    tool_calls: readNumber(value.get('tool_calls')),
    dollars: dollars === null ? null : new HarnFloat(dollars),
  })
}

function readDeadline(value: Value | undefined): Value {
  if (value === undefined || value === null) return null
  if (!(value instanceof HarnDict)) return throwMisfit()
  return HarnDict.of({
    deadline: readOptionalText(value.get('deadline')),
    checkback_at: readOptionalText(value.get('checkback_at')),
  })
}

/** The payload in its one shape, without id and time where it has none; null when it does not fit. */
export function normalizeHandoff(payload: Value): HarnDict | null {
  if (!(payload instanceof HarnDict)) return null
  try {
    const confidence = readNumber(payload.get('confidence'))
    const metadata = payload.get('metadata') ?? new HarnDict()
    if (!(metadata instanceof HarnDict)) return throwMisfit()
    const result = HarnDict.of({
      _type: 'handoff_artifact',
      id: readOptionalText(payload.get('id')),
      parent_run_id: readOptionalText(payload.get('parent_run_id')),
      source_persona: readRequiredText(payload.get('source_persona')),
      target_persona_or_human: readTarget(payload.get('target_persona_or_human')),
      task: readRequiredText(payload.get('task')),
      reason: readRequiredText(payload.get('reason')),
      evidence_refs: readRecords(payload.get('evidence_refs'), EVIDENCE_FIELDS),
      budget_remaining: readBudget(payload.get('budget_remaining')),
      deadline_checkback: readDeadline(payload.get('deadline_checkback')),
      confidence: confidence === null ? null : new HarnFloat(Math.min(1, Math.max(0, confidence))),
      receipt_links: readRecords(payload.get('receipt_links'), RECEIPT_FIELDS, { kind: 'run_receipt' }),
      created_at: readOptionalText(payload.get('created_at')),
      metadata,
    })
    for (const name of TEXT_LISTS) result.set(name, readTextList(payload.get(name)))
    return result
  } catch (error) {
    if (error instanceof Misfit) return null
    throw error
  }
}

// ------------------------------------------------------------------------------------------------------------- rendering

function readField(record: Value | undefined, name: string): Value {
  return record instanceof HarnDict ? (record.get(name) ?? null) : null
}

function formatEvidence(record: Value): string {
  const label = readField(record, 'label')
  const parts = label === null ? [] : [String(label)]
  for (const name of ['artifact_id', 'path', 'uri', 'kind']) {
    const value = readField(record, name)
    if (value !== null) parts.push(`${name}=${String(value)}`)
  }
  return parts.join(' | ')
}

function addSection(lines: string[], name: string, items: readonly string[]): void {
  if (items.length > 0) lines.push(`<${name}>`, ...items.map((item) => `- ${item}`), `</${name}>`)
}

function listItems(record: HarnDict, name: string): readonly Value[] {
  const list = record.get(name)
  return list instanceof HarnList ? list.view() : []
}

function render(record: HarnDict): string {
  const to = record.get('target_persona_or_human')
  const lines = [
    '<handoff>',
    `<source_persona>${String(record.get('source_persona'))}</source_persona>`,
    `<target kind="${String(readField(to, 'kind'))}">${String(readField(to, 'label') ?? readField(to, 'id'))}</target>`,
    `<task>${String(record.get('task'))}</task>`,
    `<reason>${String(record.get('reason'))}</reason>`,
  ]
  for (const name of [
    'files_or_entities_touched',
    'open_questions',
    'blocked_on',
    'requested_capabilities',
    'allowed_side_effects',
  ]) {
    addSection(lines, name, listItems(record, name).map(String))
  }
  addSection(lines, 'evidence_refs', listItems(record, 'evidence_refs').map(formatEvidence))
  const formatValue = (value: Value): string => (value === null ? '' : String(value))
  const left = record.get('budget_remaining')
  if (left instanceof HarnDict) {
    const dollars = left.get('dollars')
    const price = dollars instanceof HarnFloat ? dollars.v.toFixed(4) : ''
    lines.push(
      `<budget_remaining tokens="${formatValue(readField(left, 'tokens'))}" tool_calls="${formatValue(readField(left, 'tool_calls'))}" dollars="${price}" />`,
    )
  }
  const due = record.get('deadline_checkback')
  if (due instanceof HarnDict) {
    lines.push(
      `<deadline_checkback deadline="${formatValue(readField(due, 'deadline'))}" checkback_at="${formatValue(readField(due, 'checkback_at'))}" />`,
    )
  }
  const confidence = record.get('confidence')
  if (confidence instanceof HarnFloat) lines.push(`<confidence>${confidence.v.toFixed(2)}</confidence>`)
  return [...lines, '</handoff>'].join('\n')
}

const context = { module: 'agents/transcripts/handoff', function: 'handoff_context', output: 'keep' } as const
const make = { module: 'agents/transcripts/handoff', function: 'handoff', output: 'keep' } as const

export const handoffFamily: BuiltinFamily = {
  name: 'handoff',
  modules: findHarnModule,
  primitives: [
    builtin(
      '__normal_handoff(payload: any) -> dict?',
      { doc: 'A handoff in its one shape; nil when it does not fit.' },
      (_ctx, payload) => normalizeHandoff(payload ?? null),
    ),
    builtin('__render_handoff(payload: dict) -> string', { doc: 'A handoff in its one shape as text.' }, (_ctx, payload) =>
      render(payload as HarnDict),
    ),
  ],
  builtins: [
    builtinTaking(
      'handoff(payload: dict) -> dict',
      { doc: 'A handoff in its one shape.', effects: ['clock.now', 'random.bytes'] },
      { raise: 'runtime', fewer: '{f}: missing payload' },
      (ctx, payload) => ctx.library(make, [payload]),
    ),
    builtinTaking(
      'handoff_context(payload: dict) -> string',
      { doc: 'A handoff as text for a prompt.' },
      { raise: 'runtime', fewer: '{f}: missing payload' },
      (ctx, payload) => ctx.library(context, [payload]),
    ),
  ],
}
