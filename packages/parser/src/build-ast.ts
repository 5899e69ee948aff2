// Parse tree → syntax tree: programs, blocks and statements; expressions, types and declarations have separate files.
// It also checks the rules that a PEG cannot express; diagnostics go to `problems`, and building continues.

import type { Binding, Block, Expr, Name, Program, SelectArm, Stmt } from './ast.js'
import {
  type BuildContext,
  buildEach,
  children,
  nameAt,
  nodeSpan,
  optional,
  type Problem,
  trimSpan,
  textAt,
} from './build-context.js'
import { buildAttribute, buildDeclaration, type Heading, NO_HEADING, takesAttributes } from './build-declarations.js'
import { buildControl, buildExpr } from './build-expressions.js'
import { buildGrantStmt } from './build-grants.js'
import { buildAnnotation } from './build-types.js'
import { AssignNode, BlockNode, ExprStmtNode, LetNode, NameBindingNode } from './nodes.js'
import type { ItemTaker } from './match.js'
import type { ParseNode } from './parse-tree.js'
import type { TokenStream } from './lexer.js'

export interface Built<T> {
  readonly tree: T
  readonly problems: readonly Problem[]
}

export interface BuiltProgram extends Built<Program> {
  /** The first token of each item. */
  readonly firsts: readonly number[]
}

/** Builds a program item by item, from the nodes of rule `topItem`. */
export class ProgramBuilder implements ItemTaker {
  private readonly text: string
  private readonly context: BuildContext
  private readonly items: Stmt[] = []
  private readonly firsts: number[] = []

  /** `text` is the source of the file; `interpolate` parses a `${…}`. */
  constructor(text: string, tokens: TokenStream, interpolate: BuildContext['interpolate']) {
    this.text = text
    this.context = newContext(text, tokens, interpolate)
  }

  begin(): void {
    this.items.length = 0
    this.firsts.length = 0
    this.context.problems.length = 0
  }

  take(item: ParseNode): void {
    this.firsts.push(item.start)
    this.items.push(buildTopItem(this.context, item.child(0)))
  }

  finish(): BuiltProgram {
    const tree: Program = { kind: 'Program', span: { start: 0, end: this.text.length }, items: this.items.slice() }
    return { tree, problems: this.context.problems, firsts: this.firsts }
  }
}

/** Builds the node of rule `interpolation`. */
export function buildInterpolated(
  root: ParseNode,
  text: string,
  tokens: TokenStream,
  interpolate: BuildContext['interpolate'],
): Built<Expr> {
  const context = newContext(text, tokens, interpolate)
  return { tree: buildExpr(context, root.child(0)), problems: context.problems }
}

function newContext(text: string, tokens: TokenStream, interpolate: BuildContext['interpolate']): BuildContext {
  const context: BuildContext = {
    text,
    tokens,
    problems: [],
    block: (node) => buildBlock(context, node),
    body: (node) => buildBody(context, node),
    interpolate,
  }
  return context
}

/** Node of rule `block`. */
function buildBlock(context: BuildContext, node: ParseNode): Block {
  return new BlockNode(nodeSpan(context, node), buildBody(context, node.child(2)))
}

/** Node of rule `body`. */
function buildBody(context: BuildContext, node: ParseNode): readonly Stmt[] {
  const first = node.child(1)
  if (first.count === 0) return []
  const stmt = (inner: ParseNode): Stmt => buildStmt(context, inner, false)
  return buildEach(node.child(3).child(0), stmt, stmt(first.child(0)))
}

function buildTopItem(context: BuildContext, node: ParseNode): Stmt {
  return node.rule === 'stmt' ? buildStmt(context, node, true) : declaration(context, node, NO_HEADING)
}

function declaration(context: BuildContext, node: ParseNode, heading: Heading): Stmt {
  return buildDeclaration(context, node, heading, (stmt) => buildStmt(context, stmt, false))
}

/** Node of rule `stmt`. */
function buildStmt(context: BuildContext, wrapper: ParseNode, topLevel: boolean): Stmt {
  const node = wrapper.child(0)
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'exprStmt':
      return buildExprStmt(context, node, topLevel)
    case 'letStmt':
    case 'varStmt':
      return new LetNode(span, node.rule === 'varStmt', buildBinding(context, node.child(1)), buildExpr(context, node.child(4)))
    case 'ifExpr':
    case 'matchExpr':
    case 'tryExpr':
    case 'parallelExpr':
    case 'retryExpr':
    case 'deadlineExpr':
      return new ExprStmtNode(span, buildControl(context, node))
    case 'whileStmt':
      return { kind: 'While', span, condition: buildExpr(context, node.child(1)), body: buildBlock(context, node.child(2)) }
    case 'forStmt':
      return {
        kind: 'For',
        span,
        binding: buildForBinding(context, node.child(1).child(0)),
        iterable: buildExpr(context, node.child(4)),
        body: buildBlock(context, node.child(5)),
      }
    case 'returnStmt':
      return { kind: 'Return', span, value: optional(node.child(1), (value) => buildExpr(context, value.child(0))) }
    case 'yieldStmt':
      return { kind: 'Yield', span, value: optional(node.child(1), (value) => buildExpr(context, value.child(0))) }
    case 'throwStmt':
      return { kind: 'Throw', span, value: buildExpr(context, node.child(1)) }
    case 'emitStmt':
      return { kind: 'Emit', span, value: buildExpr(context, node.child(1)) }
    case 'guardStmt':
      return { kind: 'Guard', span, condition: buildExpr(context, node.child(1)), otherwise: buildBlock(context, node.child(4)) }
    case 'requireStmt':
      return {
        kind: 'Require',
        span,
        condition: buildExpr(context, node.child(1)),
        message: optional(node.child(2), (message) => buildExpr(context, message.child(1))),
      }
    case 'deferStmt':
      return { kind: 'Defer', span, body: buildBlock(context, node.child(1)) }
    case 'mutexStmt':
      return { kind: 'Mutex', span, body: buildBlock(context, node.child(1)) }
    case 'selectStmt':
      return buildSelect(context, node)
    case 'breakStmt':
      return { kind: 'Break', span }
    case 'continueStmt':
      return { kind: 'Continue', span }
    case 'pubDecl':
      return declaration(context, node.child(2).child(0), { ...NO_HEADING, isPublic: true, docTokens: [node.start] })
    case 'attributed':
      return buildAttributed(context, node, topLevel)
    default:
      return buildGrantStmt(context, node) ?? declaration(context, node, NO_HEADING)
  }
}

function buildExprStmt(context: BuildContext, node: ParseNode, topLevel: boolean): Stmt {
  const span = nodeSpan(context, node)
  const target = buildExpr(context, node.child(0))
  const tail = node.child(1)
  if (tail.count === 0) return new ExprStmtNode(span, target)
  const mark = tail.child(0)
  if (!isAssignable(target)) context.problems.push({ code: 'P014', token: mark.start, topLevel })
  return new AssignNode(span, target, assignOperator(textAt(context, mark.start)), buildExpr(context, mark.child(1)))
}

function isAssignable(target: Expr): boolean {
  if (target.kind === 'Identifier') return true
  return (target.kind === 'Member' || target.kind === 'Index') && !target.optional
}

function assignOperator(symbol: string): '+' | '-' | '*' | '/' | '%' | null {
  switch (symbol) {
    case '+=':
      return '+'
    case '-=':
      return '-'
    case '*=':
      return '*'
    case '/=':
      return '/'
    case '%=':
      return '%'
    default:
      return null
  }
}

function buildAttributed(context: BuildContext, node: ParseNode, topLevel: boolean): Stmt {
  const marks = children(node.child(0))
  const heading: Heading = {
    isPublic: false,
    attributes: marks.map((mark) => buildAttribute(context, mark)),
    attributeStart: node.start,
    docTokens: marks.map((mark) => mark.start),
  }
  const item = node.child(1).child(0)
  const inner = item.rule === 'stmt' ? item.child(0) : item
  if (inner.rule === 'pubDecl') {
    const target = inner.child(2).child(0)
    if (takesAttributes(target)) {
      return declaration(context, target, { ...heading, isPublic: true, docTokens: [...heading.docTokens, inner.start] })
    }
  } else if (takesAttributes(inner)) {
    return declaration(context, inner, heading)
  }
  context.problems.push({ code: 'P008', token: item.start })
  return item.rule === 'stmt' ? buildStmt(context, item, topLevel) : declaration(context, item, heading)
}

function buildForBinding(context: BuildContext, node: ParseNode): Binding {
  if (node.rule !== 'pairBinding') return buildBinding(context, node)
  return {
    kind: 'PairBinding',
    span: nodeSpan(context, node),
    first: nameAt(context, node.child(2).start),
    second: nameAt(context, node.child(6).start),
  }
}

/** Node of rule `binding`. */
function buildBinding(context: BuildContext, wrapper: ParseNode): Binding {
  const node = wrapper.child(1).child(0)
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'dictBinding':
      return {
        kind: 'DictBinding',
        span,
        fields: children(node.child(1)).map((field) => ({
          key: nameAt(context, field.child(1).start),
          alias: optional(field.child(2), (alias) => nameAt(context, alias.child(2).start)),
          defaultValue: buildDefault(context, field.child(3)),
        })),
        rest: buildRest(context, node.child(2)),
      }
    case 'listBinding':
      return {
        kind: 'ListBinding',
        span,
        items: children(node.child(1)).map((item) => ({
          name: nameAt(context, item.child(1).start),
          defaultValue: buildDefault(context, item.child(2)),
        })),
        rest: buildRest(context, node.child(2)),
      }
    default: {
      const name = nameAt(context, node.start)
      const type = optional(node.child(1), (annotation) => buildAnnotation(context, annotation))
      return new NameBindingNode(span, name, type)
    }
  }
}

function buildDefault(context: BuildContext, iteration: ParseNode): Expr | null {
  return optional(iteration, (value) => buildExpr(context, value.child(1)))
}

function buildRest(context: BuildContext, iteration: ParseNode): Name | null {
  return optional(iteration, (rest) => nameAt(context, rest.child(3).start))
}

function buildSelect(context: BuildContext, node: ParseNode): Stmt {
  const nodes = children(node.child(4)).map((arm) => arm.child(0))
  const arms = nodes.map((arm): SelectArm => {
    const span = nodeSpan(context, arm)
    switch (arm.rule) {
      case 'timeoutArm':
        return { kind: 'timeout', span, duration: buildExpr(context, arm.child(1)), body: buildBlock(context, arm.child(2)) }
      case 'defaultArm':
        return { kind: 'default', span, body: buildBlock(context, arm.child(1)) }
      default:
        return {
          kind: 'receive',
          span,
          variable: nameAt(context, arm.start),
          channel: buildExpr(context, arm.child(3)),
          body: buildBlock(context, arm.child(4)),
        }
    }
  })
  if (arms.length === 0) context.problems.push({ code: 'P009', token: node.end })
  const first = arms.findIndex((arm) => arm.kind !== 'receive')
  const clash = arms.findIndex((arm, at) => at > first && arm.kind !== 'receive' && arm.kind !== arms[first]?.kind)
  if (clash >= 0) context.problems.push({ code: 'P010', token: node.end })
  return { kind: 'Select', span: trimSpan(context, node.start, node.end), arms }
}
