// Plan artifacts: any plan of a model, normalised to one shape with an id over its content.

import { HarnDict, HarnFloat, HarnList, builtin, bytesToHex, display, isInt, stringifySorted, toUtf8 } from '@bridle/vm/families'
import type { BuiltinFamily, Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'

/** A string, number or bool as text; null for anything else. */
function readScalar(value: Value | undefined): string | null {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return null
  return isInt(value) || typeof value === 'boolean' || value instanceof HarnFloat ? display(value) : null
}

const EMPTY = new HarnDict()

function asDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : EMPTY
}

function findFirstScalar(dict: HarnDict, keys: readonly string[]): string | null {
  for (const key of keys) {
    const text = readScalar(dict.get(key))
    if (text !== null) return text
  }
  return null
}

function findFirstPresent(dict: HarnDict, keys: readonly string[]): Value | undefined {
  for (const key of keys) if (dict.has(key)) return dict.get(key)
  return undefined
}

function readTextList(value: Value | undefined): HarnList {
  const items = value instanceof HarnList ? value.view() : value === undefined ? [] : [value]
  const texts = items.map((item) => readScalar(item)?.trim() ?? '')
  return new HarnList(texts.filter((text) => text !== ''))
}

const STATUS: Readonly<Record<string, string>> = {
  pending: 'pending',
  todo: 'pending',
  not_started: 'pending',
  in_progress: 'in_progress',
  active: 'in_progress',
  running: 'in_progress',
  started: 'in_progress',
  completed: 'completed',
  complete: 'completed',
  done: 'completed',
  blocked: 'blocked',
  waiting: 'blocked',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  dropped: 'cancelled',
  skipped: 'cancelled',
}

function readStatus(value: Value | undefined): string {
  const text = readScalar(value) ?? ''
  return Object.hasOwn(STATUS, text) ? STATUS[text]! : 'pending'
}

function readStep(value: Value, index: number): HarnDict | null {
  const dict = value instanceof HarnDict ? value : null
  const content =
    (dict === null ? readString(value) : findFirstScalar(dict, ['content', 'step', 'task', 'goal', 'description']))?.trim() ?? ''
  if (content === '') return null
  return HarnDict.of({
    id: readScalar(dict?.get('id')) ?? `step-${index + 1}`,
    content,
    status: readStatus(dict?.get('status')),
    priority: dict?.get('priority') ?? null,
  })
}

function readString(value: Value): string | null {
  return typeof value === 'string' ? value : null
}

function readSteps(source: Value): HarnList {
  const dict = asDict(source)
  const given = findFirstPresent(dict, ['steps', 'plan', 'tasks']) ?? source
  if (!(given instanceof HarnList)) return new HarnList([])
  return new HarnList(
    given
      .view()
      .map(readStep)
      .filter((item) => item !== null),
  )
}

function readApprovalState(text: string): string {
  switch (text) {
    case 'approved':
      return 'approved'
    case 'rejected':
    case 'denied':
      return 'rejected'
    case 'requested':
    case 'pending':
      return 'requested'
    default:
      return 'unrequested'
  }
}

function readApproval(value: Value | undefined): HarnDict {
  if (!(value instanceof HarnDict)) return HarnDict.of({ state: 'unrequested' })
  // A state that is not text is ignored, as is a status beside it.
  const said = value.has('state') ? value.get('state') : value.get('status')
  const text = typeof said === 'string' ? said : null
  const flag = value.get('approved')
  const out = HarnDict.of({
    state: text !== null ? readApprovalState(text) : flag === true ? 'approved' : flag === false ? 'rejected' : 'unrequested',
  })
  for (const key of ['request_id', 'reviewer', 'reviewers', 'approved_at', 'reason'])
    if (value.has(key)) out.set(key, value.get(key)!)
  return out
}

/** The artifact as the tool `tool` would emit it. */
export function normalizePlan(given: Value, tool = 'emit_plan'): HarnDict {
  const outer = asDict(given)
  const source = outer.has('plan') ? outer.get('plan')! : given
  const inner = asDict(source)
  const summaryKeys = ['explanation', 'summary', 'direction']
  const artifact = HarnDict.of({
    _type: 'plan_artifact',
    schema_version: 'harn.plan.v1',
    tool,
    title: findFirstScalar(inner, ['title', 'name']) ?? 'Plan',
    summary: findFirstScalar(outer, summaryKeys) ?? findFirstScalar(inner, summaryKeys) ?? '',
    steps: readSteps(source),
    assumptions: readTextList(inner.get('assumptions')),
    open_questions: readTextList(findFirstPresent(inner, ['open_questions', 'questions', 'unknowns'])),
    verification_commands: readTextList(findFirstPresent(inner, ['verification_commands', 'verification', 'verify_commands'])),
    approval: readApproval(inner.get('approval') ?? outer.get('approval')),
  })
  artifact.set('id', `plan_${bytesToHex(sha256(toUtf8(stringifySorted(artifact)))).slice(0, 12)}`)
  return artifact
}

/** The steps as a client that shows plans takes them; a plan without steps shows its summary. */
export function listPlanEntries(plan: Value): HarnList {
  const dict = asDict(plan)
  const given = dict.get('steps')
  const entries: Value[] = []
  for (const item of given instanceof HarnList ? given.view() : []) {
    const fields = asDict(item)
    const content = readString(fields.get('content') ?? null) ?? ''
    if (content.trim() === '') continue
    const entry = HarnDict.of({ content, status: readString(fields.get('status') ?? null) ?? 'pending' })
    const priority = fields.get('priority') ?? null
    if (priority !== null) entry.set('priority', priority)
    entries.push(entry)
  }
  if (entries.length === 0) {
    const summary = readScalar(dict.get('summary'))?.trim() ?? ''
    entries.push(HarnDict.of({ content: summary === '' ? 'Plan emitted' : summary, status: 'pending' }))
  }
  return new HarnList(entries)
}

/** The text form of an artifact, for transcripts. */
export function renderPlan(plan: HarnDict): string {
  const lines = [`# ${display(plan.get('title') ?? 'Plan')}`]
  const summary = display(plan.get('summary') ?? '').trim()
  if (summary !== '') lines.push('', summary)
  const shown = plan.get('steps')
  if (shown instanceof HarnList && shown.length > 0) {
    lines.push('', '## Steps')
    for (const item of shown.view()) {
      const fields = asDict(item)
      lines.push(`- [${display(fields.get('status') ?? 'pending')}] ${display(fields.get('content') ?? '')}`)
    }
  }
  for (const [key, title] of [
    ['assumptions', 'Assumptions'],
    ['open_questions', 'Open questions'],
    ['verification_commands', 'Verification commands'],
  ] as const) {
    const items = plan.get(key)
    if (items instanceof HarnList && items.length > 0)
      lines.push('', `## ${title}`, ...items.view().map((item) => `- ${display(item)}`))
  }
  lines.push('', `Approval: ${display(asDict(plan.get('approval')).get('state') ?? 'unrequested')}`)
  return lines.join('\n')
}

export const planFamily: BuiltinFamily = {
  name: 'plan',
  builtins: [
    builtin(
      'plan_artifact(plan: any) -> dict',
      { doc: 'A plan in its normal form, with an id over its content.' },
      (ctx, plan) => {
        ctx.charge(16)
        return normalizePlan(plan)
      },
    ),
    builtin('plan_entries(plan: any) -> list', { doc: 'The steps of a plan as `{content, status, priority?}`.' }, (_ctx, plan) =>
      listPlanEntries(plan),
    ),
  ],
}
