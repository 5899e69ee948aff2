// Definitions of tools by `tool_define`: the handler is called with one dict, whose keys are the parameters.

import { type DictEntry, type Expr, type ExprOf, type Node, forEachChild } from '@bridle/parser'
import { replaceWord } from '../world.js'
import type { Uses } from './context.js'
import { asksForNil } from './members.js'

const MOST_LISTED = 12

export function checkDefinition(uses: Uses, name: string, { args }: ExprOf<'Call'>): void {
  const tool = args[1]?.value
  const config = args[3]?.value
  if (name !== 'tool_define' || config?.kind !== 'Dict' || args.some(({ spread }) => spread)) return
  const handler = findEntry(config.entries, 'handler')
  if (handler?.kind !== 'Closure') return
  const needed = handler.params.filter((param) => param.defaultValue === null && !param.rest)
  if (needed.length > 1) {
    const advice = 'the arguments are one dict: `{ args -> args.a + args.b }`'
    uses.world.report('T092', handler.span, { name: 'the tool', given: 1, actual: needed.length, advice })
    return
  }
  const [param] = handler.params
  const known = readParameters(config.entries)
  if (param === undefined || known === null || tool?.kind !== 'String') return
  const visit = (node: Node, parent: Node | null): void => {
    if (node.kind === 'Member' && isArguments(uses, node.object, param.name.text, param.span) && !node.optional)
      checkRead(uses, node, parent, { tool: tool.value, known })
    forEachChild(node, (child) => visit(child, node))
  }
  visit(handler.body, null)
}

function checkRead(
  uses: Uses,
  { property }: ExprOf<'Member'>,
  parent: Node | null,
  { tool, known }: { readonly tool: string; readonly known: readonly string[] },
): void {
  const { text, span } = property
  if (known.includes(text) || text.startsWith('_') || known.length > MOST_LISTED) return
  if (asksForNil(parent) || parent?.kind === 'Assign') return
  const suggestion = uses.suggest(text, known)
  uses.world.report('T101', span, { tool, name: text, known, suggestion }, replaceWord(span, suggestion))
}

function isArguments(uses: Uses, object: Expr, name: string, { start }: { readonly start: number }): boolean {
  if (object.kind !== 'Identifier' || object.name !== name) return false
  const decl = uses.types.target(object)
  return decl?.kind === 'param' && decl.span.start === start && decl.assigned.length === 0 && !decl.isUpdated
}

/** Parameter names of a short form or a JSON Schema; null if not all of them are visible. */
function readParameters(entries: readonly DictEntry[]): readonly string[] | null {
  if (entries.some((entry) => entry.kind !== 'named')) return null
  const given = findEntry(entries, 'parameters')
  if (given?.kind !== 'Dict') return null
  const properties = findEntry(given.entries, 'properties')
  const isSchema = properties !== null && findEntry(given.entries, 'type') !== null
  const shown = isSchema ? properties : given
  if (shown.kind !== 'Dict') return null
  const names = shown.entries.map((entry) => (entry.kind === 'named' ? entry.key.text : null))
  return names.every((name) => name !== null) ? names : null
}

function findEntry(entries: readonly DictEntry[], key: string): Expr | null {
  return entries.find((entry) => entry.kind === 'named' && entry.key.text === key)?.value ?? null
}
