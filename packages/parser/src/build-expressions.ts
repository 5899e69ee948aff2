// Parse nodes of expressions → Expr. Operator lists, which the grammar matches flat, are folded here.
//
// Spans: parentheses leave no node, and an operator node reaches from its left operand to its right one, because the language
// reports it so.

import type { Argument, BinaryOperator, Block, CatchClause, DictEntry, Expr, IfExpr, MatchArm, Name, Param } from './ast.js'
import {
  type BuildContext,
  buildEach,
  checkChain,
  children,
  nameAt,
  nodeSpan,
  optional,
  trimSpan,
  stringAt,
  textAt,
  unitAt,
  wordAt,
} from './build-context.js'
import { buildAnnotation, buildTypeArgs } from './build-types.js'
import type { ParseNode } from './parse-tree.js'
import { readDuration, readInt } from './literals.js'
import {
  BinaryNode,
  BlockNode,
  CallNode,
  ClosureNode,
  DictNode,
  IdentifierNode,
  IntNode,
  ListNode,
  MemberNode,
  MethodCallNode,
  NamedEntryNode,
  NameNode,
  ParamNode,
  StringNode,
  ValueArgument,
} from './nodes.js'
import { BINARY_OPERATORS, type FlatTail, foldOperators } from './operators.js'
import type { Span } from './source.js'
import { isIdentifierUnit, TOKEN } from './tokens.js'

/** Node of rule `expr`. */
export function buildExpr(context: BuildContext, node: ParseNode): Expr {
  if (node.end - node.start === 1) return buildToken(context, node.start)
  let value = buildStage(context, node, 1)
  const stages = node.child(5)
  checkChain(context, stages)
  for (let at = 0; at < stages.count; at += 1) {
    const callee = buildStage(context, stages.child(at), 3)
    value = { kind: 'Pipe', span: across(value, callee), value, callee }
  }
  return value
}

/** Shortcut for expressions of one token, as most are: a name or a literal. The ten nodes above it carry no information. */
function buildToken(context: BuildContext, token: number): Expr {
  const span = trimSpan(context, token, token + 1)
  if (isIdentifierUnit(unitAt(context, token))) return new IdentifierNode(span, wordAt(context, token))
  return buildLiteral(context, token, span)
}

/** An operand of a pipe: the children of `node` from `at` on are operand, binary tails, ternary tail, range tail. */
function buildStage(context: BuildContext, node: ParseNode, at: number): Expr {
  const from = buildTernary(context, node, at)
  const tail = node.child(at + 3)
  if (tail.count === 0) return from
  const range = tail.child(0)
  const to = buildTernary(context, range, 1)
  return {
    kind: 'Range',
    span: { start: from.span.start, end: Math.max(to.span.end, nodeSpan(context, range).end) },
    from,
    to,
    exclusive: range.child(4).count > 0,
  }
}

/** Children from `at` on: operand, binary tails, ternary tail. */
function buildTernary(context: BuildContext, node: ParseNode, at: number): Expr {
  const condition = buildBinary(context, node, at)
  const option = node.child(at + 2)
  if (option.count === 0) return condition
  const tail = option.child(0)
  const whenTrue = buildBinary(context, tail, 1)
  const whenFalse = buildBinary(context, tail, 5)
  return { kind: 'Ternary', span: across(condition, whenFalse), condition, whenTrue, whenFalse }
}

interface OperatorUse {
  readonly name: BinaryOperator
  readonly span: Span
}

/** Children from `at` on: operand, binary tails. */
function buildBinary(context: BuildContext, node: ParseNode, at: number): Expr {
  const first = buildUnary(context, node.child(at))
  const list = node.child(at + 1)
  if (list.count === 0) return first
  if (list.count === 1) {
    const tail = list.child(0)
    return binary(first, buildOperator(context, tail.child(0)), buildUnary(context, tail.child(2)))
  }
  checkChain(context, list)
  const tails = children(list).map((tail): FlatTail<Expr, OperatorUse> => {
    return { operator: buildOperator(context, tail.child(0)), operand: buildUnary(context, tail.child(2)) }
  })
  return foldOperators(first, tails, (operator) => BINARY_OPERATORS[operator.name], binary)
}

function binary(left: Expr, operator: OperatorUse, right: Expr): Expr {
  return new BinaryNode(across(left, right), operator.name, operator.span, left, right)
}

function buildOperator(context: BuildContext, node: ParseNode): OperatorUse {
  const inner = node.child(0)
  const span = nodeSpan(context, inner)
  // The grammar matches only the symbols of the table here.
  const name = inner.rule === 'notIn' ? 'not in' : (textAt(context, inner.end - 1) as BinaryOperator)
  return { name, span }
}

/** Node of rule `unary`. */
function buildUnary(context: BuildContext, node: ParseNode): Expr {
  if (node.end - node.start === 1) return buildToken(context, node.start)
  const prefixes = node.child(0)
  let operand = buildHead(context, node.child(1).child(0))
  const operations = node.child(2)
  checkChain(context, operations)
  for (let at = 0; at < operations.count; at += 1) {
    const operation = operations.child(at).child(0)
    operand = applyPostfix(context, operand, operation.child(0))
  }
  for (let at = prefixes.count - 1; at >= 0; at -= 1) {
    const mark = prefixes.child(at).start
    const span = { start: trimSpan(context, mark, mark + 1).start, end: operand.span.end }
    operand = { kind: 'Unary', span, operator: unitAt(context, mark) === TOKEN['!'] ? '!' : '-', operand }
  }
  return operand
}

function applyPostfix(context: BuildContext, object: Expr, node: ParseNode): Expr {
  const span = { start: object.span.start, end: nodeSpan(context, node).end }
  switch (node.rule) {
    case 'methodOp':
      return new MethodCallNode(
        span,
        object,
        nameAt(context, node.child(3).start),
        buildArgs(context, node.child(6)),
        isOptionalAccess(context, node),
      )
    case 'memberOp':
      return new MemberNode(span, object, nameAt(context, node.child(3).start), isOptionalAccess(context, node))
    case 'indexOp':
      return { kind: 'Index', span, object, index: buildExpr(context, node.child(1)), optional: false }
    case 'optIndexOp':
      return { kind: 'Index', span, object, index: buildExpr(context, node.child(2)), optional: true }
    case 'sliceOp':
      return { kind: 'Slice', span, object, start: buildExpr(context, node.child(1)), end: optionalExpr(context, node.child(3)) }
    case 'sliceToOp':
      return { kind: 'Slice', span, object, start: null, end: optionalExpr(context, node.child(2)) }
    default:
      return { kind: 'Propagate', span, operand: object }
  }
}

function isOptionalAccess(context: BuildContext, node: ParseNode): boolean {
  return unitAt(context, node.child(1).start) === TOKEN['?.']
}

function optionalExpr(context: BuildContext, iteration: ParseNode): Expr | null {
  return optional(iteration, (node) => buildExpr(context, node))
}

/** The alternative that rule `head` or `operand` matched. */
function buildHead(context: BuildContext, node: ParseNode): Expr {
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'call':
      return new CallNode(
        span,
        buildCallee(context, node.child(0)),
        buildTypeArgs(context, node.child(1)),
        buildArgs(context, node.child(4)),
      )
    case 'structLiteral':
      return { kind: 'StructLiteral', span, name: nameAt(context, node.start), entries: buildEntries(context, node.child(3)) }
    case 'identifier':
    case 'ident':
      return new IdentifierNode(span, wordAt(context, node.start))
    case 'literal':
      return buildLiteral(context, node.start, span)
    case 'paren':
      return buildExpr(context, node.child(1))
    case 'list':
      return new ListNode(span, buildArgs(context, node.child(2)))
    case 'dict':
      return new DictNode(span, buildEntries(context, node.child(2)))
    case 'closure': {
      const params = buildParams(context, node.child(1), 'anyDefaults')
      const body = context.body(node.child(4))
      return new ClosureNode(span, 'brace', params, new BlockNode(nodeSpan(context, node.child(4)), body))
    }
    case 'wordExpr':
      return buildHead(context, node.child(0))
    case 'fnExpr':
      return new ClosureNode(span, 'fn', buildParams(context, node.child(3)), context.block(node.child(6)))
    case 'spawnExpr':
      return { kind: 'Spawn', span, body: context.block(node.child(1)) }
    default:
      return buildControl(context, node)
  }
}

function buildCallee(context: BuildContext, node: ParseNode): Name {
  const inner = node.child(0)
  return inner.rule === 'parenCallee' ? buildCallee(context, inner.child(2)) : nameAt(context, inner.start)
}

/** Repetition of rule `arg`. */
function buildArgs(context: BuildContext, list: ParseNode): readonly Argument[] {
  const named: DictEntry[] = []
  const built = buildEach(list, (item): Argument | null => {
    const inner = item.child(0)
    if (inner.rule === 'spread')
      return { spread: true, value: buildExpr(context, inner.child(1)), span: nodeSpan(context, inner) }
    if (inner.rule !== 'namedArg') return new ValueArgument(buildExpr(context, inner))
    const key = nameAt(context, inner.start)
    named.push(new NamedEntryNode(nodeSpan(context, inner), key, false, buildExpr(context, inner.child(3))))
    return null
  })
  // Named arguments are the fields of the one dict that a tool takes (grant-syntax.ts). There is no other sugar.
  const [first] = named
  if (first === undefined) return built as readonly Argument[]
  const span = { start: first.span.start, end: named.at(-1)!.span.end }
  return [...built.filter((arg) => arg !== null), new ValueArgument(new DictNode(span, named))]
}

/** The expressions that are also statements: `if`, `match`, `try`, `retry`, `deadline`, `parallel`. */
export function buildControl(context: BuildContext, node: ParseNode): Expr {
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'ifExpr':
      return buildIf(context, node)
    case 'matchExpr':
      return {
        kind: 'Match',
        span,
        subject: buildExpr(context, node.child(1)),
        arms: children(node.child(5)).map((arm) => buildArm(context, arm)),
      }
    case 'tryExpr':
      return buildTry(context, node.child(0), span)
    case 'retryExpr':
      return { kind: 'Retry', span, count: buildHead(context, node.child(1).child(0)), body: context.block(node.child(2)) }
    case 'deadlineExpr':
      return { kind: 'Deadline', span, duration: buildHead(context, node.child(1).child(0)), body: context.block(node.child(2)) }
    case 'parallelExpr':
      return buildParallel(context, node, span)
    default:
      throw new Error(`no expression is made of the rule ${node.rule}`)
  }
}

function buildIf(context: BuildContext, node: ParseNode): IfExpr {
  const end = nodeSpan(context, node).end
  let otherwise: Block | IfExpr | null = buildEndBlock(context, node.child(4))
  const branches = children(node.child(3))
  checkChain(context, node.child(3))
  for (const branch of branches.toReversed()) {
    const start = trimSpan(context, branch.child(2).start, branch.end).start
    otherwise = {
      kind: 'If',
      span: { start, end },
      condition: buildExpr(context, branch.child(3)),
      then: context.block(branch.child(4)),
      otherwise,
    }
  }
  return {
    kind: 'If',
    span: nodeSpan(context, node),
    condition: buildExpr(context, node.child(1)),
    then: context.block(node.child(2)),
    otherwise,
  }
}

/** Option of `ifEnd` or `tryEnd`: the block of `else` or `finally`. */
function buildEndBlock(context: BuildContext, option: ParseNode): Block | null {
  const end = option.count === 0 ? null : option.child(0).child(0)
  return end === null || end.rule === 'skippedBreak' ? null : context.block(end.child(2))
}

function buildArm(context: BuildContext, node: ParseNode): MatchArm {
  return {
    patterns: [buildExpr(context, node.child(0)), ...children(node.child(1)).map((more) => buildExpr(context, more.child(1)))],
    guard: optional(node.child(2), (guard) => buildExpr(context, guard.child(1))),
    body: context.block(node.child(5)),
    span: nodeSpan(context, node),
  }
}

function buildTry(context: BuildContext, node: ParseNode, span: Span): Expr {
  if (node.rule === 'tryStar') return { kind: 'TryStar', span, operand: buildUnary(context, node.child(2)) }
  return {
    kind: 'Try',
    span,
    body: context.block(node.child(1)),
    handler: optional(node.child(2), (handler) => buildCatch(context, handler)),
    finalizer: buildEndBlock(context, node.child(3)),
  }
}

function buildCatch(context: BuildContext, node: ParseNode): CatchClause {
  const body = context.block(node.child(3))
  const span = nodeSpan(context, node)
  const bound = optional(node.child(2), (variable) => variable.child(0))
  if (bound === null) return { variable: null, type: null, body, span }
  if (bound.rule === 'ident') return { variable: nameAt(context, bound.start), type: null, body, span }
  return {
    variable: nameAt(context, bound.child(2).start),
    type: optional(bound.child(3), (annotation) => buildAnnotation(context, annotation)),
    body,
    span,
  }
}

function buildParallel(context: BuildContext, node: ParseNode, span: Span): Expr {
  const mode =
    optional(node.child(1), (mark) => (textAt(context, mark.start) === 'each' ? ('each' as const) : ('settle' as const))) ??
    'count'
  const limits = optional(node.child(3), (limit) => children(limit.child(4))) ?? []
  for (const limit of limits) {
    const name = limit.child(0)
    if (textAt(context, name.start) !== 'max_concurrent') context.problems.push({ code: 'P015', token: name.start })
  }
  const asStream = node.child(11)
  if (asStream.count > 0 && mode !== 'each') context.problems.push({ code: 'P012', token: asStream.child(0).start })
  return {
    kind: 'Parallel',
    span,
    mode,
    subject: buildExpr(context, node.child(2)),
    maxConcurrent: limits.length === 0 ? null : buildExpr(context, limits.at(-1)!.child(3)),
    variable: optional(node.child(7), (variable) => nameAt(context, variable.start)),
    body: new BlockNode(trimSpan(context, node.child(5).start, node.child(10).end), context.body(node.child(8))),
    asStream: asStream.count > 0,
  }
}

/** Repetition of rule `dictItem`. */
function buildEntries(context: BuildContext, list: ParseNode): readonly DictEntry[] {
  return buildEach(list, (item) => buildEntry(context, item.child(0)))
}

function buildEntry(context: BuildContext, node: ParseNode): DictEntry {
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'namedEntry':
      return new NamedEntryNode(span, nameAt(context, node.start), false, buildExpr(context, node.child(3)))
    case 'stringEntry': {
      const keySpan = trimSpan(context, node.start, node.start + 1)
      const value = buildExpr(context, node.child(3))
      const key = buildLiteral(context, node.start, keySpan)
      if (key.kind === 'String') return new NamedEntryNode(span, new NameNode(keySpan, key.value), true, value)
      return { kind: 'computed', span, key, value }
    }
    case 'computedEntry':
      return { kind: 'computed', span, key: buildExpr(context, node.child(1)), value: buildExpr(context, node.child(6)) }
    default:
      return { kind: 'spread', span, value: buildExpr(context, node.child(1)) }
  }
}

/** Node of rule `params`; checks the order that the grammar leaves open. Only in `{ a = 1, b -> … }` may a default come first. */
export function buildParams(
  context: BuildContext,
  node: ParseNode,
  order: 'defaultsLast' | 'anyDefaults' = 'defaultsLast',
): readonly Param[] {
  const list = node.child(0)
  const params = buildEach(list, (item): Param => {
    const param = item.child(1)
    return new ParamNode(
      nodeSpan(context, param),
      nameAt(context, param.child(2).start),
      optional(param.child(3), (annotation) => buildAnnotation(context, annotation)),
      optional(param.child(4), (value) => buildExpr(context, value.child(1))),
      param.child(0).count > 0,
    )
  })
  checkParams(context, params, list, order === 'defaultsLast')
  return params
}

function checkParams(context: BuildContext, params: readonly Param[], list: ParseNode, defaultsLast: boolean): void {
  let defaults = false
  for (const [at, param] of params.entries()) {
    if (param.rest && at < params.length - 1) {
      context.problems.push({ code: 'P007', token: list.child(at).child(1).end })
    }
    if (param.defaultValue !== null) defaults = true
    else if (defaults && defaultsLast && !param.rest) {
      context.problems.push({ code: 'P006', token: list.child(at).child(1).end })
    }
  }
}

/** The literal that is token `token`. */
export function buildLiteral(context: BuildContext, token: number, span: Span): Expr {
  switch (unitAt(context, token)) {
    case TOKEN.true:
      return { kind: 'Bool', span, value: true }
    case TOKEN.false:
      return { kind: 'Bool', span, value: false }
    case TOKEN.nil:
      return { kind: 'Nil', span }
    case TOKEN['<int>']: {
      const value = readInt(textAt(context, token))
      return typeof value === 'object' ? { kind: 'Float', span, value: value.float } : new IntNode(span, value)
    }
    case TOKEN['<float>']:
      return { kind: 'Float', span, value: Number(textAt(context, token)) }
    case TOKEN['<duration>']:
      return { kind: 'Duration', span, value: readDuration(textAt(context, token)) }
    case TOKEN['<rawString>']:
      return new StringNode(span, stringAt(context, token), 'raw')
    case TOKEN['<string>']:
      return new StringNode(span, stringAt(context, token), 'double')
    case TOKEN['<triple>']:
      return new StringNode(span, stringAt(context, token), 'triple')
    default:
      return buildInterpolation(context, token, span)
  }
}

/**
 * Interpolations that are not expressions became strings. Adjacent strings are joined, so the result may be a plain string.
 */
function buildInterpolation(context: BuildContext, token: number, span: Span): Expr {
  const payload = context.tokens.payloads[token]
  const quote = context.text.startsWith('"""', context.tokens.starts[token]) ? 'triple' : 'double'
  const parts: (string | Expr)[] = []
  for (const piece of typeof payload === 'string' || payload === null || payload === undefined ? [] : payload) {
    const part = typeof piece === 'string' ? piece : context.interpolate(piece)
    if (part === null || part === '') continue
    const last = parts.at(-1)
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  if (parts.some((part) => typeof part !== 'string')) return { kind: 'Interpolation', span, parts, quote }
  return new StringNode(span, parts.join(''), quote)
}

function across(left: Expr, right: Expr): Span {
  return { start: left.span.start, end: right.span.end }
}
