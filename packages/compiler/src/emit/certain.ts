// Whether the emitter has anything to say about a file. Who wants findings only, as `check` and editors do, need no code then: most
// files hold nothing that the emitter refuses, and seeing that takes a tenth of emitting them.

import { forEachChild } from '@bridle/parser'
import type { Node, Program } from '@bridle/parser'

/** Nesting at which the emitter is asked: it takes more of the call stack for a level than others, and says when it is too much. */
const DEEP = 200

/** False where emitting the tree may fail: for each CompileError of this folder, what it needs is looked for, and often more. */
export function isSureToEmit(program: Program): boolean {
  return isSure(program, 0, false)
}

function isSure(node: Node, depth: number, inLoop: boolean): boolean {
  if (depth > DEEP) return false
  let body: Node | null = null
  let loops = false
  switch (node.kind) {
    case 'Break':
    case 'Continue':
      return inLoop
    case 'For':
    case 'While':
      body = node.body
      break
    // These belong to the loop that they stand in. Anything else may run apart from it.
    case 'Block':
    case 'ExprStmt':
    case 'If':
      loops = inLoop
      break
    case 'Match':
      if (node.arms.some(({ patterns }) => patterns.some(hasSpread))) return false
      loops = inLoop
      break
    case 'Duration':
      // A number of milliseconds that needs a bigint may need more than the machine has.
      return typeof node.value === 'number'
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return false
    default:
      if ('attributes' in node && node.attributes.length > 0) return false
  }
  let sure = true
  forEachChild(node, (child) => {
    sure &&= isSure(child, depth + 1, loops || child === body)
  })
  return sure
}

function hasSpread(pattern: Node): boolean {
  return pattern.kind === 'List' && pattern.items.some((item) => item.spread)
}
