// Cyclomatic complexity of a function: one, and one more for every place where the way through it divides. Closures count, and
// declarations inside do not.

import { type Block, walk } from '@bridle/parser'

export function complexityOf(body: Block): number {
  let score = 1
  walk(body, {
    enter(node) {
      switch (node.kind) {
        case 'FnDecl':
        case 'ToolDecl':
          return false
        case 'If':
        case 'For':
        case 'While':
        case 'Retry':
        case 'Match':
        case 'Guard':
        case 'Ternary':
          score += 1
          break
        case 'Try':
          if (node.handler !== null || node.finalizer !== null) score += 1
          break
        case 'Select':
          score += node.arms.length
          break
        case 'Binary':
          if (node.operator === '&&' || node.operator === '||') score += 1
          break
        default:
          break
      }
      return true
    },
  })
  return score
}
