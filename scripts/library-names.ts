// Part of generate-library.ts: the checker assumes that names with two leading underscores are declared elsewhere, so
// a misspelt primitive of an internal module would only be found by a run that calls it.

import { walk } from '../packages/parser/src/index.js'
import type { Program, Span } from '../packages/parser/src/index.js'

export interface UnknownPrimitive {
  readonly name: string
  readonly span: Span
}

/** Names with two leading underscores that a module reads or calls, and that `isKnown` does not know. */
export function findUnknownPrimitives(program: Program, isKnown: (name: string) => boolean): readonly UnknownPrimitive[] {
  const found: UnknownPrimitive[] = []
  const look = (name: string, span: Span): void => {
    if (name.startsWith('__') && !isKnown(name)) found.push({ name, span })
  }
  walk(program, {
    enter: (node) => {
      if (node.kind === 'Identifier') look(node.name, node.span)
      else if (node.kind === 'Call') look(node.callee.text, node.callee.span)
    },
  })
  return found
}
