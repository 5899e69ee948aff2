// Random syntax trees that have a source, for the property parse ∘ print = identity. Deterministic by seed.

import type {
  Argument,
  Attribute,
  AttributeValue,
  Binding,
  Block,
  Declaration,
  DictEntry,
  Expr,
  MatchArm,
  Name,
  Param,
  Program,
  SelectArm,
  Stmt,
  TypeExpr,
} from '../ast.js'

const span = { start: 0, end: 0 }

export function randomProgram(seed: number): Program {
  return new Generator(seed).program()
}

class Generator {
  private state: number

  constructor(seed: number) {
    this.state = seed * 2654435761 + 1
  }

  program(): Program {
    return { kind: 'Program', span, items: this.list(1, 4, () => this.topItem()) }
  }

  /** xorshift: enough for tests. */
  private next(limit: number): number {
    this.state ^= this.state << 13
    this.state ^= this.state >>> 17
    this.state ^= this.state << 5
    return (this.state >>> 0) % limit
  }

  private pick<T>(options: readonly T[]): T {
    return options[this.next(options.length)]!
  }

  private maybe<T>(make: () => T): T | null {
    return this.next(3) === 0 ? make() : null
  }

  private flag(): boolean {
    return this.next(4) === 0
  }

  private list<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.next(most - least + 1) }, make)
  }

  private name(): Name {
    return {
      text: this.pick([
        'a',
        'b',
        'xs',
        'value',
        'gen',
        'each',
        'timeout',
        'default',
        'not',
        'out',
        'Foo',
        'Bar',
        'r',
        '_',
        'größe',
        'where',
      ]),
      span,
    }
  }

  private memberName(): Name {
    return this.flag() ? { text: this.pick(['type', 'in', 'nil', 'match', 'to', 'spawn']), span } : this.name()
  }

  private text(): string {
    return this.pick([
      '',
      'a',
      'two words',
      'q"uote',
      'line\nbreak',
      'tab\t',
      'back\\slash',
      '$',
      '${x}',
      '}',
      'é😀',
      '\\n',
      ' ',
      'x $',
    ])
  }

  private block(depth: number): Block {
    return { kind: 'Block', span, body: this.list(0, depth > 0 ? 2 : 0, () => this.stmt(depth - 1)) }
  }

  private topItem(): Stmt {
    if (this.next(8) > 0) return this.stmt(3)
    return this.flag() ? this.importDecl() : this.pipelineDecl(2)
  }

  private expr(depth: number): Expr {
    if (depth <= 0) return this.leaf()
    const e = (): Expr => this.expr(depth - 1)
    switch (this.next(30)) {
      case 0:
        return { kind: 'List', span, items: this.args(depth - 1) }
      case 1:
        return { kind: 'Dict', span, entries: this.entries(depth - 1) }
      case 2:
        return this.structLiteral(depth - 1)
      case 3:
      case 4:
        return { kind: 'Unary', span, operator: this.pick(['!', '-']), operand: e() }
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return {
          kind: 'Binary',
          span,
          operatorSpan: span,
          left: e(),
          right: e(),
          operator: this.pick([
            '+',
            '-',
            '*',
            '/',
            '%',
            '**',
            '??',
            '==',
            '!=',
            '<',
            '>',
            '<=',
            '>=',
            'in',
            'not in',
            '&&',
            '||',
          ]),
        }
      case 10:
        return { kind: 'Ternary', span, condition: e(), whenTrue: e(), whenFalse: e() }
      case 11:
        return { kind: 'Range', span, from: e(), to: e(), exclusive: this.flag() }
      case 12:
        return { kind: 'Pipe', span, value: e(), callee: e() }
      case 13:
        return { kind: 'Member', span, object: e(), property: this.memberName(), optional: this.flag() }
      case 14:
        return {
          kind: 'MethodCall',
          span,
          object: e(),
          method: this.memberName(),
          args: this.args(depth - 1),
          optional: this.flag(),
        }
      case 15:
        return { kind: 'Index', span, object: e(), index: e(), optional: this.flag() }
      case 16:
        return { kind: 'Slice', span, object: e(), start: this.maybe(e), end: this.maybe(e) }
      case 17:
        return {
          kind: 'Call',
          span,
          callee: this.name(),
          typeArgs: this.flag() ? [this.type(2)] : [],
          args: this.args(depth - 1),
        }
      case 18:
        return { kind: 'Propagate', span, operand: e() }
      case 19:
        return { kind: 'TryStar', span, operand: e() }
      case 20:
        return {
          kind: 'Closure',
          span,
          form: this.pick(['brace', 'fn']),
          params: this.params(depth - 1),
          body: this.block(depth - 1),
        }
      case 21:
        return this.ifExpr(depth)
      case 22:
        return { kind: 'Match', span, subject: e(), arms: this.list(0, 2, () => this.arm(depth - 1)) }
      case 23: {
        const handler = this.maybe(() => {
          const variable = this.maybe(() => this.name())
          return { variable, type: variable === null ? null : this.maybe(() => this.type(1)), body: this.block(depth - 1), span }
        })
        return { kind: 'Try', span, body: this.block(depth - 1), handler, finalizer: this.maybe(() => this.block(depth - 1)) }
      }
      case 24:
        return { kind: 'Retry', span, count: e(), body: this.block(depth - 1) }
      case 25:
        return { kind: 'Deadline', span, duration: e(), body: this.block(depth - 1) }
      case 26:
        return { kind: 'Spawn', span, body: this.block(depth - 1) }
      case 27:
        return this.parallel(depth - 1)
      case 28:
        return this.interpolation(depth - 1)
      default:
        return this.leaf()
    }
  }

  private leaf(): Expr {
    switch (this.next(10)) {
      case 0:
        return { kind: 'Int', span, value: this.pick([0, 1, 42, 9007199254740993n, 9223372036854775807n]) }
      case 1:
        return { kind: 'Float', span, value: this.pick([0, 1.5, 1e21, 1e-7, 3]) }
      case 2:
        return { kind: 'Bool', span, value: this.flag() }
      case 3:
        return { kind: 'Nil', span }
      case 4:
        return { kind: 'Duration', span, value: this.pick([0, 1, 1500, 60_000, 90_000, 86_400_000]) }
      case 5:
        return { kind: 'String', span, value: this.text(), quote: 'double' }
      case 6:
        return { kind: 'String', span, value: this.pick(['raw', 'a\\d', '${x}', '']), quote: 'raw' }
      case 7:
        return { kind: 'String', span, value: this.pick(['', 'a\nb', '  \n', 'x', 'q"', 'a\n  b\n']), quote: 'triple' }
      default:
        return { kind: 'Identifier', span, name: this.name().text }
    }
  }

  private interpolation(depth: number): Expr {
    const parts: (string | Expr)[] = []
    const triple = this.flag()
    for (let count = 1 + this.next(2); count > 0; count -= 1) {
      if (this.flag()) parts.push(triple ? this.pick(['x ', 'a\nb', '\n', 'line\n']) : this.pick(['x ', 'q"', 'a\nb', '${', ' ']))
      parts.push(this.makeBalanced(depth))
    }
    // Some last pieces cannot be written in triple quotes; the printer then uses the other form, which is another tree.
    if (this.flag()) parts.push('end')
    return { kind: 'Interpolation', span, parts, quote: triple ? 'triple' : 'double' }
  }

  /** Braces in nested strings count when the end of an interpolation is searched for, so such strings do not occur there. */
  private makeBalanced(depth: number): Expr {
    for (;;) {
      const expr = this.expr(depth)
      if (!hasBraceInText(expr)) return expr
    }
  }

  private args(depth: number): Argument[] {
    return this.list(0, 3, () => ({ spread: this.flag(), value: this.expr(depth), span }))
  }

  private entries(depth: number): DictEntry[] {
    return this.list(0, 3, (): DictEntry => {
      switch (this.next(4)) {
        case 0:
          return { kind: 'named', span, key: { text: this.text(), span }, quoted: true, value: this.expr(depth) }
        case 1:
          return { kind: 'computed', span, key: this.expr(depth), value: this.expr(depth) }
        case 2:
          return { kind: 'spread', span, value: this.expr(depth) }
        default:
          return { kind: 'named', span, key: this.memberName(), quoted: false, value: this.expr(depth) }
      }
    })
  }

  private structLiteral(depth: number): Expr {
    const first = { kind: 'named', span, key: this.name(), quoted: false, value: this.expr(depth) } as const
    return {
      kind: 'StructLiteral',
      span,
      name: { text: 'Foo', span },
      entries: this.flag() ? [] : [first, ...this.entries(depth)],
    }
  }

  private ifExpr(depth: number): Extract<Expr, { kind: 'If' }> {
    const otherwise = this.maybe(() => (depth > 1 && this.flag() ? this.ifExpr(depth - 1) : this.block(depth - 1)))
    return { kind: 'If', span, condition: this.expr(depth - 1), then: this.block(depth - 1), otherwise }
  }

  private arm(depth: number): MatchArm {
    return {
      patterns: this.list(1, 2, () => this.expr(depth)),
      guard: this.maybe(() => this.expr(depth)),
      body: this.block(depth),
      span,
    }
  }

  private parallel(depth: number): Expr {
    const mode = this.pick(['count', 'each', 'settle'] as const)
    return {
      kind: 'Parallel',
      span,
      mode,
      subject: this.expr(depth),
      maxConcurrent: this.maybe(() => this.expr(depth)),
      variable: this.maybe(() => this.name()),
      body: this.block(depth),
      asStream: mode === 'each' && this.flag(),
    }
  }

  private params(depth: number): Param[] {
    let defaults = false
    const params = this.list(0, 3, (): Param => {
      const defaultValue = defaults || this.flag() ? this.expr(Math.min(depth, 2)) : null
      defaults = defaultValue !== null
      return { name: this.name(), type: this.maybe(() => this.type(2)), defaultValue, rest: false, span }
    })
    if (this.flag()) params.push({ name: this.name(), type: null, defaultValue: null, rest: true, span })
    return params
  }

  private type(depth: number): TypeExpr {
    if (depth > 0 && this.flag())
      return { kind: 'UnionType', span, members: this.list(2, 3, () => this.typePart(depth - 1, false)) }
    return this.typePart(depth, true)
  }

  private typePart(depth: number, last: boolean): TypeExpr {
    switch (depth <= 0 ? this.next(4) : this.next(8)) {
      case 0:
        return { kind: 'NilType', span }
      case 1:
        return { kind: 'LiteralType', span, value: this.pick(['s', 'q"', 5, -3, true, 9007199254740993n]) }
      case 4:
        return { kind: 'ListType', span, element: this.type(depth - 1) }
      case 5:
        return {
          kind: 'ShapeType',
          span,
          fields: this.list(0, 2, () => ({ name: this.memberName(), optional: this.flag(), type: this.type(depth - 1) })),
        }
      case 6:
        // A union after the arrow belongs to the result, so a function type comes only last.
        if (last)
          return { kind: 'FnType', span, params: this.list(0, 2, () => this.type(depth - 1)), returns: this.type(depth - 1) }
        return { kind: 'NilType', span }
      case 7:
        return { kind: 'NamedType', span, name: this.name(), args: this.list(1, 2, () => this.type(depth - 1)) }
      default:
        return { kind: 'NamedType', span, name: this.name(), args: [] }
    }
  }

  private binding(depth: number): Binding {
    const rest = this.maybe(() => this.name())
    switch (this.next(4)) {
      case 0:
        return {
          kind: 'ListBinding',
          span,
          rest,
          items: this.list(0, 2, () => ({ name: this.name(), defaultValue: this.maybe(() => this.expr(depth)) })),
        }
      case 1:
        return {
          kind: 'DictBinding',
          span,
          rest,
          fields: this.list(0, 2, () => ({
            key: this.name(),
            alias: this.maybe(() => this.name()),
            defaultValue: this.maybe(() => this.expr(depth)),
          })),
        }
      default:
        return { kind: 'NameBinding', span, name: this.name(), type: this.maybe(() => this.type(2)) }
    }
  }

  private stmt(depth: number): Stmt {
    const d = Math.max(0, depth)
    switch (this.next(24)) {
      case 0:
      case 1:
      case 2:
        return { kind: 'Let', span, mutable: this.flag(), binding: this.binding(1), value: this.expr(d) }
      case 3: {
        const target = this.pick<() => Expr>([
          () => ({ kind: 'Identifier', span, name: this.name().text }),
          () => ({ kind: 'Member', span, object: this.expr(1), property: this.memberName(), optional: false }),
          () => ({ kind: 'Index', span, object: this.expr(1), index: this.expr(1), optional: false }),
        ])
        return {
          kind: 'Assign',
          span,
          target: target(),
          operator: this.pick(['+', '-', '*', '/', '%', null]),
          value: this.expr(d),
        }
      }
      case 4:
        return { kind: 'While', span, condition: this.expr(d), body: this.block(d) }
      case 5: {
        const binding: Binding = this.flag()
          ? { kind: 'PairBinding', span, first: this.name(), second: this.name() }
          : this.binding(1)
        return { kind: 'For', span, binding, iterable: this.expr(d), body: this.block(d) }
      }
      case 6:
        return { kind: 'Return', span, value: this.maybe(() => this.expr(d)) }
      case 7:
        return { kind: 'Throw', span, value: this.expr(d) }
      case 8:
        return { kind: 'Yield', span, value: this.maybe(() => this.expr(d)) }
      case 9:
        return { kind: 'Emit', span, value: this.expr(d) }
      case 10:
        return { kind: 'Guard', span, condition: this.expr(d), otherwise: this.block(d) }
      case 11:
        return { kind: 'Require', span, condition: this.expr(d), message: this.maybe(() => this.expr(d)) }
      case 12:
        return { kind: 'Defer', span, body: this.block(d) }
      case 13:
        return { kind: 'Mutex', span, body: this.block(d) }
      case 14:
        return { kind: 'Select', span, arms: this.selectArms(d) }
      case 15:
        return this.pick<Stmt>([
          { kind: 'Break', span },
          { kind: 'Continue', span },
        ])
      case 16:
      case 17:
        return this.declaration(d)
      default:
        return { kind: 'ExprStmt', span, value: this.expr(d) }
    }
  }

  private selectArms(depth: number): SelectArm[] {
    const arms = this.list(1, 2, (): SelectArm => {
      return { kind: 'receive', span, variable: { text: 'v', span }, channel: this.expr(depth), body: this.block(depth) }
    })
    const last = this.next(4)
    if (last === 0) arms.push({ kind: 'timeout', span, duration: this.expr(depth), body: this.block(depth) })
    if (last === 1) arms.push({ kind: 'default', span, body: this.block(depth) })
    return arms
  }

  private base(): Pick<Declaration, 'span' | 'isPublic' | 'attributes' | 'doc'> {
    return {
      span,
      isPublic: false,
      attributes: this.list(0, 1, () => this.attribute()),
      doc: this.maybe(() => this.pick(['one line', 'two\nlines', 'gap\n\nhere'])),
    }
  }

  private attribute(): Attribute {
    return {
      name: this.name(),
      args: this.list(0, 2, () => ({ name: this.maybe(() => this.name()), value: this.attributeValue(2) })),
      span,
    }
  }

  private attributeValue(depth: number): AttributeValue {
    if (depth > 0 && this.flag()) return this.list(0, 2, () => this.attributeValue(depth - 1))
    return this.pick<AttributeValue>(['text', 'q"', 1, -2, { float: 0.5 }, { float: -2 }, true, false, null, -9007199254740993n])
  }

  private importDecl(): Stmt {
    const names = this.maybe(() => this.list(0, 2, () => this.name()))
    const base = { span, isPublic: this.flag(), attributes: [], doc: null }
    return { kind: 'ImportDecl', ...base, name: { text: 'std/x', span }, path: 'std/x', pathSpan: span, names }
  }

  private pipelineDecl(depth: number): Stmt {
    return {
      kind: 'PipelineDecl',
      ...this.base(),
      isPublic: this.flag(),
      name: this.name(),
      params: this.list(0, 2, () => this.name()),
      returns: this.maybe(() => this.type(2)),
      parent: this.maybe(() => this.name()),
      body: this.block(depth),
    }
  }

  private declaration(depth: number): Declaration {
    const typeParams = this.list(0, 2, () => ({ name: { text: 'T', span }, variance: this.pick(['in', 'out', null] as const) }))
    const named = { ...this.base(), name: this.name() }
    switch (this.next(9)) {
      case 0:
        return {
          kind: 'ToolDecl',
          ...named,
          isPublic: this.flag(),
          params: this.params(1),
          returns: this.maybe(() => this.type(2)),
          description: this.maybe(() => this.text()),
          body: this.block(depth),
        }
      case 1:
        return {
          kind: 'SkillDecl',
          ...named,
          isPublic: this.flag(),
          fields: this.list(0, 2, () => ({ name: this.name(), value: this.expr(1) })),
        }
      case 2:
        return {
          kind: 'EvalPackDecl',
          ...named,
          packId: this.pick([named.name.text, 'other id']),
          fields: this.list(0, 2, () => ({ name: this.name(), value: this.expr(1) })),
          body: this.list(0, 2, () => this.stmt(depth - 1)),
          summarize: this.maybe(() => this.block(depth)),
        }
      case 3:
        return {
          kind: 'OverrideDecl',
          ...named,
          attributes: [],
          params: this.list(0, 2, () => this.name()),
          body: this.block(depth),
        }
      case 4:
        return { kind: 'TypeDecl', ...named, typeParams, type: this.type(3) }
      case 5:
        return {
          kind: 'EnumDecl',
          ...named,
          isPublic: this.flag(),
          typeParams,
          variants: this.list(0, 3, () => ({ name: this.name(), params: this.params(1) })),
        }
      case 6:
        return {
          kind: 'StructDecl',
          ...named,
          typeParams,
          fields: this.list(0, 3, () => ({ name: this.name(), optional: this.flag(), type: this.maybe(() => this.type(2)) })),
        }
      case 7:
        return {
          kind: 'InterfaceDecl',
          ...named,
          typeParams,
          assocTypes: this.list(0, 1, () => ({ name: this.name(), type: this.maybe(() => this.type(2)) })),
          methods: this.list(0, 2, () => ({
            name: this.name(),
            typeParams,
            params: this.params(1),
            returns: this.maybe(() => this.type(2)),
            span,
          })),
        }
      default:
        return this.next(4) === 0
          ? { kind: 'ImplDecl', ...named, methods: this.list(0, 2, () => ({ ...this.fn(depth), attributes: [] })) }
          : { ...this.fn(depth), isPublic: this.flag(), isStream: this.flag() }
    }
  }

  private fn(depth: number): Extract<Declaration, { kind: 'FnDecl' }> {
    return {
      kind: 'FnDecl',
      ...this.base(),
      name: this.name(),
      isStream: false,
      typeParams: this.list(0, 1, () => ({ name: { text: 'T', span }, variance: null })),
      params: this.params(1),
      returns: this.maybe(() => this.type(2)),
      where: this.list(0, 1, () => ({ param: { text: 'T', span }, bound: this.name() })),
      body: this.block(depth),
    }
  }
}

function hasBraceInText(value: unknown): boolean {
  if (typeof value === 'string') return /[{}]/.test(value)
  if (Array.isArray(value)) return value.some(hasBraceInText)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBraceInText)
}
