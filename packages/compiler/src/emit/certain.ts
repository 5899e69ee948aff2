// Whether the emitter has anything to say about a file. Who wants findings only, as `check` and editors do, need no code then: most
// files hold nothing that the emitter refuses, and seeing that takes a tenth of emitting them. Asked of each node of a file
// (contents.ts): for each CompileError of this folder, what it needs is looked for, and often more.

import type { Node } from '@bridle/parser'

/** Nesting at which the emitter is asked: it takes more of the call stack for a level than others, and says when it is too much. */
const DEEP = 200

/** Whether emitting a node may fail. `inLoop`: `break` has a loop there. */
export function mayFail(node: Node, depth: number, inLoop: boolean): boolean {
  if (depth > DEEP) return true
  switch (node.kind) {
    case 'Break':
    case 'Continue':
      return !inLoop
    case 'Match':
      return node.arms.some(({ patterns }) => patterns.some(hasSpread))
    case 'Duration':
      // A number of milliseconds that needs a bigint may need more than the machine has.
      return typeof node.value !== 'number'
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return true
    default:
      return false
  }
}

/** The part of a loop that `break` leaves. */
export function readLoopBody(node: Node): Node | null {
  return node.kind === 'For' || node.kind === 'While' ? node.body : null
}

/** Whether `break` inside of a node belongs to the loop that the node stands in. Anything else may run apart from it. */
export function keepsLoop({ kind }: Node): boolean {
  return kind === 'Block' || kind === 'ExprStmt' || kind === 'If' || kind === 'Match'
}

function hasSpread(pattern: Node): boolean {
  return pattern.kind === 'List' && pattern.items.some((item) => item.spread)
}
