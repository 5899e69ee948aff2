// The front door: source text → program or the first error. Lexing comes first and wholly, then the grammar, then the checks that
// the grammar cannot make; the first of these that fails reports its first finding, as the language does.

import type { Expr, Program } from './ast.js'
import { type Built, buildInterpolated, buildProgram } from './build-ast.js'
import type { Problem } from './build-context.js'
import type { Diagnostic } from './diagnostics/diagnostic.js'
import { type Extension, type Marked, markGrants, pragmaExtensions } from './grant-syntax.js'
import { matchTokens } from './match.js'
import { type Expected, type MatchOutcome, type StartRule, TooDeep } from './parse-tree.js'
import { type InterpolationSource, lex, type TokenStream } from './lexer.js'
import { SourceFile } from './source.js'
import { lexDiagnostic, nestingDiagnostic, problemDiagnostic, syntaxDiagnostic } from './syntax-errors.js'
import { isKeyword, TOKEN } from './tokens.js'

export interface ParseResult {
  /** Null when there is an error. */
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
}

export interface ParsedExpression {
  readonly expression: Expr | null
  readonly diagnostics: readonly Diagnostic[]
}

export interface ParseOptions {
  /** Extensions of the language that the file may use without asking (grant-syntax.ts). */
  readonly extensions?: readonly Extension[]
}

export function parse(source: SourceFile, options: ParseOptions = {}): ParseResult {
  return guardDepth<ParseResult>(
    source,
    () => parseProgram(source, options),
    (diagnostic) => ({ program: null, diagnostics: [diagnostic] }),
  )
}

/** Parses one expression; nothing but blanks and comments may follow it. */
export function parseExpression(text: string, name = '<expression>'): ParsedExpression {
  const source = new SourceFile(name, text)
  const { program, diagnostics } = parse(source)
  const [item, more] = program?.items ?? []
  if (diagnostics.length > 0 || program === null) return { expression: null, diagnostics }
  if (item?.kind === 'ExprStmt' && more === undefined) return { expression: item.value, diagnostics: [] }
  const tokens = lex(text)
  const failure = { position: item === undefined ? tokens.units.length : 0, expected: () => EXPRESSION_EXPECTED }
  return { expression: null, diagnostics: [syntaxDiagnostic(source, tokens, failure)] }
}

const EXPRESSION_EXPECTED = [{ what: { kind: 'described', text: 'expression' }, optional: false }] as const

function parseProgram(source: SourceFile, options: ParseOptions): ParseResult {
  const failed = (diagnostic: Diagnostic): ParseResult => ({ program: null, diagnostics: [diagnostic] })
  const lexed = lex(source.text)
  if (lexed.error !== null) return failed(lexDiagnostic(source, lexed.error))
  if (lexed.tooDeep !== null) return failed(nestingDiagnostic(source, lexed.tooDeep))
  const extended = options.extensions?.includes('grants') === true || pragmaExtensions(source.text, lexed).includes('grants')
  const marked = extended ? markGrants(source.text, lexed) : null
  const { tokens, outcome } = matchProgram(source, marked?.tokens ?? lexed)
  if (!outcome.ok) return failed(syntaxDiagnostic(source, tokens, outcome.failure))
  const built = buildProgram(outcome.root, source.text, tokens, (piece) => interpolate(source, piece, marked))
  const problem = firstProblem(built)
  if (problem !== null) return failed(problemDiagnostic(source, tokens, problem))
  return { program: built.tree, diagnostics: [] }
}

/** As `matchTokens`; nesting that only the parser notices gets its place in the file. */
function matchStream(tokens: TokenStream, start: StartRule): MatchOutcome {
  try {
    return matchTokens(tokens.units, start)
  } catch (error) {
    throw error instanceof TooDeep ? new DeepNesting(tokens.starts[error.token] ?? tokens.end) : error
  }
}

/** Statements that follow a hidden line break in one file; each costs a match of the whole file. */
const MAX_HIDDEN_BREAKS = 50

/**
 * A line break inside a block comment or behind a `\` is no token, and most code reads on across it. Where nothing but the end
 * of the statement can stand, though, such a break ends it; only the failure of the match tells the two apart.
 */
function matchProgram(source: SourceFile, lexed: TokenStream): { readonly tokens: TokenStream; readonly outcome: MatchOutcome } {
  let tokens = lexed
  let outcome = matchStream(tokens, 'program')
  for (let breaks = 0; !outcome.ok && breaks < MAX_HIDDEN_BREAKS; breaks += 1) {
    const { position, expected } = outcome.failure
    if (!followsHiddenBreak(source, tokens, position) || !expected().some(isSeparator)) break
    tokens = withBreak(tokens, position)
    outcome = matchStream(tokens, 'program')
  }
  return { tokens, outcome }
}

function followsHiddenBreak(source: SourceFile, tokens: TokenStream, position: number): boolean {
  if (position === 0 || tokens.units.charCodeAt(position - 1) === TOKEN['\n']) return false
  const start = tokens.starts[position]
  return start !== undefined && source.text.slice(tokens.ends[position - 1], start).includes('\n')
}

function isSeparator({ what }: Expected): boolean {
  return what.kind === 'token' && what.name === ';'
}

/** The stream with a line break before token `position`; it takes up no text. */
function withBreak(tokens: TokenStream, position: number): TokenStream {
  const at = tokens.ends[position - 1] ?? 0
  return {
    ...tokens,
    units: `${tokens.units.slice(0, position)}${String.fromCharCode(TOKEN['\n'])}${tokens.units.slice(position)}`,
    starts: Int32Array.from([...tokens.starts].toSpliced(position, 0, at)),
    ends: Int32Array.from([...tokens.ends].toSpliced(position, 0, at)),
    payloads: tokens.payloads.toSpliced(position, 0, null),
    docs: new Map([...tokens.docs].map(([token, doc]) => [token < position ? token : token + 1, doc])),
  }
}

const BARE_NAME = /^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*$/

/**
 * The expression of a `${…}`. Text that is no expression stands for itself and text that is not made of tokens stands for
 * nothing, without a diagnostic: the language has it so. Only nesting that we cannot follow is an error.
 */
function interpolate(source: SourceFile, piece: InterpolationSource, marked: Marked | null): Expr | string | null {
  const name = BARE_NAME.exec(piece.source)?.[1]
  // Most interpolations are one name; they need no grammar.
  if (name !== undefined && !isKeyword(name)) {
    const start = piece.start + piece.source.indexOf(name)
    return { kind: 'Identifier', span: { start, end: start + name.length }, name }
  }
  const lexed = lex(piece.source, { base: piece.start, depth: piece.depth, whole: false })
  if (lexed.error !== null) return null
  if (lexed.tooDeep !== null) throw new DeepNesting(lexed.tooDeep)
  const tokens = marked?.expression(lexed) ?? lexed
  const outcome = matchStream(tokens, 'interpolation')
  if (!outcome.ok) return piece.source
  const built = buildInterpolated(outcome.root, source.text, tokens, (inner) => interpolate(source, inner, marked))
  return built.problems.length > 0 ? piece.source : built.tree
}

function firstProblem(built: Built<unknown>): Problem | null {
  return built.problems.reduce<Problem | null>((first, one) => (first === null || one.token < first.token ? one : first), null)
}

/** Nesting beyond the limit, by its place in the file; never leaves this file. */
class DeepNesting extends Error {
  readonly offset: number

  constructor(offset: number) {
    super('nested too deeply')
    this.offset = offset
  }
}

/**
 * Brackets and prefix operators are counted by the lexer. Where the stack of the host is short, or something nests in a way
 * that the lexer does not count, the engine's own RangeError is the last resort: deep nesting is always a diagnostic.
 */
function guardDepth<T>(source: SourceFile, run: () => T, failed: (diagnostic: Diagnostic) => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof DeepNesting) return failed(nestingDiagnostic(source, error.offset))
    if (error instanceof Error && /call stack|too much recursion/i.test(error.message))
      return failed(nestingDiagnostic(source, null))
    throw error
  }
}
