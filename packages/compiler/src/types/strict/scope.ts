// Scopes of a file: the declarations of names, the names of one block, and the bodies that copy the enclosing variables.

import type { Binding, Expr, Name, Span, Stmt, TypeExpr } from '@bridle/parser'

export type DeclKind =
  | 'let'
  | 'var'
  | 'param'
  | 'loop'
  | 'pattern'
  | 'catch'
  | 'fn'
  | 'tool'
  | 'pipeline'
  | 'type'
  | 'import'
  | 'other'

export interface Decl {
  readonly name: string
  readonly kind: DeclKind
  readonly span: Span
  /** The value of a `let` or `var` that binds one name. */
  readonly value: Expr | null
  readonly type: TypeExpr | null
  /** The declaring statement, if it carries more information: functions, tools, loops. */
  readonly stmt: Stmt | null
  /** For a parameter of a closure that a method calls with the items of a value: that value. */
  readonly items: Expr | null
  /** For the receiver of a method: the name of its type. */
  readonly owner: string | null
  /** Depth of the function that it belongs to; 0 at the top level. */
  readonly depth: number
  /** Assignments to the name itself. */
  readonly assigned: Extract<Stmt, { kind: 'Assign' }>[]
  /** Whether a part of its value is assigned. */
  isUpdated: boolean
  /** Whether a condition reads it. */
  isTested: boolean
  /** Reads of it, other than as the target of an assignment. */
  reads: number
}

export interface Names {
  /** What identifiers and callees mean. Names of the language and of imports have no entry. */
  readonly targets: ReadonlyMap<object, Decl>
}

/** A body with copies of the enclosing variables. */
export interface Body {
  readonly depth: number
  readonly assigned: Map<Decl, Span>
  readonly read: Set<Decl>
}

export class Lexical {
  readonly parent: Lexical | null
  readonly depth: number
  readonly names = new Map<string, Decl>()
  /** Variables declared by statements further down. */
  later: Set<string> | null = null
  types: Set<string> | null = null

  constructor(parent: Lexical | null, depth: number) {
    this.parent = parent
    this.depth = depth
  }
}

/** Whether a scope may declare a name of the kind only once. */
export function isDeclaredOnce(kind: DeclKind): boolean {
  return kind === 'let' || kind === 'fn' || kind === 'param'
}

/** Why a name cannot be assigned, for a message; null if it can be. */
export function describeFixed(kind: DeclKind): string | null {
  switch (kind) {
    case 'let':
      return 'a `let`'
    case 'param':
      return 'a parameter'
    case 'catch':
      return 'the variable of a `catch`'
    case 'pattern':
      return 'bound by a pattern'
    case 'fn':
      return 'a function'
    case 'tool':
      return 'a tool'
    case 'import':
      return 'imported'
    default:
      return null
  }
}

/** The names that a pattern of a `let` or a loop binds. */
export function listBound(binding: Binding): readonly Name[] {
  switch (binding.kind) {
    case 'NameBinding':
      return [binding.name]
    case 'PairBinding':
      return [binding.first, binding.second]
    case 'DictBinding':
      return [...binding.fields.map(({ key, alias }) => alias ?? key), ...(binding.rest === null ? [] : [binding.rest])]
    case 'ListBinding':
      return [...binding.items.map(({ name }) => name), ...(binding.rest === null ? [] : [binding.rest])]
  }
}
