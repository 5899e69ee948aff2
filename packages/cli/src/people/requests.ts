// Text and subject of a request to a person: the subject is what rules match, the text is shown at a terminal.

import type { ApprovalRequest } from '@bridle/stdlib-tools'
import { describeWrite } from './write-diff.js'

type Fields = { readonly [key: string]: unknown }

/** Longer strings are truncated with a note until the person asks for the whole. */
const MOST_SHOWN = 2_000

export interface PersonRequest {
  readonly id: string
  readonly kind: ApprovalRequest['kind']
  /** The prompt of a question, the action of an approval, the role of an escalation, the tool of a permission. */
  readonly subject: string
  /** Who may approve; empty: anybody. */
  readonly reviewers: readonly string[]
  /** Number of different people who must approve. */
  readonly quorum: number
  /** Of a question. */
  readonly schemaType: string | null
  readonly fallback: unknown
  /** Further lines: arguments in full, or with strings truncated. */
  readonly describe: (isWhole: boolean) => string
}

export function readRequest({ id, kind, payload }: ApprovalRequest): PersonRequest {
  const about = fieldsOf(payload['payload'] ?? payload)
  const asked = fieldsOf(payload['approvalRequest'])
  const schema = fieldsOf(about['schema'])
  const reviewers = about['reviewers'] ?? about['approvers']
  return {
    id,
    kind,
    subject: asText(about['prompt'] ?? asked['action'] ?? about['action'] ?? about['role']),
    reviewers: Array.isArray(reviewers) ? reviewers.map(asText) : [],
    quorum: Number(about['quorum'] ?? about['n'] ?? 1),
    schemaType: typeof schema['type'] === 'string' ? schema['type'] : null,
    fallback: about['default'] ?? null,
    describe: (isWhole) => describe(kind, payload, about, asked, isWhole),
  }
}

function describe(kind: ApprovalRequest['kind'], payload: Fields, about: Fields, asked: Fields, isWhole: boolean): string {
  const rows: (readonly [string, unknown])[] =
    kind === 'permission'
      ? [
          ['runs', fieldsOf(payload['tool'])['identity']],
          ['arguments', asked['args']],
          ['changes', payload['mutation'] === undefined ? null : fieldsOf(payload['mutation'])['classification']],
          ['files', payload['declaredPaths']],
        ]
      : kind === 'escalation'
        ? [['reason', about['reason']]]
        : kind === 'question'
          ? [['default', about['default']]]
          : [
              ['detail', about['detail']],
              ['arguments', about['args']],
              ['evidence', about['evidence_refs']],
              ['wants', about['capabilities_requested']],
            ]
  const shown = rows.filter(([, value]) => hasContent(value)).map(([name, value]) => `  ${name}: ${render(value, isWhole)}\n`)
  const called = kind === 'permission' ? fieldsOf(payload['tool'])['identity'] : null
  const written = called === null ? null : describeWrite(asText(called), fieldsOf(asked['args']), isWhole)
  return [
    ...shown,
    ...(written === null ? [] : [`  changes in the file:${written.startsWith('\n') ? '' : ' '}${written}\n`]),
  ].join('')
}

function hasContent(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** JSON with its lines indented by four. */
function render(value: unknown, isWhole: boolean): string {
  if (typeof value === 'string') {
    const text = shorten(value, isWhole)
    // A line break would let a script print lines that look like ours.
    return /[\r\n]/.test(text) ? JSON.stringify(text) : text
  }
  const text = JSON.stringify(value, (_key, each) => (typeof each === 'string' ? shorten(each, isWhole) : each), 2)
  return text.replaceAll('\n', '\n    ')
}

function shorten(text: string, isWhole: boolean): string {
  if (isWhole || text.length <= MOST_SHOWN) return text
  return `${text.slice(0, MOST_SHOWN)} [and ${text.length - MOST_SHOWN} more characters]`
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}
