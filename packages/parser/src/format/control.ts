// Expressions that contain blocks → source.

import type { Block, Expr, ExprOf, IfExpr, MatchArm } from '../ast.js'
import { beforeBlock, printExpr } from './expressions.js'
import { type Layout, pad } from './layout.js'
import { layOutBraced } from './lines.js'
import { printBlock, printBody, printSimple } from './statements.js'
import { printAnnotation } from './types.js'

export type Control = Extract<Expr, { kind: 'If' | 'Match' | 'Try' | 'Retry' | 'Deadline' | 'Spawn' | 'Parallel' }>

export function printControl(layout: Layout, expr: Control, depth: number): string {
  switch (expr.kind) {
    case 'If':
      return printIf(layout, expr, depth, 'nested')
    case 'Match': {
      const items = expr.arms.map((arm) => ({ span: arm.span, render: () => printArm(layout, arm, depth + 1) }))
      const from = layout.behind(expr.subject.span.end, '{')
      return `match ${beforeBlock(layout, expr.subject, depth)} ${layOutBraced(layout, items, from, expr.span.end, depth)}`
    }
    case 'Try':
      return printTry(layout, expr, depth)
    case 'Retry':
      return `retry ${printKeywordOperand(layout, expr.count, depth)} ${printBlock(layout, expr.body, depth)}`
    case 'Deadline':
      return `deadline ${printKeywordOperand(layout, expr.duration, depth)} ${printBlock(layout, expr.body, depth)}`
    case 'Spawn':
      return `spawn ${printBlock(layout, expr.body, depth)}`
    case 'Parallel':
      return printParallel(layout, expr, depth)
  }
}

const BARE_AFTER_KEYWORD: ReadonlySet<Expr['kind']> = new Set([
  'Int',
  'Float',
  'Bool',
  'Nil',
  'Duration',
  'String',
  'Interpolation',
  'Identifier',
  'List',
  'Dict',
])

/** The operand of `retry` and `deadline`. */
function printKeywordOperand(layout: Layout, expr: Expr, depth: number): string {
  const text = printExpr(layout, expr, depth)
  return BARE_AFTER_KEYWORD.has(expr.kind) ? text : `(${text})`
}

/** As a statement an `else if` stays flat; as a value its `if` is in a separate else block. */
export function printIf(layout: Layout, expr: IfExpr, depth: number, chain: 'flat' | 'nested'): string {
  let text = printBranch(layout, expr, depth)
  for (let at = expr; at.otherwise !== null;) {
    const { otherwise } = at
    const next = otherwise.kind === 'If' ? otherwise : chain === 'flat' ? onlyIf(layout, otherwise) : null
    if (next !== null && chain === 'flat') {
      text += ` else ${printBranch(layout, next, depth, at.then.span.end)}`
      at = next
    } else if (otherwise.kind === 'Block') {
      return `${text} else ${printBlock(layout, otherwise, depth, at.then.span.end)}`
    } else {
      return `${text} else {\n${pad(depth + 1)}${printIf(layout, otherwise, depth + 1, 'flat')}\n${pad(depth)}}`
    }
  }
  return text
}

/** Comments between the previous block, which ends at `before`, and this one go into this one. */
function printBranch(layout: Layout, expr: IfExpr, depth: number, before?: number): string {
  return `if ${beforeBlock(layout, expr.condition, depth)} ${printBlock(layout, expr.then, depth, before)}`
}

/** The `if` that is the only statement of an else block. */
function onlyIf(layout: Layout, block: Block): IfExpr | null {
  const [only, more] = block.body
  if (only?.kind !== 'ExprStmt' || only.value.kind !== 'If' || more !== undefined) return null
  const { span } = only.value
  const isCommented =
    layout.hasComments({ start: block.span.start, end: span.start }) ||
    layout.hasComments({ start: span.end, end: block.span.end })
  return isCommented ? null : only.value
}

function printArm(layout: Layout, arm: MatchArm, depth: number): string {
  const patterns = arm.patterns.map((pattern) => printExpr(layout, pattern, depth)).join(' | ')
  const guard = arm.guard === null ? '' : ` if ${printExpr(layout, arm.guard, depth)}`
  const simple = layout.hasComments(arm.body.span) ? null : printSimple(layout, arm.body.body, depth)
  return `${patterns}${guard} -> ${simple === null ? printBlock(layout, arm.body, depth) : `{ ${simple} }`}`
}

function printTry(layout: Layout, expr: ExprOf<'Try'>, depth: number): string {
  let text = `try ${printBlock(layout, expr.body, depth)}`
  let before = expr.body
  if (expr.handler !== null) {
    const { variable, type, body } = expr.handler
    const bound = variable === null ? '' : `(${variable.text}${printAnnotation(type)}) `
    text += ` catch ${bound}${printBlock(layout, body, depth, before.span.end)}`
    before = body
  }
  return expr.finalizer === null ? text : `${text} finally ${printBlock(layout, expr.finalizer, depth, before.span.end)}`
}

function printParallel(layout: Layout, expr: ExprOf<'Parallel'>, depth: number): string {
  const mode = expr.mode === 'count' ? '' : `${expr.mode} `
  const limit = expr.maxConcurrent === null ? '' : ` with { max_concurrent: ${printExpr(layout, expr.maxConcurrent, depth)} }`
  const subject = beforeBlock(layout, expr.subject, depth)
  const bare = /^(?:each|settle)\b/.test(subject) ? `(${subject})` : subject // otherwise the word would be parsed as the mode
  const from = expr.variable?.span.end ?? expr.body.span.start + 1
  const body = printBody(layout, expr.body.body, from, expr.body.span.end, depth)
  const head = expr.variable === null ? '{' : `{ ${expr.variable.text} ->`
  return `parallel ${mode}${bare}${limit} ${head}${body.slice(1)}${expr.asStream ? ' as stream' : ''}`
}
