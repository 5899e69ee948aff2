// The entry point: source → program or errors. The whole source is lexed first, then matched, then checked for rules that the grammar
// cannot express. A lexer error is reported alone. After a syntax error the parser searches for more (recover.ts); a run reports the
// first one, as the language does.

import type { Expr, Program } from './ast.js'
import { type Built, type BuiltProgram, buildInterpolated, ProgramBuilder } from './build-ast.js'
import type { Problem } from './build-context.js'
import type { Diagnostic } from './diagnostics/diagnostic.js'
import { type Extension, type Marked, markGrants, pragmaExtensions } from './grant-syntax.js'
import { type ItemTaker, matchTokens } from './match.js'
import { type Expected, type MatchFailure, type MatchOutcome, type StartRule, TooDeep } from './parse-tree.js'
import { Recovery } from './recover.js'
import { repairWord, withRepairs, type WordRepair } from './habits/repairs.js'
import { type InterpolationSource, lex, lexFile, type TokenStream } from './lexer.js'
import { IdentifierNode, MemberNode, NameNode } from './nodes.js'
import { diagnose } from './diagnostics/catalog.js'
import { SourceFile, type Span } from './source.js'
import { lexDiagnostic, nestingDiagnostic, problemDiagnostic, separatorText, syntaxDiagnostic } from './syntax-errors.js'
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
  /** Extensions of the language that the file may use without opting in (grant-syntax.ts). */
  readonly extensions?: readonly Extension[]
  readonly limits?: ParseLimits
}

/** Limits of one file. */
export interface ParseLimits {
  /** UTF-16 units. */
  readonly characters?: number
  readonly tokens?: number
}

/** Larger than any program of people or models; parsing a file of this size takes seconds. */
export const PARSE_LIMITS: Required<ParseLimits> = { characters: 4 << 20, tokens: 1 << 20 }

export function parse(source: SourceFile, options: ParseOptions = {}): ParseResult {
  const { program, diagnostics } = parseOnce(source, options)
  if (program !== null || source.text.length > MOST_REPAIRED) return { program, diagnostics }
  const parseText = (text: string): readonly Diagnostic[] => parseOnce(new SourceFile(source.name, text), options).diagnostics
  return { program: null, diagnostics: withRepairs(source.text, diagnostics, parseText) }
}

/** The meaning of a word of another language in a source that parses anyway, for example because arguments or items need no comma. */
export function repairForeignWord(source: SourceFile, span: Span): WordRepair | null {
  const parseText = (text: string): readonly Diagnostic[] => parseOnce(new SourceFile(source.name, text), {}).diagnostics
  return source.text.length > MOST_REPAIRED ? null : repairWord(source.text, span, parseText)
}

/** Maximum characters of a source for which repairs are computed. */
const MOST_REPAIRED = 400_000

function parseOnce(source: SourceFile, options: ParseOptions): ParseResult {
  return guardDepth<ParseResult>(
    source,
    () => parseProgram(source, options),
    (diagnostic) => ({ program: null, diagnostics: [diagnostic] }),
  )
}

/** Parses one expression; only blanks and comments may follow it. */
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
  const failParse = (diagnostic: Diagnostic): ParseResult => ({ program: null, diagnostics: [diagnostic] })
  const { characters = PARSE_LIMITS.characters, tokens: mostTokens = PARSE_LIMITS.tokens } = options.limits ?? {}
  const tooLarge = (found: number, limit: number, what: string): ParseResult =>
    failParse(diagnose('P016', { start: 0, end: Math.min(1, source.text.length) }, { found, limit, what }))
  if (source.text.length > characters) return tooLarge(source.text.length, characters, 'characters')
  const lexed = lexFile(source)
  if (lexed.units.length > mostTokens) return tooLarge(lexed.units.length, mostTokens, 'tokens')
  if (lexed.error !== null) return failParse(lexDiagnostic(source, lexed.error))
  if (lexed.tooDeep !== null) return failParse(nestingDiagnostic(source, lexed.tooDeep))
  const extended = options.extensions?.includes('grants') === true || pragmaExtensions(source.text, lexed).includes('grants')
  const marked = extended ? markGrants(source.text, lexed) : null
  const { tokens, built, failure } = matchProgram(source, marked?.tokens ?? lexed, marked)
  if (failure !== null) return { program: null, diagnostics: syntaxErrors(source, tokens, failure, marked) }
  if (built.problems.length > 0) return { program: null, diagnostics: problemDiagnostics(source, tokens, built) }
  parsed.add(source)
  if (marked === null && tokens === lexed) layouts.set(built.tree, { tokens, firsts: built.firsts })
  return { program: built.tree, diagnostics: [] }
}

/** The tokens of a program's items. */
export interface Layout {
  readonly tokens: TokenStream
  /** The first token of each item. */
  readonly firsts: readonly number[]
}

/** For programs without extensions whose tokens are those of the lexer: only these can be reparsed in parts (reparse.ts). */
const layouts = new WeakMap<Program, Layout>()

export function findLayout(program: Program): Layout | null {
  return layouts.get(program) ?? null
}

export function isExtended(source: SourceFile, tokens: TokenStream): boolean {
  return pragmaExtensions(source.text, tokens).length > 0
}

export function keepLayout(program: Program, layout: Layout): void {
  layouts.set(program, layout)
}

/**
 * Parses `tokens`, a part of the file that begins at an item, up to the first item for which `isEnd` holds, given its first token.
 * Null after an error or an unusual construct: then the file must be parsed as a whole.
 */
export function parsePart(source: SourceFile, tokens: TokenStream, isEnd: (token: number) => boolean): BuiltProgram | null {
  const builder = new ProgramBuilder(source.text, tokens, (piece) => interpolate(source, piece, null))
  const items: ItemTaker = {
    begin: () => builder.begin(),
    take: (item) => {
      if (isEnd(item.start)) throw END_OF_PART
      builder.take(item)
    },
  }
  const isParsed = guardDepth<boolean>(
    source,
    () => {
      try {
        return matchStream(tokens, 'program', items).ok
      } catch (reason) {
        if (reason !== END_OF_PART) throw reason
        return true
      }
    },
    () => false,
  )
  const built = builder.finish()
  return isParsed && built.problems.length === 0 ? built : null
}

const END_OF_PART = new Error('the end of the part')

/** `next` is a version of `source` that shares some strings with it. */
export function inheritSuspicion(source: SourceFile, next: SourceFile): void {
  parsed.add(next)
  if (suspects.has(source)) suspects.add(next)
}

/** Maximum number of reported errors per file. */
const MAX_ERRORS = 20

/** Limit of tokens matched again to find further errors; in a large file this allows a few attempts. */
const RECOVERY_TOKENS = 200_000

/** The first error and those later errors that are not its consequences, by position. */
function syntaxErrors(source: SourceFile, lexed: TokenStream, first: MatchFailure, marked: Marked | null): readonly Diagnostic[] {
  const found = [syntaxDiagnostic(source, lexed, first)]
  const recovery = new Recovery(lexed)
  let failure = first
  for (let left = RECOVERY_TOKENS; left > lexed.units.length && found.length < MAX_ERRORS; left -= recovery.tokens.units.length) {
    // The language reports a missing separator between top-level items immediately.
    if (found.at(-1)!.message.includes(separatorText(true))) break
    const tokens = recovery.skip(failure.position)
    const match = tokens === null ? null : matchAgain(source, tokens, marked)
    if (match === null) break
    if (match.failure === null) {
      // The arms of a `select` may have been cut out.
      found.push(...problemDiagnostics(source, match.tokens, match.built).filter(({ code }) => code !== 'P009'))
      break
    }
    ;({ failure } = match)
    recovery.tokens = match.tokens
    if (recovery.isFinding(failure.position)) found.push(syntaxDiagnostic(source, match.tokens, failure))
  }
  return found.toSorted((a, b) => a.span.start - b.span.start).slice(0, MAX_ERRORS)
}

/** Null when something nests too deeply, which is unrelated to the first error. */
function matchAgain(source: SourceFile, tokens: TokenStream, marked: Marked | null): Match | null {
  return guardDepth<Match | null>(
    source,
    () => matchProgram(source, tokens, marked),
    () => null,
  )
}

/** As `matchTokens`; nesting that only the parser detects gets its position in the file. */
function matchStream(tokens: TokenStream, start: StartRule, items: ItemTaker | null = null): MatchOutcome {
  try {
    return matchTokens(tokens.units, start, items)
  } catch (error) {
    throw error instanceof TooDeep ? new DeepNesting(tokens.starts[error.token] ?? tokens.end) : error
  }
}

interface Match {
  readonly tokens: TokenStream
  /** Up to the failure, if any. */
  readonly built: BuiltProgram
  readonly failure: MatchFailure | null
}

/** Statements that follow a hidden line break in one file; each costs a match of the whole file. */
const MAX_HIDDEN_BREAKS = 50

/**
 * A line break inside a block comment or after a `\` is not a token: normally the statement continues. If only the end of the statement
 * is possible there, the break ends it. Only a failed match distinguishes the two cases.
 */
function matchProgram(source: SourceFile, lexed: TokenStream, marked: Marked | null): Match {
  let tokens = lexed
  for (let breaks = 0; ; breaks += 1) {
    const builder = new ProgramBuilder(source.text, tokens, (piece) => interpolate(source, piece, marked))
    const outcome = matchStream(tokens, 'program', builder)
    const failure = outcome.ok ? null : outcome.failure
    if (failure === null || breaks === MAX_HIDDEN_BREAKS || !endsAtHiddenBreak(source, tokens, failure))
      return { tokens, built: builder.finish(), failure }
    tokens = withBreak(tokens, failure.position)
  }
}

function endsAtHiddenBreak(source: SourceFile, tokens: TokenStream, { position, expected }: MatchFailure): boolean {
  return followsHiddenBreak(source, tokens, position) && expected().some(isSeparator)
}

function followsHiddenBreak(source: SourceFile, tokens: TokenStream, position: number): boolean {
  if (position === 0 || tokens.units.charCodeAt(position - 1) === TOKEN['\n']) return false
  const start = tokens.starts[position]
  return start !== undefined && source.text.slice(tokens.ends[position - 1], start).includes('\n')
}

function isSeparator({ what }: Expected): boolean {
  return what.kind === 'token' && what.name === ';'
}

/** The stream with a zero-width line break before token `position`. */
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

function isBareName(source: string): boolean {
  const name = BARE_NAME.exec(source)?.[1]
  return name !== undefined && !isKeyword(name)
}

const NAME_PATH = /^[ \t]*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)[ \t]*$/
/** Longer ones are left to the parser, which counts how deep they are. */
const LONGEST_PATH = 200

/** `a.b.c`, which begins at `start` in the file; null when one of the words is a keyword. */
function buildNamePath(path: string, start: number): Expr | null {
  if (path.length > LONGEST_PATH) return null
  let value: Expr | null = null
  for (let from = 0; ;) {
    const dot = path.indexOf('.', from)
    const end = dot < 0 ? path.length : dot
    const name = path.slice(from, end)
    if (isKeyword(name)) return null
    const span = { start: start + from, end: start + end }
    if (value === null) value = new IdentifierNode(span, name)
    else value = new MemberNode({ start, end: span.end }, value, new NameNode(span, name), false)
    if (dot < 0) return value
    from = dot + 1
  }
}

/**
 * The expression of a `${…}`. Source that is not an expression is kept as a string; source that cannot be tokenized becomes
 * empty. The language gives no diagnostic for either. Only nesting beyond the limit is an error.
 */
function interpolate(source: SourceFile, piece: InterpolationSource, marked: Marked | null): Expr | string | null {
  // Most interpolations are a name, or a property of one; they need no grammar.
  const path = NAME_PATH.exec(piece.source)?.[1]
  const known = path === undefined ? null : buildNamePath(path, piece.start + piece.source.indexOf(path))
  if (known !== null) return known
  const lexed = lex(piece.source, { base: piece.start, depth: piece.depth, whole: false })
  if (lexed.error !== null) return suspect(source, null)
  if (lexed.tooDeep !== null) throw new DeepNesting(lexed.tooDeep)
  const tokens = marked?.expression(lexed) ?? lexed
  const outcome = matchStream(tokens, 'interpolation')
  if (!outcome.ok) return suspect(source, piece.source)
  const built = buildInterpolated(outcome.root, source.text, tokens, (inner) => interpolate(source, inner, marked))
  return built.problems.length > 0 ? suspect(source, piece.source) : built.tree
}

/** Parsed files with an interpolation that is not an expression. */
const parsed = new WeakSet<SourceFile>()
const suspects = new WeakSet<SourceFile>()

function suspect<T>(source: SourceFile, kept: T): T {
  suspects.add(source)
  return kept
}

/** Interpolations that print their own source, because it is not an expression; of the file's strings and of strings within them. */
export function findBrokenInterpolations(source: SourceFile, options: ParseOptions = {}): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  const visit = (tokens: TokenStream): void => {
    for (const [token, payload] of tokens.payloads.entries()) {
      if (payload === null || typeof payload === 'string') continue
      const isTriple = source.text.startsWith('"""', tokens.starts[token])
      for (const piece of payload) {
        if (typeof piece === 'string' || isBareName(piece.source)) continue
        const reason = brokenReason(source, piece, marked, visit)
        if (reason === null || (isTriple && isShellExpansion(piece.source))) continue
        const span = { start: piece.start - 2, end: Math.min(piece.start + piece.source.length + 1, source.text.length) }
        found.push(diagnose('P017', span, { source: piece.source.trim(), reason }))
      }
    }
  }
  if (parsed.has(source) && !suspects.has(source)) return found
  const lexed = lexFile(source)
  const isExtended = options.extensions?.includes('grants') === true || pragmaExtensions(source.text, lexed).includes('grants')
  const marked = isExtended ? markGrants(source.text, lexed) : null
  guardDepth<void>(
    source,
    () => visit(lexed),
    () => {},
  )
  return found
}

/** Why an interpolation is not an expression; null when it is one, and then `visit` receives its tokens. */
function brokenReason(
  source: SourceFile,
  piece: InterpolationSource,
  marked: Marked | null,
  visit: (tokens: TokenStream) => void,
): string | null {
  const lexed = lex(piece.source, { base: piece.start, depth: piece.depth, whole: false })
  if (lexed.error !== null) return lexDiagnostic(source, lexed.error).message
  if (lexed.tooDeep !== null) return null
  const tokens = marked?.expression(lexed) ?? lexed
  const outcome = matchTokens(tokens.units, 'interpolation')
  if (!outcome.ok) return syntaxDiagnostic(source, tokens, outcome.failure).message
  const { problems } = buildInterpolated(outcome.root, source.text, tokens, (inner) => inner.source)
  if (problems[0] !== undefined) return problemDiagnostic(source, tokens, problems[0]).message
  visit(tokens)
  return null
}

/** `${NAME:-default}` of a shell: a multi-line string cannot escape it. */
function isShellExpansion(text: string): boolean {
  return /^[!#]?[A-Za-z_][A-Za-z0-9_]*(?::?[-=?+]|[#%/^,@:[])/.test(text)
}

/** One diagnostic for each position. */
function problemDiagnostics(source: SourceFile, tokens: TokenStream, { problems }: Built<unknown>): readonly Diagnostic[] {
  const places = new Map<number, Problem>()
  for (const problem of problems) if (!places.has(problem.token)) places.set(problem.token, problem)
  return [...places.values()]
    .toSorted((a, b) => a.token - b.token)
    .slice(0, MAX_ERRORS)
    .map((problem) => problemDiagnostic(source, tokens, problem))
}

/** Nesting beyond the limit, with its position; caught in this file. */
class DeepNesting extends Error {
  readonly offset: number

  constructor(offset: number) {
    super('nested too deeply')
    this.offset = offset
  }
}

/**
 * Brackets and prefix operators are counted by the lexer. If the host's stack is small, or something nests in a way
 * that the lexer does not count, the engine raises a RangeError. It becomes a diagnostic too.
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
