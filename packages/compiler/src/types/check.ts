// Entry point of the checker: from one file's tree to its diagnostics, in the order that the language defines. A failing run
// reports the first error and every warning becomes a line of output, so the checker is silent wherever nothing is
// known.
//
// Four passes: register declarations of types, register callables (so that functions may be used before they are declared), warn
// about calls of deprecated functions, check the top level in source order.

import { SuggestionBudget } from '@bridle/parser'
import type { Declaration, Diagnostic, Program, SourceFile, Span, Stmt } from '@bridle/parser'
import { callsAny, listContents } from '../contents.js'
import { deprecations } from './attributes.js'
import { BUILTINS, type BuiltinSignatures } from './builtins.js'
import { checkExpression } from './check-expressions.js'
import { warnDeprecated } from './check-calls.js'
import { checkDeclaration } from './check-declarations.js'
import { checkStatement, checkStatements } from './check-statements.js'
import { type CheckContext, reporter, signatureCache } from './context.js'
import { TOLERATED_NAMES } from './missing-builtins.js'
import { PLACEHOLDER, registerType, RESULT } from './declarations.js'
import { type ImportedInterface, listImported, type Imports, isTypeDeclaration } from './module-interface.js'
import { Scope, TooMuchWork } from './scope.js'
import type { StrictTypes } from './strict.js'
import { checkStrictly } from './strict/strict.js'
import { FileTools } from './tools/file-tools.js'
import { addToolImport, callsTool } from './tools/names.js'
import type { ToolTypes } from './tools/declaration.js'
import { DICT } from './type.js'
import { nodesWithin } from './walk.js'

export type Strictness = 'language' | 'full'

export interface CheckOptions {
  readonly file: SourceFile
  /** Builtins to resolve against; default: the static table. */
  readonly signatures?: BuiltinSignatures
  /** Interface of an imported path; null when it cannot be resolved, which turns the checks of unknown names off. */
  readonly imports: (path: string) => ImportedInterface | null
  /** Names that the host puts into the outermost scope. */
  readonly extraGlobals?: readonly string[]
  /** Strict types mode. */
  readonly strict?: StrictTypes
  /** `language` (the default) reports what the language does; `full` also certain and nearly certain mistakes (strict/). */
  readonly strictness?: Strictness
  /** Constants of the language that can be named without a declaration; for the full strictness. */
  readonly constants?: readonly string[]
  /** Whether calls of the language's builtins that Bridle lacks are errors (missing-builtins.ts). */
  readonly refuseMissing?: boolean
  /** Called with the printed type of each name at its declaration and uses; for editors. */
  readonly observe?: (span: Span, type: string) => void
  /** The only top-level function to check, for callers that need the types of its names and no findings. */
  readonly only?: Stmt
  /** Called with the printed type of this expression statement, null when unknown; for editors and the prompt. */
  readonly probe?: { readonly stmt: Stmt; readonly found: (type: string | null) => void }
  /** Names of the modules `std/NAME`, for suggestions of the full strictness. */
  readonly standardModules?: readonly string[]
  /** The standard module that alone exports a name, for suggestions of the full strictness; null when there is none. */
  readonly findStandard?: (name: string) => string | null
  /** Tools of the host; their calls are not checked when absent. */
  readonly tools?: ToolTypes
  /** Tools by the names that `use tool … as NAME` gives them. */
  readonly toolAliases?: ReadonlyMap<string, string>
  readonly limits?: CheckLimits
}

export interface CheckLimits {
  /** Maximum number of diagnostics per file; the others are only counted. */
  readonly findings?: number
  /** Limit of checked expressions and compared types. */
  readonly checkSteps?: number
}

export const CHECK_LIMITS: Required<CheckLimits> = { findings: 1000, checkSteps: 10_000_000 }

/**
 * Conditions also narrow variables declared with an alias of a union, which the language does not require.
 * This must only remove findings, never add any: a value of the narrower type may fit less than the alias does
 * (`list<int>` is not `list<Id>`). If it happened and there are findings, the file is therefore checked again without it, and
 * only findings of both checks count.
 */
export function checkProgram(program: Program, options: CheckOptions): Diagnostic[] {
  const found = options.strictness === 'full' ? checkFully(program, options) : checkBothWays(program, options).diagnostics
  const limit = options.limits?.findings ?? CHECK_LIMITS.findings
  if (found.length <= limit) return found
  const more = found.length - limit
  const kept = found.slice(0, limit)
  const hasErrors = found.slice(limit).some(({ severity }) => severity === 'error')
  reporter(kept)('T070', kept.at(-1)?.span ?? NOWHERE, { more, limit })
  const last = kept.pop()!
  // Warnings do not stop a program.
  return [...kept, hasErrors ? last : { ...last, severity: 'warning' }]
}

const NONE: ReadonlySet<string> = new Set()
const NO_ALIASES: ReadonlyMap<string, string> = new Map()
const NOWHERE: Span = { start: 0, end: 0 }

function checkBothWays(program: Program, options: CheckOptions): Checked {
  const smart = runChecks(program, options, true)
  if (smart.diagnostics.length === 0 || !smart.followedAliases || !smart.isWhole) return smart
  const { observe: _observe, probe: _probe, ...quiet } = options
  const found = new Set(smart.diagnostics.map(formatPlace))
  const plain = runChecks(program, quiet, false)
  if (!plain.isWhole) return plain
  return { ...plain, diagnostics: plain.diagnostics.filter((diagnostic) => found.has(formatPlace(diagnostic))) }
}

/** Findings of the language and of the strict passes; at the same position the strict ones are better. */
function checkFully(program: Program, options: CheckOptions): Diagnostic[] {
  const { diagnostics, root, context } = checkBothWays(program, options)
  if (context === null) return diagnostics
  const strict: Diagnostic[] = []
  checkStrictly({
    file: options.file,
    program,
    root,
    builtins: root.builtins,
    imports: options.imports,
    importedNames: context.importedNames,
    globals: new Set([...(options.constants ?? []), ...(options.extraGlobals ?? [])]),
    toleratedNames: context.toleratedNames,
    standardModules: options.standardModules ?? [],
    findStandard: options.findStandard ?? (() => null),
    budget: context.suggestions,
    report: reporter(strict),
  })
  const told = new Set(diagnostics.map(formatPlace))
  const better = new Set(strict.filter(({ code }) => code === 'N001').map(formatPlace))
  const assigned = new Set(strict.filter(({ code }) => code === 'N043').map(({ span }) => span.start))
  const counted = new Set(strict.filter(({ code }) => code === 'T082').map(({ span }) => span.start))
  const unknown = strict.filter(({ code }) => code === 'N046').map(({ span }) => span)
  const isAsked = ({ span }: Diagnostic): boolean => context.askedNames.has(options.file.text.slice(span.start, span.end))
  const isMissing = strict.some(({ code }) => code === 'N049')
  const kept = diagnostics.filter((one) => {
    // Reported at the import.
    if (one.code === 'N001' && isMissing && isAsked(one)) return false
    if (one.code === 'T021' && counted.has(one.span.start)) return false
    // Nothing is compatible with a missing type.
    if (one.code === 'T014' && unknown.some(({ start, end }) => start >= one.span.start && end <= one.span.end)) return false
    return !better.has(formatPlace(one)) && !(one.code === 'T006' && assigned.has(one.span.start))
  })
  const added = strict.filter((one) => one.code === 'N001' || !told.has(formatPlace(one)))
  return [...kept, ...added].sort((one, other) => one.span.start - other.span.start)
}

function formatPlace({ code, span }: Diagnostic): string {
  return `${code} ${span.start} ${span.end}`
}

interface Checked {
  readonly diagnostics: Diagnostic[]
  readonly followedAliases: boolean
  /** Whether checking stayed within its limits. */
  readonly isWhole: boolean
  readonly root: Scope
  /** null when checking stopped before there was one. */
  readonly context: CheckContext | null
}

function runChecks(program: Program, options: CheckOptions, followAliases: boolean): Checked {
  const diagnostics: Diagnostic[] = []
  const root = Scope.outermost(options.signatures ?? BUILTINS)
  root.aliasNarrowing.allowed = followAliases
  const checkSteps = options.limits?.checkSteps ?? CHECK_LIMITS.checkSteps
  root.work.left = checkSteps
  let context: CheckContext | null = null
  try {
    context = makeContext(program, options, root, diagnostics)
    runPasses(program, context)
  } catch (error) {
    if (error instanceof TooMuchWork) reporter(diagnostics)('T071', NOWHERE, { limit: checkSteps })
    // Later phases report a tree that is too deep for the call stack; the diagnostics found so far remain.
    else if (!(error instanceof RangeError)) throw error
  }
  return { diagnostics, followedAliases: root.aliasNarrowing.used, isWhole: root.work.left >= 0, root, context }
}

function makeContext(program: Program, options: CheckOptions, root: Scope, diagnostics: Diagnostic[]): CheckContext {
  for (const name of options.extraGlobals ?? []) root.define(name, null)
  registerType(root, RESULT)
  if (options.tools !== undefined) root.setTools(new FileTools(options.tools, options.toolAliases ?? NO_ALIASES, program))
  const importedNames = registerImports(program, options.imports, root)
  const otherNames = registerTypes(program, root)
  const signature = signatureCache()
  const context: CheckContext = {
    file: options.file,
    root,
    report: reporter(diagnostics),
    importedNames,
    askedNames: new Set(
      program.items.flatMap((item) => (item.kind === 'ImportDecl' ? (item.names ?? []).map(({ text }) => text) : [])),
    ),
    otherNames,
    deprecated: deprecations(program),
    strict: (options.strict ?? false) !== false,
    trustsResults: options.strict === 'unnamed',
    toleratedNames: options.refuseMissing === true ? NONE : TOLERATED_NAMES,
    reportsOptions: options.strictness === 'full',
    suggestions: new SuggestionBudget(),
    observe: options.observe ?? null,
    probe: options.probe ?? null,
    only: options.only ?? null,
    signature,
    checkExpr: (expr, scope) => {
      scope.work.step()
      checkExpression(expr, scope, context)
    },
    checkStmt: (stmt, scope) => checkStatement(stmt, scope, context),
    checkBlock: (block, scope) => checkStatements(block, scope, context),
  }
  return context
}

function runPasses(program: Program, context: CheckContext): void {
  registerCallables(program.items, context.root, context.signature)
  warnDeprecatedCalls(program, context)
  for (const item of program.items) checkTopLevel(item, context)
}

// ---- first pass: types ----------------------------------------------------------------------------------------------

/** Imported names; null when an import cannot be resolved, and then no imported type is known either. */
function registerImports(program: Program, imports: Imports, root: Scope): ReadonlySet<string> | null {
  const found = new Map<string, ImportedInterface>()
  const decls = program.items.filter((item) => item.kind === 'ImportDecl')
  for (const decl of decls) {
    const source = found.get(decl.path) ?? imports(decl.path)
    if (source === null) return null
    found.set(decl.path, source)
  }
  const names = new Set<string>()
  for (const decl of decls) {
    const source = found.get(decl.path)
    if (source !== undefined) addToolImport(decl, source, root)
    for (const name of listImported(decl, (path) => found.get(path) ?? null)) {
      names.add(name)
      const type = source?.types.get(name)
      if (source === undefined || type === undefined) continue
      // A private enum hides its variants; a private struct must at least be constructible.
      if (type.kind === 'EnumDecl' && !source.exports.has(name)) continue
      registerType(root, type)
      root.declareMethods(name, source.methods.get(name) ?? null)
    }
  }
  return names
}

/** Declarations of the top level, then those directly in a pipeline. Returns the names that are known as call targets only. */
function registerTypes(program: Program, root: Scope): ReadonlySet<string> {
  const others = new Set<string>()
  for (const item of program.items) registerTypeItem(item, root, others)
  for (const item of program.items) {
    if (item.kind === 'PipelineDecl') for (const stmt of item.body.body) registerTypeItem(stmt, root, others)
  }
  return others
}

// The reference does not see declarations under an attribute from elsewhere in the file. An attributed enum is therefore not
// matched for exhaustiveness; the other kinds are registered, which only removes errors.
function registerTypeItem(stmt: Stmt, root: Scope, others: Set<string>): void {
  if (stmt.kind === 'ImplDecl') {
    registerType(root, stmt)
  } else if (isTypeDeclaration(stmt)) {
    if (stmt.kind === 'EnumDecl' && stmt.attributes.length > 0) others.add(stmt.name.text)
    else registerType(root, stmt)
  }
}

// ---- second pass: callables -----------------------------------------------------------------------------------------

/**
 * Registers everything that may be called in the outermost scope: from the top level and, recursively, from the direct statements
 * of function-like bodies. `let` and `var` names land there untyped, so the type of a module-level binding is never known.
 */
function registerCallables(items: readonly Stmt[], root: Scope, signature: CheckContext['signature'], outer = true): void {
  for (const item of items) {
    switch (item.kind) {
      case 'FnDecl':
        root.declareFunction(item.name.text, signature(item))
        registerCallables(item.body.body, root, signature, false)
        break
      case 'PipelineDecl':
      case 'ToolDecl':
        root.declareFunction(item.name.text, PLACEHOLDER)
        registerCallables(item.body.body, root, signature, item.kind === 'PipelineDecl')
        break
      case 'SkillDecl':
        root.define(item.name.text, null)
        break
      case 'EvalPackDecl':
        root.define(item.name.text, DICT)
        registerCallables(item.body, root, signature, false)
        break
      case 'Let':
        if (item.binding.kind !== 'NameBinding') break
        root.define(item.binding.name.text, null)
        // For the file, and for pipelines, whose bodies others may extend; a `var` of one function does not affect names of another.
        if (item.mutable && outer) root.markMutable(item.binding.name.text)
        break
      default:
        break
    }
  }
}

// ---- third pass: deprecated calls -----------------------------------------------------------------------------------

/** One warning for each call in the file; checking the call warns again, as the language does. */
function warnDeprecatedCalls(program: Program, context: CheckContext): void {
  if (context.deprecated.size === 0 || !callsAny(listContents(program), context.deprecated.keys())) return
  for (const node of nodesWithin(program, (kind) => kind !== 'Interpolation')) {
    if (isCall(node)) warnDeprecated(node, context)
  }
}

type CallNode = Parameters<typeof warnDeprecated>[0]

function isCall(node: { readonly kind: string }): node is CallNode {
  return node.kind === 'Call'
}

// ---- fourth pass: checking ------------------------------------------------------------------------------------------

function checkTopLevel(item: Stmt, context: CheckContext): void {
  const { root, only } = context
  if (only !== null && only !== item && item.kind === 'FnDecl') {
    root.declareFunction(item.name.text, context.signature(item))
    return
  }
  if (isCallableDeclaration(item)) {
    checkDeclaration(item, root, context)
    return
  }
  // Each other item sees the outermost scope and leaves behind the names it binds, never their types.
  const scope = root.child()
  context.checkStmt(item, scope)
  // The result of a host tool is outside the language: its type stays known.
  const isTyped = item.kind === 'Let' && !item.mutable && callsTool(item.value, root)
  for (const [name, variable] of scope.ownVariables()) if (isTyped || !root.hasOwnVariable(name)) root.put(name, variable)
  for (const name of scope.ownMutable()) root.markMutable(name)
}

function isCallableDeclaration(item: Stmt): item is Extract<Declaration, { kind: 'FnDecl' | 'PipelineDecl' }> {
  return item.kind === 'FnDecl' || item.kind === 'PipelineDecl'
}
