// Public API of the parser: source → syntax tree, and everything that other packages need to walk, print and report on one.

export * from './ast.js'
export {
  findBrokenInterpolations,
  parse,
  PARSE_LIMITS,
  parseExpression,
  type ParsedExpression,
  type ParseLimits,
  type ParseOptions,
  type ParseResult,
  repairForeignWord,
} from './parse.js'
export { Reparser } from './reparse.js'
export type { Extension } from './grant-syntax.js'
export { type Position, SourceFile, type Span } from './source.js'
export { applyFixes, type Fixed } from './diagnostics/fixes.js'
export type { Diagnostic, Severity } from './diagnostics/diagnostic.js'
export {
  CATALOG,
  type CatalogRow,
  diagnose,
  type Catalog,
  type DiagnosticArgs,
  type ReportDetails,
  type RowArgs,
  type DiagnosticCode,
  entry,
  report,
} from './diagnostics/catalog.js'
export { copyWith } from './nodes.js'
export { BINARY_OPERATORS, LEVEL, type OperatorRow } from './operators.js'
export { docBlock, fitsBlock } from './format/comments.js'
export { dedent, docText, escape, plainDecimal, readDuration, readInt, writeFloat } from './literals.js'
export { isKeyword, KEYWORDS, TOKEN } from './tokens.js'
export { findClosest, editDistance, leastEdits, suggest, SuggestionBudget } from './diagnostics/suggest.js'
export {
  diagnosticToJson,
  type JsonDiagnostic,
  renderDiagnostic,
  renderDiagnostics,
  type RenderOptions,
} from './diagnostics/render.js'
export { compareImports, format, print } from './format/format.js'
export type { FormatOptions, FormatResult } from './format/format.js'
export { isSameProgram } from './format/same-program.js'
export { printType } from './format/types.js'
export { tokenize, type Token } from './tokenize.js'
export { lex, lexFile, MAX_NESTING, type Comment, type TokenStream } from './lexer.js'
export {
  boundNames,
  listChildren,
  forEachChild,
  forEachTypeName,
  isDeclaration,
  isStatement,
  walk,
  type Visitor,
} from './visit.js'
export {
  type FoundHabit,
  type Habit,
  findCallHabit,
  findMemberHabit,
  listMemberHabits,
  findNameHabit,
  HABITS,
  type HabitName,
} from './habits/table.js'
export { interpolateBraces } from './habits/braces.js'
