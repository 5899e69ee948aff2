// The grants extension: `use tool ID as Alias`, `grant Alias key value`, `bind effect e to Alias`, and named arguments in calls of
// an alias. It is no part of the language, so a file has to ask for it (`// @bridle grants` before its first token, or a setting
// of the host); all other files are read as if this file did not exist.
//
// The words stay identifiers. Only where a statement begins, and only in shapes that mean nothing in the language, their tokens
// are exchanged for tokens that harn.ohm knows as the beginning of the three statements.

import type { TokenStream } from './lexer.js'
import { isIdentifierUnit, TOKEN } from './tokens.js'

export type Extension = 'grants'

export const PRAGMA = /^\/\/+[ \t]*@bridle[ \t]+(.*)$/

/** Extensions that a comment before the first token asks for. */
export function pragmaExtensions(text: string, tokens: TokenStream): readonly Extension[] {
  // A run of line breaks is a token too.
  const first = tokens.starts.find((start, at) => tokens.units.charCodeAt(at) !== TOKEN['\n']) ?? tokens.end
  for (const comment of tokens.comments) {
    if (comment.start > first) return []
    const words = PRAGMA.exec(text.slice(comment.start, comment.end))?.[1]?.split(/[\s,]+/)
    if (words?.includes('grants') === true) return ['grants']
  }
  return []
}

/** The stream with the tokens of the extension marked. */
export function markGrants(text: string, tokens: TokenStream): TokenStream {
  const { starts, ends, units } = tokens
  const marked = Array.from({ length: units.length }, (_, at) => units.charCodeAt(at))
  const word = (at: number): string => text.slice(starts[at], ends[at])
  const isName = (at: number): boolean => isIdentifierUnit(marked[at] ?? 0)
  const aliases = new Set<string>()
  for (let at = 0; at < marked.length; at++) {
    if (!isName(at) || !beginsStatement(marked, at)) continue
    switch (word(at)) {
      case 'use':
        if (marked[at + 1] !== TOKEN.tool) break
        marked[at] = TOKEN['<use>']
        aliases.add(aliasAfter(marked, at, word))
        break
      case 'grant':
        if (isName(at + 1) && marked[at + 1] !== TOKEN.not) marked[at] = TOKEN['<grant>']
        break
      case 'bind':
        if (isName(at + 1) && word(at + 1) === 'effect' && isName(at + 2)) marked[at] = TOKEN['<bind>']
        break
    }
  }
  if (aliases.size > 0) markArguments(marked, (at) => isName(at) && aliases.has(word(at)))
  return { ...tokens, units: marked.reduce((all, unit) => all + String.fromCharCode(unit), '') }
}

const BEFORE_STATEMENTS: ReadonlySet<number> = new Set((['\n', ';', '{', '{->', '->'] as const).map((name) => TOKEN[name]))

function beginsStatement(units: readonly number[], at: number): boolean {
  return at === 0 || BEFORE_STATEMENTS.has(units[at - 1]!)
}

/** The name behind `as`, '' for none; on the same line. */
function aliasAfter(units: readonly number[], from: number, word: (at: number) => string): string {
  for (let at = from; at < units.length && units[at] !== TOKEN['\n']; at++) {
    if (units[at] === TOKEN.as) return isIdentifierUnit(units[at + 1] ?? 0) ? word(at + 1) : ''
  }
  return ''
}

/** Marks `name` in `Alias(name: value, …)`. */
function markArguments(units: number[], isAlias: (at: number) => boolean): void {
  for (let at = 0; at + 1 < units.length; at++) {
    if (units[at + 1] !== TOKEN['('] || !isAlias(at)) continue
    const before = units[at - 1]
    if (before === TOKEN.fn || before === TOKEN['.'] || before === TOKEN['?.']) continue
    let depth = 1
    for (let next = at + 2; next < units.length && depth > 0; next++) {
      const unit = units[next]!
      if (OPENING.has(unit)) depth++
      else if (CLOSING.has(unit)) depth--
      else if (depth === 1 && isIdentifierUnit(unit) && units[next + 1] === TOKEN[':'] && beginsArgument(units, next))
        units[next] = TOKEN['<argument>']
    }
  }
}

const OPENING: ReadonlySet<number> = new Set((['(', '[', '{', '{->'] as const).map((name) => TOKEN[name]))
const CLOSING: ReadonlySet<number> = new Set(([')', ']', '}'] as const).map((name) => TOKEN[name]))

function beginsArgument(units: readonly number[], at: number): boolean {
  const before = units[at - 1] === TOKEN['\n'] ? units[at - 2] : units[at - 1]
  return before === TOKEN['('] || before === TOKEN[',']
}
