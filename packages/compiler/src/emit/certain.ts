// Whether the emitter can have findings about a file. Callers that need only findings, as `check` and editors do, then need no code: most
// files contain nothing that the emitter refuses, and testing that takes a tenth of the time of emitting them. Called for each node of a file
// (contents.ts): for each CompileError of this folder it tests a necessary condition, often a weaker one.

import type { Node } from '@bridle/parser'

/** Nesting depth from which the emitter must run: it needs more call stack per level than other phases, and reports when it is too much. */
const DEEP = 200

/** Whether emitting a node may fail. `inLoop`: an enclosing loop exists for `break`. */
export function mayFail(node: Node, depth: number, inLoop: boolean): boolean {
  if (depth > DEEP) return true
  switch (node.kind) {
    case 'Break':
    case 'Continue':
      return !inLoop
    case 'Match':
      return node.arms.some(({ patterns }) => patterns.some(hasSpread))
    case 'Duration':
      // A number of milliseconds that needs a bigint may be out of the machine's range.
      return typeof node.value !== 'number'
    case 'UseTool':
    case 'Grant':
    case 'BindEffect':
      return true
    default:
      return false
  }
}

/** The part of a loop from which `break` leaves it. */
export function readLoopBody(node: Node): Node | null {
  return node.kind === 'For' || node.kind === 'While' ? node.body : null
}

/** Whether a `break` within a node belongs to the loop around the node. Other nodes may run as a separate function. */
export function keepsLoop({ kind }: Node): boolean {
  return kind === 'Block' || kind === 'ExprStmt' || kind === 'If' || kind === 'Match'
}

function hasSpread(pattern: Node): boolean {
  return pattern.kind === 'List' && pattern.items.some((item) => item.spread)
}
