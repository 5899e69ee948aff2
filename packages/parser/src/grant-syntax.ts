// The grants extension: `use tool ID as Alias`, `grant Alias key value`, `bind effect e to Alias`, and named arguments in calls of
// an alias. It is not part of the language: a file opts in (`// @bridle grants` before its first token, or a setting
// of the host). The parse of all other files does not change.
//
// The keywords remain identifiers. Only at the start of a statement, and only in forms that are invalid in the language, their tokens
// are replaced by tokens with which harn.ohm starts the three statements.

import type { TokenStream } from './lexer.js'
import { isIdentifierUnit, TOKEN } from './tokens.js'

export type Extension = 'grants'

export const PRAGMA = /^\/\/+[ \t]*@bridle[ \t](.*)$/

/** Extensions that a comment before the first token enables. */
export function pragmaExtensions(text: string, tokens: TokenStream): readonly Extension[] {
  // A run of line breaks is a token too.
  const first = tokens.starts.find((start, at) => tokens.units.charCodeAt(at) !== TOKEN['\n']) ?? tokens.end
  for (const comment of tokens.comments) {
    if (comment.start > first) return []
    const words = PRAGMA.exec(text.slice(comment.start, comment.end))?.[1]
      ?.trim()
      .split(/[\s,]+/)
    if (words?.includes('grants') === true) return ['grants']
  }
  return []
}

export interface Marked {
  /** The stream with the tokens of the extension marked. */
  readonly tokens: TokenStream
  /** The same for an expression inside a string, which can contain only named arguments. */
  readonly expression: (tokens: TokenStream) => TokenStream
}

/** `tokens` are those of the whole file. */
export function markGrants(text: string, tokens: TokenStream): Marked {
  const { starts, ends } = tokens
  const marked = listUnits(tokens)
  const word = (at: number): string => text.slice(starts[at], ends[at])
  const isName = (at: number): boolean => isIdentifierUnit(marked[at] ?? 0)
  const aliases = new Set<string>()
  // The names of `as *` are unknown here; lowering checks whether they are tools.
  let isAnyName = false
  for (let at = 0; at < marked.length; at++) {
    if (!isName(at) || !beginsStatement(marked, at)) continue
    switch (word(at)) {
      case 'use':
        if (marked[at + 1] !== TOKEN.tool) break
        marked[at] = TOKEN['<use>']
        aliases.add(aliasAfter(marked, at, word))
        isAnyName ||= aliasAfter(marked, at, word) === '*'
        break
      case 'grant':
        if (isName(at + 1) && marked[at + 1] !== TOKEN.not) marked[at] = TOKEN['<grant>']
        break
      case 'bind':
        if (isName(at + 1) && word(at + 1) === 'effect' && isName(at + 2)) marked[at] = TOKEN['<bind>']
        break
    }
  }
  const withArguments = (stream: TokenStream, units: number[]): TokenStream => {
    const isAlias = (at: number): boolean =>
      isIdentifierUnit(units[at] ?? 0) && (isAnyName || aliases.has(text.slice(stream.starts[at], stream.ends[at])))
    if (aliases.size > 0) markArguments(units, isAlias)
    return { ...stream, units: units.reduce((all, unit) => all + String.fromCharCode(unit), '') }
  }
  return {
    tokens: withArguments(tokens, marked),
    expression: (stream) => (aliases.size === 0 ? stream : withArguments(stream, listUnits(stream))),
  }
}

const listUnits = ({ units }: TokenStream): number[] => Array.from({ length: units.length }, (_, at) => units.charCodeAt(at))

const BEFORE_STATEMENTS: ReadonlySet<number> = new Set((['\n', ';', '{', '{->', '->'] as const).map((name) => TOKEN[name]))

function beginsStatement(units: readonly number[], at: number): boolean {
  return at === 0 || BEFORE_STATEMENTS.has(units[at - 1]!)
}

/** The name after `as`, `*` for all, '' for none; on the same line. */
function aliasAfter(units: readonly number[], from: number, word: (at: number) => string): string {
  for (let at = from; at < units.length && units[at] !== TOKEN['\n']; at++) {
    if (units[at] === TOKEN.as) return isIdentifierUnit(units[at + 1] ?? 0) || units[at + 1] === TOKEN['*'] ? word(at + 1) : ''
  }
  return ''
}

/** Tokens before a name in a declaration, a method or an attribute, which is not a call. */
const NOT_CALLED: ReadonlySet<number> = new Set(
  (['fn', 'tool', 'pipeline', 'override', '@', '.', '?.'] as const).map((name) => TOKEN[name]),
)

/** Marks `name` in `Alias(name: value, …)`. */
function markArguments(units: number[], isAlias: (at: number) => boolean): void {
  for (let at = 0; at + 1 < units.length; at++) {
    if (units[at] === TOKEN.enum) at = findBlockEnd(units, at)
    if (units[at + 1] !== TOKEN['('] || !isAlias(at)) continue
    const before = units[at - 1]
    if (before !== undefined && NOT_CALLED.has(before)) continue
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

/** The closing brace of the first `{` after `from`: variants of an enum look like calls. */
function findBlockEnd(units: readonly number[], from: number): number {
  let depth = 0
  for (let at = from; at < units.length; at++) {
    if (units[at] === TOKEN['{'] || units[at] === TOKEN['{->']) depth++
    else if (units[at] === TOKEN['}'] && --depth === 0) return at
  }
  return from
}

const OPENING: ReadonlySet<number> = new Set((['(', '[', '{', '{->'] as const).map((name) => TOKEN[name]))
const CLOSING: ReadonlySet<number> = new Set(([')', ']', '}'] as const).map((name) => TOKEN[name]))

function beginsArgument(units: readonly number[], at: number): boolean {
  const before = units[at - 1] === TOKEN['\n'] ? units[at - 2] : units[at - 1]
  return before === TOKEN['('] || before === TOKEN[',']
}
