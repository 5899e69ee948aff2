// The task ledger of an agent loop: what has to be delivered, told to the model in every turn, kept by calls
// of `ledger` that the runtime answers, and in the way of ending while something is open.

import { HarnDict, HarnList, debugQuoted, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { textAt } from '../../tools/definitions/registry.js'

export const LEDGER = 'ledger'

const STATUSES: readonly string[] = ['open', 'done', 'blocked', 'dropped']
const ACTIONS = 'add|mark|rationale|note|seed_plan'

interface Deliverable {
  readonly id: string
  readonly text: string
  status: string
  note: string | null
}

/** Mutable: it belongs to one loop. */
export interface TaskLedger {
  rootTask: string
  deliverables: Deliverable[]
  rationale: string
  readonly observations: string[]
}

/** The ledger of the options; one that is odd counts as absent. */
export function readLedger(given: HarnDict): TaskLedger {
  const root = given.get('root_task') ?? null
  const listed = given.get('deliverables')
  return (
    readWhole(given.get('task_ledger')) ?? {
      rootTask: root === null ? '' : display(root),
      deliverables: listed instanceof HarnList ? seeded(listed.view()) : [],
      rationale: '',
      observations: [],
    }
  )
}

/** Texts by place; blank ones leave their number out. */
function seeded(items: readonly Value[]): Deliverable[] {
  return items
    .map((item, at) => ({ id: `deliverable-${at + 1}`, text: display(item).trim(), status: 'open', note: null }))
    .filter(({ text }) => text !== '')
}

function readWhole(value: Value | undefined): TaskLedger | null {
  if (!(value instanceof HarnDict)) return null
  const text = (key: string): string | null => {
    const found = value.get(key)
    return found === undefined ? '' : typeof found === 'string' ? found : null
  }
  const rootTask = text('root_task')
  const rationale = text('rationale')
  const listed = value.get('deliverables') ?? new HarnList([])
  const observed = value.get('observations') ?? new HarnList([])
  if (rootTask === null || rationale === null || !(listed instanceof HarnList) || !(observed instanceof HarnList)) return null
  const deliverables = listed.view().map(readDeliverable)
  if (deliverables.some((each) => each === null) || observed.view().some((each) => typeof each !== 'string')) return null
  return {
    rootTask,
    rationale,
    deliverables: deliverables.filter((each) => each !== null),
    observations: observed.view().map(display),
  }
}

function readDeliverable(item: Value): Deliverable | null {
  if (!(item instanceof HarnDict)) return null
  const id = textAt(item, 'id')
  const text = textAt(item, 'text')
  const status = item.has('status') ? textAt(item, 'status') : 'open'
  if (id === null || text === null || status === null || !STATUSES.includes(status)) return null
  return { id, text, status, note: textAt(item, 'note') }
}

/** Whether there is anything to keep. */
export function isActive({ deliverables, rationale, observations }: TaskLedger): boolean {
  return deliverables.length > 0 || rationale !== '' || observations.length > 0
}

/** Deliverables in the way of ending. */
export function unresolved(ledger: TaskLedger): readonly string[] {
  return ledger.deliverables.filter(({ status }) => status === 'open' || status === 'blocked').map(line)
}

function line({ id, text, status, note }: Deliverable): string {
  return `  [${id}] (${status}) ${text}${note === null ? '' : ` — ${note}`}`
}

/** The message that ends the conversation of every turn; it is never kept. */
export function ledgerMessage(ledger: TaskLedger): HarnDict {
  const { rootTask, deliverables, rationale, observations } = ledger
  const lines = [
    ...(rootTask === '' ? [] : [`root_task: ${rootTask}`]),
    ...(deliverables.length === 0 ? [] : ['deliverables:', ...deliverables.map(line)]),
    ...(rationale === '' ? [] : [`rationale: ${rationale}`]),
    ...(observations.length === 0 ? [] : ['observations:', ...observations.map((each) => `  - ${each}`)]),
  ]
  return HarnDict.of({
    role: 'user',
    content: `<runtime_injection kind="task_ledger">\n<task_ledger>\n${lines.join('\n')}\n</task_ledger>\n</runtime_injection>`,
  })
}

export function ledgerValue({ rootTask, deliverables, rationale, observations }: TaskLedger): HarnDict {
  return HarnDict.of({
    root_task: rootTask,
    deliverables: new HarnList(deliverables.map(({ id, text, status, note }) => HarnDict.of({ id, text, status, note }))),
    rationale,
    observations: new HarnList([...observations]),
  })
}

class LedgerProblem extends Error {}

/** What a call of `ledger` gives: a text, and whether it was carried out. Without an active ledger it is rejected. */
export function applyLedger(
  ledger: TaskLedger,
  args: HarnDict,
): { readonly text: string; readonly status: 'ok' | 'error' | 'rejected' } {
  if (!isActive(ledger))
    return { text: '<tool_result>ledger unavailable: no task ledger is active in this turn</tool_result>', status: 'rejected' }
  try {
    return { text: `<tool_result>ledger: ${change(ledger, args)}</tool_result>`, status: 'ok' }
  } catch (problem) {
    if (!(problem instanceof LedgerProblem)) throw problem
    return { text: `<tool_result>ledger error: ${problem.message}</tool_result>`, status: 'error' }
  }
}

function fail(message: string): never {
  throw new LedgerProblem(message)
}

function required(args: HarnDict, action: string, key: string): string {
  return textAt(args, key) ?? fail(`ledger ${action}: \`${key}\` is required`)
}

function change(ledger: TaskLedger, args: HarnDict): string {
  const action = textAt(args, 'action')
  switch (action) {
    case null:
      return fail('ledger: `action` is required')
    case 'add':
      return add(ledger, required(args, action, 'text').trim(), textAt(args, 'id'))
    case 'mark':
      return mark(ledger, args)
    case 'rationale':
      ledger.rationale = required(args, action, 'text')
      return 'rationale updated'
    case 'note':
      ledger.observations.push(required(args, action, 'text'))
      return 'observation recorded'
    case 'seed_plan': {
      const items = args.get('deliverables')
      if (!(items instanceof HarnList)) return fail('ledger seed_plan: `deliverables` list is required')
      if (ledger.deliverables.length > 0) return fail('ledger seed_plan: ledger already has deliverables; use `add` to extend')
      ledger.deliverables = seeded(items.view().map((item) => (item instanceof HarnDict ? (item.get('text') ?? '') : item)))
      if (textAt(args, 'rationale') !== null) ledger.rationale = textAt(args, 'rationale')!
      return `plan seeded with ${ledger.deliverables.length} deliverable(s)`
    }
    default:
      return fail(`ledger: unknown action ${debugQuoted(action)}; use one of ${ACTIONS}`)
  }
}

function add(ledger: TaskLedger, text: string, wanted: string | null): string {
  if (text === '') return fail('ledger add: `text` must not be empty')
  const { deliverables } = ledger
  const isTaken = (id: string): boolean => deliverables.some((each) => each.id === id)
  if (wanted !== null && isTaken(wanted))
    return fail(`ledger add: deliverable id ${debugQuoted(wanted)} already exists; use \`mark\` to update or pick a different id`)
  let number = deliverables.length + 1
  while (wanted === null && isTaken(`deliverable-${number}`)) number++
  const id = wanted ?? `deliverable-${number}`
  deliverables.push({ id, text, status: 'open', note: null })
  return `deliverable ${id} added`
}

function mark(ledger: TaskLedger, args: HarnDict): string {
  const id = required(args, 'mark', 'id')
  const status = required(args, 'mark', 'status')
  const note = textAt(args, 'note')
  const found = ledger.deliverables.find((each) => each.id === id)
  if (!STATUSES.includes(status)) return fail(`ledger mark: status ${debugQuoted(status)} is not one of ${STATUSES.join('|')}`)
  if (found === undefined) {
    const known = ledger.deliverables.map((each) => each.id).join(', ')
    return fail(`ledger mark: no deliverable with id ${debugQuoted(id)}; known ids: [${known}]`)
  }
  if (status === 'dropped' && (note ?? '').trim() === '')
    return fail('ledger mark: status "dropped" requires a `note` explaining why')
  found.status = status
  found.note = note
  return `deliverable ${id} marked ${status}`
}
