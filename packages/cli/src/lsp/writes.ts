// Positions of names that a statement assigns.

import { walk } from '@bridle/parser'
import type { Expr, Node } from '@bridle/parser'

/** Where the names begin. An assignment to a field or element writes the variable that holds the container. */
export function listWriteSpans(root: Node): ReadonlySet<number> {
  const found = new Set<number>()
  walk(root, {
    enter: (node) => {
      if (node.kind !== 'Assign') return
      let target: Expr = node.target
      while (target.kind === 'Member' || target.kind === 'Index') target = target.object
      found.add(target.span.start)
    },
  })
  return found
}
