// The form of a diagnostics catalogue, the one function that makes a diagnostic from a row, and the catalogue of the parser (P).
// Each phase before execution has a catalogue: `packages/cli/src/finding-codes.ts` lists them all. A row
// documents its code (`explain` prints `title` and `doc`), and builds message and hint from typed arguments, so that
// reporting with the wrong arguments is a type error. Messages are the language's wording, which scripts and suites match on;
// titles, docs and hints are ours.

import type { Span } from '../source.js'
import type { Diagnostic, Severity } from './diagnostic.js'

export interface CatalogRow<Args> {
  readonly severity: Severity
  /** A few words, for lists. */
  readonly title: string
  /** Meaning and remedy, for `explain` and the documentation. */
  readonly doc: string
  readonly message: (args: Args) => string
  readonly hint?: (args: Args) => string | undefined
}

/** Rows by code. */
export type Catalog = Readonly<Record<string, CatalogRow<never>>>

/** Arguments of a row's message. */
export type RowArgs<Row extends CatalogRow<never>> = Parameters<Row['message']>[0]

/** Additions of a report to its row. `severity` replaces the row's. */
export type ReportDetails = Partial<Pick<Diagnostic, 'severity' | 'related' | 'fix'>>

/** The diagnostic of the row `code` at `span`. All phases report through this function. */
export function report<Rows extends Catalog, Code extends keyof Rows & string>(
  catalog: Rows,
  code: Code,
  span: Span,
  args: RowArgs<Rows[Code]>,
  { severity, related = [], fix = null }: ReportDetails = {},
): Diagnostic {
  const row = catalog[code] as unknown as CatalogRow<typeof args> // the signature ties `args` to `code`
  return {
    code,
    severity: severity ?? row.severity,
    message: row.message(args),
    span,
    hint: row.hint?.(args) ?? null,
    related,
    fix,
  }
}

/** Gives a row its argument type. */
export function entry<Args>(row: CatalogRow<Args>): CatalogRow<Args> {
  return row
}

/** A position as messages show it, `line:column`. */
export type PlaceText = string

interface UnexpectedArgs {
  /** The tokens that would have been accepted there. */
  readonly what: string
  /** The token found there, formatted by `describeToken`. */
  readonly got: string
  readonly at: PlaceText
  readonly hint?: string | undefined
}

/** `got` at the end of the source. */
export const END_OF_FILE = 'end of file'

const describeUnexpected = (a: UnexpectedArgs): string =>
  a.got === END_OF_FILE ? `Unexpected end of file, expected ${a.what}` : `Expected ${a.what}, got ${a.got} at ${a.at}`

export const AFTER_PUB = 'fn, tool, skill, struct, enum, pipeline, or import after pub'

/** Hints by the expected token. */
const HELP: Readonly<Record<string, string>> = {
  [AFTER_PUB]: 'use `pub fn`, `pub pipeline`, `pub enum`, or `pub struct`',
  '}': 'add a closing `}` to finish this block',
  ')': 'add a closing `)` to finish this expression or parameter list',
  ']': 'add a closing `]` to finish this list or subscript',
}

export const CATALOG = {
  P001: entry<UnexpectedArgs>({
    severity: 'error',
    title: 'unexpected token',
    doc: 'The text cannot go on with this token. The message names what was expected at the place and what stands there.',
    message: describeUnexpected,
    hint: (a) => HELP[a.what] ?? a.hint,
  }),
  P002: entry<{ readonly what: string }>({
    severity: 'error',
    title: 'unexpected end of file',
    doc: 'The file ends inside a construct, most often because a closing brace, bracket or parenthesis is missing.',
    message: (a) => `Unexpected end of file, expected ${a.what}`,
    hint: (a) => HELP[a.what],
  }),
  P003: entry<{ readonly character: string; readonly at: PlaceText }>({
    severity: 'error',
    title: 'unexpected character',
    doc: 'This character is no part of any token. An interpolation `${}` without an expression is reported at its brace.',
    message: (a) => `Unexpected character '${a.character}' at ${a.at}`,
    hint: (a) => CHARACTER_HINTS[a.character],
  }),
  P004: entry<{ readonly at: PlaceText }>({
    severity: 'error',
    title: 'unterminated string',
    doc: 'A string has no closing quote. "…" and r"…" strings end on the line they begin on; """…""" strings may span lines.',
    message: (a) => `Unterminated string at ${a.at}`,
    hint: () => 'close it on the same line, or use """ for text of several lines',
  }),
  P005: entry<{ readonly at: PlaceText }>({
    severity: 'error',
    title: 'unterminated block comment',
    doc: 'A block comment has no end. Block comments nest, so every one inside needs its own end too.',
    message: (a) => `Unterminated block comment at ${a.at}`,
    hint: () => 'block comments nest: each `/*` needs its own `*/`',
  }),
  P006: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: 'required parameter after a default',
    doc: 'Arguments are given by position, so after a parameter with a default all need one (a rest parameter excepted).',
    message: (a) => describeUnexpected({ ...a, what: 'Required parameter cannot follow a parameter with a default value' }),
    hint: () => 'give this parameter a default, or move it before those that have one',
  }),
  P007: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: 'rest parameter not last',
    doc: 'A `...rest` parameter takes all remaining arguments, so nothing can follow it.',
    message: (a) => describeUnexpected({ ...a, what: 'Rest parameter must be the last parameter' }),
    hint: () => 'move the rest parameter to the end',
  }),
  P008: entry<{ readonly at: PlaceText }>({
    severity: 'error',
    title: 'attribute on something else than a declaration',
    doc: 'An attribute such as `@test` belongs to the declaration that follows it.',
    message: (a) =>
      describeUnexpected({
        ...a,
        what: 'fn/tool/skill/eval_pack/pipeline/struct/enum/type/interface/impl declaration after `@attr`',
        got: 'non-declaration statement',
      }),
  }),
  P009: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: 'select without arms',
    doc: 'A `select` waits on channels, a timeout or nothing (`default`); it needs at least one arm.',
    message: (a) => describeUnexpected({ ...a, what: 'at least one select case' }),
    hint: () => 'write `value from channel { … }`, `timeout duration { … }` or `default { … }`',
  }),
  P010: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: 'select with both timeout and default',
    doc: 'With a `default` arm a `select` never waits, so a `timeout` arm beside it could not be taken.',
    message: (a) => describeUnexpected({ ...a, what: 'select cannot have both timeout and default' }),
    hint: () => 'remove one of the two arms',
  }),
  P011: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: 'second summarize block',
    doc: 'An `eval_pack` has at most one `summarize` block.',
    message: (a) => describeUnexpected({ ...a, what: 'only one summarize block per eval_pack' }),
    hint: () => 'merge the two blocks',
  }),
  P012: entry<Omit<UnexpectedArgs, 'what'>>({
    severity: 'error',
    title: '`as stream` on another form than `parallel each`',
    doc: 'Only `parallel each` can deliver its values as a stream, in the order in which they are finished.',
    message: (a) => describeUnexpected({ ...a, what: '`as stream` only after `parallel each`' }),
  }),
  P013: entry<{ readonly limit: number; readonly at: PlaceText | null }>({
    severity: 'error',
    title: 'nesting too deep',
    doc: 'Brackets, prefix operators, chains or nested constructs go deeper than the parser follows.',
    message: (a) => `Nesting deeper than ${a.limit} levels${a.at === null ? '' : ` at ${a.at}`}`,
    hint: () => 'name inner parts with `let`, or move them into functions',
  }),
  P014: entry<UnexpectedArgs>({
    severity: 'error',
    title: 'assignment to something that is no place',
    doc: 'Only a name, a property `a.b` and an index `a[i]` can be assigned to.',
    message: describeUnexpected,
    hint: () => 'only a name, a property or an index can be assigned to; compare with `==`',
  }),
  P015: entry<{ readonly option: string; readonly at: PlaceText }>({
    severity: 'error',
    title: 'unknown option of `parallel`',
    doc: 'The options of `parallel … with { … }` are only `max_concurrent`, the number of branches that run at the same time.',
    message: (a) =>
      describeUnexpected({
        what: `known option (only \`max_concurrent\` is supported in \`parallel ... with { ... }\`; got \`${a.option}\`)`,
        got: a.option,
        at: a.at,
      }),
  }),
  P016: entry<{ readonly found: number; readonly limit: number; readonly what: string }>({
    severity: 'error',
    title: 'file too large',
    doc: 'A file has more characters or tokens than one file may have.',
    message: (a) => `The file has ${a.found} ${a.what}, the limit is ${a.limit}`,
    hint: () => 'split it into modules, read data from a file instead, or have the host raise `limits` of compile',
  }),
  P017: entry<{ readonly source: string; readonly reason: string }>({
    severity: 'error',
    title: 'interpolation that does not parse',
    doc: 'What stands between `${` and `}` has to be an expression. The language takes anything else as plain text, so the string shows its own source. Strict checks refuse it.',
    message: (a) => `\`\${${a.source}}\` is no expression and prints itself: ${a.reason}`,
    hint: () => 'mend the expression, or write `\\${` where the characters themselves are meant',
  }),
} as const

const CHARACTER_HINTS: Readonly<Record<string, string | undefined>> = {
  "'": 'strings are written with double quotes',
  '`': 'strings are written with double quotes, text of several lines with """',
  '&': 'logical and is `&&`',
  '#': 'comments begin with `//`',
  '}': 'an interpolation `${…}` needs an expression',
}

export type DiagnosticCode = keyof typeof CATALOG
export type DiagnosticArgs<C extends DiagnosticCode> = RowArgs<(typeof CATALOG)[C]>

/** The diagnostic of a row of the parser's catalogue. */
export function diagnose<C extends DiagnosticCode>(
  code: C,
  span: Span,
  args: DiagnosticArgs<C>,
  details: ReportDetails = {},
): Diagnostic {
  return report(CATALOG, code, span, args, details)
}
