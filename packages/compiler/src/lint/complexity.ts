// Cyclomatic complexity of a function: one, plus one for every branch. Closures count,
// nested declarations do not.

import { type Block, forEachChild, type Node } from '@bridle/parser'

export function measureComplexity(body: Block): number {
  let score = 1
  const visit = (node: Node): void => {
    if (node.kind === 'FnDecl' || node.kind === 'ToolDecl') return
    score += countBranches(node)
    forEachChild(node, visit)
  }
  visit(body)
  return score
}

function countBranches(node: Node): number {
  switch (node.kind) {
    case 'If':
    case 'For':
    case 'While':
    case 'Retry':
    case 'Match':
    case 'Guard':
    case 'Ternary':
      return 1
    case 'Try':
      return node.handler !== null || node.finalizer !== null ? 1 : 0
    case 'Select':
      return node.arms.length
    case 'Binary':
      return node.operator === '&&' || node.operator === '||' ? 1 : 0
    default:
      return 0
  }
}
