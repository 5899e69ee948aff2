// Refactorings: extract an expression to a variable, statements to a function, inline a variable. Those that may change
// the behaviour are not offered, and every result parses.

import { parse, SourceFile, walk } from '@bridle/parser'
import type { Block, Expr, ExprOf, Node, Program, Span, Stmt } from '@bridle/parser'
import type { TextEdit } from 'vscode-languageserver/node'
import { toRange } from './answers.js'
import type { OpenDocument } from './document.js'
import { applyEdits } from './layout.js'
import type { FileSymbol } from './symbols.js'
import { listWriteSpans } from './writes.js'

interface Edit {
  readonly span: Span
  readonly text: string
}

/** null if the result would not parse. */
function finish(document: OpenDocument, edits: readonly Edit[]): readonly TextEdit[] | null {
  const made = edits.map(({ span, text }) => ({ range: toRange(document.text, span), newText: text }))
  return parse(new SourceFile('made', applyEdits(document.text, made))).program === null ? null : made
}

/** Nodes around a span, outermost first. */
function listAround(program: Program, { start, end }: Span): readonly Node[] {
  const found: Node[] = []
  walk(program, {
    enter: (node) => {
      if (node.span.start > start || node.span.end < end) return false
      found.push(node)
      return true
    },
  })
  return found
}

/** Without surrounding white space; null when nothing remains. */
function trimSpan(source: string, { start, end }: Span): Span | null {
  const text = source.slice(start, end)
  const trimmed = text.trim()
  const from = start + text.indexOf(trimmed)
  return trimmed === '' ? null : { start: from, end: from + trimmed.length }
}

const isSame = (one: Span, other: Span): boolean => one.start === other.start && one.end === other.end
const isWithin = (inner: Span, outer: Span): boolean => outer.start <= inner.start && inner.end <= outer.end

function findExpression(around: readonly Node[], span: Span): Expr | null {
  const found = around.findLast((node) => isSame(node.span, span) && !NO_EXPRESSIONS.has(node.kind))
  return (found as Expr | undefined) ?? null
}

const NO_EXPRESSIONS: ReadonlySet<Node['kind']> = new Set([
  ...(['Program', 'Block', 'ExprStmt', 'Let', 'Assign', 'While', 'For', 'Return', 'Throw', 'Yield', 'Emit'] as const),
  ...(['Guard', 'Require', 'Defer', 'Mutex', 'Select', 'Break', 'Continue', 'UseTool', 'Grant', 'BindEffect'] as const),
  ...(['FnDecl', 'ToolDecl', 'SkillDecl', 'EvalPackDecl', 'PipelineDecl', 'OverrideDecl', 'ImportDecl', 'TypeDecl'] as const),
  ...(['EnumDecl', 'StructDecl', 'InterfaceDecl', 'ImplDecl'] as const),
])

/** Whether it can neither fail nor have effects, wherever it is computed. */
function isSafe(expr: Expr): boolean {
  switch (expr.kind) {
    case 'Int':
    case 'Float':
    case 'Bool':
    case 'Nil':
    case 'Duration':
    case 'String':
    case 'Identifier':
      return true
    case 'List':
      return expr.items.every(({ value, spread }) => !spread && isSafe(value))
    case 'Dict':
      return expr.entries.every((entry) => entry.kind === 'named' && isSafe(entry.value))
    case 'Interpolation':
      return expr.parts.every((part) => typeof part === 'string' || isSafe(part))
    default:
      return false
  }
}

/** A name that is unused where the given names are visible. */
function inventName(document: OpenDocument, wanted: string): string {
  const taken = new Set([
    ...document.symbols!.all.map(({ name }) => name),
    ...document.symbols!.unresolved.map(({ text }) => text),
    ...document.runtime.registry.builtins.keys(),
  ])
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}${count}`
    if (!taken.has(name)) return name
  }
}

function readIndent(source: string, offset: number): string {
  return /^[ \t]*/.exec(source.slice(source.lastIndexOf('\n', offset - 1) + 1))![0]
}

// ------------------------------------------------------------------------------------------------------- extract variable

export function extractVariable(document: OpenDocument, selected: Span): readonly TextEdit[] | null {
  const source = document.text.getText()
  const span = trimSpan(source, selected)
  const { program } = document.parsed
  if (span === null || program === null || document.symbols === null) return null
  const around = listAround(program, span)
  const expr = findExpression(around, span)
  if (expr === null) return null
  const at = around.findLastIndex((node, index) => isInSequence(around[index - 1], node))
  const stmt = around[at]
  if (stmt === undefined || !mayMoveOut(around.slice(at), expr)) return null
  const name = inventName(document, 'extracted')
  const value = source.slice(span.start, span.end)
  const indent = readIndent(source, stmt.span.start)
  return finish(document, [
    { span: { start: stmt.span.start, end: stmt.span.start }, text: `let ${name} = ${value}\n${indent}` },
    { span, text: name },
  ])
}

/** Whether a node is a statement of a list of statements. */
function isInSequence(parent: Node | undefined, node: Node): boolean {
  if (parent?.kind === 'Block') return parent.body.includes(node as Stmt)
  return parent?.kind === 'Program' && !/Decl$/.test(node.kind)
}

/** Whether an expression may be computed before its statement: it is computed exactly once anyway, and either first or without effect. */
function mayMoveOut(path: readonly Node[], expr: Expr): boolean {
  for (let at = 0; at + 1 < path.length; at++) {
    const node = path[at]!
    const child = path[at + 1]!
    switch (node.kind) {
      case 'While':
      case 'Match':
        if (node.kind === 'While' || child !== node.subject) return false
        break
      case 'Assign':
        if (child === node.target) return false
        break
      case 'Closure':
      case 'FnDecl':
      case 'Select':
        return false
      case 'Binary':
        if (child === node.right && /^(?:&&|\|\||\?\?)$/.test(node.operator) && !isSafe(expr)) return false
        break
      case 'Ternary':
        if (child !== node.condition && !isSafe(expr)) return false
        break
      case 'If':
        if (child !== node.condition && !isSafe(expr)) return false
        break
      case 'Pipe':
        // The right side is a function, or a call that lacks its argument.
        if (child === node.callee) return false
        break
      case 'Require':
        if (child !== node.condition && !isSafe(expr)) return false
        break
      case 'Member':
      case 'MethodCall':
      case 'Index':
        if (node.optional && child !== node.object && !isSafe(expr)) return false
    }
  }
  return expr.kind !== 'Identifier' || expr.name !== '_'
}

// ------------------------------------------------------------------------------------------------------- extract function

export function extractFunction(document: OpenDocument, selected: Span): readonly TextEdit[] | null {
  const source = document.text.getText()
  const span = trimSpan(source, selected)
  const { program } = document.parsed
  if (span === null || program === null || document.symbols === null) return null
  const around = listAround(program, span)
  const item = program.items.find((each) => isWithin(span, each.span)) ?? null
  const run = findRun(around, span)
  const expr = run === null ? findExpression(around, span) : null
  if (run === null && expr === null) return null
  if (expr !== null && !isMovable(around, expr)) return null
  const nodes: readonly Node[] = run?.stmts ?? [expr!]
  if (nodes.some((node) => leavesEarly(node))) return null
  const flow = findFlow(document, program, span)
  if (flow === null) return null
  const { params, results } = flow
  const isValue = expr !== null || (run!.isLast && run!.stmts.at(-1)!.kind === 'ExprStmt')
  if (results.length > 1 || (isValue && results.length > 0)) return null
  const name = inventName(document, 'extracted')
  const call = `${name}(${params.map((each) => each.name).join(', ')})`
  const [result] = results
  const body = indentBody(source, span, run?.stmts ?? null, isValue)
  const assigned = result === undefined ? null : isWithin(result.span, span) ? declare(result) : `${result.name} = `
  // A parameter cannot be assigned, so a variable gets its value.
  const toParam = (param: FileSymbol): string =>
    flow.written.has(param) ? inventName(document, `${param.name}_before`) : param.name
  const copies = params.filter((param) => flow.written.has(param)).map((param) => `  var ${param.name} = ${toParam(param)}\n`)
  const head = `fn ${name}(${params.map(toParam).join(', ')}) {\n${copies.join('')}`
  const end = result === undefined ? '' : `\n  return ${result.name}`
  const place = (item ?? program.items.find((each) => each.span.end >= span.end) ?? program.items.at(-1)!).span.end
  const made = `\n\n${head}${body}${end}\n}`
  return finish(document, [
    { span, text: `${assigned ?? ''}${call}` },
    { span: { start: Math.max(place, span.end), end: Math.max(place, span.end) }, text: made },
  ])
}

const declare = ({ name, isMutable }: FileSymbol): string => `${isMutable ? 'var' : 'let'} ${name} = `

interface StatementRun {
  readonly stmts: readonly Stmt[]
  /** Whether it ends its block, so that its last expression may be the value of the block. */
  readonly isLast: boolean
}

/** Whole statements of one block; a selected expression statement counts. */
function findRun(around: readonly Node[], span: Span): StatementRun | null {
  const block = around.findLast((node): node is Block | Program => node.kind === 'Block' || node.kind === 'Program')
  if (block === undefined) return null
  for (const each of [block, around.findLast((node) => node !== block && (node.kind === 'Block' || node.kind === 'Program'))]) {
    if (each?.kind !== 'Block' && each?.kind !== 'Program') continue
    const body = each.kind === 'Block' ? each.body : each.items
    const stmts = body.filter((stmt) => isWithin(stmt.span, span))
    const [first, last] = [stmts[0], stmts.at(-1)]
    if (first === undefined || first.span.start !== span.start || last!.span.end !== span.end) continue
    if (stmts.some(({ kind }) => /Decl$/.test(kind) || MODULE_STATEMENTS.has(kind))) return null
    return { stmts, isLast: each.kind === 'Block' && last === body.at(-1) }
  }
  return null
}

const MODULE_STATEMENTS: ReadonlySet<string> = new Set(['UseTool', 'Grant', 'BindEffect'])

function isMovable(around: readonly Node[], expr: Expr): boolean {
  const parent = around[around.lastIndexOf(expr) - 1]
  if (parent?.kind === 'Assign' && parent.target === expr) return false
  if (parent?.kind === 'Pipe' && parent.callee === expr) return false
  return !around.some(
    (node) => node.kind === 'Match' && node.arms.some(({ patterns }) => patterns.some((each) => isWithin(expr.span, each.span))),
  )
}

/** Whether it would leave the enclosing function or loop, or uses the placeholder of an enclosing pipe. */
function leavesEarly(root: Node): boolean {
  let found = false
  const visit = (node: Node, inLoop: boolean): void => {
    walk(node, {
      enter: (each) => {
        if (found) return false
        switch (each.kind) {
          case 'Return':
          case 'Yield':
          case 'Emit':
          case 'Propagate':
          case 'Defer':
            found = true
            return false
          case 'Break':
          case 'Continue':
            found ||= !inLoop
            return false
          case 'Identifier':
            found ||= each.name === '_'
            return false
          case 'Closure':
          case 'FnDecl':
            return false
          case 'While':
          case 'For':
            if (each === node && inLoop) return true
            visit(each, true)
            return false
        }
        return true
      },
    })
  }
  visit(root, false)
  return found
}

/** The input and output variables; null if names of the selection are used elsewhere in a way that a function cannot express. */
function findFlow(
  document: OpenDocument,
  program: Program,
  span: Span,
): {
  readonly params: readonly FileSymbol[]
  readonly results: readonly FileSymbol[]
  readonly written: ReadonlySet<FileSymbol>
} | null {
  const writes = listWriteSpans(program)
  const params: FileSymbol[] = []
  const results: FileSymbol[] = []
  const written = new Set<FileSymbol>()
  for (const symbol of document.symbols!.all) {
    const isInner = isWithin(symbol.span, span)
    const inside = symbol.references.filter((each) => isWithin(each, span))
    if (isInner) {
      if (inside.length < symbol.references.length) results.push(symbol)
      continue
    }
    if (inside.length === 0 || (symbol.kind !== 'variable' && symbol.kind !== 'parameter')) continue
    params.push(symbol)
    if (inside.some(({ start }) => writes.has(start))) {
      written.add(symbol)
      results.push(symbol)
    }
  }
  return { params, results, written }
}

/** The statements as the body of a function, two columns in. */
function indentBody(source: string, span: Span, stmts: readonly Stmt[] | null, isValue: boolean): string {
  const present = readIndent(source, span.start)
  const last = stmts?.at(-1)?.span ?? span
  const text = isValue
    ? `${source.slice(span.start, last.start)}return ${source.slice(last.start, span.end)}`
    : source.slice(span.start, span.end)
  // Lines of a string keep their columns.
  if (/"""/.test(text)) return `  ${text}`
  const lines = text.split('\n')
  return lines
    .map((line, at) => (at === 0 ? `  ${line}` : line.startsWith(present) ? `  ${line.slice(present.length)}` : line))
    .join('\n')
}

// --------------------------------------------------------------------------------------------------------- inline variable

const PRIMARY: ReadonlySet<Expr['kind']> = new Set([
  ...(['Int', 'Float', 'Bool', 'Nil', 'Duration', 'String', 'Interpolation', 'Identifier', 'List'] as const),
  ...(['Call', 'MethodCall', 'Member', 'Index'] as const),
])

export function inlineVariable(document: OpenDocument, { start }: Span): readonly TextEdit[] | null {
  const source = document.text.getText()
  const { program } = document.parsed
  const symbol = document.symbols?.at(start) ?? null
  if (symbol === null || program === null || symbol.kind !== 'variable' || symbol.isMutable || symbol.references.length === 0)
    return null
  const around = listAround(program, symbol.span)
  const binding = around.findLast((node) => node.kind === 'Let')
  if (binding?.kind !== 'Let' || binding.binding.kind !== 'NameBinding') return null
  if (!isSame(binding.binding.name.span, symbol.span) || !mayInline(document, program, binding, symbol)) return null
  const { value } = binding
  const text = source.slice(value.span.start, value.span.end)
  const inStrings = symbol.references.some((span) => listAround(program, span).some(({ kind }) => kind === 'Interpolation'))
  if (inStrings && /["\n{}]/.test(text)) return null
  const written = PRIMARY.has(value.kind) ? text : `(${text})`
  return finish(document, [
    { span: findLines(source, binding.span), text: '' },
    ...symbol.references.map((span) => ({ span, text: written })),
  ])
}

/** The lines of a statement with their line break, if nothing else is on them. */
function findLines(source: string, { start, end }: Span): Span {
  const from = source.lastIndexOf('\n', start - 1) + 1
  const found = source.indexOf('\n', end)
  const to = found < 0 ? source.length : found + 1
  const isAlone = source.slice(from, start).trim() === '' && source.slice(end, to).trim() === ''
  return isAlone ? { start: from, end: to } : { start, end: source[end] === ';' ? end + 1 : end }
}

function mayInline(
  document: OpenDocument,
  program: Program,
  binding: Extract<Stmt, { kind: 'Let' }>,
  symbol: FileSymbol,
): boolean {
  const { all } = document.symbols!
  const inner = all.filter((each) => each.references.some((span) => isWithin(span, binding.value.span)))
  const isHidden = inner.some((each) =>
    symbol.references.some(({ start }) => {
      const seen = document.symbols!.visibleAt(start).find(({ name }) => name === each.name)
      return seen !== each
    }),
  )
  if (isHidden) return false
  if (isSafe(binding.value)) return inner.every(({ isMutable }) => !isMutable)
  // An expression with effects or failures is moved only to a single use, if nothing is computed between.
  const [only, more] = symbol.references
  if (only === undefined || more !== undefined) return false
  const around = listAround(program, binding.span)
  const block = around[around.lastIndexOf(binding) - 1]
  const body = block?.kind === 'Block' ? block.body : block?.kind === 'Program' ? block.items : []
  const next = body[body.indexOf(binding) + 1]
  if (next === undefined || !isWithin(only, next.span)) return false
  return isComputedFirst(listAround(program, only), next)
}

/** Whether the innermost of these nodes is the first thing that a statement computes. */
function isComputedFirst(around: readonly Node[], stmt: Stmt): boolean {
  const path = around.slice(around.indexOf(stmt))
  for (let at = 0; at + 1 < path.length; at++) {
    const node = path[at]!
    const child = path[at + 1]!
    if (node.kind === 'Call' || node.kind === 'List') {
      const args: ExprOf<'Call'>['args'] = node.kind === 'Call' ? node.args : node.items
      const before = args.slice(
        0,
        args.findIndex(({ value }) => value === child),
      )
      if (!before.every(({ value, spread }) => !spread && isSafe(value))) return false
    } else if (node.kind === 'Binary') {
      if (child !== node.left && (!isSafe(node.left) || /^(?:&&|\|\||\?\?)$/.test(node.operator))) return false
    } else if (node.kind === 'MethodCall' || node.kind === 'Member' || node.kind === 'Index') {
      if (child !== node.object) return false
    } else if (node.kind === 'If') {
      if (child !== node.condition) return false
    } else if (node.kind === 'Match') {
      if (child !== node.subject) return false
    } else if (!['ExprStmt', 'Let', 'Return', 'Throw', 'Unary', 'Propagate'].includes(node.kind)) return false
  }
  return true
}
