// Statements, blocks and bindings → source.

import type { Binding, Block, Expr, SelectArm, Stmt } from '../ast.js'
import { LEVEL } from '../operators.js'
import { printIf } from './control.js'
import { printDeclaration } from './declarations.js'
import { beforeBlock, operand, printExpr } from './expressions.js'
import { printGrantStmt } from './grants.js'
import type { Layout } from './layout.js'
import { layOutBraced, type Item } from './lines.js'
import { printAnnotation } from './types.js'

/** A statement, without indentation before its first line and without a line break at its end. */
export function printStmt(layout: Layout, stmt: Stmt, depth: number): string {
  switch (stmt.kind) {
    case 'ExprStmt':
      return stmt.value.kind === 'If' ? printIf(layout, stmt.value, depth, 'flat') : printExpr(layout, stmt.value, depth)
    case 'Let': {
      const binding = printBinding(layout, stmt.binding, depth)
      return `${stmt.mutable ? 'var' : 'let'} ${binding} = ${printExpr(layout, stmt.value, depth)}`
    }
    case 'Assign': {
      const target = operand(layout, stmt.target, LEVEL.postfix, depth)
      return `${target} ${stmt.operator ?? ''}= ${printExpr(layout, stmt.value, depth)}`
    }
    case 'While':
      return `while ${beforeBlock(layout, stmt.condition, depth)} ${printBlock(layout, stmt.body, depth)}`
    case 'For': {
      const binding = printBinding(layout, stmt.binding, depth)
      return `for ${binding} in ${beforeBlock(layout, stmt.iterable, depth)} ${printBlock(layout, stmt.body, depth)}`
    }
    case 'Return':
      return stmt.value === null ? 'return' : `return ${printExpr(layout, stmt.value, depth)}`
    case 'Throw':
      return `throw ${printExpr(layout, stmt.value, depth)}`
    case 'Yield':
      return stmt.value === null ? 'yield' : `yield ${printExpr(layout, stmt.value, depth)}`
    case 'Emit':
      return `emit ${printExpr(layout, stmt.value, depth)}`
    case 'Guard':
      return `guard ${beforeBlock(layout, stmt.condition, depth)} else ${printBlock(layout, stmt.otherwise, depth)}`
    case 'Require': {
      const message = stmt.message === null ? '' : `, ${printExpr(layout, stmt.message, depth)}`
      return `require ${printExpr(layout, stmt.condition, depth)}${message}`
    }
    case 'Defer':
      return `defer ${printBlock(layout, stmt.body, depth)}`
    case 'Mutex':
      return `mutex ${printBlock(layout, stmt.body, depth)}`
    case 'Select': {
      const items = stmt.arms.map((arm) => ({ span: arm.span, render: () => printSelectArm(layout, arm, depth + 1) }))
      const from = layout.behind(stmt.span.start + 'select'.length, '{')
      return `select ${layOutBraced(layout, items, from, stmt.span.end, depth)}`
    }
    case 'Break':
      return 'break'
    case 'Continue':
      return 'continue'
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return printGrantStmt(layout, stmt, depth)
    default:
      return printDeclaration(layout, stmt, depth)
  }
}

/** A block with its braces. Comments left between `before` and the block go to its start. */
export function printBlock(layout: Layout, block: Block, depth: number, before = block.span.start): string {
  const above = layout.takeUnplaced({ start: before, end: block.span.start })
  return layOutBraced(layout, statementItems(layout, block.body, depth + 1), block.span.start + 1, block.span.end, depth, above)
}

/** Statements in braces; the comments of the first start at `from`, those of the block end at `to`. */
export function printBody(layout: Layout, body: readonly Stmt[], from: number, to: number, depth: number): string {
  return layOutBraced(layout, statementItems(layout, body, depth + 1), from, to, depth)
}

export function statementItems(layout: Layout, body: readonly Stmt[], depth: number): readonly Item[] {
  return body.map((stmt) => ({ span: stmt.span, render: () => printStmt(layout, stmt, depth) }))
}

/** A body of one simple statement, printed on the line of its braces; null for others. */
export function printSimple(layout: Layout, body: readonly Stmt[], depth: number): string | null {
  const [only, more] = body
  return only !== undefined && more === undefined && isSimple(only) ? printStmt(layout, only, depth) : null
}

function isSimple(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'ExprStmt':
      return !(stmt.value.kind === 'String' && stmt.value.quote === 'raw') && !COMPOUND.has(stmt.value.kind)
    case 'Assign':
    case 'Return':
    case 'Break':
    case 'Continue':
    case 'Require':
      return true
    default:
      return false
  }
}

const COMPOUND: ReadonlySet<Expr['kind']> = new Set([
  'Closure',
  'StructLiteral',
  'If',
  'Match',
  'Try',
  'Retry',
  'Deadline',
  'Spawn',
  'Parallel',
])

function printSelectArm(layout: Layout, arm: SelectArm, depth: number): string {
  const block = (): string => printBlock(layout, arm.body, depth)
  switch (arm.kind) {
    case 'receive':
      return `${arm.variable.text} from ${beforeBlock(layout, arm.channel, depth)} ${block()}`
    case 'timeout':
      return `timeout ${beforeBlock(layout, arm.duration, depth)} ${block()}`
    case 'default':
      return `default ${block()}`
  }
}

function printBinding(layout: Layout, binding: Binding, depth: number): string {
  const withDefault = (text: string, value: Expr | null): string =>
    value === null ? text : `${text} = ${printExpr(layout, value, depth)}`
  const joinParts = (parts: readonly string[], rest: { readonly text: string } | null): string =>
    [...parts, ...(rest === null ? [] : [`...${rest.text}`])].join(', ')
  switch (binding.kind) {
    case 'NameBinding':
      return `${binding.name.text}${printAnnotation(binding.type)}`
    case 'PairBinding':
      return `(${binding.first.text}, ${binding.second.text})`
    case 'ListBinding': {
      const items = binding.items.map((item) => withDefault(item.name.text, item.defaultValue))
      return `[${joinParts(items, binding.rest)}]`
    }
    case 'DictBinding': {
      const fields = binding.fields.map((field) =>
        withDefault(field.alias === null ? field.key.text : `${field.key.text}: ${field.alias.text}`, field.defaultValue),
      )
      return `{${joinParts(fields, binding.rest)}}`
    }
  }
}
