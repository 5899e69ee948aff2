// Handoffs: a record by which one persona passes work on to another or to a person, in one shape, and its
// rendering for a prompt. A payload that does not fit is refused as a whole.

import { HarnDict, HarnFloat, HarnList, Problem, builtin, isInt } from '@bridle/vm/families'
import type { BuiltinFamily, Value } from '@bridle/vm/families'
import { harnModules } from '../../library/harn/modules.js'

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

function misfit(): never {
  throw new Misfit()
}

function optionalText(value: Value | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') return misfit()
  const text = value.trim()
  return text === '' ? null : text
}

function requiredText(value: Value | undefined): string {
  return optionalText(value) ?? misfit()
}

function textList(value: Value | undefined): HarnList {
  if (value === undefined) return new HarnList([])
  if (!(value instanceof HarnList)) return misfit()
  return new HarnList([
    ...new Set(
      value
        .view()
        .map((item) => (typeof item === 'string' ? item.trim() : misfit()))
        .filter((text) => text !== ''),
    ),
  ])
}

function records(value: Value | undefined, fields: readonly string[], fallback: Readonly<Record<string, string>> = {}): HarnList {
  if (value === undefined) return new HarnList([])
  if (!(value instanceof HarnList)) return misfit()
  return new HarnList(
    value.view().map((item) => {
      if (!(item instanceof HarnDict)) return misfit()
      return HarnDict.of(Object.fromEntries(fields.map((name) => [name, optionalText(item.get(name)) ?? fallback[name] ?? null])))
    }),
  )
}

function numberOf(value: Value | undefined): number | null {
  if (value === undefined || value === null) return null
  if (value instanceof HarnFloat) return value.v
  return isInt(value) ? Number(value) : misfit()
}

function target(value: Value | undefined): HarnDict {
  if (!(value instanceof HarnDict)) return misfit()
  const id = optionalText(value.get('id'))
  const label = optionalText(value.get('label'))
  if (id === null && label === null) return misfit()
  return HarnDict.of({ kind: optionalText(value.get('kind'))?.toLowerCase() === 'human' ? 'human' : 'persona', id, label })
}

function budget(value: Value | undefined): Value {
  if (value === undefined || value === null) return null
  if (!(value instanceof HarnDict)) return misfit()
  const dollars = numberOf(value.get('dollars'))
  return HarnDict.of({
    tokens: numberOf(value.get('tokens')),
    tool_calls: numberOf(value.get('tool_calls')),
    dollars: dollars === null ? null : new HarnFloat(dollars),
  })
}

function deadline(value: Value | undefined): Value {
  if (value === undefined || value === null) return null
  if (!(value instanceof HarnDict)) return misfit()
  return HarnDict.of({ deadline: optionalText(value.get('deadline')), checkback_at: optionalText(value.get('checkback_at')) })
}

/** The payload in its one shape, without id and time where it has none; null when it does not fit. */
export function normalHandoff(payload: Value): HarnDict | null {
  if (!(payload instanceof HarnDict)) return null
  try {
    const confidence = numberOf(payload.get('confidence'))
    const metadata = payload.get('metadata') ?? new HarnDict()
    if (!(metadata instanceof HarnDict)) return misfit()
    const result = HarnDict.of({
      _type: 'handoff_artifact',
      id: optionalText(payload.get('id')),
      parent_run_id: optionalText(payload.get('parent_run_id')),
      source_persona: requiredText(payload.get('source_persona')),
      target_persona_or_human: target(payload.get('target_persona_or_human')),
      task: requiredText(payload.get('task')),
      reason: requiredText(payload.get('reason')),
      evidence_refs: records(payload.get('evidence_refs'), EVIDENCE_FIELDS),
      budget_remaining: budget(payload.get('budget_remaining')),
      deadline_checkback: deadline(payload.get('deadline_checkback')),
      confidence: confidence === null ? null : new HarnFloat(Math.min(1, Math.max(0, confidence))),
      receipt_links: records(payload.get('receipt_links'), RECEIPT_FIELDS, { kind: 'run_receipt' }),
      created_at: optionalText(payload.get('created_at')),
      metadata,
    })
    for (const name of TEXT_LISTS) result.set(name, textList(payload.get(name)))
    return result
  } catch (error) {
    if (error instanceof Misfit) return null
    throw error
  }
}

// ------------------------------------------------------------------------------------------------------------- rendering

function field(record: Value | undefined, name: string): Value {
  return record instanceof HarnDict ? (record.get(name) ?? null) : null
}

function evidenceLine(record: Value): string {
  const label = field(record, 'label')
  const parts = label === null ? [] : [String(label)]
  for (const name of ['artifact_id', 'path', 'uri', 'kind']) {
    const value = field(record, name)
    if (value !== null) parts.push(`${name}=${String(value)}`)
  }
  return parts.join(' | ')
}

function section(lines: string[], name: string, items: readonly string[]): void {
  if (items.length > 0) lines.push(`<${name}>`, ...items.map((item) => `- ${item}`), `</${name}>`)
}

function listed(record: HarnDict, name: string): readonly Value[] {
  const list = record.get(name)
  return list instanceof HarnList ? list.view() : []
}

function render(record: HarnDict): string {
  const to = record.get('target_persona_or_human')
  const lines = [
    '<handoff>',
    `<source_persona>${String(record.get('source_persona'))}</source_persona>`,
    `<target kind="${String(field(to, 'kind'))}">${String(field(to, 'label') ?? field(to, 'id'))}</target>`,
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
    section(lines, name, listed(record, name).map(String))
  }
  section(lines, 'evidence_refs', listed(record, 'evidence_refs').map(evidenceLine))
  const shown = (value: Value): string => (value === null ? '' : String(value))
  const left = record.get('budget_remaining')
  if (left instanceof HarnDict) {
    const dollars = left.get('dollars')
    const price = dollars instanceof HarnFloat ? dollars.v.toFixed(4) : ''
    lines.push(
      `<budget_remaining tokens="${shown(field(left, 'tokens'))}" tool_calls="${shown(field(left, 'tool_calls'))}" dollars="${price}" />`,
    )
  }
  const due = record.get('deadline_checkback')
  if (due instanceof HarnDict) {
    lines.push(
      `<deadline_checkback deadline="${shown(field(due, 'deadline'))}" checkback_at="${shown(field(due, 'checkback_at'))}" />`,
    )
  }
  const confidence = record.get('confidence')
  if (confidence instanceof HarnFloat) lines.push(`<confidence>${confidence.v.toFixed(2)}</confidence>`)
  return [...lines, '</handoff>'].join('\n')
}

const make = { module: 'agents/transcripts/handoff', function: 'handoff', output: 'keep' } as const

export const handoffFamily: BuiltinFamily = {
  name: 'handoff',
  modules: harnModules,
  primitives: [
    builtin(
      '__normal_handoff(payload: any) -> dict?',
      { doc: 'A handoff in its one shape; nil when it does not fit.' },
      (_ctx, payload) => normalHandoff(payload ?? null),
    ),
  ],
  builtins: [
    builtin(
      'handoff(payload: dict) -> dict',
      { doc: 'A handoff in its one shape.', effects: ['clock.now', 'random.bytes'] },
      (ctx, payload) => (ctx.argc === 0 ? ctx.runtime('handoff: missing payload') : ctx.library(make, [payload!])),
    ),
    builtin('handoff_context(payload: dict) -> string', { doc: 'A handoff as text for a prompt.' }, (ctx, payload) => {
      if (ctx.argc === 0) return ctx.runtime('handoff_context: missing payload')
      const normal = normalHandoff(payload!)
      return normal === null ? ctx.runtime('handoff_context: invalid handoff payload') : render(normal)
    }),
  ],
}
