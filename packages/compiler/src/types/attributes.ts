// Checks attributes: whether they are known, are on the right kind of declaration, and whether those for Flow predicates are consistent.
// It only warns; the effect of attributes is implemented elsewhere.

import type { Attribute, AttributeValue, Declaration, Program } from '@bridle/parser'
import type { CheckContext, Deprecation } from './context.js'
import { BACKOFFS } from './backoffs.js'
import type { Backoff } from './backoffs.js'

interface Placement {
  readonly kinds: readonly Declaration['kind'][]
  readonly target: string
}

const ANYWHERE: Placement | null = null
const ON_FN: Placement = { kinds: ['FnDecl'], target: 'function' }
const ON_TOOL: Placement = { kinds: ['ToolDecl'], target: 'tool' }
const ON_CALLABLE: Placement = { kinds: ['FnDecl', 'ToolDecl', 'PipelineDecl'], target: 'function, tool, or pipeline' }

/** THE table of attributes: where each is allowed. */
const ATTRIBUTES: ReadonlyMap<string, Placement | null> = new Map<string, Placement | null>([
  ['deprecated', ANYWHERE],
  ['complexity', ANYWHERE],
  ['test', { kinds: ['PipelineDecl'], target: 'pipeline' }],
  ['acp_tool', ON_FN],
  ['acp_skill', ON_FN],
  ['invariant', ON_CALLABLE],
  // Contracts about effects and tools: an addition of Bridle, elsewhere unknown attributes.
  ['effects', ON_CALLABLE],
  ['bind_effect', ON_CALLABLE],
  ['deterministic', ON_FN],
  ['semantic', ON_FN],
  ['archivist', ON_FN],
  ['retroactive', ON_FN],
  // Extensions of Bridle: which tools may be used, and how (docs/tools/grants.md).
  ['grant', ON_CALLABLE],
  ['budget', ON_CALLABLE],
  ['grant_import', ANYWHERE],
  ['retries', ON_TOOL],
  ['recovery', ON_TOOL],
])

/** Arguments of `@retries` (`retry` is a keyword), as in the dict `retry` of tool_define. */
const RETRY_ARGUMENTS: readonly string[] = [
  'max',
  'max_retries',
  'base_delay_ms',
  'max_delay_ms',
  'backoff',
  'jitter',
  'retry_on',
]
const RECOVERIES: readonly AttributeValue[] = ['once', 'safe', 'idempotent']

const ARCHIVIST_ARGUMENTS = new Set(['evidence', 'confidence', 'source_date', 'coverage_examples'])

export function checkAttributes(decl: Declaration, context: CheckContext): void {
  if (decl.attributes.length === 0) return
  for (const attribute of decl.attributes) {
    const name = attribute.name.text
    const placement = ATTRIBUTES.get(name)
    if (placement === undefined) context.report('N010', attribute.span, { name })
    else if (placement !== null && !placement.kinds.includes(decl.kind)) {
      context.report('N011', attribute.span, { name, target: placement.target })
    }
  }
  checkPredicate(decl.attributes, context)
  for (const attribute of decl.attributes) {
    const problem = toolAttributeProblem(attribute)
    if (problem !== null) context.report('N021', attribute.span, { name: attribute.name.text, problem })
  }
}

function toolAttributeProblem({ name, args }: Attribute): string | null {
  if (name.text === 'recovery') {
    const [given] = args
    return args.length === 1 && given!.name === null && RECOVERIES.includes(given!.value)
      ? null
      : `takes one of ${RECOVERIES.join(', ')}`
  }
  if (name.text !== 'retries') return null
  for (const arg of args) {
    if (arg.name === null) return 'takes arguments by name only'
    if (!RETRY_ARGUMENTS.includes(arg.name.text))
      return `has no argument \`${arg.name.text}\`; expected one of ${RETRY_ARGUMENTS.join(', ')}`
    if (arg.name.text === 'backoff' && !BACKOFFS.includes(arg.value as Backoff))
      return `knows the backoffs ${BACKOFFS.join(', ')}`
  }
  return null
}

function checkPredicate(attributes: readonly Attribute[], context: CheckContext): void {
  const find = (name: string): Attribute | undefined => attributes.find((attribute) => attribute.name.text === name)
  const deterministic = find('deterministic')
  const semantic = find('semantic')
  const archivist = find('archivist')
  const retroactive = find('retroactive')
  const invariant = attributes.find((attribute) => attribute.name.text === 'invariant' && attribute.args.length === 0)
  if (deterministic !== undefined && semantic !== undefined) context.report('N012', semantic.span, {})
  if (invariant !== undefined) {
    if (deterministic === undefined && semantic === undefined) context.report('N013', invariant.span, {})
    if (archivist === undefined) context.report('N014', invariant.span, {})
  } else {
    if (archivist !== undefined) context.report('N015', archivist.span, { name: 'archivist(...)' })
    if (retroactive !== undefined) context.report('N015', retroactive.span, { name: 'retroactive' })
  }
  if (archivist !== undefined) checkArchivist(archivist, context)
}

function checkArchivist(attribute: Attribute, context: CheckContext): void {
  let evidence = false
  for (const { name, value } of attribute.args) {
    if (name === null) {
      context.report('N016', attribute.span, {})
      continue
    }
    if (!ARCHIVIST_ARGUMENTS.has(name.text)) context.report('N017', attribute.span, { name: name.text })
    if (name.text === 'evidence') evidence = true
    if (name.text === 'confidence' && !isShare(value)) context.report('N018', attribute.span, {})
  }
  if (!evidence) context.report('N019', attribute.span, {})
}

/** Names in attributes are strings, and a name is accepted: it means a constant that is unknown here. */
function isShare(value: AttributeValue): boolean {
  if (typeof value === 'string') return true
  if (typeof value === 'number') return value === 0 || value === 1
  return typeof value === 'object' && value !== null && 'float' in value && value.float >= 0 && value.float <= 1
}

/** Deprecated functions of the top level, by name. */
export function deprecations(program: Program): ReadonlyMap<string, Deprecation> {
  const found = new Map<string, Deprecation>()
  for (const item of program.items) {
    if (item.kind !== 'FnDecl') continue
    const attribute = item.attributes.find((candidate) => candidate.name.text === 'deprecated')
    if (attribute !== undefined)
      found.set(item.name.text, { since: readText(attribute, 'since'), use: readText(attribute, 'use') })
  }
  return found
}

function readText(attribute: Attribute, name: string): string | null {
  const value = attribute.args.find((arg) => arg.name?.text === name)?.value
  return typeof value === 'string' ? value : null
}
