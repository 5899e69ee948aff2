// Tokens with comments in between, for highlighters and editors. For a source that does not lex, the tokens before the error.

import { lex } from './lexer.js'
import type { Span } from './source.js'
import { isExtensionUnit, isIdentifierUnit, isKeywordUnit, TOKEN } from './tokens.js'

export interface Token {
  readonly kind: 'identifier' | 'keyword' | 'number' | 'string' | 'operator' | 'newline' | 'comment' | 'doc'
  readonly span: Span
}

export function tokenize(text: string): readonly Token[] {
  const stream = lex(text)
  const tokens: Token[] = Array.from(stream.starts, (start, at) => ({
    kind: readKind(stream.units.charCodeAt(at)),
    span: { start, end: stream.ends[at] ?? start },
  }))
  const comments = stream.comments.map((comment): Token => ({
    kind: comment.doc ? 'doc' : 'comment',
    span: { start: comment.start, end: comment.end },
  }))
  return [...tokens, ...comments].toSorted((a, b) => a.span.start - b.span.start)
}

function readKind(unit: number): Token['kind'] {
  if (isIdentifierUnit(unit)) return 'identifier'
  if (unit === TOKEN['<argument>']) return 'identifier'
  if (isKeywordUnit(unit) || isExtensionUnit(unit)) return 'keyword'
  if (unit === TOKEN['\n']) return 'newline'
  if (unit >= TOKEN['<int>'] && unit <= TOKEN['<duration>']) return 'number'
  if (unit >= TOKEN['<rawString>'] && unit <= TOKEN['<triple>']) return 'string'
  return 'operator'
}
