// Makes the language's message from the position where the match failed: one expected token, and the token found.
// A PEG reports every token that any rule tried at the rightmost position;
// `chooseExpected` chooses the one that a reader, and the language's message, would name.

import { AFTER_PUB, diagnose, END_OF_FILE } from './diagnostics/catalog.js'
import type { Diagnostic } from './diagnostics/diagnostic.js'
import { MAX_CHAIN, type Problem } from './build-context.js'
import { HABITS } from './habits/table.js'
import type { Expected, MatchFailure } from './parse-tree.js'
import { type LexError, MAX_NESTING, type TokenStream } from './lexer.js'
import { plainDecimal, readDuration, readInt } from './literals.js'
import type { SourceFile, Span } from './source.js'
import { isExtensionUnit, isKeywordUnit, isWordToken, TOKEN, type TokenName, tokenName } from './tokens.js'

export function lexDiagnostic(source: SourceFile, error: LexError): Diagnostic {
  const at = placeText(source, error.offset)
  // An empty interpolation is reported after its brace, which may be the end of the source.
  const span = { start: error.offset, end: Math.min(error.offset + Math.max(1, error.character.length), source.text.length) }
  switch (error.kind) {
    case 'character':
      return diagnose('P003', span, { character: error.character, at })
    case 'string':
      return diagnose('P004', span, { at })
    case 'comment':
      return diagnose('P005', { start: error.offset, end: error.offset + 2 }, { at })
  }
}

/** `offset` is null when only the engine's stack limit detected it. */
export function nestingDiagnostic(source: SourceFile, offset: number | null): Diagnostic {
  const start = offset ?? 0
  return diagnose(
    'P013',
    { start, end: start + 1 },
    { limit: MAX_NESTING, at: offset === null ? null : placeText(source, offset) },
  )
}

export function problemDiagnostic(source: SourceFile, tokens: TokenStream, problem: Problem): Diagnostic {
  const span = tokenSpan(tokens, problem.token)
  const at = placeText(source, span.start)
  const got = describeToken(source.text, tokens, problem.token)
  if (problem.code === 'P015') return diagnose('P015', span, { option: source.text.slice(span.start, span.end), at })
  if (problem.code === 'P013') return diagnose('P013', span, { limit: MAX_CHAIN, at })
  if (problem.code === 'P014') return diagnose('P014', span, { what: separatorText(problem.topLevel), got, at })
  return diagnose(problem.code, span, { got, at })
}

export function syntaxDiagnostic(source: SourceFile, tokens: TokenStream, failure: MatchFailure): Diagnostic {
  const expected = failure.expected().filter(({ what }) => what.kind !== 'token' || !isExtensionUnit(TOKEN[what.name]))
  const atEnd = onlyBlanksFrom(tokens, failure.position)
  const what = chooseExpected(expected, atEnd, tokens, failure.position)
  if (atEnd) {
    const end = source.text.length
    return diagnose('P002', { start: end, end }, { what }, { related: openBracket(tokens, what) })
  }
  const span = tokenSpan(tokens, failure.position)
  const got = describeToken(source.text, tokens, failure.position, wantsName(what))
  const foreign =
    findForeignOperator(source.text, tokens, failure.position) ?? findForeignWord(source.text, tokens, failure.position, what)
  const hint = foreign?.hint ?? hintKeyword(got) ?? hintExpected(expected, what)
  const fix = foreign?.fix ?? null
  return diagnose('P001', span, { what, got, at: placeText(source, span.start), hint }, fix === null ? {} : { fix })
}

/** Formats a token for messages: `id(x)`, `int(5)`, `str(text)`, or its spelling. */
export function describeToken(text: string, tokens: TokenStream, token: number, asName = false): string {
  const unit = tokens.units.charCodeAt(token)
  if (Number.isNaN(unit)) return END_OF_FILE
  const name = tokenName(unit)
  const written = text.slice(tokens.starts[token], tokens.ends[token])
  const payload = tokens.payloads[token]
  switch (name) {
    case '<int>': {
      const value = readInt(written)
      return typeof value === 'object' ? `float(${plainDecimal(value.float)})` : `int(${value})`
    }
    case '<float>':
      return `float(${plainDecimal(Number(written))})`
    case '<duration>':
      return `duration(${readDuration(written)}ms)`
    case '<string>':
    case '<triple>':
      return `str(${typeof payload === 'string' ? payload : ''})`
    case '<rawString>':
      return `rstr(${typeof payload === 'string' ? payload : ''})`
    case '<interpolated>':
      return 'istr(...)'
    case '\n':
      return '\\n'
    case '...':
      return '.'
    case '{->':
      return '{'
    default:
      if (isExtensionUnit(unit)) return `id(${written})`
      if (isKeywordUnit(unit)) return asName && isWordToken(name) ? `'${name}' (reserved keyword)` : name
      return isWordToken(name) || name.startsWith('<I') || name === '<ident>' ? `id(${written})` : written
  }
}

export function separatorText(topLevel: boolean): string {
  return topLevel ? 'top-level item separator (`;` or newline)' : 'statement separator (`;` or newline)'
}

export function placeText(source: SourceFile, offset: number): string {
  const { line, column } = source.position(offset)
  return `${line}:${column}`
}

function tokenSpan(tokens: TokenStream, token: number): Span {
  const start = tokens.starts[token] ?? tokens.end
  return { start, end: tokens.ends[token] ?? start }
}

function onlyBlanksFrom(tokens: TokenStream, position: number): boolean {
  const { units } = tokens
  return position >= units.length || (position === units.length - 1 && units.charCodeAt(position) === TOKEN['\n'])
}

/** Tokens that are required where they are expected, the likelier first. */
const PREFERRED: readonly TokenName[] = ['}', ')', ']', '=', '->', '{', 'else', 'from', 'in', '(', ':', '<string>', '>']

function chooseExpected(expected: readonly Expected[], atEnd: boolean, tokens: TokenStream, position: number): string {
  const isAfterPub = tokens.units.charCodeAt(previousToken(tokens, position)) === TOKEN.pub
  if (isAfterPub && hasToken(expected, 'tool')) return AFTER_PUB
  const required = expected.filter((one) => !one.optional)
  if (atEnd)
    return (
      findNameAtEnd(expected) ??
      closerIn(required) ??
      nameIn(required) ??
      tokenIn(required) ??
      separatorIn(expected) ??
      fallback(expected)
    )
  // Between the members of an `impl` or `interface`.
  if (hasToken(expected, 'fn') && hasToken(required, '}') && nameIn(expected) === null) return 'fn'
  // After a complete bound of `where` the body must follow.
  const isBehindBound = hasToken(required, '{') && tokens.units.charCodeAt(position - 1) !== TOKEN.where
  const named = isBehindBound
    ? expected.filter(({ what }) => what.kind === 'token' || what.text !== 'type parameter name')
    : expected
  return nameIn(named) ?? separatorIn(expected) ?? closerIn(required) ?? tokenIn(required) ?? fallback(expected)
}

function nameIn(expected: readonly Expected[]): string | null {
  const texts = expected.flatMap(({ what }) => (what.kind === 'described' && what.text !== 'end of input' ? [what.text] : []))
  if (texts.includes('expression')) return 'expression'
  const [first] = texts
  return first === undefined ? null : (IN_FULL[first] ?? first)
}

/** At the end of the source the message names these rather than the bracket after them. */
const NAMED_AT_END: ReadonlySet<string> = new Set(['attribute argument value', 'skill field name'])

function findNameAtEnd(expected: readonly Expected[]): string | null {
  return nameIn(expected.filter(({ what }) => what.kind === 'described' && NAMED_AT_END.has(what.text)))
}

/** Descriptions of harn.ohm, in words that its syntax does not allow. */
const IN_FULL: Readonly<Record<string, string | undefined>> = {
  'attribute argument value': 'attribute argument value (literal or identifier)',
  'skill field separator': 'skill field separator (`;` or newline)',
  'parallel option name': 'option name in `parallel ... with { ... }` block',
}

function separatorIn(expected: readonly Expected[]): string | null {
  if (!hasToken(expected, ';')) return null
  return separatorText(expected.some(({ what }) => what.kind === 'described' && what.text === 'end of input'))
}

function closerIn(expected: readonly Expected[]): string | null {
  return (['}', ')', ']'] as const).find((name) => hasToken(expected, name)) ?? null
}

function tokenIn(expected: readonly Expected[]): string | null {
  const name = PREFERRED.find((candidate) => hasToken(expected, candidate))
  if (name !== undefined) return showExpected(name)
  if (hasToken(expected, '<ident>')) return 'identifier'
  const word = expected.find(({ what }) => what.kind === 'token' && isWordToken(what.name))
  return word?.what.kind === 'token' ? showExpected(word.what.name) : null
}

function fallback(expected: readonly Expected[]): string {
  const [first] = expected
  if (first === undefined) return 'something else'
  return first.what.kind === 'token' ? showExpected(first.what.name) : first.what.text
}

function hasToken(expected: readonly Expected[], name: TokenName): boolean {
  return expected.some(({ what }) => what.kind === 'token' && what.name === name)
}

function showExpected(name: TokenName): string {
  switch (name) {
    case '<string>':
    case '<triple>':
      return 'string'
    case '<int>':
    case '<float>':
      return 'number'
    case '<ident>':
    case '<Ident>':
      return 'identifier'
    case '\n':
      return 'newline'
    case '{->':
      return '{'
    default:
      return name
  }
}

function wantsName(what: string): boolean {
  return (
    what !== 'member name' &&
    / name\b|^(identifier|pair pattern element|error variable|select case variable|type bound)$/.test(what)
  )
}

function previousToken(tokens: TokenStream, position: number): number {
  const before = position - 1
  return tokens.units.charCodeAt(before) === TOKEN['\n'] ? before - 1 : before
}

interface ForeignWord {
  readonly hint: string
  /** The replacement, if it is the only change needed. */
  readonly instead?: string
}

const FOREIGN_WORDS: Readonly<Record<string, ForeignWord>> = {
  const: { hint: 'constants are declared with `let`', instead: 'let' },
  function: { hint: 'functions are declared with `fn`', instead: 'fn' },
  func: { hint: 'functions are declared with `fn`', instead: 'fn' },
  def: { hint: 'functions are declared with `fn`' },
  switch: { hint: 'write `match value { pattern -> { … } }`' },
  elif: { hint: 'write `else if`', instead: 'else if' },
  elsif: { hint: 'write `else if`', instead: 'else if' },
  and: { hint: 'logical and is `&&`', instead: '&&' },
  or: { hint: 'logical or is `||`', instead: '||' },
  not: { hint: 'logical not is `!`' },
  class: { hint: 'write `struct` for the data and `impl` for the methods' },
  async: { hint: 'write `spawn { … }` to run something beside the rest' },
  await: { hint: 'write `await(task)`' },
  loop: { hint: 'write `while true { … }`', instead: 'while true' },
  null: { hint: 'the empty value is `nil`', instead: 'nil' },
  None: { hint: 'the empty value is `nil`', instead: 'nil' },
}

type Fix = NonNullable<Diagnostic['fix']>

interface Found {
  readonly hint: string
  readonly fix: Fix | null
}

/** A keyword of another language at or just before the position explains more than a list of tokens. */
function findForeignWord(text: string, tokens: TokenStream, position: number, what: string): Found | null {
  for (const token of [position - 1, position]) {
    const unit = tokens.units.charCodeAt(token)
    if (unit !== TOKEN['<ident>'] && unit !== TOKEN['<Ident>'] && unit !== TOKEN.not) continue
    const span = tokenSpan(tokens, token)
    const word = text.slice(span.start, span.end)
    const found = Object.hasOwn(FOREIGN_WORDS, word) ? FOREIGN_WORDS[word]! : null
    // Inside a condition or a list only operators are treated as words of other languages, not names.
    if (found === null || !(what.endsWith('newline)') || word === 'and' || word === 'or')) continue
    return { hint: found.hint, fix: found.instead === undefined ? null : replaceSpan(span, found.instead) }
  }
  if (what.endsWith('newline)') && tokens.units.charCodeAt(position) === TOKEN['('])
    return { hint: 'only `name(…)` and `value.name(…)` are calls: bind the function to a name first', fix: null }
  return null
}

/** The match fails at the third character of `===` or `!==`. */
function findForeignOperator(text: string, tokens: TokenStream, position: number): Found | null {
  const { start, end } = tokenSpan(tokens, position)
  const written = text.slice(start - 2, end)
  if (written !== '===' && written !== '!==') return null
  return { hint: HABITS.strictEqual.harn, fix: replaceSpan({ start: start - 2, end }, written.slice(0, 2)) }
}

function replaceSpan(span: Span, text: string): Fix {
  return { title: `write \`${text}\``, edits: [{ span, text }] }
}

/** A keyword in the place of a name. */
function hintKeyword(got: string): string | undefined {
  if (!got.endsWith('(reserved keyword)')) return undefined
  const word = got.slice(1, got.indexOf("'", 1))
  return `\`${word}\` is a keyword: choose another name, such as \`${OTHER_NAMES[word] ?? `${word}_value`}\``
}

/** Names for what others call by a word that is a keyword here. */
const OTHER_NAMES: Readonly<Record<string, string | undefined>> = {
  from: 'source', to: 'target', in: 'input', match: 'found', type: 'kind', tool: 'action', select: 'pick', use: 'usage', yield: 'crop',
} // prettier-ignore

/** The other expected tokens, if they are few. */
function hintExpected(expected: readonly Expected[], what: string): string | undefined {
  if (what === 'expression' || what.endsWith('newline)')) return undefined
  const names = new Set(expected.map((one) => (one.what.kind === 'token' ? showExpected(one.what.name) : one.what.text)))
  names.delete(what)
  names.delete('newline')
  if (names.size === 0 || names.size > 4) return undefined
  return `also possible here: ${[...names].map((name) => `\`${name}\``).join(', ')}`
}

/** The position of the bracket that is still open at the end of the file. */
function openBracket(tokens: TokenStream, what: string): Diagnostic['related'] {
  if (what !== '}' && what !== ')' && what !== ']') return []
  const open: number[] = []
  for (let at = 0; at < tokens.units.length; at += 1) {
    const unit = tokens.units.charCodeAt(at)
    if (unit === TOKEN['{'] || unit === TOKEN['{->'] || unit === TOKEN['('] || unit === TOKEN['[']) open.push(at)
    else if (unit === TOKEN['}'] || unit === TOKEN[')'] || unit === TOKEN[']']) open.pop()
  }
  const opener = open.at(-1)
  return opener === undefined ? [] : [{ span: tokenSpan(tokens, opener), message: 'opened here' }]
}
