// Constraints of grants that match no argument of their tool: they look like a limit and have no effect, or refuse every call. Grants of
// patterns and families are not checked, since those may cover tools with and without the argument.

import type { Diagnostic, Expr, ExprOf, Span } from '@bridle/parser'
import { report } from '@bridle/parser'
import { type ConstraintRules, keyKind } from '../../grants/constraints.js'
import type { GrantDeclarations } from '../../grants/lower.js'
import type { CheckContext } from '../context.js'
import type { Scope } from '../scope.js'
import { TOOL_CATALOG } from './catalog.js'
import { listParameters, type ToolType, type ToolTypes } from './declaration.js'
import { TOOL_USE } from './names.js'

/** Grants by statements and attributes. */
export function checkGrantedKeys(
  { written }: GrantDeclarations,
  tools: ToolTypes,
  rules: ConstraintRules | undefined,
): readonly Diagnostic[] {
  return written.flatMap(({ tool: id, key, span }) => {
    const tool = id === null || rules?.has(key) === true ? null : tools.find(id)
    const problem = tool === null ? null : findProblem(tool, key)
    return problem === null ? [] : [report(TOOL_CATALOG, problem.code, span, problem.args)]
  })
}

interface KeyProblem {
  readonly code: 'A008' | 'A009'
  readonly args: { readonly tool: string; readonly key: string; readonly known: readonly string[] }
}

function findProblem(tool: ToolType, key: string): KeyProblem | null {
  if (tool.schema === null || tool.args.kind !== 'shape') return null
  const known = listParameters(tool).map((parameter) => parameter.name)
  const args = { tool: tool.name, key, known }
  switch (keyKind(key)) {
    case 'pin':
      return known.includes(key) ? null : { code: 'A008', args }
    case 'limit':
      return key === 'timeout_ms' || known.includes(key) ? null : { code: 'A008', args }
    case 'domain':
      return known.includes('url') ? null : { code: 'A009', args }
    default:
      return null
  }
}

/** Grants by functions of `std/grants`: `tool_use("shop.price", {grants: {…}})` and `with_grants({["shop.price"]: {…}}, …)`. */
export function checkGrantCall({ callee, args: [first, second] }: ExprOf<'Call'>, scope: Scope, context: CheckContext): void {
  if (first === undefined || first.spread || !context.reportsOptions) return
  if (callee.text === TOOL_USE) {
    const id = first.value.kind === 'String' ? first.value.value : null
    const given = second?.spread === false ? listEntries(second.value).find(({ key }) => key === 'grants') : undefined
    if (id === null || given === undefined) return
    const records = given.value.kind === 'List' ? given.value.items.map((item) => item.value) : [given.value]
    for (const record of records) checkRecord(id, record, scope, context)
  } else for (const { key, value } of listEntries(first.value)) checkRecord(key, value, scope, context)
}

function checkRecord(id: string, record: Expr, scope: Scope, context: CheckContext): void {
  const tool = scope.tools!.types.find(id) ?? scope.tools!.aliased(id)
  if (tool === null) return
  for (const { key, span } of listEntries(record)) {
    // A constraint of the host has its own key, which is only known at run time.
    const problem = keyKind(key) === 'pin' ? null : findProblem(tool, key)
    if (problem !== null) context.report(problem.code, span, problem.args)
  }
}

function listEntries(value: Expr): readonly { readonly key: string; readonly span: Span; readonly value: Expr }[] {
  if (value.kind !== 'Dict') return []
  return value.entries.flatMap((entry) => {
    if (entry.kind === 'named') return [{ key: entry.key.text, span: entry.key.span, value: entry.value }]
    const isText = entry.kind === 'computed' && entry.key.kind === 'String'
    return isText ? [{ key: (entry.key as ExprOf<'String'>).value, span: entry.key.span, value: entry.value }] : []
  })
}
