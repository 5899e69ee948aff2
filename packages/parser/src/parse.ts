// The front door: source text → program or the first error. Lexing comes first and wholly, then the grammar, then the checks that
// the grammar cannot make; the first of these that fails reports its first finding, as the language does.

import type { Expr, Program } from './ast.js'
import { type Built, buildInterpolated, buildProgram } from './build-ast.js'
import type { Problem } from './build-context.js'
import type { Diagnostic } from './diagnostics/diagnostic.js'
import { matchTokens } from './grammar.js'
import { type InterpolationSource, lex } from './lexer.js'
import { SourceFile } from './source.js'
import { lexDiagnostic, nestingDiagnostic, problemDiagnostic, syntaxDiagnostic } from './syntax-errors.js'
import { isKeyword } from './tokens.js'

export interface ParseResult {
  /** Null when there is an error. */
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
}

export interface ParsedExpression {
  readonly expression: Expr | null
  readonly diagnostics: readonly Diagnostic[]
}

export function parse(source: SourceFile): ParseResult {
  return guardDepth<ParseResult>(
    source,
    () => parseProgram(source),
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

function parseProgram(source: SourceFile): ParseResult {
  const failed = (diagnostic: Diagnostic): ParseResult => ({ program: null, diagnostics: [diagnostic] })
  const tokens = lex(source.text)
  if (tokens.error !== null) return failed(lexDiagnostic(source, tokens.error))
  if (tokens.tooDeep !== null) return failed(nestingDiagnostic(source, tokens.tooDeep))
  const outcome = matchTokens(tokens.units, 'program')
  if (!outcome.ok) return failed(syntaxDiagnostic(source, tokens, outcome.failure))
  const built = buildProgram(outcome.root, source.text, tokens, (piece) => interpolate(source, piece))
  const problem = firstProblem(built)
  if (problem !== null) return failed(problemDiagnostic(source, tokens, problem))
  return { program: built.tree, diagnostics: [] }
}

const BARE_NAME = /^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*$/

/**
 * The expression of a `${…}`. Text that is no expression stands for itself and text that is not made of tokens stands for
 * nothing, without a diagnostic: the language has it so. Only nesting that we cannot follow is an error.
 */
function interpolate(source: SourceFile, piece: InterpolationSource): Expr | string | null {
  const name = BARE_NAME.exec(piece.source)?.[1]
  // Most interpolations are one name; they need no grammar.
  if (name !== undefined && !isKeyword(name)) {
    const start = piece.start + piece.source.indexOf(name)
    return { kind: 'Identifier', span: { start, end: start + name.length }, name }
  }
  const tokens = lex(piece.source, { base: piece.start, depth: piece.depth, whole: false })
  if (tokens.error !== null) return null
  if (tokens.tooDeep !== null) throw new TooDeep(tokens.tooDeep)
  const outcome = matchTokens(tokens.units, 'interpolation')
  if (!outcome.ok) return piece.source
  const built = buildInterpolated(outcome.root, source.text, tokens, (inner) => interpolate(source, inner))
  return built.problems.length > 0 ? piece.source : built.tree
}

function firstProblem(built: Built<unknown>): Problem | null {
  return built.problems.reduce<Problem | null>((first, one) => (first === null || one.token < first.token ? one : first), null)
}

/** Nesting found inside an interpolation; never leaves this file. */
class TooDeep extends Error {
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
    if (error instanceof TooDeep) return failed(nestingDiagnostic(source, error.offset))
    if (error instanceof Error && /call stack|too much recursion/i.test(error.message)) return failed(nestingDiagnostic(source, null))
    throw error
  }
}
