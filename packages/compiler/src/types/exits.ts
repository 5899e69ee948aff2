// Whether control certainly does not reach the next statement. The rule is deliberately simple: calls of functions that
// return `never`, matches, loops and `try` do not count.

import type { Block, IfExpr, Stmt } from '@bridle/parser'

export function stmtExits(stmt: Stmt): boolean {
  switch (stmt.kind) {
    case 'Return':
    case 'Throw':
    case 'Break':
    case 'Continue':
      return true
    case 'ExprStmt':
      return stmt.value.kind === 'If' && ifExits(stmt.value)
    default:
      return false
  }
}

export function blockExits(block: Block): boolean {
  return block.body.some(stmtExits)
}

/** An else part: a block, or the next `if` of a chain. */
export function elseExits(otherwise: Block | IfExpr): boolean {
  return otherwise.kind === 'If' ? ifExits(otherwise) : blockExits(otherwise)
}

function ifExits(first: IfExpr): boolean {
  let at: Block | IfExpr = first
  while (at.kind === 'If') {
    if (at.otherwise === null || !blockExits(at.then)) return false
    at = at.otherwise
  }
  return blockExits(at)
}
