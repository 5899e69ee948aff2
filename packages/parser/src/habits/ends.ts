// Blocks of Ruby and Lua: `for x in xs do … end`, `if c then … elseif d then … else … end`, in braces.

import type { Code, Edit, Rule } from './code.js'

const OTHER_OPENERS: ReadonlySet<string> = new Set(['def', 'function', 'begin', 'class', 'module', 'repeat', 'case'])

export const ENDS: readonly Rule[] = [
  { habit: 'doEnd', find: (code, at) => (code.is(at, 'do') ? findEnds(code, at) : null) },
  { habit: 'thenWord', find: (code, at) => (code.is(at, 'then') ? findEnds(code, at) : null) },
]

/** The edits of every block from here on that an `end` closes, so that nested ones are repaired together. */
function findEnds(code: Code, at: number): readonly Edit[] | null {
  if (code.at(at + 1).kind !== 'break') return null
  const edits: Edit[] = []
  let depth = 0
  /** Whether the next `then` continues an open block. */
  let goesOn = false
  for (let index = at; index < code.tokens.length; index += 1) {
    if (code.at(index).kind === 'word' && OTHER_OPENERS.has(code.at(index).text)) return null
    if (code.is(index, 'do', 'then')) {
      edits.push(...code.replace(index, index + 1, '{'))
      if (!goesOn) depth += 1
      goesOn = false
    } else if (code.is(index, 'elseif', 'elsif', 'elif')) {
      edits.push(...code.replace(index, index + 1, '} else if'))
      goesOn = true
    } else if (code.is(index, 'else') && !code.is(index - 1, '}')) {
      edits.push(...code.replace(index, index + 1, '} else {'))
    } else if (code.is(index, 'end') && code.startsStatement(index)) {
      edits.push(...code.replace(index, index + 1, '}'))
      depth -= 1
      if (depth === 0) return edits
    }
  }
  return null
}
