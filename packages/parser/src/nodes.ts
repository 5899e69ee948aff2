// Frequent nodes. They store their span as two numbers and make the span object on request: span objects were two fifths of a syntax
// tree, and the garbage collector copies the whole tree. Otherwise these nodes equal the plain records of ast.ts. Copy them
// with `copyWith`: `{ ...node }` loses the span.

import type { Argument, BinaryOperator, Binding, Block, DictEntry, Expr, Name, Param, Stmt, TypeExpr } from './ast.js'
import type { Span } from './source.js'

type Of<T, K> = Extract<T, { readonly kind: K }>

/** The names of these fields end like those of spans, so that code that skips spans skips them too. */
abstract class Placed {
  private readonly startOfSpan: number
  private readonly endOfSpan: number

  constructor(span: Span) {
    this.startOfSpan = span.start
    this.endOfSpan = span.end
  }

  get span(): Span {
    return { start: this.startOfSpan, end: this.endOfSpan }
  }

  /** The record of ast.ts. */
  toJSON(): object {
    const { startOfSpan: start, endOfSpan: end, ...parts } = this
    return { span: { start, end }, ...parts }
  }
}

/** A copy of `node` with some parts replaced. */
export function copyWith<T extends object>(node: T, changes: Partial<T>): T {
  return Object.assign(Object.create(Object.getPrototypeOf(node) as object) as T, node, changes)
}

const IS_OFFSET = /OfSpan$|OfOperatorSpan$/
const IS_SPAN = /span$/i

/** Moves everything below `part` by this many characters, because text before it was added or removed. */
export function moveTree(part: object, by: number): void {
  if (Array.isArray(part)) {
    for (const each of part as unknown[]) if (typeof each === 'object' && each !== null) moveTree(each, by)
    return
  }
  const record = part as Record<string, unknown>
  // Span getters are on the prototype and not enumerable, so `for in` skips them.
  for (const key in record) {
    const value = record[key]
    if (typeof value === 'number') {
      if (isOffset(key)) record[key] = value + by
    } else if (typeof value === 'object' && value !== null) {
      if (isSpan(key)) record[key] = { start: (value as Span).start + by, end: (value as Span).end + by }
      else moveTree(value, by)
    }
  }
}

const offsets = new Map<string, boolean>()
const spans = new Map<string, boolean>()

function isOffset(key: string): boolean {
  return findOrMake(offsets, key, IS_OFFSET)
}

function isSpan(key: string): boolean {
  return findOrMake(spans, key, IS_SPAN)
}

function findOrMake(known: Map<string, boolean>, key: string, pattern: RegExp): boolean {
  let found = known.get(key)
  if (found === undefined) known.set(key, (found = pattern.test(key)))
  return found
}

export class NameNode extends Placed implements Name {
  readonly text: string

  constructor(span: Span, text: string) {
    super(span)
    this.text = text
  }
}

export class IdentifierNode extends Placed implements Of<Expr, 'Identifier'> {
  readonly kind = 'Identifier'
  readonly name: string

  constructor(span: Span, name: string) {
    super(span)
    this.name = name
  }
}

export class IntNode extends Placed implements Of<Expr, 'Int'> {
  readonly kind = 'Int'
  readonly value: number | bigint

  constructor(span: Span, value: number | bigint) {
    super(span)
    this.value = value
  }
}

export class StringNode extends Placed implements Of<Expr, 'String'> {
  readonly kind = 'String'
  readonly value: string
  readonly quote: 'double' | 'raw' | 'triple'

  constructor(span: Span, value: string, quote: 'double' | 'raw' | 'triple') {
    super(span)
    this.value = value
    this.quote = quote
  }
}

export class ListNode extends Placed implements Of<Expr, 'List'> {
  readonly kind = 'List'
  readonly items: readonly Argument[]

  constructor(span: Span, items: readonly Argument[]) {
    super(span)
    this.items = items
  }
}

export class DictNode extends Placed implements Of<Expr, 'Dict'> {
  readonly kind = 'Dict'
  readonly entries: readonly DictEntry[]

  constructor(span: Span, entries: readonly DictEntry[]) {
    super(span)
    this.entries = entries
  }
}

export class BinaryNode extends Placed implements Of<Expr, 'Binary'> {
  readonly kind = 'Binary'
  readonly operator: BinaryOperator
  private readonly startOfOperatorSpan: number
  private readonly endOfOperatorSpan: number
  readonly left: Expr
  readonly right: Expr

  constructor(span: Span, operator: BinaryOperator, operatorSpan: Span, left: Expr, right: Expr) {
    super(span)
    this.operator = operator
    this.startOfOperatorSpan = operatorSpan.start
    this.endOfOperatorSpan = operatorSpan.end
    this.left = left
    this.right = right
  }

  get operatorSpan(): Span {
    return { start: this.startOfOperatorSpan, end: this.endOfOperatorSpan }
  }

  override toJSON(): object {
    const { span, kind, operator, operatorSpan, left, right } = this
    return { kind, span, operator, operatorSpan, left, right }
  }
}

export class MemberNode extends Placed implements Of<Expr, 'Member'> {
  readonly kind = 'Member'
  readonly object: Expr
  readonly property: Name
  readonly optional: boolean

  constructor(span: Span, object: Expr, property: Name, optional: boolean) {
    super(span)
    this.object = object
    this.property = property
    this.optional = optional
  }
}

export class MethodCallNode extends Placed implements Of<Expr, 'MethodCall'> {
  readonly kind = 'MethodCall'
  readonly object: Expr
  readonly method: Name
  readonly args: readonly Argument[]
  readonly optional: boolean

  constructor(span: Span, object: Expr, method: Name, args: readonly Argument[], optional: boolean) {
    super(span)
    this.object = object
    this.method = method
    this.args = args
    this.optional = optional
  }
}

export class CallNode extends Placed implements Of<Expr, 'Call'> {
  readonly kind = 'Call'
  readonly callee: Name
  readonly typeArgs: readonly TypeExpr[]
  readonly args: readonly Argument[]

  constructor(span: Span, callee: Name, typeArgs: readonly TypeExpr[], args: readonly Argument[]) {
    super(span)
    this.callee = callee
    this.typeArgs = typeArgs
    this.args = args
  }
}

/** An argument that consists of its value only and has its span. */
export class ValueArgument implements Argument {
  readonly spread = false
  readonly value: Expr

  constructor(value: Expr) {
    this.value = value
  }

  get span(): Span {
    return this.value.span
  }

  toJSON(): Argument {
    return { spread: this.spread, value: this.value, span: this.span }
  }
}

export class NamedEntryNode extends Placed implements Of<DictEntry, 'named'> {
  readonly kind = 'named'
  readonly key: Name
  readonly quoted: boolean
  readonly value: Expr

  constructor(span: Span, key: Name, quoted: boolean, value: Expr) {
    super(span)
    this.key = key
    this.quoted = quoted
    this.value = value
  }
}

export class ClosureNode extends Placed implements Of<Expr, 'Closure'> {
  readonly kind = 'Closure'
  readonly form: 'brace' | 'fn'
  readonly params: readonly Param[]
  readonly body: Block

  constructor(span: Span, form: 'brace' | 'fn', params: readonly Param[], body: Block) {
    super(span)
    this.form = form
    this.params = params
    this.body = body
  }
}

export class ParamNode extends Placed implements Param {
  readonly name: Name
  readonly type: TypeExpr | null
  readonly defaultValue: Expr | null
  readonly rest: boolean

  constructor(span: Span, name: Name, type: TypeExpr | null, defaultValue: Expr | null, rest: boolean) {
    super(span)
    this.name = name
    this.type = type
    this.defaultValue = defaultValue
    this.rest = rest
  }
}

export class BlockNode extends Placed implements Block {
  readonly kind = 'Block'
  readonly body: readonly Stmt[]

  constructor(span: Span, body: readonly Stmt[]) {
    super(span)
    this.body = body
  }
}

export class NameBindingNode extends Placed implements Of<Binding, 'NameBinding'> {
  readonly kind = 'NameBinding'
  readonly name: Name
  readonly type: TypeExpr | null

  constructor(span: Span, name: Name, type: TypeExpr | null) {
    super(span)
    this.name = name
    this.type = type
  }
}

export class ExprStmtNode extends Placed implements Of<Stmt, 'ExprStmt'> {
  readonly kind = 'ExprStmt'
  readonly value: Expr

  constructor(span: Span, value: Expr) {
    super(span)
    this.value = value
  }
}

export class LetNode extends Placed implements Of<Stmt, 'Let'> {
  readonly kind = 'Let'
  readonly mutable: boolean
  readonly binding: Binding
  readonly value: Expr

  constructor(span: Span, mutable: boolean, binding: Binding, value: Expr) {
    super(span)
    this.mutable = mutable
    this.binding = binding
    this.value = value
  }
}

export class AssignNode extends Placed implements Of<Stmt, 'Assign'> {
  readonly kind = 'Assign'
  readonly target: Expr
  readonly operator: Of<Stmt, 'Assign'>['operator']
  readonly value: Expr

  constructor(span: Span, target: Expr, operator: Of<Stmt, 'Assign'>['operator'], value: Expr) {
    super(span)
    this.target = target
    this.operator = operator
    this.value = value
  }
}
