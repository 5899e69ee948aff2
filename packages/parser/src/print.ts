// Syntax tree → canonical source, such that parsing the text gives the same tree again, spans aside. Layout is plain: two
// spaces a level, blocks over several lines, everything else on one; the formatter builds on this. Declarations have a file
// of their own.
//
// Parentheses leave no node in the tree, so the printer sets them: by the levels of operators.ts, around control expressions
// used as operands, and where the text would otherwise read differently (a postfix `?` before something that makes it a
// ternary, a capitalised name before a block, `<` and `>` around what looks like type arguments).

import type {
  Argument,
  Binding,
  Block,
  DictEntry,
  Expr,
  GrantValue,
  IfExpr,
  MatchArm,
  Param,
  Program,
  SelectArm,
  ShapeField,
  Stmt,
  TypeExpr,
} from './ast.js'
import { lex } from './lexer.js'
import { commonIndent, escape, plainDecimal, writeFloat } from './literals.js'
import { BINARY_OPERATORS, LEVEL } from './operators.js'
import { printDeclaration } from './print-declarations.js'
import { isIdentifierUnit, TOKEN } from './tokens.js'

export function print(program: Program): string {
  return program.items.map((item) => `${printStmt(item, 0)}\n`).join('')
}

export function pad(depth: number): string {
  return '  '.repeat(depth)
}

/** A statement, without indentation before its first line and without a line break at its end. */
export function printStmt(stmt: Stmt, depth: number): string {
  switch (stmt.kind) {
    case 'ExprStmt':
      return printExpr(stmt.value, depth)
    case 'Let':
      return `${stmt.mutable ? 'var' : 'let'} ${printBinding(stmt.binding, depth)} = ${printExpr(stmt.value, depth)}`
    case 'Assign':
      return `${operand(stmt.target, LEVEL.postfix, depth)} ${stmt.operator ?? ''}= ${printExpr(stmt.value, depth)}`
    case 'While':
      return `while ${beforeBlock(stmt.condition, depth)} ${printBlock(stmt.body, depth)}`
    case 'For':
      return `for ${printBinding(stmt.binding, depth)} in ${beforeBlock(stmt.iterable, depth)} ${printBlock(stmt.body, depth)}`
    case 'Return':
      return stmt.value === null ? 'return' : `return ${printExpr(stmt.value, depth)}`
    case 'Throw':
      return `throw ${printExpr(stmt.value, depth)}`
    case 'Yield':
      return stmt.value === null ? 'yield' : `yield ${printExpr(stmt.value, depth)}`
    case 'Emit':
      return `emit ${printExpr(stmt.value, depth)}`
    case 'Guard':
      return `guard ${beforeBlock(stmt.condition, depth)} else ${printBlock(stmt.otherwise, depth)}`
    case 'Require': {
      const message = stmt.message === null ? '' : `, ${printExpr(stmt.message, depth)}`
      return `require ${printExpr(stmt.condition, depth)}${message}`
    }
    case 'Defer':
      return `defer ${printBlock(stmt.body, depth)}`
    case 'Mutex':
      return `mutex ${printBlock(stmt.body, depth)}`
    case 'Select':
      return `select {\n${stmt.arms.map((arm) => `${pad(depth + 1)}${printSelectArm(arm, depth + 1)}\n`).join('')}${pad(depth)}}`
    case 'Break':
      return 'break'
    case 'Continue':
      return 'continue'
    case 'UseTool': {
      const target = stmt.server ? `mcp "${escape(stmt.tool.text)}"` : stmt.tool.text
      const version =
        stmt.version === null ? '' : /^[0-9.]+$/.test(stmt.version) ? `@${stmt.version}` : `@"${escape(stmt.version)}"`
      return `use tool ${target}${version} as ${stmt.alias?.text ?? '*'}`
    }
    case 'Grant':
      return `grant ${stmt.alias.text} ${stmt.entries.map((entry) => `${entry.key.text} ${printGrantValue(entry.value)}`).join(' ')}`
    case 'BindEffect':
      return `bind effect ${stmt.effect.text} to ${stmt.alias.text}`
    default:
      return printDeclaration(stmt, depth)
  }
}

function printGrantValue(value: GrantValue): string {
  if (typeof value === 'string') return `"${escape(value)}"`
  if (typeof value !== 'object') return String(value)
  return 'float' in value ? writeFloat(value.float) : `[${value.map(printGrantValue).join(', ')}]`
}

/** A block with its braces. */
export function printBlock(block: Block, depth: number): string {
  return `{\n${printBody(block.body, depth + 1)}${pad(depth)}}`
}

/** Statements, each on lines of its own. */
export function printBody(body: readonly Stmt[], depth: number): string {
  return body.map((stmt) => `${pad(depth)}${printStmt(stmt, depth)}\n`).join('')
}

function printSelectArm(arm: SelectArm, depth: number): string {
  switch (arm.kind) {
    case 'receive':
      return `${arm.variable.text} from ${beforeBlock(arm.channel, depth)} ${printBlock(arm.body, depth)}`
    case 'timeout':
      return `timeout ${beforeBlock(arm.duration, depth)} ${printBlock(arm.body, depth)}`
    case 'default':
      return `default ${printBlock(arm.body, depth)}`
  }
}

function printBinding(binding: Binding, depth: number): string {
  const withDefault = (text: string, value: Expr | null): string =>
    value === null ? text : `${text} = ${printExpr(value, depth)}`
  const joined = (parts: readonly string[], rest: { readonly text: string } | null): string =>
    [...parts, ...(rest === null ? [] : [`...${rest.text}`])].join(', ')
  switch (binding.kind) {
    case 'NameBinding':
      return binding.type === null ? binding.name.text : `${binding.name.text}: ${printType(binding.type)}`
    case 'PairBinding':
      return `(${binding.first.text}, ${binding.second.text})`
    case 'ListBinding':
      return `[${joined(
        binding.items.map((item) => withDefault(item.name.text, item.defaultValue)),
        binding.rest,
      )}]`
    case 'DictBinding': {
      const fields = binding.fields.map((field) =>
        withDefault(field.alias === null ? field.key.text : `${field.key.text}: ${field.alias.text}`, field.defaultValue),
      )
      return `{${joined(fields, binding.rest)}}`
    }
  }
}

export function printParams(params: readonly Param[], depth: number): string {
  return params
    .map((param) => {
      const type = param.type === null ? '' : `: ${printType(param.type)}`
      const value = param.defaultValue === null ? '' : ` = ${printExpr(param.defaultValue, depth)}`
      return `${param.rest ? '...' : ''}${param.name.text}${type}${value}`
    })
    .join(', ')
}

/** An expression as it stands where nothing binds it: a value, an argument, a statement. */
export function printExpr(expr: Expr, depth: number): string {
  switch (expr.kind) {
    case 'Int':
      return String(expr.value)
    case 'Float':
      return printFloat(expr.value)
    case 'Bool':
      return String(expr.value)
    case 'Nil':
      return 'nil'
    case 'Duration':
      return printDuration(BigInt(expr.value))
    case 'String':
      return printString(expr.value, expr.quote)
    case 'Interpolation':
      return printInterpolation(expr.parts, expr.quote, depth)
    case 'Identifier':
      return expr.name
    case 'List':
      return `[${printArgs(expr.items, depth)}]`
    case 'Dict':
      return printDict(expr.entries, depth)
    case 'StructLiteral':
      return `${expr.name.text} {${printEntries(expr.entries, depth, false)}}`
    case 'Unary':
      return `${expr.operator}${operand(expr.operand, LEVEL.unary, depth)}`
    case 'Binary':
      return printBinary(expr, depth)
    case 'Ternary':
      return printTernary(expr, depth)
    case 'Range': {
      const to = operand(expr.to, LEVEL.ternary, depth)
      return `${operand(expr.from, LEVEL.ternary, depth)} to ${to}${expr.exclusive ? ' exclusive' : ''}`
    }
    case 'Pipe':
      return `${operand(expr.value, LEVEL.pipe, depth)} |> ${operand(expr.callee, LEVEL.range, depth)}`
    case 'Member':
      return `${receiver(expr.object, depth)}${expr.optional ? '?.' : '.'}${expr.property.text}`
    case 'MethodCall':
      return `${receiver(expr.object, depth)}${expr.optional ? '?.' : '.'}${expr.method.text}(${printArgs(expr.args, depth)})`
    case 'Index':
      return `${receiver(expr.object, depth)}${expr.optional ? '?' : ''}[${printExpr(expr.index, depth)}]`
    case 'Slice':
      return printSlice(expr, depth)
    case 'Call': {
      const types = expr.typeArgs.length === 0 ? '' : `<${expr.typeArgs.map(printType).join(', ')}>`
      return `${expr.callee.text}${types}(${printArgs(expr.args, depth)})`
    }
    case 'Propagate':
      return `${receiver(expr.operand, depth)}?`
    case 'TryStar':
      return `try* ${operand(expr.operand, LEVEL.unary, depth)}`
    case 'Closure':
      return printClosure(expr, depth)
    case 'If':
      return printIf(expr, depth)
    case 'Match': {
      const arms = expr.arms.map((arm) => `${pad(depth + 1)}${printArm(arm, depth + 1)}\n`).join('')
      return `match ${beforeBlock(expr.subject, depth)} {\n${arms}${pad(depth)}}`
    }
    case 'Try':
      return printTry(expr, depth)
    case 'Retry':
      return `retry ${operandOfKeyword(expr.count, depth)} ${printBlock(expr.body, depth)}`
    case 'Deadline':
      return `deadline ${operandOfKeyword(expr.duration, depth)} ${printBlock(expr.body, depth)}`
    case 'Spawn':
      return `spawn ${printBlock(expr.body, depth)}`
    case 'Parallel':
      return printParallel(expr, depth)
  }
}

/**
 * How tightly the outermost construct of an expression binds. Control expressions count as loose, so that they get
 * parentheses.
 */
function levelOf(expr: Expr): number {
  switch (expr.kind) {
    case 'Pipe':
      return LEVEL.pipe
    case 'Range':
      return LEVEL.range
    case 'Ternary':
      return LEVEL.ternary
    case 'Binary':
      return BINARY_OPERATORS[expr.operator].level
    case 'Unary':
      return LEVEL.unary
    case 'TryStar':
    case 'If':
    case 'Match':
    case 'Try':
    case 'Retry':
    case 'Deadline':
    case 'Spawn':
    case 'Parallel':
      return 0
    default:
      return LEVEL.postfix
  }
}

/** An expression where only what binds at least as tightly as `level` may stand bare. */
function operand(expr: Expr, level: number, depth: number): string {
  const text = printExpr(expr, depth)
  return levelOf(expr) < level ? `(${text})` : text
}

function closed(text: string): string {
  return text.endsWith('?') ? `(${text})` : text
}

/** What a postfix operator is applied to. */
function receiver(expr: Expr, depth: number): string {
  return closed(operand(expr, LEVEL.postfix, depth))
}

const ENDS_IN_CAPITALISED_NAME = /(?:^|[^.\p{Alphabetic}\p{N}_])\p{Uppercase}[\p{Alphabetic}\p{N}_]*$/u

/** An expression that `{` or a word follows. */
function beforeBlock(expr: Expr, depth: number): string {
  const text = operand(expr, LEVEL.pipe, depth)
  return ENDS_IN_CAPITALISED_NAME.test(text) ? `(${text})` : closed(text)
}

const BARE_AFTER_KEYWORD: ReadonlySet<Expr['kind']> = new Set([
  'Int',
  'Float',
  'Bool',
  'Nil',
  'Duration',
  'String',
  'Interpolation',
  'Identifier',
  'List',
  'Dict',
])

/** The operand of `retry` and `deadline`. */
function operandOfKeyword(expr: Expr, depth: number): string {
  const text = printExpr(expr, depth)
  return BARE_AFTER_KEYWORD.has(expr.kind) ? text : `(${text})`
}

function printBinary(expr: Expr & { readonly kind: 'Binary' }, depth: number): string {
  const { level, side } = BINARY_OPERATORS[expr.operator]
  const right = operand(expr.right, side === 'right' ? level : level + 1, depth)
  let left = closed(operand(expr.left, side === 'left' ? level : level + 1, depth))
  // `a < b > (c)` is a call with type arguments.
  if (expr.operator === '>' && right.startsWith('(')) left = `(${left})`
  return `${left} ${expr.operator} ${right}`
}

function printTernary(expr: Expr & { readonly kind: 'Ternary' }, depth: number): string {
  const condition = closed(operand(expr.condition, LEVEL.binary, depth))
  const whenTrue = operand(expr.whenTrue, LEVEL.binary, depth)
  const whenFalse = operand(expr.whenFalse, LEVEL.binary, depth)
  return `${condition} ? ${startsTernary(whenTrue) ? whenTrue : `(${whenTrue})`} : ${whenFalse}`
}

/** Whether a `?` before this text is the ternary operator. KEEP WITH: ternaryStart in harn.ohm, but for the bracket. */
function startsTernary(text: string): boolean {
  const unit = lex(text, { whole: false }).units.charCodeAt(0)
  if (isIdentifierUnit(unit)) return true
  return (
    unit !== TOKEN['<duration>'] &&
    unit !== TOKEN['<rawString>'] &&
    (TERNARY_STARTS.has(unit) || (unit >= TOKEN.true && unit <= TOKEN['<triple>']))
  )
}

const TERNARY_STARTS: ReadonlySet<number> = new Set((['fn', '(', '{', '{->', '!', '-'] as const).map((name) => TOKEN[name]))

function printSlice(expr: Expr & { readonly kind: 'Slice' }, depth: number): string {
  const start = expr.start === null ? '' : printExpr(expr.start, depth)
  const end = expr.end === null ? '' : printExpr(expr.end, depth)
  return `${receiver(expr.object, depth)}[${start}:${end}]`
}

function printArgs(args: readonly Argument[], depth: number): string {
  return args.map((arg) => `${arg.spread ? '...' : ''}${printExpr(arg.value, depth)}`).join(', ')
}

function printDict(entries: readonly DictEntry[], depth: number): string {
  const text = `{${printEntries(entries, depth, false)}}`
  // An arrow at the depth of the dict, from the type arguments of a call, would make it a closure.
  return lex(text, { whole: false }).units.charCodeAt(0) === TOKEN['{'] ? text : `{${printEntries(entries, depth, true)}}`
}

function printEntries(entries: readonly DictEntry[], depth: number, guarded: boolean): string {
  return entries
    .map((entry) => {
      const value = guarded ? `(${printExpr(entry.value, depth)})` : printExpr(entry.value, depth)
      switch (entry.kind) {
        case 'named':
          return `${entry.quoted ? `"${escape(entry.key.text)}"` : entry.key.text}: ${value}`
        case 'computed':
          return `[${printExpr(entry.key, depth)}]: ${value}`
        case 'spread':
          return `...${value}`
      }
    })
    .join(', ')
}

function printClosure(expr: Expr & { readonly kind: 'Closure' }, depth: number): string {
  const params = printParams(expr.params, depth)
  if (expr.form === 'fn') return `fn(${params}) ${printBlock(expr.body, depth)}`
  const head = params === '' ? '{ ->' : `{ ${params} ->`
  const [only, more] = expr.body.body
  if (only === undefined) return `${head} }`
  const text = printStmt(only, depth + 1)
  if (more === undefined && only.kind === 'ExprStmt' && !text.includes('\n')) return `${head} ${text} }`
  return `${head}\n${printBody(expr.body.body, depth + 1)}${pad(depth)}}`
}

function printIf(expr: IfExpr, depth: number): string {
  const parts: string[] = []
  for (let branch: IfExpr | Block | null = expr; branch !== null;) {
    if (branch.kind === 'Block') {
      parts.push(printBlock(branch, depth))
      branch = null
    } else {
      parts.push(`if ${beforeBlock(branch.condition, depth)} ${printBlock(branch.then, depth)}`)
      branch = branch.otherwise
    }
  }
  return parts.join(' else ')
}

function printArm(arm: MatchArm, depth: number): string {
  const patterns = arm.patterns.map((pattern) => printExpr(pattern, depth)).join(' | ')
  const guard = arm.guard === null ? '' : ` if ${printExpr(arm.guard, depth)}`
  return `${patterns}${guard} -> ${printBlock(arm.body, depth)}`
}

function printTry(expr: Expr & { readonly kind: 'Try' }, depth: number): string {
  let text = `try ${printBlock(expr.body, depth)}`
  if (expr.handler !== null) {
    const { variable, type, body } = expr.handler
    const bound = variable === null ? '' : `(${variable.text}${type === null ? '' : `: ${printType(type)}`}) `
    text += ` catch ${bound}${printBlock(body, depth)}`
  }
  return expr.finalizer === null ? text : `${text} finally ${printBlock(expr.finalizer, depth)}`
}

function printParallel(expr: Expr & { readonly kind: 'Parallel' }, depth: number): string {
  const mode = expr.mode === 'count' ? '' : `${expr.mode} `
  const limit = expr.maxConcurrent === null ? '' : ` with { max_concurrent: ${printExpr(expr.maxConcurrent, depth)} }`
  const variable = expr.variable === null ? '' : ` ${expr.variable.text} ->`
  const body = `{${variable}\n${printBody(expr.body.body, depth + 1)}${pad(depth)}}`
  const subject = beforeBlock(expr.subject, depth)
  const bare = /^(?:each|settle)\b/.test(subject) ? `(${subject})` : subject // the words would be taken for the mode
  return `parallel ${mode}${bare}${limit} ${body}${expr.asStream ? ' as stream' : ''}`
}

function printFloat(value: number): string {
  // Only an int literal far past 64 bits is an infinite float.
  return Number.isFinite(value) ? writeFloat(value) : `1${'0'.repeat(309)}`
}

const DURATION_UNITS = [
  ['h', 3_600_000n],
  ['m', 60_000n],
  ['s', 1_000n],
] as const

function printDuration(ms: bigint): string {
  const unit = DURATION_UNITS.find(([, size]) => ms !== 0n && ms % size === 0n)
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`
}

function printString(value: string, quote: 'double' | 'raw' | 'triple'): string {
  if (quote === 'raw' && !/["\n]/.test(value)) return `r"${value}"`
  if (quote === 'triple' && !value.includes('"""') && !value.includes('${')) {
    const indent = commonIndent(value.split('\n'))
    if (indent === null) return value === '' ? '""""""' : `"""\n${value}"""`
    if (indent === 0) return `"""\n${value}\n"""`
  }
  return `"${escape(value)}"`
}

function printInterpolation(parts: readonly (string | Expr)[], quote: 'double' | 'triple', depth: number): string {
  const pieces = quote === 'triple' ? triplePieces(parts) : null
  const text = parts.map((part, at) => {
    if (typeof part !== 'string') return `\${${printExpr(part, depth)}}`
    return pieces === null ? escape(part) : pieces[at]
  })
  return pieces === null ? `"${text.join('')}"` : `"""\n${text.join('')}"""`
}

/**
 * Text pieces of a triple-quoted string, so written that the removal of indentation gives them back; null when none does. Without
 * indentation pieces stand as they are, but a blank last one would vanish; with indentation blank lines lose their blanks.
 */
function triplePieces(parts: readonly (string | Expr)[]): string[] | null {
  const texts = parts.map((part) => (typeof part === 'string' ? part : ''))
  if (texts.some((text) => text.includes('"""') || text.includes('${'))) return null
  const last = parts.at(-1)
  // A quote right before the closing three would end the string one character early.
  if (typeof last === 'string' && last.endsWith('"')) return null
  const indent = commonIndent(texts.join('').split('\n')) ?? 0
  if (indent === 0 && !(typeof last === 'string' && last.trim() === '')) return texts
  if (texts.some((text) => text.split('\n').some((line) => line !== '' && line.trim() === ''))) return null
  const written = texts.map((text) => {
    const lines = text.split('\n').map((line) => (line === '' ? '' : `  ${line}`))
    return lines.join('\n') + (text.endsWith('\n') ? '\n' : '')
  })
  return commonIndent(written.join('').split('\n')) === 2 ? written : null
}

function printShapeField(field: ShapeField): string {
  return `${field.name.text}${field.optional ? '?' : ''}: ${printType(field.type)}`
}

export function printType(type: TypeExpr): string {
  switch (type.kind) {
    case 'NamedType':
      return type.args.length === 0 ? type.name.text : `${type.name.text}<${type.args.map(printType).join(', ')}>`
    case 'ShapeType':
      return `{${type.fields.map(printShapeField).join(', ')}}`
    case 'ListType':
      return `[${printType(type.element)}]`
    case 'FnType':
      return `fn(${type.params.map(printType).join(', ')}) -> ${printType(type.returns)}`
    case 'UnionType':
      return type.members.map(printType).join(' | ')
    case 'LiteralType':
      if (typeof type.value === 'string') return `"${escape(type.value)}"`
      return typeof type.value === 'number' ? plainDecimal(type.value) : String(type.value)
    case 'NilType':
      return 'nil'
  }
}
